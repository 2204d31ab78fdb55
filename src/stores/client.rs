//! Clients of object stores: one for each bucket, made at its first use from the environment.

use std::collections::BTreeMap;
use std::env;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::MicrosoftAzureBuilder;
use object_store::client::{HttpClient, HttpConnector};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::multipart::MultipartStore;
use object_store::path::Path as Key;
use object_store::{ClientOptions, ObjectStore, RetryConfig};

use super::aws_profile;
use super::credentials;
use super::fault::StoreFault;
use super::location::{Location, Service};
use super::sender::Sender;

/// Maximum number of times that a request is repeated, with pauses that double from 0.1 s up to 15 s.
const MAX_RETRIES: usize = 7;

/// The time after which a request is no longer repeated.
const RETRY_TIMEOUT: Duration = Duration::from_mins(2);

/// A bucket.
pub struct Store {
    /// Reads, lists and writes whole objects.
    pub objects: Arc<dyn ObjectStore>,
    /// Writes objects in parts.
    pub parts: Arc<dyn MultipartStore>,
}

/// The clients of this process.
static STORES: Mutex<BTreeMap<(Service, String), Arc<Store>>> = Mutex::new(BTreeMap::new());

/// The client of the bucket that a location is in.
pub fn store(location: &Location) -> io::Result<Arc<Store>> {
    let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
    let name = (location.service, location.bucket.clone());
    if let Some(known) = stores.get(&name) {
        return Ok(Arc::clone(known));
    }
    let made = Arc::new(make(location.service, &location.bucket)?);
    stores.insert(name, Arc::clone(&made));
    Ok(made)
}

/// The name of an object, as the client takes it.
pub fn key(location: &Location) -> io::Result<Key> {
    Key::parse(&location.key).map_err(io::Error::other)
}

fn make(service: Service, bucket: &str) -> io::Result<Store> {
    let retry = RetryConfig {
        max_retries: MAX_RETRIES,
        retry_timeout: RETRY_TIMEOUT,
        ..RetryConfig::default()
    };
    let made = match service {
        Service::S3 => {
            let (builder, endpoint) = s3()?;
            let builder = builder.with_bucket_name(bucket).with_retry(retry);
            builder
                .with_http_connector(Connector::to(endpoint)?)
                .build()
                .map(of)
        }
        Service::Gcs => {
            let known =
                env::home_dir().map(|home| home.join(".config/gcloud/application_default_credentials.json"));
            credentials::check(service, known.is_some_and(|file| file.is_file()))?;
            let endpoint =
                env::var("GOOGLE_BASE_URL").unwrap_or_else(|_| "https://storage.googleapis.com".to_owned());
            let mut builder = GoogleCloudStorageBuilder::new().with_bucket_name(bucket);
            for (name, value) in variables("GOOGLE_") {
                if let Ok(key) = name.parse() {
                    builder = builder.with_config(key, value);
                }
            }
            let builder = builder
                .with_retry(retry)
                .with_http_connector(Connector::to(endpoint)?);
            builder.build().map(of)
        }
        Service::Azure => {
            credentials::check(service, false)?;
            let endpoint = ["AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT"]
                .into_iter()
                .find_map(|name| env::var(name).ok());
            let endpoint = endpoint.unwrap_or_else(|| "https://blob.core.windows.net".to_owned());
            let mut builder = MicrosoftAzureBuilder::new().with_container_name(bucket);
            for (name, value) in variables("AZURE_") {
                if let Ok(key) = name.parse() {
                    builder = builder.with_config(key, value);
                }
            }
            if let Ok(endpoint) = env::var("IDENTITY_ENDPOINT") {
                builder = builder.with_msi_endpoint(endpoint);
            }
            let builder = builder
                .with_retry(retry)
                .with_http_connector(Connector::to(endpoint)?);
            builder.build().map(of)
        }
        Service::Web | Service::Hub => return Err(io::ErrorKind::Unsupported.into()),
    };
    made.map_err(|error| {
        let message = format!(
            "its settings cannot be used: {}",
            super::store_fault::cause(&error)
        );
        StoreFault::io(io::ErrorKind::InvalidInput, message, credentials::help(service))
    })
}

/// The variables that a builder takes its settings from, in small letters. Empty ones count as unset.
fn variables(prefix: &str) -> impl Iterator<Item = (String, String)> {
    env::vars_os().filter_map(move |(name, value)| {
        let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
        (name.starts_with(prefix) && !value.is_empty()).then(|| (name.to_ascii_lowercase(), value))
    })
}

fn of<S: ObjectStore + MultipartStore>(store: S) -> Store {
    let store = Arc::new(store);
    Store {
        objects: Arc::clone(&store) as Arc<dyn ObjectStore>,
        parts: store,
    }
}

/// S3 as the variables and, where they are silent, the profile say, and the address of its server.
fn s3() -> io::Result<(AmazonS3Builder, String)> {
    let help = credentials::help(Service::S3);
    let profile = aws_profile::profile(|name| env::var_os(name), env::home_dir().as_deref());
    let profile =
        profile.map_err(|message| StoreFault::io(io::ErrorKind::PermissionDenied, message, help))?;
    let of_profile = |name: &str| profile.get(name).cloned();
    let mut builder = AmazonS3Builder::new();
    for (name, value) in variables("AWS_") {
        if let Ok(key) = name.parse() {
            builder = builder.with_config(key, value);
        }
    }
    let is_set = |names: &[&str]| {
        names
            .iter()
            .any(|name| env::var_os(name).is_some_and(|value| !value.is_empty()))
    };
    let has_keys = of_profile("aws_access_key_id").is_some() && of_profile("aws_secret_access_key").is_some();
    if !is_set(&["AWS_ACCESS_KEY_ID"]) && has_keys {
        for (name, key) in [
            ("aws_access_key_id", AmazonS3ConfigKey::AccessKeyId),
            ("aws_secret_access_key", AmazonS3ConfigKey::SecretAccessKey),
            ("aws_session_token", AmazonS3ConfigKey::Token),
        ] {
            if let Some(value) = of_profile(name) {
                builder = builder.with_config(key, value);
            }
        }
    }
    credentials::check(Service::S3, has_keys)?;
    if let Some(region) = of_profile("region").filter(|_| !is_set(&["AWS_REGION", "AWS_DEFAULT_REGION"])) {
        builder = builder.with_config(AmazonS3ConfigKey::Region, region);
    }
    let mut endpoint = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"]
        .into_iter()
        .find_map(|name| env::var(name).ok().filter(|value| !value.is_empty()));
    if endpoint.is_none()
        && let Some(of_profile) = of_profile("endpoint_url")
    {
        builder = builder.with_config(AmazonS3ConfigKey::Endpoint, of_profile.clone());
        endpoint = Some(of_profile);
    }
    Ok((
        builder,
        endpoint.unwrap_or_else(|| "https://s3.amazonaws.com".to_owned()),
    ))
}

/// Makes the HTTP client that all requests of this program are sent with.
#[derive(Debug)]
struct Connector {
    endpoint: String,
}

impl Connector {
    /// A connector to a server. The crate takes any text for its address, and panics at the first request.
    fn to(endpoint: String) -> io::Result<Self> {
        let url = reqwest::Url::parse(&endpoint).ok();
        let is_web = url.is_some_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        if is_web {
            return Ok(Self { endpoint });
        }
        let message = "the address of its server is no http:// or https:// URL";
        let help = "check AWS_ENDPOINT_URL, GOOGLE_BASE_URL or AZURE_STORAGE_ENDPOINT";
        Err(StoreFault::io(io::ErrorKind::InvalidInput, message, help))
    }
}

impl HttpConnector for Connector {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        let sender = Sender::to(&self.endpoint).map_err(|error| object_store::Error::Generic {
            store: "HTTP",
            source: error.into(),
        })?;
        Ok(HttpClient::new(sender))
    }
}

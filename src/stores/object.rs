//! Objects that are read: their size and state, and the objects that a prefix stands for.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, TryStreamExt};
use object_store::{GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt};

use super::fault::StoreFault;
use super::location::{Location, Service};
use super::{client, credentials, http_object, hub, runtime};
use crate::http;

/// Ranges of an object.
pub trait Ranges: Send + Sync {
    /// The bytes of a range that the object has.
    fn range(&self, range: Range<u64>) -> BoxFuture<'static, io::Result<Bytes>>;
}

/// An object as it was when the run first looked at it; all later requests are for this version of it.
pub struct Object {
    /// Its size in bytes; `None` if its server does not say.
    pub bytes: Option<u64>,
    /// The time of its last change, in nanoseconds since 1970; 0 if its server does not say.
    pub modified: u64,
    /// The identifier of its version, if its server says one.
    pub etag: Option<String>,
    /// Its ranges; `None` if its server only sends it whole.
    pub(super) ranges: Option<Arc<dyn Ranges>>,
    /// The address of an object that is sent whole.
    pub(super) whole: Option<Arc<http_object::Address>>,
}

impl Object {
    /// Returns true if it can be read from any position.
    pub fn has_ranges(&self) -> bool {
        self.ranges.is_some()
    }
}

/// The objects that this process has looked at.
static OBJECTS: Mutex<BTreeMap<PathBuf, Arc<Object>>> = Mutex::new(BTreeMap::new());

fn known(url: &Path) -> Option<Arc<Object>> {
    let objects = OBJECTS.lock().unwrap_or_else(PoisonError::into_inner);
    objects.get(url).cloned()
}

fn remember(url: PathBuf, object: Object) -> Arc<Object> {
    let object = Arc::new(object);
    let mut objects = OBJECTS.lock().unwrap_or_else(PoisonError::into_inner);
    objects.insert(url, Arc::clone(&object));
    object
}

/// The object of a URL, as it is now or was when this process first asked for it.
///
/// # Errors
///
/// `NotFound` if there is none, `PermissionDenied` if it may not be read, and others.
pub fn object(url: &Path) -> io::Result<Arc<Object>> {
    if let Some(known) = known(url) {
        return Ok(known);
    }
    let location = location(url)?;
    let object = match location.service {
        Service::Web => http_object::Address::of_web(url)?.look()?,
        Service::Hub => hub::address(&location)?.look()?,
        _ => {
            let (store, key) = (client::store(&location)?, client::key(&location)?);
            let asked = async {
                let head = store.objects.head(&key).await;
                if let Err(
                    object_store::Error::PermissionDenied { .. } | object_store::Error::NotFound { .. },
                ) = &head
                {
                    // The answer to a head has no text; that to a list says which it is.
                    let mut list = store.objects.list(Some(&key));
                    list.try_next()
                        .await
                        .map_err(|error| fault(location.service, &error))?;
                }
                head.map_err(|error| fault(location.service, &error))
            };
            let meta = runtime::wait(asked)?;
            of_store(&location, &meta, Arc::clone(&store.objects))
        }
    };
    Ok(remember(url.to_owned(), object))
}

fn of_store(location: &Location, meta: &ObjectMeta, store: Arc<dyn ObjectStore>) -> Object {
    let nanoseconds = meta.last_modified.timestamp_nanos_opt();
    Object {
        bytes: Some(meta.size),
        modified: nanoseconds
            .and_then(|time| time.try_into().ok())
            .unwrap_or_default(),
        etag: meta.e_tag.clone(),
        ranges: Some(Arc::new(StoreRanges {
            service: location.service,
            store,
            meta: meta.clone(),
        })),
        whole: None,
    }
}

/// The objects that a URL stands for: `None` if it is an object itself, else those whose names begin with it, as a folder's.
///
/// # Errors
///
/// As [`object`]; `NotFound` if there is nothing of that name.
pub fn found(url: &Path) -> io::Result<Option<Vec<PathBuf>>> {
    let location = location(url)?;
    if location.service == Service::Web {
        return object(url).map(|_| None);
    }
    let missing = if location.is_prefix() {
        StoreFault::io(
            ErrorKind::NotFound,
            "there are no objects of that prefix",
            "check the name",
        )
    } else {
        match object(url) {
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == ErrorKind::NotFound => error,
            Err(error) => return Err(error),
        }
    };
    let urls = match location.service {
        Service::Hub => hub::list(&location)?,
        _ => list(&location)?,
    };
    if urls.is_empty() {
        Err(missing)
    } else {
        Ok(Some(urls))
    }
}

fn list(location: &Location) -> io::Result<Vec<PathBuf>> {
    let (store, key) = (client::store(location)?, client::key(location)?);
    let listed = async {
        let listed: Result<Vec<ObjectMeta>, _> = store.objects.list(Some(&key)).try_collect().await;
        listed.map_err(|error| fault(location.service, &error))
    };
    let mut listed = runtime::wait(listed)?;
    listed.sort_by(|one, other| one.location.cmp(&other.location));
    let objects = listed.iter().map(|meta| {
        let found = location.with_key(meta.location.as_ref());
        let url = found.url();
        remember(url.clone(), of_store(&found, meta, Arc::clone(&store.objects)));
        url
    });
    Ok(objects.collect())
}

pub(super) fn location(url: &Path) -> io::Result<Location> {
    Location::of(url).map_err(|(message, help)| StoreFault::io(ErrorKind::InvalidInput, message, help))
}

/// Ranges of one version of an object in a store.
struct StoreRanges {
    service: Service,
    store: Arc<dyn ObjectStore>,
    meta: ObjectMeta,
}

impl Ranges for StoreRanges {
    fn range(&self, range: Range<u64>) -> BoxFuture<'static, io::Result<Bytes>> {
        let (store, service) = (Arc::clone(&self.store), self.service);
        let (key, etag) = (self.meta.location.clone(), self.meta.e_tag.clone());
        let length = range.end - range.start;
        async move {
            let mut options = GetOptions::new().with_range(Some(range));
            options.if_match.clone_from(&etag);
            let got = store
                .get_opts(&key, options)
                .await
                .map_err(|error| fault(service, &error))?;
            // Not all servers know the condition.
            if etag.is_some() && got.meta.e_tag != etag {
                return Err(changed());
            }
            let bytes = got.bytes().await.map_err(|error| fault(service, &error))?;
            if bytes.len() as u64 == length {
                Ok(bytes)
            } else {
                Err(cut())
            }
        }
        .boxed()
    }
}

/// The error for an object that is not the version that the run began with.
pub(super) fn changed() -> io::Error {
    StoreFault::io(
        ErrorKind::InvalidData,
        "it changed while it was read",
        "start over with --force, once nobody writes it",
    )
}

/// The error for a range that came without its end.
pub(super) fn cut() -> io::Error {
    StoreFault::io(ErrorKind::UnexpectedEof, "the server cut it short", TRY_AGAIN)
}

/// The help for what may pass.
pub(super) const TRY_AGAIN: &str =
    "check the network and the address of the server; a run that had begun goes on with --resume";

/// Codes of answers for requests that are refused. Errors of lists have them only in their text.
const REFUSED: [&str; 10] = [
    "AccessDenied",
    "AuthenticationFailed",
    "AuthorizationFailure",
    "ExpiredToken",
    "InvalidAccessKeyId",
    "InvalidToken",
    "SignatureDoesNotMatch",
    "status code: 401",
    "status code: 403",
    "UserProjectAccountProblem",
];

/// The error of a store, without addresses and credentials.
pub(super) fn fault(service: Service, error: &object_store::Error) -> io::Error {
    use object_store::Error;
    let text = http::causes(error);
    let said = said(&text);
    let has = |codes: &[&str]| codes.iter().any(|code| text.contains(code));
    let is_missing = matches!(error, Error::NotFound { .. });
    let is_refused = matches!(
        error,
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. }
    );
    if has(&["NoSuchUpload"]) {
        let message = "the upload that was begun is gone";
        return StoreFault::io(ErrorKind::NotFound, message, "start over with --force");
    }
    if has(&["NoSuchBucket", "ContainerNotFound"]) {
        let help = "check the bucket's name";
        return StoreFault::io(ErrorKind::NotFound, "there is no such bucket", help);
    }
    if is_missing {
        return StoreFault::io(ErrorKind::NotFound, "there is no such object", "check the name");
    }
    if is_refused || has(&REFUSED) {
        let message = match &said {
            Some(said) => format!("access is denied: {said}"),
            None => "access is denied".to_owned(),
        };
        return StoreFault::io(ErrorKind::PermissionDenied, message, credentials::help(service));
    }
    if matches!(error, Error::Precondition { .. } | Error::NotModified { .. }) {
        return changed();
    }
    if has(&["redirect", "PermanentRedirect", "AuthorizationHeaderMalformed"]) {
        let help = "set AWS_REGION to the bucket's region";
        return StoreFault::io(ErrorKind::Other, "the bucket is in another region", help);
    }
    StoreFault::io(ErrorKind::Other, said.unwrap_or_else(|| cause(error)), TRY_AGAIN)
}

/// The code and message of an answer in XML, as the three vendors write them.
fn said(text: &str) -> Option<String> {
    let element = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        let (value, _) = rest.split_once(&format!("</{name}>"))?;
        Some(
            value
                .split(['\n', '\r'])
                .next()
                .unwrap_or_default()
                .trim()
                .to_owned(),
        )
    };
    let code = element("Code")?;
    Some(match element("Message").filter(|message| !message.is_empty()) {
        Some(message) => format!("{message} ({code})"),
        None => code,
    })
}

/// The cause of an error: the part of its message after the address.
pub(super) fn cause(error: &object_store::Error) -> String {
    let text = http::causes(error);
    let cause = text.rsplit_once(" - ").map_or(text.as_str(), |(_, cause)| cause);
    let cause = cause.split(['\n', '\r', '<']).next().unwrap_or_default();
    cause.trim().trim_end_matches(':').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generic(text: &str) -> object_store::Error {
        object_store::Error::Generic {
            store: "S3",
            source: text.to_owned().into(),
        }
    }

    #[test]
    fn an_error_says_the_cause_and_no_address() {
        let error =
            generic("Error performing GET https://h/k?sig=secret in 1s - HTTP error: error sending request");
        let told = fault(Service::S3, &error).to_string();
        assert_eq!(told, "HTTP error: error sending request");
        let body = "GET https://h/k?sig=secret - Server returned: <Error><Code>SlowDown</Code><Message>Wait.</Message>";
        assert_eq!(fault(Service::S3, &generic(body)).to_string(), "Wait. (SlowDown)");
    }

    #[test]
    fn a_missing_bucket_is_told_from_a_missing_object() {
        let missing = |source: &str| object_store::Error::NotFound {
            path: "k".to_owned(),
            source: source.to_owned().into(),
        };
        let told = |source| fault(Service::S3, &missing(source)).to_string();
        assert_eq!(told("<Code>NoSuchBucket</Code>"), "there is no such bucket");
        assert_eq!(told("<Code>NoSuchKey</Code>"), "there is no such object");
        assert_eq!(fault(Service::S3, &missing("")).kind(), ErrorKind::NotFound);
    }

    #[test]
    fn what_a_list_is_refused_for_is_told_by_its_text() {
        let body =
            "status code: 403 Forbidden: <Code>InvalidAccessKeyId</Code><Message>No such key.</Message>";
        let error = fault(Service::S3, &generic(body));
        assert_eq!(error.kind(), ErrorKind::PermissionDenied);
        assert_eq!(
            error.to_string(),
            "access is denied: No such key. (InvalidAccessKeyId)"
        );
    }
}

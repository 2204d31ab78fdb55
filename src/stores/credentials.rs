//! Credentials of the vendors' tools, and the error where there are none.

use std::env;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::fault::StoreFault;
use super::location::Service;

/// The server that machines of the three vendors ask for their own credentials.
const METADATA: SocketAddr = SocketAddr::new(
    std::net::IpAddr::V4(std::net::Ipv4Addr::new(169, 254, 169, 254)),
    80,
);

/// The longest time that connecting to it takes where it exists.
const PATIENCE: Duration = Duration::from_secs(1);

/// Prefixes of variables that bring credentials, or say where they are.
const AWS: [&str; 4] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_",
    "AWS_SKIP_SIGNATURE",
];
const GOOGLE: [&str; 4] = [
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_SERVICE_ACCOUNT",
    "GOOGLE_BEARER",
    "GOOGLE_SKIP_SIGNATURE",
];
const AZURE: [&str; 10] = [
    "AZURE_STORAGE_USE_EMULATOR",
    "AZURE_STORAGE_ACCOUNT_KEY",
    "AZURE_STORAGE_ACCESS_KEY",
    "AZURE_STORAGE_MASTER_KEY",
    "AZURE_STORAGE_SAS",
    "AZURE_STORAGE_CLIENT_ID",
    "AZURE_CLIENT_ID",
    "AZURE_STORAGE_TOKEN",
    "AZURE_USE_AZURE_CLI",
    "AZURE_SKIP_SIGNATURE",
];

/// The advice for requests that a service refuses.
pub fn help(service: Service) -> &'static str {
    match service {
        Service::S3 => {
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, of an account that may do this; AWS_REGION for the \
             bucket's region, AWS_ENDPOINT_URL for a server that is not Amazon's, AWS_SKIP_SIGNATURE=true for a public bucket"
        }
        Service::Gcs => {
            "log in with `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to a file of an account \
             that may do this; GOOGLE_SKIP_SIGNATURE=true for a public bucket"
        }
        Service::Azure => {
            "set AZURE_STORAGE_ACCOUNT_NAME, and AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN, of an account that may do \
             this, or AZURE_USE_AZURE_CLI=true after `az login`"
        }
        Service::Web => "check the address; a presigned URL may have expired",
        Service::Hub => {
            "if the data set is gated or private, set HF_TOKEN to a token of an account that may read it, or log in with \
             `hf auth login`"
        }
    }
}

/// Fails if neither the environment nor this machine has credentials: without this, requests would wait for the machine's
/// for a minute.
pub fn check(service: Service, others: bool) -> io::Result<()> {
    let names: &[&str] = match service {
        Service::S3 => &AWS,
        Service::Gcs => &GOOGLE,
        Service::Azure => &AZURE,
        Service::Web | Service::Hub => return Ok(()),
    };
    let is_set = |name: &str| names.iter().any(|known| name.starts_with(known));
    let is_given = env::vars_os().any(|(name, value)| !value.is_empty() && name.to_str().is_some_and(is_set));
    let of_machine = || {
        let is_elsewhere = env::var_os("AWS_METADATA_ENDPOINT").is_some();
        let is_off =
            env::var("AWS_EC2_METADATA_DISABLED").is_ok_and(|value| value.eq_ignore_ascii_case("true"));
        is_elsewhere || !is_off && TcpStream::connect_timeout(&METADATA, PATIENCE).is_ok()
    };
    if is_given || others || of_machine() {
        return Ok(());
    }
    let message = "no credentials were found";
    Err(StoreFault::io(
        io::ErrorKind::PermissionDenied,
        message,
        help(service),
    ))
}

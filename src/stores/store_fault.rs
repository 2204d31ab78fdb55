//! The errors of stores: what an answer says, without addresses and credentials, and what to do about it.

use std::io::{self, ErrorKind};

use super::credentials;
use super::fault::StoreFault;
use super::location::Service;
use crate::http;

/// The error for an object that is not the version that the run began with.
pub fn changed() -> io::Error {
    StoreFault::io(
        ErrorKind::InvalidData,
        "it changed while it was read",
        "start over with --force, once nobody writes it",
    )
}

/// The error for a range that came without its end.
pub fn cut() -> io::Error {
    StoreFault::io(ErrorKind::UnexpectedEof, "the server cut it short", TRY_AGAIN)
}

/// The help for what may pass.
pub const TRY_AGAIN: &str =
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
pub fn fault(service: Service, error: &object_store::Error) -> io::Error {
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
    if let Error::InvalidPath { source } = error {
        let message = format!("an object has a name that cannot be used: {source}");
        let help = "rename or remove it, or name objects one by one";
        return StoreFault::io(ErrorKind::InvalidData, message, help);
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
pub fn cause(error: &object_store::Error) -> String {
    let text = http::causes(error);
    let cause = text.rsplit_once(" - ").map_or(text.as_str(), |(_, cause)| cause);
    let cause = cause.split(['\n', '\r', '<']).next().unwrap_or_default();
    cause.trim().trim_end_matches(':').to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::fault::help_of;
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
    fn a_name_that_cannot_be_used_is_told() {
        let source = object_store::path::Path::parse("a//b").unwrap_err();
        let error = fault(Service::S3, &object_store::Error::InvalidPath { source });
        assert!(error.to_string().contains("a//b"), "{error}");
        assert!(help_of(&error).unwrap().contains("rename"));
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

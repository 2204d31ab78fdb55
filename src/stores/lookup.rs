//! The objects that URLs stand for: one, or all below a prefix.

use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, TryStreamExt};
use object_store::{GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt};

use super::fault::StoreFault;
use super::location::{Location, Service};
use super::object::{Object, Ranges, known, remember};
use super::store_fault::{changed, cut, fault};
use super::{client, hub, runtime, web};
use crate::http;

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
        Service::Web => web::Address::of_web(url)?.look()?,
        Service::Hub => hub::address(&location)?.look()?,
        _ => {
            let (store, key) = (client::store(&location)?, client::key(&location)?);
            let asked = async {
                let head = store.objects.head(&key).await;
                let missing = matches!(&head, Err(object_store::Error::NotFound { .. }));
                if head.as_ref().is_err_and(is_refused) {
                    // The answer to a head has no text; that to a list says which it is. Who may read may not have the right
                    // to list: what is missing then stays so.
                    let mut list = store.objects.list(Some(&key));
                    let listed = list
                        .try_next()
                        .await
                        .map_err(|error| fault(location.service, &error));
                    match listed {
                        Err(error) if !missing || error.kind() == ErrorKind::NotFound => return Err(error),
                        _ => {}
                    }
                }
                head.map_err(|error| fault(location.service, &error))
            };
            let meta = runtime::wait(asked)?;
            of_store(&location, &meta, Arc::clone(&store.objects))
        }
    };
    Ok(remember(url.to_owned(), object))
}

/// Returns true for an answer that says that the request is at fault.
fn is_refused(error: &object_store::Error) -> bool {
    use object_store::Error;
    match error {
        Error::NotFound { .. } | Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => true,
        // An expired token is a bad request.
        other => http::causes(other).contains("status code: 400"),
    }
}

fn of_store(location: &Location, meta: &ObjectMeta, store: Arc<dyn ObjectStore>) -> Object {
    let nanoseconds = meta.last_modified.timestamp_nanos_opt();
    Object {
        bytes: Some(meta.size),
        modified: nanoseconds
            .and_then(|time| time.try_into().ok())
            .unwrap_or_default(),
        etag: meta.e_tag.as_deref().map(|etag| unquoted(etag).to_owned()),
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
            Err(error) if error.kind() == ErrorKind::NotFound => without_pattern(&location, error),
            Err(error) => return Err(error),
        }
    };
    let listed = match location.service {
        Service::Hub => hub::list(&location),
        _ => list(&location),
    };
    let urls = match listed {
        // An object may be asked for without the right to list; a prefix may not.
        Err(error) if error.kind() == ErrorKind::PermissionDenied && !location.is_prefix() => Vec::new(),
        listed => listed?,
    };
    if urls.is_empty() {
        Err(missing)
    } else {
        Ok(Some(urls))
    }
}

/// The error for a missing object, with other help if its name looks like a pattern.
fn without_pattern(location: &Location, missing: io::Error) -> io::Error {
    if !location.key.contains(['*', '?', '[']) {
        return missing;
    }
    let help =
        "names are taken as they are, patterns too: name a folder, and all data files below it are read";
    StoreFault::io(ErrorKind::NotFound, missing.to_string(), help)
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

/// The location of a URL.
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
            options.if_match = etag.as_deref().map(quoted);
            let got = store
                .get_opts(&key, options)
                .await
                .map_err(|error| fault(service, &error))?;
            // Not all servers know the condition.
            let found = got.meta.e_tag.as_deref().map(unquoted);
            if etag.is_some() && found != etag.as_deref().map(unquoted) {
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

/// An identifier of a version as lists of Azure have it, and no answer's header.
fn unquoted(etag: &str) -> &str {
    etag.trim_matches('"')
}

/// An identifier of a version as headers have it.
fn quoted(etag: &str) -> String {
    if etag.ends_with('"') {
        etag.to_owned()
    } else {
        format!("\"{etag}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_the_same_with_quotes_and_without() {
        assert_eq!((unquoted("\"0x8D\""), unquoted("0x8D")), ("0x8D", "0x8D"));
        assert_eq!(
            (quoted("\"0x8D\""), quoted("0x8D")),
            ("\"0x8D\"".into(), "\"0x8D\"".into())
        );
        assert_eq!(quoted("W/\"a\""), "W/\"a\"");
    }
}

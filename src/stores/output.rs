//! Objects that are written: whole ones, and whether they exist.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::{ObjectStore, ObjectStoreExt};

use super::location::Service;
use super::lookup::location;
use super::part_record::{path_of, remove_file};
use super::store_fault::fault;
use super::{client, runtime, upload};

/// Maximum number of requests at once.
const AT_ONCE: usize = 32;

/// Returns which of the objects exist.
pub fn exist(urls: &[PathBuf]) -> io::Result<Vec<bool>> {
    let mut asked = Vec::new();
    for url in urls {
        let location = location(url)?;
        let (store, key) = (client::store(&location)?, client::key(&location)?);
        asked.push(async move {
            match store.objects.head(&key).await {
                Ok(_) => Ok(true),
                Err(error) => match fault(location.service, &error) {
                    error if error.kind() == ErrorKind::NotFound => Ok(false),
                    error => Err(error),
                },
            }
        });
    }
    runtime::wait(stream::iter(asked).buffered(AT_ONCE).try_collect())
}

/// Fails if nothing can be written at a URL: the bucket is missing, or the account may not write. An upload is begun and given
/// up.
pub fn check_writable(url: &Path) -> io::Result<()> {
    let location = location(url)?;
    let (store, key) = (client::store(&location)?, client::key(&location)?);
    runtime::wait(async {
        let begun = async {
            if location.service == Service::Azure {
                // Uploads are not begun there; a list tells of a missing container.
                store.objects.list(Some(&key)).try_next().await?;
                return Ok(());
            }
            let id = store.parts.create_multipart(&key).await?;
            store.parts.abort_multipart(&key, &id).await
        };
        begun.await.map_err(|error| fault(location.service, &error))
    })
}

/// The content of an object.
pub fn read(url: &Path) -> io::Result<Vec<u8>> {
    let location = location(url)?;
    let (store, key) = (client::store(&location)?, client::key(&location)?);
    runtime::wait(async {
        let read = async { store.objects.get(&key).await?.bytes().await }.await;
        let bytes = read.map_err(|error| fault(location.service, &error))?;
        Ok(bytes.to_vec())
    })
}

/// Removes an object, if it exists.
pub fn remove(url: &Path) -> io::Result<()> {
    // An account may be allowed to write and not to remove.
    if !exist(&[url.to_owned()])?.contains(&true) {
        return Ok(());
    }
    let location = location(url)?;
    let (store, key) = (client::store(&location)?, client::key(&location)?);
    runtime::wait(async {
        store
            .objects
            .delete(&key)
            .await
            .map_err(|error| fault(location.service, &error))
    })
}

/// Makes an object of the file at `path`, and removes the file. A run that was stopped here may have done it already.
pub fn publish(url: &Path, path: &Path) -> io::Result<()> {
    if path.exists() {
        return upload::finish(url, path);
    }
    if exist(&[url.to_owned()])?.contains(&true) {
        return remove_file(&path_of(path));
    }
    Err(ErrorKind::NotFound.into())
}

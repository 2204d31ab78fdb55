//! An object that is read: its size and version, and the ways to its bytes.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_util::future::BoxFuture;

/// Ranges of an object.
pub trait Ranges: Send + Sync {
    /// The bytes of a range that the object has.
    fn range(&self, range: Range<u64>) -> BoxFuture<'static, io::Result<Bytes>>;
}

/// An object that its server only sends whole.
pub trait Whole: Send + Sync {
    /// A reader of this version of it, from the first byte on.
    fn reader(self: Arc<Self>, object: &Object) -> Box<dyn Read + Send>;
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
    /// The server of an object that is sent whole.
    pub(super) whole: Option<Arc<dyn Whole>>,
}

impl Object {
    /// Returns true if it can be read from any position.
    pub fn has_ranges(&self) -> bool {
        self.ranges.is_some()
    }
}

/// The objects that this process has looked at.
static OBJECTS: Mutex<BTreeMap<PathBuf, Arc<Object>>> = Mutex::new(BTreeMap::new());

/// The object of a URL, if this process has looked at it.
pub(super) fn known(url: &Path) -> Option<Arc<Object>> {
    let objects = OBJECTS.lock().unwrap_or_else(PoisonError::into_inner);
    objects.get(url).cloned()
}

/// Keeps what is known of an object.
pub(super) fn remember(url: PathBuf, object: Object) -> Arc<Object> {
    let object = Arc::new(object);
    let mut objects = OBJECTS.lock().unwrap_or_else(PoisonError::into_inner);
    objects.insert(url, Arc::clone(&object));
    object
}

//! The first look at an object of a web server: its size, its version, and the way to its bytes.

use std::io;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use reqwest::header::LAST_MODIFIED;

use super::address::Address;
use super::ranges::WebRanges;
use super::whole::WholeObject;
use crate::stores::object::{Object, Ranges, Whole};
use crate::stores::runtime;

impl Address {
    /// Asks for the first byte: its answer tells the size, the version, and if the server sends ranges.
    pub fn look(self: &Arc<Self>) -> io::Result<Object> {
        let answer = runtime::wait(self.retried(|| async {
            let answer = self.ask(Some(0..1)).await?;
            let is_empty = answer.range().is_some_and(|range| range.size == Some(0));
            if answer.response.status().as_u16() == 416 && !is_empty {
                // Servers may say so of any range.
                return self.ask(None).await;
            }
            Ok(answer)
        }))?;
        let headers = answer.response.headers();
        let size = answer.range().and_then(|range| range.size);
        let modified = headers
            .get(LAST_MODIFIED)
            .and_then(|time| httpdate::parse_http_date(time.to_str().ok()?).ok());
        let modified = modified
            .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
            .map_or(0, |age| age.as_nanos());
        let status = answer.response.status().as_u16();
        let (bytes, has_ranges) = match (status, size) {
            (206 | 416, Some(size)) => (Some(size), true),
            (206, None) => (None, false),
            _ => (answer.response.content_length(), false),
        };
        let version = answer.version();
        let whole = WholeObject {
            address: Arc::clone(self),
            version: version.clone(),
        };
        let ranges = WebRanges {
            address: Arc::clone(self),
            version,
            size: bytes,
        };
        Ok(Object {
            bytes,
            modified: u64::try_from(modified).unwrap_or(u64::MAX),
            etag: answer.etag,
            ranges: has_ranges.then(|| Arc::new(ranges) as Arc<dyn Ranges>),
            whole: (!has_ranges).then(|| Arc::new(whole) as Arc<dyn Whole>),
        })
    }
}

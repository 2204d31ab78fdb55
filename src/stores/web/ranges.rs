//! Ranges of an object, from a web server that sends them.

use std::io::{self, ErrorKind};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::address::{Address, WebFailure, unreachable};
use crate::stores::fault::StoreFault;
use crate::stores::object::Ranges;
use crate::stores::store_fault::{TRY_AGAIN, changed, cut};

/// Ranges of one version of an object of a web server.
pub struct WebRanges {
    pub address: Arc<Address>,
    pub version: Option<String>,
    pub size: Option<u64>,
}

impl Ranges for WebRanges {
    fn range(&self, range: Range<u64>) -> BoxFuture<'static, io::Result<Bytes>> {
        let (address, version, size) = (Arc::clone(&self.address), self.version.clone(), self.size);
        async move {
            let length = range.end - range.start;
            let attempt = || async {
                let answer = address.ask(Some(range.clone())).await?;
                let found = answer.range();
                let size_now = found.as_ref().and_then(|found| found.size);
                let is_other_size = size_now.is_some() && size_now != size;
                if version.is_some() && answer.version() != version || is_other_size {
                    return Err(WebFailure::Final(changed()));
                }
                let is_it = found
                    .and_then(|found| found.part)
                    .is_some_and(|part| part == range);
                if answer.response.status().as_u16() != 206 || !is_it {
                    let message = "the server does not send the range";
                    return Err(WebFailure::Passing(
                        StoreFault::io(ErrorKind::Other, message, TRY_AGAIN),
                        None,
                    ));
                }
                let bytes = answer.response.bytes().await.map_err(unreachable)?;
                if bytes.len() as u64 == length {
                    Ok(bytes)
                } else {
                    Err(WebFailure::Passing(cut(), None))
                }
            };
            address.retried(attempt).await
        }
        .boxed()
    }
}

//! An object of a web server that only sends it whole.

use std::io::{self, ErrorKind, Read};
use std::sync::Arc;

use bytes::{Buf, Bytes};
use reqwest::Response;

use super::address::{Address, FIRST_PAUSE, TRIES};
use crate::http;
use crate::stores::fault::StoreFault;
use crate::stores::object::{Object, Whole};
use crate::stores::runtime;
use crate::stores::store_fault::{TRY_AGAIN, changed, cut};

/// One version of an object that its server only sends whole.
pub struct WholeObject {
    pub address: Arc<Address>,
    pub version: Option<String>,
}

/// Reads an object that its server only sends whole. A connection that breaks is made again, and what was read is skipped.
struct WholeReader {
    address: Arc<Address>,
    version: Option<String>,
    length: Option<u64>,
    /// Bytes handed out.
    position: u64,
    response: Option<Response>,
    /// Bytes of the response that are still to be skipped.
    to_skip: u64,
    current: Bytes,
    failures: u32,
}

impl Whole for WholeObject {
    fn reader(self: Arc<Self>, object: &Object) -> Box<dyn Read + Send> {
        Box::new(WholeReader {
            address: Arc::clone(&self.address),
            version: self.version.clone(),
            length: object.bytes,
            position: 0,
            response: None,
            to_skip: 0,
            current: Bytes::new(),
            failures: 0,
        })
    }
}

impl WholeReader {
    /// The response that is being read, or a new one.
    fn response(&mut self) -> io::Result<Response> {
        if let Some(response) = self.response.take() {
            return Ok(response);
        }
        let address = &self.address;
        let answer = runtime::wait(address.retried(|| address.ask(None)))?;
        let is_other_size = self.length.is_some() && answer.response.content_length() != self.length;
        if self.version.is_some() && answer.version() != self.version || is_other_size {
            return Err(changed());
        }
        self.to_skip = self.position;
        Ok(answer.response)
    }

    /// The next bytes; empty at the end.
    fn next(&mut self) -> io::Result<Bytes> {
        loop {
            let mut response = self.response()?;
            let chunk = runtime::wait(async { Ok(response.chunk().await) })?;
            let error = match chunk {
                Ok(Some(mut chunk)) => {
                    let skipped = self.to_skip.min(chunk.len() as u64);
                    chunk.advance(skipped as usize);
                    self.to_skip -= skipped;
                    self.position += chunk.len() as u64;
                    self.response = Some(response);
                    if chunk.is_empty() {
                        continue;
                    }
                    self.failures = 0;
                    return Ok(chunk);
                }
                Ok(None) if self.length.is_none_or(|length| self.position >= length) => {
                    return Ok(Bytes::new());
                }
                Ok(None) => cut(),
                Err(error) => {
                    let message = format!("no answer: {}", http::causes(&error.without_url()));
                    StoreFault::io(ErrorKind::Other, message, TRY_AGAIN)
                }
            };
            self.failures += 1;
            if self.failures >= TRIES {
                return Err(error);
            }
            std::thread::sleep(FIRST_PAUSE * self.failures);
        }
    }
}

impl Read for WholeReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.current.is_empty() {
            self.current = self.next()?;
        }
        let length = self.current.len().min(buffer.len());
        self.current
            .split_to(length)
            .copy_to_slice(buffer.get_mut(..length).unwrap_or_default());
        Ok(length)
    }
}

//! A reader that counts and hashes the bytes that it has read.

use std::io::{self, BufRead, Read};

use xxhash_rust::xxh3::Xxh3;

/// A reader that counts and hashes the bytes consumed.
pub struct HashingReader<R> {
    inner: R,
    hash: Xxh3,
    offset: u64,
}

impl<R: BufRead> HashingReader<R> {
    /// A reader at offset 0.
    pub fn new(inner: R) -> Self {
        Self {
            inner,
            hash: Xxh3::new(),
            offset: 0,
        }
    }

    /// Bytes consumed.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Hash of the bytes consumed.
    pub fn hash(&self) -> u64 {
        self.hash.digest()
    }

    /// Consumes bytes up to `offset`, or to the end of the input.
    pub fn skip_to(&mut self, offset: u64) -> io::Result<()> {
        while self.offset < offset {
            let available = self.fill_buf()?.len();
            if available == 0 {
                return Ok(());
            }
            let wanted = usize::try_from(offset - self.offset).unwrap_or(usize::MAX);
            self.consume(available.min(wanted));
        }
        Ok(())
    }
}

impl<R: BufRead> BufRead for HashingReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        loop {
            match self.inner.fill_buf() {
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        // The buffer is the one that fill_buf returned last: nothing is read while it holds bytes.
        if let Some(consumed) = self.inner.fill_buf().ok().and_then(|buffer| buffer.get(..amount)) {
            self.hash.update(consumed);
        }
        self.offset += amount as u64;
        self.inner.consume(amount);
    }
}

impl<R: BufRead> Read for HashingReader<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let length = available.len().min(target.len());
        if let (Some(target), Some(available)) = (target.get_mut(..length), available.get(..length)) {
            target.copy_from_slice(available);
        }
        self.consume(length);
        Ok(length)
    }
}

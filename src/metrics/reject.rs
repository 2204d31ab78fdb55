//! A row of the rejects file: the place of a record, the reason, and its exact bytes.

use std::borrow::Cow;

use base64::Engine;
use serde::Serialize;

use super::Row;

/// A record that is not in the output.
#[derive(Debug, Serialize)]
pub struct Reject<'a> {
    source: &'a str,
    line: u64,
    reason: &'a str,
    reason_detail: &'a str,
    /// The record's bytes, if they are text.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    /// The record's bytes in base64, if they are no UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<Cow<'a, str>>,
    /// Offset of the record's bytes in the decompressed source, if they were too many to be held.
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    /// Number of these bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
}

impl<'a> Reject<'a> {
    /// The reject of the record that `row` is about.
    pub fn new(row: &'a Row, bytes: &'a [u8]) -> Self {
        let text = std::str::from_utf8(bytes).ok();
        let encode = || Cow::Owned(base64::engine::general_purpose::STANDARD.encode(bytes));
        let base64 = text.is_none().then(encode);
        Self {
            source: &row.source,
            line: row.line,
            reason: &row.reason,
            reason_detail: &row.reason_detail,
            text,
            base64,
            offset: None,
            bytes: None,
        }
    }

    /// The reject of a record that was never held: `bytes` bytes at `offset` of its source.
    pub fn not_held(row: &'a Row, offset: u64, bytes: u64) -> Self {
        Self {
            text: None,
            offset: Some(offset),
            bytes: Some(bytes),
            ..Self::new(row, &[])
        }
    }

    /// Appends it as a line of JSON.
    pub fn append_to(&self, out: &mut Vec<u8>) {
        // Strings and numbers always serialize; writing to memory cannot fail.
        if serde_json::to_writer(&mut *out, self).is_ok() {
            out.push(b'\n');
        }
    }
}

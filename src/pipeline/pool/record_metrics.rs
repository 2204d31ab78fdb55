//! Adds the metrics of a record to it as its last field, `compression_metrics`.

use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::metrics::{Row, record_metrics};

const NAME: &str = "\"compression_metrics\"";

/// The field of an earlier run.
#[derive(Deserialize)]
struct Existing<'a> {
    #[serde(borrow)]
    compression_metrics: Option<&'a RawValue>,
}

/// The record with the metrics of `row`, in place of those that it has already; `None` if it is no JSON object.
pub fn with_metrics(record: &[u8], row: &Row) -> Option<Vec<u8>> {
    let metrics = record_metrics(row);
    let found = memchr::memmem::find(record, NAME.as_bytes()).is_some();
    let existing = found.then(|| existing(record)).flatten();
    let (place, text) = if let Some(place) = existing {
        (place, metrics)
    } else {
        let end = end_of_object(record)?;
        let is_empty = record.get(..end)?.trim_ascii_end().ends_with(b"{");
        let comma = if is_empty { "" } else { ", " };
        (end..end, format!("{comma}{NAME}: {metrics}"))
    };
    let (before, after) = (record.get(..place.start)?, record.get(place.end..)?);
    Some([before, text.as_bytes(), after].concat())
}

/// Offset of the brace that closes a record.
fn end_of_object(record: &[u8]) -> Option<usize> {
    let inner = record.trim_ascii_end();
    (record.trim_ascii_start().starts_with(b"{") && inner.ends_with(b"}")).then(|| inner.len() - 1)
}

fn existing(record: &[u8]) -> Option<Range<usize>> {
    let parsed: Existing<'_> = serde_json::from_slice(record).ok()?;
    let value = parsed.compression_metrics?.get();
    let start = (value.as_ptr() as usize).checked_sub(record.as_ptr() as usize)?;
    Some(start..start + value.len())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn written(record: &str) -> Option<String> {
        let row = Row {
            original_tokens: 7,
            duration_ms: 3.5,
            ..Row::default()
        };
        with_metrics(record.as_bytes(), &row).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn the_field_is_the_last_one_and_the_rest_keeps_its_bytes() {
        let text = written("{\"id\":  \"a\" }  ").unwrap();
        assert!(
            text.starts_with("{\"id\":  \"a\" , \"compression_metrics\": {"),
            "{text}"
        );
        let parsed: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(parsed["compression_metrics"]["original_tokens"], 7);
        assert!(written("{ }").unwrap().starts_with("{ \"compression_metrics\""));
        for other in ["[1]", "{\"half", "text", ""] {
            assert_eq!(written(other), None, "{other}");
        }
    }

    #[test]
    fn the_field_of_an_earlier_run_is_replaced() {
        let text = written(r#"{"a": 1, "compression_metrics": {"original_tokens": 1}, "b": 2}"#).unwrap();
        assert_eq!(text.matches("compression_metrics").count(), 1);
        assert!(
            text.starts_with(r#"{"a": 1, "compression_metrics": {"anchors_"#),
            "{text}"
        );
        assert!(text.ends_with(r#"}, "b": 2}"#), "{text}");
        // The name in a text is no field.
        let text = written(r#"{"a": "\"compression_metrics\": 1"}"#).unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&text).unwrap()["compression_metrics"]["original_tokens"],
            7
        );
    }
}

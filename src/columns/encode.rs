//! Rows as JSON objects.
//!
//! Nulls are left out: libraries with one type for all rows fill keys that a record does not have with them. The `content` of a
//! chat message stays: `null` is its value where an assistant only calls tools. A text column of turns holds JSON, which
//! stands in the object as it is.

use std::io;
use std::ops::Range;
use std::sync::LazyLock;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_cast::display::array_value_to_string;
use arrow_json::writer::{Encoder, EncoderFactory, EncoderOptions, NullableEncoder, make_encoder};
use arrow_schema::{ArrowError, DataType, FieldRef};
use serde::de::IgnoredAny;

use super::fault::fault;
use super::json_text::JsonTexts;

/// The zone of times in lines; a name of it would need tables of zones.
pub const UTC: &str = "+00:00";

static OPTIONS: LazyLock<EncoderOptions> = LazyLock::new(|| {
    EncoderOptions::default()
        .with_explicit_nulls(false)
        .with_encoder_factory(std::sync::Arc::new(MessageEncoders))
});

/// Encodes the rows of a batch.
pub struct RowEncoder<'b> {
    columns: Vec<Column<'b>>,
}

struct Column<'b> {
    /// The name as JSON, with its colon.
    key: Vec<u8>,
    cells: Cells<'b>,
}

enum Cells<'b> {
    Values(NullableEncoder<'b>),
    Json(JsonTexts),
}

impl<'b> RowEncoder<'b> {
    /// The encoder of a batch.
    pub fn of(batch: &'b RecordBatch) -> io::Result<Self> {
        let fields = batch.schema_ref().fields().iter();
        let columns = fields.zip(batch.columns()).map(|(field, array)| {
            let cells = match JsonTexts::of(field, array)? {
                Some(texts) => Cells::Json(texts),
                None => Cells::Values(make_encoder(field, array.as_ref(), &OPTIONS).map_err(fault)?),
            };
            Ok(Column {
                key: key(field.name()),
                cells,
            })
        });
        Ok(Self {
            columns: columns.collect::<io::Result<_>>()?,
        })
    }

    /// Appends a row.
    pub fn encode(&mut self, row: usize, line: &mut Vec<u8>) {
        self.encode_with_spans(row, line, |_| ());
    }

    /// Appends a row. `span` is called for each column with the bytes of its value in `line`; `None` if it is left out.
    pub fn encode_with_spans(
        &mut self,
        row: usize,
        line: &mut Vec<u8>,
        mut span: impl FnMut(Option<Range<usize>>),
    ) {
        line.push(b'{');
        let mut is_first = true;
        for column in &mut self.columns {
            let is_null = match &column.cells {
                Cells::Values(values) => values.is_null(row),
                Cells::Json(texts) => texts.get(row).is_none(),
            };
            if is_null {
                span(None);
                continue;
            }
            if !std::mem::take(&mut is_first) {
                line.push(b',');
            }
            line.extend_from_slice(&column.key);
            let start = line.len();
            match &mut column.cells {
                Cells::Values(values) => values.encode(row, line),
                Cells::Json(texts) => push_json(texts.get(row).unwrap_or_default(), line),
            }
            span(Some(start..line.len()));
        }
        line.push(b'}');
    }
}

fn key(name: &str) -> Vec<u8> {
    let mut key = Vec::new();
    push_string(name, &mut key);
    key.push(b':');
    key
}

fn push_string(text: &str, line: &mut Vec<u8>) {
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(line, text);
}

/// Appends JSON text without its line ends; text that is no list or object becomes a string.
fn push_json(text: &str, line: &mut Vec<u8>) {
    let is_json =
        text.trim_start().starts_with(['[', '{']) && serde_json::from_str::<IgnoredAny>(text).is_ok();
    if !is_json {
        return push_string(text, line);
    }
    let start = line.len();
    line.extend_from_slice(text.trim().as_bytes());
    let written = line.get_mut(start..).unwrap_or_default();
    // In JSON, they can only stand between values.
    if memchr::memchr2(b'\n', b'\r', written).is_some() {
        for byte in written.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
            *byte = b' ';
        }
    }
}

/// Makes the encoders of chat messages, and of times in zones with names.
#[derive(Debug)]
struct MessageEncoders;

impl EncoderFactory for MessageEncoders {
    fn make_default_encoder<'a>(
        &self,
        _field: &'a FieldRef,
        array: &'a dyn Array,
        options: &'a EncoderOptions,
    ) -> Result<Option<NullableEncoder<'a>>, ArrowError> {
        let fields = match array.data_type() {
            DataType::Struct(fields) => fields,
            DataType::Timestamp(unit, Some(zone)) if !zone.starts_with(['+', '-']) => {
                // Names of zones need tables, and the time is the same.
                let utc = cast(array, &DataType::Timestamp(*unit, Some(UTC.into())))?;
                let nulls = utc.nulls().cloned();
                return Ok(Some(NullableEncoder::new(Box::new(UtcTimes(utc)), nulls)));
            }
            _ => return Ok(None),
        };
        if fields.find("role").is_none() || fields.find("content").is_none() {
            return Ok(None);
        }
        let columns = array.as_struct().columns();
        let members = fields.iter().zip(columns).map(|(field, column)| {
            Ok(MemberEncoder {
                key: key(field.name()),
                keeps_null: field.name() == "content",
                value: make_encoder(field, column.as_ref(), options)?,
            })
        });
        let members = members.collect::<Result<Vec<_>, ArrowError>>()?;
        let encoder = Box::new(MessageEncoder { members });
        Ok(Some(NullableEncoder::new(encoder, array.nulls().cloned())))
    }
}

struct UtcTimes(ArrayRef);

impl Encoder for UtcTimes {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        push_string(&array_value_to_string(&self.0, row).unwrap_or_default(), out);
    }
}

struct MessageEncoder<'a> {
    members: Vec<MemberEncoder<'a>>,
}

struct MemberEncoder<'a> {
    key: Vec<u8>,
    keeps_null: bool,
    value: NullableEncoder<'a>,
}

impl Encoder for MessageEncoder<'_> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        out.push(b'{');
        let mut is_first = true;
        for member in &mut self.members {
            let is_null = member.value.is_null(row);
            if is_null && !member.keeps_null {
                continue;
            }
            if !std::mem::take(&mut is_first) {
                out.push(b',');
            }
            out.extend_from_slice(&member.key);
            if is_null {
                out.extend_from_slice(b"null");
            } else {
                member.value.encode(row, out);
            }
        }
        out.push(b'}');
    }
}

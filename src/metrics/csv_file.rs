//! The metrics as CSV: written row by row, read back when a run is resumed.

use std::io::Read;

use serde::Serialize;

use super::Row;
use super::csv_safe::{quoted, unquoted};
use super::unroll_row::UnrollRow;

/// The columns of the metrics of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Columns {
    /// A row for each record of the input, as `compress` writes them.
    Records,
    /// A row for each record of an unrolled trajectory.
    Segments,
}

/// The header line.
pub fn csv_header(columns: Columns) -> Vec<u8> {
    match columns {
        Columns::Records => header_of(Row::default()),
        Columns::Segments => header_of(UnrollRow::default()),
    }
}

fn header_of(row: impl Serialize) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
    // The header is the first line of any row's CSV.
    let written = writer.serialize(row).and_then(|()| Ok(writer.flush()?));
    let mut lines = writer.into_inner().unwrap_or_default();
    let end = lines
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    lines.truncate(if written.is_ok() { end } else { 0 });
    lines
}

/// Returns rows as CSV, without a header; with `safe`, safe for spreadsheets.
pub fn csv_rows(rows: &[Row], columns: Columns, safe: bool) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new()
        .has_headers(false)
        .from_writer(Vec::new());
    for row in rows {
        // Plain fields into memory: there is nothing that could fail.
        let _ = match columns {
            Columns::Records if safe => writer.serialize(quoted(row)),
            Columns::Records => writer.serialize(row),
            Columns::Segments if safe => writer.serialize(UnrollRow::from(quoted(row))),
            Columns::Segments => writer.serialize(UnrollRow::from(row.clone())),
        };
    }
    writer.into_inner().unwrap_or_default()
}

/// Reads rows back.
pub fn read_rows(reader: impl Read) -> impl Iterator<Item = Result<Row, csv::Error>> {
    csv::ReaderBuilder::new().from_reader(reader).into_deserialize()
}

/// Reads rows back that were written `safe` for spreadsheets, or not.
pub fn read_rows_written(
    reader: impl Read,
    columns: Columns,
    safe: bool,
) -> impl Iterator<Item = Result<Row, csv::Error>> {
    let mut reader = csv::ReaderBuilder::new().from_reader(reader);
    let headers = reader.byte_headers().cloned();
    reader.into_byte_records().map(move |record| {
        let (headers, record) = (headers.as_ref().ok(), record?);
        let row = match columns {
            Columns::Records => record.deserialize(headers)?,
            Columns::Segments => record.deserialize::<UnrollRow>(headers)?.into(),
        };
        Ok(if safe { unquoted(row) } else { row })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{AgentCalls, SegmentRow, Status};

    #[test]
    fn rows_survive_the_way_to_csv_and_back() {
        let rows = vec![
            Row {
                source: "a,\"b\".jsonl".into(),
                line: 3,
                reason: "x".into(),
                reason_detail: "y\nz".into(),
                ..Row::default()
            },
            Row {
                status: Status::Compressed,
                compression_ratio: 0.12345,
                tokens_saved: -4,
                ..Row::default()
            },
        ];
        let mut csv = csv_header(Columns::Records);
        csv.extend(csv_rows(&rows, Columns::Records, false));
        let read: Vec<Row> = read_rows(csv.as_slice()).collect::<Result<_, _>>().unwrap();
        assert_eq!(read.first(), rows.first());
        assert_eq!(read.get(1).map(|row| row.compression_ratio), Some(0.1235));
        assert_eq!(read.len(), 2);
    }

    #[test]
    fn rows_of_segments_survive_it_too() {
        let row = Row {
            id: "=a#2".into(),
            status: Status::Compressed,
            original_tokens: 900,
            compressed_tokens: 90,
            region_start: 3,
            segment: Some(SegmentRow {
                segment: 2,
                segments: 3,
                trained_tokens: 7,
                tokens_before: Some(120),
                calls: AgentCalls {
                    calls: 3,
                    prompt_tokens: 400,
                    cached_tokens: 250,
                },
                ..SegmentRow::default()
            }),
            ..Row::default()
        };
        for safe in [false, true] {
            let mut csv = csv_header(Columns::Segments);
            csv.extend(csv_rows(std::slice::from_ref(&row), Columns::Segments, safe));
            let read: Vec<Row> = read_rows_written(csv.as_slice(), Columns::Segments, safe)
                .collect::<Result<_, _>>()
                .unwrap();
            assert_eq!(read, std::slice::from_ref(&row));
        }
    }

    #[test]
    fn the_columns_are_those_that_are_promised() {
        let promised = "source,line,id,format,status,reason,original_tokens,compressed_tokens,tokens_saved,\
            compression_ratio,original_turns,compressed_turns,turns_removed,region_start,region_end,region_turns,\
            was_compressed,still_over_limit,skipped_under_target,target_max_tokens,summary_tokens,summarizer,passes,\
            degraded,summarization_api_calls,summarization_errors,prompt_tokens,completion_tokens,cached_summary,\
            masked_turns,anchors_needed,anchors_held,redactions,duration_ms,original_value_tokens,\
            compressed_value_tokens,original_rendered_tokens,compressed_rendered_tokens,template_changed_turns,\
            anchors_invented,orphan_responses,unanswered_calls,repeated_ids,packed_responses,same_role_neighbours,mended_faults,\
            fallback_prompt_tokens,fallback_completion_tokens,count,summary_starved,anchors_written,placement,region_moved,\
            converted,format_losses,format_loss_kinds,mended_shapes,mended_kinds,unknown_roles,reason_detail\n";
        assert_eq!(String::from_utf8(csv_header(Columns::Records)).unwrap(), promised);
    }
}

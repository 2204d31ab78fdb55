//! Answers that hold a table, its columns beside its rows: `{"columns": ["id", "state"], "rows": [[7, "open"]]}`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

/// Longest answer that is looked at, in bytes, and most rows.
const MAX_TEXT: usize = 1 << 20;
const MAX_ROWS: usize = 1_024;

/// Key of the columns, and keys that rows stand under.
const COLUMNS: &str = "columns";
const ROWS: [&str; 3] = ["rows", "data", "values"];

#[derive(Deserialize)]
#[serde(untagged)]
enum TableColumn<'t> {
    Name(#[serde(borrow)] Cow<'t, str>),
    Described {
        #[serde(borrow)]
        name: Cow<'t, str>,
    },
}

/// The answer with a record for each row; `None` where it holds no table.
pub(super) fn with_records(text: &str) -> Option<String> {
    let is_one = text.trim_start().starts_with('{') && text.len() <= MAX_TEXT && text.contains("\"columns\"");
    if !is_one {
        return None;
    }
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    let head = fields.get(COLUMNS)?.get();
    let columns: Vec<TableColumn<'_>> = serde_json::from_str(head).ok()?;
    let body = ROWS.iter().find_map(|key| fields.get(*key))?.get();
    let rows: Vec<Vec<&RawValue>> = serde_json::from_str(body).ok()?;
    if columns.is_empty() || rows.iter().any(|row| row.len() != columns.len()) {
        return None;
    }
    let names: Vec<String> = columns
        .iter()
        .map(|column| match column {
            TableColumn::Name(name) | TableColumn::Described { name } => serde_json::to_string(name),
        })
        .collect::<Result<_, _>>()
        .ok()?;
    let record = |row: &Vec<&RawValue>| {
        let fields = names
            .iter()
            .zip(row)
            .map(|(name, value)| [name, ":", value.get()].concat());
        ["{", &fields.collect::<Vec<_>>().join(","), "}"].concat()
    };
    let records: Vec<String> = rows.iter().take(MAX_ROWS).map(record).collect();
    let records = ["[", &records.join(","), "]"].concat();
    Some(text.replacen(body, &records, 1).replacen(head, "[]", 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_records_of_their_columns() {
        for (text, expected) in [
            (
                r#"{"status": "ok", "columns": ["id", "state"], "rows": [[7, "open"], [8, null]]}"#,
                Some(
                    r#"{"status": "ok", "columns": [], "rows": [{"id":7,"state":"open"},{"id":8,"state":null}]}"#,
                ),
            ),
            (
                r#"{"columns": [{"name": "n", "type": "int"}], "data": [[4212]]}"#,
                Some(r#"{"columns": [], "data": [{"n":4212}]}"#),
            ),
            (r#"{"columns": ["id", "state"], "rows": [[7]]}"#, None),
            (r#"{"columns": 3, "rows": []}"#, None),
            (r#"{"columns": ["id"], "rows": [{"id": 7}]}"#, None),
        ] {
            assert_eq!(with_records(text).as_deref(), expected, "{text}");
        }
    }
}

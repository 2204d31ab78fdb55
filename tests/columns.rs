//! Rows of Parquet and Arrow files to lines and back: `cargo test --release --features parquet --test columns`.
// Tests may fail loudly.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use arrow_schema::{DataType, Field, Schema};
use tempfile::TempDir;

use trajfit::internals::columns::{
    ColumnShape, OnRead, PlacedLine, RowBatches, RowFile, RowFormat, RowWriter, common_schema, convert,
    decode, join, open, open_stream,
};

const KINDS: [(RowFormat, &str); 3] = [
    (RowFormat::Parquet, "rows.parquet"),
    (RowFormat::ArrowFile, "rows.arrow"),
    (RowFormat::ArrowStream, "rows.arrows"),
];

/// Chat messages with the nulls that one type for all of them brings.
const MESSAGES: [&str; 2] = [
    r#"[{"role":"user","content":"Hi \u00e9\n"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"ls","arguments":{"path":"/"}}}]},{"role":"tool","content":"a"}]"#,
    r#"[{"role":"user","content":"Bye"},{"role":"assistant","content":"","tool_calls":[{"id":"2","function":{"name":"cat","arguments":{"file":"b","lines":[1,2]}}}]}]"#,
];

fn messages() -> ArrayRef {
    let mut shape = ColumnShape::default();
    for json in MESSAGES {
        shape.add(json).unwrap();
    }
    let values: Vec<Option<&str>> = MESSAGES.iter().map(|json| Some(*json)).collect();
    decode(&shape.data_type().unwrap(), &values).unwrap()
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let fields = columns.iter();
    let fields: Vec<Field> = fields
        .map(|(name, array)| Field::new(*name, array.data_type().clone(), true))
        .collect();
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
}

fn chats() -> RecordBatch {
    batch(vec![
        ("n", Arc::new(Int64Array::from(vec![Some(1), None]))),
        ("messages", messages()),
        (
            "at",
            Arc::new(TimestampMicrosecondArray::from(vec![1, 1_000_001]).with_timezone("UTC")),
        ),
    ])
}

fn write(path: &Path, kind: RowFormat, batches: &[RecordBatch]) -> RowFile {
    let file = File::create(path).unwrap();
    let mut writer = RowWriter::create(&file, kind, batches[0].schema_ref()).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    RowFile {
        path: path.to_owned(),
        kind,
    }
}

fn nothing() -> OnRead {
    Arc::new(|_| ())
}

fn lines_of(file: &RowFile) -> Vec<String> {
    let mut text = String::new();
    open(file, nothing()).unwrap().read_to_string(&mut text).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn rows_of(file: &RowFile) -> RecordBatch {
    let mut rows = RowBatches::open(file, nothing()).unwrap();
    let mut batches = Vec::new();
    while let Some(batch) = rows.next_batch().unwrap() {
        batches.push(batch);
    }
    arrow_select::concat::concat_batches(rows.schema(), &batches).unwrap()
}

fn converted(
    folder: &TempDir,
    lines: &[(usize, u64, &str)],
    sources: &[Option<RowFile>],
) -> io::Result<RowFile> {
    let path = folder.path().join("out.parquet");
    let file = File::create(&path)?;
    let placed = lines.iter().map(|(source, row, line)| PlacedLine {
        source: *source,
        row: *row,
        line: line.as_bytes().to_vec(),
    });
    let placed: Vec<PlacedLine> = placed.collect();
    convert(
        || Ok(placed.iter().cloned().map(Ok)),
        sources,
        None,
        &file,
        RowFormat::Parquet,
    )?;
    Ok(RowFile {
        path,
        kind: RowFormat::Parquet,
    })
}

fn source(folder: &TempDir, batch: RecordBatch) -> RowFile {
    write(&folder.path().join("in.parquet"), RowFormat::Parquet, &[batch])
}

#[test]
fn rows_are_lines_without_the_nulls_of_their_type() {
    let folder = tempfile::tempdir().unwrap();
    for (kind, name) in KINDS {
        let path = folder.path().join(name);
        let file = write(&path, kind, &[chats()]);
        let start = std::fs::read(&path).unwrap();
        assert_eq!(RowFormat::of_start(&start[..RowFormat::START_BYTES]), Some(kind));
        assert_eq!(RowFormat::of_name(&path), Some(kind));
        let lines = lines_of(&file);
        let messages = MESSAGES.map(|messages| messages.replace("\\u00e9", "é"));
        assert_eq!(
            lines[0],
            format!(
                "{{\"n\":1,\"messages\":{},\"at\":\"1970-01-01T00:00:00.000001Z\"}}",
                messages[0]
            )
        );
        assert_eq!(
            lines[1],
            format!(
                "{{\"messages\":{},\"at\":\"1970-01-01T00:00:01.000001Z\"}}",
                messages[1]
            )
        );
    }
}

#[test]
fn a_stream_is_read_from_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(
        &folder.path().join("rows.arrows"),
        RowFormat::ArrowStream,
        &[chats(), chats()],
    );
    let mut text = String::new();
    let stream = File::open(&file.path).unwrap();
    open_stream(Box::new(stream))
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text.lines().collect::<Vec<_>>(), lines_of(&file));
    assert_eq!(text.lines().count(), 4);
}

#[test]
fn json_in_a_text_column_stays_as_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let spaced = "[ {\"from\" : \"human\",\r\n \"value\": 1.50} ]";
    let texts = vec![Some(spaced), Some("no [json"), Some("[1,"), None];
    let file = source(
        &folder,
        batch(vec![(
            "conversations",
            Arc::new(StringArray::from(texts.clone())),
        )]),
    );
    let lines = lines_of(&file);
    assert_eq!(
        lines,
        [
            r#"{"conversations":[ {"from" : "human",   "value": 1.50} ]}"#,
            r#"{"conversations":"no [json"}"#,
            r#"{"conversations":"[1,"}"#,
            "{}",
        ]
    );
    let changed = r#"{"conversations":[ {"from" : "human", "value": 2.50} ]}"#;
    let rows = converted(
        &folder,
        &[
            (0, 0, &lines[0]),
            (0, 1, changed),
            (0, 2, &lines[2]),
            (0, 3, &lines[3]),
        ],
        &[Some(file)],
    );
    let rows = rows_of(&rows.unwrap());
    let column = rows.column(0).as_string::<i32>();
    let expected = vec![
        texts[0],
        Some(r#"[ {"from" : "human", "value": 2.50} ]"#),
        texts[2],
        None,
    ];
    assert_eq!(column, &StringArray::from(expected));
}

#[test]
fn json_of_turns_may_be_entries_of_a_dictionary_or_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let turns = r#"[{"from": "human", "value": "x"}]"#;
    let changed = r#"{"conversations":[{"from": "human", "value": "y"}]}"#;
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some(turns), None, Some(turns)]));
    let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    for (kind, written) in [(dictionary, DataType::Utf8), (DataType::Binary, DataType::Binary)] {
        let array = arrow_cast::cast(&texts, &kind).unwrap();
        let file = source(&folder, batch(vec![("conversations", array)]));
        let lines = lines_of(&file);
        assert_eq!(lines[0], format!(r#"{{"conversations":{turns}}}"#), "{kind}");
        let places = [(0, 0, changed), (0, 1, &lines[1]), (0, 2, &lines[2])];
        let file = converted(&folder, &places, &[Some(file)]).unwrap();
        assert_eq!(rows_of(&file).column(0).data_type(), &written);
        assert_eq!(lines_of(&file), [changed, "{}", &lines[2]]);
    }
    let no_text = BinaryArray::from(vec![&[0xff, 0x01][..]]);
    let file = source(&folder, batch(vec![("messages", Arc::new(no_text))]));
    assert_eq!(lines_of(&file), [r#"{"messages":"ff01"}"#]);
}

#[test]
fn a_text_where_a_column_has_parts_becomes_a_part() {
    let folder = tempfile::tempdir().unwrap();
    let parts = r#"[{"role":"user","content":[{"type":"text","text":"a"}]}]"#;
    let mut shape = ColumnShape::default();
    shape.add(parts).unwrap();
    let messages = decode(&shape.data_type().unwrap(), &[Some(parts)]).unwrap();
    let file = source(&folder, batch(vec![("messages", messages)]));
    let line = r#"{"messages":[{"role":"user","content":"[summary]","train":false},{"role":"user","content":[{"type":"text","text":"a"}]}]}"#;
    let rows = converted(&folder, &[(0, 0, line)], &[Some(file)]).unwrap();
    let expected = line.replace(r#""[summary]""#, r#"[{"type":"text","text":"[summary]"}]"#);
    assert_eq!(lines_of(&rows), [expected]);
}

#[test]
fn lines_as_they_were_read_keep_the_values_of_their_rows() {
    let folder = tempfile::tempdir().unwrap();
    let file = source(&folder, chats());
    let lines = lines_of(&file);
    let all = converted(
        &folder,
        &[(0, 0, &lines[0]), (0, 1, &lines[1])],
        &[Some(file.clone())],
    )
    .unwrap();
    assert_eq!(rows_of(&all), rows_of(&file));
    let second = converted(&folder, &[(0, 1, &lines[1])], &[Some(file.clone())]).unwrap();
    assert_eq!(rows_of(&second), rows_of(&file).slice(1, 1));
}

#[test]
fn changed_columns_take_new_members_and_new_columns_types_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let file = source(&folder, chats());
    let lines = lines_of(&file);
    let changed = r#"{"n":1,"messages":[{"role":"user","content":"[summary]","train":false}],"at":"1970-01-01T00:00:00.000003Z","metrics":{"tokens":5,"ratio":0.5,"kinds":["a"]}}"#;
    let places = [(0, 0, changed), (0, 0, changed), (0, 1, lines[1].as_str())];
    let file = converted(&folder, &places, &[Some(file)]).unwrap();
    let rows = rows_of(&file);
    assert_eq!(
        rows.schema()
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .collect::<Vec<_>>(),
        ["n", "messages", "at", "metrics"]
    );
    let times = TimestampMicrosecondArray::from(vec![3, 3, 1_000_001]).with_timezone("UTC");
    assert_eq!(rows.column(2).as_ref(), &times as &dyn Array);
    let metrics = rows.column(3).as_struct();
    assert_eq!(
        metrics
            .column_by_name("tokens")
            .unwrap()
            .as_primitive::<Int64Type>()
            .value(0),
        5
    );
    assert!(metrics.is_null(2));
    let again = lines_of(&file);
    assert_eq!(again, [changed, changed, lines[1].as_str()]);
}

#[test]
fn a_column_that_no_line_has_any_more_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let file = source(&folder, chats());
    let lines = [r#"{"conversations":[{"from":"human","value":"Hi"}],"n":1}"#; 2];
    let rows = converted(&folder, &[(0, 0, lines[0]), (0, 1, lines[1])], &[Some(file)]).unwrap();
    assert_eq!(
        lines_of(&rows),
        [r#"{"n":1,"conversations":[{"from":"human","value":"Hi"}]}"#; 2]
    );
}

#[test]
fn values_of_many_types_become_json_text() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [r#"{"a":1,"b":[],"c":{}}"#, r#"{"a":"x","b":[1.5],"c":{}}"#, "{}"];
    let places = lines.map(|line| (0, 0, line));
    let file = converted(&folder, &places, &[None]).unwrap();
    let types: Vec<DataType> = rows_of(&file)
        .schema()
        .fields()
        .iter()
        .map(|field| field.data_type().clone())
        .collect();
    let list = DataType::List(Arc::new(Field::new("item", DataType::Float64, true)));
    assert_eq!(types, [DataType::Utf8, list, DataType::Utf8]);
    assert_eq!(
        lines_of(&file),
        [
            r#"{"a":"1","b":[],"c":"{}"}"#,
            r#"{"a":"x","b":[1.5],"c":"{}"}"#,
            "{}"
        ]
    );
}

#[test]
fn a_value_that_does_not_fit_its_column_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = source(&folder, chats());
    let error = converted(&folder, &[(0, 0, r#"{"n":"one"}"#)], &[Some(file)]).unwrap_err();
    assert!(error.to_string().contains("column \"n\""), "{error}");
}

#[test]
fn rows_of_an_input_that_has_changed_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = source(&folder, chats());
    let error = converted(&folder, &[(0, 2, "{}")], &[Some(file)]).unwrap_err();
    assert!(error.to_string().contains("it has changed"), "{error}");
}

#[test]
fn files_of_the_same_columns_are_joined_and_others_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| -> PathBuf { folder.path().join(name) };
    let numbers =
        |values: Vec<Option<i64>>| batch(vec![("n", Arc::new(Int64Array::from(values)) as ArrayRef)]);
    let one = write(&at("one.parquet"), RowFormat::Parquet, &[chats()]);
    let two = write(&at("two.arrow"), RowFormat::ArrowFile, &[numbers(vec![Some(7)])]);
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
    let three = write(
        &at("three.parquet"),
        RowFormat::Parquet,
        &[batch(vec![("n", texts)])],
    );
    let out = File::create(at("joined.parquet")).unwrap();
    join(&[one.clone(), two.clone()], &out, RowFormat::Parquet).unwrap();
    let joined = RowFile {
        path: at("joined.parquet"),
        kind: RowFormat::Parquet,
    };
    let mut expected = lines_of(&one);
    expected.extend(lines_of(&two));
    assert_eq!(lines_of(&joined), expected);
    let error = common_schema(&[one, two, three]).unwrap_err().to_string();
    assert!(
        error.contains("three.parquet") && error.contains("\"n\""),
        "{error}"
    );
}

#[test]
fn the_same_lines_make_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let file = source(&folder, chats());
    let line = lines_of(&file)[0].replace("Hi", "Ho");
    let bytes = || {
        let made = converted(&folder, &[(0, 0, &line)], &[Some(file.clone())]).unwrap();
        std::fs::read(made.path).unwrap()
    };
    assert_eq!(bytes(), bytes());
}

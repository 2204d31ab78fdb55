//! Inputs that hold something other than records, recognized by their first bytes: one error, not one per line.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, BufRead};

use serde_json::value::RawValue;

use crate::columns;
use crate::pipeline::RunError;

/// A byte-order mark in UTF-8.
pub const BYTE_ORDER_MARK: &[u8] = &[0xEF, 0xBB, 0xBF];

/// Maximum bytes read to find the end of the first line.
const LONGEST_LINE: usize = 1 << 20;

/// Maximum bytes read to find the first element of an array.
const LONGEST_ELEMENT: usize = 64 * 1024;

/// Number of first bytes in which a zero marks an input as binary.
const BINARY_SAMPLE: usize = 512;

/// Maximum bytes read to find a line that may be a record, if the first is none.
const TEXT_SAMPLE: usize = 16 * 1024;

/// Lines without an object that an input needs to count as text, not as JSON Lines with a bad line or two.
const TEXT_LINES: usize = 3;

/// A kind of input that holds no records.
#[derive(Debug, Clone, Copy)]
pub struct Foreign {
    /// The name of the kind, with its article.
    name: &'static str,
    /// The rule that recognizes it.
    begins: Begins,
    /// The advice on reading it; `FILE` stands for the input.
    help: &'static str,
}

/// A rule about an input's beginning.
#[derive(Debug, Clone, Copy)]
enum Begins {
    /// It begins with one of these byte strings.
    Bytes(&'static [&'static [u8]]),
    /// It begins with bytes that no text has.
    Binary,
    /// It begins with a header of a tar archive.
    Tar,
    /// It begins with lines of which none begins as JSON does.
    Text,
    /// It begins with a JSON object that has one of these values of `type` (any, if none is named) and these other
    /// fields, but no trajectory.
    Event(&'static [&'static str], &'static [&'static str]),
}

/// A build that reads rows gets here only where they come through a pipe, or encrypted.
const ROWS: &str = if columns::RowFormat::IS_BUILT {
    "it is read from a file that can be read from its end, and that is not encrypted: name the file"
} else {
    columns::NOT_BUILT
};
const CLAUDE_CODE: &str = "make a record of the session: jq -c -s '{messages: [.[] | select(.type == \"user\" or .type == \
    \"assistant\") | .message]}' FILE";
const PI: &str = "make a record of the session: jq -c -s '{messages: [.[] | select(.type == \"message\") | .message]}' FILE";
const RESPONSES: &str = "make a record of the session with jq: docs/inputs.md has the command";

const CLAUDE_CODE_LOG: &str = "an event log of Claude Code: each line is an event, none a whole trajectory";
const PI_LOG: &str = "an event log of pi: each line is an event, none a whole trajectory";
const RESPONSES_ITEMS: &str =
    "a list of Responses API items: each is a part of a trajectory, none a whole one";

/// All kinds; the first match counts.
#[rustfmt::skip]
static KINDS: &[Foreign] = &[
    Foreign { name: "a Parquet file", begins: Begins::Bytes(&[b"PAR1", b"PARE"]), help: ROWS },
    Foreign { name: "an Arrow IPC file", begins: Begins::Bytes(&[b"ARROW1", b"\xff\xff\xff\xff", b"FEA1"]), help: ROWS },
    Foreign { name: "a zip archive", begins: Begins::Bytes(&[b"PK\x03\x04", b"PK\x05\x06"]), help: "unpack it: unzip -p FILE | trajfit COMMAND -" },
    Foreign { name: "an xz file", begins: Begins::Bytes(&[b"\xfd7zXZ\0"]), help: "unpack it: xz -dc FILE | trajfit COMMAND -" },
    Foreign { name: "a bzip2 file", begins: Begins::Bytes(&[b"BZh"]), help: "unpack it: bzip2 -dc FILE | trajfit COMMAND -" },
    Foreign { name: "an lz4 file", begins: Begins::Bytes(&[b"\x04\x22\x4d\x18"]), help: "unpack it: lz4 -dc FILE | trajfit COMMAND -" },
    Foreign { name: "a 7z archive", begins: Begins::Bytes(&[b"7z\xbc\xaf\x27\x1c"]), help: "unpack it: 7z x -so FILE | trajfit COMMAND -" },
    Foreign { name: "a PDF file", begins: Begins::Bytes(&[b"%PDF-"]), help: "export the trajectories as JSON Lines" },
    Foreign { name: "a NumPy or pickle file", begins: Begins::Bytes(&[b"\x93NUMPY", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"]), help: "Python reads it: write a JSON object a line" },
    Foreign { name: "an SQLite database", begins: Begins::Bytes(&[b"SQLite format 3\0"]), help: "sqlite3 reads it: export a JSON object a line" },
    Foreign { name: "an Avro file", begins: Begins::Bytes(&[b"Obj\x01"]), help: "avro-tools reads it: avro-tools tojson FILE > records.jsonl" },
    Foreign { name: "text in UTF-16", begins: Begins::Bytes(&[b"\xff\xfe{\0", b"\xff\xfe[\0", b"\xfe\xff\0{", b"\xfe\xff\0[", b"{\0", b"[\0", b"\0{", b"\0["]), help: "convert it: iconv -f UTF-16 -t UTF-8 FILE | trajfit COMMAND -" },
    Foreign { name: "JSON over several lines: no line holds a whole record", begins: Begins::Bytes(&[b"{\n ", b"{\n\t", b"{\r\n ", b"{\r\n\t"]), help: "put each object on a line: jq -c . FILE | trajfit COMMAND -" },
    Foreign { name: CLAUDE_CODE_LOG, begins: Begins::Event(&[], &["sessionId"]), help: CLAUDE_CODE },
    Foreign { name: CLAUDE_CODE_LOG, begins: Begins::Event(&["summary"], &["leafUuid"]), help: CLAUDE_CODE },
    Foreign { name: CLAUDE_CODE_LOG, begins: Begins::Event(&["file-history-snapshot"], &[]), help: CLAUDE_CODE },
    Foreign { name: PI_LOG, begins: Begins::Event(&["session"], &[]), help: PI },
    Foreign { name: PI_LOG, begins: Begins::Event(&["message"], &["message"]), help: PI },
    Foreign { name: "an event log of Codex: each line is an event, none a whole trajectory", begins: Begins::Event(&["session_meta", "response_item", "event_msg", "turn_context", "compacted"], &[]), help: RESPONSES },
    Foreign { name: RESPONSES_ITEMS, begins: Begins::Event(&["message"], &["role"]), help: RESPONSES },
    Foreign { name: RESPONSES_ITEMS, begins: Begins::Event(&["function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"], &["call_id"]), help: RESPONSES },
    Foreign { name: RESPONSES_ITEMS, begins: Begins::Event(&["reasoning"], &["summary"]), help: RESPONSES },
    Foreign { name: "a tar archive", begins: Begins::Tar, help: "unpack it: tar -xOf FILE | trajfit COMMAND -" },
    Foreign { name: "a binary file", begins: Begins::Binary, help: "inputs are JSON Lines or a JSON array, plain, gzip or Zstandard" },
    Foreign { name: "text without JSON: no line begins with an object", begins: Begins::Text, help: "inputs are JSON Lines or a JSON array; docs/inputs.md has commands that make JSON Lines of CSV and YAML" },
];

impl Foreign {
    /// The kind of an input with this beginning; `None` if it may hold records.
    pub fn recognized(head: &[u8]) -> Option<&'static Self> {
        let first = first_object(head);
        let first = first.as_ref().filter(|first| !is_trajectory(first));
        KINDS.iter().find(|kind| match kind.begins {
            Begins::Bytes(starts) => starts.iter().any(|start| head.starts_with(start)),
            Begins::Binary => is_binary(head),
            Begins::Tar => head
                .get(TAR_MAGIC_AT..)
                .is_some_and(|rest| rest.starts_with(TAR_MAGIC)),
            Begins::Text => is_text(head),
            Begins::Event(types, others) => first.is_some_and(|first| is_event(first, types, others)),
        })
    }

    /// The error for an input of this kind.
    pub fn error(&self, input: &str) -> RunError {
        RunError::usage(
            format!("cannot read {input}: it is {}", self.name),
            self.help.replace("FILE", input),
        )
    }
}

type ForeignObject<'a> = HashMap<Cow<'a, str>, &'a RawValue>;

/// The first JSON object of lines or of an array with this beginning.
fn first_object(head: &[u8]) -> Option<ForeignObject<'_>> {
    let text = head
        .strip_prefix(BYTE_ORDER_MARK)
        .unwrap_or(head)
        .trim_ascii_start();
    let text = text.strip_prefix(b"[").unwrap_or(text);
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<ForeignObject<'_>>();
    values.next()?.ok()
}

fn is_trajectory(first: &ForeignObject<'_>) -> bool {
    ["conversations", "messages"]
        .iter()
        .any(|key| first.contains_key(*key))
}

fn is_event(first: &ForeignObject<'_>, types: &[&str], others: &[&str]) -> bool {
    let name = first
        .get("type")
        .and_then(|name| name.get().strip_prefix('"')?.strip_suffix('"'));
    let is_type = name.is_some_and(|name| types.is_empty() || types.contains(&name));
    is_type && others.iter().all(|key| first.contains_key(*key))
}

/// Returns true if these are bytes that neither JSON nor other text begins with.
fn is_binary(head: &[u8]) -> bool {
    let sample = head.get(..BINARY_SAMPLE).unwrap_or(head);
    let is_json = matches!(sample.trim_ascii_start().first(), Some(b'{' | b'[') | None);
    !is_json && sample.contains(&0)
}

/// Offset of the magic bytes in a tar archive.
const TAR_MAGIC_AT: usize = 257;
const TAR_MAGIC: &[u8] = b"ustar";

/// Returns true if these are lines of which none may be a record, or the beginning of an array.
fn is_text(head: &[u8]) -> bool {
    let lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !line.is_empty());
    let may_be_json = |line: &[u8]| {
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        matches!(line.first(), Some(b'{' | b'['))
    };
    lines.clone().count() >= TEXT_LINES && !lines.any(may_be_json)
}

/// Reads the bytes that identify a source: its first line, or more of an array or of anything that is not JSON. A pipe
/// may deliver them one at a time.
pub fn head<R: BufRead>(reader: &mut R) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    // Offset of the first byte that is neither mark nor white space, and end of the bytes searched for its line end.
    let (mut start, mut searched) = (0, 0);
    loop {
        let bytes = match reader.fill_buf() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if bytes.is_empty() {
            return Ok(head);
        }
        let length = bytes.len();
        head.extend_from_slice(bytes);
        reader.consume(length);
        start = blank_length(&head, start);
        searched = searched.max(start);
        let is_enough = match head.get(start) {
            None | Some(b'[') => head.len() >= LONGEST_ELEMENT,
            Some(b'{') => {
                let is_whole = head.get(searched..).is_some_and(|new| new.contains(&b'\n'));
                is_whole || head.len() >= LONGEST_LINE
            }
            Some(_) => head.len() >= TEXT_SAMPLE,
        };
        if is_enough {
            return Ok(head);
        }
        searched = head.len();
    }
}

/// The length of the byte-order mark and white space that `head` begins with, at least `known`.
fn blank_length(head: &[u8], known: usize) -> usize {
    let known = if head.starts_with(BYTE_ORDER_MARK) {
        known.max(BYTE_ORDER_MARK.len())
    } else {
        known
    };
    let rest = head.get(known..).unwrap_or_default();
    known + rest.len() - rest.trim_ascii_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn is(head: &[u8], name: &str) {
        let found = Foreign::recognized(head).map_or("records", |kind| kind.name);
        assert!(found.contains(name), "{found}");
    }

    #[test]
    fn other_files_are_known_by_their_first_bytes() {
        is(b"PAR1\x15\x04\x15", "Parquet");
        is(b"ARROW1\0\0", "Arrow");
        is(b"\xff\xff\xff\xff\x10\x01\0\0", "Arrow");
        is(b"PK\x03\x04\x14\0", "zip");
        is(b"%PDF-1.7\n", "PDF");
        let mut tar = vec![0; 512];
        tar[257..262].copy_from_slice(b"ustar");
        is(&tar, "tar");
        is(b"\x80\x04\x95", "pickle");
        is(b"{\0\"\0m\0", "UTF-16");
        is(b"\xff\xfe{\0\"\0", "UTF-16");
        is(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a binary file");
        is(b"{\n  \"messages\": [\n", "several lines");
        is(b"id,messages\n1,\"[{\"\"role\"\"\n2,x\n", "text without JSON");
        is(
            b"- role: user\n  content: x\n- role: assistant\n",
            "text without JSON",
        );
        // Bad lines are rejected one by one.
        for text in [
            &b"plain text\n"[..],
            b"one\ntwo\n\n",
            b"one\ntwo\nthree\n {\"a\": 1}\n",
            b"\xff\xfe broken\n",
            b"{\"a\": \"\0\"}",
            b"",
            b" \n",
            b"[",
            b"[1]",
        ] {
            is(text, "records");
        }
    }

    #[test]
    fn event_logs_are_known_by_their_first_event() {
        is(
            br#"{"parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","content":"hi"}}"#,
            "Claude Code",
        );
        is(
            br#"{"type":"summary","summary":"Mend","leafUuid":"u"}"#,
            "Claude Code",
        );
        is(
            br#"{"type":"file-history-snapshot","messageId":"m","snapshot":{}}"#,
            "Claude Code",
        );
        is(
            br#"{"type":"session","id":"s","timestamp":"t","cwd":"/"}"#,
            "of pi",
        );
        is(
            br#"{"type":"message","message":{"role":"user","content":"hi"}}"#,
            "of pi",
        );
        is(
            br#"{"timestamp":"t","type":"session_meta","payload":{"id":"s"}}"#,
            "Codex",
        );
        is(
            br#"{"type":"response_item","payload":{"type":"message","role":"user","content":[]}}"#,
            "Codex",
        );
        is(
            br#"{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}"#,
            "Responses",
        );
        is(
            br#" [ {"type":"function_call","call_id":"c","name":"f","arguments":"{}"}, {"#,
            "Responses",
        );
        is(
            b"\xef\xbb\xbf\n{\"type\":\"reasoning\",\"id\":\"r\",\"summary\":[]}\n{",
            "Responses",
        );
        for record in [
            &br#"{"type":"session","sessionId":"s","messages":[]}"#[..],
            br#"{"type":"message","role":"user","conversations":[]}"#,
            br#"{"type":"record","text":"x"}"#,
            br#"{"sessionId":"s","text":"x"}"#,
            br#"{"type":"session""#,
        ] {
            is(record, "records");
        }
    }

    /// A reader that returns its bytes one at a time.
    struct Slow<'b>(&'b [u8]);

    impl io::Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            io::Read::read(&mut io::Read::take(&mut self.0, 1), buffer)
        }
    }

    #[test]
    fn the_first_line_is_enough_however_it_comes() {
        let head_of = |bytes: &[u8]| head(&mut io::BufReader::new(Slow(bytes))).unwrap();
        assert_eq!(
            head_of(b"\xef\xbb\xbf \n{\"a\": 1}\nmore"),
            b"\xef\xbb\xbf \n{\"a\": 1}\n"
        );
        assert_eq!(head_of(b"[{}]\n"), b"[{}]\n");
        assert_eq!(head_of(b""), b"");
        assert_eq!(head_of(&b"x\n".repeat(TEXT_SAMPLE)).len(), TEXT_SAMPLE);
    }
}

//! The cost of one record, by turn and by kind of turn: a line of `count --per-record`.

use serde::Serialize;

/// Tokens by kind of content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Parts {
    /// System turns, and a top-level `system` text.
    pub system: u64,
    /// The top-level `tools`, which a template may render; no turn, and not in the sum of the turns.
    pub tools: u64,
    /// Answers of tools.
    pub tool_output: u64,
    /// Assistant turns, reasoning and calls included.
    pub assistant: u64,
    /// Human turns.
    pub human: u64,
    /// Turns of other roles.
    pub other: u64,
}

impl Parts {
    /// Adds those of another record.
    pub fn add(&mut self, other: &Self) {
        self.system += other.system;
        self.tools += other.tools;
        self.tool_output += other.tool_output;
        self.assistant += other.assistant;
        self.human += other.human;
        self.other += other.other;
    }
}

/// The tokens of one record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Measure {
    /// Its line in the source, from 1; in an array, the number of the element.
    pub line: u64,
    /// Its id, decoded; empty if it has none.
    pub id: String,
    /// The format it is in.
    pub format: &'static str,
    /// The sum of the tokens of the turns and of a top-level `system` text.
    pub tokens: u64,
    /// The tokens as the chat template renders them, or the error by which it refuses; `None` without a template.
    pub rendered: Option<Result<u64, String>>,
    /// The tokens of each turn.
    pub turn_tokens: Vec<u64>,
    /// The tokens by kind of content.
    pub parts: Parts,
}

/// A record that has no trajectory that could be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Its line in the source.
    pub line: u64,
    /// The reason code of metrics and rejects.
    pub code: &'static str,
    /// The error.
    pub error: String,
}

#[derive(Serialize)]
struct MeasureLine<'m> {
    source: &'m str,
    line: u64,
    id: &'m str,
    format: &'static str,
    tokens: u64,
    rendered_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rendered_error: Option<&'m str>,
    turns: usize,
    turn_tokens: &'m [u64],
    parts: Parts,
}

#[derive(Serialize)]
struct UnreadableLine<'m> {
    source: &'m str,
    line: u64,
    error: &'m str,
    code: &'static str,
}

impl Measure {
    /// The tokens as the template renders it, if it does.
    pub fn rendered_tokens(&self) -> Option<u64> {
        self.rendered.as_ref()?.as_ref().ok().copied()
    }

    /// The error by which the template refuses it, if it does.
    pub fn refusal(&self) -> Option<&str> {
        self.rendered.as_ref()?.as_ref().err().map(String::as_str)
    }

    /// Appends it as a line of JSON.
    pub fn append_to(&self, source: &str, out: &mut Vec<u8>) {
        let line = MeasureLine {
            source,
            line: self.line,
            id: &self.id,
            format: self.format,
            tokens: self.tokens,
            rendered_tokens: self.rendered_tokens(),
            rendered_error: self.refusal(),
            turns: self.turn_tokens.len(),
            turn_tokens: &self.turn_tokens,
            parts: self.parts,
        };
        append(&line, out);
    }
}

impl Unreadable {
    /// Appends it as a line of JSON.
    pub fn append_to(&self, source: &str, out: &mut Vec<u8>) {
        let line = UnreadableLine {
            source,
            line: self.line,
            error: &self.error,
            code: self.code,
        };
        append(&line, out);
    }
}

fn append(line: &impl Serialize, out: &mut Vec<u8>) {
    // Strings and numbers always serialize; writing to memory cannot fail.
    if serde_json::to_writer(&mut *out, line).is_ok() {
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_of(measure: &Measure) -> String {
        let mut line = Vec::new();
        measure.append_to("a.jsonl", &mut line);
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn a_line_has_the_promised_keys_in_their_order() {
        let mut measure = Measure {
            line: 3,
            id: "x\"y".to_owned(),
            format: "sharegpt",
            tokens: 12,
            turn_tokens: vec![5, 7],
            parts: Parts {
                human: 5,
                assistant: 7,
                ..Parts::default()
            },
            rendered: None,
        };
        insta::assert_snapshot!(line_of(&measure), @r#"{"source":"a.jsonl","line":3,"id":"x\"y","format":"sharegpt","tokens":12,"rendered_tokens":null,"turns":2,"turn_tokens":[5,7],"parts":{"system":0,"tools":0,"tool_output":0,"assistant":7,"human":5,"other":0}}"#);
        measure.rendered = Some(Err("roles must alternate".to_owned()));
        assert!(
            line_of(&measure).contains(r#""rendered_tokens":null,"rendered_error":"roles must alternate","#)
        );
        measure.rendered = Some(Ok(20));
        assert!(line_of(&measure).contains(r#""rendered_tokens":20,"turns":2,"#));
    }

    #[test]
    fn a_line_of_what_could_not_be_read_says_where_and_why() {
        let unreadable = Unreadable {
            line: 7,
            code: "invalid_json",
            error: "EOF".to_owned(),
        };
        let mut line = Vec::new();
        unreadable.append_to("-", &mut line);
        insta::assert_snapshot!(String::from_utf8(line).unwrap(), @r#"{"source":"-","line":7,"error":"EOF","code":"invalid_json"}"#);
    }
}

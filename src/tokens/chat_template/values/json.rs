//! JSON texts as values of the template engine, as Python's `json.loads` and `apply_chat_template` make them.

use memchr::memchr2;
use minijinja::Value;

use super::python;
use super::{Dict, List, Numeral};
use crate::tokens::chat_template::TemplateRefusal;

/// Maximum nesting of a text; Python's reader has a somewhat higher limit.
const MAX_DEPTH: usize = 300;

/// The field names that a message's reasoning is passed under; the first is the one that templates read.
const REASONING: [&str; 3] = ["reasoning_content", "thinking", "reasoning"];

/// The list of messages. Null fields of a message are left out, and its reasoning gets all names in [`REASONING`].
pub fn messages(text: &str) -> Result<Value, TemplateRefusal> {
    let messages = elements(text, "messages")?;
    if messages.is_empty() {
        return Err(TemplateRefusal::new("there is no message"));
    }
    messages
        .iter()
        .map(message)
        .collect::<Result<Vec<_>, _>>()
        .map(Value::from)
}

/// The list of tools, each an object.
pub fn tools(text: &str) -> Result<Value, TemplateRefusal> {
    let tools = elements(text, "tools")?;
    if tools.iter().all(is_object) {
        Ok(List::of(tools))
    } else {
        Err(TemplateRefusal::new("a tool is no object"))
    }
}

fn is_object(value: &Value) -> bool {
    value.kind() == minijinja::value::ValueKind::Map
}

fn message(message: &Value) -> Result<Value, TemplateRefusal> {
    let pairs = is_object(message)
        .then(|| message.as_object()?.try_iter_pairs())
        .flatten()
        .ok_or_else(|| TemplateRefusal::new("a message is no object"))?;
    let mut pairs: Vec<(Value, Value)> = pairs.filter(|(_, value)| !value.is_none()).collect();
    let of = |name: &str| {
        pairs
            .iter()
            .find(|(key, _)| key.as_str() == Some(name))
            .map(|(_, value)| value.clone())
    };
    if let Some(reasoning) = REASONING.into_iter().find_map(of) {
        if of("thinking").is_none() {
            pairs.insert(0, (Value::from("thinking"), reasoning.clone()));
        }
        pairs.push((Value::from("reasoning_content"), reasoning));
    }
    Ok(Dict::of(pairs))
}

fn elements(text: &str, what: &str) -> Result<Vec<Value>, TemplateRefusal> {
    let bad = |reason: &str| TemplateRefusal::new(format!("the {what} are {reason}"));
    let mut reader = JsonReader { text, at: 0 };
    reader.skip_space();
    if reader.peek() != Some(b'[') {
        return Err(bad("no list"));
    }
    let values = reader.list(1).map_err(|fault| bad(fault.words()))?;
    reader.skip_space();
    if reader.peek().is_some() {
        return Err(bad(JsonFault::NoJson.words()));
    }
    Ok(values)
}

/// The reason why a text cannot be read.
#[derive(Debug, Clone, Copy)]
enum JsonFault {
    NoJson,
    LoneSurrogate,
    TooDeep,
}

impl JsonFault {
    fn words(self) -> &'static str {
        match self {
            Self::NoJson => "no JSON",
            Self::LoneSurrogate => "no text: there is half of a surrogate pair in them",
            Self::TooDeep => "nested too deep",
        }
    }
}

struct JsonReader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> JsonReader<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    /// Skips white space, and `byte` if it is next. Returns true if it was.
    fn takes(&mut self, byte: u8) -> bool {
        self.skip_space();
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn value(&mut self, depth: usize) -> Result<Value, JsonFault> {
        if depth > MAX_DEPTH {
            return Err(JsonFault::TooDeep);
        }
        self.skip_space();
        match self.peek().ok_or(JsonFault::NoJson)? {
            b'{' => self.object(depth + 1),
            b'[' => self.list(depth + 1).map(List::of),
            b'"' => self.string(),
            _ => self.word(),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Value>, JsonFault> {
        self.at += 1;
        let mut values = Vec::new();
        if self.takes(b']') {
            return Ok(values);
        }
        loop {
            values.push(self.value(depth)?);
            if self.takes(b']') {
                return Ok(values);
            }
            if !self.takes(b',') {
                return Err(JsonFault::NoJson);
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, JsonFault> {
        self.at += 1;
        let mut pairs = Vec::new();
        if self.takes(b'}') {
            return Ok(Dict::of(pairs));
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(JsonFault::NoJson);
            }
            let key = self.string()?;
            if !self.takes(b':') {
                return Err(JsonFault::NoJson);
            }
            pairs.push((key, self.value(depth)?));
            if self.takes(b'}') {
                return Ok(Dict::of(pairs));
            }
            if !self.takes(b',') {
                return Err(JsonFault::NoJson);
            }
        }
    }

    fn string(&mut self) -> Result<Value, JsonFault> {
        let (literal, is_plain) = self.literal().ok_or(JsonFault::NoJson)?;
        if is_plain {
            let text = literal.get(1..literal.len() - 1);
            return text.map(Value::from).ok_or(JsonFault::NoJson);
        }
        // The only possible error in a string of validated JSON is a lone surrogate.
        let text: String = serde_json::from_str(literal).map_err(|_| JsonFault::LoneSurrogate)?;
        Ok(Value::from(text))
    }

    /// The string literal at the current place, with its quotes, and true if it contains no escapes.
    fn literal(&mut self) -> Option<(&'t str, bool)> {
        let bytes = self.text.as_bytes();
        let mut end = self.at + 1;
        let mut is_plain = true;
        loop {
            end += memchr2(b'"', b'\\', bytes.get(end..)?)?;
            if bytes.get(end) == Some(&b'"') {
                break;
            }
            is_plain = false;
            end += 2;
        }
        let literal = self.text.get(self.at..=end)?;
        self.at = end + 1;
        Some((literal, is_plain))
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<Value, JsonFault> {
        let rest = self.text.get(self.at..).ok_or(JsonFault::NoJson)?;
        let is_of_word = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        let length = rest
            .bytes()
            .position(|byte| !is_of_word(byte))
            .unwrap_or(rest.len());
        let word = rest.get(..length).ok_or(JsonFault::NoJson)?;
        self.at += length;
        match word {
            "true" => Ok(Value::from(true)),
            "false" => Ok(Value::from(false)),
            "null" => Ok(Value::from(())),
            _ => number(word),
        }
    }
}

fn number(word: &str) -> Result<Value, JsonFault> {
    if !word.starts_with(|character: char| character == '-' || character.is_ascii_digit()) {
        return Err(JsonFault::NoJson);
    }
    if word.contains(['.', 'e', 'E']) {
        let float: f64 = word.parse().map_err(|_| JsonFault::NoJson)?;
        let mut text = String::new();
        python::float_into(float, &mut text);
        let is_plain = text.parse() == Ok(float) && text.contains('.') && !text.contains('e');
        return Ok(if is_plain {
            Value::from(float)
        } else {
            numeral(text, true)
        });
    }
    if let Ok(number) = word.parse::<i64>() {
        return Ok(Value::from(number));
    }
    if let Ok(number) = word.parse::<i128>() {
        return Ok(Value::from(number));
    }
    let digits = word.strip_prefix('-').unwrap_or(word);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        Ok(numeral(word.to_owned(), false))
    } else {
        Err(JsonFault::NoJson)
    }
}

fn numeral(text: String, is_float: bool) -> Value {
    Value::from_object(Numeral { text, is_float })
}

//! Calls that an assistant writes as those of Python: `[search(query="a"), close()]`; and objects that Python printed.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};

use super::row::{CallForm, MAX_CALLS};
use crate::events::source_call::{CallArguments, SourceCall};

/// Lists and dictionaries in each other.
const MAX_DEPTH: usize = 32;

/// The calls between the marks of a row, and where they begin; without a mark they are a list that a text ends with.
pub(super) fn calls(row: &CallForm, text: &str) -> Option<(usize, Vec<SourceCall<'static>>)> {
    let at = if row.opens.is_empty() {
        let text = text.trim_end().strip_suffix(")]")?;
        if text.starts_with('[') {
            0
        } else {
            text.rfind("\n[")? + 1
        }
    } else {
        text.rfind(row.opens.as_str())?
    };
    let body = text.get(at + row.opens.len()..)?;
    let body = match row.closes.as_str() {
        "" => body,
        closes => body.split_once(closes).map_or(body, |(body, _)| body),
    };
    let mut reader = PythonReader { rest: body.trim() };
    let is_list = reader.takes("[");
    let mut calls = Vec::new();
    while calls.len() < MAX_CALLS
        && let Some(call) = reader.call(row)
    {
        calls.push(call);
        reader.takes(",");
    }
    let is_ended = !is_list || reader.takes("]");
    (is_ended && reader.rest.is_empty() && !calls.is_empty()).then_some((at, calls))
}

/// The value of a literal of Python.
pub(super) fn literal(text: &str) -> Option<Value> {
    serde_json::from_str(&json_of(text)?).ok()
}

/// A literal of Python as JSON, its members in their order.
pub(super) fn json_of(text: &str) -> Option<String> {
    let mut reader = PythonReader { rest: text };
    let mut json = String::with_capacity(text.len());
    reader.write(0, &mut json)?;
    reader.rest.trim().is_empty().then_some(json)
}

struct PythonReader<'t> {
    rest: &'t str,
}

impl<'t> PythonReader<'t> {
    /// Takes a sign, if it is next.
    fn takes(&mut self, sign: &str) -> bool {
        let rest = self.rest.trim_start();
        let behind = rest.strip_prefix(sign);
        self.rest = behind.unwrap_or(rest);
        behind.is_some()
    }

    fn name(&mut self) -> Option<&'t str> {
        let rest = self.rest.trim_start();
        let is_of_name = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '.');
        let end = rest.find(|sign| !is_of_name(sign)).unwrap_or(rest.len());
        let (name, behind) = rest.split_at_checked(end)?;
        self.rest = behind;
        (!name.is_empty() && !name.starts_with(|sign: char| sign.is_ascii_digit())).then_some(name)
    }

    fn call(&mut self, row: &CallForm) -> Option<SourceCall<'static>> {
        let name = self.name()?;
        let name = name.strip_suffix(".call").unwrap_or(name);
        if !self.takes("(") {
            return None;
        }
        let mut arguments = Map::new();
        while !self.takes(")") {
            let before = self.rest;
            let key = match self.name() {
                Some(key) if self.takes("=") => key,
                _ => {
                    self.rest = before;
                    [row.argument.as_str(), "value"]
                        .into_iter()
                        .find(|key| !arguments.contains_key(*key))?
                }
            };
            arguments.insert(key.to_owned(), self.value()?);
            if !self.takes(",") && !self.rest.starts_with(')') {
                return None;
            }
        }
        Some(SourceCall {
            id: None,
            name: Cow::Owned(name.to_owned()),
            arguments: CallArguments::Json(Cow::Owned(Value::Object(arguments).to_string())),
        })
    }

    fn value(&mut self) -> Option<Value> {
        let mut json = String::new();
        self.write(0, &mut json)?;
        serde_json::from_str(&json).ok()
    }

    /// Writes the next value as JSON.
    fn write(&mut self, depth: usize, json: &mut String) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        if self.takes("{") {
            json.push('{');
            while !self.takes("}") {
                let key = self.quoted()?;
                self.takes(":").then_some(())?;
                if !json.ends_with('{') {
                    json.push(',');
                }
                json.push_str(&Value::String(key).to_string());
                json.push(':');
                self.write(depth + 1, json)?;
                if !self.takes(",") && !self.rest.starts_with('}') {
                    return None;
                }
            }
            json.push('}');
            return Some(());
        }
        for (opens, closes) in [("[", "]"), ("(", ")")] {
            if !self.takes(opens) {
                continue;
            }
            json.push('[');
            let start = json.len();
            while !self.takes(closes) {
                if json.len() > start {
                    json.push(',');
                }
                self.write(depth + 1, json)?;
                if !self.takes(",") && !self.rest.starts_with(closes) {
                    return None;
                }
            }
            json.push(']');
            return Some(());
        }
        let value = match self.quoted() {
            Some(text) => Value::String(text),
            None => self.number_or_name()?,
        };
        json.push_str(&value.to_string());
        Some(())
    }

    /// The text in the quotes that are next.
    fn quoted(&mut self) -> Option<String> {
        let mut quotes = ["\"\"\"", "'''", "\"", "'"].into_iter();
        let quote = quotes.find(|quote| self.takes(quote))?;
        self.text(quote)
    }

    fn number_or_name(&mut self) -> Option<Value> {
        let end = self.rest.find([',', ')', ']', '}', ':', ' ', '\n']);
        let (word, behind) = self.rest.split_at_checked(end.unwrap_or(self.rest.len()))?;
        self.rest = behind;
        Some(match word {
            "True" | "true" => Value::Bool(true),
            "False" | "false" => Value::Bool(false),
            "None" | "null" => Value::Null,
            number => match number.parse::<i64>() {
                Ok(number) => number.into(),
                Err(_) => Value::Number(Number::from_f64(number.parse().ok()?)?),
            },
        })
    }

    /// The text up to a quote.
    fn text(&mut self, quote: &str) -> Option<String> {
        let mut text = String::new();
        loop {
            if let Some(behind) = self.rest.strip_prefix(quote) {
                self.rest = behind;
                return Some(text);
            }
            let mut signs = self.rest.chars();
            match signs.next()? {
                '\\' => match signs.next()? {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    '\n' => {}
                    sign @ ('\\' | '\'' | '"') => text.push(sign),
                    sign @ ('x' | 'u') => {
                        let digits = if sign == 'x' { 2 } else { 4 };
                        let (code, behind) = signs.as_str().split_at_checked(digits)?;
                        text.push(char::from_u32(u32::from_str_radix(code, 16).ok()?)?);
                        signs = behind.chars();
                    }
                    sign => text.extend(['\\', sign]),
                },
                sign => text.push(sign),
            }
            self.rest = signs.as_str();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_python_prints_is_read() {
        let text = r#"{'a': [1, -2.5, None, True], "b": ('it\'s', "x\ny", '\xe9\u4e2d'), 'c': {}, }"#;
        let json = serde_json::json!({"a": [1, -2.5, null, true], "b": ["it's", "x\ny", "é中"], "c": {}});
        assert_eq!(literal(text), Some(json));
        for text in ["{'a'", "[x]", "'a", "{1: 2}", "f()", &"[".repeat(100)] {
            assert_eq!(literal(text), None, "{text}");
        }
    }
}

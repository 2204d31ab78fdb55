//! A configuration file, YAML, TOML or JSON, as a flat list of keys and values.

use std::fmt;
use std::path::Path;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

use super::error::ConfigError;
use super::keys::ConfigKey;
use super::value::{Value, ValueKind};

/// Reads the file and flattens it: `compression: {strategy: x}` becomes `("compression.strategy", x)`, in file order.
pub fn read(path: &Path) -> Result<Vec<(String, Value)>, ConfigError> {
    let text = std::fs::read_to_string(path).map_err(|cause| ConfigError::Read {
        path: path.to_owned(),
        cause: cause.to_string(),
    })?;
    parse(path, text.strip_prefix('\u{feff}').unwrap_or(&text))
}

/// Maximum number of brackets open at once. Parsers stop at far fewer, but YAML's takes time for all open ones at each.
const MOST_OPEN: usize = 1000;

/// Returns true if more than [`MOST_OPEN`] brackets are open at some point; those in texts and comments count as well.
fn nests_too_deep(text: &str) -> bool {
    let mut open = 0_usize;
    text.bytes().any(|byte| {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        open > MOST_OPEN
    })
}

/// Message of a TOML error with its line number, but without the text of the line, which may hold a secret.
fn without_line(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start));
    match before {
        Some(before) => format!("{} at line {}", error.message(), before.matches('\n').count() + 1),
        None => error.message().to_owned(),
    }
}

fn parse(path: &Path, text: &str) -> Result<Vec<(String, Value)>, ConfigError> {
    let failed = |cause: String| ConfigError::Parse {
        path: path.to_owned(),
        cause: cause.trim_end().to_owned(),
    };
    let extension = path
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default();
    if nests_too_deep(text) {
        return Err(failed(format!("brackets nest deeper than {MOST_OPEN} levels")));
    }
    let tree: Tree = match extension.to_ascii_lowercase().as_str() {
        "yaml" | "yml" => yaml_serde::from_str(text).map_err(|cause| failed(cause.to_string()))?,
        "toml" => toml::from_str(text).map_err(|cause| failed(without_line(text, &cause)))?,
        "json" => serde_json::from_str(text).map_err(|cause| failed(cause.to_string()))?,
        _ => {
            return Err(ConfigError::Extension {
                path: path.to_owned(),
            });
        }
    };
    let mut entries = Vec::new();
    match tree {
        Tree::Leaf(Value::Null) => {}
        Tree::Leaf(_) | Tree::List(_) => {
            return Err(failed("expected sections of keys at the top level".to_owned()));
        }
        Tree::Section(children) => flatten("", children, &mut entries),
    }
    Ok(entries)
}

/// A parsed document, the same for all three formats.
enum Tree {
    Leaf(Value),
    List(Vec<Tree>),
    Section(Vec<(String, Tree)>),
}

fn flatten(prefix: &str, children: Vec<(String, Tree)>, entries: &mut Vec<(String, Value)>) {
    for (name, child) in children {
        let path = if prefix.is_empty() {
            name
        } else {
            format!("{prefix}.{name}")
        };
        match child {
            Tree::Leaf(value) => entries.push((path, value)),
            Tree::List(items) if takes(&path, ValueKind::Words) => entries.push((path, words(items))),
            Tree::List(_) => entries.push((path, Value::Other("a list"))),
            Tree::Section(children) if takes(&path, ValueKind::Object) => {
                let object = Tree::Section(children).into_json();
                entries.push((path, Value::Text(object.to_string())));
            }
            Tree::Section(children) => flatten(&path, children, entries),
        }
    }
}

/// Returns true if the subtree at `path` is the value of a key of that kind, not a section of keys.
fn takes(path: &str, kind: ValueKind) -> bool {
    ConfigKey::by_path(path).is_some_and(|key| key.kind() == kind)
}

/// A list of words. Numbers among them are taken as words.
fn words(items: Vec<Tree>) -> Value {
    let words = items.into_iter().map(|item| match item {
        Tree::Leaf(value @ (Value::Text(_) | Value::Whole(_) | Value::Number(_))) => Some(value.to_string()),
        _ => None,
    });
    words
        .collect::<Option<Vec<_>>>()
        .map_or(Value::Other("a list of other things than words"), Value::Words)
}

impl Tree {
    fn into_json(self) -> serde_json::Value {
        match self {
            Self::Leaf(Value::Null | Value::Other(_)) => serde_json::Value::Null,
            Self::Leaf(Value::Switch(on)) => on.into(),
            Self::Leaf(Value::Whole(number)) => {
                i64::try_from(number).map_or_else(|_| (number as f64).into(), Into::into)
            }
            Self::Leaf(Value::Number(number)) => number.into(),
            Self::Leaf(Value::Text(text)) => text.into(),
            Self::Leaf(Value::Words(words)) => words.into(),
            Self::List(items) => items.into_iter().map(Self::into_json).collect(),
            Self::Section(children) => children
                .into_iter()
                .map(|(name, child)| (name, child.into_json()))
                .collect(),
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("sections of keys and values")
    }

    fn visit_bool<E>(self, on: bool) -> Result<Tree, E> {
        Ok(Tree::Leaf(Value::Switch(on)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Tree, E> {
        Ok(Tree::Leaf(Value::Whole(number.into())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Tree, E> {
        Ok(Tree::Leaf(Value::Whole(number.into())))
    }

    fn visit_i128<E>(self, number: i128) -> Result<Tree, E> {
        Ok(Tree::Leaf(Value::Whole(number)))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Tree, E> {
        Ok(Tree::Leaf(Value::Number(number)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Tree, E> {
        Ok(Tree::Leaf(Value::Text(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Leaf(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Tree, E> {
        Ok(Tree::Leaf(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        Tree::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let mut children = Vec::new();
        while let Some(key) = map.next_key::<Tree>()? {
            // YAML keys may be of any kind; one that is not text becomes an unknown key, and the error shows it.
            let name = match key {
                Tree::Leaf(value) => value.to_string(),
                Tree::List(_) | Tree::Section(_) => "?".to_owned(),
            };
            children.push((name, map.next_value()?));
        }
        Ok(Tree::Section(children))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(name: &str, text: &str) -> Vec<(String, String)> {
        let entries = parse(Path::new(name), text).unwrap();
        entries
            .into_iter()
            .map(|(path, value)| (path, format!("{value:?}")))
            .collect()
    }

    #[test]
    fn the_same_configuration_reads_the_same_in_all_three_formats() {
        let yaml = entries(
            "a.yaml",
            "compression:\n  max_passes: 3\nsummarization:\n  temperature: 0.5\n",
        );
        let toml = entries(
            "a.TOML",
            "[compression]\nmax_passes = 3\n[summarization]\ntemperature = 0.5\n",
        );
        let json = entries(
            "a.json",
            r#"{"compression":{"max_passes":3},"summarization":{"temperature":0.5}}"#,
        );
        assert_eq!(yaml, toml);
        assert_eq!(yaml, json);
        assert_eq!(
            yaml[0],
            ("compression.max_passes".to_owned(), "Whole(3)".to_owned())
        );
    }

    #[test]
    fn an_empty_file_says_nothing() {
        for (name, text) in [
            ("a.yaml", ""),
            ("a.yml", "# only a comment\n"),
            ("a.toml", ""),
            ("a.json", "{}"),
        ] {
            assert_eq!(entries(name, text), [], "{name} {text:?}");
        }
    }

    #[test]
    fn what_is_no_mapping_is_an_error_and_never_a_panic() {
        for (name, text) in [
            ("a.yaml", "- 1\n- 2\n"),
            ("a.yaml", "just text"),
            ("a.yaml", "a: [1"),
            ("a.yaml", "a: 1\n---\nb: 2\n"),
            ("a.toml", "a = "),
            ("a.json", "[]"),
            ("a.json", ""),
        ] {
            assert!(
                matches!(parse(Path::new(name), text), Err(ConfigError::Parse { .. })),
                "{name} {text:?}"
            );
        }
        let nested = format!("a: {}", "[".repeat(1000));
        assert!(parse(Path::new("a.yaml"), &nested).is_err());
        let started = std::time::Instant::now();
        for unit in ["[", "{a: ", "- ", "? "] {
            let nested = format!("a: {}", unit.repeat(100_000));
            for name in ["a.yaml", "a.toml", "a.json"] {
                assert!(parse(Path::new(name), &nested).is_err(), "{name} {unit}");
            }
        }
        assert!(started.elapsed().as_secs() < 5);
        assert!(matches!(
            parse(Path::new("config"), ""),
            Err(ConfigError::Extension { .. })
        ));
    }

    #[test]
    fn keys_that_are_no_text_are_named_as_they_stand() {
        assert_eq!(entries("a.yaml", "compression:\n  5: x\n")[0].0, "compression.5");
    }
}

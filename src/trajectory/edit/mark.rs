//! Marks turns with an additional field at their end; everything else keeps its bytes.

use memchr::memmem;

use super::{Edit, apply};
use crate::trajectory::json::fields::fields;
use crate::trajectory::{Record, Turn, json};

/// Returns the record's text with `field` added to every turn for which `value` returns one, as JSON. Turns that have
/// the field already, and turns that cannot be read, stay as they are.
pub fn marked<'v>(
    record: &Record<'_>,
    field: &str,
    value: impl Fn(usize, &Turn<'_>) -> Option<&'v str>,
) -> String {
    let edits = record.turns.iter().enumerate().filter_map(|(index, turn)| {
        if turn.opaque || has_field(turn, field) {
            return None;
        }
        added(record, index, field, value(index, turn)?)
    });
    apply(record.text, edits.collect())
}

/// Returns the record's text with `field` on every turn that can be read, with the JSON that `value` returns. A turn
/// that has the field keeps its own value, unless `value` also returns true.
pub fn marked_anew<'v>(
    record: &Record<'_>,
    field: &str,
    value: impl Fn(usize, &Turn<'_>) -> (&'v str, bool),
) -> String {
    let edits = record.turns.iter().enumerate().filter_map(|(index, turn)| {
        if turn.opaque {
            return None;
        }
        let (value, replaces) = value(index, turn);
        if !has_field(turn, field) {
            return added(record, index, field, value);
        }
        let at = record.span_of(value_of(turn, field).filter(|_| replaces)?);
        let text = value.to_owned();
        Some(Edit { at, text })
    });
    apply(record.text, edits.collect())
}

/// Returns the edit that adds the field to a turn.
fn added(record: &Record<'_>, index: usize, field: &str, value: &str) -> Option<Edit> {
    let brace = record.turn_span(index)?.end - 1;
    let text = addition(record.turns.get(index)?, field, value);
    Some(Edit {
        at: brace..brace,
        text,
    })
}

/// Returns the value of a field of a turn as JSON, unless it is null.
pub fn value_of<'a>(turn: &Turn<'a>, field: &str) -> Option<&'a str> {
    let [value] = fields(turn.text, &[field]).ok()?.values;
    value
}

/// The text of a turn without `field`, where that stands at its end as marking adds it.
pub fn without_mark(turn: &Turn<'_>, field: &str, value: &str) -> String {
    let end = addition(turn, field, value) + "}";
    match turn.text.strip_suffix(&end) {
        Some(before) => [before, "}"].concat(),
        None => turn.text.to_owned(),
    }
}

/// Returns true if `after` is `before` with only `field` added to turns, or changed in turns that had it.
pub fn is_only_marked(before: &Record<'_>, after: &Record<'_>, field: &str) -> bool {
    before.turns.len() == after.turns.len()
        && around(before).eq(around(after))
        && before
            .turns
            .iter()
            .zip(&after.turns)
            .all(|(old, new)| is_marked_copy(old, new, field))
}

/// Returns true if `new` is `old` with only `field` added at its end, or changed if it had the field.
pub fn is_marked_copy(old: &Turn<'_>, new: &Turn<'_>, field: &str) -> bool {
    let inner = old.text.strip_suffix('}').unwrap_or(old.text);
    let added = new
        .text
        .strip_prefix(inner)
        .and_then(|rest| rest.strip_suffix('}'));
    let key = json::quoted(field);
    let is_mark = |added: &str| {
        let added = added.trim_start_matches([',', ' ']).strip_prefix(&key);
        let value = added.and_then(|rest| rest.trim_start().strip_prefix(':'));
        value.is_some_and(|value| serde_json::from_str::<serde::de::IgnoredAny>(value).is_ok())
    };
    old.text == new.text || added.is_some_and(is_mark) || is_same_around(old, new, field)
}

/// Returns true if two turns have the field and are equal but for its value.
fn is_same_around(old: &Turn<'_>, new: &Turn<'_>, field: &str) -> bool {
    let around = |text: &str, value: &str| {
        let start = (value.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
        let after = text.get(start + value.len()..)?;
        Some((text.get(..start)?.to_owned(), after.to_owned()))
    };
    let values = value_of(old, field).zip(value_of(new, field));
    values.is_some_and(|(was, is)| {
        let before = around(old.text, was);
        before.is_some() && before == around(new.text, is)
    })
}

/// Returns the text around the turns, in pieces.
fn around<'a>(record: &Record<'a>) -> impl Iterator<Item = &'a str> {
    let text = record.text;
    let spans = (0..record.turns.len()).filter_map(|turn| record.turn_span(turn));
    let mut from = 0;
    let mut pieces: Vec<&str> = Vec::with_capacity(record.turns.len() + 1);
    for span in spans {
        pieces.push(text.get(from..span.start).unwrap_or_default());
        from = span.end;
    }
    pieces.push(text.get(from..).unwrap_or_default());
    pieces.into_iter()
}

fn has_field(turn: &Turn<'_>, field: &str) -> bool {
    let holds = |part: &str| memmem::find(turn.text.as_bytes(), part.as_bytes()).is_some();
    // A letter can only be escaped by its number; other characters in other ways, too.
    let is_word = field
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let may_have = !is_word || holds(&json::quoted(field)) || holds("\\u00");
    // A field that is null counts.
    may_have && fields(turn.text, &[field]).is_ok_and(|fields| fields.is_there(0))
}

/// Returns the field, spelled like the turn's others: `"a": 1` or `"a":1`.
fn addition(turn: &Turn<'_>, field: &str, value: &str) -> String {
    let role = turn.role_name().unwrap_or_default();
    let before = (role.as_ptr() as usize).saturating_sub(turn.text.as_ptr() as usize + 1);
    let is_spaced = turn.text.as_bytes().get(before) == Some(&b' ');
    let (colon, comma) = if is_spaced { (": ", ", ") } else { (":", ",") };
    let key = json::quoted(field);
    format!("{comma}{key}{colon}{value}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trajectory::{Role, parse};

    fn mark(text: &str) -> String {
        let record = parse(text.as_bytes(), None).unwrap();
        let marked = marked(&record, "train", |_, turn| {
            Some(if turn.role == Role::Assistant {
                "true"
            } else {
                "false"
            })
        });
        let after = parse(marked.as_bytes(), None).unwrap();
        assert!(is_only_marked(&record, &after, "train"), "{marked}");
        marked
    }

    #[test]
    fn the_field_is_added_and_everything_else_keeps_its_bytes() {
        assert_eq!(
            mark(
                r#"{"x": 1.50, "messages": [ {"role": "user", "content": "a"} ,{"content":"b","role":"assistant"}], "y":  []}"#
            ),
            r#"{"x": 1.50, "messages": [ {"role": "user", "content": "a", "train": false} ,{"content":"b","role":"assistant","train":true}], "y":  []}"#
        );
    }

    #[test]
    fn a_mark_that_was_added_is_taken_off() {
        let text = r#"{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "train": true, "content": "b"}]}"#;
        let (record, marked) = (parse(text.as_bytes(), None).unwrap(), mark(text));
        let after = parse(marked.as_bytes(), None).unwrap();
        for (old, new) in record.turns.iter().zip(&after.turns) {
            let value = value_of(new, "train").unwrap();
            assert_eq!(without_mark(new, "train", value), old.text);
        }
    }

    #[test]
    fn a_turn_that_has_the_field_keeps_its_own() {
        let text = r#"{"messages": [{"role": "assistant", "content": "a", "train": false}, {"role": "user", "train": null}, 7]}"#;
        assert_eq!(mark(text), text);
        let once = mark(r#"{"conversations": [{"from": "gpt", "value": "a"}]}"#);
        assert_eq!(mark(&once), once);
    }

    #[test]
    fn a_value_that_is_there_is_replaced_only_where_that_is_wanted() {
        let text = r#"{"messages": [{"role": "assistant", "train": true, "content": "a"}, {"role": "assistant", "content": "b", "train": false}, {"role": "user", "content": "c"}]}"#;
        let record = parse(text.as_bytes(), None).unwrap();
        let anew = marked_anew(&record, "train", |index, _| {
            (if index == 1 { "true" } else { "false" }, index != 1)
        });
        assert_eq!(
            anew,
            r#"{"messages": [{"role": "assistant", "train": false, "content": "a"}, {"role": "assistant", "content": "b", "train": false}, {"role": "user", "content": "c", "train": false}]}"#
        );
        let after = parse(anew.as_bytes(), None).unwrap();
        assert!(is_only_marked(&record, &after, "train"));
    }

    #[test]
    fn any_other_change_is_seen() {
        let read = |text: &str| parse(text.to_owned().leak().as_bytes(), None).unwrap();
        let before = read(r#"{"messages": [{"role": "user", "content": "a"}], "n": 1}"#);
        for other in [
            r#"{"messages": [{"role": "user", "content": "b"}], "n": 1}"#,
            r#"{"messages": [{"role": "user", "content": "a", "lost": false}], "n": 1}"#,
            r#"{"messages": [{"role": "user", "content": "a", "train": false, "x": 1}], "n": 1}"#,
            r#"{"messages": [{"role": "user", "content": "a", "train": false}], "n": 2}"#,
            r#"{"messages": [], "n": 1}"#,
        ] {
            assert!(!is_only_marked(&before, &read(other), "train"), "{other}");
        }
    }
}

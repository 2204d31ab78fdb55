//! Fields of a record beside its turns: replaced if present, else added at its end.

use super::{Edit, apply};
use crate::trajectory::json::members::{Member, members_beside};
use crate::trajectory::{Record, json};

/// Returns the record's text with these fields, each a name and its JSON. A field that is present gets the new value;
/// of one given twice, the last does.
pub fn with_fields(record: &Record<'_>, fields: &[(&str, String)]) -> String {
    let members = members_beside(record.text, record.turns_span());
    let mut edits = Vec::new();
    let mut added = String::new();
    let (colon, comma) = if is_spaced(record, &members) {
        (": ", ", ")
    } else {
        (":", ",")
    };
    for (name, value) in fields {
        if let Some(member) = members.iter().rfind(|member| member.is(name)) {
            edits.push(Edit {
                at: record.span_of(member.value),
                text: value.clone(),
            });
        } else {
            let name = json::quoted(name);
            let comma = if added.is_empty() && members.is_empty() {
                ""
            } else {
                comma
            };
            added.push_str(&[comma, &name, colon, value].concat());
        }
    }
    let last = members.last().map(|member| record.span_of(member.value).end);
    if let Some(end) = last.filter(|_| !added.is_empty()) {
        // If the last field gets a new value, the added fields must follow it in the same edit.
        match edits.iter_mut().find(|edit| edit.at.end == end) {
            Some(edit) => edit.text.push_str(&added),
            None => edits.push(Edit {
                at: end..end,
                text: added,
            }),
        }
    }
    apply(record.text, edits)
}

/// Returns the value of a field beside the turns, as JSON; of one given twice, the last.
pub fn field_of<'a>(record: &Record<'a>, name: &str) -> Option<&'a str> {
    let members = members_beside(record.text, record.turns_span());
    members
        .iter()
        .rfind(|member| member.is(name))
        .map(|member| member.value)
}

/// Returns true if there is a space between the first field's name and its value.
fn is_spaced(record: &Record<'_>, members: &[Member<'_>]) -> bool {
    let before = members.first().map(|member| record.span_of(member.value).start);
    let before = before.and_then(|start| start.checked_sub(1));
    before.is_none_or(|at| record.text.as_bytes().get(at) == Some(&b' '))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trajectory::parse;

    #[test]
    fn fields_are_set_where_they_stand_or_added_at_the_end() {
        let with = |text: &str| {
            let record = parse(text.as_bytes(), None).unwrap();
            with_fields(
                &record,
                &[
                    ("id", "\"a#2\"".into()),
                    ("segment", "2".into()),
                    ("parent", "null".into()),
                ],
            )
        };
        assert_eq!(
            with(r#" {"id": 7, "messages": [{"id": 1}], "n":  1.50 } "#),
            r#" {"id": "a#2", "messages": [{"id": 1}], "n":  1.50, "segment": 2, "parent": null } "#
        );
        assert_eq!(
            with(r#"{"segment":9,"messages":[],"id":null}"#),
            r#"{"segment":2,"messages":[],"id":"a#2","parent":null}"#
        );
        assert_eq!(
            with(r#"{"messages":[]}"#),
            r#"{"messages":[],"id":"a#2","segment":2,"parent":null}"#
        );
    }
}

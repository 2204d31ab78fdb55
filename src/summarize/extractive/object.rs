//! The objects of a JSON text around a value: where they are and what names them.

use std::borrow::Cow;
use std::ops::Range;

/// Longest field that names an object, in bytes.
const MAX_FIELD: usize = 80;

/// An object of a JSON text around a value.
#[derive(Clone, Copy)]
pub(super) struct Object {
    /// Where its inside begins.
    pub from: usize,
    /// Where it ends, if that is near.
    pub to: Option<usize>,
}

impl Object {
    /// The innermost object around `value`, and the one around that, as far as they begin `near` it.
    pub fn around(text: &str, near: Range<usize>, value: Range<usize>) -> [Option<Self>; 2] {
        let mut found = [None; 2];
        let bytes = text.as_bytes();
        let before = bytes.get(near.start..value.start).unwrap_or_default();
        let after = bytes.get(value.end..near.end).unwrap_or_default();
        let mut closings = memchr::memchr2_iter(b'{', b'}', after);
        let mut closed = 0;
        let mut count = 0;
        for brace in memchr::memrchr2_iter(b'{', b'}', before) {
            if before.get(brace) == Some(&b'}') {
                closed += 1;
            } else if closed > 0 {
                closed -= 1;
            } else {
                let to = closing(&mut closings, after).map(|brace| value.end + brace);
                let from = near.start + brace + 1;
                let starts = text.get(from..).unwrap_or_default().trim_start();
                // Braces of code are no object's.
                if starts.starts_with(['"', '\'', '\\'])
                    && let Some(place) = found.get_mut(count)
                {
                    *place = Some(Self { from, to });
                    count += 1;
                }
                if count == found.len() {
                    break;
                }
            }
        }
        found
    }

    /// The key that it stands under after `from`, with its colon.
    pub fn key(self, text: &str, from: usize) -> Option<&str> {
        let before = text.get(from..self.from - 1)?;
        let name = before.trim_end().strip_suffix(':')?.trim_end();
        let quote = name
            .chars()
            .next_back()
            .filter(|last| matches!(last, '"' | '\''))?;
        let open = name.strip_suffix(quote)?.rfind(quote)?;
        let key = before.get(open..)?;
        (key.len() <= MAX_FIELD).then_some(key)
    }

    /// Its first field, where it is a scalar, and where it begins.
    pub fn first_field(self, text: &str) -> Option<(usize, &str)> {
        let mut end = (self.from + 2 * MAX_FIELD).min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let inside = text.get(self.from..end)?;
        let field = inside.trim_start();
        let start = self.from + inside.len() - field.len();
        let quote = field.chars().next().filter(|first| matches!(first, '"' | '\''))?;
        let key = field.get(1..)?.find(quote)? + 2;
        let value = field.get(key..)?.strip_prefix(':')?.trim_start();
        let from = field.len() - value.len();
        let length = match value.chars().next()? {
            '{' | '[' => return None,
            quote @ ('"' | '\'') => value.get(1..)?.find(quote)? + 2,
            _ => value.find([',', '}'])?,
        };
        let field = field.get(..from + length)?;
        (field.len() <= MAX_FIELD).then_some((start, field))
    }
}

/// The next brace that closes what was opened before.
fn closing(braces: &mut impl Iterator<Item = usize>, text: &[u8]) -> Option<usize> {
    let mut open = 0;
    for brace in braces {
        if text.get(brace) == Some(&b'{') {
            open += 1;
        } else if open == 0 {
            return Some(brace);
        } else {
            open -= 1;
        }
    }
    None
}

/// `left` from the last object on that ended in it and did not begin in it.
pub(super) fn without_other_objects(left: &str) -> &str {
    let mut open = 0;
    let mut from = 0;
    for (at, byte) in left.bytes().enumerate() {
        match byte {
            b'{' => open += 1,
            b'}' if open == 0 => from = at + 1,
            b'}' => open -= 1,
            _ => {}
        }
    }
    left.get(from..).unwrap_or_default()
}

/// A piece of a JSON object without its quotes and brackets; other lines as they are. What stands in strings stays: `${HOME}/x`.
pub(super) fn plain_json(line: &str) -> Cow<'_, str> {
    if !line.contains("\":") {
        return Cow::Borrowed(line);
    }
    let bytes = line.as_bytes();
    let mut plain = String::with_capacity(line.len() + 8);
    // What is kept is copied in runs; the one at hand begins at `from`.
    let mut from = 0;
    // A piece may begin in the middle of a string: the end of a key tells where things are.
    let mut in_string = false;
    for (at, byte) in bytes.iter().enumerate() {
        let before = || {
            let run = line.get(from..at).filter(|run| !run.is_empty());
            run.unwrap_or(&plain).chars().next_back()
        };
        let is_quote_next = bytes.get(at + 1) == Some(&b'"');
        let (has_to_go, lacks_blank) = match byte {
            b'"' => {
                in_string = !in_string && bytes.get(at + 1) != Some(&b':');
                (true, false)
            }
            b'{' | b'}' | b'[' | b']' => (!in_string, false),
            b'\\' => (is_quote_next, false),
            b' ' => (before().is_none_or(|last| last == ' '), false),
            b':' if is_quote_next => (
                false,
                before().is_some_and(|last| last.is_alphanumeric() || last == '_'),
            ),
            _ => (false, false),
        };
        if has_to_go {
            plain.push_str(line.get(from..at).unwrap_or_default());
            from = at + 1;
        } else if lacks_blank {
            plain.push_str(line.get(from..=at).unwrap_or_default());
            plain.push(' ');
            from = at + 1;
        }
    }
    plain.push_str(line.get(from..).unwrap_or_default());
    plain.truncate(plain.trim_end().len());
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::plain_json;

    #[test]
    fn brackets_go_with_the_object_and_stay_in_strings() {
        for (line, plain) in [
            (
                r#"9→ "command": "${ROOT}/scripts/notify.sh","#,
                "9→ command: ${ROOT}/scripts/notify.sh,",
            ),
            (r#"{"a": {"b": ["c"]}}"#, "a: b: c"),
            (r#"{\"a\": {\"b\": \"x[0]\"}}"#, "a: b: x[0]"),
            (
                r#"the end of {one}", "next": {"c": 1}"#,
                "the end of one, next: c: 1",
            ),
            ("no {object}", "no {object}"),
        ] {
            assert_eq!(plain_json(line), plain, "{line}");
        }
    }
}

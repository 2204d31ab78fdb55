//! Rewriting tags so that the values they may keep pass through a check.

use super::quoted::string_end;
use crate::tokens::chat_template::names::{KEPT, MADE};

/// The part between two delimiters of a bracket, or of the tag itself if the tag sets a name.
struct Expression {
    /// The start of the expression in the output; none before the `=` of a tag.
    start: Option<usize>,
    /// An operator or brackets in it may make a new value.
    makes: bool,
    /// The function that checks the value.
    check: &'static str,
    /// The bracket encloses an expression, not the parts of a tuple.
    is_group: bool,
}

impl Expression {
    fn starting_at(start: usize) -> Self {
        Self {
            start: Some(start),
            makes: false,
            check: MADE,
            is_group: false,
        }
    }

    /// The same level for a value kept where it may change later: always checked, with [`KEPT`].
    fn kept(mut self) -> Self {
        (self.makes, self.check) = (true, KEPT);
        self
    }

    /// Wraps the expression at the end of the output in its check, if it may make a value.
    fn end(&self, out: &mut String) {
        let Some(start) = self.start.filter(|_| self.makes) else {
            return;
        };
        let expression = out.split_off(start.min(out.len()));
        // The operand of a star is unpacked, so it is not a value to check.
        if expression.trim_start().starts_with('*') || expression.trim().is_empty() {
            out.push_str(&expression);
            return;
        }
        let signs = expression.trim_end().len();
        let (expression, after) = expression.split_at(signs);
        let lead = expression.len() - expression.trim_start().len();
        let (before, expression) = expression.split_at(lead);
        for part in [before, self.check, "((", expression, "))", after] {
            out.push_str(part);
        }
    }
}

/// Words that a value may follow.
const BEFORE_VALUES: [&str; 11] = [
    "and", "elif", "else", "if", "in", "is", "not", "or", "print", "do", "set",
];

/// The word at the end of a text if a bracket after it belongs to a value: a call or a subscript.
fn callee(text: &str) -> Option<&str> {
    let text = text.trim_end();
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let word = text
        .rsplit(|character| !is_word(character))
        .next()
        .unwrap_or_default();
    let is_value = if word.is_empty() {
        text.ends_with([')', ']', '}', '\'', '"'])
    } else {
        !BEFORE_VALUES.contains(&word)
    };
    is_value.then_some(word)
}

/// Returns a tag in which every value that an operator or brackets make, and that something may keep, passes through
/// [`MADE`]: contents of brackets, and values that names are set to. Values kept by namespaces and loops pass through
/// [`KEPT`]. Values that are only written or compared are charged when written.
pub fn checked(tag: &str) -> String {
    let bytes = tag.as_bytes();
    let inner = tag
        .strip_suffix("%}")
        .or_else(|| tag.strip_suffix("}}"))
        .unwrap_or(tag);
    let end = inner.strip_suffix(['-', '+']).unwrap_or(inner).len();
    let word = tag.trim_start_matches(['{', '%', '-', '+']).trim_start();
    let is_set = word.starts_with("set");
    let sets = is_set || word.starts_with("with");
    let mut out = String::with_capacity(tag.len() + 64);
    let mut levels = vec![Expression {
        start: None,
        ..Expression::starting_at(0)
    }];
    let mut at = 0;
    while let Some(&byte) = bytes.get(at).filter(|_| at < end) {
        let start = at;
        at += 1;
        let is_compared = matches!(bytes.get(at), Some(b'='))
            || matches!(
                start.checked_sub(1).and_then(|before| bytes.get(before)),
                Some(b'=' | b'!' | b'<' | b'>')
            );
        match byte {
            b'\'' | b'"' => at = string_end(bytes, start).min(end),
            b'+' => {
                if let Some(level) = levels.last_mut() {
                    level.makes = true;
                }
            }
            b'[' | b'(' | b'{' if start > 1 => {
                let callee = callee(&out);
                let is_changed = callee == Some("changed");
                let is_group = byte == b'(' && callee.is_none();
                if let Some(level) = levels.last_mut() {
                    level.makes |= byte != b'(' && callee.is_none();
                }
                out.push(char::from(byte));
                let level = Expression {
                    is_group,
                    ..Expression::starting_at(out.len())
                };
                levels.push(if is_changed { level.kept() } else { level });
                continue;
            }
            b']' | b')' | b'}' if levels.len() > 1 => {
                if let Some(level) = levels.pop() {
                    level.end(&mut out);
                }
            }
            b',' if levels.len() == 1 && is_set && levels.iter().all(|level| level.start.is_some()) => {
                if let Some(level) = levels.last_mut() {
                    level.makes = true;
                }
            }
            b',' | b':' | b'=' if !(byte == b'=' && is_compared) && (levels.len() > 1 || sets) => {
                let is_tag = levels.len() == 1;
                let is_dotted = is_tag && is_set && out.contains('.');
                let Some(level) = levels.pop() else { break };
                level.end(&mut out);
                if level.is_group
                    && let Some(around) = levels.last_mut()
                {
                    around.makes = true;
                }
                out.push(char::from(byte));
                let mut next = Expression {
                    is_group: level.is_group,
                    ..Expression::starting_at(out.len())
                };
                if is_dotted || level.check == KEPT {
                    next = next.kept();
                }
                if is_tag && byte != b'=' && !out.contains('=') {
                    next.start = None;
                }
                levels.push(next);
                continue;
            }
            _ => {}
        }
        // A character may have several bytes.
        while !tag.is_char_boundary(at) {
            at += 1;
        }
        out.push_str(tag.get(start..at).unwrap_or_default());
    }
    if let Some(level) = levels.pop().filter(|_| levels.is_empty()) {
        level.end(&mut out);
    }
    out.push_str(tag.get(end.min(tag.len())..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_is_checked_where_it_may_be_kept() {
        let cases = [
            (
                "{%- set x = a + 'é+' if b else c -%}",
                "{%- set x = __made__((a + 'é+' if b else c)) -%}",
            ),
            (
                "{% set x, y = a + b, c +%}",
                "{% set x, y = __made__((a + b, c)) +%}",
            ),
            ("{% set ns.x = y %}", "{% set ns.x = __kept__((y)) %}"),
            (
                "{{ f(a + b, c=d + e, *g) }}",
                "{{ f(__made__((a + b)), c=__made__((d + e)), *g) }}",
            ),
            (
                "{{ f([a], x[b], (c), (d, e)) }}",
                "{{ f(__made__(([a])), x[b], (c), __made__(((d, e)))) }}",
            ),
            (
                "{% set x = y if 'a' in [b] else {} %}",
                "{% set x = __made__((y if 'a' in [b] else {})) %}",
            ),
            (
                "{{ {'a' + b: [c + d]} }}",
                "{{ {__made__(('a' + b)): __made__(([__made__((c + d))]))} }}",
            ),
            ("{% with a = b + c %}", "{% with a = __made__((b + c)) %}"),
            (
                "{% if loop.changed(a, b) %}",
                "{% if loop.changed(__kept__((a)), __kept__((b))) %}",
            ),
        ];
        for (tag, expected) in cases {
            assert_eq!(checked(tag), expected);
        }
        for tag in [
            "{{ a + b }}",
            "{% if a + b == c %}",
            "{{ f(a == b, c <= d, 'x + y', -1, *z)[0](e) }}",
            "{% set x %}",
            "{%+ if é +%}",
            "{{",
            "{% set x = a +",
            "{{ ) + ] }}",
        ] {
            let tag_checked = checked(tag);
            assert!(tag_checked == tag || tag == "{% set x = a +", "{tag_checked}");
        }
    }
}

//! Preparation of a template's text for the engine: features that only Python's engine has are rewritten.

mod checks;
mod operators;
mod quoted;

use std::fmt::Write;

use super::names::{SLICE, WRITES};
use quoted::string_end;

/// Maximum recursive steps in a tag, and branches in a template: the engine recurses for each. Most tags take a few
/// dozen.
const MOST_STEPS: usize = 500;

/// The error message for a template that exceeds it.
const TOO_MANY_STEPS: &str = "too many operators, brackets or attributes in one tag, or too many branches";

/// The text with line ends made uniform, and inside its tags
///
/// - `{% generation %}` blocks as plain blocks with a scope of their own: they only mark the model's tokens for a
///   trainer;
/// - slices as calls of [`SLICE`]: the engine's own are not lists, take linear time at every access, and are wrong
///   backwards;
/// - loops and operators rewritten by [`operators`], and values that are kept passed through a check.
///
/// # Errors
///
/// A tag takes more than [`MOST_STEPS`] steps, or the template has too many branches.
pub fn prepared(source: &str) -> Result<String, &'static str> {
    let source = source.replace("\r\n", "\n").replace('\r', "\n");
    let mut preparation = Preparation {
        marks_texts: operators::marks_texts(&source),
        // The results of calls with these names may be captured as well.
        captures: usize::from(
            ["recursive", "self.", "super("]
                .iter()
                .any(|name| source.contains(name)),
        ),
        branches: 0,
        out: String::with_capacity(source.len() + 64),
    };
    let mut rest = source.as_str();
    while let Some((before, tag)) = next_tag(rest) {
        rest = preparation.take(before, tag)?;
    }
    preparation.out.push_str(rest);
    Ok(preparation.out)
}

/// The state of preparing a template's text.
struct Preparation {
    marks_texts: bool,
    /// Number of open blocks whose text is captured.
    captures: usize,
    branches: usize,
    out: String,
}

impl Preparation {
    /// Writes a text and the tag or comment after it. Returns the rest of the source.
    fn take<'s>(&mut self, before: &str, tag: &'s str) -> Result<&'s str, &'static str> {
        self.out.push_str(before);
        let block_end = || tag.find("%}").map_or(tag.len(), |end| end + 2);
        let (length, raw) = match (tag.as_bytes().get(1), word_of(tag)) {
            (Some(b'#'), _) => (tag.find("#}").map_or(tag.len(), |end| end + 2), 0),
            (_, Some("raw")) => (raw_length(tag), raw_length(tag)),
            (_, Some("generation" | "endgeneration")) => (block_end(), 0),
            _ => {
                let mut written = String::new();
                let length = expression_into(tag, &mut written);
                if operators::steps(tag.get(..length).unwrap_or_default()) > MOST_STEPS {
                    return Err(TOO_MANY_STEPS);
                }
                self.charge(before.len(), tag);
                self.write(&written)?;
                return Ok(tag.get(length..).unwrap_or_default());
            }
        };
        self.charge(before.len() + raw, tag);
        let (tag, rest) = tag.split_at(length);
        match word_of(tag) {
            Some(word @ "generation") => self.out.push_str(&tag.replacen(word, "with", 1)),
            Some(word @ "endgeneration") => self.out.push_str(&tag.replacen(word, "endwith", 1)),
            _ => self.out.push_str(tag),
        }
        Ok(rest)
    }

    /// Writes a tag with its slices rewritten to calls.
    fn write(&mut self, tag: &str) -> Result<(), &'static str> {
        self.captures += usize::from(operators::begins_capture(tag));
        self.captures -= usize::from(self.captures > 0 && operators::ends_capture(tag));
        self.branches += usize::from(operators::is_branch(tag));
        if self.branches > MOST_STEPS {
            return Err(TOO_MANY_STEPS);
        }
        let tag = operators::with_filters(tag, self.marks_texts);
        let tag = checks::checked(&tag);
        self.out.push_str(&operators::with_checked_loop(&tag));
        Ok(())
    }

    /// Charges the text before a tag if it becomes part of a value; output is charged elsewhere. The inserted tag
    /// strips the same white space as the original one.
    fn charge(&mut self, bytes: usize, tag: &str) {
        if self.captures == 0 || bytes == 0 {
            return;
        }
        let sign = match (tag.as_bytes().get(1), tag.as_bytes().get(2)) {
            (_, Some(b'-')) => "-",
            (_, Some(b'+')) | (Some(b'{'), _) => "+",
            _ => "",
        };
        let _ = write!(self.out, "{{%{sign} if {bytes} is {WRITES} %}}{{% endif %}}");
    }
}

/// The text before the next tag or comment, and the text from there on.
fn next_tag(text: &str) -> Option<(&str, &str)> {
    let opens = |at: &usize| matches!(text.as_bytes().get(at + 1), Some(b'{' | b'%' | b'#'));
    let start = memchr::memchr_iter(b'{', text.as_bytes()).find(opens)?;
    text.split_at_checked(start)
}

/// The word of a block tag that consists of one word.
fn word_of(tag: &str) -> Option<&str> {
    let inner = tag.strip_prefix("{%")?;
    let inner = inner.get(..inner.find("%}")?)?;
    let inner = inner.strip_prefix(['-', '+']).unwrap_or(inner);
    Some(inner.strip_suffix(['-', '+']).unwrap_or(inner).trim())
}

/// The length of a raw block, its first and last tag included.
fn raw_length(tag: &str) -> usize {
    let mut from = 2;
    while let Some(at) = tag.get(from..).and_then(|rest| rest.find("{%")) {
        from += at;
        if tag.get(from..).and_then(word_of) == Some("endraw") {
            let end = tag.get(from..).and_then(|rest| rest.find("%}"));
            return end.map_or(tag.len(), |end| from + end + 2);
        }
        from += 2;
    }
    tag.len()
}

/// An open bracket in an expression.
struct OpenBracket {
    bracket: u8,
    /// Its position in the output.
    at: usize,
    /// The positions of the colons directly inside it.
    colons: Vec<usize>,
}

/// Appends the tag at the start of `text` with its slices rewritten. Returns its length.
fn expression_into(text: &str, out: &mut String) -> usize {
    let bytes = text.as_bytes();
    let end: &[u8] = if bytes.get(1) == Some(&b'{') { b"}}" } else { b"%}" };
    let mut open: Vec<OpenBracket> = Vec::new();
    let mut copied = 0;
    let mut at = 2;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'\'' | b'"' => at = string_end(bytes, start),
            _ if open.is_empty() && bytes.get(start..start + 2) == Some(end) => {
                at = start + 2;
                break;
            }
            b'[' | b'(' | b'{' | b']' | b')' | b'}' | b':' => {
                out.push_str(text.get(copied..start).unwrap_or_default());
                copied = at;
                let position = out.len();
                out.push(char::from(byte));
                match (byte, open.last_mut()) {
                    (b'[' | b'(' | b'{', _) => open.push(OpenBracket {
                        bracket: byte,
                        at: position,
                        colons: Vec::new(),
                    }),
                    (b':', Some(bracket)) => bracket.colons.push(position),
                    (b':', None) => {}
                    _ => close(open.pop(), out),
                }
            }
            _ => {}
        }
    }
    let at = at.min(bytes.len());
    out.push_str(text.get(copied..at).unwrap_or_default());
    at
}

/// Rewrites the bracket at the end of the output if it is a slice.
fn close(bracket: Option<OpenBracket>, out: &mut String) {
    let Some(OpenBracket {
        bracket: b'[',
        at,
        colons,
    }) = bracket
    else {
        return;
    };
    if colons.is_empty() {
        return;
    }
    let mut call = format!(".{SLICE}(");
    let starts = std::iter::once(at).chain(colons.iter().copied());
    let ends = colons.iter().copied().chain([out.len() - 1]);
    for (index, (start, end)) in starts.zip(ends).enumerate() {
        let part = out.get(start + 1..end).unwrap_or_default().trim();
        if index > 0 {
            call.push_str(", ");
        }
        call.push_str(if part.is_empty() { "none" } else { part });
    }
    call.push(')');
    out.truncate(at);
    out.push_str(&call);
}

#[cfg(test)]
mod tests {
    use super::prepared;

    #[test]
    fn generation_blocks_become_scopes_and_keep_their_signs() {
        let source = "{% generation %}\n{{ x }}{%- endgeneration -%}\r\n{%+generation%}{% endgeneration+%}{%";
        let expected = "{% with %}\n{{ x }}{%- endwith -%}\n{%+with%}{% endwith+%}{%";
        assert_eq!(prepared(source).unwrap(), expected);
        let others = "{% if generation %}{{ '{% generation %}' }}{% endif %}";
        assert_eq!(prepared(others).unwrap(), others);
    }

    #[test]
    fn slices_become_calls_wherever_they_stand() {
        let cases = [
            ("{{ m[1:] }}", "{{ m.__slice__(1, none) }}"),
            (
                "{% for x in m[::-1][:n[0]] %}",
                "{% for x in (m.__slice__(none, none, -1).__slice__(none, n[0]))|__iterate__ %}",
            ),
            (
                "{{ x[f(a, b): y[:-2]] }}",
                "{{ x.__slice__(f(a, b), y.__slice__(none, -2)) }}",
            ),
        ];
        for (source, expected) in cases {
            assert_eq!(prepared(source).unwrap(), expected);
        }
    }

    #[test]
    fn text_that_becomes_part_of_a_value_is_charged_and_keeps_its_white_space() {
        let source =
            "a {% set x %}b {{- 1 }} {# c #}{% raw %}d{% endraw %} {{ 2 }}\n {%- endset %} e {{ x }}";
        let expected = "a {% set x %}b {%- if 2 is __writes__ %}{% endif %}{{- 1 }} {% if 1 is __writes__ %}{% endif %}{# c #}\
            {% if 22 is __writes__ %}{% endif %}{% raw %}d{% endraw %} {%+ if 1 is __writes__ %}{% endif %}{{ 2 }}\n \
            {%- if 2 is __writes__ %}{% endif %}{%- endset %} e {{ x }}";
        assert_eq!(prepared(source).unwrap(), expected);
    }

    #[test]
    fn tags_that_take_too_many_steps_are_refused() {
        let of = |step: &str| format!("{{{{ a{} }}}}", step.repeat(501));
        for step in [
            " + a",
            " ~ a",
            "|upper",
            ".x",
            "[0]",
            " and a",
            " if a else a",
            "()",
            " is none",
            " ** a",
        ] {
            assert!(prepared(&of(step)).is_err(), "{step}");
        }
        assert!(prepared(&format!("{{{{ {}a }}}}", "not ".repeat(501))).is_err());
        assert!(prepared(&"{% elif a %}".repeat(501)).is_err());
        assert!(prepared(&format!("{{{{ [{}] }}}}", "a, ".repeat(5000))).is_ok());
    }

    #[test]
    fn what_is_no_slice_stays() {
        for source in [
            "[1:2] {{ '[1:2]' }} {{ \"\\\"[1:]\" }} {# m[1:] #} {{ {'a': 1}['a'] }}",
            "{% raw %}{{ m[1:] }}{% endraw %}{{ {'a': 1} }}",
            "{{ m[1:",
            "{% raw %}{{ m[1:] }}",
            "{{ ']:[' ",
            "}} %} {{ ]:} }}",
        ] {
            assert_eq!(prepared(source).unwrap(), source);
        }
    }
}

//! A template's text as the engine takes it: what Python's engine knows and ours does not is written in other words.

/// The method that slices become calls of.
pub const SLICE: &str = "__slice__";

/// Signs and `not`s in a row that a template may have.
const MOST_IN_A_ROW: usize = 1000;

/// The text with one kind of line end, and inside its tags
///
/// - `{% generation %}` blocks as plain blocks with a scope of their own: they only tell a trainer which tokens are the
///   model's;
/// - slices as calls of [`SLICE`]: the engine's own are no lists, cost their length at every look into them, and go wrong
///   backwards.
pub fn prepared(source: &str) -> String {
    let source = source.replace("\r\n", "\n").replace('\r', "\n");
    let mut out = String::with_capacity(source.len() + 64);
    let mut rest = source.as_str();
    while let Some((before, tag)) = next_tag(rest) {
        out.push_str(before);
        let length = match tag.as_bytes().get(1) {
            Some(b'#') => tag.find("#}").map_or(tag.len(), |end| end + 2),
            _ => match word_of(tag) {
                Some("raw") => raw_length(tag),
                Some(word @ ("generation" | "endgeneration")) => {
                    let length = tag.find("%}").map_or(tag.len(), |end| end + 2);
                    let scope = if word == "generation" { "with" } else { "endwith" };
                    out.push_str(&tag.get(..length).unwrap_or_default().replacen(word, scope, 1));
                    rest = tag.get(length..).unwrap_or_default();
                    continue;
                }
                _ => {
                    let length = expression_into(tag, &mut out);
                    rest = tag.get(length..).unwrap_or_default();
                    continue;
                }
            },
        };
        let (tag, after) = tag.split_at(length);
        out.push_str(tag);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Whether there are more signs and `not`s in a row than any expression has. The engine's parser calls itself for each.
pub fn piles_up(source: &str) -> bool {
    let mut row = 0;
    let mut rest = source.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'-' | b'+' => row += 1,
            b'n' if after.starts_with(b"ot") => {
                row += 1;
                rest = after.get(2..).unwrap_or_default();
            }
            b' ' | b'\n' | b'\t' => {}
            _ => row = 0,
        }
        if row > MOST_IN_A_ROW {
            return true;
        }
    }
    false
}

/// The text before the next tag or comment, and the text from it on.
fn next_tag(text: &str) -> Option<(&str, &str)> {
    let opens = |at: &usize| matches!(text.as_bytes().get(at + 1), Some(b'{' | b'%' | b'#'));
    let start = memchr::memchr_iter(b'{', text.as_bytes()).find(opens)?;
    text.split_at_checked(start)
}

/// The word that a block's tag consists of, where it is a single one.
fn word_of(tag: &str) -> Option<&str> {
    let inner = tag.strip_prefix("{%")?;
    let inner = inner.get(..inner.find("%}")?)?;
    let inner = inner.strip_prefix(['-', '+']).unwrap_or(inner);
    Some(inner.strip_suffix(['-', '+']).unwrap_or(inner).trim())
}

/// How long a raw block is, from its first tag to behind its last one.
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

/// A bracket that is open in an expression.
struct Open {
    bracket: u8,
    /// Where it stands in the output.
    at: usize,
    /// Where the colons directly inside it stand.
    colons: Vec<usize>,
}

/// Appends the tag that `text` begins with, slices rewritten. Returns its length.
fn expression_into(text: &str, out: &mut String) -> usize {
    let bytes = text.as_bytes();
    let end: &[u8] = if bytes.get(1) == Some(&b'{') { b"}}" } else { b"%}" };
    let mut open: Vec<Open> = Vec::new();
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
                    (b'[' | b'(' | b'{', _) => open.push(Open {
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

/// Rewrites the bracket that ends the output if it is a slice.
fn close(bracket: Option<Open>, out: &mut String) {
    let Some(Open {
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

/// Where the string that begins at `start` ends, its closing quote included.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let quote = bytes.get(start).copied();
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            _ if Some(byte) == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::{piles_up, prepared};

    #[test]
    fn generation_blocks_become_scopes_and_keep_their_signs() {
        let source = "{% generation %}\n{{ x }}{%- endgeneration -%}\r\n{%+generation%}{% endgeneration+%}{%";
        let expected = "{% with %}\n{{ x }}{%- endwith -%}\n{%+with%}{% endwith+%}{%";
        assert_eq!(prepared(source), expected);
        let others = "{% if generation %}{{ '{% generation %}' }}{% endif %}";
        assert_eq!(prepared(others), others);
    }

    #[test]
    fn slices_become_calls_wherever_they_stand() {
        let cases = [
            ("{{ m[1:] }}", "{{ m.__slice__(1, none) }}"),
            (
                "{% for x in m[::-1][:n[0]] %}",
                "{% for x in m.__slice__(none, none, -1).__slice__(none, n[0]) %}",
            ),
            (
                "{{ x[f({'a': 1}): y[:-2]] }}",
                "{{ x.__slice__(f({'a': 1}), y.__slice__(none, -2)) }}",
            ),
        ];
        for (source, expected) in cases {
            assert_eq!(prepared(source), expected);
        }
    }

    #[test]
    fn operators_pile_up_only_in_a_row() {
        assert!(piles_up(&"not ".repeat(1001)) && piles_up(&"-+\n".repeat(501)));
        assert!(!piles_up(&"not x ".repeat(2000)) && !piles_up(&" ".repeat(9999)));
    }

    #[test]
    fn what_is_no_slice_stays() {
        for source in [
            "[1:2] {{ '[1:2]' }} {{ \"\\\"[1:]\" }} {# m[1:] #} {{ {'a': [1, 2]}['a'] }}",
            "{% raw %}{{ m[1:] }}{% endraw %}{{ {'a': {'b': 1}} }}",
            "{{ m[1:",
            "{% raw %}{{ m[1:] }}",
            "{{ ']:[' ",
            "}} %} {{ ]:} }}",
        ] {
            assert_eq!(prepared(source), source);
        }
    }
}

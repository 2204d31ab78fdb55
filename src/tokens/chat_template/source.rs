//! A template's text as the engine takes it: what Python's engine knows and ours does not is written in other words.

/// The text with one kind of line end, and with `{% generation %}` blocks as plain blocks with a scope of their own: they
/// only tell a trainer which tokens are the model's.
pub fn prepared(source: &str) -> String {
    let source = source.replace("\r\n", "\n").replace('\r', "\n");
    let mut prepared = String::with_capacity(source.len());
    let mut rest = source.as_str();
    while let Some(start) = rest.find("{%") {
        let (before, tag) = rest.split_at(start);
        prepared.push_str(before);
        match generation_tag(tag) {
            Some(Tag {
                open,
                name,
                close,
                length,
            }) => {
                prepared.extend(["{%", open, " ", name, " ", close, "%}"]);
                rest = tag.get(length..).unwrap_or_default();
            }
            None => {
                prepared.push_str("{%");
                rest = tag.get(2..).unwrap_or_default();
            }
        }
    }
    prepared.push_str(rest);
    prepared
}

/// A tag of the extension, in words that the engine knows.
struct Tag<'t> {
    /// `-`, `+` or nothing after the opening bracket.
    open: &'t str,
    name: &'static str,
    /// The same before the closing one.
    close: &'t str,
    /// Of the original tag, in bytes.
    length: usize,
}

/// The tag that `text` begins with, if it is one of the extension's.
fn generation_tag(text: &str) -> Option<Tag<'_>> {
    let inner = text.strip_prefix("{%")?;
    let inner = inner.get(..inner.find("%}")?)?;
    let length = inner.len() + 4;
    let (open, word) = inner.split_at(usize::from(inner.starts_with(['-', '+'])));
    let (word, close) = word.split_at(word.len() - usize::from(word.ends_with(['-', '+'])));
    let name = match word.trim() {
        "generation" => "with",
        "endgeneration" => "endwith",
        _ => return None,
    };
    Some(Tag {
        open,
        name,
        close,
        length,
    })
}

#[cfg(test)]
mod tests {
    use super::prepared;

    #[test]
    fn generation_blocks_become_scopes_and_keep_their_signs() {
        let source = "{% generation %}\n{{ x }}{%- endgeneration -%}\r\n{%+generation%}{% endgeneration+%}{%";
        let expected = "{% with %}\n{{ x }}{%- endwith -%}\n{%+ with %}{% endwith +%}{%";
        assert_eq!(prepared(source), expected);
        let others = "{% if generation %}{{ '{%' }}{% endif %}";
        assert_eq!(prepared(others), others);
    }
}

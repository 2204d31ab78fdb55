//! Where the statements in a line of a shell command begin and end, as far as the first look tells: nothing is copied.

/// The statements of a line, without what is behind their pipes.
pub(crate) fn statements(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    let mut is_piped = false;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let end = memchr::memchr3(b';', b'&', b'|', rest.as_bytes()).unwrap_or(rest.len());
            let (statement, behind) = rest.split_at_checked(end)?;
            let is_first = !is_piped;
            is_piped = behind.starts_with('|');
            rest = behind.get(1..).unwrap_or_default();
            if is_first {
                return Some(statement);
            }
        }
        None
    })
}

/// What stands after a document in a command that ends with a line of the word that `opening` begins with.
pub(crate) fn after_document<'c>(text: &'c str, opening: &str) -> &'c str {
    let word = opening.trim_start_matches('-').trim_start();
    let word = word
        .split([' ', ')', '>', '|', '&', ';'])
        .next()
        .unwrap_or_default();
    let word = word.trim_matches(['\'', '"', '\\']);
    let mut ends = memchr::memmem::find_iter(text.as_bytes(), word).map(|at| at + word.len());
    let is_line = |end: &usize| {
        let before = text.get(..end - word.len()).unwrap_or_default();
        let after = text.get(*end..).unwrap_or_default();
        (before.is_empty() || before.ends_with(['\n', '\t'])) && (after.is_empty() || after.starts_with('\n'))
    };
    match ends.find(|end| !word.is_empty() && is_line(end)) {
        Some(end) => text.get(end + 1..).unwrap_or_default(),
        // Words that stand in its lines were put together in one.
        None => "",
    }
}

/// Whether a quote is open at the end of a line.
pub(crate) fn is_open(line: &str) -> bool {
    let count = |quote| memchr::memchr_iter(quote, line.as_bytes()).count();
    count(b'"') % 2 == 1 || count(b'\'') % 2 == 1
}

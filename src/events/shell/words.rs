//! The words of a statement told apart: options, values, files.

use super::programs::ProgramRow;
use super::word::Word;

/// Words that are no options.
pub(super) fn files(words: &[Word]) -> impl Iterator<Item = &Word> {
    words.iter().filter(|word| !word.text.starts_with('-'))
}

/// The files among the words of an editor of streams: neither options nor its script.
pub(super) fn edited(words: &[Word]) -> impl Iterator<Item = &Word> {
    let mut has_script = false;
    let mut is_value = false;
    words.iter().filter(move |word| {
        let text = word.text.as_str();
        let option = text.strip_prefix('-').filter(|option| !option.is_empty());
        if std::mem::take(&mut is_value) || text.is_empty() {
            return false;
        }
        if let Some(option) = option {
            let takes_value = option == "-expression"
                || !option.starts_with('-') && !option.contains('i') && option.ends_with(['e', 'f']);
            is_value = takes_value;
            has_script |= takes_value || option.starts_with("-expression");
            return false;
        }
        std::mem::replace(&mut has_script, true)
    })
}

/// The value of one of these options: a letter, which may stand behind others, or a name.
pub(super) fn value_of(words: &[Word], options: &[String]) -> Option<Word> {
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let text = word.text.as_str();
        for option in options {
            let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
            let is_letter = letter.is_some_and(|letter| {
                text.starts_with('-') && !text.starts_with("--") && text.ends_with(letter)
            });
            if is_letter || text == option {
                return rest.next().cloned();
            }
            if let Some(value) = text
                .strip_prefix(option.as_str())
                .and_then(|rest| rest.strip_prefix('='))
            {
                return Some(Word {
                    text: value.to_owned(),
                    ..word.clone()
                });
            }
        }
    }
    None
}

/// The files that a formatter writes: those that are named with an ending.
pub(super) fn formatted<'w>(words: &'w [Word], row: &ProgramRow) -> impl Iterator<Item = &'w Word> {
    let has = |options: &[String]| words.iter().any(|word| options.contains(&word.text));
    let writes = (row.options.is_empty() || has(&row.options)) && !has(&row.unless);
    let mut before = "";
    words.iter().filter(move |word| {
        let option = std::mem::replace(&mut before, word.text.as_str());
        let name = word.text.rsplit('/').next().unwrap_or_default();
        let ending = name.trim_start_matches('.').rsplit_once('.');
        writes && !option.starts_with("--config") && !word.text.starts_with('-') && ending.is_some()
    })
}

/// Returns true if a stream editor changes its files in place.
pub(super) fn changed_in_place(words: &[Word]) -> bool {
    words.iter().any(|word| is_in_place(&word.text))
}

/// `-i`, `-i.bak`, `-ri`, `-pi`, `--in-place`.
fn is_in_place(option: &str) -> bool {
    let short = option.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    let letters = short.unwrap_or_default().split('i').next().unwrap_or_default();
    option.starts_with("--in-place")
        || short.is_some_and(|short| short.contains('i'))
            && letters
                .chars()
                .all(|letter| matches!(letter, 'n' | 'r' | 'E' | 's' | 'z' | 'p' | 'l' | 'w' | '0'))
}

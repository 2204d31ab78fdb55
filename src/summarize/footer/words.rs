//! The words of a statement told apart: its program, options, files.

use super::shell::Word;

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

/// `-i`, `-i.bak`, `-ri`, `-pi`, `--in-place`.
pub(super) fn is_in_place(option: &str) -> bool {
    let short = option.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    let letters = short.unwrap_or_default().split('i').next().unwrap_or_default();
    option.starts_with("--in-place")
        || short.is_some_and(|short| short.contains('i'))
            && letters
                .chars()
                .all(|letter| matches!(letter, 'n' | 'r' | 'E' | 's' | 'z' | 'p' | 'l' | 'w' | '0'))
}

/// The program that a statement runs, by its name alone, and its words; what only runs another one is passed over.
pub(super) fn program_of(words: &[Word]) -> Option<(&str, &[Word])> {
    const PASSED: [&str; 16] = [
        "{", "}", "!", "do", "then", "else", "if", "while", "time", "sudo", "env", "nohup", "command",
        "exec", "timeout", "nice",
    ];
    let mut rest = words;
    let mut may_be_option = false;
    while let Some((first, others)) = rest.split_first() {
        let text = first.text.as_str();
        let is_value = text
            .split_once('=')
            .is_some_and(|(name, _)| !name.is_empty() && !name.contains(['/', '-', '.']));
        let is_option =
            may_be_option && (text.starts_with(['-']) || text.starts_with(|c: char| c.is_ascii_digit()));
        if PASSED.contains(&text) {
            may_be_option = true;
        } else if !is_value && !is_option {
            return Some((text.rsplit('/').next().unwrap_or(text), others));
        }
        rest = others;
    }
    None
}

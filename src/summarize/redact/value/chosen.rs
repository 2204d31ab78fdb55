//! Judges values of password names in settings and literals: anything that is not plainly something else is a password.

use super::shape::{distinct, entropy, is_joined_words, is_words};
use super::word_lists::{PLAIN_PARTS, PLAIN_VALUES, SENTENCE_WORDS};
use crate::summarize::redact::assigned::named_value::NamedValue;
use crate::summarize::redact::assigned::separator::Syntax;

/// Returns true if the value of a password name in a setting or a literal is a password: anything that is not plainly
/// code, the name of something or a number.
pub fn is_chosen(value: &NamedValue<'_>) -> bool {
    let text = value.text;
    let is_literal = value.is_quoted
        || value.is_variable && value.is_data && value.how != Syntax::Space
        || value.is_data
            && matches!(
                value.how,
                Syntax::Equals | Syntax::Option | Syntax::Tag | Syntax::Space
            )
            && (value.how != Syntax::Space || is_joined_words(text))
        || value.is_line && value.how == Syntax::Colon && is_joined_words(text);
    // At its end it may belong to a sentence.
    let inner = if value.is_quoted {
        text
    } else {
        text.trim_end_matches(|c: char| !c.is_alphanumeric())
    };
    let has_mark = inner
        .chars()
        .any(|c| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '-'));
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let is_mixed = digits > 0 && digits < text.len();
    let letters = text.trim_end_matches(|c: char| c.is_ascii_digit());
    // Words that are joined: `correct-horse-battery`; in a name there would be underscores.
    let parts = || text.split(['-', ' ']);
    let is_spoken = parts().any(|part| SENTENCE_WORDS.contains(&part));
    let is_lower = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b' ');
    let is_phrase = (3..9).contains(&parts().count())
        && parts().all(|part| part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        && (!text.contains(' ') || (parts().count() >= 4 && is_lower && !is_spoken));
    let is_word = text.len() >= 8
        && text.bytes().all(|byte| byte.is_ascii_alphabetic())
        && (value.is_quoted || value.how != Syntax::Colon);
    let is_known = PLAIN_VALUES.iter().any(|word| letters.eq_ignore_ascii_case(word))
        || text.split(['-', '_', '.', ' ']).any(|part| {
            PLAIN_PARTS
                .iter()
                .chain(PLAIN_VALUES.iter())
                .any(|plain| part.eq_ignore_ascii_case(plain))
        });
    is_literal
        && value.how != Syntax::Sentence
        && text.len() >= 6
        && distinct(text) >= 4
        && (text.len() < 120)
        && !is_known
        && !is_markup(text)
        && !text.contains(['|', '[', '(', ')', '{', '}', '<', '>', ',', '\n'])
        && ((is_mixed && !is_name(text) || has_mark && text.len() >= 8) && !text.contains(' ')
            || is_phrase
            || is_joined_words(text)
            || is_word && !text.to_ascii_lowercase().contains("pass"))
}

/// Returns true if it is of all the keys there are, blanks included: the salts of PHP applications.
pub fn is_keyboard_mixture(value: &NamedValue<'_>) -> bool {
    let text = value.text;
    let count = |is: fn(&u8) -> bool| text.bytes().filter(is).count();
    value.is_quoted
        && text.len() >= 40
        && text.is_ascii()
        && !text.contains("-----")
        && count(u8::is_ascii_digit) >= 2
        && count(u8::is_ascii_uppercase) >= 4
        && count(u8::is_ascii_lowercase) >= 4
        && count(u8::is_ascii_punctuation) >= 8
        && count(|byte| *byte == b' ') <= text.len() / 10
        && entropy(text) >= 4.7
}

/// Returns true if it is the name of something, with a number at its end: `password2`, `user_password_1`, `step1`.
pub fn is_name(text: &str) -> bool {
    let letters = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_short = text.len() - letters.len() <= 2;
    is_short && letters.contains('_') && is_words(text)
}

/// Returns true if it is a piece of code or of a template.
pub fn is_markup(text: &str) -> bool {
    text.contains("&&")
        || text.contains("%s")
        || text.contains("%d")
        || text.starts_with('@')
        || text.contains("*/")
        || text.contains("=>")
}

/// Returns true if it names an element of a page: `#login-form`.
pub fn is_selector(text: &str) -> bool {
    text.strip_prefix(['#', '.'])
        .is_some_and(|name| is_words(name) && !name.bytes().any(|byte| byte.is_ascii_digit()))
}

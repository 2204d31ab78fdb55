//! Judges the value of a name that means a secret: made by a machine, chosen by a person, or code or a filler.

mod chosen;
pub(super) mod shape;
pub(super) mod word_lists;

use super::alphabet::Alphabet;
use super::assigned::named_value::NamedValue;
use super::assigned::names::{Name, Values};
use super::assigned::separator::Syntax;
use chosen::{is_chosen, is_keyboard_mixture, is_markup, is_name, is_selector};
use shape::{
    distinct, entropy, is_filler, is_grouped, is_joined_words, is_long_mixture, is_machine_made, is_path,
    is_random_word, is_strong_mixture, is_time, is_uuid, is_words,
};
use word_lists::{PLAIN_PARTS, PLAIN_VALUES};

/// Returns true if a person chose it as a password.
pub fn is_password_value(value: &NamedValue<'_>) -> bool {
    let text = value.text;
    if is_grouped(text) || is_strong_mixture(text) && !is_expression_of(value) {
        return true;
    }
    if text.contains(['<', '>']) && value.how != Syntax::Cell {
        return false;
    }
    if is_reference(text) || is_filler(text) || distinct(text) < 4 || text.contains("[REDACTED:") {
        return false;
    }
    if value.how == Syntax::Argument && text.contains('/') {
        return false;
    }
    // Rules of a form: `required|min:8`.
    let is_rule = text.contains('|') && text.split('|').all(is_words);
    if is_rule || is_selector(text) {
        return false;
    }
    if is_path(text) && (!value.is_quoted || text.matches('/').count() > 1) || text.contains("://") {
        return false;
    }
    if !value.is_expression && is_chosen(value) {
        return true;
    }
    if value.how == Syntax::Sentence && value.ends_line && is_joined_words(text) {
        return true;
    }
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let capitals = text.bytes().filter(u8::is_ascii_uppercase).count();
    let symbols = text
        .chars()
        .filter(|c| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '-' | ' ' | '\\'))
        .count();
    let blanks = text.bytes().filter(|byte| *byte == b' ').count();
    if value.is_expression || (value.is_quoted && blanks > 0 && !(blanks < 3 && symbols + digits > 2)) {
        return false;
    }
    let is_told = value.how == Syntax::Sentence;
    if letters == 0 {
        // A number: digits that somebody chose, with signs between them or not.
        return (value.is_quoted || value.is_data)
            && digits >= 6
            && distinct(text) >= 5
            && !is_told
            && digits < 20;
    }
    let is_random = is_random_word(text);
    if digits > 0 {
        let is_joined = text.matches('-').count() >= 2 && value.ends_line;
        let is_mixed =
            digits > 1 || is_joined || symbols > 0 || (capitals > 0 && capitals < letters) || is_random;
        let is_long = text.len() >= 7 || (text.len() >= 6 && (value.is_quoted || value.is_data));
        if value.is_quoted || value.is_data {
            return is_long && distinct(text) >= 5 && !is_name(text);
        }
        // In a sentence words with a number are the rule.
        let is_word = is_told && is_words(text) && !is_random && !is_numbered_word(text);
        return is_long && is_mixed && distinct(text) >= 5 && !is_word;
    }
    if symbols > 0 {
        let is_long = text.len() >= 8 && letters >= 4;
        let is_plain = text.chars().any(|c| {
            matches!(
                c,
                '!' | '@' | '#' | '$' | '%' | '^' | '&' | '*' | '+' | '~' | '?' | '='
            )
        });
        let inner = text.trim_matches(|c: char| !c.is_alphanumeric());
        let is_inside = inner.contains(['!', '@', '#', '$', '%', '^', '&', '*'])
            && !inner.contains(['/', '(', '\'', ',']);
        let is_bare = value.ends_line && (is_inside || (!is_told && !text.ends_with(['!', '?'])));
        return is_long
            && is_plain
            && distinct(text) >= 6
            && (value.is_quoted || value.is_data || is_bare)
            && !is_markup(text);
    }
    no_digit(value, 8)
}

/// Returns true if an option of a command is given it: `--name value`, `--name=value`.
fn is_option(value: &NamedValue<'_>) -> bool {
    value.how == Syntax::Option || value.is_data && value.how == Syntax::Equals && !value.is_quoted
}

/// Returns true if a mixture of characters may be an expression or an address all the same.
fn is_expression_of(value: &NamedValue<'_>) -> bool {
    let text = value.text;
    let opens = |open: char, close: char| text.starts_with(open) && text.contains(close);
    text.contains("://")
        || text.contains("${")
        || text.contains("{{")
        || text.contains("()")
        || opens('{', '}')
        || opens('<', '>')
        || opens('[', ']')
        || opens('(', ')')
        || value.is_expression
        || !(value.is_quoted || value.is_data || value.ends_line)
}

/// Returns true if a value of letters alone, with dashes or underscores perhaps, is a secret.
fn no_digit(value: &NamedValue<'_>, least: usize) -> bool {
    let text = value.text;
    let is_bare_data = value.is_data
        && value.how != Syntax::Space
        && (value.is_variable
            || matches!(
                value.how,
                Syntax::Option | Syntax::Tag | Syntax::Cell | Syntax::Equals
            ));
    if text.len() < least || distinct(text) < 5 || !text.bytes().all(|byte| Alphabet::Dotted.holds(byte)) {
        return false;
    }
    if is_random_word(text) || is_long_mixture(text) {
        return value.is_quoted || value.is_data || value.ends_line;
    }
    let is_known = PLAIN_VALUES.iter().any(|word| text.eq_ignore_ascii_case(word));
    let is_one_case = text
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-'));
    let is_joined = text.matches('-').count() >= 3 && value.ends_line;
    (value.is_quoted || is_bare_data || (value.is_line && text.len() >= 10) || is_joined)
        && !matches!(value.how, Syntax::Argument | Syntax::Cell)
        && (value.how != Syntax::Sentence || is_joined)
        && !is_known
        && is_one_case
        && (value.is_quoted || !text.contains("pass"))
        && !text.split('-').any(|part| PLAIN_PARTS.contains(&part))
}

/// Returns true if it is a secret that a machine made, or that somebody chose with care.
pub fn is_secret_value(value: &NamedValue<'_>) -> bool {
    let text = value.text;
    if value.how == Syntax::Space {
        return is_password_value(value);
    }
    if value.how == Syntax::Tag && is_password_value(value)
        || (is_option(value) || value.is_line && value.how == Syntax::Equals)
            && (!is_words(text) || is_numbered_word(text))
            && is_password_value(value)
    {
        return true;
    }
    if is_joined_words(text) && (value.is_line || value.is_data && value.ends_line) {
        return true;
    }
    let is_mixture = value.is_quoted && text.len() >= 32 && entropy(text) >= 4.5 && !text.contains(' ');
    if is_keyboard_mixture(value) {
        return true;
    }
    if is_mixture && !is_filler(text) {
        return true;
    }
    if is_reference(text)
        || value.is_expression
        || is_filler(text)
        || is_place(text)
        || text.contains(' ')
        || (!value.is_quoted && (text.starts_with('&') || text.contains("::")))
    {
        return false;
    }
    let least = if value.is_quoted || value.is_variable {
        10
    } else {
        16
    };
    if is_machine_made(text, least) {
        return true;
    }
    let symbols = text
        .bytes()
        .filter(|byte| matches!(byte, b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'+'))
        .count();
    if symbols > 0 && text.len() >= 8 {
        return is_password_value(value);
    }
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let is_joined = is_joined_words(text);
    if (value.is_quoted || value.is_variable)
        && text.len() >= 8
        && (digits > 0 || is_joined && text.len() >= 14)
        && is_chosen(value)
    {
        return true;
    }
    (text.len() >= 12 && is_random_word(text) && (value.is_quoted || value.is_data))
        || (value.is_quoted || value.is_variable) && is_long_mixture(text)
        || (value.is_quoted || value.is_variable)
            && text.len() >= 20
            && text.matches(['-', '_']).count() >= 3
            && no_digit(value, 20)
}

/// Returns true if it is a value that a machine made.
pub fn is_machine_value(value: &NamedValue<'_>, name: &Name, before: &str) -> bool {
    if is_keyboard_mixture(value) {
        return true;
    }
    let text = value.text;
    let is_plain = text
        .bytes()
        .all(|byte| Alphabet::Path.holds(byte) || byte.is_ascii_punctuation());
    // Types, references and names of functions in code.
    let is_code = !value.is_quoted
        && (text.starts_with('&')
            || text.contains("::")
            || text.matches('_').count() > 1 && is_words(&text.replace("25519", "")));
    let is_mixture = value.is_quoted && name.kind != "token" && text.len() >= 32 && entropy(text) >= 4.5;
    if is_plain && is_mixture && !is_filler(text) && !is_words(text) && !is_place(text) {
        return true;
    }
    if !is_plain || value.is_expression || is_code || is_place(text) || is_reference(text) {
        return false;
    }
    if name.kind == "token"
        && text.bytes().any(|byte| {
            matches!(
                byte,
                b'(' | b')' | b'{' | b'}' | b'[' | b']' | b'<' | b'>' | b'\\' | b'*'
            )
        })
    {
        return false;
    }
    if is_uuid(text) {
        let owner = before.to_ascii_lowercase();
        let is_owned = before.len() > 2
            && !["page_", "next_", "next", "continuation", "continuation_", "page"]
                .iter()
                .any(|head| owner.ends_with(head));
        return name.kind != "token"
            || (is_owned && (value.is_variable || value.is_quoted || value.how == Syntax::Colon))
            || value.how == Syntax::Option
            || value.is_variable && value.how == Syntax::Equals
            || before.ends_with('-') && value.how == Syntax::Equals;
    }
    let least = if value.is_variable || (name.kind != "token" && value.is_quoted) {
        12
    } else {
        16
    };
    if is_machine_made(text, least) {
        return true;
    }
    // A variable of the environment holds its value and nothing else.
    let is_set = value.is_variable
        && value.is_data
        && matches!(value.how, Syntax::Equals | Syntax::Option)
        && !is_filler(text);
    if is_set
        && text.len() >= 12
        && name.kind != "token"
        && !is_words(&text.replace('_', ""))
        && is_chosen(value)
        || is_set && name.kind == "encryption-key" && is_chosen(value)
    {
        return true;
    }
    let is_known = name.value == Values::Machine && (value.is_quoted || value.is_variable);
    is_known
        && text.len() >= 16
        && !is_filler(text)
        && (is_random_word(text) || is_long_mixture(text))
        && entropy(text) >= 3.0
}

/// Returns true if it is the words that a wallet is restored from.
pub fn is_phrase(text: &str) -> bool {
    let words = text.split(' ').filter(|word| !word.is_empty());
    words.clone().count() >= 12
        && words.clone().count() <= 24
        && words
            .clone()
            .all(|word| (3..=8).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_lowercase()))
}

/// Returns true if a value names where the secret is: a variable, a template, a placeholder.
pub fn is_reference(text: &str) -> bool {
    let inner = |open: char, close: char| text.starts_with(open) && text.contains(close);
    let variable = text.strip_prefix('$').is_some_and(|name| {
        name.starts_with(['{', '(', '$'])
            || (!name.is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':'))
                && is_name_like(name))
    });
    variable
        || inner('{', '}')
        || text.starts_with("{{")
        || inner('[', ']')
        || inner('<', '>')
        || text.starts_with('<')
        || (text.starts_with('%') && (text.ends_with('%') || text.len() < 4 || text.starts_with("%(")))
        || text.starts_with("**")
        || text.starts_with("${")
        || text.starts_with("#{")
        || text.starts_with("@{")
        || text.contains("${")
        || text.contains("{{")
        || text.starts_with('!')
            && text.len() > 1
            && text.bytes().skip(1).all(|byte| byte.is_ascii_lowercase())
        || is_bound(text)
        || is_time(text)
        || text.starts_with("op://")
        || text.starts_with("vault:")
        || text.starts_with("arn:")
        || text.starts_with("ENC[")
        || text.starts_with("env:")
        || text.starts_with("file:")
}

/// Returns true if a variable could have that name: all upper case, or words.
fn is_name_like(name: &str) -> bool {
    let is_upper = name
        .bytes()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    is_upper || is_words(name) || !name.bytes().any(|byte| byte.is_ascii_digit())
}

/// Returns true if it names a place: a path, or something with many slashes.
fn is_place(text: &str) -> bool {
    // Base64 begins with a slash once in sixty-four times.
    let is_base64 =
        text.len() >= 32 && text.bytes().all(|byte| Alphabet::Base64.holds(byte)) && is_long_mixture(text);
    (is_path(text) && !is_base64)
        || text.starts_with('.')
        || text.matches('/').count() > text.len() / 8
        || text.contains("://")
}

/// Returns true if it is a word of five letters or more with two digits or more at its end, or words joined by two
/// dashes or more: sentences have no such words.
fn is_numbered_word(text: &str) -> bool {
    let word = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = text.len() - word.len();
    let is_known = PLAIN_VALUES.iter().any(|known| word.eq_ignore_ascii_case(known));
    let is_joined = text.matches('-').count() >= 2;
    !is_known && ((word.len() >= 5 && digits >= 2 && !word.contains(['-', '_', '.', '/', ':'])) || is_joined)
}

/// Returns true if it is a parameter that a statement binds: `:name`, `@name`, `?`, `%s`.
fn is_bound(text: &str) -> bool {
    matches!(text, "?" | "%s")
        || text.strip_prefix([':', '@']).is_some_and(|name| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        })
}

//! Rules that make a word an identifier: a path, a name with inner structure, an id, a date, a number.

/// The longest identifier in bytes; longer words are data, not names.
pub(super) const MAX_LEN: usize = 240;

/// Names that every program has, and that a reader knows anyway.
const COMMONPLACE: [&str; 15] = [
    "__init__",
    "__init__.py",
    "__name__",
    "__main__",
    "__file__",
    "/dev/null",
    "/root",
    "/tmp",
    "python3",
    "sys.path",
    "os.path",
    "e.g",
    "i.e",
    "README.md",
    "utf-8",
];

/// Returns true for letters of scripts without spaces between words; they end an ASCII identifier.
pub fn is_spaceless(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x2E80..=0x9FFF | 0xAC00..=0xD7FF
        | 0xF900..=0xFAFF | 0xFF00..=0xFFEF | 0x20000..=0x3FFFF)
}

/// Returns true if a word of running text is an identifier on its own.
pub(super) fn is_identifier(word: &str) -> bool {
    if word.len() < 3 || word.len() > MAX_LEN || COMMONPLACE.contains(&word) {
        return false;
    }
    let shape = WordShape::of(word);
    if word.contains("://") || word.contains("::") {
        return shape.letters > 2;
    }
    if let Some((user, host)) = word.split_once('@') {
        return !user.is_empty() && host.len() > 2 && (host.contains('.') || shape.digits > 0);
    }
    if shape.slashes > 0 {
        return is_path(word, &shape);
    }
    if is_small_number(word) {
        return false;
    }
    if shape.letters == 0 {
        return shape.digits >= 3;
    }
    if shape.digits > 0 {
        return (word.len() >= 4 || word.starts_with('#')) && !is_ordinal(word);
    }
    if shape.underscores > 0 {
        return shape.letters >= 3;
    }
    if shape.dots > 0 {
        return word.len() >= 5
            && word
                .trim_start_matches('.')
                .split('.')
                .all(|part| !part.is_empty());
    }
    // Kebab-case names of letters only look like hyphenated words.
    shape.is_camel && shape.dashes == 0
}

/// Returns true if a quoted text or argument that is no single identifier is still a value worth copying.
pub(super) fn is_value(value: &str) -> bool {
    if value.len() < 3 || value.len() > 64 || value.contains(['\n', '\r', '\t', '`', '"', '\\']) {
        return false;
    }
    if value.contains([
        '(', ')', '{', '}', '[', ']', ';', '=', '<', '>', '|', '*', '%', '$',
    ]) {
        return false;
    }
    let first = value
        .chars()
        .next()
        .is_some_and(|c| c.is_alphanumeric() || c == '#');
    let last = value.chars().next_back().is_some_and(char::is_alphanumeric);
    first && last && value.split(' ').count() <= 6
}

/// Returns true if the value is one plain lower-case word, which does not look like an identifier.
pub(super) fn is_plain_word(value: &str) -> bool {
    value.bytes().all(|b| b.is_ascii_lowercase())
}

/// Digits of a number that names something, at the least: shorter ones are the same in many places by chance.
const MIN_DIGITS: usize = 4;

/// Letters of a unit behind a number at most: `0.8rem`.
const MAX_UNIT: usize = 3;

/// Returns true for a number of few digits, with a unit or without: `309`, `0.01`, `1.6x`.
fn is_small_number(word: &str) -> bool {
    let number = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_number = number.starts_with(|c: char| c.is_ascii_digit())
        && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && number.matches('.').count() <= 1;
    let significant = number.trim_start_matches(['0', '.']);
    let digits = significant.bytes().filter(u8::is_ascii_digit).count();
    is_number && digits < MIN_DIGITS && word.len() - number.len() <= MAX_UNIT
}

fn is_ordinal(word: &str) -> bool {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    matches!(
        word.get(digits.len()..),
        Some("st" | "nd" | "rd" | "th" | "s" | "x")
    ) && digits.bytes().all(|b| b.is_ascii_digit())
}

fn is_path(word: &str, shape: &WordShape) -> bool {
    if shape.letters == 0 {
        // `2024/05/15` is a date; `1/2` is not.
        return shape.digits >= 3;
    }
    let segments = word
        .split(['/', '\\'])
        .filter(|segment| segment.len() > 1 || !segment.is_ascii())
        .count();
    let rooted = word.starts_with(['/', '~', '.']);
    let structured =
        shape.dots > usize::from(word.starts_with('.')) || shape.underscores > 0 || shape.digits > 0;
    shape.letters >= 3 && ((rooted && segments >= 1) || segments >= 3 || (segments >= 2 && structured))
}

/// Counts of the kinds of characters in a word.
#[derive(Default)]
struct WordShape {
    letters: usize,
    digits: usize,
    underscores: usize,
    dots: usize,
    slashes: usize,
    dashes: usize,
    /// The word has a capital after a small letter, or a small letter after two capitals.
    is_camel: bool,
}

impl WordShape {
    fn of(word: &str) -> Self {
        let mut shape = Self::default();
        let (mut before_last, mut last) = (' ', ' ');
        for c in word.chars() {
            match c {
                '_' => shape.underscores += 1,
                '.' => shape.dots += 1,
                '/' | '\\' => shape.slashes += 1,
                '-' => shape.dashes += 1,
                c if c.is_ascii_digit() => shape.digits += 1,
                c if c.is_alphabetic() => shape.letters += 1,
                _ => {}
            }
            if (last.is_lowercase() && c.is_uppercase())
                || (before_last.is_uppercase() && last.is_uppercase() && c.is_lowercase())
            {
                shape.is_camel = true;
            }
            (before_last, last) = (last, c);
        }
        // The plural of an abbreviation: `APIs`.
        if shape.is_camel
            && last == 's'
            && word
                .strip_suffix('s')
                .is_some_and(|stem| stem.chars().all(char::is_uppercase))
        {
            shape.is_camel = false;
        }
        shape
    }
}

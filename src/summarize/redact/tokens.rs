//! The table of token forms (`tokens.csv`): prefix, alphabet and length as vendors and public rule sets give them.
//!
//! A form is a row of pieces with blanks between: `hex:32`, `url:20-300` are so many characters of an alphabet, anything
//! else stands for itself; `{abc}` in it is one of these characters.

use std::ops::Range;

use super::alphabet::Alphabet;
use super::value::shape::{begins_word, is_long_mixture, is_random_word, is_words, looks_random};

/// The table. Its source column says where a form is documented.
const TABLE: &str = include_str!("tokens.csv");

/// Longest mark for which lengths are taken to the letter.
const SHORT_MARK: usize = 3;

/// Longest token for which documented lengths are stretched.
const LONG: usize = 400;

/// A token form.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenForm {
    /// Name of the kind in the marker.
    pub kind: &'static str,
    /// The part that stands for itself and that the token is found by.
    pub mark: String,
    /// The pieces before the mark, from the mark to the left.
    before: Vec<TokenPiece>,
    /// The pieces behind it.
    after: Vec<TokenPiece>,
}

#[derive(Debug, Clone, PartialEq)]
enum TokenPiece {
    Mark(String),
    Of(Alphabet, usize, usize),
}

/// All token forms; rows that cannot be read are left out.
pub fn tokens() -> impl Iterator<Item = TokenForm> {
    rows().flat_map(|(kind, form, _)| {
        alternatives(form)
            .into_iter()
            .filter_map(move |form| TokenForm::of(kind, &form))
    })
}

/// Kind, form and source of each row.
pub fn rows() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    TABLE.lines().skip(1).filter_map(|line| {
        let (kind, rest) = line.split_once(',')?;
        let (form, source) = rest.rsplit_once(',')?;
        Some((kind, form, source))
    })
}

/// A form without braces, once for each of the characters in them.
fn alternatives(form: &str) -> Vec<String> {
    let Some((before, rest)) = form.split_once('{') else {
        return vec![form.to_owned()];
    };
    let Some((choices, after)) = rest.split_once('}') else {
        return Vec::new();
    };
    let each = choices.chars().map(|choice| format!("{before}{choice}{after}"));
    each.flat_map(|form| alternatives(&form)).collect()
}

impl TokenForm {
    fn of(kind: &'static str, form: &str) -> Option<Self> {
        let mut pieces = form.split(' ').map(TokenPiece::of).collect::<Option<Vec<_>>>()?;
        // The first of the longest marks.
        let length = |piece: &TokenPiece| match piece {
            TokenPiece::Mark(mark) => mark.len(),
            TokenPiece::Of(..) => 0,
        };
        let longest = pieces.iter().map(length).max()?;
        let at = pieces.iter().position(|piece| length(piece) == longest)?;
        let after = pieces.split_off(at + 1);
        let Some(TokenPiece::Mark(mark)) = pieces.pop() else {
            return None;
        };
        pieces.reverse();
        (mark.len() > 1).then_some(Self {
            kind,
            mark,
            before: pieces,
            after,
        })
    }

    /// Returns true if the token begins with its mark.
    pub fn is_first(&self) -> bool {
        self.before.is_empty()
    }

    /// The bytes that may follow the mark; `None` where any may.
    pub fn next_bytes(&self) -> Option<Alphabet> {
        match self.after.first() {
            Some(TokenPiece::Of(alphabet, ..)) => Some(*alphabet),
            _ => None,
        }
    }

    /// The span of such a token whose mark stands at `mark`.
    pub fn span(&self, text: &str, mark: Range<usize>) -> Option<Range<usize>> {
        if text.get(mark.clone())? != self.mark {
            return None;
        }
        let bytes = text.as_bytes();
        // Room above documented lengths: some vendors have made their tokens longer without a word.
        let slack = self.mark.len() > SHORT_MARK && self.before.is_empty() && self.after.len() == 1;
        let mut body = String::new();
        let mut end = mark.end;
        for (index, piece) in self.after.iter().enumerate() {
            let rest = bytes.get(end..)?;
            let length = match piece {
                TokenPiece::Mark(mark) => rest.starts_with(mark.as_bytes()).then_some(mark.len())?,
                TokenPiece::Of(alphabet, least, most) => {
                    let is_last = index + 1 == self.after.len();
                    let (least, most) = if slack && *most <= LONG {
                        (least - least / 4, most + most / 2)
                    } else {
                        (*least, *most)
                    };
                    let next = match self.after.get(index + 1) {
                        Some(TokenPiece::Mark(mark)) => Some(mark.as_str()),
                        _ => None,
                    };
                    let length = run(rest, *alphabet, least, most, is_last, next)?;
                    body.push_str(text.get(end..end + length)?);
                    length
                }
            };
            end += length;
        }
        let mut start = mark.start;
        for piece in &self.before {
            let head = bytes.get(..start)?;
            start -= match piece {
                TokenPiece::Mark(mark) => head.ends_with(mark.as_bytes()).then_some(mark.len())?,
                TokenPiece::Of(alphabet, least, most) => {
                    let length = head
                        .iter()
                        .rev()
                        .take(most + 1)
                        .take_while(|byte| alphabet.holds(**byte));
                    let length = length.count();
                    let length = if length > *most && least == most {
                        *most
                    } else {
                        length
                    };
                    if !(least..=most).contains(&&length) {
                        return None;
                    }
                    body.push_str(text.get(start - length..start)?);
                    length
                }
            };
        }
        if !begins_word(text, start) {
            return None;
        }
        // In the midst of data in base64 four letters say nothing.
        let beside = [start.checked_sub(1).and_then(|at| bytes.get(at)), bytes.get(end)];
        if self.mark.len() <= 4 && beside.iter().flatten().any(|byte| matches!(byte, b'+')) {
            return None;
        }
        let head = bytes.get(..start)?;
        let in_data = head.ends_with(b"/")
            && head
                .iter()
                .rev()
                .skip(1)
                .take(24)
                .take_while(|byte| Alphabet::Base64.holds(**byte))
                .count()
                == 24;
        if self.mark.len() <= 4 && in_data {
            return None;
        }
        let is_filler = is_words(&body) || body.ends_with("EXAMPLE");
        let is_random = looks_random(&body) || is_long_mixture(&body) || is_random_word(&body);
        (!is_filler && is_random).then_some(start..end)
    }
}

impl TokenPiece {
    fn of(text: &str) -> Option<Self> {
        let Some((name, lengths)) = text.split_once(':') else {
            return (!text.is_empty()).then(|| Self::Mark(text.to_owned()));
        };
        let Some(alphabet) = Alphabet::named(name) else {
            return Some(Self::Mark(text.to_owned()));
        };
        let (least, most) = lengths.split_once('-').unwrap_or((lengths, lengths));
        Some(Self::Of(alphabet, least.parse().ok()?, most.parse().ok()?))
    }
}

/// Returns how many bytes of an alphabet a text begins with, where that many may be; `next` must follow.
fn run(
    bytes: &[u8],
    alphabet: Alphabet,
    least: usize,
    most: usize,
    is_last: bool,
    next: Option<&str>,
) -> Option<usize> {
    let longest = bytes
        .iter()
        .take(most + 8)
        .take_while(|byte| alphabet.holds(**byte))
        .count();
    let follows = |length: usize| {
        next.is_none_or(|next| {
            bytes
                .get(length..)
                .is_some_and(|rest| rest.starts_with(next.as_bytes()))
        })
    };
    let length = if is_last {
        // Dots and dashes at its end belong to the sentence.
        let token = bytes.get(..longest)?;
        let trimmed = token
            .iter()
            .rev()
            .take_while(|byte| matches!(byte, b'.' | b'-' | b'_' | b'/' | b'='))
            .count();
        let padding = token
            .iter()
            .rev()
            .take(3)
            .take_while(|byte| **byte == b'=')
            .count();
        let length = longest - trimmed;
        let length = if (least..=most).contains(&length) {
            length
        } else {
            longest
        };
        // Base64 ends with its padding.
        if length + padding == longest && padding < 3 && longest <= most {
            longest
        } else {
            length
        }
    } else if (least..=most).contains(&longest) && follows(longest) {
        longest
    } else {
        (least..=most.min(longest))
            .rev()
            .find(|length| follows(*length))?
    };
    (least..=most).contains(&length).then_some(length)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::redact;
    use super::super::tests::{hex, mix};
    use super::*;

    /// A token of that form, made up, with the fewest or the most characters.
    fn made(token: &TokenForm, longest: bool) -> String {
        let of = |piece: &TokenPiece, shift: usize| match piece {
            TokenPiece::Mark(mark) => mark.clone(),
            TokenPiece::Of(alphabet, least, most) => {
                let length = if longest { (*most).min(least + 30) } else { *least };
                let all = match alphabet {
                    Alphabet::Hex => hex(length + shift),
                    Alphabet::Upper => mix(length + shift).to_uppercase(),
                    Alphabet::Lower => mix(length + shift).to_lowercase(),
                    Alphabet::Digit => "8291736450".chars().cycle().take(length + shift).collect(),
                    Alphabet::Uuid => format!("{}3fa94c1b-e772-4d58-a6f1-9e03bb64d72c", hex(shift)),
                    _ => mix(length + shift),
                };
                all.get(shift..).unwrap().to_owned()
            }
        };
        let mut before: Vec<String> = token
            .before
            .iter()
            .enumerate()
            .map(|(i, piece)| of(piece, i))
            .collect();
        before.reverse();
        let after = token.after.iter().enumerate().map(|(i, piece)| of(piece, i + 3));
        format!("{}{}{}", before.concat(), token.mark, after.collect::<String>())
    }

    #[test]
    fn every_row_can_be_read_and_has_a_source() {
        let mut seen = BTreeSet::new();
        for line in TABLE.lines().skip(1) {
            let (kind, form, source) = rows()
                .find(|row| line.starts_with(&format!("{},{},", row.0, row.1)))
                .unwrap();
            assert!(seen.insert(form), "twice: {line}");
            assert!(
                kind.bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
                "{line}"
            );
            assert!(
                !source.is_empty() && source.chars().all(|c| c.is_ascii_graphic()),
                "{line}"
            );
            // A public rule set, or the site of whoever makes the tokens.
            let is_rule_set = [
                "gitleaks",
                "trufflehog",
                "gitguardian",
                "detect-secrets",
                "github",
            ]
            .contains(&source);
            let host = source.split('/').next().unwrap_or_default();
            let is_site = host.contains('.') && !host.starts_with('.') && !host.ends_with('.');
            assert!(is_rule_set || is_site, "{line}");
            let forms = alternatives(form);
            assert!(
                !forms.is_empty() && forms.iter().all(|form| TokenForm::of(kind, form).is_some()),
                "{line}"
            );
        }
        assert!(seen.len() >= 300, "{}", seen.len());
        let vendors: BTreeSet<_> = rows().filter_map(|(kind, ..)| kind.split('-').next()).collect();
        assert!(vendors.len() >= 150, "{}", vendors.len());
    }

    #[test]
    fn every_row_is_found_wherever_it_stands() {
        for token in tokens() {
            for longest in [false, true] {
                let secret = made(&token, longest);
                for (before, after) in [
                    ("", ""),
                    ("key ", "."),
                    ("\\n", "\\n"),
                    ("\x1b[0;32m", "\x1b[0m"),
                    ("%3D", "&x"),
                ] {
                    let text = format!("{before}{secret}{after}");
                    let redacted = redact(&text).0;
                    let is_gone = !redacted.contains(&secret) && redacted.len() < text.len().max(30) + 12;
                    assert!(
                        is_gone && redacted.contains("[REDACTED:"),
                        "{} {text}: {redacted}",
                        token.kind
                    );
                    assert!(
                        redacted.starts_with(before) || token.mark.contains('/'),
                        "{text}: {redacted}"
                    );
                }
            }
        }
    }
}

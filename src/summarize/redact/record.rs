//! The secrets that redaction recognizes anywhere in a record, replaced wherever else they stand in it: without the name
//! beside them, escaped, or as part of something in base64.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use rustc_hash::FxHashSet;

use super::alphabet::Alphabet;
use super::personal::personal;
use super::secret::{MARKER, Secret};
use super::value::shape::{distinct, is_filler, is_long_mixture, is_random_word};
use super::{redact, redact_noting, replaced};

/// Shortest secret that is looked for elsewhere.
const SHORTEST: usize = 8;

/// Longest secret that is looked for inside of base64.
const LONGEST_ENCODED: usize = 200;

/// Shortest line of a key that is looked for elsewhere.
const SHORTEST_LINE: usize = 24;

/// Bytes of all secrets of a record, in all their forms, that are looked for.
const MOST_BYTES: usize = 16 << 20;

/// The secrets of a record; `'t` is how long its texts live.
#[derive(Debug, Default)]
pub struct RecordSecrets<'t> {
    forms: Option<SecretForms>,
    /// The texts without a secret of their own, by address and length: they need no second look.
    clean: FxHashSet<(usize, usize)>,
    texts: PhantomData<&'t str>,
    /// Mail addresses and phone numbers are replaced as well.
    personal: bool,
}

#[derive(Debug)]
struct SecretForms {
    searcher: AhoCorasick,
    /// The kind of each, and true if base64 around it is replaced too.
    kinds: Vec<(&'static str, bool)>,
}

impl<'t> RecordSecrets<'t> {
    /// The secrets recognized in these texts; with `personal`, personal data counts as secret.
    pub fn of(texts: impl Iterator<Item = &'t str>, personal: bool) -> Self {
        let mut clean = FxHashSet::default();
        let mut known = KnownSecrets::default();
        for text in texts {
            if note(text, &mut known) == 0 {
                clean.insert(place_of(text));
            }
        }
        Self {
            forms: SecretForms::of(&known),
            clean,
            texts: PhantomData,
            personal,
        }
    }

    /// As [`of`](Self::of), for texts that are gone once they were searched: it is not kept which of them are clean.
    pub fn of_passing(personal: bool, texts: impl FnOnce(&mut dyn FnMut(&str))) -> Self {
        let mut known = KnownSecrets::default();
        texts(&mut |text| {
            note(text, &mut known);
        });
        Self {
            forms: SecretForms::of(&known),
            personal,
            ..Self::default()
        }
    }

    /// `text` without the secrets that are recognized in it or were in the record, and how many they were.
    pub fn redact<'s>(&self, text: &'s str) -> (Cow<'s, str>, usize) {
        let (mut text, mut count) = if self.clean.contains(&place_of(text)) {
            (Cow::Borrowed(text), 0)
        } else {
            redact(text)
        };
        if let Some(forms) = &self.forms {
            let secrets = forms.secrets(&text);
            count += secrets.len();
            if !secrets.is_empty() {
                text = Cow::Owned(replaced(&text, &secrets));
            }
        }
        if self.personal {
            let data = personal(&text);
            count += data.len();
            if !data.is_empty() {
                text = Cow::Owned(replaced(&text, &data));
            }
        }
        (text, count)
    }
}

/// Secrets with their kinds.
type KnownSecrets = BTreeMap<String, &'static str>;

/// Adds the secrets that are recognized in a text. Returns how many these are.
fn note(text: &str, known: &mut KnownSecrets) -> usize {
    let (_, count) = redact_noting(text, |kind, secret| {
        for part in parts(kind, secret) {
            if is_unlike_words(&part) {
                known.entry(part).or_insert(kind);
            }
        }
    });
    count
}

/// The address and the length of a text: while it lives no other text has both.
fn place_of(text: &str) -> (usize, usize) {
    (text.as_ptr() as usize, text.len())
}

impl SecretForms {
    fn of(known: &KnownSecrets) -> Option<Self> {
        let mut forms: BTreeMap<String, (&'static str, bool)> = BTreeMap::new();
        let mut bytes = 0;
        for (secret, kind) in known {
            let written = [
                secret.clone(),
                in_json(secret),
                in_json(&in_json(secret)),
                in_address(secret, true),
                in_address(secret, false),
                in_markup(secret),
            ];
            for form in written {
                forms.entry(form).or_insert((kind, false));
            }
            if secret.len() <= LONGEST_ENCODED {
                for form in (0..3).filter_map(|offset| in_base64(secret, offset)) {
                    forms.entry(form).or_insert((kind, true));
                }
            }
            bytes += 8 * secret.len();
            if bytes > MOST_BYTES {
                break;
            }
        }
        if forms.is_empty() {
            return None;
        }
        let searcher = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(forms.keys())
            .ok()?;
        Some(Self {
            searcher,
            kinds: forms.into_values().collect(),
        })
    }

    fn secrets(&self, text: &str) -> Vec<Secret> {
        let mut secrets: Vec<Secret> = Vec::new();
        let bytes = text.as_bytes();
        for hit in self.searcher.find_iter(text) {
            let Some((kind, in_base64)) = self.kinds.get(hit.pattern().as_usize()).copied() else {
                continue;
            };
            let mut span = hit.range();
            if in_base64 {
                let holds = |byte: &&u8| Alphabet::Base64.holds(**byte) || matches!(**byte, b'-' | b'_');
                let before = bytes.get(..span.start).unwrap_or_default();
                span.start -= before
                    .iter()
                    .rev()
                    .take(LONGEST_ENCODED * 2)
                    .take_while(holds)
                    .count();
                let after = bytes.get(span.end..).unwrap_or_default();
                span.end += after.iter().take(LONGEST_ENCODED * 2).take_while(holds).count();
            }
            let done = secrets.last().map_or(0, |last| last.span.end);
            span.start = span.start.max(done);
            if span.start < span.end {
                secrets.push(Secret { span, kind });
            }
        }
        secrets
    }
}

/// Returns the parts of a secret that may stand elsewhere alone.
fn parts(kind: &str, secret: &str) -> Vec<String> {
    match kind {
        "url-credentials" => {
            let password = secret.split_once(':').map_or(secret, |(_, password)| password);
            vec![password.to_owned(), out_of_address(password)]
        }
        "authorization-header" => {
            let mut parts = vec![secret.to_owned()];
            parts.extend(decoded(secret).and_then(|pair| Some(pair.split_once(':')?.1.to_owned())));
            parts
        }
        "cookie" => {
            let pairs = secret.split(';');
            pairs
                .map(|pair| {
                    pair.split_once('=')
                        .map_or(pair, |(_, value)| value)
                        .trim()
                        .to_owned()
                })
                .collect()
        }
        "private-key" => {
            let lines = secret.split(|c: char| c.is_whitespace() || c == '\\');
            let lines = lines.map(|line| {
                line.strip_prefix('n')
                    .filter(|_| secret.contains("\\n"))
                    .unwrap_or(line)
            });
            lines
                .filter(|line| line.len() >= SHORTEST_LINE)
                .map(str::to_owned)
                .collect()
        }
        _ => vec![secret.to_owned(), out_of_address(secret)],
    }
}

/// Returns true if a secret is unlike words: only such a one is searched without its name beside it.
fn is_unlike_words(secret: &str) -> bool {
    let letters = secret.chars().filter(|c| c.is_alphabetic()).count();
    let digits = secret.bytes().filter(u8::is_ascii_digit).count();
    let signs = secret
        .chars()
        .filter(|c| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.' | ' ' | '/'))
        .count();
    let is_mixed = letters > 0 && digits > 0 && distinct(secret) >= 6;
    let is_signed = signs > 0 && distinct(secret) >= 6;
    let is_joined = secret.len() >= 20 && secret.matches(['-', '_', ' ']).count() >= 2;
    secret.len() >= SHORTEST
        && !secret.contains(MARKER)
        && !is_filler(secret)
        && (is_mixed
            || is_signed
            || is_joined
            || is_random_word(secret)
            || is_long_mixture(secret)
            || (letters == 0 && digits >= SHORTEST && distinct(secret) >= 5))
}

fn in_json(secret: &str) -> String {
    let quoted = serde_json::to_string(secret).unwrap_or_default();
    let inner = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    inner.unwrap_or(secret).to_owned()
}

/// The text as in an address: all but letters, digits and a few signs escaped.
fn in_address(secret: &str, upper: bool) -> String {
    let mut escaped = String::new();
    for byte in secret.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            escaped.push(char::from(byte));
        } else {
            let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or_default();
            let digits = [digit(byte >> 4), digit(byte & 15)];
            escaped.push('%');
            escaped.extend(digits.map(|digit| if upper { digit.to_ascii_uppercase() } else { digit }));
        }
    }
    escaped
}

/// The text without the escapes of an address.
fn out_of_address(secret: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = secret.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let escaped = match (first, tail) {
            (b'%', [a, b, ..]) => char::from(*a).to_digit(16).zip(char::from(*b).to_digit(16)),
            _ => None,
        };
        if let Some((high, low)) = escaped {
            bytes.push((high * 16 + low) as u8);
            rest = tail.get(2..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| secret.to_owned())
}

fn in_markup(secret: &str) -> String {
    secret
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// The characters in base64 that depend on the secret alone, if so many bytes (modulo three) stand before it.
fn in_base64(secret: &str, offset: usize) -> Option<String> {
    let mut bytes = vec![0; offset];
    bytes.extend_from_slice(secret.as_bytes());
    let whole = (bytes.len() * 8) / 6;
    let encoded = STANDARD_NO_PAD.encode(bytes);
    Some(encoded.get((offset * 8).div_ceil(6)..whole)?.to_owned())
}

/// Returns the text that base64 stands for, if it is one.
fn decoded(text: &str) -> Option<String> {
    let bytes = STANDARD_NO_PAD.decode(text.trim_end_matches('=')).ok()?;
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<'t>(texts: &[&'t str]) -> RecordSecrets<'t> {
        RecordSecrets::of(texts.iter().copied(), false)
    }

    #[test]
    fn a_secret_goes_wherever_it_stands() {
        let secrets = of(&["password: \"Tr0ub4dor&3x\"", "nothing"]);
        for (text, expected) in [
            ("I used Tr0ub4dor&3x there", "I used [REDACTED:password] there"),
            ("xTr0ub4dor&3xx", "x[REDACTED:password]x"),
            ("p=Tr0ub4dor%263x", "p=[REDACTED:password]"),
            ("Tr0ub4dor&amp;3x", "[REDACTED:password]"),
            ("a dXNlcjpUcjB1YjRkb3ImM3g= b", "a [REDACTED:password] b"),
            ("a Ym9iOlRyMHViNGRvciYzeA== b", "a [REDACTED:password] b"),
            ("Tr0ub4dor&4x", "Tr0ub4dor&4x"),
        ] {
            assert_eq!(secrets.redact(text).0, expected, "{text}");
        }
    }

    #[test]
    fn a_secret_in_base64_is_known_as_text_and_escaped_ones_are_too() {
        let secrets = of(&[
            "Authorization: Basic Ym9iOlRyMHViNGRvciYzeA==",
            "https://bob:p%40ss%2Fw0rd9x@host.io/",
        ]);
        for text in ["it is Tr0ub4dor&3x", "it is p@ss/w0rd9x"] {
            assert_eq!(secrets.redact(text).1, 1, "{text}");
        }
        let secrets = of(&[r#"{"password": "a\\b\"C9x!z"}"#]);
        assert_eq!(secrets.redact(r#"a\\b\"C9x!z"#).1, 1);
    }

    #[test]
    fn words_and_short_secrets_stay_elsewhere() {
        let secrets = of(&["password: \"sunflower\"", "password: \"Ab3!xy\""]);
        for text in ["a sunflower", "Ab3!xy"] {
            assert_eq!(secrets.redact(text), (Cow::Borrowed(text), 0));
        }
    }

    #[test]
    fn lines_of_a_key_are_known_alone() {
        let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7a8F3kQ9zL2mX";
        let other = "pR4tV6wB1nC5dE0gHjKsTyUqWiOxZ8vN3cM6bAa8F3kQ9zL2mX7pR4tV6wB1nC5d";
        let key = format!("-----BEGIN PRIVATE KEY-----\n{line}\n{other}\n-----END PRIVATE KEY-----");
        let secrets = of(&[&key]);
        assert_eq!(
            secrets.redact(&format!("tail: {other}")).0,
            "tail: [REDACTED:private-key]"
        );
    }

    #[test]
    fn base64_is_read_back() {
        assert_eq!(decoded("Ym9iOng=").as_deref(), Some("bob:x"));
        for offset in 0..3 {
            let text = format!("{}Tr0ub4dor&3x", "a".repeat(offset));
            let inner = in_base64("Tr0ub4dor&3x", offset).unwrap();
            assert!(whole(&text).contains(&inner), "{offset}");
        }
    }

    fn whole(text: &str) -> String {
        in_base64(text, 0).unwrap()
    }
}

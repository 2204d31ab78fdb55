//! Replaces secrets in a text by a marker of one fixed form that names their kind.

mod context;
mod keywords;
mod rules;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use keywords::Keywords;
use rules::{Context, TOKENS, Token, WORDS};

static KEYWORDS: LazyLock<Option<Keywords>> = LazyLock::new(Keywords::new);

/// `text` with every recognized secret replaced by `[REDACTED:<kind>]`, and how many were. Borrowed where there were
/// none. Redacting twice changes nothing more.
pub fn redact(text: &str) -> (Cow<'_, str>, usize) {
    let Some(keywords) = KEYWORDS.as_ref() else {
        return (Cow::Borrowed(text), 0);
    };
    let mut redacted = String::new();
    let mut done = 0;
    let mut count = 0;
    let mut from = 0;
    while let Some((rule, word)) = keywords.find(text, from) {
        from = word.end;
        if word.start < done {
            continue;
        }
        let secret = match TOKENS.get(rule) {
            Some(token) => token_span(text, token, word.start).map(|span| (span, token.kind)),
            None => WORDS
                .get(rule - TOKENS.len())
                .and_then(|(_, context)| context_span(text, *context, word)),
        };
        if let Some((span, kind)) = secret
            && let Some(between) = text.get(done..span.start)
        {
            redacted.push_str(between);
            redacted.push_str("[REDACTED:");
            redacted.push_str(kind);
            redacted.push(']');
            done = span.end;
            count += 1;
        }
    }
    if count == 0 {
        return (Cow::Borrowed(text), 0);
    }
    redacted.push_str(text.get(done..).unwrap_or_default());
    (Cow::Owned(redacted), count)
}

fn context_span(text: &str, context: Context, word: Range<usize>) -> Option<(Range<usize>, &'static str)> {
    match context {
        Context::Password => context::assigned_password(text, word).map(|span| (span, "password")),
        Context::Secret(kind) => context::assigned_secret(text, word).map(|span| (span, kind)),
        Context::Scheme => context::authorization(text, word).map(|span| (span, "authorization-header")),
        Context::Url => context::url_credentials(text, word).map(|span| (span, "url-credentials")),
        Context::Pem => context::private_key(text, word).map(|span| (span, "private-key")),
        Context::Jwt => context::json_web_token(text, word).map(|span| (span, "jwt")),
    }
}

/// The span of a token of known form that begins at `start`.
fn token_span(text: &str, token: &Token, start: usize) -> Option<Range<usize>> {
    let rest = text.get(start..)?;
    let body = rest.strip_prefix(token.prefix)?;
    if !begins_word(text, start) {
        return None;
    }
    let most = token.max + 8;
    let length = body
        .bytes()
        .take(most)
        .position(|byte| !token.class.holds(byte))
        .unwrap_or(body.len().min(most));
    let secret = body.get(..length)?.trim_end_matches(['.', '-', '_', '=', '/']);
    let fits = secret.len() >= token.min && secret.len() <= token.max;
    (fits && (looks_random(secret) || is_long_mixture(secret)))
        .then(|| start..start + token.prefix.len() + secret.len())
}

/// Whether a word begins at `at`: no letter or digit before it, unless it is the letter of a JSON escape.
fn begins_word(text: &str, at: usize) -> bool {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    let in_word = before
        .last()
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    !in_word || matches!(before, [.., b'\\', b'n' | b't' | b'r'])
}

/// Whether a text of a token's form can be one: digits among letters, and no filler like `xxxxxxxx`.
fn looks_random(secret: &str) -> bool {
    secret.bytes().any(|byte| byte.is_ascii_digit()) && distinct(secret) >= 6
}

/// Whether a text without digits can be a token all the same: many letters of both cases (Hugging Face's are such).
fn is_long_mixture(secret: &str) -> bool {
    let lower = secret.bytes().filter(u8::is_ascii_lowercase).count();
    let upper = secret.bytes().filter(u8::is_ascii_uppercase).count();
    lower >= 8 && upper >= 8 && distinct(secret) >= 12
}

/// How many different bytes there are.
fn distinct(secret: &str) -> u32 {
    let mut seen = [0_u64; 4];
    for byte in secret.bytes() {
        if let Some(cell) = seen.get_mut(usize::from(byte >> 6)) {
            *cell |= 1 << (byte & 63);
        }
    }
    seen.iter().map(|cell| cell.count_ones()).sum()
}

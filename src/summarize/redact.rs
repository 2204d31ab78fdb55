//! Replaces secrets in a text by a marker of one fixed form that names their kind.

mod assigned;
mod blocks;
mod headers;
mod keywords;
mod rules;
mod shape;
#[cfg(test)]
mod table_tests;
#[cfg(test)]
mod tests;
mod urls;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use keywords::Keywords;
use rules::{Class, Context, TOKENS, Token, WORDS};
use shape::{begins_word, is_long_mixture, is_words, looks_random};

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
        // What one word does not announce, another that begins within it may.
        from = word.start + 1;
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
            from = done.max(from);
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
    let (span, kind) = match context {
        Context::Password => (assigned::password(text, word), "password"),
        Context::VariablePassword => (assigned::variable_password(text, word), "password"),
        Context::Secret(kind) => (assigned::secret(text, word, kind), kind),
        Context::VariableKey => (assigned::variable_key(text, word), "key"),
        Context::Session => (assigned::session(text, word), "cookie"),
        Context::Scheme => (headers::authorization(text, word), "authorization-header"),
        Context::Header => (headers::other_scheme(text, word), "authorization-header"),
        Context::Cookie => (headers::cookies(text, word), "cookie"),
        Context::Url => (urls::credentials(text, word), "url-credentials"),
        Context::Parameter => (urls::parameter(text, word), "url-signature"),
        Context::Option => (urls::option(text, word), "password"),
        Context::Pem => (blocks::private_key(text, word), "private-key"),
        Context::Jwt => (blocks::json_web_token(text, word), "jwt"),
        Context::Telegram => {
            let token = blocks::around(text, word, (Class::Digit, 8, 10), (Class::Url, 33, 33));
            (token, "telegram-token")
        }
        Context::Terraform => {
            let token = blocks::around(text, word, (Class::Alnum, 14, 14), (Class::Url, 60, 70));
            (token, "terraform-token")
        }
    };
    Some((span?, kind))
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
    let is_filler = is_words(secret) || secret.ends_with("EXAMPLE");
    (fits && !is_filler && (looks_random(secret) || is_long_mixture(secret)))
        .then(|| start..start + token.prefix.len() + secret.len())
}

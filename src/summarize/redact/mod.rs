//! Replaces secrets in a text by a marker of one fixed form that names their kind.

mod alphabet;
mod assigned;
mod colour;
mod contexts;
mod keywords;
mod log_prefix;
mod personal;
mod prefix;
mod record;
mod secret;
#[cfg(test)]
mod table_tests;
#[cfg(test)]
mod tests;
mod tokens;
mod value;
mod words;

use std::borrow::Cow;
use std::sync::LazyLock;

use keywords::Keywords;
pub use record::RecordSecrets;
use secret::{MARKER, Secret};

static KEYWORDS: LazyLock<Keywords> = LazyLock::new(Keywords::new);

/// Maximum passes over a text: the first one can leave secrets only where two of them meet.
const MAX_PASSES: usize = 4;

/// Bytes from a word up to which a secret begins whose inside is not searched again.
const MAX_NEAR: usize = 200;

/// `text` with every recognized secret replaced by `[REDACTED:<kind>]`, and how many were. Borrowed where there were
/// none. Redacting twice changes nothing more.
pub fn redact(text: &str) -> (Cow<'_, str>, usize) {
    redact_noting(text, |_, _| ())
}

/// As [`redact`]; calls `note` with the kind and the text of each secret.
fn redact_noting(text: &str, mut note: impl FnMut(&'static str, &str)) -> (Cow<'_, str>, usize) {
    let mut text = Cow::Borrowed(text);
    let mut count = 0;
    for _ in 0..MAX_PASSES {
        let secrets = secrets(&text);
        if secrets.is_empty() {
            break;
        }
        count += secrets.len();
        for secret in &secrets {
            note(secret.kind, text.get(secret.span.clone()).unwrap_or_default());
        }
        text = Cow::Owned(replaced(&text, &secrets));
    }
    (text, count)
}

/// `text` with these secrets replaced, which are in order and do not overlap.
fn replaced(text: &str, secrets: &[Secret]) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut done = 0;
    for secret in secrets {
        redacted.push_str(text.get(done..secret.span.start).unwrap_or_default());
        redacted.push_str(MARKER);
        redacted.push_str(secret.kind);
        redacted.push(']');
        done = secret.span.end;
    }
    redacted.push_str(text.get(done..).unwrap_or_default());
    redacted
}

/// The kind that a secret's form shows, if any; its surroundings may have shown another.
fn kind_by_form(text: &str, secret: &Secret) -> Option<&'static str> {
    let start = secret.span.start;
    let text = text.get(..secret.span.end)?;
    let (mut rules, _) = KEYWORDS.find(text, start).filter(|(_, at)| *at == start)?;
    rules.find_map(|(length, rule)| {
        let found = rule.secrets(text, start..start + length);
        let same = found.into_iter().find(|found| found.span == secret.span)?;
        Some(same.kind)
    })
}

/// The secrets of a text, in order, without overlaps.
fn secrets(text: &str) -> Vec<Secret> {
    let mut secrets: Vec<Secret> = Vec::new();
    let keywords = &*KEYWORDS;
    let mut from = 0;
    while let Some((rules, start)) = keywords.find(text, from) {
        // If one word announces nothing, another that begins within it may.
        from = start + 1;
        if text.get(start..).is_some_and(|rest| rest.starts_with(MARKER)) {
            from = start + MARKER.len();
            from += text.get(from..).and_then(|rest| rest.find(']')).unwrap_or(0);
            continue;
        }
        for (length, rule) in rules {
            let mut found = rule.secrets(text, start..start + length);
            if found.is_empty() {
                continue;
            }
            for secret in &mut found {
                secret.kind = kind_by_form(text, secret).unwrap_or(secret.kind);
            }
            // The inside of a secret this close to its word is not searched.
            if let [secret] = found.as_slice()
                && (start..start + MAX_NEAR).contains(&secret.span.start)
            {
                from = secret.span.end.max(from);
            }
            secrets.extend(found);
            break;
        }
    }
    secrets.retain(|secret| {
        text.get(secret.span.clone())
            .is_some_and(|value| !value.is_empty())
    });
    secrets.sort_by_key(|secret| (secret.span.start, std::cmp::Reverse(secret.span.end)));
    let mut done = 0;
    secrets.retain(|secret| {
        let is_apart = secret.span.start >= done;
        if is_apart {
            done = secret.span.end;
        }
        is_apart
    });
    secrets
}

//! Secrets that are said to a server or typed into a session, and those that stand in the texts of code that go there.

use std::ops::Range;

use super::places::{is_given, lines_after, span_of};
use crate::summarize::redact::prefix::{own, own_line};
use crate::summarize::redact::value::shape::{
    head, is_joined_words, is_password, is_random_word, is_strong_mixture,
};

/// Bytes behind a word in which its secret is searched.
const MAX_AFTER: usize = 600;

/// Maximum bytes between a word and its text.
const MAX_NEAR: usize = 80;

/// Most lines that are read.
const MAX_LINES: usize = 40;

/// Returns true if a text can be a secret where something near it says that one is there.
fn is_likely(secret: &str) -> bool {
    is_given(secret)
        && !secret.contains(' ')
        && (is_password(secret)
            || is_strong_mixture(secret)
            || is_joined_words(secret)
            || is_random_word(secret))
}

/// The secret of `AUTH secret` or `AUTH user secret`, as a line of its own or a text.
pub fn redis_auth(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let is_command = text.get(word.clone())? == "AUTH "
        && own_line(text.as_bytes().get(..word.start)?)
            .trim_ascii()
            .is_empty();
    let line = head(text.get(word.end..)?, MAX_AFTER / 3)
        .split(['\n', '\r', '"', '`'])
        .next()?;
    let line = line.split("\\n").next()?;
    let mut words = line.split_ascii_whitespace();
    let first = words.next()?;
    let secret = words.next().unwrap_or(first).trim_matches('\'');
    let is_mail = ["PLAIN", "LOGIN", "XOAUTH2", "CRAM-MD5", "TLS", "SSL"].contains(&first);
    (is_command && !is_mail && words.next().is_none() && is_given(secret)).then(|| span_of(text, secret))?
}

/// The passwords of `ACL SETUSER bob on >secret ~* +@all`, or of such a rule without the command.
pub fn acl(text: &str, word: Range<usize>) -> Vec<Range<usize>> {
    let is_rule = text.get(word.clone()).is_some_and(|word| word.ends_with('>'));
    let rest = text.get(word.end - usize::from(is_rule)..).unwrap_or_default();
    let line = head(rest, MAX_AFTER).split('\n').next().unwrap_or_default();
    let line = line.split("\\n").next().unwrap_or_default();
    let words = line.split([' ', '"', '\'']).skip(usize::from(!is_rule));
    let secrets = words
        .filter_map(|word| word.strip_prefix('>'))
        .filter(|secret| is_given(secret));
    // Without the command only other parts of a rule show that it is one.
    let is_told = !is_rule || line.contains(" ~") || line.contains(" +") || line.contains(" &");
    secrets
        .filter(|_| is_told)
        .filter_map(|secret| span_of(text, secret))
        .collect()
}

/// The text before its word: `"secret".toCharArray()`.
pub fn text_before(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let from = text.floor_char_boundary(word.start.saturating_sub(MAX_NEAR));
    let before = text.get(from..word.start)?;
    let inner = before.strip_suffix("\\\"").or_else(|| before.strip_suffix('"'))?;
    let secret = inner.rsplit('"').next()?;
    is_likely(secret).then(|| span_of(text, secret))?
}

/// The secret of the text `user:secret` that stands near behind its word.
pub fn pair_text(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let rest = head(text.get(word.end..)?, MAX_AFTER / 2).split('\n').next()?;
    let open = rest.find(['"', '\'', '`']).filter(|open| *open < MAX_NEAR)?;
    let quote = rest.get(open..)?.chars().next()?;
    let inner = rest.get(open + 1..)?.split(quote).next()?.trim_end_matches('\\');
    let (user, secret) = inner.split_once(':')?;
    let is_user = !user.is_empty()
        && user.len() < 64
        && user
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._@-".contains(&byte));
    (is_user && !secret.starts_with('/') && is_likely(secret)).then(|| span_of(text, secret))?
}

/// The second texts of the lines that hold two: `"user" "secret"`.
pub fn quoted_pairs(text: &str, word: Range<usize>) -> Vec<Range<usize>> {
    let lines = lines_after(text, word.end).skip(1).take(MAX_LINES).map(own);
    let secrets = lines.filter_map(|line| {
        let line = line.trim();
        let mut parts = line.split('"').map(|part| part.trim_end_matches('\\'));
        let (before, user, between, secret) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let is_pair = before.is_empty() && between.trim().is_empty() && !user.is_empty();
        (is_pair && is_given(secret)).then(|| span_of(text, secret))?
    });
    secrets.collect()
}

/// The secret of `a1 LOGIN user secret`.
pub fn imap_login(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let tag = own_line(text.as_bytes().get(..word.start)?).trim_ascii();
    let is_tag = text.get(word.clone())? == " LOGIN "
        && (1..=8).contains(&tag.len())
        && tag
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'*'));
    let line = head(text.get(word.end..)?, MAX_AFTER / 2)
        .split(['\n', '\r'])
        .next()?
        .split("\\n")
        .next()?;
    let mut words = line.split(' ').map(|word| word.trim_matches(['"', '\\']));
    let (_, secret) = (words.next()?, words.next()?);
    (is_tag && words.next().is_none() && is_given(secret)).then(|| span_of(text, secret))?
}

/// The keys typed into a terminal, if a word beside them says that they are a password.
pub fn keys(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let from = text.floor_char_boundary(word.start.saturating_sub(MAX_AFTER / 3));
    let rest = head(text.get(word.end..)?, MAX_AFTER / 3);
    let line = rest.split('\n').next()?;
    let around = [text.get(from..word.start)?, line].concat().to_ascii_lowercase();
    let is_told = ["password", "passphrase", "passcode"]
        .iter()
        .any(|name| around.contains(name));
    let mut parts = line.split(['"', '\'']).map(|part| {
        part.trim_end_matches(['\\'])
            .trim_end_matches("\\n")
            .trim_end_matches("\\r")
    });
    let secret = parts.find(|part| is_likely(part))?;
    is_told.then(|| span_of(text, secret))?
}

/// The passwords that a program found for hashes: `secret         (user)`, `hash:secret`.
pub fn cracked(text: &str, word: Range<usize>) -> Vec<Range<usize>> {
    let from = text.floor_char_boundary(word.start.saturating_sub(MAX_AFTER));
    let near = text
        .get(from..)
        .map(|rest| head(rest, 2 * MAX_AFTER))
        .unwrap_or_default();
    let secrets = near
        .split('\n')
        .flat_map(|line| line.split("\\n"))
        .take(MAX_LINES)
        .map(own)
        .filter_map(|line| {
            let line = line.trim();
            let of_user = line.strip_suffix(')').and_then(|line| {
                let (secret, user) = line.split_once(' ')?;
                let user = user.trim_start().strip_prefix('(')?;
                (!user.contains(' ')).then_some(secret)
            });
            let of_hash = line.split_once(':').and_then(|(hash, secret)| {
                let is_hash = hash.len() >= 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
                    || hash.starts_with('$') && hash.len() > 20;
                is_hash.then_some(secret)
            });
            let secret = of_user.or(of_hash)?;
            (is_given(secret) && !secret.contains([' ', ':'])).then(|| span_of(text, secret))?
        });
    secrets.collect()
}

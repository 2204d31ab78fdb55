//! Commands that are run, not mentioned: any word in the place of the secret is one there.

use crate::summarize::redact::value::is_reference;
use crate::summarize::redact::value::shape::{is_filler, is_path};
use crate::summarize::redact::value::word_lists::{REDIS_WORDS, SSH_COMMANDS};

/// The words that follow the secret of a command where it is run.
fn followers(command: &str) -> &'static [&'static str] {
    match command {
        "redis-cli " | "valkey-cli " | "keydb-cli " => &REDIS_WORDS,
        "sshpass " => &SSH_COMMANDS,
        _ => &[],
    }
}

/// Returns true if `secret`, a word of a command, is a secret by the words around it.
pub fn is_used<'t>(program: &str, mut words: impl Iterator<Item = &'t str>, secret: &str) -> bool {
    let is_run = if program == "net use " {
        words.any(|word| word.starts_with("/user:"))
    } else {
        let next = words.skip_while(|word| *word != secret).nth(1);
        next.is_some_and(|next| followers(program).contains(&next))
    };
    is_run && is_any(secret)
}

/// Returns true if an argument in the place of a secret can be any one, a word among them.
fn is_any(secret: &str) -> bool {
    secret.len() >= 4
        && !is_reference(secret)
        && !is_filler(secret)
        && !is_path(secret)
        && !secret.starts_with(['-', '/'])
        && !secret.contains("REDACTED")
}

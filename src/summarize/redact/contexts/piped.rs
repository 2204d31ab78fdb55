//! Secrets that are piped into a command, or given to it as a here-string or a here-document.

use std::ops::Range;

use super::command_words::{CommandWord, MAX_COMMAND, words};
use crate::summarize::redact::prefix::own_line;
use crate::summarize::redact::value::is_reference;
use crate::summarize::redact::value::shape::{head, is_filler, is_path};

/// The secret that is piped into a command, or given to it as a here-string: `echo secret | sudo -S …`. With `is_pair`,
/// the part behind the colon of `user:secret`.
pub fn piped(text: &str, word: Range<usize>, is_pair: bool) -> Vec<Range<usize>> {
    let line_start = word.start - own_line(text.as_bytes().get(..word.start).unwrap_or_default()).len();
    let is_secret = |secret: &str| {
        let least = if is_pair { 4 } else { 3 };
        secret.len() >= least
            && !is_reference(secret)
            && !is_filler(secret)
            && !secret.contains("REDACTED")
            && !is_path(secret)
    };
    let secret_of = |word: &CommandWord<'_>| {
        let text = word.text.trim_end_matches("\\n");
        let skip = if is_pair { text.find(':')? + 1 } else { 0 };
        let secret = text.get(skip..)?;
        is_secret(secret).then(|| word.start + skip..word.start + text.len())
    };
    let line = text.get(line_start..word.start).unwrap_or_default();
    for program in ["echo ", "printf ", "Write-Output "] {
        if let Some(at) = line.rfind(program)
            && line.get(at..).is_some_and(|rest| rest.contains('|'))
        {
            let words = words(text, line_start + at + program.len());
            let mut plain = words
                .iter()
                .filter(|word| !(word.text.starts_with('-') && word.text.len() < 4));
            let told = plain.find(|word| !word.text.starts_with('%'));
            return told.and_then(secret_of).into_iter().collect();
        }
    }
    let after = head(text.get(word.end..).unwrap_or_default(), MAX_COMMAND * 4);
    let after_line = after.split('\n').next().unwrap_or_default();
    if let Some(at) = after_line
        .get(..after_line.len().min(MAX_COMMAND))
        .and_then(|line| line.find("<<<"))
    {
        return words(text, word.end + at + 3)
            .first()
            .and_then(secret_of)
            .into_iter()
            .collect();
    }
    if !is_pair {
        return Vec::new();
    }
    // A here-document: lines of `user:secret`.
    let Some(mark) = after_line.find("<<").and_then(|at| after_line.get(at + 2..)) else {
        return Vec::new();
    };
    let mark = mark.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let mut at = word.end + after_line.len() + 1;
    let mut spans = Vec::new();
    for line in after
        .split('\n')
        .skip(1)
        .take(100)
        .take_while(|line| line.trim() != mark)
    {
        spans.extend(secret_of(&CommandWord {
            text: line,
            start: at,
        }));
        at += line.len() + 1;
    }
    spans
}

//! What a program puts around a task: an example of how to work, an order about the form of answers, a list of functions.

use std::ops::Range;

use serde::Deserialize;

use super::searched::SearchedText;

/// Frames of one text that are looked for at most.
const MAX_FRAMES: usize = 8;

/// The marks around what a program puts around a task.
#[derive(Debug, Deserialize)]
pub(super) struct Frame {
    opens: SearchedText,
    closes: SearchedText,
    #[cfg(test)]
    pub example: String,
    #[cfg(test)]
    pub counterexample: String,
}

/// The beginning and the end of a line that introduces a list of functions: the name of an environment stands between them.
#[derive(Debug, Deserialize)]
pub(super) struct FunctionList {
    starts: String,
    ends: String,
    #[cfg(test)]
    pub example: String,
    #[cfg(test)]
    pub counterexample: String,
}

/// A text without frames and lists of functions; `None` if it has none.
pub(super) fn taken_out(text: &str, frames: &[Frame], lists: &[FunctionList]) -> Option<String> {
    let mut left: Option<String> = None;
    for _ in 0..MAX_FRAMES {
        let now = left.as_deref().unwrap_or(text);
        let framed = frames.iter().find_map(|row| row.within(now));
        let Some(found) = framed.or_else(|| lists.iter().find_map(|row| row.within(now))) else {
            break;
        };
        let parts = [now.get(..found.start), now.get(found.end..)].map(Option::unwrap_or_default);
        left = Some(parts.concat().trim().to_owned());
    }
    left
}

impl Frame {
    /// Its first place in a text.
    fn within(&self, text: &str) -> Option<Range<usize>> {
        let mut starts = self.opens.0.find_iter(text.as_bytes());
        let start = starts.find(|at| {
            let before = text.get(..*at).unwrap_or_default().trim_end_matches([' ', '\t']);
            before.is_empty() || before.ends_with('\n')
        })?;
        let behind = text.as_bytes().get(start..)?;
        let end = start + self.closes.0.find(behind)? + self.closes.0.needle().len();
        Some(start..end)
    }
}

impl FunctionList {
    /// The list that a text begins with: the line that introduces it, and signatures, each with indented lines that explain it.
    fn within(&self, text: &str) -> Option<Range<usize>> {
        let rest = text.strip_prefix(self.starts.as_str())?;
        let (first, list) = rest.split_once('\n')?;
        let environment = first.trim_end().strip_suffix(self.ends.as_str())?;
        let begins = list.lines().find(|line| !line.trim().is_empty())?;
        if environment.contains(' ') || !is_signature(begins) {
            return None;
        }
        let is_part =
            |line: &&str| line.starts_with([' ', '\t']) || line.trim().is_empty() || is_signature(line);
        let length: usize = list.split_inclusive('\n').take_while(is_part).map(str::len).sum();
        Some(0..text.len() - list.len() + length)
    }
}

/// If a line is the signature of a function: `select(bid: str) -> None`.
fn is_signature(line: &str) -> bool {
    let line = line.trim_end();
    let Some((name, rest)) = line.split_once('(') else {
        return false;
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_.".contains(&byte);
    !name.is_empty() && name.bytes().all(is_name) && (rest.ends_with(')') || rest.contains(") -> "))
}

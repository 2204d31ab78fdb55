//! The texts that a command replaces or deletes in files: by `sed` and `perl`, and by scripts that call `replace`.

use rustc_hash::FxHashSet;

use super::programs::Does;
use super::step::Step;
use super::{Command, Statement};
use crate::events::line::{cleaned, is_telling, lines_of};
use crate::events::written::python_text;

/// Texts of one command that are looked at.
const MAX_TEXTS: usize = 64;

/// Longest command that is looked at, in bytes.
const MAX_COMMAND: usize = 32_000;

/// Letters of the shortest pattern that is looked for in lines.
const MIN_PATTERN: usize = 4;

/// A text that is in a file no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReplacedText {
    /// A line, or a part of one.
    Line(String),
    /// The parts of a pattern, in order, and what takes their place: any line that has them was changed.
    Parts(Vec<String>, String),
}

impl ReplacedText {
    pub fn into_line(self) -> Option<String> {
        match self {
            Self::Line(line) => Some(line),
            Self::Parts(..) => None,
        }
    }

    /// The text that takes its place.
    pub fn by(&self) -> Option<&str> {
        match self {
            Self::Line(_) => None,
            Self::Parts(_, by) => Some(by.as_str()).filter(|by| by.len() >= MIN_PATTERN),
        }
    }

    /// If a line was changed that has all parts of it.
    pub fn is_in(&self, line: &str) -> bool {
        match self {
            Self::Line(text) => line.contains(text),
            Self::Parts(parts, _) => {
                let mut rest = line;
                parts.iter().all(|part| match rest.split_once(part.as_str()) {
                    Some((_, behind)) => {
                        rest = behind;
                        true
                    }
                    None => false,
                })
            }
        }
    }
}

/// The texts that a command replaces or deletes.
pub(crate) fn replaced_by(command: &str) -> Vec<ReplacedText> {
    if command.len() > MAX_COMMAND {
        return Vec::new();
    }
    let statements = Command::read(command).statements;
    let found = statements.iter().flat_map(of_statement);
    found.take(MAX_TEXTS).collect()
}

fn of_statement(statement: &Statement) -> Vec<ReplacedText> {
    let Some((does, _, words)) = statement.program() else {
        return Vec::new();
    };
    let code = words
        .windows(2)
        .find(|pair| matches!(pair, [flag, _] if flag.text == "-c"));
    match does {
        Does::Streams if statement.touches.iter().any(|touch| touch.step == Step::Write) => {
            let scripts = words.iter().flat_map(|word| word.text.split(['\n', ';']));
            scripts.filter_map(|script| pattern_of(script.trim())).collect()
        }
        Does::Interprets => match code {
            Some([_, code]) => replaced_in(&code.text),
            _ => replaced_in(&statement.document),
        },
        _ => Vec::new(),
    }
}

/// The pattern of a script that deletes lines, `/a/d`, or replaces a text, `s/a/b/`.
fn pattern_of(script: &str) -> Option<ReplacedText> {
    let (parts, by) = if let Some(address) = script.strip_prefix('/') {
        let (pattern, rest) = until(address, '/')?;
        // Of what is done to some lines only, it is not known to which.
        (rest == "d")
            .then(|| parts_of(pattern))?
            .map(|parts| (parts, ""))?
    } else {
        let replaced = script.strip_prefix('s')?;
        let sign = replaced.chars().next().filter(char::is_ascii_punctuation)?;
        let (replaced, rest) = until(replaced.get(1..)?, sign)?;
        let (by, _) = until(rest, sign)?;
        let parts = parts_of(replaced)?;
        // It stays, and something is put beside it.
        let stays = by.contains('&') || ReplacedText::Parts(parts.clone(), String::new()).is_in(by);
        (!stays).then_some((parts, by))?
    };
    let length: usize = parts.iter().map(String::len).sum();
    (length >= MIN_PATTERN).then(|| ReplacedText::Parts(parts, by.to_owned()))
}

/// A text up to a sign without a backslash before it, and what follows that.
fn until(text: &str, sign: char) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    let at = text.find(|c: char| {
        let is_end = c == sign && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    })?;
    Some((text.get(..at)?, text.get(at + sign.len_utf8()..)?))
}

/// The texts of a regular expression that stand in all that it matches; none of one with alternatives, or that matches in some places only.
fn parts_of(pattern: &str) -> Option<Vec<String>> {
    let mut parts = vec![String::new()];
    let mut signs = pattern.chars();
    while let Some(sign) = signs.next() {
        let literal = match sign {
            '|' | '^' | '$' => return None,
            '\\' => match signs.next()? {
                'b' | 'B' | '<' | '>' | '|' => return None,
                next => Some(next).filter(|next| {
                    matches!(next, '.' | '/' | '*' | '[' | ']' | '"' | '\'' | '-' | '$' | '^')
                }),
            },
            '[' => {
                signs.find(|sign| *sign == ']');
                None
            }
            // The sign before it may be missing.
            '*' | '?' => {
                parts.last_mut().and_then(String::pop);
                None
            }
            '.' | '+' | '(' | ')' | '{' | '}' | ']' => None,
            sign => Some(sign),
        };
        match (literal, parts.last_mut()) {
            (Some(sign), Some(part)) => part.push(sign),
            _ => parts.push(String::new()),
        }
    }
    let parts = parts.iter().map(|part| cleaned(part.trim()));
    Some(parts.filter(|part| !part.is_empty()).collect())
}

/// The texts that a Python script replaces: `text.replace('a', 'b')`.
fn replaced_in(code: &str) -> Vec<ReplacedText> {
    let calls = code.match_indices(".replace(").take(MAX_TEXTS);
    let found = calls.filter_map(|(at, call)| {
        let (old, rest) = text_at(code, code.get(at + call.len()..)?)?;
        let (new, _) = text_at(code, rest.trim_start().strip_prefix(',')?)?;
        Some((old, new)).filter(|(old, new)| !new.contains(old.as_str()))
    });
    found
        .flat_map(|(old, new)| {
            if old.contains('\n') {
                let stays: FxHashSet<&str> = lines_of(&new).map(str::trim).collect();
                let gone = lines_of(&old).filter(|line| is_telling(line) && !stays.contains(line.trim()));
                gone.map(|line| ReplacedText::Line(cleaned(line))).collect()
            } else if old.len() >= MIN_PATTERN {
                vec![ReplacedText::Parts(vec![cleaned(&old)], cleaned(&new))]
            } else {
                Vec::new()
            }
        })
        .collect()
}

/// The text that stands at the beginning of `rest`, or that a name there stands for, and what follows it.
fn text_at<'c>(code: &str, rest: &'c str) -> Option<(String, &'c str)> {
    let rest = rest.trim_start();
    python_text(rest).or_else(|| {
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'))?;
        let (name, behind) = rest.split_at_checked(end).filter(|(name, _)| !name.is_empty())?;
        let mut assigned = code.match_indices(name);
        assigned.find_map(|(at, _)| {
            let is_start = code.get(..at)?.ends_with(['\n', ';', ' ']) || at == 0;
            let value = code.get(at + name.len()..)?.trim_start().strip_prefix('=')?;
            let (text, _) = python_text(value.trim_start()).filter(|_| is_start)?;
            Some((text, behind))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_that_a_command_replaces_or_deletes() {
        for (command, line, is_gone) in [
            ("sed -i '/timecop/d' a.rb", "require \"timecop\"", true),
            (
                "sed -i 's/new(jitter: 0)/new(jitter: 1)/' a.rb",
                "x = new(jitter: 0)",
                true,
            ),
            (
                "sed -i 's/new(jitter: 0)/new(jitter: 1)/' a.rb",
                "x = new(jitter: 2)",
                false,
            ),
            ("sed -i -e 's|a/b.c|d|' a.rb", "see a/b.c", true),
            ("sed -i '5,9d' a.rb", "require", false),
            ("sed -n '/timecop/p' a.rb", "timecop", false),
            ("sed '/timecop/d' a.rb", "timecop", false),
            // Something is put beside it.
            ("sed -i 's/import os/&\\nimport re/' a.py", "import os", false),
            ("sed -i 's/import os/import os, re/' a.py", "import os", false),
            ("sed -i 's/alpha.*omega/x/' a.py", "alpha beta omega", true),
            ("sed -i 's/omega.*alpha/x/' a.py", "alpha beta omega", false),
            ("perl -pi -e 's/alpha/x/' a.pl", "my $alpha;", true),
            ("sed -i 's/alpha|beta/x/' a.py", "alpha", false),
            ("sed -i 's/\\bcounter\\b/total/' a.py", "counters(1)", false),
            ("sed -i '/^import yaml$/d' a.py", "import yaml_loader as y", false),
            (
                "sed -i '/legacy/s/strict=True/strict=False/' a.py",
                "run(strict=True)",
                false,
            ),
            (
                "python3 - <<'E'\np='a.cc'\ns=open(p).read()\ns=s.replace('\\nCounter g{\"a\"};\\n','')\nopen(p,'w').write(s)\nE",
                "Counter g{\"a\"};",
                true,
            ),
            (
                "python3 - <<'E'\nold = '''one = 1\ntwo = other(2)'''\nnew = '''one = 1'''\ns = s.replace(old, new)\nE",
                "two = other(2)",
                true,
            ),
            (
                "python3 - <<'E'\nold = '''one = 1\ntwo = other(2)'''\nnew = '''one = 1'''\ns = s.replace(old, new)\nE",
                "one = 1",
                false,
            ),
            ("python3 -c \"s.replace('one', 'one two')\"", "one", false),
            ("python3 -c \"s.replace('alpha', name)\"", "alpha", false),
        ] {
            let found = replaced_by(command);
            assert_eq!(
                found.iter().any(|text| text.is_in(line)),
                is_gone,
                "{command}: {found:?}"
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_written_is_read_without_fail(code in "(\\.replace\\(|'|\"|'''|\\\\|, ?|s/|/d|\\[|\\*|é|\n|a|=|r'){0,40}") {
            let _ = replaced_in(&code);
            let _ = code.split('\n').filter_map(pattern_of).count();
        }
    }
}

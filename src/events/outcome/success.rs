//! Whether an answer says that what was asked was done.

use super::Outcome;
use super::error_line::refuses;
use crate::events::target::Target;

/// Longest line looked at, in bytes.
const MAX_LINE: usize = 300;

/// Words that say that something was done.
const DONE: [&str; 26] = [
    "added",
    "appended",
    "applied",
    "completed",
    "copied",
    "created",
    "deleted",
    "done",
    "edited",
    "inserted",
    "modified",
    "moved",
    "ok",
    "removed",
    "replaced",
    "reverted",
    "saved",
    "succeeded",
    "success",
    "successful",
    "successfully",
    "true",
    "undone",
    "updated",
    "written",
    "wrote",
];

/// Words that say that it was not.
const NOT_DONE: [&str; 18] = [
    "but", "can't", "cannot", "couldn't", "denied", "error", "failed", "false", "invalid", "never", "no",
    "not", "nothing", "refused", "rejected", "unable", "warning", "wasn't",
];

/// For each first letter a bit for each length that one of these words has: most others are told by these.
const LENGTHS: [u32; 26] = {
    let mut lengths = [0; 26];
    let mut at = 0;
    while at < DONE.len() + NOT_DONE.len() {
        let word = if at < DONE.len() {
            DONE[at]
        } else {
            NOT_DONE[at - DONE.len()]
        };
        lengths[(word.as_bytes()[0] - b'a') as usize] |= 1 << word.len();
        at += 1;
    }
    lengths
};

/// Whether the first line of `text` says that something was done, and nothing that it was not.
pub(crate) fn says_done(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    if line.len() > MAX_LINE {
        return false;
    }
    let line = line.to_ascii_lowercase();
    let mut says = false;
    // A path is one word, whatever names are in it.
    for word in line.split_whitespace() {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let first = word.as_bytes().first().map(|first| first.wrapping_sub(b'a'));
        let lengths = first.and_then(|first| LENGTHS.get(usize::from(first)));
        if word.len() >= 32 || lengths.is_none_or(|lengths| lengths >> word.len() & 1 == 0) {
            continue;
        }
        if NOT_DONE.binary_search(&word).is_ok() {
            return false;
        }
        says |= DONE.binary_search(&word).is_ok();
    }
    says
}

/// Whether an edit changed nothing, since it failed. A command may have written its file and failed at something after.
pub(crate) fn changed_nothing(target: &Target, outcome: &Outcome) -> bool {
    if outcome.failed != Some(true) {
        return false;
    }
    let command = target
        .key
        .split_once(": ")
        .filter(|(name, _)| !name.contains(' '));
    let (Some((_, command)), Some(error)) = (command, outcome.error.as_deref()) else {
        return true;
    };
    let program = command.split_whitespace().next().unwrap_or_default();
    let of_program = error
        .strip_prefix(program)
        .is_some_and(|rest| rest.starts_with(':'));
    // Of several statements any may have been refused.
    let is_single = !command.trim_end().contains(['\n', ';', '&', '|']);
    let of_file = || target.file.as_deref().is_some_and(|file| error.contains(file));
    matches!(program, "create" | "edit")
        || of_program
        || refuses(error) && (is_single || of_file())
        || error.split(':').next().is_some_and(|name| name.ends_with("sh")) && of_file()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::target::Effect;

    #[test]
    fn only_what_says_so_is_done() {
        assert!(DONE.is_sorted() && NOT_DONE.is_sorted());
        for text in [
            "The file /a/not/b.py has been edited. Here's the result",
            "File created successfully at: /a/b.py",
            "Wrote 5 bytes to c\nnot more",
            "ok",
            "success: true",
        ] {
            assert!(says_done(text), "{text}");
        }
        for text in [
            "",
            "Permission denied: /etc/app.conf",
            "The file was not created",
            "No changes written",
            "7: x",
            "success: false",
        ] {
            assert!(!says_done(text), "{text}");
        }
    }

    #[test]
    fn a_failed_edit_changed_nothing_but_a_script_may_have() {
        let nothing = |key: &str, file: &str, error: Option<&str>| {
            let target = Target {
                line: key.to_owned(),
                key: key.to_owned(),
                effect: Effect::Modify,
                file: Some(file.to_owned()),
                ..Target::default()
            };
            let outcome = Outcome {
                failed: Some(true),
                error: error.map(str::to_owned),
                ..Outcome::default()
            };
            changed_nothing(&target, &outcome)
        };
        assert!(nothing("write_file  /a", "/a", Some("Error: disk full")));
        assert!(nothing("sh: rm /a", "/a", Some("rm: cannot remove '/a'")));
        assert!(nothing(
            "sh: echo x > /a",
            "/a",
            Some("bash: /a: Permission denied")
        ));
        assert!(nothing("sh: rm /a", "/a", None));
        assert!(nothing("sh: open a.py", "a.py", Some("File a.py not found")));
        let compound = "sh: sed -i s/x/y/ a.py && python a.py";
        assert!(!nothing(compound, "a.py", Some("File b.py not found")));
        assert!(nothing(compound, "a.py", Some("File a.py not found")));
        assert!(!nothing("sh: cat > a.py <<E", "a.py", Some("ValueError: x")));
        assert!(!nothing(
            ": sed -i s/x/y/ a.py && pytest",
            "a.py",
            Some("bash: pytest: command not found")
        ));
    }
}

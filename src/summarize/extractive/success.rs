//! Whether an answer says that what was asked was done.

use super::error_line::refuses;
use super::outcome::Outcome;
use super::target::Target;

/// Longest line looked at, in bytes.
const MAX_LINE: usize = 300;

const DONE: [&str; 26] = [
    "ok",
    "done",
    "success",
    "successful",
    "successfully",
    "succeeded",
    "created",
    "edited",
    "written",
    "wrote",
    "updated",
    "saved",
    "replaced",
    "inserted",
    "deleted",
    "removed",
    "moved",
    "copied",
    "applied",
    "modified",
    "added",
    "appended",
    "reverted",
    "undone",
    "true",
    "completed",
];

const NOT_DONE: [&str; 18] = [
    "not", "no", "cannot", "can't", "couldn't", "wasn't", "unable", "denied", "failed", "refused",
    "rejected", "false", "invalid", "error", "never", "nothing", "warning", "but",
];

/// Whether the first line of `text` says that something was done, and nothing that it was not.
pub(super) fn says_done(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    if line.len() > MAX_LINE {
        return false;
    }
    let mut says = false;
    // A path is one word, whatever names are in it.
    for word in line.split_whitespace() {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_among = |words: &[&str]| words.iter().any(|known| known.eq_ignore_ascii_case(word));
        if is_among(&NOT_DONE) {
            return false;
        }
        says |= is_among(&DONE);
    }
    says
}

/// Whether an edit changed nothing, since it failed. A command may have written its file and failed at something after.
pub(in crate::summarize) fn changed_nothing(target: &Target, outcome: &Outcome) -> bool {
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
    use crate::summarize::extractive::target::Effect;

    #[test]
    fn only_what_says_so_is_done() {
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
                directory: None,
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

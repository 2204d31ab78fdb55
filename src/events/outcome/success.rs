//! Edits that changed nothing.

use super::error_line::refuses;
use super::status::Outcome;
use crate::events::shell::programs::is_editor;
use crate::events::target::Target;

/// Returns true if an edit failed and so changed nothing. A command may have written its file and failed at something after.
pub(crate) fn changed_nothing(target: &Target, outcome: &Outcome) -> bool {
    if outcome.failed() != Some(true) {
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
    is_editor(program)
        || of_program
        || refuses(error) && (is_single || of_file())
        || error.split(':').next().is_some_and(|name| name.ends_with("sh")) && of_file()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::outcome::status::CallStatus;
    use crate::events::target::Effect;

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
                status: CallStatus::Failed,
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

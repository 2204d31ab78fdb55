//! Packages that came to be installed.

use crate::events::event::Event;
use crate::events::outcome::status::Outcome;
use crate::events::run::ProgramRun;
use crate::events::shell::programs::flags;

/// The last of these events, which are in order, that shows that packages were installed.
pub(super) fn last_install(events: &[&Event]) -> Option<usize> {
    let installs = |event: &&&Event| {
        let mut runs = event
            .target
            .runs
            .iter()
            .filter(|run| run.is_of_installer())
            .peekable();
        runs.peek().is_some() && runs.all(|run| is_shown(&event.outcome, run))
    };
    events.iter().rev().find(installs).map(|event| event.number)
}

/// If a run that was to install packages did, by its words, or by the exit code where it printed nothing.
fn is_shown(outcome: &Outcome, run: &ProgramRun) -> bool {
    let mut lines = [&outcome.result, &outcome.last_line].into_iter().flatten();
    let is_quiet = outcome.lines == 0 && outcome.exit_code == Some(0) && !run.is_piped;
    outcome.failed() != Some(true) && (is_quiet || lines.any(|line| flags().tells_install(line)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::outcome::status::CallStatus;
    use crate::events::run::runs;
    use crate::events::shell::Command;

    fn is_install(command: &str, result: &str) -> bool {
        let mut event = Event::default();
        event.target.runs = runs(&Command::read(command));
        event.outcome.status = CallStatus::Ok;
        event.outcome.exit_code = Some(0);
        event.outcome.lines = result.lines().count();
        event.outcome.result = (!result.is_empty()).then(|| result.to_owned());
        last_install(&[&event]).is_some()
    }

    #[test]
    fn packages_were_installed_if_a_package_manager_says_so_or_nothing() {
        let said = "Successfully installed a-1.0";
        for (command, result, is_one) in [
            ("pip install -q a", "", true),
            ("cd /w && python -m pip install a | tail -2", said, true),
            ("uv pip install a", "", true),
            ("npm ci", "added 57 packages, and audited 58 packages in 2s", true),
            ("sudo apt-get install -y rg", "Setting up rg (1.0) ...", true),
            (
                "pip install a | tail -1",
                "WARNING: Retrying (Retry(total=0))",
                false,
            ),
            ("pip install -q a | tail -1", "", false),
            ("pip install a", "Requirement already satisfied: a in /x", false),
            ("npm run ci", "", false),
            ("cargo run add milk", "", false),
            ("pip show install", said, false),
            ("npm run install-all", "", false),
            ("pip list", said, false),
            ("python install.py", "", false),
            ("todo add test", "", false),
        ] {
            assert_eq!(is_install(command, result), is_one, "{command}: {result}");
        }
    }
}

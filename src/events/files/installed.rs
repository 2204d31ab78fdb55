//! Packages that came to be installed.

use rustc_hash::FxHashMap;

use crate::events::event::Event;
use crate::events::resolved::cause;

/// Events that install and are compared with a failure, the latest.
const MAX_INSTALLS: usize = 64;

/// The events that installed packages, and those that missed them.
#[derive(Debug, Default)]
pub(super) struct Installed {
    /// The numbers of the events that installed and did not fail, in order, with the names that they installed.
    events: Vec<(usize, Vec<String>)>,
    /// The last event that missed something, by its name.
    missed: FxHashMap<String, usize>,
}

impl Installed {
    /// Reads what these events, which are in order, installed.
    pub fn by(events: &[&Event]) -> Self {
        let mut installed = Self::default();
        for event in events.iter().filter(|event| event.is_answered) {
            if event.outcome.failed() == Some(true) {
                let missing = event.outcome.error.as_deref().and_then(cause);
                let missing = missing.filter(|cause| !cause.is_in_the_way);
                installed
                    .missed
                    .extend(missing.map(|cause| (plain(cause.name), event.number)));
                continue;
            }
            let mut runs = event
                .target
                .runs
                .iter()
                .filter(|run| run.is_of_installer())
                .peekable();
            if runs.peek().is_some() {
                let names = runs.flat_map(|run| run.packages()).map(|name| plain(name));
                installed.events.push((event.number, names.collect()));
            }
        }
        installed
    }

    /// If anything was installed after an event.
    pub fn any_after(&self, event: usize) -> bool {
        self.events.last().is_some_and(|(last, _)| *last > event)
    }

    /// If what an event missed was installed by its name after it, and missed no more.
    pub fn brought(&self, missing: &str, event: usize) -> bool {
        let missing = plain(missing);
        let last_missed = self.missed.get(&missing).copied().unwrap_or(event).max(event);
        let newest = self.events.iter().rev().take(MAX_INSTALLS);
        let mut newest = newest.take_while(|(number, _)| *number > last_missed);
        newest.any(|(_, names)| names.contains(&missing))
    }
}

/// The name of a package and that of its module, in one form: without versions, extras and what says that it is Python's.
fn plain(name: &str) -> String {
    let name = name.to_ascii_lowercase().replace('_', "-");
    let bare = name
        .split(['[', '<', '>', '=', '~', '!', '@', ';', ' '])
        .next()
        .unwrap_or_default();
    let mut prefixes = ["python3-", "python-", "py-", "py"].into_iter();
    let stripped = prefixes.find_map(|prefix| bare.strip_prefix(prefix));
    stripped
        .filter(|stripped| stripped.len() > 1)
        .unwrap_or(bare)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::outcome::status::CallStatus;
    use crate::events::run::runs;
    use crate::events::shell::Command;

    #[track_caller]
    fn brought(calls: &[(&str, Option<&str>)]) -> Vec<bool> {
        let event = |(number, (command, error)): (usize, &(&str, Option<&str>))| {
            let mut event = Event {
                number,
                is_answered: true,
                ..Event::default()
            };
            event.target.runs = runs(&Command::read(command));
            event.outcome.status = error.map_or(CallStatus::Ok, |_| CallStatus::Failed);
            event.outcome.error = error.map(str::to_owned);
            event
        };
        let events: Vec<Event> = calls.iter().enumerate().map(event).collect();
        let installed = Installed::by(&events.iter().collect::<Vec<_>>());
        let missing = |event: &Event| Some(cause(event.outcome.error.as_deref()?)?.name.to_owned());
        let failures = events
            .iter()
            .filter_map(|event| Some((event.number, missing(event)?)));
        failures
            .map(|(number, name)| installed.brought(&name, number))
            .collect()
    }

    #[test]
    fn what_was_missing_is_brought_by_an_install_that_names_it_unless_it_is_missing_again() {
        let no_yaml = ("python a.py", Some("ModuleNotFoundError: No module named 'yaml'"));
        let no_test = (
            "python a.py",
            Some("ModuleNotFoundError: No module named 'tests'"),
        );
        let no_rg = ("rg x", Some("bash: rg: command not found"));
        assert_eq!(
            brought(&[no_yaml, ("pip install -q 'PyYAML>=6' | tail -2", None)]),
            [true]
        );
        assert_eq!(
            brought(&[no_yaml, ("cd /w && python -m pip install pyyaml[x]", None)]),
            [true]
        );
        assert_eq!(brought(&[no_rg, ("sudo apt-get install -y rg", None)]), [true]);
        assert_eq!(brought(&[("pip install pyyaml", None), no_yaml]), [false]);
        assert_eq!(
            brought(&[no_yaml, ("pip install pyyaml", None), no_yaml]),
            [false, false]
        );
        assert_eq!(
            brought(&[no_yaml, ("pip install pyyaml", Some("ERROR: no network"))]),
            [false]
        );
        assert_eq!(brought(&[no_test, ("pip install pytest", None)]), [false]);
        assert_eq!(
            brought(&[no_test, ("todo add test", None), ("pip show test", None)]),
            [false]
        );
    }
}

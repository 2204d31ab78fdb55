//! Runs of which a later one does all over again.

use crate::events::run::{ProgramRun, RunKind};
use crate::events::shell::last_step;

/// Words of a run that are compared with those of others.
const MAX_NAMED: usize = 16;

impl ProgramRun {
    /// Returns true if it covers all that an `earlier` run was to do.
    pub fn covers(&self, earlier: &Self) -> bool {
        if !self.is_at_place_of(earlier) {
            return false;
        }
        if !self.chooses_less(earlier) {
            return false;
        }
        if self.kind == RunKind::Tests && earlier.is_of_build() {
            return true;
        }
        // A file of tests that ran as a script may run among others.
        if self.kind == RunKind::Tests && earlier.kind == RunKind::Script {
            return self.words.iter().any(|word| last_step(word) == earlier.program);
        }
        if self.program != earlier.program {
            return false;
        }
        let is_same = |word: &String| self.words.contains(word);
        match self.kind {
            RunKind::Script => earlier.words.iter().all(is_same),
            RunKind::Tests => {
                let is_chosen = |word: &String| self.words.iter().any(|wider| is_within(word, wider));
                self.words.is_empty() || !earlier.words.is_empty() && earlier.words.iter().all(is_chosen)
            }
            RunKind::Program => {
                self.words.is_empty() == earlier.words.is_empty() && earlier.words.iter().all(is_same)
            }
        }
    }
}

impl ProgramRun {
    /// Returns true if it may have run where an `earlier` run did.
    pub fn is_at_place_of(&self, earlier: &Self) -> bool {
        self.place == earlier.place || self.place.is_empty() || earlier.place.is_empty()
    }

    /// Returns true if it ran on other things than an `earlier` run of the same program: both name or choose some, and none of the same.
    pub fn is_on_others(&self, earlier: &Self) -> bool {
        let (own, others) = (self.named(), earlier.named());
        let overlaps = |word: &str, other: &str| is_within(word, other) || is_within(other, word);
        let is_there = |word: &&str| others.iter().any(|other| overlaps(word, other));
        !own.is_empty() && !others.is_empty() && !own.iter().any(is_there)
    }

    /// The first of the words and of the values of options that select a part of its work.
    fn named(&self) -> Vec<&str> {
        let values = self
            .choices
            .iter()
            .filter(|choice| !choice.starts_with('-') || choice.contains('='));
        // Words may stand within words: `core/testOnly a.B`.
        let named = self
            .words
            .iter()
            .chain(values)
            .flat_map(|word| word.split([' ', ';']));
        let named = named.filter(|word| !word.is_empty() && !is_measure(word));
        named.take(MAX_NAMED).collect()
    }

    /// Returns true if the `error` of another run names one of the files or packages that it names.
    pub fn is_of_named(&self, error: &str) -> bool {
        let is_end = |rest: &str| !rest.starts_with(|sign: char| sign.is_alphanumeric() || sign == '_');
        self.words.iter().take(MAX_NAMED).any(|word| {
            let word = word.trim_start_matches("./").trim_end_matches('/');
            let mut places = error.match_indices(word);
            let is_path = word.contains(['/', '.']) && word.contains(char::is_alphanumeric);
            is_path && places.any(|(at, _)| error.get(at + word.len()..).is_some_and(is_end))
        })
    }

    /// Returns true if its options choose no part that those of an `earlier` run do not: what chooses less does more.
    fn chooses_less(&self, earlier: &Self) -> bool {
        let is_chosen = |choice: &String| earlier.choices.contains(choice);
        self.choices.iter().all(is_chosen)
    }
}

/// If a word is a number or a time: `50`, `20s`.
fn is_measure(word: &str) -> bool {
    let unit = word.trim_start_matches(|sign: char| sign.is_ascii_digit());
    unit.len() < word.len() && unit.len() <= 2 && unit.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Returns true if a test, or a file or directory of tests, is among those that `wider` names.
fn is_within(test: &str, wider: &str) -> bool {
    // `//a/...` and `./a/...` name all that is below.
    let wider = wider.trim_start_matches("./").trim_end_matches("...");
    let wider = wider.trim_end_matches('/');
    if matches!(wider, "" | ".") {
        return true;
    }
    let test = test.trim_start_matches("./");
    test.match_indices(wider).next().is_some_and(|(at, _)| {
        let before = test.get(..at).unwrap_or_default();
        let after = test.get(at + wider.len()..).unwrap_or_default();
        (before.is_empty() || before.ends_with('/'))
            && (after.is_empty() || after.starts_with(['/', ':', '.', '[']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::run::runs;
    use crate::events::shell::Command;
    use crate::knowledge::runners::test_programs;

    /// If any of the programs that a command runs is of a kind.
    fn any(command: &str, is_of_kind: impl Fn(&ProgramRun) -> bool) -> bool {
        runs(&Command::read(command)).iter().any(is_of_kind)
    }

    #[test]
    fn checks_are_known_by_their_programs_modules_and_subcommands() {
        for (command, expected) in [
            ("mix dialyzer --format short 2>&1 | grep live", true),
            ("python -m flake8 src", true),
            ("npm run lint", true),
            ("npx eslint src/a.ts", true),
            ("cargo clippy --all-targets", true),
            ("python lint.py", false),
            ("mix compile", false),
        ] {
            assert_eq!(any(command, ProgramRun::is_of_check), expected, "{command}");
        }
    }

    #[test]
    fn programs_are_known_whatever_stands_around_them() {
        for (command, expected) in [
            ("python a.py -v", &["a.py"][..]),
            ("A=1 timeout -k 5 60 python3.9 -W error /w/a.py x", &["a.py"]),
            ("cd /w && python -m pytest -x tests | tail -3\n", &["pytest"]),
            ("sudo make all; echo done", &["make all"]),
            ("poetry run pytest\n && npm run lint\n", &["pytest", "npm lint"]),
            ("cat > a.py <<'E'\nmake it\nE\npython a.py", &["a.py"]),
            ("python - <<E\nmake it\nE\n", &[]),
            ("python -c 'import a'", &[]),
            ("python -c \"\nmake it\n\"", &[]),
            (
                "cat > a.py <<'E'\nE it\nE\nmake it || go build | tee x",
                &["make it"],
            ),
            ("ls -la", &[]),
            ("pytest --help", &[]),
            ("git push --dry-run", &[]),
            ("cargo test --no-run", &[]),
            ("", &[]),
            ("bash -lc 'cd /w && pytest -x'", &["pytest"]),
            ("python $(which pytest) a", &["$(which pytest)"]),
        ] {
            let found = runs(&Command::read(command)).into_iter();
            let found: Vec<String> = found.map(|run| run.program).collect();
            assert_eq!(found, expected, "{command}");
        }
    }

    #[test]
    fn every_program_of_a_test_runner_runs_tests() {
        for command in test_programs() {
            let found = runs(&Command::read(command));
            let [run] = found.as_slice() else {
                panic!("{command}: {found:?}");
            };
            assert!(run.is_of_tests() && run.program == command, "{command}: {run:?}");
        }
        for (command, expected) in [
            ("npx jest --ci", true),
            ("yarn jest a.test.js", true),
            ("php vendor/bin/phpunit tests", true),
            ("make unit-tests", true),
            ("bash run.sh test", true),
            ("npm install jest", false),
            ("bun build.ts", false),
            ("python tests/test_a.py", false),
        ] {
            assert_eq!(any(command, ProgramRun::is_of_tests), expected, "{command}");
        }
    }

    #[test]
    fn a_run_covers_what_is_within_it() {
        let covers = |later: &str, earlier: &str| {
            let first = |command: &str| runs(&Command::read(command)).remove(0);
            first(later).covers(&first(earlier))
        };
        for (later, earlier) in [
            ("python a.py --verbose", "python a.py"),
            ("pytest tests -q", "pytest tests/test_a.py::t -x"),
            ("pytest", "python -m pytest tests/test_a.py"),
            ("pytest tests/test_a.py", "pytest /w/tests/test_a.py -k this"),
            ("pytest -n 4 tests/test_a.py", "python tests/test_a.py"),
            (
                "./tests/runtests.py admin",
                "python tests/runtests.py admin.tests.A",
            ),
            ("gcc -O2 a.c", "gcc a.c"),
            ("npm test", "npm run test -- a.js"),
            ("go test ./...", "go test ./pkg/a"),
            ("go test ./pkg/...", "go test ./pkg/a"),
            (
                "bazel test //a/... //b:c",
                "bazel test --config=ci //a/x/... //a:t",
            ),
            ("npx jest", "npx jest a.test.js"),
            ("bun test", "bun test a.test.ts"),
            ("python manage.py test", "python manage.py test shop.tests"),
            ("cargo nextest run", "cargo nextest run cart"),
            ("bundle exec rspec spec", "bin/rspec spec/cart_spec.rb:5"),
            ("busted", "busted --tags=unit spec/calc_spec.lua"),
        ] {
            assert!(covers(later, earlier), "{later} / {earlier}");
        }
        for (later, earlier) in [
            ("python b.py", "python a.py"),
            ("python manage.py check", "python manage.py migrate"),
            ("python convert.py b.csv", "python convert.py a.csv"),
            ("pytest tests/test_a.py -m 'not slow'", "pytest tests/test_a.py"),
            ("pytest tests --ignore=tests/test_a.py", "pytest tests/test_a.py"),
            (
                "pytest tests --deselect tests/test_a.py::t",
                "pytest tests/test_a.py",
            ),
            ("pytest -kother", "pytest"),
            ("npm test -- --testPathPattern=other", "npm test"),
            ("go test -run X", "go test"),
            ("busted --tags=unit", "busted"),
            ("npx mocha --grep adds", "npx mocha"),
            ("cargo build -p b", "cargo build -p a"),
            ("pytest tests/test_b.py", "pytest tests/test_a.py"),
            ("pytest tests/test_a.py", "pytest"),
            ("pytest tests/test_a.py -k that", "pytest tests/test_a.py"),
            ("pytest test", "pytest tests/test_a.py"),
            ("make clean", "make all"),
            ("gcc b.c", "gcc a.c"),
            ("python tests/runtests.py utils", "python tests/runtests.py admin"),
            ("cd /w/b; python a.py", "cd /w/a; python a.py"),
        ] {
            assert!(!covers(later, earlier), "{later} / {earlier}");
        }
    }
}

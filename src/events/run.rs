//! What a shell command ran, whatever flags, pipes and programs around it: two runs of one script are attempts at one thing.

use crate::events::shell::last_step;
use crate::events::shell::line::{after_document, is_open, statements};

/// A program that ran on something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run<'c> {
    /// A script by its name, a program with its subcommand: `a.py`, `pytest`, `cargo test`.
    pub program: String,
    kind: Kind,
    /// Words that are no flags.
    words: Vec<&'c str>,
    /// What chooses among what it could do: `-k this`, `--package=a`.
    choices: Vec<&'c str>,
    /// Where it ran, if that was said.
    place: &'c str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Runs tests: those that it is told, or all.
    Tests,
    /// A script, which does the same whatever it is told.
    Script,
    /// Anything else: the same only on the same.
    Program,
}

/// Runs looked at in one command.
const MAX_RUNS: usize = 8;

/// What only prepares, or looks at something.
const ASIDE: [&str; 29] = [
    ".", ":", "[", "cat", "cd", "chmod", "cp", "date", "done", "echo", "exit", "export", "fi", "find",
    "grep", "head", "ls", "mkdir", "mv", "printf", "pwd", "rm", "sed", "set", "sleep", "source", "tail",
    "touch", "true",
];

/// What only runs what stands behind it.
const WRAPPERS: [&str; 7] = ["command", "env", "exec", "nohup", "sudo", "time", "xvfb-run"];

/// What runs what stands behind it and one word more.
const RUNNERS: [(&str, &str); 6] = [
    ("bundle", "exec"),
    ("coverage", "run"),
    ("pipenv", "run"),
    ("poetry", "run"),
    ("rye", "run"),
    ("uv", "run"),
];

/// What runs a script.
const INTERPRETERS: [&str; 11] = [
    "bash", "bun", "deno", "lua", "node", "perl", "php", "python", "ruby", "sh", "ts-node",
];

/// Programs whose first word says what they do.
const WITH_SUBCOMMAND: [&str; 15] = [
    "bazel", "cargo", "docker", "dotnet", "git", "go", "gradle", "gradlew", "kubectl", "make", "mvn", "npm",
    "pip", "pnpm", "yarn",
];

/// Flags of test runners that take a word.
const WITH_WORD: [&str; 4] = ["-c", "-n", "-o", "-r"];

/// Flags of programs that only tell what they would do.
const ONLY_TELLS: [&str; 9] = [
    "--help",
    "-h",
    "--version",
    "--collect-only",
    "--co",
    "--dry-run",
    "--list",
    "--no-run",
    "--just-print",
];

/// What the command in a target's `key` ran; nothing for targets that are no command, and for scripts written into it.
pub(crate) fn runs(key: &str) -> Vec<Run<'_>> {
    let mut found: Vec<Run<'_>> = Vec::new();
    let named = key.split_once(':');
    let Some((_, command)) = named.filter(|(name, _)| !name.contains([' ', '('])) else {
        return found;
    };
    let mut rest = command;
    while !rest.is_empty() && found.len() < MAX_RUNS {
        let end = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        let (line, behind) = rest.split_at_checked(end).unwrap_or_default();
        rest = behind.get(1..).unwrap_or_default();
        // Where it ran stands last.
        if let Some(place) = line.strip_prefix(" in ") {
            for run in &mut found {
                run.place = place;
            }
            break;
        }
        found.extend(statements(line).filter_map(run));
        if memchr::memchr(b'<', line.as_bytes()).is_some()
            && let Some((_, word)) = line.split_once("<<")
        {
            rest = after_document(rest, word);
        } else if is_open(line) {
            // A script in quotes.
            break;
        }
    }
    found
}

fn run(statement: &str) -> Option<Run<'_>> {
    let mut words = statement.split_ascii_whitespace().peekable();
    let mut program = loop {
        let word = words.next()?;
        let is_setting = word.split_once('=').is_some_and(|(name, _)| {
            name.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        if is_setting || WRAPPERS.contains(&word) {
            continue;
        }
        if word == "timeout" {
            while let Some(flag) = words.next_if(|word| word.starts_with('-')) {
                if matches!(flag, "-k" | "-s") {
                    words.next();
                }
            }
            words.next();
            continue;
        }
        if let Some((_, runs)) = RUNNERS.iter().find(|(runner, _)| *runner == word) {
            words.next_if_eq(runs)?;
            continue;
        }
        break last_step(word);
    };
    if ASIDE.contains(&program) || program.starts_with('#') {
        return None;
    }
    let mut kind = Kind::Program;
    if program.starts_with("python") || program.starts_with("pypy") {
        program = "python";
    }
    if INTERPRETERS.contains(&program) {
        let script = loop {
            match words.next()? {
                "-m" => break words.next()?,
                "-" | "-c" | "-e" | "<<" => return None,
                "-W" | "-X" | "-r" | "-I" => {
                    words.next();
                }
                word if word.starts_with("<<") => return None,
                word if word.starts_with('-') => {}
                word => {
                    kind = Kind::Script;
                    break word;
                }
            }
        };
        program = last_step(script.trim_matches(['"', '\'']));
    }
    let mut program = program.to_owned();
    if WITH_SUBCOMMAND.contains(&program.as_str()) {
        words.next_if_eq(&"run");
        if let Some(word) = words.next_if(|word| !word.starts_with('-')) {
            program = [&program, " ", word].concat();
        }
    }
    let mut found = Run {
        program,
        kind,
        words: Vec::new(),
        choices: Vec::new(),
        place: "",
    };
    while let Some(word) = words.next() {
        match word {
            _ if ONLY_TELLS.contains(&word) => return None,
            _ if is_choice(word) => {
                found.choices.push(word);
                let is_whole = word.contains('=') || word.len() == 3 && !word.starts_with("--");
                let value = words.next_if(|next| !is_whole && !next.starts_with('-'));
                found.choices.extend(value);
            }
            _ if WITH_WORD.contains(&word) => {
                words.next_if(|next| !next.starts_with('-') && !next.contains(['/', '.']));
            }
            ">" | ">>" | "2>" | "<" => {
                words.next();
            }
            _ if word.starts_with(['-', '<', '>']) || word.starts_with("2>") => {}
            _ => found.words.push(word.trim_matches(['"', '\''])),
        }
    }
    let name = found.program.as_str();
    let runs_tests = if kind == Kind::Script {
        name.contains("runtests")
    } else {
        name.contains("test") || name == "tox"
    };
    if runs_tests || found.words.first() == Some(&"test") {
        found.kind = Kind::Tests;
    }
    Some(found)
}

impl Run<'_> {
    /// Whether it ran tests.
    pub fn is_of_tests(&self) -> bool {
        self.kind == Kind::Tests
    }

    /// Whether it did what an `earlier` run was to do.
    pub fn covers(&self, earlier: &Self) -> bool {
        if self.place != earlier.place && !self.place.is_empty() && !earlier.place.is_empty() {
            return false;
        }
        // What chooses less does more.
        if !self.choices.iter().all(|choice| earlier.choices.contains(choice)) {
            return false;
        }
        // A file of tests that ran as a script may run among others.
        if self.kind == Kind::Tests && earlier.kind == Kind::Script {
            return self.words.iter().any(|word| last_step(word) == earlier.program);
        }
        if self.program != earlier.program {
            return false;
        }
        let is_same = |word: &&str| self.words.contains(word);
        match self.kind {
            Kind::Script => earlier.words.iter().all(is_same),
            Kind::Tests => {
                let is_chosen = |word: &&str| self.words.iter().any(|wider| is_within(word, wider));
                self.words.is_empty() || !earlier.words.is_empty() && earlier.words.iter().all(is_chosen)
            }
            Kind::Program => {
                self.words.is_empty() == earlier.words.is_empty() && earlier.words.iter().all(is_same)
            }
        }
    }
}

/// Whether a flag chooses among what a program could do.
fn is_choice(word: &str) -> bool {
    const STARTS: [&str; 14] = [
        "-k",
        "-m",
        "-p",
        "-run",
        "-t",
        "--bin",
        "--deselect",
        "--exclude",
        "--filter",
        "--ignore",
        "--lib",
        "--package",
        "--test",
        "--run",
    ];
    let is_short = word.len() <= 3 || word.as_bytes().get(2) == Some(&b'=') || word == "-run";
    STARTS.iter().any(|start| {
        word.starts_with(start) && (start.starts_with("--") || is_short || word.starts_with("-k"))
    })
}

/// Whether a test, or a file or directory of tests, is one of those that `wider` names.
fn is_within(test: &str, wider: &str) -> bool {
    let wider = wider.trim_start_matches("./").trim_end_matches('/');
    if matches!(wider, "" | "." | "...") {
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

    #[test]
    fn programs_are_known_whatever_stands_around_them() {
        for (key, expected) in [
            ("bash: python a.py -v", &["a.py"][..]),
            (
                "bash: A=1 timeout -k 5 60 python3.9 -W error /w/a.py x\n in /w",
                &["a.py"],
            ),
            (": cd /w && python -m pytest -x tests | tail -3\n", &["pytest"]),
            ("sh: sudo make all; echo done", &["make all"]),
            (
                "sh: poetry run pytest\n && npm run lint\n",
                &["pytest", "npm lint"],
            ),
            ("sh: cat > a.py <<'E'\nmake it\nE\npython a.py", &["a.py"]),
            ("sh: python - <<E\nmake it\nE\n", &[]),
            ("sh: python -c 'import a'", &[]),
            ("sh: python -c \"\nmake it\n\"", &[]),
            (
                "sh: cat > a.py <<'E'\nE it\nE\nmake it || go build | tee x",
                &["make it"],
            ),
            ("sh: ls -la", &[]),
            ("sh: pytest --help", &[]),
            ("sh: git push --dry-run", &[]),
            ("sh: cargo test --no-run", &[]),
            ("get_order(id: make all)", &[]),
            ("edit write /a/b.py", &[]),
            ("sh:", &[]),
        ] {
            let found: Vec<String> = runs(key).into_iter().map(|run| run.program).collect();
            assert_eq!(found, expected, "{key}");
        }
    }

    #[test]
    fn a_run_covers_what_is_within_it() {
        let covers = |later: &str, earlier: &str| {
            let (later, earlier) = (["sh: ", later].concat(), ["sh: ", earlier].concat());
            runs(&later)[0].covers(&runs(&earlier)[0])
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
            ("cargo build -p b", "cargo build -p a"),
            ("pytest tests/test_b.py", "pytest tests/test_a.py"),
            ("pytest tests/test_a.py", "pytest"),
            ("pytest tests/test_a.py -k that", "pytest tests/test_a.py"),
            ("pytest test", "pytest tests/test_a.py"),
            ("make clean", "make all"),
            ("gcc b.c", "gcc a.c"),
            ("python tests/runtests.py utils", "python tests/runtests.py admin"),
            ("python a.py\n in /w/b", "python a.py\n in /w/a"),
        ] {
            assert!(!covers(later, earlier), "{later} / {earlier}");
        }
    }
}

//! Programs that a command ran, whatever flags, pipes and programs around them: two runs of one script are attempts at one thing.

use crate::events::shell::programs::{Does, flags, name_of};
use crate::events::shell::{Command, Statement, StatementEnd, last_step};
use crate::knowledge::runners::{test_programs, test_words};
use crate::knowledge::tool_names::acts;

/// A program that ran on something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProgramRun {
    /// A script by its name, a program with its subcommand: `a.py`, `pytest`, `cargo test`.
    pub program: String,
    /// A task that the project gave a name to: `npm run ci`.
    is_task: bool,
    /// A pipe follows, so the exit code is another program's.
    pub is_piped: bool,
    pub kind: RunKind,
    /// Words that are no flags.
    pub words: Vec<String>,
    /// The options that select a part of its work: `-k this`, `--package=a`.
    pub choices: Vec<String>,
    /// The directory it ran in, if the command says so.
    pub place: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunKind {
    /// Runs tests: all of them, or those that its words name.
    Tests,
    /// A script, which does the same whatever its words are.
    Script,
    /// Any other program: it does the same only with the same words.
    Program,
}

/// Runs looked at in one command.
const MAX_RUNS: usize = 8;

/// The programs that a command ran; of a pipe, and of those that run where one before failed, the first one.
pub(crate) fn runs(command: &Command) -> Vec<ProgramRun> {
    let mut found: Vec<ProgramRun> = Vec::new();
    let mut is_behind = false;
    for statement in &command.statements {
        if !is_behind {
            let run = run(statement);
            is_behind = run.is_some();
            found.extend(run);
        }
        is_behind &= matches!(statement.end, StatementEnd::Pipe | StatementEnd::Or);
        if found.len() >= MAX_RUNS {
            break;
        }
    }
    found
}

/// Returns true if a statement runs tests.
pub(crate) fn runs_tests(statement: &Statement) -> bool {
    run(statement).is_some_and(|run| run.is_of_tests())
}

fn run(statement: &Statement) -> Option<ProgramRun> {
    let (does, name, rest) = statement.program()?;
    let mut words = rest.iter().map(|word| word.text.as_str()).peekable();
    let mut kind = RunKind::Program;
    let mut program = match does {
        Does::Interprets | Does::Shell => match test_runner(name_of(name), words.peek()) {
            Some(runner) => {
                words.next();
                runner
            }
            None => scripted(&mut words, &mut kind)?.to_owned(),
        },
        Does::Streams if name == "perl" => scripted(&mut words, &mut kind)?.to_owned(),
        Does::Runs | Does::Fetches | Does::Formats | Does::Changes | Does::Applies | Does::Restores => {
            let found = statement.found?;
            let sub = statement.words.get(found.at + 1).filter(|_| found.subcommand > 0);
            match sub {
                Some(sub) => [name_of(name), " ", &sub.text].concat(),
                None if matches!(does, Does::Changes | Does::Applies | Does::Restores) => return None,
                None => name_of(name).to_owned(),
            }
        }
        _ => return None,
    };
    let mut is_task = false;
    if kind == RunKind::Program && statement.row().is_some_and(|row| row.subcommand) {
        is_task = words.next_if_eq(&"run").is_some();
        if let Some(word) = words.next_if(|word| !word.starts_with('-')) {
            program = [&program, " ", word].concat();
        }
    }
    let mut found = ProgramRun {
        program,
        is_task,
        is_piped: statement.end == StatementEnd::Pipe,
        kind,
        words: Vec::new(),
        choices: Vec::new(),
        place: statement.directory.clone(),
    };
    while let Some(word) = words.next() {
        match word {
            _ if flags().only_tells(word) => return None,
            _ if flags().chooses(word) => {
                found.choices.push(word.to_owned());
                let is_whole = word.contains('=') || word.len() == 3 && !word.starts_with("--");
                let value = words.next_if(|next| !is_whole && !next.starts_with('-'));
                found.choices.extend(value.map(str::to_owned));
            }
            _ if flags().takes_word(word) => {
                words.next_if(|next| !next.starts_with('-') && !next.contains(['/', '.']));
            }
            _ if word.starts_with('-') => {}
            _ => found.words.push(word.to_owned()),
        }
    }
    found.note_tests();
    Some(found)
}

/// A program with its first word, if the two start a test runner.
fn test_runner(program: &str, word: Option<&&str>) -> Option<String> {
    let runner = [program, " ", word?].concat();
    test_programs().any(|known| known == runner).then_some(runner)
}

/// The script or module that an interpreter runs; none that stands in its words or comes in.
fn scripted<'w>(words: &mut impl Iterator<Item = &'w str>, kind: &mut RunKind) -> Option<&'w str> {
    loop {
        match words.next()? {
            "-m" => return words.next(),
            "-" | "-c" | "-e" | "-lc" => return None,
            "-W" | "-X" | "-r" | "-I" => {
                words.next();
            }
            word if word.starts_with('-') => {}
            word => {
                *kind = RunKind::Script;
                return Some(last_step(word));
            }
        }
    }
}

impl ProgramRun {
    /// Makes it a run of tests if its program is known for that, alone or with its first word.
    fn note_tests(&mut self) {
        let first = self.words.first().map(String::as_str);
        let last = self.program.rsplit(' ').next();
        let is_own = self.kind != RunKind::Script && test_words().any(|word| self.program.contains(word));
        let is_known = is_own || test_programs().any(|known| known == self.program || Some(known) == last);
        let own = first.filter(|first| !is_known && test_words().any(|word| word == *first));
        let own = own.map(|word| [&self.program, " ", word].concat());
        let with_first = test_runner(&self.program, first.as_ref()).or(own);
        if is_known || with_first.is_some() {
            self.kind = RunKind::Tests;
        }
        if let Some(program) = with_first {
            self.program = program;
            self.words.remove(0);
        }
    }

    /// Returns true if it ran tests.
    pub fn is_of_tests(&self) -> bool {
        self.kind == RunKind::Tests
    }

    /// Returns true if it ran a package manager.
    pub fn is_of_packages(&self) -> bool {
        self.kind == RunKind::Program
            && self
                .names()
                .next()
                .is_some_and(|name| flags().manages_packages(name))
    }

    /// Returns true if its subcommand changes something where it acts: `manage.py migrate`, `kubectl apply`.
    pub fn acts(&self) -> bool {
        !self.is_of_packages() && self.names().nth(1).is_some_and(acts)
    }

    /// Returns true if it sets changes aside, so that what follows runs without them: `git stash`, not `git stash pop`.
    pub fn sets_aside(&self) -> bool {
        let is_back = |word: &String| {
            matches!(
                word.as_str(),
                "pop" | "apply" | "list" | "show" | "drop" | "clear"
            )
        };
        self.program == "git stash" && !self.words.iter().any(is_back)
    }

    /// Returns true if it was to install packages.
    pub fn is_of_installer(&self) -> bool {
        let mut names = self
            .names()
            .skip(1)
            .skip_while(|name| flags().manages_packages(name));
        self.is_of_packages() && !self.is_task && names.next().is_some_and(|name| flags().installs(name))
    }

    /// The program, its subcommands and its words.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.program
            .split(' ')
            .chain(self.words.iter().map(String::as_str))
    }

    /// Returns true if it compiled or formatted code, which a run of tests does or goes without.
    pub fn is_of_build(&self) -> bool {
        self.is_program(|name| flags().builds(name))
    }

    /// Returns true if it looked for faults in code without running it.
    pub fn is_of_check(&self) -> bool {
        self.is_program(|name| flags().checks(name))
    }

    /// Returns true if it compiled code or looked for faults in it.
    pub fn checks_code(&self) -> bool {
        self.is_of_tests() || self.is_of_build() || self.is_of_check()
    }

    fn is_program(&self, is_known: impl Fn(&str) -> bool) -> bool {
        self.kind == RunKind::Program && self.program.rsplit(' ').next().is_some_and(is_known)
    }

    /// Returns true if its exit code only says that a server answered, not what.
    pub fn asks_server(&self) -> bool {
        flags().asks_server(&self.program)
    }

    /// Returns true if it ran a script.
    pub fn is_of_script(&self) -> bool {
        self.kind == RunKind::Script
    }
}

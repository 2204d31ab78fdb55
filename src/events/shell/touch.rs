//! What a command does to which files.

use super::path::path_of;
use super::script::files_of;
use super::statement::{Statement, Word, statements};
use super::words::{edited, is_in_place, program_of, written_by};

/// What is done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Read,
    /// It is changed where it is there.
    Write,
    /// It is written, and there from then on.
    Create,
    Remove,
    /// It becomes what it was.
    Restore,
    /// It runs, and does what it was written to do.
    Run,
}

/// One step of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Touch {
    pub step: Step,
    /// As it was named; `None` for the file that is open in an editor of lines.
    pub file: Option<String>,
    /// The directory from the root in which the command ran, as far as the command says; else nothing.
    pub directory: String,
    /// Whether it stands for all names of a pattern.
    pub is_pattern: bool,
    /// What it does to files when it runs, where it is a script that is written here.
    pub script: Vec<(Step, String)>,
}

/// Longest name of a file, in bytes.
const MAX_NAME: usize = 300;

/// Files of a script that are told of at most.
const MAX_SCRIPT: usize = 64;

/// Commands in commands that are looked into.
const MAX_DEPTH: usize = 3;

/// Commands of editors that work on the file that is open in them.
const LINE_EDITS: [&str; 2] = ["edit", "insert"];

/// The same that only show it.
const LINE_VIEWS: [&str; 4] = ["scroll_down", "scroll_up", "goto", "search_file"];

/// What a tool of this name does to the file that is open, where no file is named.
pub(crate) fn on_open_file(tool: &str) -> Option<Touch> {
    let is_among = |names: &[&str]| names.iter().any(|name| tool.eq_ignore_ascii_case(name));
    let step = if is_among(&LINE_EDITS) {
        Step::Write
    } else if is_among(&LINE_VIEWS) {
        Step::Read
    } else {
        return None;
    };
    Some(Touch {
        step,
        file: None,
        directory: String::new(),
        is_pattern: false,
        script: Vec::new(),
    })
}

/// What a file of this name does to others when it runs, by what is written into it.
pub(crate) fn script_of(name: &str, content: &str) -> Vec<(Step, String)> {
    let is_python = name.trim_end().rsplit('.').next() == Some("py");
    let mut files = if is_python { files_of(content) } else { Vec::new() };
    files.truncate(MAX_SCRIPT);
    files
}

/// What a shell command does, in order.
pub(crate) fn of_command(command: &str) -> Vec<Touch> {
    let mut shell = Shell::default();
    shell.command(command.trim(), MAX_DEPTH);
    shell.touches
}

/// What a script does, in order.
pub(crate) fn of_code(code: &str) -> Vec<Touch> {
    let mut shell = Shell::default();
    shell.code(code);
    shell.touches
}

#[derive(Default)]
struct Shell {
    /// Where it is: from the root, or from where it began.
    directory: String,
    /// Whether it goes somewhere in brackets, which ends with these: only ways from the root are followed then.
    in_brackets: bool,
    touches: Vec<Touch>,
}

impl Shell {
    fn command(&mut self, command: &str, depth: usize) {
        let mut first = command.lines().next().unwrap_or_default().split_whitespace();
        let program = first.next().unwrap_or_default();
        let is_lines = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
        // What follows are lines of the file, and no command.
        if LINE_EDITS.contains(&program) && first.next().is_none_or(is_lines) {
            self.touches.extend(on_open_file(program));
            return;
        }
        self.in_brackets |= command.contains("(cd ") || command.contains("( cd ");
        for statement in statements(command) {
            self.statement(&statement, depth);
        }
    }

    fn statement(&mut self, statement: &Statement, depth: usize) {
        for word in &statement.read {
            self.note(Step::Read, word);
        }
        if let Some((program, words)) = program_of(&statement.words) {
            self.run(program, words, statement, depth);
        }
        for word in &statement.written {
            let before = self.touches.len();
            self.note(Step::Create, word);
            for touch in self.touches.iter_mut().skip(before) {
                touch.script = script_of(&word.text, &statement.document);
            }
        }
    }

    fn run(&mut self, program: &str, words: &[Word], statement: &Statement, depth: usize) {
        let files = |words: &[Word]| -> Vec<Word> {
            let files = words.iter().filter(|word| !word.text.starts_with('-'));
            files.cloned().collect()
        };
        let option = |start: &str| words.iter().any(|word| word.text.starts_with(start));
        match program {
            "cd" | "pushd" => self.go_to(words.first()),
            "popd" => self.directory.clear(),
            "black" | "curl" | "prettier" | "ruff" | "sort" | "wget" => {
                for (step, word) in written_by(program, words) {
                    self.note(step, &word);
                }
            }
            "cat" | "head" | "tail" | "less" | "more" | "nl" | "bat" | "open" => {
                let is_number = |word: &Word| word.text.trim_start_matches('+').parse::<u64>().is_ok();
                let files = files(words).into_iter().filter(|word| !is_number(word));
                files.for_each(|word| self.note(Step::Read, &word));
            }
            "sed" | "perl" => {
                let in_place = words.iter().any(|word| is_in_place(&word.text));
                let step = if in_place { Step::Write } else { Step::Read };
                if program == "sed" || in_place {
                    edited(words).for_each(|word| self.note(step, word));
                }
            }
            "tee" | "touch" | "create" => self.note_all(Step::Create, &files(words)),
            "rm" | "unlink" => self.note_all(Step::Remove, &files(words)),
            "mv" | "cp" => {
                let files = files(words);
                if let [from @ .., to] = files.as_slice() {
                    let step = if program == "mv" { Step::Remove } else { Step::Read };
                    self.note_all(step, from);
                    if !to.text.ends_with('/') && to.text != "." {
                        self.note(Step::Create, to);
                    }
                }
            }
            "git" => {
                let named = files(words.get(1..).unwrap_or_default());
                if words.first().is_some_and(|word| word.text == "mv") {
                    self.run("mv", &named, statement, depth);
                    return;
                }
                let step = match words.first().map(|word| word.text.as_str()) {
                    Some("rm") => Step::Remove,
                    Some("checkout" | "restore") => Step::Restore,
                    _ => return,
                };
                self.note_all(step, &named);
            }
            "edit" | "insert" | "search_file" => {
                let named = words.iter().find(|word| word.text.contains(['/', '.']));
                match named.filter(|_| program != "search_file" || words.len() > 1) {
                    Some(word) if program == "search_file" => self.note(Step::Read, word),
                    Some(word) if program == "edit" => self.note(Step::Write, word),
                    _ => self.touches.extend(on_open_file(program)),
                }
            }
            "scroll_down" | "scroll_up" | "goto" => self.touches.extend(on_open_file(program)),
            "bash" | "sh" | "zsh" | "dash" if depth > 0 => {
                let directory = self.directory.clone();
                let code = words.iter().position(|word| {
                    word.text.starts_with('-') && !word.text.starts_with("--") && word.text.ends_with('c')
                });
                if let Some(code) = code.and_then(|at| words.get(at + 1)) {
                    self.command(&code.text, depth - 1);
                }
                self.command(&statement.document, depth - 1);
                self.directory = directory;
            }
            _ if program.starts_with("python") || program == "ipython" => {
                if let [module, name, rest @ ..] = words
                    && module.text == "-m"
                    && matches!(name.text.as_str(), "black" | "ruff")
                {
                    self.run(&name.text, rest, statement, depth);
                    return;
                }
                let code = words.iter().position(|word| word.text == "-c");
                if let Some(code) = code.and_then(|at| words.get(at + 1)) {
                    self.code(&code.text);
                }
                match files(words).first() {
                    Some(file) if !option("-m") && !option("-c") => self.note(Step::Run, file),
                    Some(_) => {}
                    None => self.code(&statement.document),
                }
            }
            _ => {}
        }
    }

    fn code(&mut self, code: &str) {
        for (step, file) in files_of(code) {
            let word = Word {
                text: file,
                ..Word::default()
            };
            self.note(step, &word);
        }
    }

    fn go_to(&mut self, to: Option<&Word>) {
        let Some(to) = to.filter(|to| !to.expands && !to.text.starts_with('-')) else {
            self.directory.clear();
            return;
        };
        if to.text.starts_with(['/', '~']) {
            self.directory.clone_from(&to.text);
        } else if !self.directory.is_empty() {
            self.directory.push('/');
            self.directory.push_str(&to.text);
        } else if !self.in_brackets {
            self.directory.clone_from(&to.text);
        }
    }

    fn note_all(&mut self, step: Step, words: &[Word]) {
        for word in words {
            self.note(step, word);
        }
    }

    fn note(&mut self, step: Step, word: &Word) {
        let name = word.text.as_str();
        let is_pattern = word.is_pattern && step == Step::Remove;
        let is_file = !name.is_empty()
            && name.len() <= MAX_NAME
            && !word.expands
            && word.is_pattern == is_pattern
            && !name.starts_with("/dev/")
            && !matches!(name, "." | ".." | "/" | "-" | "{" | "}")
            && !name.contains(['\n', '\r', '\t'])
            && !name.contains("://");
        if is_file {
            let is_rooted = self.directory.is_empty() || self.directory.starts_with(['/', '~']);
            let (name, directory) = if is_rooted {
                (name.to_owned(), self.directory.clone())
            } else {
                // Where the whole began is not known, nor what is above that.
                let path = path_of(&self.directory, name);
                (path.trim_start_matches("../").to_owned(), String::new())
            };
            self.touches.push(Touch {
                step,
                file: Some(name),
                directory,
                is_pattern,
                script: Vec::new(),
            });
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Checks what a command does with which files; an editor's open one has no name.
    #[track_caller]
    pub(in crate::events::shell) fn does(command: &str, expected: &[(Step, &str)]) {
        let touches = of_command(command);
        let found: Vec<(Step, &str)> = touches
            .iter()
            .map(|touch| (touch.step, touch.file.as_deref().unwrap_or("(open)")))
            .collect();
        assert_eq!(found, expected, "{command}");
    }

    #[test]
    fn names_are_whole_and_options_are_none() {
        use Step::{Create, Read, Remove, Restore, Run, Write};
        does("cat \"my file.txt\"", &[(Read, "my file.txt")]);
        does(
            "head -n 20 a.py b.py | tail -5",
            &[(Read, "a.py"), (Read, "b.py")],
        );
        does("sed -i s/a/b/ 'x y.py'", &[(Write, "x y.py")]);
        does("sed -i.bak -e s/a/b/ -e 's/c d/e/' x.py", &[(Write, "x.py")]);
        does("sed -n '40,45p' a.py", &[(Read, "a.py")]);
        does("sed -i '' 's/a/b/' a.py", &[(Write, "a.py")]);
        does("perl -pi -e 's/a/b/' a.pl", &[(Write, "a.pl")]);
        does(
            "echo x > a.txt && rm -f *.pyc",
            &[(Create, "a.txt"), (Remove, "*.pyc")],
        );
        does(
            "mv a b; cp c d/; cp e f",
            &[
                (Remove, "a"),
                (Create, "b"),
                (Read, "c"),
                (Read, "e"),
                (Create, "f"),
            ],
        );
        does(
            "git checkout -- a.py && git diff a.py > p.diff",
            &[(Restore, "a.py"), (Create, "p.diff")],
        );
        does("cat $FILE *.py /dev/null; grep x a.py; ls b.c", &[]);
        does(
            "sudo timeout 5 cat a.py < in.txt | tee out.txt",
            &[(Read, "in.txt"), (Read, "a.py"), (Create, "out.txt")],
        );
        does(
            "cat > a.py <<'E' && python3 a.py\nopen('b', 'w')\nE",
            &[(Create, "a.py"), (Run, "a.py")],
        );
        does("python3 - <<'E'\nopen('b', 'w')\nE", &[(Create, "b")]);
        does(
            "bash -lc \"cd /w && python -c \\\"open('b c', 'w')\\\"\"",
            &[(Create, "b c")],
        );
    }

    #[test]
    fn an_editor_of_lines_works_on_the_open_file() {
        use Step::{Create, Read, Write};
        does("edit 287:296\nrm a.py\nend_of_edit", &[(Write, "(open)")]);
        does("edit\nx\nend_of_edit", &[(Write, "(open)")]);
        does("insert 3 \"rm a.py\"", &[(Write, "(open)")]);
        does("scroll_down", &[(Read, "(open)")]);
        does("search_file 'def f'", &[(Read, "(open)")]);
        does("open src/a.py 12", &[(Read, "src/a.py")]);
        does("create \"a b.py\"", &[(Create, "a b.py")]);
    }

    #[test]
    fn a_command_knows_where_it_ran() {
        let touches = of_command("cd /w && cat a; cd b; cat c; cd $X && cat d");
        let places: Vec<&str> = touches.iter().map(|touch| touch.directory.as_str()).collect();
        assert_eq!(places, ["/w", "/w/b", ""]);
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_written_is_read_without_fail(command in "[a-c \"'\\\\<>|&;()$`#*\n\t=/.é-]{0,60}") {
            let touches = of_command(&command);
            let code = of_command(&format!("python -c \"open('{command}', 'w')\""));
            for touch in touches.iter().chain(&code) {
                let name = touch.file.as_deref().unwrap_or_default();
                proptest::prop_assert!(name.len() <= command.len() + 32, "{command:?} {name:?}");
            }
        }

        #[test]
        fn whatever_is_a_script_is_read_without_fail(code in "(open\\(|Path\\(|\\)|\\.write_text\\(|'|\"|, ?'w'|=|\n|a|é|os.remove\\(){0,30}") {
            of_code(&code);
        }
    }
}

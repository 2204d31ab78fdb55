//! What the statements of a command do to which files.

use super::Command;
use super::Word;
use super::path::path_of;
use super::programs::{Does, name_of};
use super::script::files_of;
use super::statement::Statement;
use super::words::{changed_in_place, edited, files, formatted, value_of};

/// What is done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Read,
    /// Lines of it are looked for.
    Search,
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

impl Touch {
    /// A step on a file by its name.
    pub fn of(step: Step, file: impl Into<String>) -> Self {
        Self {
            file: Some(file.into()),
            ..Self::on_open(step)
        }
    }

    /// A step on the file that is open in an editor.
    pub fn on_open(step: Step) -> Self {
        Self {
            step,
            file: None,
            directory: String::new(),
            is_pattern: false,
            script: Vec::new(),
        }
    }
}

/// Longest name of a file, in bytes.
const MAX_NAME: usize = 300;

/// Files of a script that are told of at most.
const MAX_SCRIPT: usize = 64;

/// Ends of names of copies that are kept of a file.
const KEPT: [&str; 6] = [".bak", ".backup", ".old", ".orig", ".save", "~"];

/// If a file's name says that it is a copy kept of another one.
fn is_copy_kept(name: &str, of: &str) -> bool {
    name.strip_prefix(of).is_some_and(|end| KEPT.contains(&end))
}

/// What a file of this name does to others when it runs, by what is written into it.
pub(crate) fn script_of(name: &str, content: &str) -> Vec<(Step, String)> {
    let is_python = name.trim_end().rsplit('.').next() == Some("py");
    let mut files = if is_python { files_of(content) } else { Vec::new() };
    files.truncate(MAX_SCRIPT);
    files
}

/// What a script does, in order.
pub(crate) fn of_code(code: &str) -> Vec<Touch> {
    let mut steps = Steps::default();
    steps.code(code);
    steps.touches
}

impl Command {
    /// What the command does to files, in order.
    pub fn touches(&self) -> Vec<Touch> {
        let touches = self.statements.iter().flat_map(|statement| &statement.touches);
        touches.cloned().collect()
    }
}

/// What a statement does to files, in order.
pub(super) fn touches_of(statement: &Statement) -> Vec<Touch> {
    let mut steps = Steps::default();
    steps.statement(statement);
    steps.touches
}

#[derive(Default)]
struct Steps {
    directory: String,
    touches: Vec<Touch>,
}

impl Steps {
    fn statement(&mut self, statement: &Statement) {
        self.directory.clone_from(&statement.directory);
        self.note_all(Step::Read, &statement.read);
        if let Some((does, program, words)) = statement.program() {
            self.run(does, program, words, statement);
        }
        for word in &statement.written {
            let before = self.touches.len();
            self.note(Step::Create, word);
            for touch in self.touches.iter_mut().skip(before) {
                touch.script = script_of(&word.text, &statement.document);
            }
        }
    }

    fn run(&mut self, does: Does, program: &str, words: &[Word], statement: &Statement) {
        let option = |start: &str| words.iter().any(|word| word.text.starts_with(start));
        match does {
            Does::Reads => {
                let is_number = |word: &Word| word.text.trim_start_matches('+').parse::<u64>().is_ok();
                let files = files(words).filter(|word| !is_number(word));
                files.for_each(|word| self.note(Step::Read, word));
            }
            // The first word is what is looked for.
            Does::Looks => {
                let is_file = |word: &&Word| word.text.contains('.') && !word.text.contains('*');
                let searched = files(words).skip(1).filter(is_file);
                searched.for_each(|word| self.note(Step::Search, word));
            }
            Does::Streams => {
                let in_place = changed_in_place(words);
                let step = if in_place { Step::Write } else { Step::Read };
                if program != "perl" || in_place {
                    edited(words).for_each(|word| self.note(step, word));
                }
            }
            Does::Creates => self.note_all(Step::Create, files(words)),
            Does::Removes => self.note_all(Step::Remove, files(words)),
            Does::Restores => self.note_all(Step::Restore, files(words)),
            Does::Moves | Does::Copies => {
                let named: Vec<&Word> = files(words).collect();
                if let [from @ .., to] = named.as_slice() {
                    let step = if does == Does::Moves {
                        Step::Remove
                    } else {
                        Step::Read
                    };
                    self.note_all(step, from.iter().copied());
                    if let [from] = from
                        && is_copy_kept(&from.text, &to.text)
                    {
                        self.note(Step::Restore, to);
                    } else if !to.text.ends_with('/') && to.text != "." {
                        self.note(Step::Create, to);
                    }
                }
            }
            Does::Fetches => {
                if let Some(word) = statement.row().and_then(|row| value_of(words, &row.options)) {
                    self.note(Step::Create, &word);
                }
            }
            Does::Formats => {
                if let Some(row) = statement.row() {
                    formatted(words, row).for_each(|word| self.note(Step::Write, word));
                }
            }
            Does::Edits | Does::Views => {
                let step = if does == Does::Edits {
                    Step::Write
                } else {
                    Step::Read
                };
                let named = words.iter().find(|word| word.text.contains(['/', '.']));
                match named.filter(|_| program != "search_file" || words.len() > 1) {
                    Some(word) if matches!(program, "edit" | "search_file") => self.note(step, word),
                    _ => self.touches.push(Touch::on_open(step)),
                }
            }
            Does::Interprets if matches!(name_of(program), "python" | "ipython" | "pypy") => {
                let code = words.iter().position(|word| word.text == "-c");
                if let Some(code) = code.and_then(|at| words.get(at + 1)) {
                    self.code(&code.text);
                }
                match files(words).next() {
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

    fn note_all<'w>(&mut self, step: Step, words: impl IntoIterator<Item = &'w Word>) {
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
        let touches = Command::read(command).touches();
        let found: Vec<(Step, &str)> = touches
            .iter()
            .map(|touch| (touch.step, touch.file.as_deref().unwrap_or("(open)")))
            .collect();
        assert_eq!(found, expected, "{command}");
    }

    #[test]
    fn names_are_whole_and_options_are_none() {
        use Step::{Create, Read, Remove, Restore, Run, Search, Write};
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
        does("cat $FILE *.py /dev/null; ls b.c", &[]);
        does(
            "grep -n x a.py; cp a.py.orig a.py; cp a.py b.py",
            &[
                (Search, "a.py"),
                (Read, "a.py.orig"),
                (Restore, "a.py"),
                (Read, "a.py"),
                (Create, "b.py"),
            ],
        );
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
        let touches = Command::read("cd /w && cat a; cd b; cat c; cd $X && cat d").touches();
        let places: Vec<&str> = touches.iter().map(|touch| touch.directory.as_str()).collect();
        assert_eq!(places, ["/w", "/w/b", ""]);
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_written_is_read_without_fail(command in "[a-c \"'\\\\<>|&;()$`#*\n\t=/.é-]{0,60}") {
            let touches = Command::read(&command).touches();
            let code = Command::read(&format!("python -c \"open('{command}', 'w')\"")).touches();
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

//! The steps of statements on files.

use super::patch::patched;
use super::path::path_of;
use super::programs::{Does, name_of};
use super::script::files_of;
use super::statement::Statement;
use super::step::{Step, Touch};
use super::word::Word;
use super::words::{changed_in_place, edited, files, formatted, value_of};

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

/// The steps on other files of a script with this name and content.
pub(crate) fn script_of(name: &str, content: &str) -> Vec<(Step, String)> {
    let mut files = match name.trim_end().rsplit('.').next() {
        Some("py") => files_of(content),
        Some("diff" | "patch") => patched(content),
        _ => Vec::new(),
    };
    files.truncate(MAX_SCRIPT);
    files
}

/// The steps of a script, in order.
pub(crate) fn of_code(code: &str) -> Vec<Touch> {
    let mut steps = Steps::default();
    steps.code(code);
    steps.touches
}

/// The steps of a statement on files, in order.
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
        let step = if statement.does() == Does::Applies {
            Step::Run
        } else {
            Step::Read
        };
        self.note_all(step, &statement.read);
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
            Does::Applies => {
                let is_named = |word: &&Word| word.text.contains('.') && !word.text.contains('\n');
                self.note_all(Step::Run, files(words).filter(is_named));
                let texts = words.iter().map(|word| &word.text).chain([&statement.document]);
                for (step, file) in texts.flat_map(|text| patched(text)) {
                    self.note(step, &Word::of(file));
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
                    let step = match from {
                        [from] if is_copy_kept(&from.text, &to.text) => Step::Restore,
                        _ => Step::Create,
                    };
                    if !to.text.ends_with('/') && to.text != "." {
                        let before = self.touches.len();
                        self.note(step, to);
                        if let ([from], Some(copy)) = (from, self.touches.get_mut(before)) {
                            copy.copied_from = Some(from.text.clone());
                        }
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
            self.note(step, &Word::of(file));
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
                copied_from: None,
            });
        }
    }
}

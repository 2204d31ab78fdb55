//! A shell command taken apart: statements, words, redirections, here-documents.

use super::statement::Statement;
use super::word::{StatementEnd, Word};

/// Statements in words of others that are looked into.
const MAX_DEPTH: usize = 3;

/// The meaning of the next word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NextWord {
    Word,
    Output,
    Input,
    /// The line that a here-document ends with; `true` where tabs before it do not count.
    Delimiter(bool),
    Nothing,
}

struct ShellParser {
    statements: Vec<Statement>,
    statement: Statement,
    word: Word,
    next: NextWord,
    /// Depth of the words within words that it reads.
    depth: usize,
    /// Statements that stand in words of the one at hand.
    inner: Vec<Statement>,
    /// Here-documents that begin at the next line: the statement, the last line, and whether tabs count.
    documents: Vec<(usize, String, bool)>,
}

/// The statements of a command, whatever joins them. Whatever cannot be shell is read as well as can be.
pub(super) fn statements(command: &str) -> Vec<Statement> {
    statements_at(command, 0)
}

fn statements_at(command: &str, depth: usize) -> Vec<Statement> {
    let mut reader = ShellParser {
        depth,
        inner: Vec::new(),
        statements: Vec::new(),
        statement: Statement::default(),
        word: Word::default(),
        next: NextWord::Word,
        documents: Vec::new(),
    };
    let mut at = 0;
    while let Some(rest) = command.get(at..).filter(|rest| !rest.is_empty()) {
        at += reader.step(rest, at);
    }
    reader.end_statement(command.len(), StatementEnd::Line);
    let mut statements = reader.statements;
    statements.retain(|statement| {
        !(statement.words.is_empty() && statement.written.is_empty() && statement.read.is_empty())
    });
    statements
}

impl ShellParser {
    /// Reads what stands at the beginning of `rest`; returns how many bytes that were.
    fn step(&mut self, rest: &str, at: usize) -> usize {
        let mut chars = rest.chars();
        let first = chars.next().unwrap_or_default();
        let second = chars.next();
        if !first.is_whitespace() && self.statement.span.end == 0 {
            self.statement.span = at..at + 1;
        }
        match first {
            '\n' => {
                self.end_statement(at, StatementEnd::Line);
                return 1 + self.read_documents(rest.get(1..).unwrap_or_default());
            }
            _ if first.is_whitespace() => self.end_word(),
            '\\' => {
                // Before a line break it joins two lines.
                if let Some(escaped) = second.filter(|escaped| *escaped != '\n') {
                    self.word.text.push(escaped);
                }
                return 1 + second.map_or(0, char::len_utf8);
            }
            '\'' => return 1 + self.single_quoted(rest.get(1..).unwrap_or_default()),
            '"' => return 1 + self.double_quoted(rest.get(1..).unwrap_or_default()),
            '#' if self.word == Word::default() => {
                if self.statement.words.is_empty() {
                    self.statement.span = 0..0;
                }
                return memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
            }
            '&' if second == Some('>') => self.end_word(),
            '>' => return self.output(rest),
            '<' => return self.input(rest),
            '$' if second == Some('(') => return self.substituted(rest, ')'),
            '`' => return self.substituted(rest, '`'),
            '|' if second != Some('|') => self.end_statement(at, StatementEnd::Pipe),
            ';' | '&' | '|' | '(' | ')' => {
                let is_or = first == '|';
                self.end_statement(
                    at,
                    if is_or {
                        StatementEnd::Or
                    } else {
                        StatementEnd::Joint
                    },
                );
                return 1 + usize::from(matches!(first, '&' | '|') && second == Some(first));
            }
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' | '.' | '/' | '=' => {
                let is_plain = |byte: u8| {
                    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'=')
                };
                let end = rest
                    .bytes()
                    .position(|byte| !is_plain(byte))
                    .unwrap_or(rest.len());
                self.word.text.push_str(rest.get(..end).unwrap_or_default());
                return end;
            }
            _ => {
                self.word.expands |= first == '$';
                self.word.is_pattern |= matches!(first, '*' | '?' | '[');
                self.word.text.push(first);
            }
        }
        first.len_utf8()
    }

    /// Commands in a word, whose output takes their place.
    fn substituted(&mut self, rest: &str, close: char) -> usize {
        let start = if close == ')' { 2 } else { 1 };
        let body = rest.get(start..).unwrap_or_default();
        let mut open = 1_usize;
        let mut quote = None;
        let mut end = body.len();
        for (at, char) in body.char_indices() {
            match (quote, char) {
                (Some(mark), _) if mark == char => quote = None,
                (None, '\'' | '"') => quote = Some(char),
                (None, _) if char == close => open -= 1,
                (None, '(') if close == ')' => open += 1,
                _ => {}
            }
            if open == 0 {
                end = at;
                break;
            }
        }
        let inner = body.get(..end).unwrap_or_default();
        if self.depth < MAX_DEPTH && !inner.starts_with('(') {
            let mut inner = statements_at(inner, self.depth + 1);
            for statement in &mut inner {
                statement.is_nested = true;
            }
            self.inner.append(&mut inner);
        }
        let whole = (start + end + 1).min(rest.len());
        self.word.expands = true;
        self.word.text.push_str(rest.get(..whole).unwrap_or_default());
        whole
    }

    fn single_quoted(&mut self, rest: &str) -> usize {
        let end = rest.find('\'').unwrap_or(rest.len());
        self.word.is_quoted = true;
        self.word.text.push_str(rest.get(..end).unwrap_or_default());
        (end + 1).min(rest.len())
    }

    fn double_quoted(&mut self, rest: &str) -> usize {
        self.word.is_quoted = true;
        let mut at = 0;
        while let Some(found) = memchr::memchr2(b'"', b'\\', rest.as_bytes().get(at..).unwrap_or_default()) {
            let text = rest.get(at..at + found).unwrap_or_default();
            self.push_quoted(text);
            at += found + 1;
            if rest.as_bytes().get(at - 1) == Some(&b'"') {
                return at;
            }
            let Some(escaped) = rest.get(at..).and_then(|rest| rest.chars().next()) else {
                break;
            };
            if !matches!(escaped, '"' | '\\' | '$' | '`' | '\n') {
                self.word.text.push('\\');
            }
            if escaped != '\n' {
                self.word.text.push(escaped);
            }
            at += escaped.len_utf8();
        }
        self.push_quoted(rest.get(at..).unwrap_or_default());
        rest.len()
    }

    fn push_quoted(&mut self, text: &str) {
        self.word.expands |= memchr::memchr2(b'$', b'`', text.as_bytes()).is_some();
        self.word.text.push_str(text);
    }

    fn output(&mut self, rest: &str) -> usize {
        // What stands right before may be the number of a stream.
        if self.word.text.chars().all(|c| c.is_ascii_digit()) && !self.word.is_quoted {
            self.word = Word::default();
        }
        self.end_word();
        let signs = rest
            .bytes()
            .take_while(|byte| matches!(byte, b'>' | b'|'))
            .count();
        let to_stream = rest.as_bytes().get(signs) == Some(&b'&');
        self.next = if to_stream {
            NextWord::Nothing
        } else {
            NextWord::Output
        };
        signs + usize::from(to_stream)
    }

    fn input(&mut self, rest: &str) -> usize {
        if self.word.text.chars().all(|c| c.is_ascii_digit()) {
            self.word = Word::default();
        }
        self.end_word();
        let signs = rest.bytes().take_while(|byte| *byte == b'<').count();
        let follows = rest.as_bytes().get(signs);
        let is_indented = signs == 2 && follows == Some(&b'-');
        self.next = match signs {
            1 if follows == Some(&b'&') => NextWord::Nothing,
            1 => NextWord::Input,
            2 => NextWord::Delimiter(is_indented),
            _ => NextWord::Nothing,
        };
        signs + usize::from(is_indented || (signs == 1 && follows == Some(&b'&')))
    }

    fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        if word.text.is_empty() && !word.is_quoted {
            return;
        }
        match std::mem::replace(&mut self.next, NextWord::Word) {
            NextWord::Word => self.statement.words.push(word),
            NextWord::Output => self.statement.written.push(word),
            NextWord::Input => self.statement.read.push(word),
            NextWord::Delimiter(is_indented) => {
                let document = (self.statements.len(), word.text, is_indented);
                self.documents.push(document);
            }
            NextWord::Nothing => {}
        }
    }

    fn end_statement(&mut self, at: usize, end: StatementEnd) {
        self.end_word();
        self.next = NextWord::Word;
        let mut statement = std::mem::take(&mut self.statement);
        statement.span.end = at.max(statement.span.start);
        statement.end = end;
        // Documents go to the statement by its place.
        if self
            .documents
            .last()
            .is_none_or(|(place, ..)| *place != self.statements.len())
        {
            self.statements.append(&mut self.inner);
        }
        self.statements.push(statement);
        self.statements.append(&mut self.inner);
    }

    /// The here-documents that begin here; returns how many bytes they take.
    fn read_documents(&mut self, rest: &str) -> usize {
        let mut read = 0;
        for (statement, end, is_indented) in std::mem::take(&mut self.documents) {
            let from = read;
            let mut to = rest.len();
            for line in rest.get(from..).unwrap_or_default().split_inclusive('\n') {
                let mut told = line.trim_end_matches(['\n', '\r']);
                if is_indented {
                    told = told.trim_start_matches('\t');
                }
                read += line.len();
                if told == end {
                    to = read - line.len();
                    break;
                }
            }
            if let Some(statement) = self.statements.get_mut(statement) {
                statement
                    .document
                    .push_str(rest.get(from..to).unwrap_or_default());
            }
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(words: &[Word]) -> Vec<&str> {
        words.iter().map(|word| word.text.as_str()).collect()
    }

    #[track_caller]
    fn reads(command: &str, expected: &[&[&str]]) {
        let statements = statements(command);
        let found: Vec<Vec<&str>> = statements
            .iter()
            .map(|statement| texts(&statement.words))
            .collect();
        assert_eq!(found, expected, "{command}");
    }

    #[test]
    fn words_and_statements_are_told_apart() {
        reads(
            "cd /a && cat \"my file.txt\" 'x y.py'; ls|wc -l",
            &[
                &["cd", "/a"],
                &["cat", "my file.txt", "x y.py"],
                &["ls"],
                &["wc", "-l"],
            ],
        );
        reads(
            "a\\ b \"q\\\"r\" ''# no comment # comment 'here\nnext \\\n line",
            &[&["a b", "q\"r", "#", "no", "comment"], &["next", "line"]],
        );
        reads("x=$(cat a) &", &[&["cat", "a"], &["x=$(cat a)"]]);
        reads(
            "a `b c` $(d $(e)) | f || g",
            &[
                &["b", "c"],
                &["e"],
                &["d", "$(e)"],
                &["a", "`b c`", "$(d $(e))"],
                &["f"],
                &["g"],
            ],
        );
        reads(
            "never \"ended é\\\\ and 'so on",
            &[&["never", "ended é\\ and 'so on"]],
        );
        reads("\\", &[]);
        reads("'", &[&[""]]);
    }

    #[test]
    fn what_is_redirected_is_no_word() {
        let found = statements("run -x <in.txt >out.txt 2>&1 2>>err.log &>all.log >|f.txt <<<word more >&2");
        assert_eq!(texts(&found[0].words), ["run", "-x", "more"]);
        assert_eq!(texts(&found[0].read), ["in.txt"]);
        assert_eq!(
            texts(&found[0].written),
            ["out.txt", "err.log", "all.log", "f.txt"]
        );
    }

    #[test]
    fn a_here_document_is_no_command() {
        let found = statements(
            "cat > a.py <<'EOF' && python a.py\nrm b.py\nEOF\ncat <<-X <<Y\n\tone\n\tX\ntwo\nY\nls",
        );
        let words: Vec<Vec<&str>> = found.iter().map(|statement| texts(&statement.words)).collect();
        assert_eq!(
            words,
            [vec!["cat"], vec!["python", "a.py"], vec!["cat"], vec!["ls"]]
        );
        assert_eq!(
            (found[0].document.as_str(), found[2].document.as_str()),
            ("rm b.py\n", "\tone\ntwo\n")
        );
        assert_eq!(statements("cat <<EOF\nnever ended")[0].document, "never ended");
    }
}

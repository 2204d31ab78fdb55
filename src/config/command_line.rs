//! A setting that holds a program and its arguments: split as a shell splits words, or a list of them.

use super::value::{Setting, Value, ValueKind};

/// A program and its arguments; empty if none is set. It is never passed to a shell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandLine(pub Vec<String>);

impl Setting for CommandLine {
    fn kind(&self) -> ValueKind {
        ValueKind::Words
    }

    fn value(&self) -> Value {
        if self.0.is_empty() {
            return Value::Null;
        }
        Value::Words(self.0.clone())
    }

    fn assign(&mut self, value: &Value) -> bool {
        let words = match value {
            Value::Words(words) => Some(words.clone()),
            // A text with an unclosed quote cannot be split.
            Value::Text(text) => shlex::split(text),
            _ => None,
        };
        let is_program = |words: &Vec<String>| {
            words.first().is_some_and(|program| !program.is_empty())
                && words.iter().all(|word| !word.contains('\0'))
        };
        words.filter(is_program).map(|words| self.0 = words).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_does_and_nothing_else_is_done_with_them() {
        let of = |value: Value| {
            let mut line = CommandLine::default();
            line.assign(&value).then_some(line.0)
        };
        let words = |words: &[&str]| Some(words.iter().map(ToString::to_string).collect::<Vec<_>>());
        let text = |text: &str| of(Value::Text(text.to_owned()));
        assert_eq!(
            text("python3 'my file.py' --n 5"),
            words(&["python3", "my file.py", "--n", "5"])
        );
        assert_eq!(
            text("a \"$HOME *\" > b | c"),
            words(&["a", "$HOME *", ">", "b", "|", "c"])
        );
        assert_eq!(
            of(Value::Words(vec!["a b".into(), String::new()])),
            words(&["a b", ""])
        );
        for wrong in ["", "  ", "'never closed", "'' argument"] {
            assert_eq!(text(wrong), None, "{wrong}");
        }
        assert_eq!(of(Value::Words(Vec::new())), None);
    }

    #[test]
    fn its_value_is_a_list_that_every_file_format_reads() {
        let line = CommandLine(vec!["a".to_owned(), "b \"c\"".to_owned()]);
        assert_eq!(line.value().to_string(), r#"["a","b \"c\""]"#);
    }
}

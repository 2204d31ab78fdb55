//! Translates flags that had another meaning before 0.1.0. To be removed in the version after it.

use std::ffi::OsString;

/// Returns the arguments with `--format` of answers replaced by its successor: `--json` of `count`, `check` and `lint`,
/// `--as` of `config`. The formats of records have other names.
pub fn translated(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments = arguments.peekable();
    let mut translated: Vec<OsString> = arguments.by_ref().take(2).collect();
    let command = translated
        .get(1)
        .and_then(|command| command.to_str())
        .unwrap_or_default();
    let is_config = command == "config";
    if !is_config && !["count", "check", "lint"].contains(&command) {
        translated.extend(arguments);
        return translated;
    }
    while let Some(argument) = arguments.next() {
        let mut of_next = || {
            arguments
                .peek()
                .and_then(|value| value.to_str())
                .map(str::to_owned)
        };
        let (value, is_next) = match argument.to_str() {
            Some("--format") => (of_next(), true),
            Some(text) => (text.strip_prefix("--format=").map(str::to_owned), false),
            None => (None, false),
        };
        match value.as_deref() {
            Some(form @ ("yaml" | "toml" | "json")) if is_config => {
                translated.push(format!("--as={form}").into());
            }
            Some("json") if !is_config => translated.push("--json".into()),
            Some("text") if !is_config => {}
            _ => {
                translated.push(argument);
                continue;
            }
        }
        if is_next {
            arguments.next();
        }
    }
    translated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_formats_of_answers_are_translated() {
        for (given, now) in [
            (
                "trajfit count a.jsonl --format json",
                "trajfit count a.jsonl --json",
            ),
            ("trajfit check --format=text a.jsonl", "trajfit check a.jsonl"),
            (
                "trajfit lint --format sharegpt a",
                "trajfit lint --format sharegpt a",
            ),
            ("trajfit config --format yaml", "trajfit config --as=yaml"),
            (
                "trajfit config --format=messages",
                "trajfit config --format=messages",
            ),
            (
                "trajfit compress --format json a",
                "trajfit compress --format json a",
            ),
            ("trajfit count a --format", "trajfit count a --format"),
            ("trajfit", "trajfit"),
        ] {
            let words = given.split(' ').map(OsString::from);
            assert_eq!(translated(words).join(" ".as_ref()), now, "{given}");
        }
    }
}

//! The checks of inputs that every command that reads records makes before it starts.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};

use crate::cli::CliError;
use crate::config::whole_number;
use crate::stores;

/// Refuses inputs that are not there or given twice.
pub fn check(inputs: &[PathBuf]) -> Result<(), CliError> {
    for (index, input) in inputs.iter().enumerate() {
        if inputs.iter().take(index).any(|earlier| earlier == input) {
            return Err(
                CliError::usage(format!("the input {} is given twice", input.display()))
                    .with_help("name every input once"),
            );
        }
        // Objects are asked for when the inputs are listed.
        if is_dash(input) || stores::is_url(input) {
            continue;
        }
        // Other errors of a file are reported when it is opened.
        if std::fs::metadata(input).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            return Err(
                CliError::usage(format!("cannot read the input {}: no such file", input.display()))
                    .with_help("INPUT is a file, a directory, a URL, or - for standard input"),
            );
        }
    }
    Ok(())
}

/// The parser of paths and URLs, which takes the secrets out of URLs.
pub fn path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(|path| stores::argument(path.as_os_str()))
}

/// Returns true if this means stdin, or stdout.
pub fn is_dash(path: &Path) -> bool {
    path.as_os_str() == OsStr::new("-")
}

/// The value of `--max-tokens` and `--p99`: at least 1.
pub fn tokens(text: &str) -> Result<u64, String> {
    let number = whole_number(text).filter(|number| *number > 0);
    number
        .map(|number| number as u64)
        .ok_or_else(|| "not a number of tokens such as 16000 or 16k".to_owned())
}

/// The value of `--sample`: `5`, `5%`, `0.5%`. A number below 1 needs the sign: it could be a share or a percentage.
pub fn percent(text: &str) -> Result<f64, String> {
    let digits = text.strip_suffix('%');
    let number: f64 = digits
        .unwrap_or(text)
        .trim()
        .parse()
        .map_err(|_| "not a percentage such as 5%".to_owned())?;
    if !(number > 0.0 && number <= 100.0) {
        return Err("not over 0 % and at most 100 %".to_owned());
    }
    if number < 1.0 && digits.is_none() {
        return Err(format!(
            "write {number}% or {}%, whichever is meant",
            number * 100.0
        ));
    }
    Ok(number)
}

/// The value of `--trigger`, a part of the budget.
pub fn trigger(text: &str) -> Result<f64, String> {
    let part = text.parse().ok().filter(|part| *part > 0.0 && *part <= 1.0);
    part.ok_or_else(|| "not a part over 0 and at most 1, such as 0.75".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_a_percentage() {
        for (text, number) in [
            ("5", 5.0),
            ("5%", 5.0),
            ("0.5 %", 0.5),
            ("100", 100.0),
            ("1", 1.0),
        ] {
            assert_eq!(percent(text), Ok(number), "{text}");
        }
        for wrong in ["", "%", "0", "-1%", "101", "NaN", "5%%", "five"] {
            assert!(percent(wrong).is_err(), "{wrong}");
        }
        assert_eq!(
            percent("0.05"),
            Err("write 0.05% or 5%, whichever is meant".to_owned())
        );
    }

    #[test]
    fn tokens_are_a_whole_number() {
        assert_eq!(
            (tokens("16k"), tokens("700"), tokens("1.5K")),
            (Ok(16_000), Ok(700), Ok(1_500))
        );
        assert!(tokens("0").is_err() && tokens("0.05").is_err() && tokens("16 kB").is_err());
    }
}

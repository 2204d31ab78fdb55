//! Colours in a terminal, as `--color` and the variables of the environment set them.

use std::env;
use std::ffi::OsString;

use clap::{ColorChoice, ValueEnum};

/// The value of `--color`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    // No doc comments: help would list the values line by line in every command.
    // On a terminal, unless NO_COLOR is set; with CLICOLOR_FORCE anywhere.
    #[default]
    Auto,
    Always,
    Never,
}

impl Color {
    /// The value that the arguments give, for help and errors that are printed before they are parsed.
    pub fn of(arguments: &[OsString]) -> Self {
        let words = arguments
            .iter()
            .map(|argument| argument.to_str().unwrap_or_default());
        let mut given = words.clone().zip(words.skip(1)).filter_map(|(word, next)| {
            let value = word
                .strip_prefix("--color=")
                .or_else(|| next.strip_prefix("--color="));
            value.or((word == "--color").then_some(next))
        });
        given
            .next_back()
            .and_then(|value| Self::from_str(value, false).ok())
            .unwrap_or_default()
    }

    /// Returns true if colours are printed to a stream, which `is_terminal` or not.
    pub fn is_wanted(self, is_terminal: bool) -> bool {
        let variable = |name| env::var(name).unwrap_or_default();
        self.is_wanted_with(&variable("NO_COLOR"), &variable("CLICOLOR_FORCE"), is_terminal)
    }

    fn is_wanted_with(self, no_color: &str, force: &str, is_terminal: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => no_color.is_empty() && (is_terminal || !["", "0"].contains(&force)),
        }
    }
}

impl From<Color> for ColorChoice {
    fn from(color: Color) -> Self {
        match color {
            // clap knows the two variables itself.
            Color::Auto => Self::Auto,
            Color::Always => Self::Always,
            Color::Never => Self::Never,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_outranks_the_variables_and_no_color_the_terminal() {
        for (color, no_color, force, is_terminal, is_wanted) in [
            (Color::Auto, "", "", true, true),
            (Color::Auto, "", "", false, false),
            (Color::Auto, "1", "1", true, false),
            (Color::Auto, "", "1", false, true),
            (Color::Auto, "", "0", false, false),
            (Color::Always, "1", "", false, true),
            (Color::Never, "", "1", true, false),
        ] {
            assert_eq!(color.is_wanted_with(no_color, force, is_terminal), is_wanted);
        }
    }

    #[test]
    fn the_flag_is_found_before_the_arguments_are_parsed() {
        for (given, color) in [
            ("trajfit show a --color never", Color::Never),
            ("trajfit --color=always show a", Color::Always),
            ("trajfit show a --color", Color::Auto),
            ("trajfit show a", Color::Auto),
        ] {
            let words: Vec<OsString> = given.split(' ').map(OsString::from).collect();
            assert_eq!(Color::of(&words), color, "{given}");
        }
    }
}

//! The effective configuration as YAML, TOML or JSON that `--config` reads back.

use std::fmt;
use std::fmt::Write as _;

use super::Config;
use super::keys::{ConfigKey, KEYS};
use super::value::Value;

/// A file format of configurations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MachineFormat {
    /// `section:` and indented `key: value`.
    Yaml,
    /// `[section]` and `key = value`.
    Toml,
    /// An object of objects.
    Json,
}

impl Config {
    /// Every value that has an effect or differs from its default, in that format. All three quote texts with JSON's
    /// escapes, which YAML and TOML know.
    pub fn to_machine(&self, format: MachineFormat) -> String {
        let mut sections: Vec<(&str, Vec<(&ConfigKey, Value)>)> = Vec::new();
        for key in KEYS {
            let value = key.value(self);
            let idle = key.is_idle(self) && value == key.value(&Self::default());
            if value == Value::Null || idle || key.is_hidden(self) {
                continue;
            }
            match sections.last_mut() {
                Some((section, entries)) if *section == key.section() => entries.push((key, value)),
                _ => sections.push((key.section(), vec![(key, value)])),
            }
        }
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = match format {
            MachineFormat::Yaml => write_sections(&mut text, &sections, ("", ":\n"), ("  ", ": "), ""),
            MachineFormat::Toml => write_sections(&mut text, &sections, ("[", "]\n"), ("", " = "), "\n"),
            MachineFormat::Json => write_json(&mut text, &sections),
        };
        text
    }
}

type Sections<'a> = [(&'a str, Vec<(&'a ConfigKey, Value)>)];

fn write_sections(
    text: &mut String,
    sections: &Sections,
    header: (&str, &str),
    entry: (&str, &str),
    between: &str,
) -> fmt::Result {
    for (index, (section, entries)) in sections.iter().enumerate() {
        let gap = if index == 0 { "" } else { between };
        write!(text, "{gap}{}{section}{}", header.0, header.1)?;
        for (key, value) in entries {
            writeln!(text, "{}{}{}{}", entry.0, key.field(), entry.1, Scalar(value))?;
        }
    }
    Ok(())
}

fn write_json(text: &mut String, sections: &Sections) -> fmt::Result {
    let mut gap = "{";
    for (section, entries) in sections {
        write!(text, "{gap}\n  \"{section}\": ")?;
        let mut inner_gap = "{";
        for (key, value) in entries {
            write!(text, "{inner_gap}\n    \"{}\": {}", key.field(), Scalar(value))?;
            inner_gap = ",";
        }
        text.push_str("\n  }");
        gap = ",";
    }
    text.push_str("\n}\n");
    Ok(())
}

/// A value, written so that all three formats read it.
pub struct Scalar<'a>(pub &'a Value);

impl fmt::Display for Scalar<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Value::Text(text) = self.0 else {
            // `{:?}` keeps the point of 2.0, without which TOML would read a whole number.
            return match self.0 {
                Value::Number(number) => write!(formatter, "{number:?}"),
                other => write!(formatter, "{other}"),
            };
        };
        formatter.write_char('"')?;
        for character in text.chars() {
            match character {
                '"' | '\\' => write!(formatter, "\\{character}")?,
                '\n' => formatter.write_str("\\n")?,
                '\r' => formatter.write_str("\\r")?,
                '\t' => formatter.write_str("\\t")?,
                // Characters that YAML counts as not printable; TOML and JSON forbid some of them.
                '\0'..='\x1f'
                | '\x7f'..='\u{9f}'
                | '\u{2028}'
                | '\u{2029}'
                | '\u{feff}'
                | '\u{fffe}'
                | '\u{ffff}' => {
                    write!(formatter, "\\u{:04x}", u32::from(character))?;
                }
                _ => formatter.write_char(character)?,
            }
        }
        formatter.write_char('"')
    }
}

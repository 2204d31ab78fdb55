//! A configuration value of any layer, and how it becomes a field of the `Config`.

use std::fmt;

use super::names::Named;

/// A value as a file, the environment or a flag gives it.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`: the key is present, but keeps its default.
    Null,
    /// A boolean.
    Switch(bool),
    /// A whole number.
    Whole(i128),
    /// Any other number.
    Number(f64),
    /// Text; the environment and flags give only this.
    Text(String),
    /// A list of texts.
    Words(Vec<String>),
    /// A kind that no key takes, by its name in messages.
    Other(&'static str),
}

/// The kind of value that a key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// A whole number, 0 or more.
    Count,
    /// A number.
    Number,
    /// A number of bytes, with or without a unit.
    Size,
    /// `true` or `false`.
    Switch,
    /// Text.
    Text,
    /// One of these names.
    Name(&'static [&'static str]),
    /// An object whose values may be of any kind.
    Object,
    /// A program and its arguments.
    Words,
    /// A field, and its value if it is not `false`.
    Mark,
}

/// A field that a value can be assigned to.
pub trait Setting {
    /// The kind of value that it takes.
    fn kind(&self) -> ValueKind;
    /// The current value.
    fn value(&self) -> Value;
    /// Assigns the value. Returns false, and changes nothing, if it is not of this kind.
    #[must_use]
    fn assign(&mut self, value: &Value) -> bool;
}

impl ValueKind {
    /// The kind in the words of a message: `must be …`.
    pub fn expected(self) -> &'static str {
        match self {
            Self::Count => "a whole number",
            Self::Number => "a number",
            Self::Size => "a size such as 500MB, 2GB or 64MiB",
            Self::Switch => "true or false",
            Self::Text => "text",
            Self::Name(_) => "a name",
            Self::Mark => {
                "a field of its own, or field=value with a text, number or boolean of JSON: train, weight=0"
            }
            Self::Object => "names with values, as JSON outside of files",
            Self::Words => {
                "a program and its arguments, with every quote closed, or in files a list of words"
            }
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => formatter.write_str("null"),
            Self::Switch(on) => write!(formatter, "{on}"),
            Self::Whole(number) => write!(formatter, "{number}"),
            Self::Number(number) => write!(formatter, "{number}"),
            Self::Text(text) => formatter.write_str(text),
            Self::Words(words) => formatter.write_str(&serde_json::to_string(words).map_err(|_| fmt::Error)?),
            Self::Other(shape) => formatter.write_str(shape),
        }
    }
}

/// Reads a whole number as people write it: `16000`, `16_000`, `16k`, `1.5k`, `1M`; `None` for anything else.
pub fn whole_number(text: &str) -> Option<usize> {
    // YAML 1.1 readers, such as the predecessor's, read `15_250` as a number.
    let text = text.replace('_', "");
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let (digits, zeros) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 3),
        None => text
            .strip_suffix(['m', 'M'])
            .map_or((text.as_str(), 0), |digits| (digits, 6)),
    };
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) if zeros > 0 && is_number(fraction) => {
            (whole, fraction.trim_end_matches('0'))
        }
        Some(_) => return None,
        None => (digits, ""),
    };
    let is_whole = is_number(whole) && fraction.len() <= zeros;
    is_whole
        .then(|| format!("{whole}{fraction:0<zeros$}").parse().ok())
        .flatten()
}

impl Setting for usize {
    fn kind(&self) -> ValueKind {
        ValueKind::Count
    }

    fn value(&self) -> Value {
        Value::Whole(i128::try_from(*self).unwrap_or(i128::MAX))
    }

    fn assign(&mut self, value: &Value) -> bool {
        let number = match value {
            Value::Whole(number) => usize::try_from(*number).ok(),
            Value::Text(text) => whole_number(text),
            _ => None,
        };
        number.map(|number| *self = number).is_some()
    }
}

impl Setting for f64 {
    fn kind(&self) -> ValueKind {
        ValueKind::Number
    }

    fn value(&self) -> Value {
        Value::Number(*self)
    }

    fn assign(&mut self, value: &Value) -> bool {
        let number = match value {
            Value::Whole(number) => Some(*number as f64),
            Value::Number(number) => Some(*number),
            Value::Text(text) => text.parse().ok(),
            _ => None,
        };
        number
            .filter(|number: &f64| number.is_finite())
            .map(|number| *self = number)
            .is_some()
    }
}

impl Setting for bool {
    fn kind(&self) -> ValueKind {
        ValueKind::Switch
    }

    fn value(&self) -> Value {
        Value::Switch(*self)
    }

    fn assign(&mut self, value: &Value) -> bool {
        let on = match value {
            Value::Switch(on) => Some(*on),
            // The words that YAML 1.1 readers take for booleans.
            Value::Text(text) => match text.to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" => Some(true),
                "false" | "no" | "off" => Some(false),
                _ => None,
            },
            _ => None,
        };
        on.map(|on| *self = on).is_some()
    }
}

impl Setting for String {
    fn kind(&self) -> ValueKind {
        ValueKind::Text
    }

    fn value(&self) -> Value {
        Value::Text(self.clone())
    }

    fn assign(&mut self, value: &Value) -> bool {
        let accepted = matches!(value, Value::Text(_) | Value::Whole(_) | Value::Number(_));
        if accepted {
            *self = value.to_string();
        }
        accepted
    }
}

impl<T: Setting + Default> Setting for Option<T> {
    fn kind(&self) -> ValueKind {
        T::default().kind()
    }

    fn value(&self) -> Value {
        self.as_ref().map_or(Value::Null, Setting::value)
    }

    fn assign(&mut self, value: &Value) -> bool {
        let mut inner = T::default();
        let accepted = inner.assign(value);
        if accepted {
            *self = Some(inner);
        }
        accepted
    }
}

impl<T: Named> Setting for T {
    fn kind(&self) -> ValueKind {
        ValueKind::Name(T::NAMES)
    }

    fn value(&self) -> Value {
        Value::Text(self.name().to_owned())
    }

    fn assign(&mut self, value: &Value) -> bool {
        let Value::Text(text) = value else { return false };
        T::from_name(text).map(|named| *self = named).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_takes_whole_numbers_only() {
        let mut count = 1_usize;
        for good in [
            Value::Whole(5),
            Value::Text("5".into()),
            Value::Text("5_000".into()),
        ] {
            assert!(count.assign(&good), "{good}");
        }
        for (text, number) in [
            ("16k", 16_000),
            ("16K", 16_000),
            ("1.5k", 1_500),
            ("1.050k", 1_050),
            ("2m", 2_000_000),
            ("0.5M", 500_000),
            ("5k", 5_000),
        ] {
            assert!(count.assign(&Value::Text(text.into())), "{text}");
            assert_eq!(count, number);
        }
        for wrong in [
            "k",
            ".5k",
            "1.k",
            "1.2345k",
            "1.5",
            "1 k",
            "-1k",
            "1kk",
            "1e3",
            "99999999999999999999k",
        ] {
            assert!(!count.assign(&Value::Text(wrong.into())), "{wrong}");
        }
        assert_eq!(count, 5000);
        let huge = Value::Text("99999999999999999999999".into());
        for bad in [
            Value::Whole(-1),
            Value::Number(1.5),
            Value::Text("+5".into()),
            Value::Switch(true),
            huge,
        ] {
            assert!(!count.assign(&bad), "{bad}");
        }
        assert_eq!(count, 5000);
    }

    #[test]
    fn a_number_takes_whole_numbers_too_but_must_be_finite() {
        let mut number = 0.3;
        assert!(number.assign(&Value::Whole(2)));
        assert!(!number.assign(&Value::Text("inf".into())));
        assert!(!number.assign(&Value::Number(f64::NAN)));
        assert!((number - 2.0).abs() < f64::EPSILON);
    }

    #[test]
    fn a_switch_takes_the_words_of_yaml_1_1() {
        let mut switch = true;
        assert!(switch.assign(&Value::Text("No".into())));
        assert!(!switch);
        assert!(!switch.assign(&Value::Whole(1)));
    }
}

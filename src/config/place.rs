//! A setting that is the place of an output file or folder: beside the output, at a path, or off.

use super::value::{Setting, Value, ValueKind};

/// The place of an optional file or folder of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum OutputPath {
    /// Beside the output.
    #[default]
    Auto,
    /// Not written.
    Off,
    /// At this path.
    Named(String),
}

impl Setting for OutputPath {
    fn kind(&self) -> ValueKind {
        ValueKind::Text
    }

    fn value(&self) -> Value {
        Value::Text(match self {
            Self::Auto => "auto".to_owned(),
            Self::Off => "off".to_owned(),
            Self::Named(path) => path.clone(),
        })
    }

    fn assign(&mut self, value: &Value) -> bool {
        *self = match value {
            Value::Switch(false) => Self::Off,
            Value::Switch(true) => Self::Auto,
            Value::Text(text) => match text.as_str() {
                "" => return false,
                "off" | "false" | "no" => Self::Off,
                "auto" | "on" | "true" | "yes" => Self::Auto,
                path => Self::Named(path.to_owned()),
            },
            _ => return false,
        };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_path_or_a_word() {
        let of = |value: Value| {
            let mut place = OutputPath::Auto;
            place.assign(&value).then_some(place)
        };
        assert_eq!(of(Value::Switch(false)), Some(OutputPath::Off));
        assert_eq!(of(Value::Text("off".into())), Some(OutputPath::Off));
        assert_eq!(of(Value::Text("auto".into())), Some(OutputPath::Auto));
        let path = OutputPath::Named("./off".to_owned());
        assert_eq!(of(Value::Text("./off".into())), Some(path));
        assert_eq!(of(Value::Text(String::new())), None);
        assert_eq!(of(Value::Whole(1)), None);
    }
}

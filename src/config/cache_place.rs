//! Where answers of language models are kept: beside the output, in a folder that is named, or nowhere.

use super::value::{Kind, Setting, Value};

/// Where answers are kept from run to run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CachePlace {
    /// In a folder beside the output.
    #[default]
    Auto,
    /// Nowhere: for the time of the run only.
    Off,
    /// In that folder.
    Folder(String),
}

impl Setting for CachePlace {
    fn kind(&self) -> Kind {
        Kind::Text
    }

    fn value(&self) -> Value {
        Value::Text(match self {
            Self::Auto => "auto".to_owned(),
            Self::Off => "off".to_owned(),
            Self::Folder(folder) => folder.clone(),
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
                folder => Self::Folder(folder.to_owned()),
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
    fn it_is_a_folder_or_a_word() {
        let of = |value: Value| {
            let mut place = CachePlace::Auto;
            place.assign(&value).then_some(place)
        };
        assert_eq!(of(Value::Switch(false)), Some(CachePlace::Off));
        assert_eq!(of(Value::Text("off".into())), Some(CachePlace::Off));
        assert_eq!(of(Value::Text("auto".into())), Some(CachePlace::Auto));
        let folder = CachePlace::Folder("./off".to_owned());
        assert_eq!(of(Value::Text("./off".into())), Some(folder));
        assert_eq!(of(Value::Text(String::new())), None);
        assert_eq!(of(Value::Whole(1)), None);
    }
}

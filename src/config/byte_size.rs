//! A setting that is a number of bytes, written as people write sizes.

use super::units;
use super::value::{Setting, Value, ValueKind};

/// A number of bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ByteSize(pub u64);

impl Setting for ByteSize {
    fn kind(&self) -> ValueKind {
        ValueKind::Size
    }

    fn value(&self) -> Value {
        Value::Text(units::written(self.0))
    }

    fn assign(&mut self, value: &Value) -> bool {
        let bytes = match value {
            Value::Whole(bytes) => u64::try_from(*bytes).ok(),
            Value::Text(text) => units::size(text).ok(),
            _ => None,
        };
        bytes.map(|bytes| self.0 = bytes).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_size_or_a_number_of_bytes() {
        let of = |value: Value| {
            let mut size = ByteSize(1);
            size.assign(&value).then_some(size.0)
        };
        assert_eq!(of(Value::Text("1.5 MB".into())), Some(1_500_000));
        assert_eq!(of(Value::Whole(4096)), Some(4096));
        for wrong in [Value::Text("much".into()), Value::Whole(-1), Value::Switch(true)] {
            assert_eq!(of(wrong), None);
        }
        for bytes in [0, 7, 1_000, 256_000_000, 1 << 30, 1_500_000] {
            assert_eq!(of(ByteSize(bytes).value()), Some(bytes));
        }
    }
}

//! The custom id of a request in a batch: the key of its answer in hexadecimal.
//!
//! Anthropic allows 1 to 64 letters, digits, `-` and `_`; these are 64 digits. Only equal requests have equal ids, and
//! then one of them is enough.

use std::fmt::Write;

use crate::summarize::answers::AnswerKey;

/// The custom id of a request.
pub fn of(key: &AnswerKey) -> String {
    hex(key.bytes())
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The key that a custom id stands for; `None` if the id is not ours.
pub fn key(id: &str) -> Option<AnswerKey> {
    let mut bytes = [0; 32];
    let mut digits = id.bytes();
    for byte in &mut bytes {
        *byte = 16 * digit(digits.next()?)? + digit(digits.next()?)?;
    }
    digits.next().is_none().then(|| AnswerKey::from_bytes(bytes))
}

fn digit(character: u8) -> Option<u8> {
    match character {
        b'0'..=b'9' => Some(character - b'0'),
        b'a'..=b'f' => Some(character - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_leads_back_to_its_key_and_is_what_every_vendor_takes() {
        let answer = AnswerKey::of(&["model", "prompt"]);
        let id = of(&answer);
        assert_eq!((id.len(), key(&id)), (64, Some(answer)));
        assert!(id.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    }

    #[test]
    fn ids_of_others_are_nobodys() {
        let id = of(&AnswerKey::of(&["x"]));
        for other in [
            "",
            "request-1",
            &id[1..],
            &format!("{id}0"),
            &id.replace(|_| true, "G"),
            "é",
        ] {
            assert_eq!(key(other), None, "{other}");
        }
    }
}

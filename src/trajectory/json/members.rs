//! The members of a JSON object as written: keys and values as spans, in order.

use std::ops::Range;

use crate::trajectory::json;

/// One member of an object, as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::trajectory) struct Member<'a> {
    /// The key, with its quotes.
    pub key: &'a str,
    /// The value.
    pub value: &'a str,
}

impl Member<'_> {
    /// Returns true if the member has this key, in any escaped form.
    pub fn is(&self, key: &str) -> bool {
        json::decode(self.key).0 == key
    }
}

/// Returns the members of an object, given as validated JSON; none if it is no object.
pub(in crate::trajectory) fn members(object: &str) -> Vec<Member<'_>> {
    members_beside(object, 0..0)
}

/// The same, without reading the bytes `known`: the elements of a list in it.
pub(in crate::trajectory) fn members_beside(object: &str, known: Range<usize>) -> Vec<Member<'_>> {
    let mut members = Vec::new();
    let mut scan = MemberScan {
        text: object,
        at: 0,
        known,
    };
    if scan.skip_to_value() != Some(b'{') {
        return members;
    }
    scan.at += 1;
    while scan.skip_to_value() == Some(b'"') {
        let Some(key) = scan.value() else { break };
        scan.skip_to_value();
        let Some(value) = scan.value() else { break };
        members.push(Member { key, value });
    }
    members
}

struct MemberScan<'a> {
    text: &'a str,
    at: usize,
    known: Range<usize>,
}

impl<'a> MemberScan<'a> {
    /// Skips white space, commas and colons, and returns the next byte.
    fn skip_to_value(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b':');
        self.at += rest.iter().take_while(|byte| blank(byte)).count();
        self.text.as_bytes().get(self.at).copied()
    }

    /// Consumes and returns the value that begins here.
    fn value(&mut self) -> Option<&'a str> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut depth = 0_usize;
        loop {
            if self.at == self.known.start {
                self.at = self.known.end;
            }
            match bytes.get(self.at)? {
                b'"' => self.at = json::string_end(bytes, self.at),
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth > 0 => depth -= 1,
                b'}' | b']' => return None,
                _ => {}
            }
            self.at += 1;
            let ends = || {
                matches!(
                    bytes.get(self.at),
                    None | Some(b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r')
                )
            };
            let is_scalar = !matches!(bytes.get(start), Some(b'"' | b'{' | b'['));
            if depth == 0 && (!is_scalar || ends()) {
                return self.text.get(start..self.at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_stand_as_written_and_in_order() {
        let object = r#" {"a": 1.50 ,"b\n":"x\"}","c":{"d":[1,{"e":"]"}]} , "a":null,"f":true}"#;
        let found: Vec<(&str, &str)> = members(object)
            .iter()
            .map(|member| (member.key, member.value))
            .collect();
        let expected = [
            ("\"a\"", "1.50"),
            ("\"b\\n\"", "\"x\\\"}\""),
            ("\"c\"", r#"{"d":[1,{"e":"]"}]}"#),
            ("\"a\"", "null"),
            ("\"f\"", "true"),
        ];
        assert_eq!(found, expected);
        assert!(members(object)[1].is("b\n"));
        for none in ["{}", "[]", "7", "", "\"x\""] {
            assert_eq!(members(none), [], "{none}");
        }
    }
}

//! Finds where the values of JSON text end, and checks them on the way. It declines deep nesting and all that is no JSON: `serde_json`
//! reads what it declines, and knows what is wrong.

/// The deepest nesting that is read: one bit for each open list or object.
const DEEPEST: u32 = 64;

/// A place in JSON text.
pub(in crate::trajectory) struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scan<'a> {
    /// The start of a text.
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The byte offset of the place.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The text from an offset to here.
    pub fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Skips white space. Returns the next byte.
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.as_bytes().get(self.at)?;
            if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Takes a byte behind white space, if it is the next one.
    pub fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// If nothing but white space is left.
    pub fn is_at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Takes a key with its colon. Returns it with its quotes.
    pub fn key(&mut self) -> Option<&'a str> {
        let is_string = self.peek()? == b'"';
        let start = self.at;
        is_string.then(|| self.string())??;
        let key = self.since(start);
        self.take(b':')?;
        Some(key)
    }

    /// Takes a value. Returns it as it stands.
    pub fn value(&mut self) -> Option<&'a str> {
        let first = self.peek()?;
        let start = self.at;
        match first {
            b'{' | b'[' => self.nested()?,
            _ => self.scalar(first)?,
        }
        Some(self.since(start))
    }

    /// Takes a list or an object.
    fn nested(&mut self) -> Option<()> {
        // The innermost is the lowest bit, which is set for an object.
        let mut objects = 0_u64;
        let mut depth = 0;
        loop {
            let first = self.peek()?;
            if let b'{' | b'[' = first {
                if depth == DEEPEST {
                    return None;
                }
                let is_object = first == b'{';
                depth += 1;
                objects = objects << 1 | u64::from(is_object);
                self.at += 1;
                match (is_object, self.peek()?) {
                    (true, b'}') | (false, b']') => {}
                    (true, _) => {
                        self.key()?;
                        continue;
                    }
                    (false, _) => continue,
                }
            } else {
                self.scalar(first)?;
            }
            // A value ended; those that it ends with it do too.
            loop {
                if depth == 0 {
                    return Some(());
                }
                let next = self.peek()?;
                self.at += 1;
                match (next, objects & 1 == 1) {
                    (b'}', true) | (b']', false) => {
                        depth -= 1;
                        objects >>= 1;
                    }
                    (b',', true) => {
                        self.key()?;
                        break;
                    }
                    (b',', false) => break,
                    _ => return None,
                }
            }
        }
    }

    fn scalar(&mut self, first: u8) -> Option<()> {
        match first {
            b'"' => self.string(),
            b't' => self.literal("true"),
            b'f' => self.literal("false"),
            b'n' => self.literal("null"),
            _ => self.number(),
        }
    }

    fn literal(&mut self, literal: &str) -> Option<()> {
        let rest = self.text.as_bytes().get(self.at..)?;
        rest.starts_with(literal.as_bytes())
            .then(|| self.at += literal.len())
    }

    fn number(&mut self) -> Option<()> {
        let byte = |scan: &Self| scan.text.as_bytes().get(scan.at).copied().unwrap_or_default();
        if byte(self) == b'-' {
            self.at += 1;
        }
        if byte(self) == b'0' {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if byte(self) == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if let b'e' | b'E' = byte(self) {
            self.at += 1;
            if let b'+' | b'-' = byte(self) {
                self.at += 1;
            }
            self.digits()?;
        }
        // `01` is no number.
        (!byte(self).is_ascii_digit()).then_some(())
    }

    /// Takes digits, at least one.
    fn digits(&mut self) -> Option<()> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        (count > 0).then_some(())
    }

    /// Takes the string whose opening quote is here.
    fn string(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        let mut start = self.at + 1;
        loop {
            let rest = bytes.get(start..)?;
            let mut stops = match rest.first_chunk() {
                Some(block) => stops(block),
                None => stops(&last_block(rest)),
            };
            let mut next = start + BLOCK;
            while stops != 0 {
                let place = stops.trailing_zeros();
                let at = start + place as usize;
                match bytes.get(at)? {
                    b'"' => {
                        self.at = at + 1;
                        return Some(());
                    }
                    b'\\' => {
                        if !is_escape(bytes.get(at + 1..)?) {
                            return None;
                        }
                        // What is escaped is no stop, and the digits of a character never are.
                        stops &= !(0b11 << place);
                        next = next.max(at + 2);
                    }
                    // A control character.
                    _ => return None,
                }
            }
            start = next;
        }
    }
}

/// If a backslash before these bytes begins an escape.
#[inline]
fn is_escape(rest: &[u8]) -> bool {
    match rest.first() {
        Some(b'u') => rest
            .get(1..5)
            .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)),
        Some(byte) => IS_ESCAPED[usize::from(*byte)],
        None => false,
    }
}

/// For each byte, whether a backslash before it makes an escape of two bytes.
const IS_ESCAPED: [bool; 256] = {
    let mut is_escaped = [false; 256];
    let simple = b"\"\\/bfnrt";
    let mut at = 0;
    while at < simple.len() {
        is_escaped[simple[at] as usize] = true;
        at += 1;
    }
    is_escaped
};

/// The bytes that are looked at together.
const BLOCK: usize = 32;

/// The last bytes of a text as a block: behind them a string would end.
fn last_block(rest: &[u8]) -> [u8; BLOCK] {
    let mut block = [b'"'; BLOCK];
    for (to, from) in block.iter_mut().zip(rest) {
        *to = *from;
    }
    block
}

/// A bit for each quote, backslash and control character.
#[inline]
fn stops(block: &[u8; BLOCK]) -> u32 {
    /// Moves the lowest bits of eight bytes into the highest byte.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    // No early exit: several bytes are compared at once.
    let is_stop = block.map(|byte| u8::from(byte == b'"') | u8::from(byte == b'\\') | u8::from(byte < b' '));
    let (words, _) = is_stop.as_chunks::<8>();
    let words = words.iter().rev().map(|word| u64::from_le_bytes(*word));
    words.fold(0, |stops, word| {
        stops << 8 | (word.wrapping_mul(GATHER) >> 56) as u32
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;

    fn scanned(text: &str) -> Option<&str> {
        let mut scan = Scan::new(text);
        let value = scan.value()?;
        scan.is_at_end().then_some(value)
    }

    fn read(text: &str) -> Option<&str> {
        let read: Result<&RawValue, _> = serde_json::from_str(text);
        read.ok().map(RawValue::get)
    }

    #[test]
    fn values_are_taken_as_serde_json_takes_them() {
        let nested = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat();
        for text in [
            r#" {"a": [1, -0.5e+3, {"b\"\\\u00e9": "x\n"}, [], {}], "c": null , "d":true} "#,
            r#""a string of more than eight bytes, é 漢 \/\b\f\n\r\t""#,
            "0",
            "-12.25E-7",
            " [ ] ",
            &nested(DEEPEST as usize),
        ] {
            assert_eq!(scanned(text), Some(text.trim()), "{text}");
            assert_eq!(read(text), Some(text.trim()), "{text}");
        }
        assert_eq!(scanned(&nested(DEEPEST as usize + 1)), None);
    }

    #[test]
    fn what_is_no_json_is_declined() {
        for text in [
            "",
            "[",
            "[1,]",
            "{\"a\":1,}",
            "{\"a\"}",
            "{a:1}",
            "[1 2]",
            "01",
            "-",
            "1.",
            "1e",
            "tru",
            "nulll",
            "\"\\x\"",
            "\"\\u00g0\"",
            "\"a\nb\"",
            "\"",
            "\"a",
            "[}",
            "{]",
            "{\"a\":1]",
            "1 1",
            ",",
            "{\"a\n\":1}",
            "{1:1}",
        ] {
            assert_eq!(scanned(text), None, "{text}");
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn each_stop_has_its_bit(block in any::<[u8; BLOCK]>(), part in 0..4_u8) {
            let block = block.map(|byte| if byte & 3 < part { b"\"\\\n a"[usize::from(byte >> 2) % 5] } else { byte });
            let found = stops(&block);
            for (place, byte) in block.iter().enumerate() {
                prop_assert_eq!(found >> place & 1 == 1, matches!(byte, b'"' | b'\\' | ..b' '));
            }
        }

        /// Nothing is taken that `serde_json` does not take, or otherwise than it does.
        #[test]
        fn it_takes_what_serde_json_takes(text in r#"[\[\]{}:, 01.eE"\\nu+a\ntrf-]{0,24}"#) {
            prop_assert_eq!(scanned(&text), read(&text));
        }

        #[test]
        fn and_strings_of_any_characters(text in any::<String>(), cut in 0..40_usize) {
            let literal = serde_json::to_string(&[&text, "\u{7f}é漢"]).unwrap();
            prop_assert_eq!(scanned(&literal), Some(literal.as_str()));
            let cut = literal.floor_char_boundary(literal.len().saturating_sub(cut + 1));
            prop_assert_eq!(scanned(&literal[..cut]), read(&literal[..cut]));
        }
    }
}

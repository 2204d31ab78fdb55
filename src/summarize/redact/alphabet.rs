//! The alphabets that tokens are made of.

/// Characters that a token may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alphabet {
    /// `0-9`
    Digit,
    /// `A-Z0-9`
    Upper,
    /// `a-z0-9`
    Lower,
    /// `0-9a-fA-F`
    Hex,
    /// Hexadecimal with dashes.
    Uuid,
    /// `A-Za-z0-9`
    Alnum,
    /// `A-Za-z0-9_-`
    Url,
    /// `A-Za-z0-9_.-`
    Dotted,
    /// `A-Za-z0-9_.~-`
    Tilde,
    /// `A-Za-z0-9+/=`
    Base64,
    /// `A-Za-z0-9_./+=-`
    Path,
    /// Those, and `@`.
    Webhook,
    /// `A-Za-z0-9_.-=%`
    Escaped,
}

impl Alphabet {
    /// The alphabet of that name in the table of token forms.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "digit" => Self::Digit,
            "upper" => Self::Upper,
            "lower" => Self::Lower,
            "hex" => Self::Hex,
            "uuid" => Self::Uuid,
            "alnum" => Self::Alnum,
            "url" => Self::Url,
            "dotted" => Self::Dotted,
            "tilde" => Self::Tilde,
            "base64" => Self::Base64,
            "path" => Self::Path,
            "webhook" => Self::Webhook,
            "escaped" => Self::Escaped,
            _ => return None,
        })
    }

    /// Returns true if a byte belongs to it.
    #[inline]
    pub fn holds(self, byte: u8) -> bool {
        match self {
            Self::Digit => byte.is_ascii_digit(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Lower => byte.is_ascii_lowercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Uuid => byte.is_ascii_hexdigit() || byte == b'-',
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Self::Tilde => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'~'),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
            Self::Path => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'+' | b'=')
            }
            Self::Webhook => byte == b'@' || Self::Path.holds(byte),
            Self::Escaped => matches!(byte, b'%' | b'=') || Self::Dotted.holds(byte),
        }
    }
}

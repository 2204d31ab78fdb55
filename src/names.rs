//! Enums whose variants have names, and the error that lists these names if one is unknown.

/// Similarity (0 to 1, normalized Damerau-Levenshtein) above which a name is suggested. Below it a suggestion misleads:
/// `mask` and `fail` share a letter in place, but neither is a misspelling of the other.
const SIMILAR_ENOUGH: f64 = 0.5;

/// Bytes of the longest name that is compared: comparing takes quadratic time.
const LONGEST: usize = 200;

/// An enum whose variants have names in configuration files and flags.
pub trait Named: Copy + Sized + 'static {
    /// All names, in the order in which messages list them.
    const NAMES: &'static [&'static str];
    /// The variant of that name.
    fn from_name(name: &str) -> Option<Self>;
    /// The variant's name.
    fn name(self) -> &'static str;
}

/// A name that no variant has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown name {name:?}; known are: {}", known.join(", "))]
pub struct UnknownName {
    /// The name given.
    pub name: String,
    /// The names there are.
    pub known: &'static [&'static str],
    /// The known name that it resembles most.
    pub nearest: Option<&'static str>,
}

/// The known name most similar to `name`, the first of equals; `None` if none is similar enough.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST {
        return None;
    }
    let name = name.to_lowercase();
    let mut best = (SIMILAR_ENOUGH, None);
    for candidate in known {
        let similarity = strsim::normalized_damerau_levenshtein(&name, &candidate.to_lowercase());
        if similarity > best.0 {
            best = (similarity, Some(candidate));
        }
    }
    best.1
}

/// Defines an enum with a name for each variant.
macro_rules! named {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$doc])* $variant),+ }

        impl $crate::names::Named for $name {
            const NAMES: &'static [&'static str] = &[$($text),+];

            fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$variant),)+ _ => None }
            }

            fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::names::UnknownName;

            fn from_str(name: &str) -> Result<Self, $crate::names::UnknownName> {
                $crate::names::Named::from_name(name).ok_or_else(|| $crate::names::UnknownName {
                    name: name.to_owned(),
                    known: <Self as $crate::names::Named>::NAMES,
                    nearest: $crate::names::nearest(name, <Self as $crate::names::Named>::NAMES.iter().copied()),
                })
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str($crate::names::Named::name(*self))
            }
        }
    };
}

pub(crate) use named;

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_of_the_finger_is_recognized_and_another_word_is_not() {
        let known = ["keep", "reject", "fail"];
        assert_eq!(nearest("rejcet", known), Some("reject"));
        assert_eq!(nearest("KEEP", known), Some("keep"));
        assert_eq!(nearest("mask", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(nearest(&"k".repeat(100_000), known), None);
    }
}

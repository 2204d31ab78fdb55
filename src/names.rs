//! Choices that have names: an enum, its names, and the error that lists them for a name that none has.

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

/// Makes an enum with a name for each variant.
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
                    nearest: $crate::config::nearest(name, <Self as $crate::names::Named>::NAMES.iter().copied()),
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

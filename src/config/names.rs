//! The choices that have names: each an enum, its names, and the error that lists them.

use std::fmt;
use std::str::FromStr;

use super::nearest::nearest;

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

macro_rules! named {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$doc])* $variant),+ }

        impl Named for $name {
            const NAMES: &'static [&'static str] = &[$($text),+];

            fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$variant),)+ _ => None }
            }

            fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        impl FromStr for $name {
            type Err = UnknownName;

            fn from_str(name: &str) -> Result<Self, UnknownName> {
                Self::from_name(name).ok_or_else(|| UnknownName {
                    name: name.to_owned(),
                    known: Self::NAMES,
                    nearest: nearest(name, Self::NAMES.iter().copied()),
                })
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(self.name())
            }
        }
    };
}

named! {
    /// How a trajectory is made to fit.
    Strategy {
        /// A stretch of the middle is replaced by one summary turn.
        Summarize = "summarize",
    }
}

named! {
    /// What the budget is measured in.
    CountMode {
        /// The sum of what the turns cost.
        Values = "values",
    }
}

named! {
    /// What becomes of a record that is still over the budget.
    OverLimit {
        /// It is written, and counted.
        Keep = "keep",
        /// It goes to the rejects file.
        Reject = "reject",
        /// It is written, and the run ends with exit code 1.
        Fail = "fail",
    }
}

named! {
    /// Where the summary goes.
    SummaryPlacement {
        /// A turn of the human role right after the head.
        Human = "human",
        /// The end of the turn before the region.
        Merge = "merge",
        /// `human` where the format's order allows it, else `merge`.
        Auto = "auto",
    }
}

named! {
    /// Who writes summaries.
    SummarizerKind {
        /// Quotes from the region: deterministic, no network.
        Extractive = "extractive",
    }
}

named! {
    /// What becomes of a record whose summary failed.
    OnFailure {
        /// The extractive summary is used, and the row marked degraded.
        Fallback = "fallback",
        /// The original is kept, and marked.
        Keep = "keep",
        /// The run ends.
        Fail = "fail",
    }
}

named! {
    /// The format that records are read as.
    InputFormat {
        /// Detected a record at a time.
        Auto = "auto",
        /// `conversations` of `from` and `value`.
        Sharegpt = "sharegpt",
        /// `messages` of `role` and `content`.
        Messages = "messages",
    }
}

named! {
    /// What becomes of a line that cannot be read as a trajectory.
    OnInvalid {
        /// It goes to the rejects file with the reason.
        Reject = "reject",
        /// It is written through unchanged.
        Pass = "pass",
        /// The run ends.
        Fail = "fail",
    }
}

named! {
    /// How output is compressed as a file.
    OutputCompression {
        /// By the output's name: `.gz`, `.zst`, else none.
        Auto = "auto",
        /// Not at all.
        None = "none",
        /// gzip.
        Gzip = "gzip",
        /// Zstandard.
        Zstd = "zstd",
    }
}

impl SummarizerKind {
    /// Whether its requests leave the machine, so that the keys about endpoints and secrets matter.
    pub fn uses_network(self) -> bool {
        match self {
            Self::Extractive => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_parses_to_the_variant_that_prints_it() {
        for name in OutputCompression::NAMES {
            assert_eq!(name.parse::<OutputCompression>().unwrap().to_string(), *name);
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones_and_the_nearest() {
        let error = "keeep".parse::<OverLimit>().unwrap_err();
        assert_eq!(error.nearest, Some("keep"));
        assert_eq!(
            error.to_string(),
            "unknown name \"keeep\"; known are: keep, reject, fail"
        );
    }
}

//! The tables of lines that outputs have.

/// A table of lines that outputs have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    Errors,
    Results,
    Runners,
    Compilers,
}

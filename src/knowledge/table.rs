//! The tables of lines that outputs have.

/// A table of lines that outputs have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineTable {
    Errors,
    Results,
    Runners,
    Compilers,
}

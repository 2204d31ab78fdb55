//! The value that a name is given, and how it stands in its text.

use std::ops::Range;

use super::separator::Syntax;

/// A value, and how it stands in its text.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // Each says one thing about where it stands.
pub struct NamedValue<'t> {
    /// The value.
    pub text: &'t str,
    /// The place where it stands.
    pub span: Range<usize>,
    /// Between quotes.
    pub is_quoted: bool,
    /// A call, an index or an attribute.
    pub is_expression: bool,
    /// In a place where values stand without quotes: options, variables of the environment, settings.
    pub is_data: bool,
    /// The name is that of a variable of the environment.
    pub is_variable: bool,
    /// The syntax that gives it.
    pub how: Syntax,
    /// A blank follows, or the end of its line.
    pub ends_line: bool,
    /// Name and value are all of their line.
    pub is_line: bool,
}

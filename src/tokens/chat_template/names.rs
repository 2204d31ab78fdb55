//! Names of the filters, functions and methods that templates are rewritten to call.

/// The filter that a loop's sequence goes through.
pub const ITERATE: &str = "__iterate__";

/// The method that slices become calls of.
pub const SLICE: &str = "__slice__";

/// The function that checks a value which an operator or brackets made.
pub const MADE: &str = "__made__";

/// The test that charges text of the template, and never holds.
pub const WRITES: &str = "__writes__";

/// The function that checks what a namespace or a loop is to hold.
pub const KEPT: &str = "__kept__";

/// The filters whose results are marked.
pub const MARKING: [&str; 4] = ["e", "escape", "forceescape", "safe"];

/// The filters that operators become.
pub const ADD: &str = "__add__";
pub const CONCATENATE: &str = "__concatenate__";
pub const MULTIPLY: &str = "__multiply__";

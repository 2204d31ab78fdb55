//! Names of the filters, functions and methods that rewritten templates call.

/// The filter that the sequence of a loop passes through.
pub const ITERATE: &str = "__iterate__";

/// The method that slices are rewritten to.
pub const SLICE: &str = "__slice__";

/// The function that checks a value made by an operator or brackets.
pub const MADE: &str = "__made__";

/// The test that charges text of the template to the budget; it is always false.
pub const WRITES: &str = "__writes__";

/// The function that checks a value before a namespace or a loop keeps it.
pub const KEPT: &str = "__kept__";

/// The filters whose results are marked as safe.
pub const MARKING: [&str; 4] = ["e", "escape", "forceescape", "safe"];

/// The filters that operators are rewritten to.
pub const ADD: &str = "__add__";
pub const CONCATENATE: &str = "__concatenate__";
pub const MULTIPLY: &str = "__multiply__";

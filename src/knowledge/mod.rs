//! Knowledge as data: tables of what tools print, compiled in, parsed when first needed, checked by the examples in them.

pub(crate) mod errors;
pub(crate) mod found;
pub(crate) mod pattern;
pub(crate) mod phrases;
pub(crate) mod reading;
pub(crate) mod results;
pub(crate) mod runners;
mod table;
pub(crate) mod test_counts;
pub(crate) mod tool_names;

/// A table of this folder. One that cannot be parsed is empty, which its test sees.
fn table<T: serde::de::DeserializeOwned + Default>(text: &str) -> T {
    toml::from_str(text).unwrap_or_default()
}

//! Which fields of answers the summary has told already, so that each is told once, and again only when it has changed.

use rustc_hash::{FxHashMap, FxHashSet};

/// What was told so far.
#[derive(Debug, Default)]
pub(in crate::summarize) struct Told {
    /// Fields as `key: value`.
    fields: FxHashSet<String>,
    /// The field that each call's answer had last under each of its outermost keys.
    current: FxHashMap<(String, String), String>,
}

impl Told {
    /// Notes a field of the answer to the call `target`, and says whether it must be told: nobody told it before, or it was
    /// another value meanwhile. Items of lists (`is_outermost` false) take nothing's place.
    pub fn is_new(&mut self, target: &str, key: &str, field: &str, is_outermost: bool) -> bool {
        if is_outermost {
            let place = (target.to_owned(), key.to_owned());
            if let Some(before) = self.current.insert(place, field.to_owned())
                && before != field
            {
                self.fields.remove(&before);
            }
        }
        self.fields.insert(field.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_comes_back_is_told_again() {
        let mut told = Told::default();
        let mut is_new = |field: &str| told.is_new("get(1)", "plan", field, true);
        assert!(is_new("plan: basic"));
        assert!(!is_new("plan: basic"));
        assert!(is_new("plan: premium"));
        assert!(is_new("plan: basic"));
    }
}

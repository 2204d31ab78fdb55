//! Fields of answers that the summary has reported, so that each stands there once, and again only when it has changed.

use rustc_hash::{FxHashMap, FxHashSet};

/// The fields reported so far.
#[derive(Debug, Default)]
pub(crate) struct ReportedFields {
    /// Fields as `key: value`.
    fields: FxHashSet<String>,
    /// The field that each call's answer had last under each of its outermost keys.
    current: FxHashMap<String, FxHashMap<String, String>>,
}

impl ReportedFields {
    /// Notes a field of the answer to the call `target`, and says whether it must be told: nobody told it before, or it was
    /// another value meanwhile. Items of lists (`is_outermost` false) take nothing's place.
    pub fn is_new(&mut self, target: &str, key: &str, field: &str, is_outermost: bool) -> bool {
        if is_outermost {
            if !self.current.contains_key(target) {
                self.current.insert(target.to_owned(), FxHashMap::default());
            }
            match self
                .current
                .get_mut(target)
                .and_then(|fields| fields.get_mut(key))
            {
                Some(before) if before == field => {}
                Some(before) => {
                    self.fields.remove(before);
                    field.clone_into(before);
                }
                None => {
                    let fields = self.current.get_mut(target);
                    fields.and_then(|fields| fields.insert(key.to_owned(), field.to_owned()));
                }
            }
        }
        !self.fields.contains(field) && self.fields.insert(field.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_comes_back_is_told_again() {
        let mut told = ReportedFields::default();
        let mut is_new = |field: &str| told.is_new("get(1)", "plan", field, true);
        assert!(is_new("plan: basic"));
        assert!(!is_new("plan: basic"));
        assert!(is_new("plan: premium"));
        assert!(is_new("plan: basic"));
    }
}

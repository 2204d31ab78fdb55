//! Which known name a mistyped one was probably meant to be.

/// Below this similarity (0 to 1, normalized Damerau-Levenshtein) a suggestion misleads more than it helps:
/// `mask` and `fail` share a letter in place, and nobody who types one means the other.
const SIMILAR_ENOUGH: f64 = 0.5;

/// Longer names are no typing errors; comparing them would take quadratic time.
const LONGEST: usize = 200;

/// The known name most like `name`, if any is like it at all. The first of equals wins.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST {
        return None;
    }
    let name = name.to_lowercase();
    let mut best = (SIMILAR_ENOUGH, None);
    for candidate in known {
        let similarity = strsim::normalized_damerau_levenshtein(&name, &candidate.to_lowercase());
        if similarity > best.0 {
            best = (similarity, Some(candidate));
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_of_the_finger_is_recognized_and_another_word_is_not() {
        let known = ["keep", "reject", "fail"];
        assert_eq!(nearest("rejcet", known), Some("reject"));
        assert_eq!(nearest("KEEP", known), Some("keep"));
        assert_eq!(nearest("mask", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(nearest(&"k".repeat(100_000), known), None);
    }
}

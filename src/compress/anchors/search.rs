//! A search through many texts that gets faster as less is left to be found.

use super::filter::Filter;
use super::matcher::Matcher;

/// Bytes of text that are searched at least, for each pattern, before what is still wanted is looked at again: that takes as
/// long as to search a few of them.
const STRETCH: usize = 40;

/// Looks for the wanted patterns of a matcher in one text after another.
pub struct Search<'m, 'p> {
    matcher: &'m Matcher<'p>,
    wanted: Vec<bool>,
    /// Lets the words of wanted patterns through; none while it would be the matcher's own.
    filter: Option<Filter>,
    /// Whether anything is wanted no more that the filter still lets through.
    is_outdated: bool,
    /// Bytes searched since the filter was made.
    searched: usize,
}

impl<'m, 'p> Search<'m, 'p> {
    /// A search for those of the matcher's patterns that are `wanted`.
    pub fn new(matcher: &'m Matcher<'p>, wanted: Vec<bool>) -> Self {
        Self {
            matcher,
            is_outdated: wanted.contains(&false),
            searched: STRETCH * wanted.len(),
            wanted,
            filter: None,
        }
    }

    /// Calls `on_hit(pattern, position)` for the wanted patterns found in `text`; a pattern that gets `false` is wanted no more.
    pub fn find(&mut self, text: &str, mut on_hit: impl FnMut(usize, usize) -> bool) {
        if self.is_outdated && self.searched >= STRETCH * self.wanted.len() {
            let filter = self.filter.get_or_insert_default();
            filter.fill(self.matcher.words_of(&self.wanted));
            self.is_outdated = false;
            self.searched = 0;
        }
        self.searched += text.len();
        let is_outdated = &mut self.is_outdated;
        let on_hit = |pattern: usize, at: usize| {
            let is_wanted = on_hit(pattern, at);
            *is_outdated |= !is_wanted;
            is_wanted
        };
        match &self.filter {
            Some(filter) => self.matcher.find_through(filter, text, &mut self.wanted, on_hit),
            None => self.matcher.find(text, &mut self.wanted, on_hit),
        }
    }

    /// For each pattern whether it is still wanted.
    pub fn into_wanted(self) -> Vec<bool> {
        self.wanted
    }
}

//! A search through many texts that gets faster as fewer patterns are left to be found.

use super::filter::WordFilter;
use super::matcher::Matcher;

/// Bytes of text, for each pattern, to be searched before the filter is built anew from the patterns still wanted;
/// building it takes as long as searching a few of them.
const STRETCH: usize = 40;

/// Searches for the wanted patterns of a matcher in one text after another.
pub struct Search<'m, 'p> {
    matcher: &'m Matcher<'p>,
    wanted: Vec<bool>,
    /// A filter that passes the words of wanted patterns; `None` while it would equal the matcher's own.
    filter: Option<WordFilter>,
    /// The filter still passes words of patterns that are no longer wanted.
    is_outdated: bool,
    /// Bytes searched since the filter was built.
    searched: usize,
}

impl<'m, 'p> Search<'m, 'p> {
    /// Starts a search for the patterns of the matcher that are `wanted`.
    pub fn new(matcher: &'m Matcher<'p>, wanted: Vec<bool>) -> Self {
        Self {
            matcher,
            is_outdated: wanted.contains(&false),
            searched: STRETCH * wanted.len(),
            wanted,
            filter: None,
        }
    }

    /// Calls `on_hit(pattern, position)` for wanted patterns in `text`; if it returns `false`, the pattern is dropped.
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

    /// Returns for each pattern true if it is still wanted.
    pub fn into_wanted(self) -> Vec<bool> {
        self.wanted
    }
}

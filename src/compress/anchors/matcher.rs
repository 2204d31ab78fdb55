//! Finds many identifiers in one text at once, as whole identifiers, in time linear in the text.

use memchr::memmem;
use rustc_hash::FxHashMap;

use super::filter::WordFilter;
use super::words::{each_end, is_word};

/// Most patterns that share an indexed word; further ones are indexed by another of their words.
const MAX_SHARED: usize = 48;

/// Looks for a set of identifiers. Each is indexed by its longest ASCII word, so a text is walked word by word and
/// only the few words that some identifier contains are compared further.
pub struct Matcher<'p> {
    patterns: Vec<&'p str>,
    /// The patterns indexed by each word.
    by_word: FxHashMap<&'p [u8], Sharing>,
    /// The entries of the linked lists of patterns that share a word.
    indexed: Vec<Indexed<'p>>,
    /// A filter that passes the indexed words and few others.
    filter: WordFilter,
    /// Patterns without a word of their own (no ASCII letter or digit, or all their words are crowded).
    others: Vec<usize>,
}

/// The patterns indexed by one word, as a linked list in `Matcher::indexed`.
struct Sharing {
    first: usize,
    last: usize,
    count: usize,
}

/// A pattern, the word that it is indexed by, that word's byte offset in it, and the next pattern indexed by that word.
struct Indexed<'p> {
    pattern: usize,
    word: &'p [u8],
    offset: usize,
    next: Option<usize>,
}

impl<'p> Matcher<'p> {
    /// Builds a matcher for `patterns`, which are numbered in this order. Empty patterns are never found.
    pub fn new(patterns: impl IntoIterator<Item = &'p str>) -> Self {
        let patterns: Vec<&'p str> = patterns.into_iter().collect();
        let mut matcher = Self {
            by_word: FxHashMap::with_capacity_and_hasher(patterns.len(), rustc_hash::FxBuildHasher),
            indexed: Vec::with_capacity(patterns.len()),
            patterns,
            filter: WordFilter::default(),
            others: Vec::new(),
        };
        for index in 0..matcher.patterns.len() {
            matcher.add(index);
        }
        matcher.filter.fill(matcher.by_word.keys().copied());
        matcher
    }

    fn add(&mut self, index: usize) {
        let Some(&pattern) = self.patterns.get(index) else {
            return;
        };
        let mut tried = None;
        while let Some((at, word)) = longest_word(pattern.as_bytes(), tried) {
            tried = Some((word.len(), at));
            let place = self.indexed.len();
            let sharing = self.by_word.entry(word).or_insert(Sharing {
                first: place,
                last: place,
                count: 0,
            });
            if sharing.count < MAX_SHARED {
                if sharing.count > 0
                    && let Some(last) = self.indexed.get_mut(sharing.last)
                {
                    last.next = Some(place);
                }
                sharing.last = place;
                sharing.count += 1;
                self.indexed.push(Indexed {
                    pattern: index,
                    word,
                    offset: at,
                    next: None,
                });
                return;
            }
        }
        if !pattern.is_empty() {
            self.others.push(index);
        }
    }

    /// Returns the words that the `wanted` patterns are indexed by.
    pub(super) fn words_of<'m>(&'m self, wanted: &'m [bool]) -> impl Iterator<Item = &'p [u8]> + Clone + 'm {
        let is_wanted = |indexed: &&Indexed<'p>| wanted.get(indexed.pattern) == Some(&true);
        self.indexed.iter().filter(is_wanted).map(|indexed| indexed.word)
    }

    /// Returns for each pattern true if `text` contains it.
    pub fn held(&self, text: &str) -> Vec<bool> {
        let mut missing = vec![true; self.patterns.len()];
        self.find(text, &mut missing, |_, _| false);
        missing.into_iter().map(|is_missing| !is_missing).collect()
    }

    /// Calls `on_hit(pattern, position)` for the `wanted` patterns found in `text`; once it returns `false`, that
    /// pattern is no longer wanted.
    pub fn find(&self, text: &str, wanted: &mut [bool], on_hit: impl FnMut(usize, usize) -> bool) {
        self.find_through(&self.filter, text, wanted, on_hit);
    }

    /// The same as [`find`](Self::find), with a filter that passes the words of the `wanted` patterns.
    pub(super) fn find_through(
        &self,
        filter: &WordFilter,
        text: &str,
        wanted: &mut [bool],
        mut on_hit: impl FnMut(usize, usize) -> bool,
    ) {
        let bytes = text.as_bytes();
        self.each_place(filter, bytes, |index, start| {
            let (Some(pattern), Some(is_wanted)) = (self.patterns.get(index), wanted.get_mut(index)) else {
                return;
            };
            if *is_wanted && stands_at(bytes, start, pattern) && is_whole(text, start, start + pattern.len())
            {
                *is_wanted = on_hit(index, start);
            }
        });
        for &index in &self.others {
            let (Some(pattern), Some(is_wanted)) = (self.patterns.get(index), wanted.get_mut(index)) else {
                continue;
            };
            if !*is_wanted {
                continue;
            }
            for start in memmem::find_iter(bytes, pattern.as_bytes()) {
                if is_whole(text, start, start + pattern.len()) {
                    *is_wanted = on_hit(index, start);
                    if !*is_wanted {
                        break;
                    }
                }
            }
        }
    }

    /// Returns true if `text` contains any pattern at word boundaries, even as a piece of a longer identifier.
    pub(super) fn touches(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let mut touches = false;
        self.each_place(&self.filter, bytes, |index, start| {
            let pattern = self.patterns.get(index);
            touches = touches || pattern.is_some_and(|pattern| stands_at(bytes, start, pattern));
        });
        let mut others = self.others.iter().filter_map(|index| self.patterns.get(*index));
        touches || others.any(|pattern| memmem::find(bytes, pattern.as_bytes()).is_some())
    }

    /// Calls `visit(pattern, position)` wherever the text contains the word that a pattern is indexed by.
    fn each_place(&self, filter: &WordFilter, bytes: &[u8], mut visit: impl FnMut(usize, usize)) {
        let mut look = |at: usize, word: &[u8]| {
            if !filter.may_be(word) {
                return;
            }
            let mut place = self.by_word.get(word).map(|sharing| sharing.first);
            while let Some(indexed) = place.and_then(|place| self.indexed.get(place)) {
                place = indexed.next;
                if let Some(start) = at.checked_sub(indexed.offset) {
                    visit(indexed.pattern, start);
                }
            }
        };
        let on_end = |inside: usize, end: usize| {
            let mut at = inside;
            while at > 0 && bytes.get(at - 1).is_some_and(|byte| is_word(*byte)) {
                at -= 1;
            }
            let word = bytes.get(at..end).unwrap_or_default();
            look(at, word);
            // In the JSON text of arguments `\n` and the like stick to the word that follows them.
            if at > 0 && bytes.get(at - 1) == Some(&b'\\') {
                let skip = match word.first() {
                    Some(b'n' | b't' | b'r' | b'b' | b'f') => 1,
                    Some(b'u') if word.len() > 5 => 5,
                    _ => return,
                };
                if let Some(rest) = word.get(skip..).filter(|rest| !rest.is_empty()) {
                    look(at + skip, rest);
                }
            }
        };
        let may_end = |tail| filter.may_end(tail);
        match filter.least() {
            0 => {}
            1 => each_end::<1>(bytes, may_end, on_end),
            2 => each_end::<2>(bytes, may_end, on_end),
            3 => each_end::<3>(bytes, may_end, on_end),
            4 | 5 => each_end::<4>(bytes, may_end, on_end),
            6 | 7 => each_end::<6>(bytes, may_end, on_end),
            _ => each_end::<8>(bytes, may_end, on_end),
        }
    }
}

fn stands_at(bytes: &[u8], start: usize, pattern: &str) -> bool {
    let rest = bytes.get(start..);
    rest.is_some_and(|rest| rest.starts_with(pattern.as_bytes()))
}

/// Returns the offset and text of the longest word, the later of equals; after `tried` (length, offset), the next.
fn longest_word(pattern: &[u8], tried: Option<(usize, usize)>) -> Option<(usize, &[u8])> {
    let mut longest: Option<(usize, &[u8])> = None;
    let mut at = 0;
    for word in pattern.split(|byte| !is_word(*byte)) {
        let is_next = tried.is_none_or(|tried| (word.len(), at) < tried);
        if !word.is_empty() && is_next && longest.is_none_or(|(_, longest)| word.len() >= longest.len()) {
            longest = Some((at, word));
        }
        at += word.len() + 1;
    }
    longest
}

/// Returns true if `text[start..end]` is a whole identifier there, not a piece of a longer word, number or kebab-case
/// name. A step of a longer path or dotted name counts: `/a/core.py` contains `core.py`.
fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let (Some(before), Some(inner), Some(after)) = (text.get(..start), text.get(start..end), text.get(end..))
    else {
        return false;
    };
    let bytes = text.as_bytes();
    let near_end = [bytes.get(end.wrapping_sub(1)), bytes.get(end)];
    let near_start = [bytes.get(start), bytes.get(start.wrapping_sub(1))];
    if [near_end, near_start].into_iter().all(is_parted) {
        return true;
    }
    let mut right = after.chars();
    let (near, far) = (right.next(), right.next());
    if continues(far, near, inner.chars().next_back()) {
        return false;
    }
    let mut left = before.chars().rev();
    let (near, far) = (left.next(), left.next());
    !continues(far, near, inner.chars().next()) || ends_in_escape(before.as_bytes())
}

/// Returns true if the edge is a letter or digit whose neighbour, if any, never continues an identifier.
fn is_parted([edge, near]: [Option<&u8>; 2]) -> bool {
    edge.is_some_and(u8::is_ascii_alphanumeric)
        && near.is_none_or(|near| {
            near.is_ascii() && !is_word(*near) && !matches!(near, b'-' | b'.' | b',' | b':' | b'/')
        })
}

/// Returns true if the text ends in an escape of a JSON text.
fn ends_in_escape(before: &[u8]) -> bool {
    let tail = before.get(before.len().saturating_sub(6)..).unwrap_or_default();
    matches!(tail, [.., b'\\', b'n' | b't' | b'r' | b'b' | b'f']) || matches!(tail, [b'\\', b'u', _, _, _, _])
}

/// Returns true if the neighbours (`near`, then `far`) continue the identifier beyond its `edge`.
fn continues(far: Option<char>, near: Option<char>, edge: Option<char>) -> bool {
    let (Some(near), Some(edge)) = (near, edge) else {
        return false;
    };
    if !joins(edge) {
        // `/home/etc` does not contain `/etc`, nor `../a` `./a`.
        return (matches!(edge, '/' | '~') && joins(near)) || (edge == '.' && near == '.');
    }
    if joins(near) {
        return true;
    }
    let far_joins = far.is_some_and(joins);
    match near {
        '-' => far_joins,
        '.' | ',' | ':' | '/' => edge.is_ascii_digit() && far.is_some_and(|c| c.is_ascii_digit()),
        _ => false,
    }
}

/// Returns true for letters, digits and underscores, except in scripts without spaces between words.
fn joins(c: char) -> bool {
    c == '_' || (c.is_alphanumeric() && !super::kind::is_spaceless(c))
}

//! Finds many identifiers in one text at once, as whole identifiers, in time linear in the text.

use memchr::memmem;
use rustc_hash::FxHashMap;

use super::words::each_word;

/// Identifiers that share their longest word; beyond it another word of theirs is taken.
const MAX_SHARED: usize = 48;

/// Looks for a set of identifiers. Each is indexed by its longest ASCII word, so a text is walked word by word and
/// only the few words that some identifier contains are compared further.
pub struct Matcher<'p> {
    patterns: Vec<&'p str>,
    /// Word → the patterns indexed by it, each with the word's offset in it.
    by_word: FxHashMap<&'p [u8], Vec<(usize, usize)>>,
    /// A bit per (first byte, last byte, length) of the indexed words: most words of a text end here.
    seen: Box<[u64; 1024]>,
    /// Patterns without a word of their own (no ASCII letter or digit, or all their words are crowded).
    others: Vec<usize>,
}

impl<'p> Matcher<'p> {
    /// A matcher for `patterns`; their numbers are their places in this order. Empty ones are never found.
    pub fn new(patterns: impl IntoIterator<Item = &'p str>) -> Self {
        let mut matcher = Self {
            patterns: patterns.into_iter().collect(),
            by_word: FxHashMap::default(),
            seen: Box::new([0; 1024]),
            others: Vec::new(),
        };
        for index in 0..matcher.patterns.len() {
            matcher.add(index);
        }
        matcher
    }

    fn add(&mut self, index: usize) {
        let Some(&pattern) = self.patterns.get(index) else {
            return;
        };
        let mut words: Vec<(usize, &'p [u8])> = Vec::new();
        each_word(pattern.as_bytes(), |at, word| words.push((at, word)));
        words.sort_by_key(|(at, word)| std::cmp::Reverse((word.len(), *at)));
        for (at, word) in words {
            let sharing = self.by_word.entry(word).or_default();
            if sharing.len() < MAX_SHARED {
                sharing.push((index, at));
                let bit = signature(word);
                if let Some(cell) = self.seen.get_mut(bit >> 6) {
                    *cell |= 1 << (bit & 63);
                }
                return;
            }
        }
        if !pattern.is_empty() {
            self.others.push(index);
        }
    }

    /// Calls `on_hit(pattern, position)` for the `wanted` patterns found in `text`; a pattern that gets `false` is
    /// wanted no more.
    pub fn find(&self, text: &str, wanted: &mut [bool], mut on_hit: impl FnMut(usize, usize) -> bool) {
        let bytes = text.as_bytes();
        let mut look = |at: usize, word: &[u8]| {
            let bit = signature(word);
            if self
                .seen
                .get(bit >> 6)
                .is_none_or(|cell| cell & (1 << (bit & 63)) == 0)
            {
                return;
            }
            let Some(sharing) = self.by_word.get(word) else {
                return;
            };
            for &(index, offset) in sharing {
                let (Some(pattern), Some(is_wanted)) = (self.patterns.get(index), wanted.get_mut(index))
                else {
                    continue;
                };
                let Some(start) = at.checked_sub(offset) else {
                    continue;
                };
                if *is_wanted
                    && bytes
                        .get(start..)
                        .is_some_and(|rest| rest.starts_with(pattern.as_bytes()))
                    && is_whole(text, start, start + pattern.len())
                {
                    *is_wanted = on_hit(index, start);
                }
            }
        };
        each_word(bytes, |at, word| {
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
}

/// A 16-bit signature of a word: enough to pass over most words without hashing them.
fn signature(word: &[u8]) -> usize {
    let first = word.first().copied().unwrap_or(0) as usize;
    let last = word.last().copied().unwrap_or(0) as usize;
    ((first << 8) ^ (last << 2) ^ (word.len() << 5)) & 0xffff
}

/// Whether `text[start..end]` is an identifier of its own there, not a piece of a longer word, number or kebab name.
/// A step of a longer path or dotted name counts: `core.py` is held by `/a/core.py`.
fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let (Some(before), Some(inner), Some(after)) = (text.get(..start), text.get(start..end), text.get(end..))
    else {
        return false;
    };
    let first = inner.chars().next();
    let last = inner.chars().next_back();
    let escaped = {
        let bytes = before.as_bytes();
        let tail = bytes.get(bytes.len().saturating_sub(6)..).unwrap_or_default();
        matches!(tail, [.., b'\\', b'n' | b't' | b'r' | b'b' | b'f'])
            || matches!(tail, [b'\\', b'u', _, _, _, _])
    };
    let mut left = before.chars().rev();
    let mut right = after.chars();
    let (l1, l2) = (left.next(), left.next());
    let (r1, r2) = (right.next(), right.next());
    (escaped || !continues(l2, l1, first)) && !continues(r2, r1, last)
}

/// Whether a neighbour (`near`, then `far`) makes the identifier's `edge` a piece of something longer.
fn continues(far: Option<char>, near: Option<char>, edge: Option<char>) -> bool {
    let (Some(near), Some(edge)) = (near, edge) else {
        return false;
    };
    if !joins(edge) {
        // `/etc` is not held by `/home/etc`, nor `./a` by `../a`.
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

/// Letters and digits stick together, except in scripts that put no spaces between words.
fn joins(c: char) -> bool {
    c == '_' || (c.is_alphanumeric() && !super::kind::is_spaceless(c))
}

//! Finds many identifiers in one text at once, as whole identifiers, in time linear in the text.

use memchr::memmem;
use rustc_hash::FxHashMap;

use super::words::{each_end, is_word};

/// Identifiers that share their longest word; beyond it another word of theirs is taken.
const MAX_SHARED: usize = 48;

/// Bytes at the end of a word that most words of a text are told by to be none of an identifier's.
const TAIL: usize = 4;

/// Looks for a set of identifiers. Each is indexed by its longest ASCII word, so a text is walked word by word and
/// only the few words that some identifier contains are compared further.
pub struct Matcher<'p> {
    patterns: Vec<&'p str>,
    /// Word → the patterns indexed by it.
    by_word: FxHashMap<&'p [u8], Sharing>,
    /// What the patterns indexed by one word are linked through.
    indexed: Vec<Indexed>,
    /// The bytes of the shortest indexed word, at most [`TAIL`]; 0 where there is none.
    least: usize,
    /// A bit per hash of the last bytes of the indexed words: most words of a text end here.
    tails: Box<[u64; 1024]>,
    /// A bit per (first byte, last byte, length) of the indexed words.
    seen: Box<[u64; 256]>,
    /// Patterns without a word of their own (no ASCII letter or digit, or all their words are crowded).
    others: Vec<usize>,
}

/// The patterns indexed by a word: places in `Matcher::indexed`.
struct Sharing {
    first: usize,
    last: usize,
    count: usize,
}

/// A pattern, the offset in it of the word that it is indexed by, and the next one indexed by that word.
struct Indexed {
    pattern: usize,
    offset: usize,
    next: Option<usize>,
}

impl<'p> Matcher<'p> {
    /// A matcher for `patterns`; their numbers are their places in this order. Empty ones are never found.
    pub fn new(patterns: impl IntoIterator<Item = &'p str>) -> Self {
        let patterns: Vec<&'p str> = patterns.into_iter().collect();
        let mut matcher = Self {
            by_word: FxHashMap::with_capacity_and_hasher(patterns.len(), rustc_hash::FxBuildHasher),
            indexed: Vec::with_capacity(patterns.len()),
            patterns,
            least: 0,
            tails: Box::new([0; 1024]),
            seen: Box::new([0; 256]),
            others: Vec::new(),
        };
        for index in 0..matcher.patterns.len() {
            matcher.add(index);
        }
        let shortest = matcher.by_word.keys().map(|word| word.len()).min();
        matcher.least = shortest.unwrap_or(0).min(TAIL);
        for word in matcher.by_word.keys() {
            set(&mut *matcher.seen, signature(word));
            set(&mut *matcher.tails, tail_hash(word, word.len(), matcher.least));
        }
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

    /// For each pattern whether `text` holds it.
    pub fn held(&self, text: &str) -> Vec<bool> {
        let mut missing = vec![true; self.patterns.len()];
        self.find(text, &mut missing, |_, _| false);
        missing.into_iter().map(|is_missing| !is_missing).collect()
    }

    /// Calls `on_hit(pattern, position)` for the `wanted` patterns found in `text`; a pattern that gets `false` is
    /// wanted no more.
    pub fn find(&self, text: &str, wanted: &mut [bool], mut on_hit: impl FnMut(usize, usize) -> bool) {
        let bytes = text.as_bytes();
        let mut look = |at: usize, word: &[u8]| {
            if !is_set(&*self.seen, signature(word)) {
                return;
            }
            let mut place = self.by_word.get(word).map(|sharing| sharing.first);
            while let Some(indexed) = place.and_then(|place| self.indexed.get(place)) {
                place = indexed.next;
                let index = indexed.pattern;
                let (Some(pattern), Some(is_wanted)) = (self.patterns.get(index), wanted.get_mut(index))
                else {
                    continue;
                };
                let Some(start) = at.checked_sub(indexed.offset) else {
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
        let on_end = |inside: usize, end: usize| {
            if !is_set(&*self.tails, tail_hash(bytes, end, self.least)) {
                return;
            }
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
        match self.least {
            0 => {}
            1 => each_end::<1>(bytes, on_end),
            2 => each_end::<2>(bytes, on_end),
            3 => each_end::<3>(bytes, on_end),
            _ => each_end::<TAIL>(bytes, on_end),
        }
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

/// The longest word of a pattern and where it is, the later of equals; after `tried`, given by its length and place, the next.
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

#[inline]
fn set(bits: &mut [u64], bit: usize) {
    if let Some(cell) = bits.get_mut(bit >> 6) {
        *cell |= 1 << (bit & 63);
    }
}

#[inline]
fn is_set(bits: &[u64], bit: usize) -> bool {
    bits.get(bit >> 6).is_some_and(|cell| cell >> (bit & 63) & 1 != 0)
}

/// A 16-bit hash of the last `least` bytes before `end`, at most [`TAIL`].
#[inline]
fn tail_hash(bytes: &[u8], end: usize, least: usize) -> usize {
    let tail = match bytes
        .get(end.wrapping_sub(TAIL)..end)
        .and_then(<[u8]>::first_chunk)
    {
        Some(tail) => u32::from_le_bytes(*tail),
        // At the start of a text.
        None => bytes
            .get(..end)
            .unwrap_or_default()
            .iter()
            .fold(0, |tail, byte| tail >> 8 | u32::from(*byte) << 24),
    };
    let tail = tail >> (8 * (TAIL - least.clamp(1, TAIL)));
    (tail.wrapping_mul(0x9e37_79b1) >> 16) as usize
}

/// A 14-bit signature of a word: enough to pass over most words without hashing them.
fn signature(word: &[u8]) -> usize {
    let first = word.first().copied().unwrap_or(0) as usize;
    let last = word.last().copied().unwrap_or(0) as usize;
    ((first << 6) ^ (last << 2) ^ (word.len() << 5)) & 0x3fff
}

/// Whether `text[start..end]` is an identifier of its own there, not a piece of a longer word, number or kebab name.
/// A step of a longer path or dotted name counts: `core.py` is held by `/a/core.py`.
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

/// Whether a letter or digit stands beside something that no identifier goes on with: most do.
fn is_parted([edge, near]: [Option<&u8>; 2]) -> bool {
    edge.is_some_and(u8::is_ascii_alphanumeric)
        && near.is_none_or(|near| {
            near.is_ascii() && !is_word(*near) && !matches!(near, b'-' | b'.' | b',' | b':' | b'/')
        })
}

/// Whether what stands right before is an escape of a JSON text.
fn ends_in_escape(before: &[u8]) -> bool {
    let tail = before.get(before.len().saturating_sub(6)..).unwrap_or_default();
    matches!(tail, [.., b'\\', b'n' | b't' | b'r' | b'b' | b'f']) || matches!(tail, [b'\\', b'u', _, _, _, _])
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

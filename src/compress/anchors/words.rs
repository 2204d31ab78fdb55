//! Finds the ends of the ASCII words of a text, 64 bytes at a time.

/// Returns true if a byte belongs to a word: letters, digits and underscores do.
#[inline]
pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Number of bytes before a block that are read with it.
const BEFORE: usize = 4;

/// A block of 64 bytes, preceded by the `BEFORE` bytes before it.
type ByteWindow = [u8; BEFORE + 64];

/// Calls `on_end(inside, end)` for each run of at least `LEAST` word bytes whose last four bytes (a little-endian
/// number; before a shorter run, other bytes) pass `may_end`; an end at the start of a block may be reported without.
/// All bytes of `inside..end` belong to the run; it begins at `inside`, unless that is a multiple of 64.
#[inline]
pub fn each_end<const LEAST: usize>(
    bytes: &[u8],
    may_end: impl Fn(u32) -> bool,
    mut on_end: impl FnMut(usize, usize),
) {
    let mut mask_before = 0;
    let mut block_ends = |window: &ByteWindow, base: usize| {
        let mask = window.last_chunk().map_or(0, word_mask);
        // A bit for each byte outside words that follows at least `LEAST` bytes of a word.
        let mut ends = !mask;
        for distance in 1..=LEAST {
            ends &= mask << distance | mask_before >> (64 - distance);
        }
        mask_before = mask;
        // A bit for each end that passes `may_end`: four at a time, since the number of ends is hard to predict.
        let mut may = 0;
        let mut left = ends;
        while left != 0 {
            for _ in 0..4 {
                // With no end left this is the end of the block; its bit is removed below.
                let end = left.trailing_zeros() as usize;
                left &= left.wrapping_sub(1);
                let tail = window.get(end..end + BEFORE).and_then(<[u8]>::first_chunk);
                let may_end = may_end(tail.map_or(0, |tail| u32::from_le_bytes(*tail)));
                may |= u64::from(may_end) << (end & 63);
            }
        }
        may &= ends;
        while may != 0 {
            let end = may.trailing_zeros() as usize;
            may &= may - 1;
            // The bits of the bytes before the end that belong to no word; the word begins after the last of them.
            let gaps = !mask & ((1 << end) - 1);
            let inside = 64 - gaps.leading_zeros() as usize;
            on_end(base + inside, base + end);
        }
    };
    // Zeros precede the first block and follow the last, so that a word at the end of the text ends there.
    let mut base = 0;
    while base <= bytes.len() {
        let whole = base.checked_sub(BEFORE).and_then(|from| bytes.get(from..));
        let copy;
        let window = if let Some(window) = whole.and_then(<[u8]>::first_chunk) {
            window
        } else {
            copy = padded(bytes, base);
            &copy
        };
        block_ends(window, base);
        base += 64;
    }
}

/// Returns the block at `base` with the bytes before it, filled up with zeros.
fn padded(bytes: &[u8], base: usize) -> ByteWindow {
    let mut window = [0; BEFORE + 64];
    let from = base.saturating_sub(BEFORE);
    let there = bytes.get(from..).unwrap_or_default();
    let to = window.get_mut(from + BEFORE - base..).unwrap_or_default();
    let length = there.len().min(to.len());
    if let (Some(to), Some(there)) = (to.get_mut(..length), there.get(..length)) {
        to.copy_from_slice(there);
    }
    window
}

/// Returns a bit for each of 64 bytes, set if the byte belongs to a word.
#[inline]
fn word_mask(block: &[u8; 64]) -> u64 {
    // No branches, so that compilers test sixteen and more bytes at once.
    let mut flags = [0_u8; 64];
    for (flag, byte) in flags.iter_mut().zip(block) {
        let is_letter = (byte | 0x20).wrapping_sub(b'a') < 26;
        let is_digit = byte.wrapping_sub(b'0') < 10;
        *flag = u8::from(is_letter) | u8::from(is_digit) | u8::from(*byte == b'_');
    }
    let (eights, _) = flags.as_chunks::<8>();
    let mut mask = 0;
    for (index, eight) in eights.iter().enumerate() {
        // One multiplication gathers the lowest bits of eight bytes.
        let bits = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask |= bits << (8 * index);
    }
    mask
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_byte_is_told_apart_at_every_place() {
        for byte in 0..=255_u8 {
            for place in 0..64 {
                for around in [b' ', b'a', 0xff] {
                    let mut block = [around; 64];
                    block[place] = byte;
                    assert_eq!(word_mask(&block) >> place & 1 == 1, is_word(byte), "{byte}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn the_words_are_those_found_byte_by_byte(
            bytes in proptest::collection::vec(prop_oneof![Just(b' '), Just(b'x'), Just(b'_'), any::<u8>()], 0..300)
        ) {
            let mut found = [Vec::new(), Vec::new()];
            let tails = std::cell::RefCell::new(Vec::new());
            let noted = |tail: u32| {
                tails.borrow_mut().push(tail);
                true
            };
            each_end::<1>(&bytes, noted, |inside, end| {
                let mut last = [0; 4];
                for (to, from) in last.iter_mut().rev().zip(bytes[..end].iter().rev()) {
                    *to = *from;
                }
                assert!(tails.borrow().contains(&u32::from_le_bytes(last)));
                assert!(bytes[inside..end].iter().all(|byte| is_word(*byte)));
                assert!(inside % 64 == 0 || !is_word(bytes[inside - 1]));
                found[0].push(end);
            });
            each_end::<4>(&bytes, |_| true, |_, end| found[1].push(end));
            for (found, least) in found.iter().zip([1, 4]) {
                let ends = |end: &usize| {
                    let before = bytes[..*end].iter().rev().take_while(|byte| is_word(**byte)).count();
                    before >= least && bytes.get(*end).is_none_or(|byte| !is_word(*byte))
                };
                let expected: Vec<usize> = (0..=bytes.len()).filter(ends).collect();
                prop_assert_eq!(found, &expected);
            }
        }
    }
}

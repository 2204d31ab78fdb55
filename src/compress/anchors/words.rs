//! The ASCII words of a text, found 64 bytes at a time.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Calls `on_word(position, word)` for each run of ASCII letters, digits and underscores.
pub fn each_word<'t>(bytes: &'t [u8], mut on_word: impl FnMut(usize, &'t [u8])) {
    let mut start = None;
    let mut blocks = bytes.chunks_exact(64);
    let mut base = 0;
    let mut block_edges = |mask: u64, base: usize, start: &mut Option<usize>| {
        // A bit for each byte that is a word's where the one before it is not, or the other way round.
        let mut edges = mask ^ (mask << 1 | u64::from(start.is_some()));
        while edges != 0 {
            let at = base + edges.trailing_zeros() as usize;
            edges &= edges - 1;
            *start = match *start {
                Some(begun) => {
                    on_word(begun, bytes.get(begun..at).unwrap_or_default());
                    None
                }
                None => Some(at),
            };
        }
    };
    for block in &mut blocks {
        block_edges(word_mask(block), base, &mut start);
        base += 64;
    }
    let rest = blocks.remainder();
    let mut last = [0; 64];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    // What follows the text is no word, so there is an edge at its end, unless it fills the block before.
    block_edges(word_mask(&last), base, &mut start);
}

/// A bit for each of up to 64 bytes: whether it belongs to a word.
fn word_mask(block: &[u8]) -> u64 {
    let (eights, _) = block.as_chunks::<8>();
    let mut mask = 0;
    for (index, eight) in eights.iter().enumerate() {
        mask |= word_bits(u64::from_le_bytes(*eight)) << (8 * index);
    }
    mask
}

/// Eight bytes at once: the highest bit of each says whether it is in a range, and these are then moved together.
fn word_bits(eight: u64) -> u64 {
    let low = eight & !HIGH;
    let lower = low | (0x20 * ONES);
    let letters = at_least(lower, b'a') & !at_least(lower, b'z' + 1);
    let digits = at_least(low, b'0') & !at_least(low, b'9' + 1);
    let underscores = !at_least(low ^ (u64::from(b'_') * ONES), 1);
    let bits = (letters | digits | underscores) & !eight & HIGH;
    (bits >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// The highest bit of each byte below 128: whether it is at least `least`.
fn at_least(bytes: u64, least: u8) -> u64 {
    bytes + u64::from(128 - least) * ONES
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_word(byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || byte == b'_'
    }

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
            let mut found = Vec::new();
            each_word(&bytes, |at, word| found.push((at, word.to_vec())));
            let mut expected: Vec<(usize, Vec<u8>)> = Vec::new();
            for (at, byte) in bytes.iter().enumerate().filter(|(_, byte)| is_word(**byte)) {
                match expected.last_mut() {
                    Some((start, word)) if *start + word.len() == at => word.push(*byte),
                    _ => expected.push((at, vec![*byte])),
                }
            }
            prop_assert_eq!(found, expected);
        }
    }
}

//! A byte-level model of text: what comes next, mixed from contexts of one to six bytes, of words, and from the longest match.
//!
//! Context mixing as in lpaq and paq8, kept plain: each context leads to a history of bits, each history to a probability that
//! adapts, and a logistic mixer weighs them. It only measures: how many bits a text costs after what was read before. The same
//! reading gives the same bits.

use std::sync::Arc;

/// Contexts: nothing, one to six bytes, the word, the word and the one before it.
const CONTEXTS: usize = 9;

/// What the mixer weighs: the contexts, the match twice, and one that never changes.
const INPUTS: usize = 12;

/// Bytes of a context's table, as a power of two.
const TABLE_BITS: u32 = 22;

/// A byte for the check, and fifteen histories for the bits of a nibble.
const BUCKET: usize = 16;

/// Places in the table of matches, as a power of two.
const MATCH_BITS: u32 = 18;

/// Bytes that must be the same before a match counts.
const MATCH_LEAST: usize = 5;

/// Lengths of a match that are told apart.
const MATCH_MOST: usize = 31;

/// How fast the mixer learns in the end, and how much faster it begins.
const RATE: f32 = 0.002;
const FIRST_RATE: f32 = 0.02;

/// The largest odds, as a logarithm.
const MOST_STRETCH: f32 = 11.0;

const STEPS: usize = 4096;

/// How often a probability was seen before it changes no slower.
const SEEN_MOST: usize = 250;

/// A probability for each history of bits, or of lengths of a match; and how often each was seen.
#[derive(Clone)]
struct Adaptive {
    cells: Vec<(f32, u32)>,
}

impl Adaptive {
    fn new(firsts: impl Iterator<Item = f32>) -> Self {
        Self {
            cells: firsts.map(|first| (first, 0)).collect(),
        }
    }

    fn update(&mut self, cell: usize, bit: f32, rates: &[f32]) {
        let (chance, seen) = &mut self.cells[cell];
        *chance += (bit - *chance) * rates[*seen as usize];
        *seen = (*seen + 1).min(SEEN_MOST as u32);
    }
}

/// The model: all that it has read.
#[derive(Clone)]
pub struct Model {
    tables: Vec<u8>,
    maps: Vec<Adaptive>,
    /// Where in the tables the histories of this nibble begin.
    buckets: [usize; CONTEXTS],
    hashes: [u32; CONTEXTS],
    weights_by_bits: Vec<[f32; INPUTS]>,
    weights_by_trust: Vec<[f32; INPUTS]>,
    inputs: [f32; INPUTS],
    trust: usize,
    chance: f32,
    rate: f32,
    text: Vec<u8>,
    matches: Vec<u32>,
    match_map: Adaptive,
    match_at: usize,
    match_len: usize,
    /// The bits of this byte behind a one.
    bits: usize,
    /// The last eight bytes.
    last: u64,
    word: u32,
    word_before: u32,
    curves: Arc<Curves>,
}

/// Logistic curves as tables, since they are asked for with every bit.
struct Curves {
    stretch: Vec<f32>,
    squash: Vec<f32>,
    rates: Vec<f32>,
}

impl Curves {
    fn new() -> Self {
        let stretch = |step: usize| {
            let chance = (step as f32 + 0.5) / STEPS as f32;
            (chance / (1.0 - chance)).ln()
        };
        let squash = |step: usize| {
            let odds = (step as f32 / STEPS as f32 - 0.5) * 2.0 * MOST_STRETCH;
            1.0 / (1.0 + (-odds).exp())
        };
        Self {
            stretch: (0..STEPS).map(stretch).collect(),
            squash: (0..=STEPS).map(squash).collect(),
            rates: (0..=SEEN_MOST).map(|seen| 1.0 / (seen as f32 + 1.5)).collect(),
        }
    }

    fn stretch(&self, chance: f32) -> f32 {
        self.stretch[((chance * STEPS as f32) as usize).min(STEPS - 1)]
    }

    fn squash(&self, odds: f32) -> f32 {
        let at = (odds.clamp(-MOST_STRETCH, MOST_STRETCH) / (2.0 * MOST_STRETCH) + 0.5) * STEPS as f32;
        let step = (at as usize).min(STEPS - 1);
        let (below, above) = (self.squash[step], self.squash[step + 1]);
        below + (above - below) * (at - step as f32)
    }
}

/// How many zeros and ones a history holds.
fn counts(history: u8) -> (u8, u8) {
    (history >> 5, history >> 2 & 7)
}

/// A history with one more bit: many of the other kind are half forgotten.
fn followed(history: u8, bit: usize) -> u8 {
    const FORGOTTEN: [u8; 8] = [0, 1, 2, 2, 3, 3, 4, 4];
    let (zeros, ones) = counts(history);
    let (zeros, ones) = if bit == 0 {
        ((zeros + 1).min(7), FORGOTTEN[ones as usize])
    } else {
        (FORGOTTEN[zeros as usize], (ones + 1).min(7))
    };
    zeros << 5 | ones << 2 | (history << 1 & 2) | bit as u8
}

fn hashed(first: u32, second: u32) -> u32 {
    let mixed = first
        .wrapping_mul(0x9E37_79B1)
        .wrapping_add(second.wrapping_mul(0x85EB_CA6B))
        .wrapping_add(0x27D4_EB2F);
    (mixed ^ mixed >> 15).wrapping_mul(0xC2B2_AE35)
}

impl Model {
    /// A model that has read nothing.
    pub fn new() -> Self {
        let first = |history: u8| {
            let (zeros, ones) = counts(history);
            (f32::from(ones) + 0.4) / (f32::from(zeros + ones) + 0.8)
        };
        let map = Adaptive::new((0..=255).map(first));
        let mut model = Self {
            tables: vec![0; CONTEXTS << TABLE_BITS],
            maps: vec![map; CONTEXTS],
            buckets: [0; CONTEXTS],
            hashes: [0; CONTEXTS],
            weights_by_bits: vec![[0.15; INPUTS]; 256],
            weights_by_trust: vec![[0.15; INPUTS]; (CONTEXTS + 1) * 4],
            inputs: [0.0; INPUTS],
            trust: 0,
            chance: 0.5,
            rate: FIRST_RATE,
            text: Vec::new(),
            matches: vec![0; 1 << MATCH_BITS],
            match_map: Adaptive::new((0..=MATCH_MOST).map(|length| 1.0 - 0.5 / (length as f32 + 1.0))),
            match_at: 0,
            match_len: 0,
            bits: 1,
            last: 0,
            word: 0,
            word_before: 0,
            curves: Arc::new(Curves::new()),
        };
        model.begin_byte();
        model.predict();
        model
    }

    /// Becomes what `other` is, in the memory that is there.
    pub fn become_like(&mut self, other: &Self) {
        let tables = std::mem::take(&mut self.tables);
        let matches = std::mem::take(&mut self.matches);
        let text = std::mem::take(&mut self.text);
        *self = Self {
            tables,
            matches,
            text,
            maps: other.maps.clone(),
            weights_by_bits: other.weights_by_bits.clone(),
            weights_by_trust: other.weights_by_trust.clone(),
            match_map: other.match_map.clone(),
            curves: Arc::clone(&other.curves),
            ..*other
        };
        self.tables.clone_from(&other.tables);
        self.matches.clone_from(&other.matches);
        self.text.clone_from(&other.text);
    }

    /// Reads a text.
    pub fn read(&mut self, text: &[u8]) {
        for byte in text {
            for place in (0..8).rev() {
                self.learn(usize::from(byte >> place & 1));
            }
        }
    }

    /// Reads a text, and tells how many bits it costs.
    pub fn cost(&mut self, text: &[u8]) -> f64 {
        let mut cost = 0.0;
        for byte in text {
            for place in (0..8).rev() {
                let bit = usize::from(byte >> place & 1);
                let chance = if bit == 1 { self.chance } else { 1.0 - self.chance };
                cost -= f64::from(chance).log2();
                self.learn(bit);
            }
        }
        cost
    }

    /// Takes a bit for what came, and gets ready for the next.
    fn learn(&mut self, bit: usize) {
        let came = bit as f32;
        let step = (came - self.chance) * self.rate;
        self.rate = (self.rate * 0.9999).max(RATE);
        let by_bits = &mut self.weights_by_bits[self.bits];
        let by_trust = &mut self.weights_by_trust[self.trust];
        for ((first, second), input) in by_bits.iter_mut().zip(by_trust).zip(&self.inputs) {
            let change = input * step;
            *first += change;
            *second += change;
        }
        let nibble = self.nibble();
        for (bucket, map) in self.buckets.iter().zip(&mut self.maps) {
            let history = &mut self.tables[bucket + nibble];
            map.update(usize::from(*history), came, &self.curves.rates);
            *history = followed(*history, bit);
        }
        if self.match_len > 0 {
            let is_right = self.expected() == bit;
            let length = self.match_len.min(MATCH_MOST);
            let was_right = f32::from(u8::from(is_right));
            self.match_map.update(length, was_right, &self.curves.rates);
            if !is_right {
                self.match_len = 0;
            }
        }
        self.bits = self.bits << 1 | bit;
        if self.bits >= 256 {
            self.end_byte();
            self.begin_byte();
        } else if self.bits >= 16 && self.bits < 32 {
            self.find_buckets(self.bits as u32);
        }
        self.predict();
    }

    /// The place of the next bit's history in its bucket.
    fn nibble(&self) -> usize {
        if self.bits < 16 {
            self.bits
        } else {
            let begun = usize::BITS - 1 - self.bits.leading_zeros() - 4;
            1 << begun | self.bits & ((1 << begun) - 1)
        }
    }

    /// The bit that the match says comes next.
    fn expected(&self) -> usize {
        let byte = usize::from(self.text[self.match_at]) | 256;
        let taken = usize::BITS - 1 - self.bits.leading_zeros();
        byte >> (7 - taken) & 1
    }

    fn end_byte(&mut self) {
        let byte = self.bits as u8;
        self.bits = 1;
        self.text.push(byte);
        self.last = self.last << 8 | u64::from(byte);
        if byte.is_ascii_alphanumeric() || byte >= 128 || byte == b'_' {
            self.word = hashed(self.word, u32::from(byte.to_ascii_lowercase()) + 1);
        } else if self.word != 0 {
            self.word_before = self.word;
            self.word = 0;
        }
        if self.match_len > 0 {
            self.match_at += 1;
            self.match_len += 1;
        }
        if self.text.len() >= MATCH_LEAST {
            let recent = self.last & ((1 << (8 * MATCH_LEAST)) - 1);
            let hash = hashed(recent as u32, (recent >> 32) as u32);
            let place = &mut self.matches[(hash >> (32 - MATCH_BITS)) as usize];
            let found = *place as usize;
            *place = self.text.len() as u32;
            if self.match_len == 0 && found > 0 {
                let before = self.text[..found].iter().rev();
                let same = before.zip(self.text.iter().rev()).take(MATCH_MOST);
                self.match_len = same.take_while(|(old, new)| old == new).count();
                self.match_at = found;
                if self.match_len < MATCH_LEAST {
                    self.match_len = 0;
                }
            }
        }
    }

    fn begin_byte(&mut self) {
        for (order, hash) in self.hashes.iter_mut().enumerate().take(7) {
            let context = self.last & ((1 << (8 * order)) - 1);
            *hash = hashed(hashed(context as u32, (context >> 32) as u32), order as u32);
        }
        self.hashes[7] = hashed(self.word, 7);
        self.hashes[8] = hashed(hashed(self.word, self.word_before), 8);
        self.find_buckets(0);
    }

    /// Finds the histories of the next nibble, or begins them where there were none: the one that was used less goes.
    fn find_buckets(&mut self, begun: u32) {
        for (order, (hash, bucket)) in self.hashes.iter().zip(&mut self.buckets).enumerate() {
            let hash = hashed(*hash, begun);
            let check = (hash & 0xFF) as u8;
            let base = order << TABLE_BITS;
            let first = (hash >> (32 - TABLE_BITS)) as usize & !(BUCKET - 1);
            let (first, second) = (base + first, base + (first ^ BUCKET));
            let used = |place: usize| {
                let (zeros, ones) = counts(self.tables[place + 1]);
                zeros + ones
            };
            *bucket = if self.tables[first] == check && used(first) > 0 {
                first
            } else if self.tables[second] == check && used(second) > 0 {
                second
            } else {
                let place = if used(second) < used(first) { second } else { first };
                self.tables[place..place + BUCKET].fill(0);
                self.tables[place] = check;
                place
            };
        }
    }

    /// The chance that the next bit is a one.
    fn predict(&mut self) {
        let nibble = self.nibble();
        let mut known = 0;
        for order in 0..CONTEXTS {
            let history = self.tables[self.buckets[order] + nibble];
            self.inputs[order] = if history == 0 {
                0.0
            } else {
                known += 1;
                self.curves
                    .stretch(self.maps[order].cells[usize::from(history)].0)
            };
        }
        let length = self.match_len.min(MATCH_MOST);
        let (strong, weak) = if length > 0 {
            let odds = self.curves.stretch(self.match_map.cells[length].0);
            let sign = if self.expected() == 1 { 1.0 } else { -1.0 };
            (sign * odds, if length >= 16 { sign * 2.0 } else { 0.0 })
        } else {
            (0.0, 0.0)
        };
        self.inputs[CONTEXTS] = strong;
        self.inputs[CONTEXTS + 1] = weak;
        self.inputs[CONTEXTS + 2] = 0.3;
        self.trust = known * 4
            + match length {
                0 => 0,
                1..=8 => 1,
                9..=20 => 2,
                _ => 3,
            };
        let by_bits = &self.weights_by_bits[self.bits];
        let by_trust = &self.weights_by_trust[self.trust];
        // Four sums side by side: one after the other they would wait for each other.
        let mut sums = [0.0; 4];
        for (place, input) in self.inputs.iter().enumerate() {
            sums[place % 4] += (by_bits[place] + by_trust[place]) * input;
        }
        let odds: f32 = sums.iter().sum();
        self.chance = self.curves.squash(odds).clamp(1e-5, 1.0 - 1e-5);
    }
}

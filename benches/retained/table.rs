//! The figures as tables, and against their bars.

use std::collections::BTreeMap;

use crate::candidates::{Candidate, Random};
use crate::score::{SIZES, Scored};

/// With grounding and without, for each size.
const BARS: [(f64, f64); SIZES.len()] = [(0.62, 0.48), (0.87, 0.80)];

/// Drawings of as many conversations as there are.
const DRAWINGS: usize = 2_000;

/// What a candidate saves, of what the full region would.
fn share<'s>(scored: impl Iterator<Item = &'s Scored>, size: usize, candidate: usize) -> f64 {
    let (mut saved, mut whole) = (0.0, 0.0);
    for scored in scored {
        saved += scored.nothing - scored.after[size][candidate].bits;
        whole += scored.nothing - scored.full;
    }
    if whole > 0.0 { saved / whole } else { 0.0 }
}

/// The share's interval that 95 of 100 drawings of conversations lie in.
fn interval(conversations: &[Vec<&Scored>], size: usize, candidate: usize) -> (f64, f64) {
    let sums = conversations.iter().map(|windows| {
        let saved = windows
            .iter()
            .map(|scored| scored.nothing - scored.after[size][candidate].bits);
        let whole = windows.iter().map(|scored| scored.nothing - scored.full);
        (saved.sum(), whole.sum())
    });
    interval_of(&sums.collect::<Vec<(f64, f64)>>())
}

/// The interval of the ratio of two sums that 95 of 100 drawings of their parts lie in.
pub fn interval_of(parts: &[(f64, f64)]) -> (f64, f64) {
    if parts.is_empty() {
        return (0.0, 0.0);
    }
    let mut random = Random(7);
    let mut shares: Vec<f64> = (0..DRAWINGS)
        .map(|_| {
            let (mut saved, mut whole) = (0.0, 0.0);
            for _ in 0..parts.len() {
                let part = parts[random.below(parts.len())];
                saved += part.0;
                whole += part.1;
            }
            if whole > 0.0 { saved / whole } else { 0.0 }
        })
        .collect();
    shares.sort_by(f64::total_cmp);
    (shares[DRAWINGS / 40], shares[DRAWINGS - 1 - DRAWINGS / 40])
}

/// In the middle of the tokens that a candidate has.
fn median_tokens(scored: &[Scored], size: usize, candidate: usize) -> usize {
    let mut tokens: Vec<usize> = scored
        .iter()
        .map(|scored| scored.after[size][candidate].tokens)
        .collect();
    tokens.sort_unstable();
    tokens.get(tokens.len() / 2).copied().unwrap_or_default()
}

/// Prints the table of all candidates.
pub fn print_all(scored: &[Scored]) {
    let mut by_conversation: BTreeMap<usize, Vec<&Scored>> = BTreeMap::new();
    for scored in scored {
        by_conversation
            .entry(scored.conversation)
            .or_default()
            .push(scored);
    }
    let conversations: Vec<Vec<&Scored>> = by_conversation.into_values().collect();
    let bytes: usize = scored.iter().map(|scored| scored.bytes).sum();
    let per_byte = |bits: fn(&Scored) -> f64| scored.iter().map(bits).sum::<f64>() / bytes as f64;
    println!(
        "{} windows of {} conversations; a byte of the next turns costs {:.3} bits after nothing, {:.3} after the full region\n",
        scored.len(),
        conversations.len(),
        per_byte(|scored| scored.nothing),
        per_byte(|scored| scored.full),
    );
    println!("| in the region's place | 300 tokens | 95 % | tokens used | 750 tokens | 95 % | tokens used |");
    println!("|---|---|---|---|---|---|---|");
    for (place, candidate) in Candidate::ALL.iter().enumerate() {
        print!("| {} |", candidate.name());
        for size in 0..SIZES.len() {
            let (low, high) = interval(&conversations, size, place);
            print!(
                " {:.1} % | {:.0} to {:.0} | {} |",
                100.0 * share(scored.iter(), size, place),
                100.0 * low,
                100.0 * high,
                median_tokens(scored, size, place)
            );
        }
        println!();
    }
}

/// Bounds between short and long regions, in tokens.
const LENGTHS: [usize; 3] = [1_500, 3_000, 6_000];

fn by_source(scored: &[Scored]) -> Vec<&[Scored]> {
    scored.chunk_by(|one, other| one.source == other.source).collect()
}

/// Prints the table of all sources and of regions by their length, in percent.
pub fn print_parts(scored: &[Scored]) {
    for (size, tokens) in SIZES.iter().enumerate() {
        let names: Vec<&str> = Candidate::ALL
            .iter()
            .map(|candidate| candidate.short_name())
            .collect();
        println!("\n| {tokens} tokens, % | windows | {} |", names.join(" | "));
        println!("|---|---|{}", "---|".repeat(names.len()));
        for of_source in by_source(scored) {
            print_row(&of_source[0].source, of_source.iter(), size);
        }
        let mut from = 0;
        for to in LENGTHS.into_iter().chain([usize::MAX]) {
            let of_length = scored
                .iter()
                .filter(|scored| (from..to).contains(&scored.region_tokens));
            let name = match to {
                usize::MAX => format!("regions over {from} tokens"),
                to => format!("regions of {from} to {to} tokens"),
            };
            print_row(&name, of_length, size);
            from = to;
        }
    }
}

fn print_row<'s>(name: &str, scored: impl Iterator<Item = &'s Scored> + Clone, size: usize) {
    print!("| {name} | {} |", scored.clone().count());
    for place in 0..Candidate::ALL.len() {
        print!(" {:.0} |", 100.0 * share(scored.clone(), size, place));
    }
    println!();
}

/// Prints a line for each window.
pub fn print_windows(scored: &[Scored], line_of: impl Fn(usize) -> usize) {
    for scored in scored {
        let (nothing, full) = (scored.nothing, scored.full);
        print!(
            "{}:{} before turn {}: {} tokens, then {} bytes, {nothing:.0} bits after nothing, {full:.0} after the region;",
            scored.source,
            line_of(scored.record),
            scored.end,
            scored.region_tokens,
            scored.bytes,
        );
        for (size, tokens) in SIZES.iter().enumerate() {
            print!(" {tokens}:");
            for (candidate, after) in Candidate::ALL.iter().zip(&scored.after[size]) {
                print!(" {} {:.0} ({})", candidate.short_name(), after.bits, after.tokens);
            }
        }
        println!();
    }
}

/// Prints the figures against their bars, and tells whether all are met.
pub fn print_bars(scored: &[Scored]) -> bool {
    println!();
    let place_of = |wanted: Candidate| {
        Candidate::ALL
            .iter()
            .position(|candidate| *candidate == wanted)
            .unwrap()
    };
    let (grounded, ungrounded) = (place_of(Candidate::Grounded), place_of(Candidate::Ungrounded));
    let mut passed = true;
    for (size, (tokens, bars)) in SIZES.iter().zip(BARS).enumerate() {
        let ours = [
            (grounded, "with grounding", bars.0),
            (ungrounded, "without", bars.1),
        ];
        for (place, how, bar) in ours {
            let share = share(scored.iter(), size, place);
            passed &= verdict(
                &format!(
                    "{tokens} tokens {how}: {:.1} %, bar {:.0} %",
                    100.0 * share,
                    100.0 * bar
                ),
                share >= bar,
            );
        }
        let mut better = Vec::new();
        for of_source in by_source(scored) {
            let own = share(of_source.iter(), size, grounded);
            let naive = Candidate::ALL
                .iter()
                .enumerate()
                .filter(|(_, candidate)| candidate.is_naive());
            let shares = naive.map(|(place, candidate)| (share(of_source.iter(), size, place), candidate));
            let best = shares.max_by(|one, other| one.0.total_cmp(&other.0));
            better.extend(best.filter(|(best, _)| *best > own).map(|(best, candidate)| {
                let source = &of_source[0].source;
                format!(
                    "{source} ({} {:.0} %, ours {:.0} %)",
                    candidate.short_name(),
                    100.0 * best,
                    100.0 * own
                )
            }));
        }
        passed &= verdict(
            &format!(
                "{tokens} tokens, sources where a naive candidate is better: {} {}, bar 0",
                better.len(),
                better.join(", ")
            ),
            better.is_empty(),
        );
    }
    passed
}

fn verdict(what: &str, is_met: bool) -> bool {
    println!("{} {what}", if is_met { "PASS" } else { "FAIL" });
    is_met
}

//! The model that measures what summaries keep: what it saw costs less, and nothing else changes what a text costs.

#[path = "../../../benches/retained/model.rs"]
mod model;

use model::Model;

/// English prose, made up for this.
const PROSE: &str = include_str!("../../../CONTRIBUTING.md");

fn cost_after(read: &str, text: &str) -> f64 {
    let mut model = Model::new();
    model.read(read.as_bytes());
    model.cost(text.as_bytes())
}

/// What a text costs where only the frequency of each byte in it is known.
fn cost_by_frequency(text: &str) -> f64 {
    let mut counts = [0.0_f64; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1.0;
    }
    let whole = text.len() as f64;
    let cost = |count: &f64| -count * (count / whole).log2();
    counts.iter().filter(|count| **count > 0.0).map(cost).sum()
}

#[test]
fn what_was_read_costs_little() {
    let (first, second) = PROSE.split_at(PROSE.len() / 2);
    let (part, _) = second.split_at(2_000);
    let unread = cost_after(first, part);
    let read = cost_after(PROSE, part);
    assert!(read * 4.0 < unread, "{read} bits, {unread} unread");
}

#[test]
fn text_costs_far_less_than_its_bytes_frequencies() {
    let cost = cost_after("", PROSE);
    let by_frequency = cost_by_frequency(PROSE);
    assert!(
        cost < 0.65 * by_frequency,
        "{cost} bits, {by_frequency} by frequency"
    );
}

#[test]
fn the_same_reading_gives_the_same_bits() {
    let (first, second) = PROSE.split_at(PROSE.len() / 2);
    assert_eq!(
        cost_after(first, second).to_bits(),
        cost_after(first, second).to_bits()
    );
}

#[test]
fn a_copy_costs_what_its_original_costs() {
    let (first, second) = PROSE.split_at(PROSE.len() / 2);
    let mut model = Model::new();
    model.read(first.as_bytes());
    let mut copy = Model::new();
    copy.read(second.as_bytes());
    copy.become_like(&model);
    let copied = copy.cost(second.as_bytes());
    let cloned = model.clone().cost(second.as_bytes());
    let own = model.cost(second.as_bytes());
    assert_eq!([copied.to_bits(), cloned.to_bits()], [own.to_bits(); 2]);
}

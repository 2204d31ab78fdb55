//! What outputs of whole runs keep of their inputs for the last turns, which every strategy leaves as they are.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use trajfit::internals::tokens::TokenCounter;
use trajfit::internals::trajectory::Role;

use crate::data::{Record, records_of, said, turn_text};
use crate::model::Model;
use crate::score::{bits, other_records};
use crate::table::interval_of;
use crate::windows::tail_texts;

/// Turns at the end that runs protect by default.
const PROTECTED: usize = 4;

/// Conversations scored at most, spread over all.
const MOST: usize = 60;

/// Bits of a record's last assistant turns.
struct Kept {
    /// What all between head and tail saves.
    whole: f64,
    /// What is left of it in each folder saves.
    saved: Vec<f64>,
}

/// Prints for each folder the part that its files keep, over the records that were changed in all folders.
pub fn print(records: &[Record], folders: &[PathBuf], counter: &dyn TokenCounter) {
    let outputs: Vec<Vec<Record>> = folders.iter().map(|folder| outputs_of(records, folder)).collect();
    let mut changed: Vec<usize> = (0..records.len())
        .filter(|place| {
            let record = &records[*place];
            let is_changed = |outputs: &Vec<Record>| {
                let output = outputs.get(*place);
                output.is_some_and(|output| texts(output) != texts(record))
            };
            record.forms[0] == *place
                && record.turns.len() >= record.head_end + PROTECTED
                && outputs.iter().all(is_changed)
        })
        .collect();
    let all = changed.len();
    let of_assistant = |records: &[Record]| -> usize {
        let turns = changed.iter().flat_map(|place| &records[*place].turns);
        let spoken = turns.filter(|turn| turn.role == Role::Assistant);
        spoken.map(|turn| counter.count(&said(turn))).sum()
    };
    let before = of_assistant(records) as f64;
    let shares: Vec<f64> = outputs
        .iter()
        .map(|outputs| of_assistant(outputs) as f64 / before)
        .collect();
    let step = all.div_ceil(MOST).max(1);
    changed = changed.into_iter().step_by(step).collect();
    let kept: Vec<Kept> = changed
        .par_iter()
        .with_max_len(1)
        .map(|place| kept(records, *place, &outputs))
        .collect();
    println!(
        "{} of {all} conversations that were changed in all folders",
        kept.len()
    );
    for (number, folder) in folders.iter().enumerate() {
        let pairs: Vec<(f64, f64)> = kept.iter().map(|kept| (kept.saved[number], kept.whole)).collect();
        let (saved, whole) = pairs
            .iter()
            .fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
        let (low, high) = interval_of(&pairs);
        println!(
            "{}: {:.1} % ({:.0} to {:.0}) retained, {:.1} % of the assistant's tokens",
            folder.display(),
            100.0 * saved / whole,
            100.0 * low,
            100.0 * high,
            100.0 * shares[number],
        );
    }
}

/// The records of a folder, in the order of those that they were made of.
fn outputs_of(records: &[Record], folder: &Path) -> Vec<Record> {
    let files = records.chunk_by(|one, other| one.source == other.source);
    let outputs: Vec<Record> = files
        .flat_map(|of_file| records_of(&folder.join(format!("{}.jsonl", of_file[0].source))))
        .collect();
    let places = |records: &[Record]| -> Vec<(String, usize)> {
        let place = |record: &Record| (record.source.clone(), record.line);
        records.iter().map(place).collect()
    };
    assert!(
        places(records) == places(&outputs),
        "{} does not hold the same records",
        folder.display()
    );
    outputs
}

fn texts(record: &Record) -> Vec<String> {
    record.turns.iter().map(turn_text).collect()
}

fn kept(records: &[Record], place: usize, outputs: &[Vec<Record>]) -> Kept {
    let record = &records[place];
    let mut after_head = Model::new();
    after_head.read(other_records(records, place).as_bytes());
    after_head.read(record.head_text().as_bytes());
    let mut scratch = Model::new();
    let tail = tail_texts(&record.turns[record.turns.len() - PROTECTED..]);
    let mut bits_after = |record: &Record| {
        let end = record.turns.len().saturating_sub(PROTECTED);
        let middle = record.turns.get(records[place].head_end..end).unwrap_or_default();
        let middle: String = middle.iter().map(turn_text).collect();
        bits(&middle, &tail, &after_head, &mut scratch)
    };
    let full = bits_after(record);
    let after: Vec<f64> = outputs
        .iter()
        .map(|outputs| bits_after(&outputs[place]))
        .collect();
    let nothing = bits("", &tail, &after_head, &mut scratch);
    Kept {
        whole: nothing - full,
        saved: after.into_iter().map(|after| nothing - after).collect(),
    }
}

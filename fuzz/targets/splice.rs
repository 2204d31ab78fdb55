//! The splicer: a compressed record is a record again, and its last turn is as it was.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use trajfit::{Compressor, Record};

static COMPRESSOR: LazyLock<Compressor> = LazyLock::new(|| {
    let builder = Compressor::builder()
        .tokenizer("o200k_base")
        .expect("it is built in");
    let builder = builder.target(120).summary_target(40).last_turns(1);
    builder.build().expect("the settings are right")
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    for line in text.lines() {
        let (Ok(before), Ok(compression)) = (Record::parse(line), COMPRESSOR.compress(line)) else {
            continue;
        };
        let row = &compression.row;
        if !row.was_compressed {
            assert_eq!(compression.line, line);
            continue;
        }
        assert!(row.compressed_tokens <= 120 || row.still_over_limit);
        assert!(row.compressed_tokens < row.original_tokens);
        let after = Record::parse(&compression.line).expect("a compressed record is one");
        let last = |record: &Record| record.turns.last().map(|turn| turn.text.to_owned());
        if last(&before) != last(&after) {
            // A last human turn may have the summary in its own text, with a mark where it ends.
            let words = |record: &Record| record.view(record.turns.len() - 1).unwrap().text.into_owned();
            let (before, after) = (words(&before), words(&after));
            assert!(after.contains("[END OF CONTEXT SUMMARY]") && after.contains(&before));
        }
    }
});

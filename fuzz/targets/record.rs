//! The record reader: any bytes give a record or an error, and what a record says of its places is so.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::value::RawValue;
use trajfit::Record;
use trajfit::grounding::score;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    for line in text.lines() {
        let Ok(record) = Record::parse(line) else {
            continue;
        };
        assert!(serde_json::from_str::<&RawValue>(record.text).is_ok());
        for (index, turn) in record.turns.iter().enumerate() {
            let span = record.turn_span(index);
            assert_eq!(span.and_then(|span| record.text.get(span)), Some(turn.text));
        }
        // Nothing is missing in a record that nothing was taken from.
        if let Ok(score) = score(line, line) {
            assert!(score.needed.is_empty());
        }
    }
});

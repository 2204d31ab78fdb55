//! The splicer: a compressed record is a record again, with the protected turns byte for byte.
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
        assert_eq!(
            before.turns.last().map(|turn| turn.text),
            after.turns.last().map(|turn| turn.text)
        );
    }
});

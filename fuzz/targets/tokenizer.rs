//! Tokenizer files: any bytes give a tokenizer that counts, or an error.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

/// The names that say which form a file has.
const NAMES: [&str; 3] = ["tokenizer.json", "vocabulary.tiktoken", "tokenizer.model"];

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("trajfit-fuzz-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder can be made");
    folder
});

fuzz_target!(|bytes: &[u8]| {
    let Some((form, bytes)) = bytes.split_first() else {
        return;
    };
    let file = FOLDER.join(NAMES[usize::from(*form) % NAMES.len()]);
    fs::write(&file, bytes).expect("the file can be written");
    if let Ok(counter) = trajfit::tokenizer::load(&file.to_string_lossy()) {
        counter.count("The sum of 17 and 25, as Größe: 42\n\t🦀");
    }
});

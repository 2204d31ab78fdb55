//! Lays out the built-in vocabularies as the program looks tokens up in them: building these tables would take most of the time that
//! it needs to start.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use vocabulary::Vocabulary;

#[path = "src/tokens/bpe/ranks_asset.rs"]
mod ranks_asset;
#[allow(dead_code)]
#[path = "src/tokens/bpe/vocabulary.rs"]
mod vocabulary;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::var_os("OUT_DIR").ok_or("cargo names no folder")?;
    for name in ["o200k_base", "cl100k_base"] {
        let asset = format!("assets/{name}.ranks");
        println!("cargo::rerun-if-changed={asset}");
        let vocabulary =
            Vocabulary::of_asset(&fs::read(&asset)?).ok_or_else(|| format!("{asset} is damaged"))?;
        fs::write(Path::new(&folder).join(name), vocabulary.layout())?;
    }
    Ok(())
}

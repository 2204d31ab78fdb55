//! The special tokens of a rank file: those known by its SHA-256, and those of the `tokenizer_config.json` beside it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use rustc_hash::FxHashSet;

use super::known::SplitPattern;

/// The part of a `tokenizer_config.json` that is read.
#[derive(serde::Deserialize)]
#[serde(expecting = "struct Config")]
struct TokenizerConfigFile {
    /// Added tokens by id.
    #[serde(default)]
    added_tokens_decoder: BTreeMap<u32, Added>,
}

#[derive(serde::Deserialize)]
struct Added {
    content: String,
}

/// The tokens in `known`, and those that the `tokenizer_config.json` beside the file `ranks` adds; `tokens` is the
/// number of tokens in that file.
///
/// # Errors
///
/// The `tokenizer_config.json` exists, but could not be read.
pub fn special_tokens(
    ranks: &Path,
    tokens: usize,
    pattern: &SplitPattern,
    known: Vec<String>,
) -> Result<Vec<String>, String> {
    let path = ranks.with_file_name("tokenizer_config.json");
    let broken = |reason: String| format!("`{}` beside it cannot be read: {reason}", path.display());
    let mut named: BTreeMap<u32, String> = match fs::read(&path) {
        Ok(config) => {
            let config: TokenizerConfigFile =
                serde_json::from_slice(&config).map_err(|error| broken(error.to_string()))?;
            let named = config.added_tokens_decoder.into_iter();
            named.map(|(id, token)| (id, token.content)).collect()
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
        Err(error) => return Err(broken(error.to_string())),
    };
    for id in (tokens..tokens + pattern.reserved).filter_map(|id| u32::try_from(id).ok()) {
        let nameless = || format!("<|reserved_token_{id}|>");
        named.entry(id).or_insert_with(nameless);
    }
    let mut seen = FxHashSet::default();
    let mut special = known;
    special.extend(named.into_values());
    special.retain(|token| !token.is_empty() && seen.insert(token.clone()));
    Ok(special)
}

//! Loading of the tokenizer that the user named.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::encodings::{BUILT_IN, CL100K_BASE, Encoding, O200K_BASE};
use super::file::{EngineChoice, FileCounter};
use super::hub::{FILES, Hub, Repository};
use super::ranks::{self, SplitPattern};
use super::{TokenCounter, TokenizerError, families};

static ENCODINGS: [&Encoding; 2] = [&O200K_BASE, &CL100K_BASE];

/// Loads the tokenizer that `name` stands for: a built-in encoding, a path to a `tokenizer.json`, to a rank file or to
/// a folder that holds one of these, or a repository (`hf:OWNER/NAME[@REVISION]`, or a bare `OWNER/NAME` that is not a
/// path) in the local Hugging Face cache; with `hf:`, it is downloaded into the cache. A suffix `#PATTERN` names the
/// split pattern of a rank file. With the prefix `reference:`, only the reference library counts, which is slow; it has
/// no effect on a built-in encoding.
///
/// # Errors
///
/// The name is unknown, the file does not exist, or no engine can load it.
pub fn load(name: &str) -> Result<Arc<dyn TokenCounter>, TokenizerError> {
    load_with(name, &Hub::of_environment())
}

fn load_with(name: &str, hub: &Hub) -> Result<Arc<dyn TokenCounter>, TokenizerError> {
    if let Some(encoding) = built_in(name) {
        return encoding.counter();
    }
    let (name, choice) = match name.strip_prefix("reference:") {
        Some(name) => (name, EngineChoice::Reference),
        None => (name, EngineChoice::Fastest),
    };
    let (place, pattern) = split_pattern(name)?;
    FileCounter::load(name, &file_of(place, hub)?, pattern, choice)
}

/// The file of a tokenizer's name, with the files that belong to it beside it; `None` for a built-in encoding.
pub fn tokenizer_file(name: &str) -> Result<Option<PathBuf>, TokenizerError> {
    if built_in(name).is_some() {
        return Ok(None);
    }
    let name = name.strip_prefix("reference:").unwrap_or(name);
    let (place, _) = split_pattern(name)?;
    let hub = Hub::of_environment();
    let file = file_of(place, &hub)?;
    // The files beside it may be missing if the tokenizer was downloaded without them.
    if let Some(Ok(repository)) = place.strip_prefix("hf:").map(Repository::parse) {
        hub.fill(place, &repository);
    }
    Ok(Some(file))
}

fn built_in(name: &str) -> Option<&'static Encoding> {
    ENCODINGS.into_iter().find(|encoding| encoding.name == name)
}

fn file_of(name: &str, hub: &Hub) -> Result<PathBuf, TokenizerError> {
    if let Some(repository) = name.strip_prefix("hf:") {
        let repository = Repository::parse(repository).map_err(|reason| TokenizerError::BadRepository {
            name: name.to_owned(),
            reason,
        })?;
        return hub.tokenizer(name, &repository, true);
    }
    let path = Path::new(name);
    if path.is_dir() {
        return in_folder(path);
    }
    if path.exists() {
        return Ok(path.to_owned());
    }
    if looks_like_a_file(name) {
        return Err(TokenizerError::NoFile {
            path: path.to_owned(),
        });
    }
    if let Ok(repository) = Repository::parse(name) {
        return hub.tokenizer(name, &repository, false);
    }
    Err(TokenizerError::Unknown {
        name: name.to_owned(),
        meant: families::tokenizer_of(name).or_else(|| nearest(name)),
    })
}

/// The name before a `#`, and the split pattern named after it. A path may contain a `#` itself.
fn split_pattern(name: &str) -> Result<(&str, Option<&'static SplitPattern>), TokenizerError> {
    let Some((place, pattern)) = name.rsplit_once('#').filter(|_| !Path::new(name).exists()) else {
        return Ok((name, None));
    };
    let known = ranks::by_name(pattern).ok_or_else(|| TokenizerError::UnknownPattern {
        name: name.to_owned(),
        pattern: pattern.to_owned(),
    })?;
    Ok((place, Some(known)))
}

/// The tokenizer in a model's folder: its `tokenizer.json`, or else its ranks.
fn in_folder(folder: &Path) -> Result<PathBuf, TokenizerError> {
    let known = FILES.map(|name| folder.join(name));
    if let Some(file) = known.into_iter().find(|file| file.exists()) {
        return Ok(file);
    }
    let entries = fs::read_dir(folder).map_err(|source| TokenizerError::Read {
        path: folder.to_owned(),
        source,
    })?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| {
            let extension = Path::new(name).extension();
            extension.is_some_and(|extension| extension == "tiktoken")
        })
        .collect();
    names.sort_unstable();
    match names.as_slice() {
        [one] => Ok(folder.join(one)),
        [] => Err(TokenizerError::NoFileInFolder {
            path: folder.to_owned(),
        }),
        _ => Err(TokenizerError::SeveralInFolder {
            path: folder.to_owned(),
            names,
        }),
    }
}

/// Returns true if a name is meant as a path: it has a file's extension, is absolute, starts with a dot, or has more
/// parts than a repository's name.
fn looks_like_a_file(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| {
        ["json", "tiktoken"]
            .iter()
            .any(|known| extension.eq_ignore_ascii_case(known))
    }) || name.starts_with(['/', '.', '~', '\\'])
        || name.ends_with('/')
        || name.matches('/').count() > 1
}

/// The built-in encoding that a mistyped or shortened name most probably stands for; `None` for another model's name.
fn nearest(name: &str) -> Option<&'static str> {
    const MOST_SLIPS: usize = 3;
    const SHORTEST: usize = 4;
    let is_meant = |known: &&str| {
        let is_short = name.len() >= SHORTEST && known.starts_with(name);
        is_short || strsim::damerau_levenshtein(known, name) <= MOST_SLIPS
    };
    BUILT_IN.into_iter().find(is_meant)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn error(name: &str) -> TokenizerError {
        let folder = tempfile::tempdir().unwrap();
        load_with(name, &Hub::offline(folder.path().join("hub")))
            .err()
            .unwrap()
    }

    #[test]
    fn built_in_names_load() {
        for name in BUILT_IN {
            let counter = load(name).unwrap();
            assert_eq!(counter.identity().name, name);
            assert_eq!(counter.count("hello world"), 2);
        }
    }

    #[test]
    fn a_file_is_counted_by_the_reference_alone_where_that_is_asked_for() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/tokenizers/qwen.json");
        let (fastest, reference) = (load(path).unwrap(), load(&format!("reference:{path}")).unwrap());
        assert_ne!(fastest.identity().engine, reference.identity().engine);
        assert_eq!(fastest.identity().sha256, reference.identity().sha256);
        assert_eq!(
            fastest.count("<think>cafe\u{301}"),
            reference.count("<think>cafe\u{301}")
        );
        assert_eq!(fastest.note(), None);
        assert!(matches!(
            error("reference:o200k_base"),
            TokenizerError::Unknown { .. }
        ));
    }

    #[test]
    fn an_unknown_name_is_told_the_known_ones_and_the_nearest() {
        let error = error("o200k-bse");
        assert_eq!(
            error.to_string(),
            "unknown tokenizer `o200k-bse`: built in are o200k_base and cl100k_base"
        );
        assert!(
            error.help().contains("`--tokenizer o200k_base`"),
            "{}",
            error.help()
        );
        assert!(matches!(
            self::error("cl100k"),
            TokenizerError::Unknown {
                meant: Some("cl100k_base"),
                ..
            }
        ));
        assert!(matches!(
            self::error(""),
            TokenizerError::Unknown { meant: None, .. }
        ));
    }

    #[test]
    fn the_name_of_a_model_leads_to_its_repository_and_never_to_another_models_encoding() {
        let error = error("qwen3");
        assert_eq!(
            error.to_string(),
            "unknown tokenizer `qwen3`: built in are o200k_base and cl100k_base"
        );
        assert!(
            error.help().contains("`--tokenizer hf:Qwen/Qwen3-8B`"),
            "{}",
            error.help()
        );
        for name in ["my-model", "claude", "nothing-known"] {
            let help = self::error(name).help();
            assert!(
                help.contains("hf:OWNER/NAME") && !help.contains("_base"),
                "{help}"
            );
        }
    }

    #[test]
    fn a_path_that_is_not_there_is_named() {
        for name in [
            "no/such/tokenizer.json",
            "./nothing",
            "/no/such",
            "tokenizer.json",
            "a/b/c",
        ] {
            assert!(matches!(error(name), TokenizerError::NoFile { .. }), "{name}");
            assert!(error(name).to_string().contains(name));
            assert!(error(name).help().contains("--tokenizer"));
        }
    }

    #[test]
    fn a_folder_without_a_tokenizer_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = error(folder.path().to_str().unwrap());
        assert!(matches!(error, TokenizerError::NoFileInFolder { .. }), "{error}");
    }

    #[test]
    fn a_repository_that_was_never_downloaded_names_the_file_wanted() {
        for name in ["hf:Qwen/Qwen3-8B", "Qwen/Qwen3-8B"] {
            let error = error(name);
            let message = error.to_string();
            assert!(message.contains(name), "{message}");
            assert!(message.contains("models--Qwen--Qwen3-8B"), "{message}");
            assert!(message.contains("tokenizer.json"), "{message}");
            assert!(error.help().contains("--tokenizer"));
        }
        assert!(matches!(
            error("hf:../../etc"),
            TokenizerError::BadRepository { .. }
        ));
    }

    #[test]
    fn a_broken_file_is_named_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        for (number, content) in ["", "{", "[]", "{\"model\": 3}", "null", "\u{0}\u{1}"]
            .iter()
            .enumerate()
        {
            let path = folder.path().join(format!("{number}.json"));
            fs::write(&path, content).unwrap();
            let error = error(path.to_str().unwrap());
            assert!(matches!(error, TokenizerError::Broken { .. }), "{error}");
            assert!(error.to_string().contains(path.to_str().unwrap()));
        }
    }
}

//! Names of data files: their endings, and what tells them from files that runs leave beside data.

use std::path::{Path, PathBuf};

use crate::columns::RowFormat;

/// Endings of the data files of an input directory.
const LINES_EXTENSIONS: [&str; 3] = [".jsonl", ".ndjson", ".json"];
const COMPRESSED_EXTENSIONS: [&str; 2] = [".gz", ".zst"];
/// Endings of files that a run leaves beside data.
const SIDE_FILES: [&str; 3] = [".rejects.jsonl", ".summary.json", ".metrics.parquet"];

/// Returns true for the name of a file that holds data, and is none that a run leaves beside data.
pub fn is_data(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let side_file = SIDE_FILES.iter().any(|ending| name.ends_with(ending)) || is_requests(&name);
    let extension = split_data_extension(&name).1;
    let is_data = data_extensions().any(|data_extension| extension.starts_with(data_extension));
    !side_file && !name.starts_with('.') && is_data
}

fn data_extensions() -> impl Iterator<Item = &'static str> {
    LINES_EXTENSIONS.into_iter().chain(RowFormat::endings())
}

/// Returns true for the name of requests that a run left beside its data: `out.missing.jsonl`, `out.missing-2.jsonl`.
fn is_requests(name: &str) -> bool {
    let number = name
        .strip_suffix(".jsonl")
        .and_then(|stem| Some(stem.rsplit_once(".missing")?.1));
    number.is_some_and(|number| {
        let digits = number.strip_prefix('-');
        number.is_empty() || digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// A path without the ending of its compression.
pub fn without_compression(path: &Path) -> PathBuf {
    let is_compressed = path.extension().is_some_and(|extension| {
        let extension = format!(".{}", extension.to_string_lossy());
        COMPRESSED_EXTENSIONS.contains(&extension.as_str())
    });
    if is_compressed {
        path.with_extension("")
    } else {
        path.to_owned()
    }
}

/// A file name without its data extension, and that extension (`.jsonl.gz`); empty if it has none.
pub fn split_data_extension(name: &str) -> (&str, &str) {
    let uncompressed = COMPRESSED_EXTENSIONS
        .iter()
        .find_map(|extension| name.strip_suffix(extension))
        .unwrap_or(name);
    match data_extensions().find_map(|extension| uncompressed.strip_suffix(extension)) {
        Some(stem) if !stem.is_empty() => name.split_at(stem.len()),
        _ if uncompressed.len() < name.len() && !uncompressed.is_empty() => name.split_at(uncompressed.len()),
        _ => (name, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_extension_comes_off_whole() {
        assert_eq!(split_data_extension("out.jsonl"), ("out", ".jsonl"));
        assert_eq!(split_data_extension("a.b.jsonl.gz"), ("a.b", ".jsonl.gz"));
        assert_eq!(split_data_extension("out.parquet"), ("out", ".parquet"));
        assert_eq!(split_data_extension("out.zst"), ("out", ".zst"));
        assert_eq!(split_data_extension("OUTDIR"), ("OUTDIR", ""));
        assert_eq!(split_data_extension("v1.5"), ("v1.5", ""));
        assert_eq!(split_data_extension(".jsonl"), (".jsonl", ""));
    }

    #[test]
    fn files_that_runs_leave_beside_data_are_no_data() {
        for name in ["out.rejects.jsonl", "out.missing.jsonl", "out.missing-12.jsonl"] {
            assert!(!is_data(Path::new(name)), "{name}");
        }
        for name in [
            "out.jsonl",
            "missing.jsonl",
            "out.missing-x.jsonl",
            "out.missing5.jsonl",
        ] {
            assert!(is_data(Path::new(name)), "{name}");
        }
    }
}

//! Names of files made from other names: endings, stems and folders.

use std::path::{Path, PathBuf};

use crate::pipeline::Codec;
use crate::pipeline::read::data_names::split_data_extension;
use crate::stores;

/// The ending of a file while it is written.
pub const PARTIAL: &str = ".partial";

/// The prefix of the names of the side files beside an output.
pub fn stem_of(output: &Path) -> PathBuf {
    if output.is_dir() || ends_with_separator(output) {
        named(output)
    } else {
        without_data_extension(output)
    }
}

/// A path with `ending` appended to its last component.
pub fn appended(path: &Path, ending: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(ending);
    PathBuf::from(path)
}

/// The path with the ending of `codec`; unchanged if that is `None`.
pub fn named_after(path: PathBuf, codec: Option<Codec>) -> PathBuf {
    let named = Codec::of_name(&path.to_string_lossy());
    match codec {
        None => path,
        Some(codec) if codec == named => path,
        Some(codec) => {
            let plain = if named == Codec::Plain {
                path
            } else {
                path.with_extension("")
            };
            match codec {
                Codec::Plain => plain,
                Codec::Gzip => appended(&plain, ".gz"),
                Codec::Zstd => appended(&plain, ".zst"),
            }
        }
    }
}

pub fn ends_with_separator(path: &Path) -> bool {
    path.to_string_lossy().ends_with(std::path::MAIN_SEPARATOR)
}

/// The path of a directory with a name to append endings to: not `.` or `..`.
pub fn named(directory: &Path) -> PathBuf {
    if stores::is_url(directory) {
        return stores::without_trailing_slash(directory);
    }
    let full = directory
        .file_name()
        .is_none()
        .then(|| directory.canonicalize().ok())
        .flatten();
    full.unwrap_or_else(|| strip_separator(directory))
}

pub fn strip_separator(path: &Path) -> PathBuf {
    path.components().collect()
}

pub fn has_no_data_extension(path: &Path) -> bool {
    split_data_extension(&path.file_name().unwrap_or_default().to_string_lossy())
        .1
        .is_empty()
}

pub fn without_data_extension(path: &Path) -> PathBuf {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    path.with_file_name(split_data_extension(&name).0)
}

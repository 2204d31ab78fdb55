//! The formats of files with rows, by their first bytes and by their names.

use std::path::Path;

/// The help where a file of rows is asked for, and this build has no code for them.
pub const NOT_BUILT: &str = "this build is without Parquet and Arrow: cargo install --path . --features parquet makes one with them, and so is \
    the program of the Python wheel";

/// The endings of such files, with their formats. Arrow's own names are `.arrow` for a file and `.arrows` for a stream.
const ENDINGS: [(&str, RowFormat); 4] = [
    (".parquet", RowFormat::Parquet),
    (".arrow", RowFormat::ArrowFile),
    (".feather", RowFormat::ArrowFile),
    (".arrows", RowFormat::ArrowStream),
];

/// The format of a file with rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFormat {
    /// Parquet.
    Parquet,
    /// Arrow IPC with a footer.
    ArrowFile,
    /// Arrow IPC as a stream; the files of `datasets` are such.
    ArrowStream,
}

impl RowFormat {
    /// Number of first bytes by which a format is recognized.
    pub const START_BYTES: usize = 6;

    /// True if this build reads and writes them.
    pub const IS_BUILT: bool = cfg!(feature = "parquet");

    /// The format of a file with these first bytes.
    pub fn of_start(start: &[u8]) -> Option<Self> {
        if start.starts_with(b"PAR1") {
            Some(Self::Parquet)
        } else if start.starts_with(b"ARROW1") {
            Some(Self::ArrowFile)
        } else {
            start
                .starts_with(b"\xff\xff\xff\xff")
                .then_some(Self::ArrowStream)
        }
    }

    /// The format that a file of this name is written in.
    pub fn of_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy();
        let ending = |(ending, kind): (&str, Self)| {
            let is_named = name.ends_with(ending) && name.len() > ending.len();
            is_named.then_some(kind)
        };
        ENDINGS.into_iter().find_map(ending)
    }

    /// The endings of their names.
    pub fn endings() -> impl Iterator<Item = &'static str> {
        ENDINGS.into_iter().map(|(ending, _)| ending)
    }
}

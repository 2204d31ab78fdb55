//! The names of side files: endings beside the data, and names that flags give.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};

/// The ending of rejects.
pub const REJECTS: &str = ".rejects.jsonl";

/// The ending of the metrics.
pub const METRICS: &str = ".metrics.csv";

/// The ending of the totals.
pub const SUMMARY: &str = ".summary.json";

/// Side files that are named by flags; the others stand beside the data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedFiles {
    /// The metrics.
    pub metrics: Option<PathBuf>,
    /// The totals.
    pub summary: Option<PathBuf>,
    /// The rejects.
    pub rejects: Option<PathBuf>,
}

impl NamedFiles {
    /// The named files, with their flags.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let files = [
            ("--metrics", &self.metrics),
            ("--summary", &self.summary),
            ("--rejects", &self.rejects),
        ];
        files
            .into_iter()
            .filter_map(|(flag, path)| Some((flag, path.as_deref()?)))
    }
}

/// A name in the current directory that no other run chooses.
pub fn unique_rejects() -> PathBuf {
    // Seeded by the system, with 64 random bits a process.
    let random = RandomState::new().build_hasher().finish();
    PathBuf::from(format!("trajfit-{random:016x}{REJECTS}"))
}

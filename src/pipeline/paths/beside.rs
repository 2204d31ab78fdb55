//! The metrics of the run that wrote an output.

use std::path::{Path, PathBuf};

use super::file_names::{appended, stem_of};
use super::side_files::METRICS;

/// Metrics that may be those of the run that wrote an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricsBeside {
    /// The file.
    pub metrics: PathBuf,
    /// The folder of the output below the directory that the run wrote; `None` if the run wrote only that file.
    pub below: Option<PathBuf>,
}

/// The metrics that stand beside an output, or beside a directory that it is in; the nearest first.
pub fn metrics_beside(output: &Path) -> Vec<MetricsBeside> {
    let is_directory = output.is_dir();
    let mut beside = vec![MetricsBeside {
        metrics: appended(&stem_of(output), METRICS),
        below: is_directory.then(PathBuf::new),
    }];
    if let Ok(full) = output.canonicalize() {
        let folder = if is_directory {
            Some(full.as_path())
        } else {
            full.parent()
        };
        let above = full
            .ancestors()
            .skip(1)
            .filter(|above| above.file_name().is_some());
        beside.extend(above.filter_map(|above| {
            Some(MetricsBeside {
                metrics: appended(above, METRICS),
                below: Some(folder?.strip_prefix(above).ok()?.to_owned()),
            })
        }));
    }
    beside.retain(|beside| beside.metrics.is_file());
    beside
}

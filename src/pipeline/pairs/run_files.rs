//! The files that a run's metrics name, among the files that are compared.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};

use super::data_sets::Pairs;
use crate::metrics::read_pair_rows;
use crate::pipeline::Source;
use crate::pipeline::paths::beside::MetricsBeside;
use crate::pipeline::read::data_names::without_compression;

/// The index of a file among originals, and of one among compressed files.
type Indexes = (Option<usize>, Option<usize>);

/// The file of the originals and that of the compressed data, by the name of a source in the metrics.
#[derive(Debug)]
pub struct PairFiles {
    by_source: FxHashMap<String, Indexes>,
}

impl PairFiles {
    /// The files of both data sets that the metrics name; `None` if no source has a file in both.
    pub fn of(beside: &MetricsBeside, pairs: &Pairs) -> Option<Self> {
        let names = source_names(&beside.metrics)?;
        let originals = originals(&names, &pairs.original);
        let compressed = match &beside.below {
            // One file, which holds all that the run wrote.
            None => names.iter().map(|_| Some(0)).collect(),
            Some(below) => {
                let places = pairs.compressed.iter();
                let places = places.map(|source| without_compression(&below.join(&source.relative)));
                by_ending(&names, without_compression, places, &[])
            }
        };
        let indexes: Vec<Indexes> = originals.into_iter().zip(compressed).collect();
        let names_both = indexes.iter().any(|(old, new)| old.is_some() && new.is_some());
        names_both.then(|| Self {
            by_source: names.into_iter().zip(indexes).collect(),
        })
    }

    /// The files of a source.
    pub fn of_source(&self, name: &str) -> Indexes {
        self.by_source.get(name).copied().unwrap_or_default()
    }
}

/// The names of the sources, each once, in their order; `None` if the file cannot be read as metrics.
fn source_names(metrics: &Path) -> Option<Vec<String>> {
    let file = File::open(metrics).ok()?;
    let mut names: Vec<String> = Vec::new();
    let mut seen: FxHashSet<String> = FxHashSet::default();
    for row in read_pair_rows(BufReader::new(file)) {
        let source = row.ok()?.source;
        if names.last() != Some(&source) && seen.insert(source.clone()) {
            names.push(source);
        }
    }
    Some(names)
}

/// The index of the original of each name: the file at that path, else one whose relative path the name ends with. A
/// single original belongs to a single name, whatever it is called.
fn originals(names: &[String], originals: &[Source]) -> Vec<Option<usize>> {
    if let ([_], [_]) = (names, originals) {
        return vec![Some(0)];
    }
    let places = originals.iter().enumerate();
    let places: FxHashMap<PathBuf, usize> = places
        .filter_map(|(index, source)| Some((source.path.canonicalize().ok()?, index)))
        .collect();
    let place = |name: &String| places.get(&Path::new(name).canonicalize().ok()?).copied();
    let exact: Vec<Option<usize>> = names.iter().map(place).collect();
    let relative = originals.iter().map(|source| source.relative.clone());
    let found = by_ending(names, Path::to_path_buf, relative, &exact);
    exact
        .into_iter()
        .zip(found)
        .map(|(exact, found)| exact.or(found))
        .collect()
}

/// The index of the longest of `places` that the path of each name ends with; `None` if several names end with it.
/// Names with a `known` index are skipped, and so are their places.
fn by_ending(
    names: &[String],
    path: impl Fn(&Path) -> PathBuf,
    places: impl Iterator<Item = PathBuf>,
    known: &[Option<usize>],
) -> Vec<Option<usize>> {
    let taken: FxHashSet<usize> = known.iter().flatten().copied().collect();
    let places: FxHashMap<PathBuf, usize> = places
        .enumerate()
        .filter(|(index, _)| !taken.contains(index))
        .map(|(index, place)| (place, index))
        .collect();
    let found = names.iter().enumerate().map(|(number, name)| {
        if known.get(number).copied().flatten().is_some() {
            return None;
        }
        let path = path(Path::new(name));
        let mut ending = path.components();
        loop {
            if let Some(index) = places.get(ending.as_path()) {
                return Some(*index);
            }
            ending.next()?;
        }
    });
    let mut found: Vec<Option<usize>> = found.collect();
    let mut claims: FxHashMap<usize, usize> = FxHashMap::default();
    for index in found.iter().flatten() {
        *claims.entry(*index).or_default() += 1;
    }
    for index in &mut found {
        *index = index.filter(|index| claims.get(index) == Some(&1));
    }
    found
}

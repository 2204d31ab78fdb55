//! The table that a file of records is read into: the first records define its columns, and later ones must fit them.

use std::collections::BTreeMap;

use super::arrow_kinds::ArrowKind;
use super::findings::{Finding, FindingKind, TrainingOutcome, whole};
use super::rules::DatasetReader;
use super::shape::Shape;

/// Bytes of the first file that `datasets` infers its columns from.
const FIRST_BLOCK: u64 = 10 << 20;

/// Maximum number of places recorded; with more of them, nothing is reported.
const MOST_PLACES: usize = 20_000;

/// The columns defined by the records read so far.
#[derive(Debug, Clone)]
pub struct DatasetColumns {
    reader: DatasetReader,
    /// The first file.
    first: Option<String>,
    /// Bytes read of the first file.
    bytes: u64,
    places: BTreeMap<String, Option<ArrowKind>>,
    /// Places with several kinds in the first file: they accept any value.
    mixed: Vec<String>,
    names: BTreeMap<u8, String>,
}

impl DatasetColumns {
    /// An empty table.
    pub fn new(reader: DatasetReader) -> Self {
        Self {
            reader,
            first: None,
            bytes: 0,
            places: BTreeMap::new(),
            mixed: Vec::new(),
            names: BTreeMap::new(),
        }
    }

    /// Adds a record of a file. Returns the findings where it does not fit those before it.
    pub fn add(&mut self, source: &str, shape: &Shape) -> Vec<Finding> {
        let mut found: Vec<Finding> = self.second_name(shape).into_iter().collect();
        if self.reader == DatasetReader::Json || self.places.len() > MOST_PLACES {
            return found;
        }
        let is_first_file = *self.first.get_or_insert_with(|| source.to_owned()) == source;
        let is_open = is_first_file && self.bytes < FIRST_BLOCK;
        if is_first_file {
            self.bytes += shape.bytes;
        }
        let mut new_place = None;
        let mut other_kind = None;
        for (place, kind) in &shape.places {
            let is_mixed = self.mixed.iter().any(|mixed| place.starts_with(mixed.as_str()));
            match self.places.get(place).copied() {
                None | Some(None) if is_open => {
                    self.places.insert(place.clone(), *kind);
                }
                _ if is_mixed => {}
                None => new_place = new_place.or(Some(place)),
                Some(None) if kind.is_some() => new_place = new_place.or(Some(place)),
                Some(Some(known)) if kind.is_some_and(|kind| kind != known) => {
                    let kind = kind.unwrap_or(known);
                    if is_first_file && self.reader == DatasetReader::Datasets {
                        self.mixed.push(place.clone());
                    } else if is_first_file || !kind.can_become(known) {
                        other_kind = other_kind.or(Some(place));
                    }
                }
                Some(_) => {}
            }
        }
        let refused = |kind, place: &String| whole(kind, TrainingOutcome::Refuse, place);
        found.extend(new_place.map(|place| refused(FindingKind::NewColumn, place)));
        found.extend(other_kind.map(|place| refused(FindingKind::MixedKinds, place)));
        found
    }

    /// Returns a finding if a role has another name than in records before.
    fn second_name(&mut self, shape: &Shape) -> Option<Finding> {
        shape.names.iter().find_map(|(class, name, outcome)| {
            let known = self.names.entry(*class as u8).or_insert_with(|| name.clone());
            (known != name).then(|| {
                whole(
                    FindingKind::TwoNames,
                    *outcome,
                    &format!("{name}, in records before {known}"),
                )
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::action::Class;
    use super::*;

    /// The findings for the last of these records, each in the file of its name.
    fn last(reader: DatasetReader, records: &[(&str, &str)]) -> Vec<(FindingKind, String)> {
        let mut table = DatasetColumns::new(reader);
        let mut found = Vec::new();
        for (source, text) in records {
            found = table.add(source, &Shape::of(text, Vec::new()));
        }
        found
            .into_iter()
            .map(|finding| (finding.kind, finding.detail))
            .collect()
    }

    const PLAIN: &str = r#"{"id": "a", "messages": [{"role": "user", "content": "x"}]}"#;
    const PARTS: &str =
        r#"{"id": "b", "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}"#;
    const MORE: &str = r#"{"id": "c", "messages": [{"role": "user", "content": "x"}], "score": 1}"#;
    const MARKED: &str = r#"{"id": "d", "messages": [{"role": "user", "content": "x", "train": true}]}"#;
    const NULL: &str = r#"{"id": "e", "messages": [{"role": "user", "content": null}]}"#;
    const NUMBER: &str = r#"{"id": 4, "messages": [{"role": "user", "content": null}]}"#;

    #[test]
    fn the_first_file_gives_the_columns() {
        for reader in [DatasetReader::Datasets, DatasetReader::Arrow] {
            let new = |place: &str| vec![(FindingKind::NewColumn, place.to_owned())];
            assert_eq!(last(reader, &[("1", PLAIN), ("1", MORE)]), []);
            assert_eq!(last(reader, &[("1", PLAIN), ("2", MORE)]), new("score"));
            assert_eq!(last(reader, &[("1", MORE), ("2", PLAIN)]), []);
            assert_eq!(
                last(reader, &[("1", PLAIN), ("2", MARKED)]),
                new("messages[].train")
            );
            assert_eq!(last(reader, &[("1", MARKED), ("2", PLAIN)]), []);
            // A column of nulls accepts no other value.
            assert_eq!(
                last(reader, &[("1", NULL), ("2", PLAIN)]),
                new("messages[].content")
            );
            let long = format!(r#"{{"id": "{}", "messages": []}}"#, "x".repeat(11 << 20));
            assert_eq!(
                last(reader, &[("1", PLAIN), ("1", &long), ("1", MORE)]),
                new("score")
            );
        }
        assert_eq!(last(DatasetReader::Json, &[("1", PLAIN), ("2", MORE)]), []);
    }

    #[test]
    fn a_place_holds_one_kind() {
        let mixed = |place: &str| (FindingKind::MixedKinds, place.to_owned());
        let found = last(DatasetReader::Arrow, &[("1", PLAIN), ("1", PARTS)]);
        assert_eq!(found, [mixed("messages[].content")]);
        assert_eq!(
            last(DatasetReader::Arrow, &[("1", PLAIN), ("1", NUMBER)]),
            [mixed("id")]
        );
        // From 4.8 on, kinds may differ within a file, but not between two files.
        assert_eq!(last(DatasetReader::Datasets, &[("1", PLAIN), ("1", PARTS)]), []);
        let found = last(DatasetReader::Datasets, &[("1", PLAIN), ("2", PARTS)]);
        assert!(found.contains(&mixed("messages[].content")), "{found:?}");
        assert_eq!(last(DatasetReader::Datasets, &[("1", PLAIN), ("2", NUMBER)]), []);
        assert_eq!(
            last(
                DatasetReader::Datasets,
                &[("1", PLAIN), ("1", PARTS), ("2", PARTS)]
            ),
            []
        );
    }

    #[test]
    fn a_second_name_for_a_role_is_found() {
        let mut table = DatasetColumns::new(DatasetReader::Json);
        let named =
            |name: &str| Shape::of(PLAIN, vec![(Class::Tool, name.to_owned(), TrainingOutcome::Drop)]);
        assert_eq!(table.add("1", &named("tool")), []);
        assert_eq!(table.add("1", &named("tool")), []);
        let found = table.add("1", &named("observation"));
        assert_eq!(
            (found[0].kind, found[0].outcome),
            (FindingKind::TwoNames, TrainingOutcome::Drop)
        );
        assert_eq!(found[0].detail, "observation, in records before tool");
    }
}

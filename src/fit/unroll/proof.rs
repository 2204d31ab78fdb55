//! The proof that unrolled records train every assistant turn of their trajectory once: the trained turns reassembled.

use std::borrow::Cow;

use super::super::mark::SummaryMark;
use crate::trajectory::{self, Format, Record, Role, Turn};

/// The lineage that a record states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrajectoryId {
    /// The trajectory's id.
    pub trajectory: String,
    /// The record's number, from 1.
    pub segment: usize,
    /// The records of the trajectory.
    pub segments: usize,
    /// True if the record teaches the summary after that record.
    pub is_summary: bool,
}

impl TrajectoryId {
    /// Reads the lineage of a record; `None` where it has none, or the bytes are no record.
    pub fn of(bytes: &[u8], format: Option<Format>) -> Option<Self> {
        let record = trajectory::parse(bytes, format).ok()?;
        let number = |name| trajectory::field_of(&record, name)?.parse().ok();
        let id = trajectory::field_of(&record, "trajectory_id")?;
        Some(Self {
            trajectory: text_of(id).into_owned(),
            segment: number("segment")?,
            segments: number("segments")?,
            is_summary: is_summary(&record),
        })
    }

    /// Returns true if the record comes next of a trajectory of which the records before number `segment` were seen.
    pub fn comes_next(&self, trajectory: &str, segment: usize) -> bool {
        self.trajectory == trajectory && self.segment + usize::from(self.is_summary) == segment
    }

    /// True if no record of the trajectory comes after it.
    pub fn is_last(&self) -> bool {
        self.segment >= self.segments && !self.is_summary
    }

    /// The id of a trajectory that is to be unrolled; `name` if it has none, and `None` where it is no record.
    pub fn of_original(bytes: &[u8], format: Option<Format>, name: &str) -> Option<String> {
        let record = trajectory::parse(bytes, format).ok()?;
        Some(
            record
                .id
                .map_or_else(|| name.to_owned(), |id| text_of(id).into_owned()),
        )
    }
}

fn is_summary(record: &Record<'_>) -> bool {
    trajectory::field_of(record, "is_summary") == Some("true")
}

fn text_of(id: &str) -> Cow<'_, str> {
    trajectory::json::decode(id).0
}

/// The trained turns of the records of one trajectory, taken one record after another.
pub struct Reassembly<'o> {
    original: Record<'o>,
    /// The assistant turns that are to be trained, from the next one on.
    expected: std::vec::IntoIter<usize>,
    trained: usize,
    mark: Option<&'o SummaryMark>,
}

impl<'o> Reassembly<'o> {
    /// A trajectory of which no record was seen yet; `None` where it is no record. Turns that the field of `mark` leaves out of
    /// the training already are not expected.
    pub fn of(original: &'o [u8], format: Option<Format>, mark: Option<&'o SummaryMark>) -> Option<Self> {
        let original = trajectory::parse(original, format).ok()?;
        let is_expected = |turn: &Turn<'_>| {
            let own = mark.and_then(|mark| Some((mark, trajectory::value_of(turn, &mark.field)?)));
            turn.role == Role::Assistant && own.is_none_or(|(mark, own)| own == mark.on(turn, false))
        };
        let turns = original.turns.iter().enumerate();
        let expected: Vec<usize> = turns
            .filter(|(_, turn)| is_expected(turn))
            .map(|(index, _)| index)
            .collect();
        Some(Self {
            original,
            expected: expected.into_iter(),
            trained: 0,
            mark,
        })
    }

    /// Takes the next record.
    ///
    /// # Errors
    ///
    /// The faults found.
    pub fn take(&mut self, record: &[u8]) -> Result<(), String> {
        let format = Some(self.original.format);
        let record = trajectory::parse(record, format).map_err(|error| error.to_string())?;
        let trained = trained_in(&record, self.mark);
        if is_summary(&record) {
            return if trained.len() == 1 && trained.last().map(|last| last + 1) == Some(record.turns.len()) {
                Ok(())
            } else {
                Err("it teaches a summary, and trains more than its last turn".to_owned())
            };
        }
        for index in trained {
            let Some(turn) = record.turns.get(index) else {
                return Err(format!("it has no turn {index}, which it calls trained"));
            };
            let Some(place) = self.expected.next() else {
                return Err(format!("its turn {index} is trained once more than it should be"));
            };
            let original = self.original.turns.get(place);
            let is_same = original.is_some_and(|original| match self.mark {
                Some(mark) => trajectory::is_marked_copy(original, turn, &mark.field),
                None => original.text == turn.text,
            });
            if !is_same {
                return Err(format!("its turn {index} is not turn {place} of the trajectory"));
            }
            self.trained += 1;
        }
        Ok(())
    }

    /// The number of trained turns, once all records were taken.
    ///
    /// # Errors
    ///
    /// The turn that is trained in none of them.
    pub fn finish(mut self) -> Result<usize, String> {
        match self.expected.next() {
            None => Ok(self.trained),
            Some(turn) => Err(format!("turn {turn} of the trajectory is trained in no record")),
        }
    }
}

/// The turns that a record trains, by their marks, or by its list of them; all of the assistant's of one that has neither.
fn trained_in(record: &Record<'_>, mark: Option<&SummaryMark>) -> Vec<usize> {
    let listed = trajectory::field_of(record, "trained_turns");
    if let Some(listed) = listed.filter(|_| mark.is_none()) {
        return serde_json::from_str(listed).unwrap_or_default();
    }
    let is_trained = |turn: &Turn<'_>| match mark {
        Some(mark) => trajectory::value_of(turn, &mark.field) == Some(mark.on(turn, false)),
        None => true,
    };
    let turns = record.turns.iter().enumerate();
    let trained = turns.filter(|(_, turn)| turn.role == Role::Assistant && is_trained(turn));
    trained.map(|(index, _)| index).collect()
}

/// Returns the trained turns of a record as they stood in its trajectory: without the mark, if that stands at their end. None of
/// one that teaches a summary.
///
/// # Errors
///
/// Why the record cannot be read.
pub fn trained_turns(
    bytes: &[u8],
    format: Option<Format>,
    mark: Option<&SummaryMark>,
) -> Result<Vec<String>, String> {
    let record = trajectory::parse(bytes, format).map_err(|error| error.to_string())?;
    if is_summary(&record) {
        return Ok(Vec::new());
    }
    let trained = trained_in(&record, mark).into_iter();
    let turns = trained.map(|index| {
        let turn = record.turns.get(index);
        let turn = turn.ok_or_else(|| format!("it has no turn {index}, which it calls trained"))?;
        let bare = mark.map(|mark| trajectory::without_mark(turn, &mark.field, mark.on(turn, false)));
        Ok(bare.unwrap_or_else(|| turn.text.to_owned()))
    });
    turns.collect()
}

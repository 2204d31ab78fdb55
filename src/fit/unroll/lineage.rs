//! The fields by which a record tells the trajectory that it is of, and its place in it.

use serde_json::Value;

/// The place of a record in its trajectory.
pub struct Lineage<'t> {
    /// The trajectory's id.
    pub trajectory: &'t str,
    /// The record's number, from 1.
    pub segment: usize,
    /// The records of the trajectory.
    pub segments: usize,
    /// The turns at its beginning that are those of the record before.
    pub prefix_turns: usize,
    /// True if it teaches the summary after that record; none where no record does.
    pub is_summary: Option<bool>,
}

/// The id of a record between two compactions.
fn id_of(trajectory: &str, segment: usize) -> String {
    format!("{trajectory}#{segment}")
}

impl Lineage<'_> {
    /// The record's id.
    pub fn id(&self) -> String {
        let id = id_of(self.trajectory, self.segment);
        if self.is_summary == Some(true) {
            id + "-summary"
        } else {
            id
        }
    }

    /// The fields, each with its JSON; with the trained turns where the turns themselves do not tell them.
    pub fn fields(&self, trained: Option<&[usize]>) -> Vec<(&'static str, String)> {
        let text = |text: String| Value::String(text).to_string();
        let before = self.segment - usize::from(self.is_summary != Some(true));
        let parent = (before > 0).then(|| id_of(self.trajectory, before));
        let mut fields = vec![
            ("id", text(self.id())),
            ("trajectory_id", text(self.trajectory.to_owned())),
            ("segment", self.segment.to_string()),
            ("segments", self.segments.to_string()),
            ("parent", parent.map_or_else(|| "null".to_owned(), text)),
            ("prefix_turns", self.prefix_turns.to_string()),
        ];
        if let Some(is_summary) = self.is_summary {
            fields.push(("is_summary", is_summary.to_string()));
        }
        if let Some(trained) = trained {
            let trained: Vec<String> = trained.iter().map(ToString::to_string).collect();
            fields.push(("trained_turns", format!("[{}]", trained.join(", "))));
        }
        fields
    }
}

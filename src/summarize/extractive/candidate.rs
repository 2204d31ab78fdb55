//! A line that may enter the summary: its section, its time, and how long it may be.

/// The sections of a summary, in the order printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Section {
    /// Lines of an earlier summary.
    Earlier,
    /// Messages of people, in order: later ones may replace what earlier ones say.
    Asked,
    /// Calls and their outcomes.
    Calls,
    /// Files read and changed.
    Files,
    /// Failures without a later success.
    Errors,
    /// Findings of an earlier summary.
    Findings,
    /// Quotations of recent work.
    Recent,
}

impl Section {
    /// All of them, in the order printed.
    pub(super) const ALL: [Self; 7] = [
        Self::Earlier,
        Self::Asked,
        Self::Calls,
        Self::Files,
        Self::Errors,
        Self::Findings,
        Self::Recent,
    ];

    /// Its heading.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Earlier => "Earlier:",
            Self::Asked => "The user said, in order:",
            Self::Calls => "Calls:",
            Self::Files => "Files:",
            Self::Errors => "Open errors:",
            Self::Findings => "Findings:",
            Self::Recent => "Recent work:",
        }
    }

    /// The part of the budget that it may take before all others had their turn.
    pub(super) fn share(self) -> f64 {
        match self {
            Self::Earlier => 0.3,
            Self::Calls => 0.4,
            // These are chosen by themselves.
            Self::Recent | Self::Asked => 1.0,
            Self::Files | Self::Errors => 0.15,
            Self::Findings => 0.25,
        }
    }

    /// The section with this heading.
    pub(super) fn from_label(label: &str) -> Option<Self> {
        let named = Self::ALL.into_iter().find(|section| section.label() == label);
        // Those that earlier versions wrote.
        named.or(match label {
            "Asked:" | "Asked earlier:" | "Constraints:" => Some(Self::Asked),
            "Done:" => Some(Self::Calls),
            "Values:" => Some(Self::Earlier),
            _ => None,
        })
    }
}

/// A line that may enter the summary.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    /// The section it would stand in.
    pub section: Section,
    /// Its time: lines of a section are printed in this order.
    pub order: usize,
    /// The line, clean, without a bullet.
    pub text: String,
    /// Its worth to a reader.
    pub value: f64,
}

impl Candidate {
    /// Lines are printed in this order.
    pub fn place(&self) -> (Section, usize) {
        (self.section, self.order)
    }
}

/// The longest lines, in characters: shorter ones where the budget is small, so that several things are told.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineLimits {
    /// A line.
    pub line: usize,
    /// A person's request, verbatim as a whole.
    pub asked: usize,
}

impl LineLimits {
    pub fn within(max_tokens: usize) -> Self {
        Self {
            line: (40 + max_tokens / 6).clamp(40, 170),
            asked: max_tokens.clamp(60, 600),
        }
    }
}

/// Time of a line: its turn, then its place in it; lines of an earlier summary come before all.
pub(super) fn order(turn: usize, place: usize) -> usize {
    (turn + 1) * 100_000 + place.min(99_999)
}

/// If `line` holds the words of `text`, whatever marks and bullets stand between them.
pub(super) fn holds(line: &str, text: &str) -> bool {
    let said = words(text.strip_suffix('…').unwrap_or(text));
    !said.is_empty() && words(line).contains(&said)
}

/// The letters and digits of a text.
pub(super) fn words(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

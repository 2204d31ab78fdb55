//! Numbers of tests that passed and failed, as a runner's line counts them.

use super::pattern::Match;

/// Numbers of tests that passed and failed; `None` where the runner does not print it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TestCounts {
    pub passed: Option<u32>,
    /// Failures and errors.
    pub failed: Option<u32>,
    /// The row of the runner that counts so.
    pub runner: Option<usize>,
}

/// The number that a group of a match has; 1 where it has words instead.
pub(super) fn number(found: &Match<'_>, group: &str) -> Option<u32> {
    let text = found.named(group)?;
    if text.bytes().any(|byte| byte.is_ascii_digit()) {
        text.replace(',', "").parse().ok()
    } else {
        Some(1)
    }
}

fn sum(one: Option<u32>, other: Option<u32>) -> Option<u32> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.saturating_add(other)),
        _ => one.or(other),
    }
}

impl TestCounts {
    pub(super) fn of(found: &Match<'_>) -> (Self, Option<u32>) {
        let failed = sum(number(found, "failed"), number(found, "errors"));
        let passed = number(found, "passed");
        let ran =
            number(found, "total").map(|total| total.saturating_sub(number(found, "skipped").unwrap_or(0)));
        let counts = Self {
            passed,
            failed,
            runner: None,
        };
        (counts, ran)
    }

    /// Number of tests that a line counts.
    pub(super) fn total(found: &Match<'_>) -> u32 {
        let (counts, ran) = Self::of(found);
        ran.or(sum(counts.passed, counts.failed)).unwrap_or_default()
    }

    pub(super) fn add(&mut self, other: Self) {
        self.passed = sum(self.passed, other.passed);
        self.failed = sum(self.failed, other.failed);
    }

    /// Number of tests that ran.
    pub fn ran(self) -> u32 {
        sum(self.passed, self.failed).unwrap_or_default()
    }

    /// Returns true if any passed.
    pub fn any_passed(self) -> bool {
        self.passed.is_some_and(|passed| passed > 0)
    }

    /// Returns true if none ran: all were skipped, or none was selected.
    pub fn ran_none(self) -> bool {
        !self.any_passed() && !self.fails()
    }

    /// Returns true if any failed.
    pub fn fails(self) -> bool {
        self.failed.is_some_and(|failed| failed > 0)
    }
}

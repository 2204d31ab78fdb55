//! The time to wait after the vendor refused a batch because its queue is full.

/// The state of waiting for room in the vendor's queue.
#[derive(Debug, Default)]
pub struct QueueBackoff {
    /// Refusals in a row; several between two polls count once.
    pub refusals: u32,
    /// A batch was refused since the last poll.
    pub is_refused: bool,
    /// Number of polls before the next attempt.
    pub looks: u32,
}

impl QueueBackoff {
    /// Ends the waiting: the queue has accepted a batch.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Returns true if it is time to submit.
    pub fn is_due(&self) -> bool {
        self.looks == 0
    }

    /// Counts a poll of all batches.
    pub fn count_look(&mut self) {
        self.is_refused = false;
        self.looks = self.looks.saturating_sub(1);
    }
}

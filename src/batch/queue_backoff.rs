//! The time to wait after the vendor refused a batch because its queue is full.

/// What a run knows of its luck with the queue.
#[derive(Debug, Default)]
pub struct QueueBackoff {
    /// Refusals in a row; several between two looks are one.
    pub refusals: u32,
    /// Whether it was refused since the last look.
    pub is_refused: bool,
    /// Looks that are to pass before the next attempt.
    pub looks: u32,
}

impl QueueBackoff {
    /// There is room again, as far as is known.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Whether it is the time to submit.
    pub fn is_due(&self) -> bool {
        self.looks == 0
    }

    /// It was looked at all batches.
    pub fn count_look(&mut self) {
        self.is_refused = false;
        self.looks = self.looks.saturating_sub(1);
    }
}

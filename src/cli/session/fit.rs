//! Records of a session fitted, or unrolled.

use super::core::Session;
use super::error::SessionError;
use super::fitting::Fitting;
use crate::cli::commands::unroll;
use crate::metrics::Columns;
use crate::pipeline::Worker;

impl Session {
    /// Fits records, each the bytes of one JSON object. Their rows have `source` as source, and the record's number, from
    /// 1, as line.
    ///
    /// # Errors
    ///
    /// No threads can be started.
    pub fn fit<I: Iterator<Item = Vec<u8>>>(
        &self,
        records: I,
        source: &str,
    ) -> Result<Fitting<I>, SessionError> {
        let worker = self.worker(&self.settings, source);
        let fingerprint = self.settings.fingerprint.clone();
        Fitting::new(self, records, worker, Columns::Records, fingerprint)
    }

    /// Unrolls records as `trajfit unroll` does with these flags, such as `("trigger", "0.75")`; a flag without a value is
    /// `true`.
    ///
    /// # Errors
    ///
    /// A flag or its value is unknown, or no threads can be started.
    pub fn unroll<I: Iterator<Item = Vec<u8>>>(
        &self,
        records: I,
        source: &str,
        flags: &[(String, String)],
    ) -> Result<Fitting<I>, SessionError> {
        let (settings, unrolling) = unroll::of_flags(flags, self.resolved.clone())?;
        let worker = Worker {
            unroll: Some(unrolling),
            ..self.worker(&settings, source)
        };
        Fitting::new(self, records, worker, Columns::Segments, settings.fingerprint)
    }
}

//! Retries of failed requests.

use std::thread;
use std::time::Duration;

use super::HubError;

/// Maximum number of attempts.
const TRIES: u32 = 5;
/// The pause after the first failure; each later one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest pause that a server may ask for.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// A failed attempt.
#[derive(Debug, Clone)]
pub enum DownloadFailure {
    /// A failure that would repeat.
    Final(HubError),
    /// A failure that may be temporary, with the pause that the server asks for, if any.
    Passing(HubError, Option<Duration>),
}

impl From<HubError> for DownloadFailure {
    fn from(error: HubError) -> Self {
        Self::Final(error)
    }
}

/// Returns the first success, or the last failure.
pub fn retry<T>(mut attempt: impl FnMut() -> Result<T, DownloadFailure>) -> Result<T, HubError> {
    let mut pause = FIRST_PAUSE;
    for left in (0..TRIES).rev() {
        match attempt() {
            Ok(value) => return Ok(value),
            Err(DownloadFailure::Passing(_, wish)) if left > 0 => {
                thread::sleep(wish.unwrap_or(pause).min(LONGEST_PAUSE));
            }
            Err(DownloadFailure::Final(error) | DownloadFailure::Passing(error, _)) => return Err(error),
        }
        pause *= 2;
    }
    Err(HubError::Unreachable("it was never tried".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(failures: &[DownloadFailure]) -> (Result<&'static str, HubError>, usize) {
        let mut tried = 0;
        let result = retry(|| {
            tried += 1;
            failures.get(tried - 1).cloned().map_or(Ok("done"), Err)
        });
        (result, tried)
    }

    #[test]
    fn what_may_pass_is_tried_five_times_and_what_will_not_once() {
        let passing = DownloadFailure::Passing(HubError::Status(503), Some(Duration::ZERO));
        let (result, tried) = after(&vec![passing.clone(); 4]);
        assert_eq!((result.unwrap(), tried), ("done", 5));
        let (result, tried) = after(&vec![passing.clone(); 9]);
        assert!(matches!(result, Err(HubError::Status(503))));
        assert_eq!(tried, 5);
        let (result, tried) = after(&[passing, HubError::NoRevision.into()]);
        assert!(matches!(result, Err(HubError::NoRevision)));
        assert_eq!(tried, 2);
    }
}

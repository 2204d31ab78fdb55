//! The hub of a build without the feature `hub`: nothing is downloaded.

use super::answer::HubResponse;
use super::settings::HubSettings;
use super::{DownloadFailure, HubError, Repository};

/// A server that is never asked.
pub struct Remote;

impl Remote {
    /// Returns the reason why nothing can be downloaded.
    pub fn new(_: &HubSettings) -> Result<Self, HubError> {
        Err(HubError::Unreachable(
            "built without the feature `hub`".to_owned(),
        ))
    }

    /// Returns an error: there is no server.
    pub fn ask(&self, _: &Repository, _: &str) -> Result<HubResponse, DownloadFailure> {
        Err(HubError::Unreachable("built without the feature `hub`".to_owned()).into())
    }
}

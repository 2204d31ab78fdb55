//! Outputs in object stores: where their files are written on this machine, and the checks that they can be uploaded.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::file_names::{PARTIAL, appended};
use super::targets::OutputFiles;
use super::urls::check_writable;
use crate::files;
use crate::pipeline::RunError;
use crate::stores;

impl OutputFiles {
    /// The same files. Those of object stores are written in the folder `state` first, and so is all that a resumed run
    /// needs.
    #[must_use]
    pub fn with_state_in(mut self, state: &Path) -> Self {
        state.clone_into(&mut self.state);
        self
    }

    /// The path on this machine for a file of the run: of an object, one in the folder for what is uploaded.
    pub fn local(&self, path: &Path) -> PathBuf {
        if stores::is_url(path) {
            stores::staged(path, &self.state)
        } else {
            path.to_owned()
        }
    }

    /// The path of a file while it is written.
    pub fn partial(&self, path: &Path) -> PathBuf {
        appended(&self.local(path), PARTIAL)
    }

    /// The files that are uploaded, each with the flag that names it.
    fn remote(&self, with_data: bool) -> Vec<(&'static str, PathBuf)> {
        let files = self.files_with_flags();
        let files = files.filter(|(flag, path)| stores::is_url(path) && (with_data || *flag != "-o"));
        files.collect()
    }

    /// Refuses files that could not be uploaded at the end of the run, and makes the folder that they are written in.
    pub fn prepare_remote(&self, with_data: bool) -> Result<(), RunError> {
        let mut folders = BTreeSet::new();
        for (flag, path) in self.remote(with_data) {
            check_writable(flag, &path)?;
            if folders.insert(path.parent().map(Path::to_owned)) {
                stores::check_writable(&path).map_err(|error| RunError::output(&path, &error))?;
            }
        }
        if folders.is_empty() {
            return Ok(());
        }
        let made = files::create_private_folder(&self.state);
        made.map_err(|error| RunError::output(&self.state, &error))
    }

    /// Removes the folders that files were written in, as far as they are empty.
    pub fn tidy_remote(&self) {
        for (_, path) in self.remote(true) {
            let local = self.local(&path);
            let above = local.ancestors().skip(1);
            let mut folders =
                above.take_while(|folder| *folder != self.state && folder.starts_with(&self.state));
            let _ = folders.try_for_each(std::fs::remove_dir);
        }
    }
}

//! Outputs in object stores: where their files are written on this machine, and the checks that they can be uploaded.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::file_names::{PARTIAL, appended};
use super::targets::OutputFiles;
use super::urls::check_writable;
use crate::files;
use crate::pipeline::RunError;
use crate::stores;

/// The path on this machine for a file: of an object, one in the folder `state`, where it is written before it is uploaded.
pub fn local(path: &Path, state: &Path) -> PathBuf {
    if stores::is_url(path) {
        stores::staged(path, state)
    } else {
        path.to_owned()
    }
}

/// Fails if some of these files are objects that cannot be written, each named with its flag. Makes the folder that objects are
/// written in first.
pub fn prepare<'p>(files: impl Iterator<Item = (&'p str, &'p Path)>, state: &Path) -> Result<(), RunError> {
    let mut folders = BTreeSet::new();
    for (flag, path) in files.filter(|(_, path)| stores::is_url(path)) {
        check_writable(flag, path)?;
        if folders.insert(path.parent()) {
            stores::check_writable(path).map_err(|error| RunError::output(path, &error))?;
        }
    }
    if folders.is_empty() {
        return Ok(());
    }
    files::create_private_folder(state).map_err(|error| RunError::output(state, &error))
}

/// Removes the folders that objects were written in, as far as they are empty.
pub fn tidy<'p>(files: impl Iterator<Item = &'p Path>, state: &Path) {
    for path in files.filter(|path| stores::is_url(path)) {
        let local = local(path, state);
        let above = local.ancestors().skip(1);
        let mut folders = above.take_while(|folder| *folder != state && folder.starts_with(state));
        let _ = folders.try_for_each(std::fs::remove_dir);
    }
}

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
        local(path, &self.state)
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
        let files = self.remote(with_data);
        prepare(
            files.iter().map(|(flag, path)| (*flag, path.as_path())),
            &self.state,
        )
    }

    /// Removes the folders that files were written in, as far as they are empty.
    pub fn tidy_remote(&self) {
        let files = self.remote(true);
        tidy(files.iter().map(|(_, path)| path.as_path()), &self.state);
    }
}

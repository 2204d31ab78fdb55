//! Files made for writing: never through a link, held by one run, and no more readable than they should be.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

/// The permissions of a file that is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read and written by its owner alone.
    Private,
    /// At most those of an input; the umask of the process may remove more.
    AtMost {
        /// Permission bits, `0o666` at most.
        mode: u32,
        /// The group that the group bits apply to; `None` if the inputs have several.
        group: Option<u32>,
    },
    /// The permissions of the file that it replaces.
    Exactly(u32),
}

impl Access {
    /// The permissions that the system gives any new file.
    pub const USUAL: Self = Self::AtMost {
        mode: 0o666,
        group: None,
    };

    /// The permissions that a file made from both inputs may have.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::USUAL, other) => other,
            (this, Self::USUAL) => this,
            (
                Self::AtMost { mode, group },
                Self::AtMost {
                    mode: other_mode,
                    group: other_group,
                },
            ) => {
                let both = mode & other_mode;
                // To a file of another group, members of a group are others.
                let (mode, group) = if group == other_group {
                    (both, group)
                } else {
                    (for_any_group(both), None)
                };
                Self::AtMost { mode, group }
            }
            _ => Self::Private,
        }
    }

    fn at_creation(self) -> u32 {
        match self {
            Self::Private | Self::Exactly(_) => 0o600,
            Self::AtMost { mode, .. } => mode | 0o600,
        }
    }
}

/// The permission bits, with the group's reduced to those that others have too.
fn for_any_group(mode: u32) -> u32 {
    mode & !0o070 | mode & (mode & 0o007) << 3
}

/// Creates a file for writing and locks it. Fails if anything exists at `path`, even a dangling link.
pub fn create_new(path: &Path, access: Access) -> io::Result<File> {
    let file = create(path, access)?;
    hold(&file, path)?;
    Ok(file)
}

/// Opens a file that an earlier part of the same run made, and locks it. Fails for a link, and for anything but a
/// regular file.
pub fn open_existing(path: &Path) -> io::Result<File> {
    let file = open(path)?;
    hold(&file, path)?;
    Ok(file)
}

/// Opens a regular file for reading and writing, or creates it if it is missing. Does not lock it.
pub fn open_or_create(path: &Path, access: Access) -> io::Result<File> {
    loop {
        match create(path, access) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return created,
        }
        match open(path) {
            // The file was removed in between.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => return opened,
        }
    }
}

fn create(path: &Path, access: Access) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    system::create_with(&mut options, access.at_creation());
    let file = options.open(path)?;
    system::adjust(&file, access)?;
    Ok(file)
}

fn open(path: &Path) -> io::Result<File> {
    let found = path.symlink_metadata()?;
    if found.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !found.is_file() {
        return Err(io::Error::other("it is there and no regular file"));
    }
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    Ok(file)
}

/// Removes a file that an earlier run left half-written, unless a run is writing it. A link is removed, not its target.
pub fn remove_leftover(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Ok(found) if found.is_file() => {
            // A file that cannot be opened can still be removed, and no run writes it.
            if let Ok(file) = File::open(path) {
                hold(&file, path)?;
                return std::fs::remove_file(path);
            }
        }
        _ => {}
    }
    std::fs::remove_file(path)
}

/// Locks a file until it is closed. Fails if another run has locked it, or has replaced it by another file.
fn hold(file: &File, path: &Path) -> io::Result<()> {
    let held = match file.try_lock() {
        Err(TryLockError::WouldBlock) => false,
        // Some file systems have no locks.
        Ok(()) | Err(TryLockError::Error(_)) => is_same_file(file, path),
    };
    if held {
        Ok(())
    } else {
        Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            "another run is writing it",
        ))
    }
}

/// The permissions of a file made from the file at `path`: at most its own. A pipe or a device limits nothing.
pub fn access_like(path: &Path) -> Access {
    system::mode_and_group(path).map_or(Access::USUAL, |(mode, group)| Access::AtMost {
        mode: mode & 0o666,
        group: Some(group),
    })
}

/// The permissions of the regular file at `path`; `access` if there is none.
pub fn access_at(path: &Path, access: Access) -> Access {
    let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
    let existing = system::mode_and_group(path).filter(|_| is_file);
    existing.map_or(access, |(mode, _)| Access::Exactly(mode & 0o777))
}

/// Creates the missing folders of `file`, each with the permissions of its counterpart above `like`, if there is one.
pub fn create_folders_of(file: &Path, like: Option<&Path>) -> io::Result<()> {
    let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    if folder.is_dir() {
        return Ok(());
    }
    let like = like.and_then(Path::parent);
    create_folders_of(folder, like)?;
    match system::create_folder(folder, like) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if folder.is_dir() {
                Ok(())
            } else {
                Err(io::Error::new(
                    io::ErrorKind::NotADirectory,
                    format!("{} is no folder", folder.display()),
                ))
            }
        }
        created => created,
    }
}

/// Creates a folder that only its owner may enter; an existing one stays as it is.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    create_folders_of(folder, None)?;
    match system::create_folder_with(folder, 0o700) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        created => created,
    }
}

pub use system::is_same_file;

#[cfg(unix)]
mod system {
    use std::fs::{DirBuilder, File, OpenOptions, Permissions};
    use std::io;
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
    use std::path::Path;

    use super::{Access, for_any_group};

    pub fn create_with(options: &mut OpenOptions, mode: u32) {
        options.mode(mode);
    }

    /// Corrects the permissions of a new file, whose group is known only once it exists.
    pub fn adjust(file: &File, access: Access) -> io::Result<()> {
        let mode = match access {
            Access::Private => return Ok(()),
            Access::Exactly(mode) => mode,
            Access::AtMost { mode, group } => {
                let made = file.metadata()?;
                let allowed = made.mode() & (for_any_group(mode) | 0o600);
                if group == Some(made.gid()) || allowed == made.mode() & 0o777 {
                    return Ok(());
                }
                allowed
            }
        };
        file.set_permissions(Permissions::from_mode(mode))
    }

    pub fn mode_and_group(path: &Path) -> Option<(u32, u32)> {
        let metadata = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some((metadata.mode(), metadata.gid()))
    }

    pub fn create_folder(folder: &Path, like: Option<&Path>) -> io::Result<()> {
        let like = like.map(|like| {
            if like.as_os_str().is_empty() {
                Path::new(".")
            } else {
                like
            }
        });
        let mode = like.and_then(|like| Some(like.metadata().ok()?.mode() & 0o777));
        create_folder_with(folder, mode.unwrap_or(0o777) | 0o700)
    }

    pub fn create_folder_with(folder: &Path, mode: u32) -> io::Result<()> {
        DirBuilder::new().mode(mode).create(folder)
    }

    /// Returns true if an open file is still the one at `path`.
    pub fn is_same_file(file: &File, path: &Path) -> bool {
        let identity = |metadata: &std::fs::Metadata| (metadata.dev(), metadata.ino());
        matches!(
            (file.metadata(), path.symlink_metadata()),
            (Ok(open), Ok(named)) if identity(&open) == identity(&named)
        )
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::{File, OpenOptions};
    use std::io;
    use std::path::Path;

    use super::Access;

    pub fn create_with(_options: &mut OpenOptions, _mode: u32) {}

    #[expect(clippy::unnecessary_wraps, reason = "other systems may refuse")]
    pub fn adjust(_file: &File, _access: Access) -> io::Result<()> {
        Ok(())
    }

    pub fn mode_and_group(_path: &Path) -> Option<(u32, u32)> {
        None
    }

    pub fn create_folder(folder: &Path, _like: Option<&Path>) -> io::Result<()> {
        std::fs::create_dir(folder)
    }

    pub fn create_folder_with(folder: &Path, _mode: u32) -> io::Result<()> {
        std::fs::create_dir(folder)
    }

    pub fn is_same_file(_file: &File, path: &Path) -> bool {
        path.exists()
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        path.symlink_metadata().unwrap().mode() & 0o777
    }

    #[test]
    fn a_file_made_from_two_inputs_is_read_by_those_who_may_read_both() {
        let of = |mode, group| Access::AtMost {
            mode,
            group: Some(group),
        };
        assert_eq!(of(0o664, 1).and(of(0o640, 1)), of(0o640, 1));
        let several = |mode| Access::AtMost { mode, group: None };
        assert_eq!(of(0o664, 1).and(of(0o640, 2)), several(0o600));
        assert_eq!(of(0o644, 1).and(of(0o664, 2)), several(0o644));
        assert_eq!(Access::USUAL.and(of(0o600, 1)), of(0o600, 1));
        assert_eq!(of(0o644, 1).and(Access::Private), Access::Private);
    }

    #[test]
    fn a_file_is_made_where_nothing_is_and_held_by_who_made_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.partial");
        let file = create_new(&path, Access::Private).unwrap();
        assert_eq!(mode(&path), 0o600);
        for refused in [create_new(&path, Access::Private), open_existing(&path)] {
            assert!(refused.is_err());
        }
        assert!(remove_leftover(&path).is_err() && path.exists());
        drop(file);
        open_existing(&path).unwrap();
        remove_leftover(&path).unwrap();
        assert!(!path.exists());
        remove_leftover(&path).unwrap();
    }

    #[test]
    fn no_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (precious, link) = (folder.path().join("precious"), folder.path().join("link"));
        std::fs::write(&precious, "precious").unwrap();
        symlink(&precious, &link).unwrap();
        assert!(create_new(&link, Access::Private).is_err() && open_existing(&link).is_err());
        remove_leftover(&link).unwrap();
        symlink(folder.path().join("nowhere"), &link).unwrap();
        assert!(create_new(&link, Access::Private).is_err());
        assert_eq!(std::fs::read_to_string(&precious).unwrap(), "precious");
    }

    #[test]
    fn a_group_that_is_not_the_inputs_reads_what_others_may() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, group| {
            let path = folder.path().join(name);
            let access = Access::AtMost { mode: 0o640, group };
            create_new(&path, access).unwrap();
            path
        };
        let plain = make("plain", None);
        assert_eq!(mode(&plain), 0o600);
        let group = plain.metadata().unwrap().gid();
        assert_eq!(mode(&make("other", Some(group + 1))), 0o600);
        assert_eq!(mode(&make("same", Some(group))) & !0o040, 0o600);
    }

    #[test]
    fn new_folders_are_as_open_as_those_of_the_input() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("in/a/in.jsonl");
        std::fs::create_dir_all(input.parent().unwrap()).unwrap();
        std::fs::set_permissions(folder.path().join("in"), PermissionsExt::from_mode(0o700)).unwrap();
        let output = folder.path().join("out/a/out.jsonl");
        create_folders_of(&output, Some(&input)).unwrap();
        assert_eq!(mode(&folder.path().join("out")), 0o700);
        assert!(folder.path().join("out/a").is_dir());
        create_folders_of(&folder.path().join("new/x/y.jsonl"), None).unwrap();
        assert!(folder.path().join("new/x").is_dir());
        let private = folder.path().join("out.cache");
        create_private_folder(&private).unwrap();
        assert_eq!(mode(&private), 0o700);
        std::fs::set_permissions(&private, PermissionsExt::from_mode(0o755)).unwrap();
        create_private_folder(&private).unwrap();
        assert_eq!(mode(&private), 0o755);
        std::fs::write(folder.path().join("file"), "").unwrap();
        assert!(create_private_folder(&folder.path().join("file")).is_err());
    }
}

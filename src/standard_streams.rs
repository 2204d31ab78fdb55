//! The standard streams that this process was started with.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// A standard stream that data come from or go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandardStream {
    /// Standard input.
    Input,
    /// Standard output.
    Output,
}

static INPUT_IS_CLOSED: AtomicBool = AtomicBool::new(false);
static OUTPUT_IS_CLOSED: AtomicBool = AtomicBool::new(false);

impl StandardStream {
    /// The stream that a path stands for.
    pub fn at(path: &Path) -> Option<Self> {
        match path.to_str()? {
            "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" => Some(Self::Input),
            "/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1" => Some(Self::Output),
            _ => None,
        }
    }

    /// Fails with `NotConnected` if the process was started without the stream (`<&-`, `>&-`).
    pub fn refuse_closed(self) -> io::Result<()> {
        let is_closed = match self {
            Self::Input => &INPUT_IS_CLOSED,
            Self::Output => &OUTPUT_IS_CLOSED,
        };
        if is_closed.load(Ordering::Relaxed) {
            return Err(io::Error::new(io::ErrorKind::NotConnected, "it is closed"));
        }
        Ok(())
    }
}

/// Records which standard streams are closed. To be called before Rust's runtime starts, which opens `/dev/null` in
/// place of a closed one: input would be empty and output lost, without an error.
pub fn note_closed() {
    #[cfg(unix)]
    {
        use std::os::fd::{AsFd, BorrowedFd};
        /// The number of the error "bad file descriptor" on all Unix systems.
        const EBADF: i32 = 9;
        let note = |closed: &AtomicBool, stream: BorrowedFd<'_>| {
            let copied = stream.try_clone_to_owned();
            let is_closed = copied.is_err_and(|error| error.raw_os_error() == Some(EBADF));
            closed.store(is_closed, Ordering::Relaxed);
        };
        note(&INPUT_IS_CLOSED, io::stdin().as_fd());
        note(&OUTPUT_IS_CLOSED, io::stdout().as_fd());
    }
}

//! The `trajfit` program: hands its arguments to the library and its answer to the shell.

use std::process::ExitCode;

/// Batches come and go between threads all the time, each of another size: jemalloc hands such memory out again, where
/// glibc gives it back and fetches it anew.
#[cfg(all(target_os = "linux", feature = "jemalloc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

ctor::declarative::ctor! {
    /// Runs before Rust's own start, which hides that a standard stream is closed.
    #[ctor(unsafe)]
    fn before_main() {
        trajfit::internals::note_closed();
    }
}

fn main() -> ExitCode {
    trajfit::internals::main()
}

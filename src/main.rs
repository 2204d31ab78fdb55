//! The `trajfit` program: hands its arguments to the library, and returns its exit code.

use std::process::ExitCode;

/// Batches of different sizes move between threads all the time: jemalloc reuses their memory, while glibc returns it
/// to the system and requests it again.
#[cfg(all(target_os = "linux", feature = "jemalloc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

ctor::declarative::ctor! {
    /// Runs before Rust's runtime starts, which hides that a standard stream is closed.
    #[ctor(unsafe)]
    fn before_main() {
        trajfit::internals::note_closed();
    }
}

fn main() -> ExitCode {
    trajfit::internals::main()
}

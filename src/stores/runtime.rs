//! The runtime that requests to stores run on.

use std::future::Future;
use std::io;
use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// Threads of the runtime: they encrypt and hash, and wait.
const THREADS: usize = 2;

static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();

fn runtime() -> io::Result<&'static Runtime> {
    let build = || {
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .enable_all()
            .build();
        runtime.map_err(|error| error.to_string())
    };
    let built = RUNTIME.get_or_init(build);
    built.as_ref().map_err(|error| io::Error::other(error.clone()))
}

/// Waits for a future on this thread, which belongs to no runtime.
pub fn wait<T>(future: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    runtime()?.block_on(future)
}

/// Starts a future.
pub fn start<T: Send + 'static>(
    future: impl Future<Output = io::Result<T>> + Send + 'static,
) -> io::Result<JoinHandle<io::Result<T>>> {
    Ok(runtime()?.spawn(future))
}

/// Waits for the result of a future that was started.
pub fn finish<T>(task: JoinHandle<io::Result<T>>) -> io::Result<T> {
    runtime()?.block_on(task).map_err(io::Error::other)?
}

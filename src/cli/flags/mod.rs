//! The flags that commands share, and the checks of them.

pub(super) mod compress_options;
pub(super) mod inputs;
pub(super) mod key_flags;
pub(super) mod run_flags;

//! What shell commands, and the scripts in them, do to which files.

pub(crate) mod line;
mod path;
mod script;
mod statement;
mod touch;
mod words;

pub(crate) use path::{is_same_file, last_step, path_of};
pub(crate) use touch::{Step, Touch, of_code, of_command, on_open_file, script_of};

//! Paths: where they lead, and which of them name one file.

/// A path without steps that lead nowhere, from the root where the directory is known.
pub(crate) fn path_of(directory: &str, name: &str) -> String {
    let whole = if name.starts_with(['/', '~']) || directory.is_empty() {
        name.to_owned()
    } else {
        [directory, "/", name].concat()
    };
    let mut steps: Vec<&str> = Vec::new();
    for step in whole.split('/') {
        match step {
            "" | "." => {}
            ".." if steps.last().is_some_and(|last| *last != "..") => {
                steps.pop();
            }
            _ => steps.push(step),
        }
    }
    let root = if whole.starts_with('/') { "/" } else { "" };
    [root, &steps.join("/")].concat()
}

/// Returns true if two paths name one file: a relative path equals an absolute one that ends with it.
pub(crate) fn is_same_file(one: &str, other: &str) -> bool {
    let (long, short) = if one.len() > other.len() {
        (one, other)
    } else {
        (other, one)
    };
    let short = short.trim_start_matches("./");
    let rest = long.strip_suffix(short);
    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/') && !short.starts_with('/'))
}

/// The name of a file or directory without the directories above it.
pub(crate) fn last_step(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

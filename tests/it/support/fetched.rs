//! Files that scripts have fetched for tests: where they are, and what is in them.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The folder that a variable names, or the one that a script fills; with a line where it is not there.
pub fn fetched(variable: &str, name: &str) -> Option<PathBuf> {
    let folder = env::var_os(variable).map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("target").join(name),
        PathBuf::from,
    );
    let is_there = folder.exists();
    if !is_there {
        // Past the test runner, which shows what a test prints only if it fails.
        let line = format!(
            "chat_templates: real {name} are skipped, since scripts/fetch-{name}.sh has not fetched them\n"
        );
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
    is_there.then_some(folder)
}

/// One of several templates of a configuration.
pub fn part_of(config: &Path, name: &str) -> String {
    let config: serde_json::Value = serde_json::from_slice(&fs::read(config).unwrap()).unwrap();
    let templates = config["chat_template"].as_array().unwrap();
    let template = templates
        .iter()
        .find(|template| template["name"] == name)
        .unwrap();
    template["template"].as_str().unwrap().to_owned()
}

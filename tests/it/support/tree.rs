//! The project's own source files, as text to check.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder that `Cargo.toml` is in.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A file's text.
pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// A Rust file of the project.
pub struct SourceFile {
    /// Its path from the root, with slashes.
    pub path: String,
    /// What is in it.
    pub text: String,
}

/// The Rust files below a folder of the root, sorted by folder, then by name.
pub fn rust_files(folder: &str) -> Vec<SourceFile> {
    let mut files = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = read(&path);
                let path = path.strip_prefix(root()).unwrap();
                let path = path.to_string_lossy().replace('\\', "/");
                files.push(SourceFile { path, text });
            }
        }
    }
    files.sort_by_key(|file| (file.folder(), file.name().to_owned()));
    files
}

impl SourceFile {
    /// The folder it is in.
    pub fn folder(&self) -> String {
        self.path
            .rsplit_once('/')
            .map_or_else(String::new, |(folder, _)| folder.to_owned())
    }

    /// Its name without the folder.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// The module below the crate's root that it belongs to.
    pub fn layer(&self) -> &str {
        let name = self.path.split('/').nth(1).unwrap_or_default();
        name.trim_end_matches(".rs")
    }

    /// Whether all of it is tests.
    pub fn is_test(&self) -> bool {
        self.path.contains("/tests/") || self.name() == "tests.rs" || self.name() == "oracle.rs"
    }

    /// The paragraph that it opens with, in one line.
    pub fn sentence(&self) -> String {
        let lines = self.text.lines().map_while(|line| line.strip_prefix("//! "));
        lines.collect::<Vec<_>>().join(" ")
    }

    /// Its code, without comments and without the tests at its end.
    pub fn code(&self) -> impl Iterator<Item = &str> {
        let code = self.text.split("#[cfg(test)]\nmod tests {").next();
        let lines = code.unwrap_or_default().lines();
        lines.map(|line| line.split("//").next().unwrap_or_default())
    }

    /// Whether its code has that name in it, as a whole word.
    pub fn uses(&self, name: &str) -> bool {
        let is_word = |character: char| character.is_alphanumeric() || character == '_';
        self.code().any(|line| {
            line.match_indices(name).any(|(at, _)| {
                let before = line.get(..at).and_then(|text| text.chars().next_back());
                let after = line.get(at + name.len()..).and_then(|text| text.chars().next());
                let inside = name.ends_with(is_word) && after.is_some_and(is_word);
                !before.is_some_and(is_word) && !inside
            })
        })
    }

    /// The modules below the crate's root that its code uses.
    pub fn modules_used(&self) -> BTreeSet<String> {
        let code: Vec<&str> = self.code().collect();
        let code = code.join("\n");
        let mut modules = BTreeSet::new();
        for rest in code.split("crate::").skip(1) {
            let names = match rest.strip_prefix('{').and_then(|list| list.split_once('}')) {
                Some((list, _)) => list.split(',').collect(),
                None => vec![rest],
            };
            modules.extend(names.into_iter().filter_map(first_word));
        }
        modules
    }
}

fn first_word(text: &str) -> Option<String> {
    let mut words = text.split(|character: char| !character.is_alphanumeric() && character != '_');
    words.find(|word| !word.is_empty()).map(str::to_owned)
}

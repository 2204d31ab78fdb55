//! Tokenizer files in the local Hugging Face cache.

use std::env;
use std::fs;
use std::path::PathBuf;

use super::TokenizerError;

/// The files that hold a tokenizer, the best first.
pub const FILES: [&str; 2] = ["tokenizer.json", "tiktoken.model"];

/// A repository of models and one revision of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    owner: String,
    name: String,
    revision: String,
}

impl Repository {
    /// Reads `OWNER/NAME[@REVISION]`; the revision is `main` where none is given.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let (path, revision) = text.split_once('@').unwrap_or((text, "main"));
        let (owner, name) = path
            .split_once('/')
            .ok_or("there is no `/` between owner and name")?;
        for part in [owner, name] {
            let is_known = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
            if part.is_empty() || !part.chars().all(is_known) || part.starts_with('.') {
                return Err("owner and name are letters, digits, `-`, `_` and `.`");
            }
        }
        if revision.split('/').any(|part| matches!(part, "" | "." | "..")) || revision.contains(['\\', '\0'])
        {
            return Err("the revision is no branch, tag or commit");
        }
        Ok(Self {
            owner: owner.to_owned(),
            name: name.to_owned(),
            revision: revision.to_owned(),
        })
    }
}

/// The folder in which that ecosystem's tools keep what they download.
pub struct HubCache {
    root: PathBuf,
}

impl HubCache {
    /// As `HF_HUB_CACHE`, `HUGGINGFACE_HUB_CACHE`, `HF_HOME` and `XDG_CACHE_HOME` say, in this order,
    /// or `~/.cache/huggingface/hub`.
    pub fn of_environment() -> Self {
        let folder = |name: &str| {
            env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let cache = || folder("XDG_CACHE_HOME").or_else(|| env::home_dir().map(|home| home.join(".cache")));
        let home = || folder("HF_HOME").or_else(|| cache().map(|cache| cache.join("huggingface")));
        let root = folder("HF_HUB_CACHE")
            .or_else(|| folder("HUGGINGFACE_HUB_CACHE"))
            .or_else(|| home().map(|home| home.join("hub")));
        Self {
            root: root.unwrap_or_default(),
        }
    }

    /// The cache in this folder.
    #[cfg(test)]
    pub fn at(root: PathBuf) -> Self {
        Self { root }
    }

    /// The tokenizer of a repository. A revision is a name that `refs/` resolves, or a commit.
    pub fn find(&self, name: &str, repository: &Repository) -> Result<PathBuf, TokenizerError> {
        let folder = self
            .root
            .join(format!("models--{}--{}", repository.owner, repository.name));
        let commit = fs::read_to_string(folder.join("refs").join(&repository.revision)).ok();
        let snapshot = commit.as_deref().map_or(repository.revision.as_str(), str::trim);
        let snapshot = folder.join("snapshots").join(snapshot);
        let found = FILES
            .map(|file| snapshot.join(file))
            .into_iter()
            .find(|file| file.exists());
        found.ok_or_else(|| TokenizerError::NotCached {
            name: name.to_owned(),
            revision: repository.revision.clone(),
            wanted: snapshot.join("tokenizer.json"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_has_an_owner_a_name_and_a_revision() {
        let parsed = Repository::parse("Qwen/Qwen3-8B").unwrap();
        assert_eq!(
            (
                parsed.owner.as_str(),
                parsed.name.as_str(),
                parsed.revision.as_str()
            ),
            ("Qwen", "Qwen3-8B", "main")
        );
        assert_eq!(Repository::parse("a/b@refs/pr/1").unwrap().revision, "refs/pr/1");
        for bad in [
            "",
            "a",
            "a/",
            "/b",
            "a/b/c",
            "a/..",
            "a/b@",
            "a/b@../..",
            "a b/c",
            "a/b@x/../y",
        ] {
            assert!(Repository::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_branch_is_followed_and_a_commit_is_taken_as_it_is() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("models--a--b");
        fs::create_dir_all(folder.join("refs")).unwrap();
        fs::create_dir_all(folder.join("snapshots/c0ffee")).unwrap();
        fs::write(folder.join("refs/main"), "c0ffee\n").unwrap();
        fs::write(folder.join("snapshots/c0ffee/tokenizer.json"), "{}").unwrap();
        let cache = HubCache::at(root.path().to_owned());
        let find = |text: &str| cache.find(text, &Repository::parse(text).unwrap());
        let expected = folder.join("snapshots/c0ffee/tokenizer.json");
        assert_eq!(find("a/b").unwrap(), expected);
        assert_eq!(find("a/b@c0ffee").unwrap(), expected);
        assert!(find("a/b@other").is_err());
        assert!(find("a/c").is_err());
    }
}

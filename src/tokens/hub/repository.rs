//! Names of repositories: `OWNER/NAME[@REVISION]`.

/// A repository of a model, at one revision of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    pub(super) owner: String,
    pub(super) name: String,
    /// A branch, a tag or a commit.
    pub(super) revision: String,
}

impl Repository {
    /// Reads `OWNER/NAME[@REVISION]`; the revision is `main` if none is given.
    ///
    /// # Errors
    ///
    /// The reason why it is not valid.
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
        let is_plain = |character: char| character.is_ascii_graphic() && !"\\?#%:".contains(character);
        if revision.split('/').any(|part| matches!(part, "" | "." | "..")) || !revision.chars().all(is_plain)
        {
            return Err("the revision is no branch, tag or commit");
        }
        Ok(Self {
            owner: owner.to_owned(),
            name: name.to_owned(),
            revision: revision.to_owned(),
        })
    }

    /// The URL of one of its files at a server.
    pub fn url(&self, endpoint: &str, file: &str) -> String {
        let Self {
            owner,
            name,
            revision,
        } = self;
        // The revision is one part of the path: `refs/pr/1` is one name.
        let revision = revision.replace('/', "%2F");
        format!("{endpoint}/{owner}/{name}/resolve/{revision}/{file}")
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
            "a/b@x y",
            "a/b@x?y",
        ] {
            assert!(Repository::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_revision_is_one_part_of_the_path() {
        let repository = Repository::parse("a/b@refs/pr/1").unwrap();
        assert_eq!(
            repository.url("http://h", "x/y.json"),
            "http://h/a/b/resolve/refs%2Fpr%2F1/x/y.json"
        );
    }
}

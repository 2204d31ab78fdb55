//! A profile of the files that Amazon's tools keep: `~/.aws/credentials` and `~/.aws/config`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The settings of a profile that are used, as these files name them.
const USED: [&str; 5] = [
    "aws_access_key_id",
    "aws_secret_access_key",
    "aws_session_token",
    "region",
    "endpoint_url",
];

/// Settings by name.
pub type Profile = BTreeMap<&'static str, String>;

/// The profile that `AWS_PROFILE` names, or `default`.
///
/// # Errors
///
/// A profile is named, and it is in neither file.
pub fn profile(variable: impl Fn(&str) -> Option<OsString>, home: Option<&Path>) -> Result<Profile, String> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let file = |name: &str, usual: &str| {
        let path = set(name).map(PathBuf::from);
        let path = path.or_else(|| Some(home?.join(".aws").join(usual)));
        path.and_then(|path| std::fs::read_to_string(path).ok())
            .unwrap_or_default()
    };
    let named = set("AWS_PROFILE").and_then(|name| name.into_string().ok());
    let name = named.as_deref().unwrap_or("default");
    let config = file("AWS_CONFIG_FILE", "config");
    let credentials = file("AWS_SHARED_CREDENTIALS_FILE", "credentials");
    let of_config = section(&config, |title| {
        title == name && name == "default"
            || title
                .strip_prefix("profile")
                .is_some_and(|rest| rest.trim() == name)
    });
    let of_credentials = section(&credentials, |title| title == name);
    if named.is_some() && of_config.is_none() && of_credentials.is_none() {
        return Err(format!("there is no profile {name} in ~/.aws"));
    }
    let mut profile = of_config.unwrap_or_default();
    profile.extend(of_credentials.unwrap_or_default());
    Ok(profile)
}

/// The settings of the section with such a title; `None` if there is none.
fn section(text: &str, is_it: impl Fn(&str) -> bool) -> Option<Profile> {
    let mut found: Option<Profile> = None;
    let mut inside = false;
    for line in text.lines() {
        let is_nested = line.starts_with([' ', '\t']);
        let line = line.trim();
        if let Some(title) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            inside = is_it(title.trim());
            if inside {
                found.get_or_insert_default();
            }
        } else if let Some((name, value)) = line.split_once('=')
            && inside
            && !is_nested
            && let Some(name) = USED.iter().find(|used| **used == name.trim())
        {
            let value = value.trim().to_owned();
            found.get_or_insert_default().insert(name, value);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)], home: &Path) -> Result<Profile, String> {
        let find = |name: &str| variables.iter().find(|(known, _)| *known == name);
        profile(
            |name| find(name).map(|(_, value)| OsString::from(value)),
            Some(home),
        )
    }

    #[test]
    fn a_profile_has_what_both_files_say() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".aws")).unwrap();
        std::fs::write(
            home.path().join(".aws/credentials"),
            "[default]\naws_access_key_id = A\naws_secret_access_key=S=/+\n# x\n[work]\naws_access_key_id = W\n",
        )
        .unwrap();
        std::fs::write(
            home.path().join(".aws/config"),
            "[default]\nregion = eu-west-1\n[profile work]\nregion=us-west-2\ns3 =\n  endpoint_url = nested\n\
             endpoint_url = http://h\n",
        )
        .unwrap();
        let get = |profile: &Profile, name: &str| profile.get(name).cloned().unwrap_or_default();
        let default = of(&[], home.path()).unwrap();
        assert_eq!(get(&default, "aws_access_key_id"), "A");
        assert_eq!(get(&default, "aws_secret_access_key"), "S=/+");
        assert_eq!(get(&default, "region"), "eu-west-1");
        let work = of(&[("AWS_PROFILE", "work")], home.path()).unwrap();
        assert_eq!(get(&work, "aws_access_key_id"), "W");
        assert_eq!(get(&work, "endpoint_url"), "http://h");
        assert!(of(&[("AWS_PROFILE", "none")], home.path()).is_err());
        assert!(of(&[], Path::new("/nowhere")).unwrap().is_empty());
        let elsewhere = home.path().join(".aws/credentials");
        let named = [("AWS_SHARED_CREDENTIALS_FILE", elsewhere.to_str().unwrap())];
        assert_eq!(
            get(&of(&named, Path::new("/nowhere")).unwrap(), "aws_access_key_id"),
            "A"
        );
    }
}

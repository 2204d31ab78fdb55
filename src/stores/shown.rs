//! URLs with secrets: paths show the part that may be shown, and the rest is kept here for requests.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::location::is_url;

/// The whole URLs of this process by the paths that stand for them. A presigned URL carries its signature in the query.
static WHOLE: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

/// The path for an argument. The query, user and password of a web address are left out of it, so that no message, metric or
/// journal can show them; requests have them.
pub fn argument(text: &OsStr) -> PathBuf {
    match text.to_str().and_then(split) {
        Some((shown, whole)) => PathBuf::from(register(&shown, whole)),
        None => PathBuf::from(text),
    }
}

/// The part of a URL that may be shown, and all of it; `None` if it is none, or has no secrets.
fn split(text: &str) -> Option<(String, &str)> {
    let (scheme, rest) = text.split_once("://").filter(|_| is_url(Path::new(text)))?;
    let is_web = matches!(scheme, "http" | "https");
    let end = if is_web { rest.find(['?', '#']) } else { None };
    let (place, _) = rest.split_at(end.unwrap_or(rest.len()));
    let (authority, path) = place.split_at(place.find('/').unwrap_or(place.len()));
    let shown = match authority.rsplit_once('@') {
        None => format!("{scheme}://{authority}{path}"),
        Some((_, host)) if is_web => format!("{scheme}://{host}{path}"),
        // Other URLs have no users: it is refused, and this much of it shown.
        Some((_, bucket)) => format!("{scheme}://…@{bucket}{path}"),
    };
    (shown != text).then_some((shown, text))
}

/// Two addresses that differ in their query only have two paths.
fn register(shown: &str, whole: &str) -> String {
    let mut known = WHOLE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut path = shown.to_owned();
    let mut number = 1;
    while known.get(&path).is_some_and(|other| other != whole) {
        number += 1;
        path = format!("{shown} ({number})");
    }
    known.insert(path.clone(), whole.to_owned());
    path
}

/// The URL to request for a path.
#[cfg(any(feature = "stores", test))]
pub fn whole(path: &Path) -> String {
    let shown = path.to_string_lossy().into_owned();
    let known = WHOLE.lock().unwrap_or_else(PoisonError::into_inner);
    known.get(&shown).cloned().unwrap_or(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_no_secret_and_a_request_has_all() {
        for (url, shown) in [
            ("https://h/shown/a.jsonl?sig=secret", "https://h/shown/a.jsonl"),
            ("https://me:secret@h/b.jsonl#x", "https://h/b.jsonl"),
            ("http://h?a=b@c/d", "http://h"),
            ("s3://me:secret@b/x", "s3://…@b/x"),
        ] {
            let path = argument(OsStr::new(url));
            assert_eq!(path, Path::new(shown));
            assert_eq!(whole(&path), url);
        }
        for plain in ["s3://b/a?b.jsonl", "a?b.jsonl", "https://h/c.jsonl", "-"] {
            assert_eq!(argument(OsStr::new(plain)), Path::new(plain));
        }
    }

    #[test]
    fn addresses_that_differ_in_their_query_are_two() {
        let [one, two] = ["https://h/get?id=1", "https://h/get?id=2"].map(|url| argument(OsStr::new(url)));
        assert_ne!(one, two);
        assert_eq!(
            (whole(&one), whole(&two)),
            ("https://h/get?id=1".into(), "https://h/get?id=2".into())
        );
        assert_eq!(argument(OsStr::new("https://h/get?id=1")), one);
    }
}

//! URLs of objects: the service, the bucket or server, and the name of the object.

use std::path::{Path, PathBuf};

/// A service that holds objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Service {
    /// Amazon S3, or a server with its interface.
    S3,
    /// Google Cloud Storage.
    Gcs,
    /// Azure Blob Storage.
    Azure,
    /// A web server.
    Web,
    /// A data set of the Hugging Face hub.
    Hub,
}

/// The schemes of URLs, with their services.
const SCHEMES: [(&str, Service); 6] = [
    ("s3", Service::S3),
    ("gs", Service::Gcs),
    ("az", Service::Azure),
    ("https", Service::Web),
    ("http", Service::Web),
    ("hf", Service::Hub),
];

/// The help for a URL that is none of these.
const FORMS: &str = "URLs are s3://BUCKET/KEY, gs://BUCKET/KEY, az://CONTAINER/BLOB, https://HOST/PATH and \
    hf://datasets/OWNER/NAME/PATH";

/// Prefixes of revisions of the hub that have a slash in their name.
const LONG_REVISIONS: [&str; 2] = ["refs/convert/", "refs/pr/"];

/// An object, or the prefix of the names of several.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Location {
    /// The service.
    pub service: Service,
    /// The bucket or container; of a web server, scheme and host; of the hub, `OWNER/NAME` or `OWNER/NAME@REVISION`.
    pub bucket: String,
    /// The name of the object in it. Ends with a slash if it is a prefix; empty for the whole bucket.
    pub key: String,
}

/// Returns true if a path is a URL.
pub fn is_url(path: &Path) -> bool {
    path.to_str().and_then(scheme).is_some()
}

/// The scheme of a URL, in whatever case. One slash is a slip of the pen where the scheme is one of these.
fn scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once(":/")?;
    if !rest.starts_with('/') {
        return SCHEMES
            .iter()
            .map(|(known, _)| *known)
            .find(|known| *known == scheme);
    }
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    // One letter is a drive.
    (scheme.len() > 1 && scheme.bytes().all(is_letter)).then_some(scheme)
}

impl Location {
    /// The location that a URL names.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and what URLs are like. The URL itself is not repeated.
    pub fn of(url: &Path) -> Result<Self, (String, String)> {
        let text = url.to_str().unwrap_or_default();
        let wrong = |what: &str| (what.to_owned(), FORMS.to_owned());
        let (scheme, rest) = text
            .split_once("://")
            .ok_or_else(|| wrong("a URL has two slashes after the colon"))?;
        let known = SCHEMES.iter().find(|(known, _)| *known == scheme);
        let (_, service) = *known.ok_or_else(|| wrong("URLs of this kind are not known"))?;
        if rest.bytes().any(|byte| byte.is_ascii_control()) {
            return Err(wrong("it has control characters"));
        }
        let location = if service == Service::Hub {
            Self::of_hub(rest).map_err(wrong)?
        } else {
            let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
            let bucket = if service == Service::Web {
                format!("{scheme}://{bucket}")
            } else {
                bucket.to_owned()
            };
            Self {
                service,
                bucket,
                key: key.to_owned(),
            }
        };
        location.check().map_err(wrong)?;
        Ok(location)
    }

    fn of_hub(rest: &str) -> Result<Self, &'static str> {
        let rest = rest
            .strip_prefix("datasets/")
            .ok_or("of the hub, data sets are read")?;
        let (owner, rest) = rest.split_once('/').ok_or("it names no data set")?;
        let (name, rest) = rest.split_at(rest.find(['@', '/']).unwrap_or(rest.len()));
        let (revision, key) = match rest.strip_prefix('@') {
            None => (None, rest),
            Some(rest) => {
                let long = LONG_REVISIONS.iter().find(|prefix| rest.starts_with(**prefix));
                let start = long.map_or(0, |prefix| prefix.len());
                let end = rest.get(start..).and_then(|rest| rest.find('/'));
                let (revision, key) = rest.split_at(end.map_or(rest.len(), |end| start + end));
                (Some(revision), key)
            }
        };
        let is_plain = |part: &str| {
            let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
            !part.is_empty() && !part.starts_with(['.', '/']) && part.bytes().all(is_known)
        };
        if ![owner, name].into_iter().chain(revision).all(is_plain) {
            return Err("owner, name and revision are letters, digits, `-`, `_` and `.`");
        }
        Ok(Self {
            service: Service::Hub,
            bucket: match revision {
                None => format!("{owner}/{name}"),
                Some(revision) => format!("{owner}/{name}@{revision}"),
            },
            key: key.strip_prefix('/').unwrap_or(key).to_owned(),
        })
    }

    fn check(&self) -> Result<(), &'static str> {
        if self.service != Service::Web && self.service != Service::Hub {
            let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.$".contains(&byte);
            if self.bucket.is_empty() || !self.bucket.bytes().all(is_known) {
                return Err("the bucket's name has letters, digits, `-`, `_` and `.` only");
            }
        } else if self.bucket.ends_with('/') {
            return Err("it names no server");
        }
        let key = self.key.strip_suffix('/').unwrap_or(&self.key);
        if self.service != Service::Web
            && !key.is_empty()
            && key.split('/').any(|part| matches!(part, "" | "." | ".."))
        {
            return Err("a part of the object's name is empty, `.` or `..`");
        }
        Ok(())
    }

    /// Fails if nothing can be written there.
    ///
    /// # Errors
    ///
    /// What is wrong, and the remedy.
    pub fn check_writable(&self) -> Result<(), (String, String)> {
        let wrong = |what: &str, help: &str| Err((what.to_owned(), help.to_owned()));
        match self.service {
            Service::Web | Service::Hub => wrong(
                "it can be read only",
                "outputs are files, or s3://, gs:// and az:// URLs",
            ),
            _ if self.key.trim_end_matches('/').is_empty() => wrong(
                "it is a whole bucket, and metrics and totals stand beside the output",
                "name an object in it (s3://BUCKET/out.jsonl) or a folder (s3://BUCKET/out/)",
            ),
            _ => Ok(()),
        }
    }
}

#[cfg(any(feature = "stores", test))]
impl Location {
    /// Its URL.
    pub fn url(&self) -> PathBuf {
        let Self { service, bucket, key } = self;
        let scheme = SCHEMES.iter().find(|(_, known)| known == service);
        let scheme = scheme.map_or("", |(scheme, _)| scheme);
        PathBuf::from(match service {
            Service::Web => format!("{bucket}/{key}"),
            Service::Hub => format!("{scheme}://datasets/{bucket}/{key}"),
            _ => format!("{scheme}://{bucket}/{key}"),
        })
    }
}

#[cfg(feature = "stores")]
impl Location {
    /// Returns true if it is a prefix by its form: the name ends with a slash, or there is none.
    pub fn is_prefix(&self) -> bool {
        self.key.is_empty() || self.key.ends_with('/')
    }

    /// Another object in the same place.
    pub fn with_key(&self, key: &str) -> Self {
        Self {
            key: key.to_owned(),
            ..self.clone()
        }
    }
}

/// A URL without the slash at its end; a path that is no URL stays as it is.
pub fn without_trailing_slash(url: &Path) -> PathBuf {
    let text = url.to_string_lossy();
    PathBuf::from(text.trim_end_matches('/'))
}

/// The path on this machine where the file for a URL is written before it is uploaded: below `state`, a folder each for the
/// service and the bucket.
pub fn staged(url: &Path, state: &Path) -> PathBuf {
    let text = url.to_string_lossy();
    let (scheme, rest) = text.split_once("://").unwrap_or(("", &text));
    // Nothing that a URL says leads out of the folder.
    let parts = rest.split('/').filter(|part| !matches!(*part, "" | "." | ".."));
    parts.fold(state.join(scheme), |path, part| path.join(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> Result<Location, (String, String)> {
        Location::of(Path::new(url))
    }

    #[test]
    fn a_url_names_a_service_a_bucket_and_an_object() {
        for (url, service, bucket, key) in [
            ("s3://b/a/x y.jsonl", Service::S3, "b", "a/x y.jsonl"),
            ("gs://b.c_d-e/x%20", Service::Gcs, "b.c_d-e", "x%20"),
            ("az://$web/data/", Service::Azure, "$web", "data/"),
            ("https://h:1/a/b.jsonl", Service::Web, "https://h:1", "a/b.jsonl"),
            ("hf://datasets/o/n/d/x.jsonl", Service::Hub, "o/n", "d/x.jsonl"),
            ("hf://datasets/o/n@v1/x.jsonl", Service::Hub, "o/n@v1", "x.jsonl"),
            (
                "hf://datasets/o/n@refs/convert/parquet/default/x.parquet",
                Service::Hub,
                "o/n@refs/convert/parquet",
                "default/x.parquet",
            ),
            ("hf://datasets/o/n", Service::Hub, "o/n", ""),
        ] {
            let location = of(url).unwrap();
            assert_eq!(
                (location.service, location.bucket.as_str(), location.key.as_str()),
                (service, bucket, key),
                "{url}"
            );
            assert_eq!(location.url(), Path::new(url));
        }
    }

    #[test]
    fn what_names_no_object_is_refused() {
        for url in [
            "ftp://h/x",
            "s3:/b/x",
            "s3://",
            "s3:///key",
            "s3://me:secret@b/x",
            "s3://b/a//x",
            "s3://b/../x",
            "s3://b/a/./x",
            "s3://b/a\nb",
            "https:///x",
            "hf://models/o/n/x",
            "hf://datasets/o",
            "hf://datasets/../n/x",
            "hf://datasets/o/n@/x",
        ] {
            let (message, help) = of(url).unwrap_err();
            assert!(!message.contains("secret") && help.contains("s3://"), "{url}");
        }
    }

    #[test]
    fn a_path_is_no_url() {
        for path in ["out.jsonl", "a:b", "C://x", "/a/b://c", "./s3://b/x", ""] {
            assert!(!is_url(Path::new(path)), "{path}");
        }
        assert!(is_url(Path::new("s3://b/x")) && is_url(Path::new("ftp://h/x")));
        assert!(is_url(Path::new("s3:/b/x")) && !is_url(Path::new("other:/x")));
    }

    #[test]
    fn files_are_staged_below_their_folder() {
        let staged = |url: &str| staged(Path::new(url), Path::new("/state"));
        assert_eq!(staged("s3://b/a/x.jsonl"), Path::new("/state/s3/b/a/x.jsonl"));
        assert_eq!(staged("s3://b/../../x"), Path::new("/state/s3/b/x"));
    }

    #[test]
    fn nothing_is_written_to_web_servers_and_into_no_name() {
        for url in ["https://h/x", "hf://datasets/o/n/x", "s3://b", "s3://b/"] {
            assert!(of(url).unwrap().check_writable().is_err(), "{url}");
        }
        assert!(of("s3://b/out/").unwrap().check_writable().is_ok());
    }
}

//! A request's body that is read from a file while it is sent: files of requests have hundreds of megabytes.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

/// Bytes read at once.
const CHUNK: usize = 64 * 1024;

/// The boundary between a form's parts. No file of requests contains it, as no JSON has a line end inside.
const BOUNDARY: &str = "trajfit-7d1f0c5be2a94e3a";

/// The content of a file with text before and after it.
pub struct FileBody {
    before: Option<Bytes>,
    file: File,
    /// Bytes of the file that are not read yet.
    left: u64,
    after: Option<Bytes>,
    /// The lines become the elements of a JSON list.
    as_list: bool,
}

impl FileBody {
    /// A multipart form that uploads a file.
    pub fn form(path: &Path, fields: &[(&str, &str)], name: &str) -> io::Result<Self> {
        let mut parts = String::new();
        for (field, value) in fields {
            // Writing to a String cannot fail.
            let _ = write!(
                parts,
                "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{field}\"\r\n\r\n{value}\r\n"
            );
        }
        let before = format!(
            "{parts}--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
             Content-Type: application/jsonl\r\n\r\n"
        );
        Self::new(path, before, format!("\r\n--{BOUNDARY}--\r\n"), false)
    }

    /// A JSON object whose one field is the list of the file's lines.
    pub fn list(path: &Path, field: &str) -> io::Result<Self> {
        Self::new(path, format!("{{\"{field}\":["), "]}".to_owned(), true)
    }

    fn new(path: &Path, before: String, after: String, as_list: bool) -> io::Result<Self> {
        let file = File::open(path)?;
        let left = file.metadata()?.len();
        Ok(Self {
            before: Some(before.into()),
            file,
            left,
            after: Some(after.into()),
            as_list,
        })
    }

    /// The value of the form's `Content-Type` header.
    pub fn form_type() -> String {
        format!("multipart/form-data; boundary={BOUNDARY}")
    }

    fn next(&mut self) -> io::Result<Option<Bytes>> {
        if let Some(before) = self.before.take() {
            return Ok(Some(before));
        }
        if self.left == 0 {
            return Ok(self.after.take());
        }
        let mut chunk = vec![0; CHUNK.min(self.left as usize)];
        self.file.read_exact(&mut chunk)?;
        self.left -= chunk.len() as u64;
        if self.as_list {
            for byte in chunk.iter_mut().filter(|byte| **byte == b'\n') {
                *byte = b',';
            }
            if let (0, Some(last)) = (self.left, chunk.last_mut().filter(|last| **last == b',')) {
                *last = b' ';
            }
        }
        Ok(Some(chunk.into()))
    }
}

impl http_body::Body for FileBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let next = self.get_mut().next().transpose();
        Poll::Ready(next.map(|chunk| chunk.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.before.is_none() && self.left == 0 && self.after.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let around = [&self.before, &self.after];
        let around: usize = around.into_iter().flatten().map(Bytes::len).sum();
        SizeHint::with_exact(self.left + around as u64)
    }
}

#[cfg(test)]
mod tests {
    use http_body::Body;
    use serde_json::{Value, json};

    use super::*;

    fn whole(mut body: FileBody) -> Vec<u8> {
        let promised = body.size_hint().exact().unwrap();
        let mut whole = Vec::new();
        while let Some(chunk) = body.next().unwrap() {
            whole.extend_from_slice(&chunk);
        }
        assert!(body.is_end_stream());
        assert_eq!(whole.len() as u64, promised);
        whole
    }

    fn file(text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("requests.jsonl");
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    #[test]
    fn lines_become_a_list_however_long_they_are() {
        for length in [1, CHUNK - 10, CHUNK - 9, CHUNK - 8, 3 * CHUNK] {
            let line = json!({"x": "a,\nb".repeat(length)}).to_string();
            let (_folder, path) = file(&format!("{line}\n{line}\n"));
            let body: Value =
                serde_json::from_slice(&whole(FileBody::list(&path, "requests").unwrap())).unwrap();
            assert_eq!(body["requests"].as_array().unwrap().len(), 2);
        }
    }

    #[test]
    fn a_form_has_its_fields_and_the_file_as_it_is() {
        let (_folder, path) = file("{}\n{}\n");
        let body = FileBody::form(&path, &[("purpose", "batch")], "x.jsonl").unwrap();
        let text = String::from_utf8(whole(body)).unwrap();
        assert!(text.contains("name=\"purpose\"\r\n\r\nbatch\r\n--"), "{text}");
        assert!(text.contains("\r\n\r\n{}\n{}\n\r\n--"), "{text}");
        assert!(FileBody::form_type().contains(BOUNDARY));
    }
}

//! Splitting of batches that are too large for a vendor's queue: their files of requests are cut between lines.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use super::state::{self, Batch, Folder};

/// Returns the batches that replace a batch, in at least this many files of about the same size. The old file is kept
/// until they are saved, so that an interrupted split can be repeated.
pub fn split(folder: &Folder, batch: &Batch, parts: u64) -> io::Result<Vec<Batch>> {
    let path = folder.path().join(&batch.file);
    let bytes = path.metadata()?.len();
    let most_bytes = bytes.div_ceil(parts.max(1));
    let most_requests = batch.requests.div_ceil(parts.max(1));
    let mut lines = BufReader::new(File::open(&path)?);
    let mut made = Vec::new();
    let mut line = Vec::new();
    let mut more = lines.read_until(b'\n', &mut line)? > 0;
    while more {
        let part = folder.path().join(name(&batch.file, made.len() + 1));
        let partial = part.with_extension("partial");
        let mut file = BufWriter::new(state::create(&partial)?);
        let (mut length, mut requests) = (0, 0);
        while more && (requests == 0 || length + line.len() as u64 <= most_bytes && requests < most_requests)
        {
            file.write_all(&line)?;
            length += line.len() as u64;
            requests += 1;
            line.clear();
            more = lines.read_until(b'\n', &mut line)? > 0;
        }
        file.into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .sync_all()?;
        state::rename(&partial, &part)?;
        made.push(Batch {
            prompt_tokens: state::part_of(batch.prompt_tokens, length, bytes),
            ..Batch::of(&part)?
        });
    }
    Ok(made)
}

/// The only request of a batch.
pub fn first_line(path: &Path) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    BufReader::new(File::open(path)?).read_until(b'\n', &mut line)?;
    Ok(line)
}

fn name(file: &str, number: usize) -> String {
    let stem = file.strip_suffix(".jsonl").unwrap_or(file);
    format!("{stem}-part-{number}.jsonl")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_cut_between_lines_and_nothing_is_lost() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(place.path()).unwrap().unwrap();
        let lines = ["a\n", "bbbbbb\n", "c\n", "d\n", "e\n", "f\n"];
        std::fs::write(folder.requests(1), lines.concat()).unwrap();
        let whole = Batch {
            prompt_tokens: 170,
            ..Batch::of(&folder.requests(1)).unwrap()
        };
        for _ in 0..2 {
            // The second pass is the one after a kill in between.
            let parts = split(&folder, &whole, 3).unwrap();
            let texts: Vec<String> = parts
                .iter()
                .map(|part| std::fs::read_to_string(folder.path().join(&part.file)).unwrap())
                .collect();
            assert_eq!(texts, ["a\n", "bbbbbb\n", "c\nd\n", "e\nf\n"]);
            let tokens: Vec<u64> = parts.iter().map(|part| part.prompt_tokens).collect();
            assert_eq!(tokens, [20, 70, 40, 40]);
            assert_eq!(parts[2].file, "requests-1-part-3.jsonl");
            assert_eq!(parts.iter().map(|part| part.requests).sum::<u64>(), 6);
        }
        assert_eq!(first_line(&folder.requests(1)).unwrap(), b"a\n");
    }
}

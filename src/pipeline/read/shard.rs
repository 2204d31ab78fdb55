//! Shards: the stretch of each input that one of several runs over the same inputs takes.
//!
//! The inputs lie end to end in the order in which they are read, and every shard has the same number of their bytes on
//! the disk. A record belongs to the shard in which it begins, so a shard's records are consecutive.

use std::fmt;
use std::io;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use super::batch::{ByteRange, Position, WHOLE};
use super::reader::BatchReader;
use super::sample::Sample;
use super::source::Source;
use crate::pipeline::RunError;

/// One of the shards of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Its number, from 1.
    number: u64,
    /// Number of shards.
    count: u64,
}

/// The name of the shard among the settings of a run; other runs have no such setting.
pub const SHARD_SETTING: &str = "--shard";

const WRITTEN: &str = "write the shard's number, counted from 1, and the number of shards: 3/64";

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(number, count)| {
            let digits = |text: &str| text.trim().parse::<u64>().ok();
            Some((digits(number)?, digits(count)?))
        });
        match numbers {
            Some((number, count)) if (1..=count).contains(&number) => Ok(Self { number, count }),
            Some((0, count)) if count > 0 => Err(format!("shards are counted from 1 to {count}; {WRITTEN}")),
            Some((number, count)) if count > 0 => {
                Err(format!("there is no shard {number} of {count}; {WRITTEN}"))
            }
            _ => Err(WRITTEN.to_owned()),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.number, self.count)
    }
}

impl Shard {
    /// Its number, from 1.
    pub fn number(self) -> u64 {
        self.number
    }

    /// Number of shards.
    pub fn count(self) -> u64 {
        self.count
    }

    /// The part of a file's name that says which shard it is: `03-of-64`. Names sort in the order of the shards.
    pub fn label(self) -> String {
        let width = self.count.to_string().len();
        format!("{:0width$}-of-{}", self.number, self.count)
    }

    /// The stretch of `total` bytes that is this shard's.
    fn stretch(self, total: u64) -> Range<u64> {
        let boundary = |shards| scaled(total, shards, self.count);
        boundary(self.number - 1)..boundary(self.number)
    }

    /// The sources with the part of each that this shard takes. At least one of them has a part, though it may be
    /// empty: every shard has an output.
    pub fn assign(self, mut sources: Vec<Source>) -> Result<Vec<Source>, RunError> {
        let sizes: Vec<u64> = sources.iter().map(size).collect::<Result<_, _>>()?;
        let total: u64 = sizes.iter().sum();
        let shard = self.stretch(total);
        let is_last = self.number == self.count;
        let mut start = 0;
        for (source, size) in sources.iter_mut().zip(sizes) {
            let file = start..start + size;
            start = file.end;
            source.part = if file.is_empty() {
                // The end of the last file belongs to the last shard.
                let is_taken = shard.contains(&file.start) || (is_last && file.start == total);
                is_taken.then_some(WHOLE)
            } else {
                part(source, &file, &shard).map_err(|error| RunError::input(&source.path, &error))?
            };
        }
        if sources.iter().all(|source| source.part.is_none())
            && let Some(first) = sources.first_mut()
        {
            first.part = Some(0..0);
        }
        Ok(sources)
    }
}

/// The size of a source on the disk, by which it is divided.
fn size(source: &Source) -> Result<u64, RunError> {
    source.bytes().ok_or_else(|| {
        let name = if source.is_stdin() {
            "standard input".to_owned()
        } else {
            source.name()
        };
        RunError::usage(
            format!("cannot take a shard of {name}: it is not a file, so its size is not known"),
            "write it to a file first, or divide it where it is made",
        )
    })
}

/// The part of a source that a shard takes; `None` if it takes nothing of it. `file` is the source's stretch of all
/// bytes on the disk, `shard` that of the shard.
fn part(source: &Source, file: &Range<u64>, shard: &Range<u64>) -> io::Result<Option<ByteRange>> {
    if file.end <= shard.start || shard.end <= file.start {
        return Ok(None);
    }
    if shard.start <= file.start && file.end <= shard.end {
        return Ok(Some(WHOLE));
    }
    let has_start = shard.start <= file.start;
    if is_array(source)? {
        return Ok(has_start.then_some(WHOLE));
    }
    let length = decompressed_bytes(source, file.end - file.start)?;
    let offset = |boundary: u64| scaled(length, boundary - file.start, file.end - file.start);
    let start = if has_start { 0 } else { offset(shard.start) };
    let end = if file.end <= shard.end {
        u64::MAX
    } else {
        offset(shard.end)
    };
    Ok((start < end).then_some(start..end))
}

/// Returns true if a source is a top-level JSON array. It is not divided: each shard's output would have to be one.
fn is_array(source: &Source) -> io::Result<bool> {
    let opened = source.open(&Arc::default())?;
    let reader = BatchReader::open(opened, 0, Position::default(), Sample::ALL, None)?;
    Ok(reader.is_some_and(|reader| reader.is_array()))
}

/// The length of a source's content. Compressed content is read once for it.
fn decompressed_bytes(source: &Source, bytes: u64) -> io::Result<u64> {
    if !source.is_compressed()? {
        return Ok(bytes);
    }
    io::copy(&mut source.open(&Arc::default())?, &mut io::sink())
}

/// `whole * part / parts`, rounded down.
fn scaled(whole: u64, part: u64, parts: u64) -> u64 {
    (u128::from(whole) * u128::from(part) / u128::from(parts.max(1))) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_a_number_from_one_of_a_count() {
        let shard: Shard = "3/64".parse().unwrap();
        assert_eq!((shard.number(), shard.count()), (3, 64));
        assert_eq!(
            (shard.to_string(), shard.label()),
            ("3/64".into(), "03-of-64".into())
        );
        for wrong in ["", "3", "0/64", "65/64", "3/0", "0/0", "-1/4", "a/b", "1/2/3"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
        let from_zero = "0/64".parse::<Shard>().unwrap_err();
        assert!(from_zero.contains("from 1 to 64"), "{from_zero}");
    }

    #[test]
    fn stretches_are_without_gaps_and_overlaps() {
        for total in [0, 1, 7, 64, 1_000_003, u64::MAX] {
            for count in [1, 2, 3, 64, 1000] {
                let mut end = 0;
                for number in 1..=count {
                    let stretch = Shard { number, count }.stretch(total);
                    assert_eq!(stretch.start, end);
                    end = stretch.end;
                }
                assert_eq!(end, total);
            }
        }
    }
}

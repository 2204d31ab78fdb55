//! Times and sizes as people write them.

use std::time::Duration;

const TIMES: [(&str, u64); 5] = [
    ("s", 1),
    ("m", 60),
    ("h", 3_600),
    ("d", 86_400),
    ("w", 7 * 86_400),
];

const SIZES: [(&str, u64); 8] = [
    ("", 1),
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// A time: `30d`, `12h`, `1.5w`.
pub fn time(text: &str) -> Result<Duration, String> {
    let seconds = quantity(text, &TIMES);
    let seconds = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| "not a time such as 30d, 12h, 90m or 2w".to_owned())
}

/// A size in bytes: `500MB`, `1.5 GiB`, `4096`.
pub fn size(text: &str) -> Result<u64, String> {
    let bytes = quantity(text, &SIZES);
    bytes
        .map(|bytes| bytes as u64)
        .ok_or_else(|| "not a size such as 500MB, 2GB or 64MiB".to_owned())
}

/// A size as [`size`] reads it: in the largest unit that it is a whole number of.
pub fn written(bytes: u64) -> String {
    let mut units: Vec<_> = SIZES.iter().filter(|(name, _)| !name.is_empty()).collect();
    units.sort_by_key(|(_, factor)| std::cmp::Reverse(*factor));
    let unit = units
        .into_iter()
        .find(|(_, factor)| bytes > 0 && bytes.is_multiple_of(*factor));
    unit.map_or_else(
        || bytes.to_string(),
        |(name, factor)| format!("{}{name}", bytes / factor),
    )
}

fn quantity(text: &str, units: &[(&str, u64)]) -> Option<f64> {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = (text.get(..end)?, text.get(end..)?.trim());
    let (_, factor) = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    Some(number.parse::<f64>().ok()? * *factor as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_have_units() {
        assert_eq!(time("30d"), Ok(Duration::from_hours(720)));
        assert_eq!(time("1.5 h"), Ok(Duration::from_mins(90)));
        assert_eq!(size("500MB"), Ok(500_000_000));
        assert_eq!((size("64 mib"), size("0")), (Ok(64 << 20), Ok(0)));
        for wrong in ["", "d", "30", "-1d", "30x", "1e9d", "99999999999999999999w"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
        assert_eq!(
            (written(256_000_000), written(64 << 20), written(7)),
            ("256MB".into(), "64MiB".into(), "7B".into())
        );
        for wrong in ["", "MB", "-5MB", "5 parsecs", "1.2.3kB"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}

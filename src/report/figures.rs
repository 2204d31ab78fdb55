//! Numbers as people read them.

use std::borrow::Cow;
use std::time::Duration;

/// With separators: `1,234,567`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes in the decimal unit that suits them: `512 bytes`, `3.4 kB`, `250.0 MB`, `1.25 GB`.
pub fn megabytes(bytes: u64) -> String {
    let size = bytes as f64;
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", size / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", size / 1e6),
        _ => format!("{:.2} GB", size / 1e9),
    }
}

/// Bytes over time in MB (10^6 bytes) a second; 0 where no time has passed.
pub fn megabytes_per_second(bytes: u64, elapsed: Duration) -> f64 {
    if elapsed.is_zero() {
        0.0
    } else {
        bytes as f64 / 1e6 / elapsed.as_secs_f64()
    }
}

/// `0.42 s`, `19 s`, `3 min 05 s`, `2 h 07 min`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..10 => format!("{:.2} s", time.as_secs_f64()),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// A part of a whole in percent: `2.4 %`, `<0.1 %` where rounding would hide it, `0.0 %` of nothing.
pub fn percent(part: u64, whole: u64) -> String {
    let share = if whole == 0 {
        0.0
    } else {
        part as f64 * 100.0 / whole as f64
    };
    if part > 0 && share < 0.05 {
        "<0.1 %".to_owned()
    } else {
        format!("{share:.1} %")
    }
}

/// A ratio as what it is more or less than 1, in percent: `+12.3 %`, `-4.0 %`.
pub fn signed_percent(ratio: f64) -> String {
    format!("{:+.1} %", (ratio - 1.0) * 100.0)
}

/// A text from the data on one line, without anything that would steer a terminal.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let escaped = |character: char| -> String {
        if character.is_control() {
            character.escape_default().collect()
        } else {
            character.to_string()
        }
    };
    Cow::Owned(text.chars().map(escaped).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_stand_every_three_digits() {
        let shown: Vec<_> = [0, 999, 1000, 123_456, 1_234_567].map(thousands).into();
        assert_eq!(shown, ["0", "999", "1,000", "123,456", "1,234,567"]);
        assert_eq!(thousands(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn times_and_sizes_come_in_the_unit_that_suits_them() {
        let shown: Vec<_> = [420, 19_400, 185_000, 7_620_000]
            .map(|ms| duration(Duration::from_millis(ms)))
            .into();
        assert_eq!(shown, ["0.42 s", "19 s", "3 min 05 s", "2 h 07 min"]);
        let shown: Vec<_> = [512, 3_400, 250_000_000, 1_250_000_000].map(megabytes).into();
        assert_eq!(shown, ["512 bytes", "3.4 kB", "250.0 MB", "1.25 GB"]);
    }

    #[test]
    fn nothing_is_divided_by_nothing_and_nothing_little_becomes_none() {
        assert_eq!(percent(1, 12_000), "<0.1 %");
        assert_eq!(percent(0, 0), "0.0 %");
        assert!(megabytes_per_second(5, Duration::ZERO).abs() < f64::EPSILON);
    }

    #[test]
    fn a_ratio_says_how_much_more_or_less() {
        let shown: Vec<_> = [1.123, 0.96, 1.0].map(signed_percent).into();
        assert_eq!(shown, ["+12.3 %", "-4.0 %", "+0.0 %"]);
    }

    #[test]
    fn nothing_from_the_data_steers_the_terminal() {
        assert_eq!(printable("run-7 é"), "run-7 é");
        assert_eq!(printable("a\u{1b}[2J\n"), "a\\u{1b}[2J\\n");
    }
}

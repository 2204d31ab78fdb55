//! Numbers formatted for people.

use std::borrow::Cow;
use std::time::Duration;

/// A number with separators: `1,234,567`.
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

/// Bytes over time in MB (10^6 bytes) a second; 0 if no time has passed.
pub fn megabytes_per_second(bytes: u64, elapsed: Duration) -> f64 {
    if elapsed.is_zero() {
        0.0
    } else {
        bytes as f64 / 1e6 / elapsed.as_secs_f64()
    }
}

/// A duration: `0.42 s`, `19 s`, `3 min 05 s`, `2 h 07 min`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..10 => format!("{:.2} s", time.as_secs_f64()),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// A time, in seconds since 1970, as its day: `2026-07-26`.
pub fn day(seconds: i64) -> String {
    let (year, month, day) = civil(seconds.div_euclid(86_400));
    format!("{year:04}-{month:02}-{day:02}")
}

/// A time, in seconds since 1970: `2026-07-26T09:30:00Z`.
pub fn timestamp(seconds: i64) -> String {
    let rest = seconds.rem_euclid(86_400);
    let (hours, minutes) = (rest / 3600, rest / 60 % 60);
    format!("{}T{hours:02}:{minutes:02}:{:02}Z", day(seconds), rest % 60)
}

/// The date of a day, counted since 1970, in the Gregorian calendar. Years begin in March here, so that the leap day is
/// their last.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// A part of a whole in percent: `2.4 %`; `<0.1 %` and `>99.9 %` if rounding would give none or all; `0.0 %` of 0.
pub fn percent(part: u64, whole: u64) -> String {
    let share = if whole == 0 {
        0.0
    } else {
        part as f64 * 100.0 / whole as f64
    };
    if part > 0 && share < 0.05 {
        "<0.1 %".to_owned()
    } else if part < whole && share >= 99.95 {
        ">99.9 %".to_owned()
    } else {
        format!("{share:.1} %")
    }
}

/// The change of a number, in percent of its old value: `-53.5 %`, `+4.0 %`, `unchanged`.
pub fn change(before: u64, after: u64) -> String {
    if after == before {
        return "unchanged".to_owned();
    }
    let sign = if after < before { "-" } else { "+" };
    let share = percent(after.abs_diff(before), before);
    if let Some(share) = share.strip_prefix('<') {
        format!("less than {sign}{share}")
    } else if let Some(share) = share.strip_prefix('>') {
        format!("more than {sign}{share}")
    } else {
        format!("{sign}{share}")
    }
}

/// The difference of a ratio from 1, in percent: `+12.3 %`, `-4.0 %`.
pub fn signed_percent(ratio: f64) -> String {
    format!("{:+.1} %", (ratio - 1.0) * 100.0)
}

/// A text from the data on one line, with control characters escaped.
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
    fn times_are_dates_of_the_calendar() {
        let shown: Vec<_> = [0, 951_782_400, 1_785_058_200, -1].map(timestamp).into();
        let expected = [
            "1970-01-01T00:00:00Z",
            "2000-02-29T00:00:00Z",
            "2026-07-26T09:30:00Z",
            "1969-12-31T23:59:59Z",
        ];
        assert_eq!(shown, expected);
        assert_eq!(
            [day(4_107_542_400), day(1_709_164_800)],
            ["2100-03-01", "2024-02-29"]
        );
    }

    #[test]
    fn nothing_is_divided_by_nothing_and_nothing_little_becomes_none() {
        assert_eq!(percent(1, 12_000), "<0.1 %");
        assert_eq!(percent(2_187, 2_188), ">99.9 %");
        assert_eq!(percent(2_188, 2_188), "100.0 %");
        assert_eq!(percent(1_998, 2_000), "99.9 %");
        assert_eq!(change(2_188, 1), "more than -99.9 %");
        assert_eq!(change(100_000, 99_999), "less than -0.1 %");
        assert_eq!(change(1_000, 465), "-53.5 %");
        assert_eq!(change(1_000, 1_040), "+4.0 %");
        assert_eq!(change(7, 7), "unchanged");
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

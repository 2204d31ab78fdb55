//! A server's limits, as responses report them: the time to wait, and the amounts left with their resets.

use std::sync::LazyLock;
use std::time::{Duration, UNIX_EPOCH};

/// The headers of servers' limits: of the amount left, of its reset, and the unit.
const TABLE: &str = include_str!("limits.csv");

/// The unit of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitUnit {
    /// Requests.
    Requests,
    /// Tokens, read and written.
    Tokens,
    /// Tokens read.
    Prompt,
    /// Tokens written.
    Answer,
}

/// The amount left of a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Left {
    /// The unit.
    pub of: LimitUnit,
    /// The amount.
    pub amount: f64,
    /// The time from now until the limit is reset.
    pub time: Duration,
}

struct LimitHeaders {
    left: &'static str,
    reset: &'static str,
    of: LimitUnit,
}

static ROWS: LazyLock<Vec<LimitHeaders>> = LazyLock::new(|| {
    let row = |line: &'static str| {
        let mut cells = line.splitn(4, ',');
        let (left, reset) = (cells.next()?, cells.next()?);
        let of = match cells.next()? {
            "requests" => LimitUnit::Requests,
            "tokens" => LimitUnit::Tokens,
            "prompt" => LimitUnit::Prompt,
            "answer" => LimitUnit::Answer,
            _ => return None,
        };
        Some(LimitHeaders { left, reset, of })
    };
    TABLE.lines().skip(1).filter_map(row).collect()
});

/// The limits in the headers of a response. `now` is the time since 1970.
pub fn left<'h>(header: impl Fn(&str) -> Option<&'h str>, now: Duration) -> Vec<Left> {
    let left = |row: &LimitHeaders| {
        let amount: f64 = header(row.left)?.trim().parse().ok()?;
        let time = time(header(row.reset)?, now)?;
        (amount.is_finite() && amount >= 0.0).then_some(Left {
            of: row.of,
            amount,
            time,
        })
    };
    ROWS.iter().filter_map(left).collect()
}

/// The pause that a server asks for: by `retry-after-ms`, by `Retry-After` in seconds or as a date.
pub fn wish<'h>(header: impl Fn(&str) -> Option<&'h str>, now: Duration) -> Option<Duration> {
    let exact = header("retry-after-ms").and_then(|text| text.trim().parse::<f64>().ok());
    let exact = exact.and_then(|milliseconds| Duration::try_from_secs_f64(milliseconds / 1e3).ok());
    exact.or_else(|| time(header("retry-after")?, now))
}

/// A time from now, in the forms of servers: seconds, `1m30.5s`, `20ms`, a moment in seconds or milliseconds since
/// 1970, a date of HTTP or of RFC 3339. `None` for anything else.
fn time(text: &str, now: Duration) -> Option<Duration> {
    /// Larger numbers are moments: 2001 in seconds, and in milliseconds.
    const MOMENT: f64 = 1e9;
    const MOMENT_IN_MILLISECONDS: f64 = 1e12;
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        let (number, since) = match number {
            _ if number >= MOMENT_IN_MILLISECONDS => (number / 1e3, now),
            _ if number >= MOMENT => (number, now),
            _ => (number, Duration::ZERO),
        };
        let time = Duration::try_from_secs_f64(number).ok()?;
        return Some(time.saturating_sub(since));
    }
    if let Some(time) = units(text) {
        return Some(time);
    }
    let http = || {
        let date = httpdate::parse_http_date(text).ok()?;
        date.duration_since(UNIX_EPOCH).ok()
    };
    http()
        .or_else(|| rfc_3339(text))
        .map(|moment| moment.saturating_sub(now))
}

/// `6m0s`, `1.5s`, `20ms`, `1h2m`.
fn units(text: &str) -> Option<Duration> {
    let mut seconds = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest.get(..end)?.parse().ok()?;
        rest = rest.get(end..)?;
        let end = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let unit = match rest.get(..end)? {
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        seconds += number * unit;
        rest = rest.get(end..)?;
    }
    (!text.is_empty()).then(|| Duration::try_from_secs_f64(seconds).ok())?
}

/// The time since 1970 of `2026-01-27T18:45:00Z`, with fractions or not. Headers use no other zones.
fn rfc_3339(text: &str) -> Option<Duration> {
    let (date, clock) = text.strip_suffix(['Z', 'z'])?.split_once(['T', 't'])?;
    let mut date = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let mut clock = clock.splitn(3, ':');
    let hours: f64 = clock.next()?.parse().ok()?;
    let minutes: f64 = clock.next()?.parse().ok()?;
    let seconds: f64 = clock.next()?.parse().ok()?;
    // Days since 1970 of a year that begins in March, so that leap days come last.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    let seconds = days as f64 * 86_400.0 + hours * 3600.0 + minutes * 60.0 + seconds;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sun, 06 Nov 1994 08:49:37 GMT
    const NOW: Duration = Duration::from_secs(784_111_777);

    #[test]
    fn every_row_of_the_table_is_read_and_has_a_source() {
        assert_eq!(ROWS.len(), TABLE.lines().count() - 1);
        assert!(TABLE.lines().skip(1).all(|line| line.contains(",https://")));
    }

    #[test]
    fn times_are_read_in_all_their_forms() {
        for (text, milliseconds) in [
            ("7", 7000),
            ("0.5", 500),
            ("1s", 1000),
            ("6m0s", 360_000),
            ("20ms", 20),
            ("1m30.5s", 90_500),
            ("1h1m", 3_660_000),
            ("Sun, 06 Nov 1994 08:50:07 GMT", 30_000),
            ("Sat, 05 Nov 1994 08:50:07 GMT", 0),
            ("1994-11-06T08:49:40.250Z", 3250),
        ] {
            let expected = Duration::from_millis(milliseconds);
            let found = time(text, NOW).unwrap();
            let difference = found.abs_diff(expected);
            assert!(difference < Duration::from_millis(1), "{text}: {found:?}");
        }
        let now = Duration::from_secs(1_700_000_000);
        assert_eq!(time("1700000003", now), Some(Duration::from_secs(3)));
        assert_eq!(time("1700000003500", now), Some(Duration::from_millis(3500)));
        for wrong in ["soon", "-1", "", "5 parsecs", "1994-11-06", "s"] {
            assert_eq!(time(wrong, NOW), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_left_is_read_of_every_vendor() {
        let headers = |name: &str| match name {
            "x-ratelimit-remaining-requests" => Some("59"),
            "x-ratelimit-reset-requests" => Some("1s"),
            "anthropic-ratelimit-input-tokens-remaining" => Some("4000"),
            "anthropic-ratelimit-input-tokens-reset" => Some("1994-11-06T08:49:40Z"),
            "ratelimit-remaining" => Some("none"),
            "ratelimit-reset" => Some("3"),
            _ => None,
        };
        let expected = [
            Left {
                of: LimitUnit::Requests,
                amount: 59.0,
                time: Duration::from_secs(1),
            },
            Left {
                of: LimitUnit::Prompt,
                amount: 4000.0,
                time: Duration::from_secs(3),
            },
        ];
        assert_eq!(left(headers, NOW), expected);
        assert_eq!(left(|_| None, NOW), []);
    }

    #[test]
    fn a_wish_in_milliseconds_is_the_exact_one() {
        let both = |name: &str| match name {
            "retry-after-ms" => Some("250"),
            "retry-after" => Some("1"),
            _ => None,
        };
        assert_eq!(wish(both, NOW), Some(Duration::from_millis(250)));
        let seconds = |name: &str| (name == "retry-after").then_some("1");
        assert_eq!(wish(seconds, NOW), Some(Duration::from_secs(1)));
        assert_eq!(wish(|_| None, NOW), None);
    }
}

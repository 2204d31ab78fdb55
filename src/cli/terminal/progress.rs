//! The progress of a run, on stderr: a bar on a terminal, lines in a log, nothing in a plain pipe.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle as BarStyle};

use crate::pipeline::Counters;
use crate::report::figures::{self, thousands};
use crate::summarize::spend::Spend;

/// The style of the progress display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgressStyle {
    /// A bar that is drawn over itself.
    Bar,
    /// A line every few seconds.
    Lines,
    /// Nothing.
    Silent,
}

impl ProgressStyle {
    /// The style for this process: see [`ProgressStyle::choose`].
    pub fn detect(quiet: bool, verbose: bool) -> Self {
        let smart = std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let ci = std::env::var_os("CI").is_some_and(|ci| !ci.is_empty() && ci != "false" && ci != "0");
        Self::choose(quiet, smart && io::stderr().is_terminal(), ci || verbose)
    }

    /// A bar if stderr is a terminal, lines in a log (that of a CI run, or one asked for), else nothing.
    pub fn choose(quiet: bool, terminal: bool, log: bool) -> Self {
        match (quiet, terminal, log) {
            (true, _, _) | (false, false, false) => Self::Silent,
            (false, true, _) => Self::Bar,
            (false, false, true) => Self::Lines,
        }
    }

    fn interval(self) -> Duration {
        match self {
            Self::Bar => Duration::from_millis(100),
            Self::Lines | Self::Silent => Duration::from_secs(5),
        }
    }
}

/// A progress display that runs until it is finished or dropped.
#[derive(Debug)]
pub struct Progress {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Shows the counters from a thread of its own: the records in the words of `records`, and the requests made. If no
    /// thread can be started, nothing is shown.
    pub fn start(
        style: ProgressStyle,
        counters: Arc<Counters>,
        records: fn(&Counters) -> String,
        spend: Option<Arc<Spend>>,
    ) -> Self {
        if style == ProgressStyle::Silent {
            return Self { running: None };
        }
        let (stop, stopped) = mpsc::channel();
        let show = move || {
            let bar = (style == ProgressStyle::Bar).then(|| bar(counters.bytes_total));
            let started = Instant::now();
            while stopped.recv_timeout(style.interval()) == Err(RecvTimeoutError::Timeout) {
                let mut line = line(records(&counters), &counters, started.elapsed());
                if let Some(spend) = &spend {
                    line.push_str(&requests(spend, &counters, started.elapsed()));
                }
                if let Some(bar) = &bar {
                    bar.set_position(counters.position());
                    bar.set_message(line);
                } else {
                    let _ = writeln!(io::stderr(), "{line}");
                }
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        };
        let thread = std::thread::Builder::new()
            .name("progress".to_owned())
            .spawn(show);
        Self {
            running: thread.ok().map(|thread| (stop, thread)),
        }
    }

    /// Ends the display and clears the bar, so that later output stands alone.
    pub fn finish(self) {
        drop(self);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.running.take() {
            drop(stop);
            let _ = thread.join();
        }
    }
}

fn bar(bytes_total: Option<u64>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(bytes_total, ProgressDrawTarget::stderr());
    let template = if bytes_total.is_some() {
        "[{bar:12}] {wide_msg}"
    } else {
        "{spinner} {wide_msg}"
    };
    if let Ok(style) = BarStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar
}

/// The progress of a compression.
pub fn compressing(counters: &Counters) -> String {
    let (compressed, over_limit) = (count(&counters.compressed), count(&counters.over_limit));
    let records = count(&counters.records);
    let mut line = format!("{records} records, {compressed} compressed, {over_limit} over limit");
    if Counters::get(&counters.rejected) > 0 {
        let _ = write!(line, ", {} rejected", count(&counters.rejected));
    }
    line
}

/// The progress of a survey.
pub fn counting(counters: &Counters) -> String {
    let mut line = format!("{} records", count(&counters.records));
    if Counters::get(&counters.rejected) > 0 {
        let _ = write!(line, ", {} unreadable", count(&counters.rejected));
    }
    line
}

fn count(counter: &AtomicU64) -> String {
    thousands(Counters::get(counter))
}

/// Adds the progress of the run. The most important figures come first: a narrow terminal cuts the end.
fn line(mut line: String, counters: &Counters, elapsed: Duration) -> String {
    let position = counters.position();
    let done = position.saturating_sub(Counters::get(&counters.bytes_skipped));
    let rate = figures::megabytes_per_second(done, elapsed);
    let _ = write!(line, ", {}", figures::megabytes(position));
    if let Some(total) = counters.bytes_total {
        let _ = write!(line, " of {}", figures::megabytes(total));
    }
    let _ = write!(line, ", {rate:.1} MB/s");
    if let (Some(total), true) = (counters.bytes_total, rate > 0.0) {
        let seconds = total.saturating_sub(position) as f64 / 1e6 / rate;
        let left = match Duration::try_from_secs_f64(seconds.ceil()) {
            Ok(left) if left < Duration::from_mins(1) => format!("{} s", left.as_secs()),
            Ok(left) => figures::duration(left),
            Err(_) => "long".to_owned(),
        };
        let _ = write!(line, ", {left} left");
    }
    line
}

/// The requests answered and in flight, and their cost.
fn requests(spend: &Spend, counters: &Counters, elapsed: Duration) -> String {
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let minutes = (elapsed.as_secs_f64() / 60.0).max(1.0 / 60.0);
    let tokens = count(&spend.prompt_tokens) + count(&spend.completion_tokens);
    let mut text = format!(
        "; {} records answered, {} requests, {} in flight, {} retries, {} tokens/min",
        thousands(Counters::get(&counters.answered)),
        thousands(count(&spend.requests)),
        thousands(count(&spend.in_flight)),
        thousands(count(&spend.retries)),
        thousands((tokens as f64 / minutes) as u64)
    );
    let known = count(&spend.cache_hits);
    if known > 0 {
        let _ = write!(text, ", {} known", thousands(known));
    }
    if let Some(cost) = spend.cost() {
        let _ = write!(text, ", ${cost:.2}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Prices, Tokens};
    use crate::summarize::spend::SpendLimits;

    #[test]
    fn a_pipe_shows_nothing_unless_it_is_a_log_and_quiet_wins() {
        use ProgressStyle::{Bar, Lines, Silent};
        assert_eq!(ProgressStyle::choose(false, true, true), Bar);
        assert_eq!(ProgressStyle::choose(false, false, true), Lines);
        assert_eq!(ProgressStyle::choose(false, false, false), Silent);
        assert_eq!(ProgressStyle::choose(true, true, true), Silent);
    }

    #[test]
    fn a_line_says_how_far_how_fast_and_how_long() {
        let counters = Counters {
            bytes_total: Some(1_000_000_000),
            bytes_read: AtomicU64::new(250_000_000),
            bytes_skipped: AtomicU64::new(50_000_000),
            records: AtomicU64::new(12_345),
            compressed: AtomicU64::new(300),
            over_limit: AtomicU64::new(2),
            rejected: AtomicU64::new(1),
            ..Counters::default()
        };
        let elapsed = Duration::from_secs(5);
        assert_eq!(
            line(compressing(&counters), &counters, elapsed),
            "12,345 records, 300 compressed, 2 over limit, 1 rejected, 250.0 MB of 1.00 GB, 40.0 MB/s, 19 s left"
        );
        let stream = Counters::default();
        assert_eq!(
            line(counting(&stream), &stream, Duration::ZERO),
            "0 records, 0 bytes, 0.0 MB/s"
        );
    }

    #[test]
    fn time_left_goes_by_what_is_answered_not_by_what_is_read() {
        let counters = Counters {
            bytes_total: Some(1_000_000_000),
            bytes_read: AtomicU64::new(1_000_000_000),
            bytes_begun: AtomicU64::new(4_000_000_000),
            bytes_settled: AtomicU64::new(40_000_000),
            ..Counters::default()
        };
        assert_eq!(
            line(counting(&counters), &counters, Duration::from_secs(10)),
            "0 records, 10.0 MB of 1.00 GB, 1.0 MB/s, 16 min 30 s left"
        );
    }

    #[test]
    fn a_resumed_run_is_as_fast_as_it_is_now() {
        let counters = Counters {
            bytes_total: Some(1_000_000_000),
            bytes_read: AtomicU64::new(950_000_000),
            bytes_skipped: AtomicU64::new(900_000_000),
            bytes_begun: AtomicU64::new(50_000_000),
            bytes_settled: AtomicU64::new(10_000_000),
            ..Counters::default()
        };
        assert_eq!(
            line(counting(&counters), &counters, Duration::from_secs(10)),
            "0 records, 910.0 MB of 1.00 GB, 1.0 MB/s, 1 min 30 s left"
        );
    }

    #[test]
    fn requests_are_told_with_what_they_cost() {
        let prices = Prices {
            prompt: 1.0,
            completion: 4.0,
            fallback_prompt: 1.0,
            fallback_completion: 4.0,
        };
        let spend = Spend::new(SpendLimits {
            prices: Some(prices),
            ..SpendLimits::default()
        });
        let counters = Counters {
            answered: AtomicU64::new(1100),
            ..Counters::default()
        };
        spend.requests.store(1200, Ordering::Relaxed);
        spend.in_flight.store(50, Ordering::Relaxed);
        spend.cache_hits.store(7, Ordering::Relaxed);
        spend.took(Tokens::of(2_000_000, 100_000, false));
        assert_eq!(
            requests(&spend, &counters, Duration::from_mins(2)),
            "; 1,100 records answered, 1,200 requests, 50 in flight, 0 retries, 1,050,000 tokens/min, 7 known, $2.40"
        );
    }

    #[test]
    fn finishing_does_not_wait_for_the_next_line() {
        let started = Instant::now();
        Progress::start(ProgressStyle::Lines, Arc::default(), counting, None).finish();
        assert!(started.elapsed() < Duration::from_secs(4));
    }
}

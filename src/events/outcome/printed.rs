//! The outcome of a call by its printed answer: exit code, counts of tests, diagnostics, error texts, results.

use super::chained_errors::{behind, error_behind, first_error};
use super::error_line::{self, both_edges, error_of, marked_line, near_lines, reading_error, says_anything};
use super::later_calls::LaterCalls;
use super::reply::{reply, report};
use super::status::{Answer, Basis, CallStatus, Outcome};
use super::terminal::{body, is_command, is_single, says_no, without_echo};
use super::text::{MAX_SHORT, is_same_row, quote, tool_of};
use crate::events::line::{last_lines, lines_of};
use crate::events::observation::shows_page;
use crate::events::shell::programs::{Does, known};
use crate::events::target::Effect;
use crate::events::tools::{Verb, Verbs};
use crate::knowledge::errors::{ErrorKind, error_under_heading, says_done, says_refused};
use crate::knowledge::found::LiteralHits;
use crate::knowledge::results::{ResultKind, alert, results, shows_documents};
use crate::knowledge::runners::{Diagnostics, TestRun, diagnostics, test_run};
use crate::knowledge::test_counts::TestCounts;
use crate::knowledge::tool_names::acts;
use crate::trajectory::IMAGE_MARKER;

/// Longest output of a line or two that is told by its beginning, in bytes.
const MAX_SENTENCE: usize = 800;

/// The outcome by an answer of plain text.
#[expect(
    clippy::too_many_lines,
    reason = "each fact is read once, and told in one place"
)]
pub(super) fn of_printed(answer: Answer<'_>, effect: Effect, target: &str, later: LaterCalls<'_>) -> Outcome {
    let Answer {
        text,
        is_error,
        exit_code,
    } = answer;
    let body = without_echo(body(text), target);
    let lines = number_of_lines(body);
    let body = without_image(body);
    if let Some(error) = error_under_heading(body).filter(|_| !is_command(target)) {
        return Outcome {
            status: CallStatus::Failed,
            basis: Basis::Text,
            error: quote(error),
            lines,
            ..Outcome::default()
        };
    }
    let (head, tail) = both_edges(body);
    let says_no = says_no(target);
    let no = says_no.filter(|(_, prints)| exit_code == Some(1) && (*prints || body.is_empty()));
    let is_failed = is_error == Some(true) || no.is_none() && exit_code.is_some_and(|code| code != 0);
    let tool = tool_of(target);
    let is_reading = effect == Effect::Read || shows_documents(tool);
    let read = if is_reading && !is_failed {
        LiteralHits::read_shown
    } else {
        LiteralHits::read
    };
    let near = [head, tail].map(read);
    let mut told = ToldResults::of(&near);
    let is_reading = is_reading || told.page.is_some();
    // Of what a program fetched the title tells nothing.
    if is_fetched(target) {
        told.page = None;
    }
    let [at_start, at_end] = &near;
    let run = if tail.is_empty() {
        test_run(body, 0, at_start)
    } else {
        test_run(body, body.len() - tail.len(), at_end)
    };
    let is_outweighed = |run: &TestRun<'_>| run.is_verdict && !is_reading && shows_error(body, &near, target);
    let run = run.filter(|run| !is_outweighed(run));
    let counts_line = run.as_ref().and_then(counts_of);
    let tests = run.as_ref().map(|run| run.counts);
    let tests = tests.filter(|_| !is_reading);
    let compiles = !is_reading && tests.is_none();
    let diagnostics = compiles.then(|| diagnostics(body, &near)).flatten();
    let lines_near = if is_failed || !is_reading {
        near_lines(&near, target)
    } else {
        Default::default()
    };
    let found = if is_failed || !is_reading {
        error_of(body, &lines_near, is_failed && counts_line.is_none())
    } else {
        reading_error(body, lines)
    };
    // A tool that edits says so in its own words.
    let is_edit = effect == Effect::Modify && !is_command(target);
    let refused = || {
        quote(
            lines_of(body)
                .next()
                .filter(|line| is_edit && says_refused(line))?,
        )
    };
    let found = found.or_else(|| Some(error_line::NamedError::new(refused()?, ErrorKind::Refusal)));
    let tests_fail = tests.is_some_and(TestCounts::fails);
    let chained_errors = run.as_ref().filter(|_| tests.is_some() && !is_single(target));
    let first_error = match chained_errors.and_then(|run| behind(run, body)) {
        Some(behind) => error_behind(behind, target),
        None => diagnostics.as_ref().and_then(first_error),
    };
    // A program that caught an error and a search that found one did not fail, nor did what a flag says went well.
    let went_well = is_error == Some(false)
        || exit_code == Some(0) && is_single(target)
        || told.hits.is_some()
        || tests.is_some_and(|counts| counts.passed > Some(0));
    let stands = is_failed || tests_fail || first_error.is_some() || !went_well;
    let (found, caught) = if stands { (found, None) } else { (None, found) };
    let found_line = found.as_ref().map(|found| found.line.clone());
    let failing = run
        .as_ref()
        .filter(|_| tests_fail)
        .map(|run| run.failing.and_then(quote));
    let first_bad = match failing {
        Some(failing) => failing
            .or_else(|| found_line.clone())
            .or_else(|| counts_line.clone()),
        None => first_error,
    };
    let says_done = effect == Effect::Modify && says_done(body);
    // What a tool reports of a file beside its edit is no failure of the edit.
    let reported = first_bad.as_deref().or(found_line.as_deref());
    let is_applied = says_done && is_edit && !is_failed && reported.is_some_and(names_place);
    let is_bad =
        !is_applied && (first_bad.is_some() || found.as_ref().is_some_and(|found| found.kind.fails()));
    let is_shown = is_reading && !body.is_empty();
    let any_ran = tests.is_some_and(|tests| !tests.ran_none());
    let says_ok = any_ran || says_done || told.done.is_some() || told.hits.is_some();
    let says_ok = says_ok || is_shown || diagnostics.is_some();
    let is_refused = |found: &&error_line::NamedError| found.is_part || found.kind == ErrorKind::Refusal;
    let is_part = |found: &&error_line::NamedError| is_reading && is_beside_others(&found.line, body);
    let how = match found.as_ref().filter(is_refused) {
        _ if first_bad.is_none() && found.as_ref().is_some_and(|found| is_part(&found)) => CallStatus::Partly,
        Some(found) if first_bad.is_none() && (found.is_part || told.done.is_some()) => CallStatus::Partly,
        Some(_) if first_bad.is_none() => CallStatus::Refused,
        _ => CallStatus::Failed,
    };
    let (status, basis) = match (is_error, exit_code) {
        (Some(true), _) => (how, Basis::Flag),
        (_, Some(_)) if is_failed => (how, Basis::ExitCode),
        _ if is_bad => (how, Basis::Text),
        (_, Some(_)) => (CallStatus::Ok, Basis::ExitCode),
        (Some(false), _) => (CallStatus::Ok, Basis::Flag),
        _ if told.untold.is_some() => (CallStatus::Unknown, Basis::None),
        _ if says_ok => (CallStatus::Ok, Basis::Text),
        _ => (CallStatus::Unknown, Basis::None),
    };
    let may_mark = counts_line.is_none() && !is_reading && !is_failed && !is_bad;
    let marked = || marked_line(&lines_near).or_else(|| Some(caught?.line));
    let marked = may_mark.then(marked).flatten();
    let reported = first_bad.or(found_line);
    let (error, beside) = if is_applied {
        (None, reported)
    } else {
        (reported, None)
    };
    let short = only_line(body, lines, is_reading).filter(|_| !told.has_asides);
    let hits = short.clone().filter(|_| told.hits.is_some());
    let is_marked = marked.is_some();
    let says_done = says_done && beside.is_none();
    let result = beside
        .and_then(|beside| quote(&format!("applied, with {beside}")))
        .or(counts_line)
        .or_else(|| counted(diagnostics.as_ref()?, is_capped(target, lines)))
        .or_else(|| no.map(|(says, _)| says.to_owned()))
        .or(hits)
        .or_else(|| told.line(body))
        .or(marked)
        .or(short)
        .or_else(|| reply(body, lines).filter(|_| acts(tool_of(target))))
        .or_else(|| report(body).filter(|_| Verbs::of(tool_of(target)).has(Verb::Delegate)));
    let is_page = told.page.is_some() && result.is_some() && result == told.line_without_alert(body);
    let is_of_run = says_no.is_none() && effect == Effect::Other && !is_reading;
    let last_line = || {
        // A row of numbers is none, nor what stands before it.
        let mut last = last_lines(body)
            .take(LAST_LINES)
            .filter(|line| says_anything(line));
        let line = last.next().filter(|line| has_word(line))?;
        let is_of_table = last.next().is_some_and(|before| is_same_row(before, line));
        quote(line).filter(|_| !is_of_table)
    };
    Outcome {
        last_line: (is_of_run && result.is_none() && !told.has_asides && !shows_page(text))
            .then(last_line)
            .flatten(),
        status,
        basis,
        exit_code,
        error,
        result,
        tests,
        diagnostics,
        lines,
        hit: says_no.and_then(|(_, prints)| hit(target, body, prints, later)),
        says_done,
        is_marked,
        is_page,
    }
}

/// Returns true if an output shows that something failed: an error of a compiler, or a line that names one.
fn shows_error(body: &str, near: &[LiteralHits<'_>; 2], target: &str) -> bool {
    let found = error_of(body, &near_lines(near, target), false);
    let compiled = || diagnostics(body, near).is_some_and(|found| found.errors > 0);
    found.is_some_and(|found| found.kind.fails()) || compiled()
}

/// Lines at an output's end of which one may tell the result.
const LAST_LINES: usize = 6;

/// Returns true if a line has a word: a row of numbers tells nothing without its heading, nor a field without its object.
fn has_word(line: &str) -> bool {
    let is_field = line.trim_start().starts_with('"') && line.contains("\": ");
    let mut words = line.split(|c: char| !c.is_alphabetic());
    !is_field && words.any(|word| word.chars().nth(1).is_some())
}

/// A text without the image at its end, which tells nothing.
fn without_image(body: &str) -> &str {
    let mut marks = [IMAGE_MARKER, "<image>"].into_iter();
    let text = marks.find_map(|mark| body.trim_end().strip_suffix(mark));
    text.map_or(body, str::trim_end)
}

/// Returns true if a line is a compiler's: it names a place in a file, `ERROR [275:35] …`, `a.rs:8: …`, `line 3`, or the number of an
/// error, `error[E0308]`.
fn names_place(line: &str) -> bool {
    let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let bytes = line.as_bytes();
    let mut colons = memchr::memchr_iter(b':', bytes);
    let is_numbered = line
        .split_once("line ")
        .is_some_and(|(_, rest)| digit(rest.as_bytes().first()));
    is_numbered || line.starts_with("error[") || colons.any(|at| digit(bytes.get(at + 1)) && at > 0)
}

/// Returns true if a command fetches an address.
fn is_fetched(target: &str) -> bool {
    let command = target.split_once(": ").map_or(target, |(_, command)| command);
    let program = command.split(' ').next().unwrap_or_default();
    known(program).is_some_and(|row| row.does == Does::Fetches)
}

/// Returns true if a program complains in a line of its own, `find: …`, and others show what it found.
fn is_beside_others(complaint: &str, body: &str) -> bool {
    let Some((program, _)) = complaint
        .split_once(": ")
        .filter(|(name, _)| !name.contains([' ', '/']))
    else {
        return false;
    };
    let is_other = |line: &str| says_anything(line) && !line.trim_start().starts_with(program);
    body.starts_with(program) && lines_of(body).any(is_other)
}

fn number_of_lines(text: &str) -> usize {
    match text {
        "" => 0,
        _ => memchr::memchr_iter(b'\n', text.as_bytes()).count() + 1,
    }
}

/// The lines of a run's counts, without the rulings around them; of several runs it says so.
fn counts_of(run: &TestRun<'_>) -> Option<String> {
    if let (2.., Some(passed), Some(failed)) = (run.parts, run.counts.passed, run.counts.failed) {
        return Some(format!("{passed} passed; {failed} failed in {} parts", run.parts));
    }
    let lines = run.lines.iter();
    let lines: Vec<&str> = lines.map(|line| line.trim_matches(['=', ' '])).collect();
    let counts = lines.join(", ");
    match run.runs {
        0 | 1 => quote(&counts),
        runs => quote(&format!("last of {runs} runs: {counts}")),
    }
}

/// Results that the lines near an output's ends tell.
#[derive(Default)]
struct ToldResults<'t> {
    done: Option<&'t str>,
    hits: Option<&'t str>,
    page: Option<&'t str>,
    address: Option<&'t str>,
    untold: Option<&'t str>,
    has_asides: bool,
}

impl<'t> ToldResults<'t> {
    fn of(near: &[LiteralHits<'t>; 2]) -> Self {
        let mut told = Self::default();
        for (kind, said) in near.iter().flat_map(results) {
            match kind {
                // What was done last is what it came to.
                ResultKind::Done => told.done = Some(said),
                ResultKind::Hits => told.hits = told.hits.or(Some(said)),
                ResultKind::Page => told.page = told.page.or(Some(said)),
                ResultKind::Aside => told.has_asides = true,
                ResultKind::Untold => told.untold = Some(said),
                ResultKind::Address => told.address = told.address.or(Some(said)),
                // It is looked for in the whole page.
                ResultKind::Alert => {}
            }
        }
        told
    }

    /// The last thing done, or the page with its address, behind what it says of the action; of a search its first hit beside.
    fn line(&self, body: &str) -> Option<String> {
        let line = self.line_without_alert(body)?;
        match alert(body).filter(|_| self.page.is_some()) {
            Some(alert) => quote(&format!("alert: {alert}; {line}")),
            None => Some(line),
        }
    }

    fn line_without_alert(&self, body: &str) -> Option<String> {
        let beside = match self.hits.filter(|_| self.done.is_none()) {
            Some(hits) => lines_of(body.split_once(hits)?.1).find(|line| says_anything(line)),
            None => self.address,
        };
        match (self.done.or(self.hits).or(self.page), beside) {
            (Some(told), Some(beside)) => quote(&format!("{told}, {}", beside.trim())),
            (told, beside) => quote(told.or(beside)?),
        }
    }
}

/// The counts of a compiler: its own line, or the numbers.
fn counted(found: &Diagnostics, is_capped: bool) -> Option<String> {
    if let Some(summary) = &found.summary {
        return quote(summary);
    }
    let count = |number: u32, unit: &str| match number {
        0 => None,
        1.. if is_capped => Some(format!("{} or more {unit}s", number.min(99))),
        1 => Some(format!("1 {unit}")),
        // Beyond that the number tells no more.
        2..100 => Some(format!("{number} {unit}s")),
        _ => Some(format!("99+ {unit}s")),
    };
    let counts = [count(found.errors, "error"), count(found.warnings, "warning")];
    let counts = counts.into_iter().flatten().collect::<Vec<String>>().join(", ");
    match (&found.first, found.errors) {
        (Some(first), 0) => quote(&format!("{counts}: {first}")),
        _ => Some(counts),
    }
}

/// Returns true if a command shows only so many lines of what another one printed, and printed them all.
fn is_capped(target: &str, lines: usize) -> bool {
    let shown = ["| head", "| tail"]
        .iter()
        .find_map(|filter| target.rsplit_once(filter));
    shown.is_some_and(|(_, arguments)| {
        let number = arguments.trim_start_matches([' ', '-', 'n']);
        let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
        lines
            >= number
                .get(..end)
                .and_then(|number| number.parse().ok())
                .unwrap_or(10)
    })
}

/// Lines of a search that are looked at.
const MAX_HITS: usize = 400;

/// The first hit of a search that prints a line for each; of those before other calls the first that they name.
fn hit(target: &str, body: &str, prints: bool, later: LaterCalls<'_>) -> Option<String> {
    let mut hits = lines_of(body).filter(|line| says_anything(line)).take(MAX_HITS);
    if !later.is_empty() {
        return quote(hits.find(|line| later.use_any_of(line))?);
    }
    // Lines around a hit may come before it.
    if prints || target.contains(" -B") || target.contains(" -C") {
        return None;
    }
    quote(hits.next()?)
}

/// The only line of a short output, or two of them; of a longer one its beginning, unless it is what was read.
fn only_line(body: &str, lines: usize, is_reading: bool) -> Option<String> {
    if body.len() > MAX_SHORT {
        let is_sentence = body.len() <= MAX_SENTENCE && lines <= 2 && !is_reading;
        return if is_sentence { quote(body) } else { None };
    }
    let told = lines_of(body).filter(|line| !line.trim().is_empty());
    if told.take(3).count() > 2 {
        return None;
    }
    quote(body)
}

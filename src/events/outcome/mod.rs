//! The outcome of a tool call, read from its answer.

mod chained_errors;
pub(crate) mod envelope;
pub(crate) mod error_line;
mod field_errors;
pub(crate) mod field_line;
pub(crate) mod fields;
mod http_answer;
pub(crate) mod later_calls;
mod printed;
mod reply;
pub(crate) mod reported;
mod shown_fields;
pub(crate) mod status;
pub(crate) mod success;
pub(crate) mod terminal;
pub(crate) mod text;
mod wrapper;

use std::borrow::Cow;

use crate::events::control::without_control;
use crate::events::target::Effect;
use crate::events::written::printed_object;
use crate::knowledge::tool_names::is_lookup;
use crate::trajectory::json::leaves::leaves;
use envelope::{longest_text, object_in, objects_in, text_of_parts, unwrapped};
use fields::outcome_of;
use http_answer::HttpAnswer;
use later_calls::LaterCalls;
use printed::of_printed;
use reported::ReportedFields;
use shown_fields::{MAX_FIELDS, MAX_SEARCHED};
use status::{Answer, Basis, CallStatus, Outcome};
use terminal::{exit_code, is_command};
use text::tool_of;

/// The outcome of a call from its answer. Errors that stand in what was read (`effect`) are none of the call's. Of a JSON answer the result tells the status, and what neither the call itself
/// (`target`) nor an earlier answer told already (`told`); of several things found those that `later` calls name.
pub(crate) fn outcome<'a>(
    answer: impl Into<Answer<'a>>,
    effect: Effect,
    target: &str,
    told: &mut ReportedFields,
    later: LaterCalls<'_>,
) -> Outcome {
    let answer = answer.into();
    if let Some(response) = HttpAnswer::of(answer.text).filter(|_| !is_command(target)) {
        let body = outcome(answer.with_text(&response.body), effect, target, told, later);
        return response.outcome(body);
    }
    let printed = |text: &str, code: Option<i32>, is_error: Option<bool>| {
        let text = without_colours(text.trim());
        let text = text.as_ref();
        let exit_code = code.or_else(|| exit_code(text, effect == Effect::Read));
        of_printed(
            Answer {
                text,
                is_error,
                exit_code,
            },
            effect,
            target,
            later,
        )
    };
    let most = if later.is_empty() {
        MAX_FIELDS
    } else {
        MAX_SEARCHED
    };
    let Some(fields) = leaves(answer.text.trim(), most) else {
        if let Some(object) = printed_object(answer.text) {
            return outcome(answer.with_text(&object), effect, target, told, later);
        }
        if let Some((objects, count)) = objects_in(answer.text) {
            // The fields of the last one are told whatever those before it have.
            let ended = objects.iter().enumerate().map(|(number, object)| {
                let untold = &mut ReportedFields::default();
                let told = if number + 1 == objects.len() {
                    &mut *told
                } else {
                    untold
                };
                outcome(answer.with_text(object), effect, target, told, later)
            });
            // Errors that were looked up are none of the call's.
            let is_lookup = effect == Effect::Read || is_lookup(tool_of(target));
            return of_several(ended.collect(), count, is_lookup);
        }
        return printed(answer.text, answer.exit_code, answer.is_error);
    };
    if let Some((text, code)) = unwrapped(&fields, target) {
        return printed(&text, answer.exit_code.or(code), answer.is_error);
    }
    if let Some((text, is_error)) = text_of_parts(&fields) {
        let answer = Answer {
            text: &text,
            is_error: is_error.or(answer.is_error),
            exit_code: answer.exit_code,
        };
        return outcome(answer, effect, target, told, later);
    }
    if let Some(object) = object_in(&fields) {
        return outcome(answer.with_text(&object), effect, target, told, later);
    }
    let mut ended = outcome_of(&fields, effect, target, told, later);
    if let Some(text) = longest_text(&fields) {
        ended.add(printed(&text, None, None));
    }
    match answer.is_error {
        Some(true) if ended.failed() != Some(true) => Outcome {
            status: CallStatus::Failed,
            basis: Basis::Flag,
            ..ended
        },
        Some(false) if ended.status == CallStatus::Unknown => Outcome {
            status: CallStatus::Ok,
            basis: Basis::Flag,
            ..ended
        },
        _ => ended,
    }
}

/// The outcome of a call that answered several objects: that of the last one, and in part a failure where one of them failed.
fn of_several(ended: Vec<Outcome>, count: usize, is_lookup: bool) -> Outcome {
    let failed = ended
        .iter()
        .filter(|outcome| outcome.failed() == Some(true))
        .count();
    let is_all = failed == ended.len();
    let error = ended.iter().find(|outcome| outcome.failed() == Some(true));
    let error = error.and_then(|outcome| outcome.error.clone().or_else(|| outcome.result.clone()));
    let last = ended.into_iter().next_back().unwrap_or_default();
    let result = last
        .result
        .as_ref()
        .map(|result| format!("last of {count}: {result}"));
    match failed {
        _ if failed == 0 || is_lookup => Outcome { result, ..last },
        _ => Outcome {
            status: if is_all {
                CallStatus::Failed
            } else {
                CallStatus::Partly
            },
            basis: Basis::Field,
            error,
            ..last
        },
    }
}

/// A text without a terminal's colours.
fn without_colours(text: &str) -> Cow<'_, str> {
    match memchr::memchr(0x1b, text.as_bytes()) {
        Some(_) => without_control(text),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod table_tests;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(target: &str, answer: &str, is_reading: bool) -> Outcome {
        let effect = if is_reading { Effect::Read } else { Effect::Other };
        outcome(
            answer,
            effect,
            target,
            &mut ReportedFields::default(),
            LaterCalls::default(),
        )
    }

    #[test]
    fn exit_codes_stand_at_the_end_and_in_no_text_that_was_read() {
        let log = "job started\nstep exited with code 3\nretry\nall good\nfinished";
        assert_eq!(of("run_tests(suite: all)", log, false).exit_code, None);
        let log = "started\nstep exited with code 3";
        assert_eq!(of("make: x", log, false).exit_code, Some(3));
        let read = of("read_file ci.log", log, true);
        assert_eq!((read.exit_code, read.failed()), (None, Some(false)));
        let counts = "x\n2 failed, 3 passed in 1.0s";
        assert_eq!(of("read_file ci.log", counts, true).failed(), Some(false));
        assert_eq!(of("bash: pytest", counts, false).failed(), Some(true));
        let framed = "x\n[The command completed with exit code 2.]\n[Current working directory: /w]\n[Python interpreter: p]";
        assert_eq!(of("bash: cat x", framed, true).exit_code, Some(2));
        assert_eq!(
            of("bash: cat x", "Exit code 1\ncat: x: No such file", true).exit_code,
            Some(1)
        );
        assert_eq!(of("bash: ls", "a\nexit code: 4", false).exit_code, Some(4));
    }

    #[test]
    fn a_search_without_a_match_is_no_error() {
        let echoed = "cd /w && grep -n 'ORDER BY' a.py\n[Python Interpreter: /usr/bin/python]\nroot@x:/w # \n[Command finished with exit code 1]";
        let ended = of("bash: grep -n 'ORDER BY' a.py", echoed, true);
        assert_eq!(
            (ended.failed(), ended.result.as_deref()),
            (Some(false), Some("no match"))
        );
        for (target, result) in [
            ("bash: cat a | grep x", Some("no match")),
            ("bash: git grep x", Some("no match")),
            ("bash: test -f a", Some("no")),
            ("bash: make all && grep x a", None),
            ("bash: make all", None),
        ] {
            let ended = of(target, "[Command finished with exit code 1]", false);
            assert_eq!(ended.result.as_deref(), result, "{target}");
            assert_eq!(ended.failed(), Some(result.is_none()), "{target}");
        }
        let ended = of(
            "bash: grep x",
            "grep: a: No such file\n[Command finished with exit code 1]",
            true,
        );
        assert_eq!(ended.failed(), Some(true));
    }

    #[test]
    fn a_long_line_is_told_by_its_beginning() {
        let line = "We are unable to do that for you today. ".repeat(12);
        let result = of("book(f: 1)", &line, false).result.unwrap();
        assert!(
            result.starts_with("We are unable to do that") && result.ends_with('…'),
            "{result}"
        );
        assert_eq!(of("bash: cat a", &line, true).result, None);
    }
}

//! The invariants of a compression, on made-up trajectories of both formats, checked by a second implementation.

use std::sync::{Arc, Mutex};

use crate::support::generate::made;
use crate::support::oracle::{assert_in_order, assert_one_summary_each, assert_sound, cost};
use crate::support::{counter, fit, fitter, fitter_with, settings};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use proptest::prelude::*;
use serde_json::Value;
use trajfit::internals::compress::SummaryPlacement;
use trajfit::internals::fit::{FitSettings, SummarySize};
use trajfit::internals::metrics::Status;
use trajfit::internals::summarize::{Summarizer, Summary, SummaryError, SummaryRequest, Usage};

/// A summary that is longer than many a trajectory.
const LONG: &str = "verbatim: one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen \
    sixteen seventeen eighteen nineteen twenty twenty-one twenty-two twenty-three twenty-four twenty-five twenty-six \
    twenty-seven twenty-eight twenty-nine thirty thirty-one thirty-two thirty-three thirty-four thirty-five thirty-six \
    thirty-seven thirty-eight thirty-nine forty forty-one forty-two forty-three forty-four forty-five forty-six forty-seven";

/// A summarizer that answers as badly as a model may.
struct Hostile(&'static str);

impl Summarizer for Hostile {
    fn name(&self) -> &'static str {
        "hostile"
    }

    fn summarize<'a>(&'a self, request: SummaryRequest<'a>) -> BoxFuture<'a, Result<Summary, SummaryError>> {
        let result = match self.0 {
            "fails" => Err(SummaryError::BudgetTooSmall {
                max_tokens: request.max_tokens,
            }),
            "vetoes" => Err(SummaryError::Vetoed {
                detail: "no".to_owned(),
                usage: Usage::default(),
            }),
            text => Ok(Summary {
                text: text.to_owned(),
                verbatim: text.starts_with("verbatim"),
                ..Summary::default()
            }),
        };
        std::future::ready(result).boxed()
    }
}

/// A summarizer that writes as much as it is asked for, and remembers how much that was.
#[derive(Default)]
struct AsAsked {
    targets: Mutex<Vec<usize>>,
}

impl Summarizer for AsAsked {
    fn name(&self) -> &'static str {
        "as-asked"
    }

    fn summarize<'a>(&'a self, request: SummaryRequest<'a>) -> BoxFuture<'a, Result<Summary, SummaryError>> {
        self.targets.lock().unwrap().push(request.target_tokens);
        let most = request.target_tokens.min(request.max_tokens);
        let mut text = "[CONTEXT SUMMARY]:\nIt".to_owned();
        while request.counter.count(&text) < most {
            text.push_str(" went");
        }
        let summary = Summary {
            text,
            ..Summary::default()
        };
        std::future::ready(Ok(summary)).boxed()
    }
}

fn placement() -> impl Strategy<Value = SummaryPlacement> {
    prop_oneof![
        Just(SummaryPlacement::Human),
        Just(SummaryPlacement::Merge),
        Just(SummaryPlacement::Auto)
    ]
}

proptest! {
    #![proptest_config(crate::support::generate::config())]

    #[test]
    fn a_compressed_trajectory_is_sound(
        made in made(),
        target in 60..1500_usize,
        summary in 20..120_usize,
        last_n_turns in 0..6_usize,
        tail_tokens in prop_oneof![Just(0), 1..400_usize],
        protect in any::<[bool; 4]>(),
        placement in placement(),
    ) {
        let line = made.line();
        let mut settings = settings(target, summary);
        settings.protection.last_n_turns = last_n_turns;
        settings.protection.tail_tokens = tail_tokens;
        settings.protection.first_system = protect[0];
        settings.protection.first_human = protect[1];
        settings.protection.first_gpt = protect[2];
        settings.protection.first_tool = protect[3];
        settings.summary_placement = placement;
        let notice = settings.notice.clone();
        let fitted = fit(&fitter(settings), &line);
        let original = cost(&serde_json::from_str(&line).unwrap(), counter().as_ref());
        prop_assert_eq!(fitted.row.original_tokens, original as u64);
        match (&fitted.text, fitted.row.status) {
            (Some(after), Status::Compressed) => {
                assert_sound(&line, after, &fitted.row, notice.as_deref(), counter().as_ref());
                if placement == SummaryPlacement::Auto {
                    assert_in_order(&line, after);
                }
                prop_assert!(original > target);
            }
            (None, Status::UnderTarget) => prop_assert!(original <= target),
            (None, Status::Kept) => prop_assert!(original > target && !fitted.row.reason.is_empty()),
            unexpected => prop_assert!(false, "{:?}, {}", unexpected, fitted.row.reason),
        }
    }

    #[test]
    fn a_summary_costs_what_is_beyond_the_kept_turns_and_is_starved_only_where_none_is_left(
        made in made(),
        target in 60..1500_usize,
        summary in 20..120_usize,
        placement in placement(),
    ) {
        let line = made.line();
        let settings = FitSettings { notice: None, summary_placement: placement, ..settings(target, summary) };
        let fitter = fitter(settings);
        let row = fit(&fitter, &line).row;
        let mut record: Value = serde_json::from_str(&line).unwrap();
        let key = if made.sharegpt { "conversations" } else { "messages" };
        let explained = pollster::block_on(fitter.explain(line.as_bytes())).unwrap();
        if row.status == Status::Compressed {
            let region = row.region_start as usize..row.region_end as usize;
            let is_quoted = explained.last_human.is_some_and(|last| region.contains(&last));
            record[key].as_array_mut().unwrap().drain(region.clone());
            let record = serde_json::value::to_raw_value(&record).unwrap();
            let kept = cost(&record, counter().as_ref());
            if !is_quoted {
                prop_assert_eq!(row.summary_tokens, row.compressed_tokens - kept as u64);
                prop_assert!(!row.summary_starved || kept + summary > target);
            }
            prop_assert!(!row.summary_starved || region == explained.compressible);
        } else {
            prop_assert!(!row.summary_starved);
        }
    }

    #[test]
    fn a_record_that_fits_with_one_summary_target_fits_with_one_that_grows(
        made in made(),
        target in 60..1500_usize,
        ratio in 0.01..0.9_f64,
        min in 20..120_usize,
        more in 0..300_usize,
        placement in placement(),
        is_quoted in any::<bool>(),
    ) {
        let line = made.line();
        let asked = Arc::new(AsAsked::default());
        let fit_with = |summary_size: SummarySize, summary_max_tokens: usize| {
            let settings = FitSettings {
                summary_size,
                summary_max_tokens,
                summary_placement: placement,
                ..settings(target, min)
            };
            let fitter = if is_quoted {
                fitter(settings)
            } else {
                fitter_with(settings, Arc::clone(&asked) as _)
            };
            fit(&fitter, &line)
        };
        let fixed = fit_with(SummarySize::fixed(min), min);
        let once = std::mem::take(&mut *asked.targets.lock().unwrap());
        let grown = fit_with(SummarySize::scaled(ratio, min, min + more), min + more);
        if let Some(after) = &grown.text {
            let notice = settings(target, min).notice;
            assert_sound(&line, after, &grown.row, notice.as_deref(), counter().as_ref());
        }
        if fixed.row.status == Status::Compressed && !fixed.row.still_over_limit {
            prop_assert_eq!(grown.row.status, Status::Compressed, "{}", &grown.row.reason);
            prop_assert!(!grown.row.still_over_limit, "{:?}\n{:?}", fixed.row, grown.row);
            let asked = asked.targets.lock().unwrap();
            prop_assert!(asked.iter().all(|asked| *asked <= min + more), "{:?}", asked);
            // Less than the smallest is asked for only where there is no room for more, as with one target.
            prop_assert!(asked.first() >= once.first(), "{:?} {:?}", asked, once);
            if asked.first().is_some_and(|asked| *asked < min) {
                prop_assert!(once.first() == asked.first(), "{:?} {:?}", asked, once);
            }
        }
    }

    #[test]
    fn compressing_what_fits_changes_nothing(made in made(), target in 60..1500_usize) {
        let fitter = fitter(settings(target, 40));
        let fitted = fit(&fitter, &made.line());
        if let Some(after) = fitted.text.filter(|_| !fitted.row.still_over_limit) {
            let again = fit(&fitter, &after);
            prop_assert_eq!(again.row.status, Status::UnderTarget);
            prop_assert_eq!(again.text, None);
        }
    }

    #[test]
    fn what_was_compressed_can_be_compressed_further(
        made in made(),
        placement in placement(),
        then in placement(),
        protect in any::<[bool; 4]>(),
        last_n_turns in 0..5_usize,
    ) {
        let mut first = settings(600, 60);
        first.summary_placement = placement;
        let notice = first.notice.clone();
        let Some(once) = fit(&fitter(first.clone()), &made.line()).text else { return Ok(()) };
        assert_one_summary_each(&once);
        let mut second = trajfit::internals::fit::FitSettings { target_max_tokens: 300, summary_placement: then, ..first };
        second.protection.last_n_turns = last_n_turns;
        second.protection.first_system = protect[0];
        second.protection.first_human = protect[1];
        second.protection.first_gpt = protect[2];
        second.protection.first_tool = protect[3];
        let fitted = fit(&fitter(second), &once);
        if let Some(twice) = fitted.text {
            assert_sound(&once, &twice, &fitted.row, notice.as_deref(), counter().as_ref());
            assert_one_summary_each(&twice);
            if then == SummaryPlacement::Auto {
                assert_in_order(&once, &twice);
            }
        }
        prop_assert_ne!(fitted.row.status, Status::Failed);
    }

    #[test]
    fn a_bad_summarizer_harms_nothing(
        made in made(),
        text in prop_oneof![
            Just(""),
            Just("fails"),
            Just("[CONTEXT SUMMARY]: [CONTEXT SUMMARY]: twice"),
            Just("**[CONTEXT SUMMARY]:** bold"),
            Just("vetoes"),
            Just("verbatim: as it is"),
            Just(LONG),
            Just("quotes \" and \\ and \u{0} and \n newlines"),
        ],
        target in 60..900_usize,
    ) {
        let line = made.line();
        let settings = settings(target, 40);
        let notice = settings.notice.clone();
        let fitted = fit(&fitter_with(settings, Arc::new(Hostile(text))), &line);
        prop_assert_ne!(fitted.row.status, Status::Failed);
        prop_assert!(text != "vetoes" || fitted.text.is_none() && !fitted.row.degraded);
        if let Some(after) = &fitted.text {
            assert_sound(&line, after, &fitted.row, notice.as_deref(), counter().as_ref());
            prop_assert_eq!(fitted.row.degraded, text == "fails");
        }
    }
}

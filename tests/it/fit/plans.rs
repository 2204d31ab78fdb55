//! Plans where the costs of turns do not add up, since a template charges otherwise once turns are gone.

use crate::support::generate::made;
use crate::support::rendered::{THINKING, rendered_fitter, thinking_run};
use crate::support::{fit, fitter, settings};
use proptest::prelude::*;
use trajfit::internals::compress::SummaryPlacement;
use trajfit::internals::fit::{FitSettings, Fitter};
use trajfit::internals::metrics::{Status, Totals};

/// Between turns stands text that depends on both of them.
const NEIGHBOURS: &str = "\
{%- for message in messages %}
{%- if loop.previtem and loop.previtem.role != message.role %}
{{- '<from ' + loop.previtem.role + ' to ' + message.role + '>' }}
{%- if loop.previtem.role == 'user' %}{{ ' a person has spoken and is to be answered in full' }}{% endif %}
{%- endif %}
{%- if message.content is string %}{{ message.content }}{% endif %}
{%- for call in message.tool_calls or [] %}{{ call.function | tojson }}{%- endfor %}
{{- '<|im_end|>\n' }}
{%- endfor %}";

/// The fewer turns there are, the more each of them costs.
const GROWING: &str = "\
{%- for message in messages %}
{{- message.role + ': ' }}
{%- for _ in range([0, 40 - messages | length] | max) %}{{ ' pad' }}{% endfor %}
{%- if message.content is string %}{{ message.content }}{% endif %}
{%- for call in message.tool_calls or [] %}{{ call.function | tojson }}{%- endfor %}
{{- '<|im_end|>\n' }}
{%- endfor %}";

/// A summary stands there three times, and what people said twice.
const ECHOING: &str = "\
{%- for message in messages if message.content is string %}
{{- message.role + ' ' + message.content }}
{%- if '[CONTEXT SUMMARY]' in message.content %}{{ message.content * 2 }}{% endif %}
{%- endfor %}
{%- for message in messages if message.role == 'user' and message.content is string %}{{ message.content }}{% endfor %}";

/// Whether the region could have taken one more group.
fn has_groups_left(fitter: &Fitter, line: &str) -> bool {
    let explained = pollster::block_on(fitter.explain(line.as_bytes())).unwrap();
    let region = explained.region.unwrap_or_default();
    region.start != explained.compressible.start || region.end < explained.compressible.end
}

#[test]
fn a_plan_that_was_too_hopeful_is_made_good_by_taking_more_turns() {
    let line = thinking_run(20);
    for target in (1200..1800).step_by(50) {
        let fitter = rendered_fitter(GROWING, settings(target, 100));
        let fitted = fit(&fitter, &line);
        assert_eq!(fitted.row.status, Status::Compressed, "{target}");
        assert!(!fitted.row.still_over_limit, "{target}: {}", fitted.row.reason);
        assert!(fitted.row.passes > 1 && !fitted.row.summary_starved, "{target}");
    }
    // No second pass: the reason says that there would have been groups to take.
    let once = FitSettings {
        max_passes: 1,
        ..settings(1500, 100)
    };
    let fitted = fit(&rendered_fitter(GROWING, once), &line);
    assert!(fitted.row.still_over_limit);
    assert_eq!(fitted.row.reason_text(), "passes_exhausted: 1 of 1");
}

#[test]
fn a_summary_with_less_room_than_its_target_is_starved_and_counted() {
    let line = thinking_run(20);
    let mut totals = Totals::default();
    let mut starved = 0;
    for target in (250..900).step_by(10) {
        let row = fit(&fitter(settings(target, 300)), &line).row;
        if row.summary_starved {
            starved += 1;
            assert!(row.summary_tokens < 300 && !row.still_over_limit, "{target}");
        }
        totals.add(&row);
    }
    assert!(starved > 5);
    assert_eq!(totals.sums.summary_starved, starved);
}

#[test]
fn protected_turns_hold_no_more_than_the_record_has() {
    let line = thinking_run(2);
    let fitted = fit(&rendered_fitter(GROWING, settings(100, 60)), &line);
    assert_eq!(fitted.row.reason, "protected_turns_exceed_budget");
    let detail = fitted.row.reason_detail;
    let tokens: u64 = detail.split(' ').next().unwrap_or_default().parse().unwrap();
    assert!(tokens <= fitted.row.original_tokens, "{detail}");
}

#[test]
fn a_summary_gets_the_room_back_that_a_longer_one_seemed_to_need() {
    let line = thinking_run(20);
    for target in (400..1600).step_by(50) {
        let settings = FitSettings {
            max_passes: 6,
            ..settings(target, 100)
        };
        let row = fit(&rendered_fitter(ECHOING, settings), &line).row;
        if row.summary_starved && !row.still_over_limit {
            // What it is charged here, thrice as a person's turn and once more, leaves no room for the target.
            let more = 4 * (100_u64.saturating_sub(row.summary_tokens));
            assert!(
                row.compressed_tokens + more + 40 > target as u64,
                "{target}: {row:?}"
            );
        }
    }
}

/// The budgets at which a record stays over with a summary that could still shrink, though another budget brought it below.
fn budgets_missed(fitter: impl Fn(usize) -> Fitter, line: &str, budgets: &[usize]) -> Vec<usize> {
    let rows: Vec<_> = budgets
        .iter()
        .map(|budget| fit(&fitter(*budget), line).row)
        .collect();
    let smallest = rows.iter().map(|row| row.compressed_tokens).min().unwrap();
    let missed = budgets.iter().zip(&rows).filter(|(budget, row)| {
        let budget = **budget as u64;
        // Room for fewer tokens than these is not worth a summary.
        let has_room = budget >= row.compressed_tokens - row.summary_tokens + 48;
        row.still_over_limit && row.summary_tokens > 60 && has_room && smallest <= budget
    });
    missed.map(|(budget, _)| *budget).collect()
}

#[test]
fn what_fits_into_a_budget_fits_into_a_larger_one() {
    let budgets: Vec<usize> = (250..1700).step_by(25).collect();
    for steps in [6, 13, 20] {
        let line = thinking_run(steps);
        for placement in [SummaryPlacement::Human, SummaryPlacement::Auto] {
            for template in [THINKING, NEIGHBOURS] {
                let fitter = |budget| {
                    let settings = FitSettings {
                        summary_placement: placement,
                        ..settings(budget, 150)
                    };
                    rendered_fitter(template, settings)
                };
                assert_eq!(
                    budgets_missed(fitter, &line, &budgets),
                    Vec::<usize>::new(),
                    "{steps} {placement:?}"
                );
            }
        }
        let by_values = |budget| fitter(settings(budget, 300));
        assert_eq!(
            budgets_missed(by_values, &line, &budgets),
            Vec::<usize>::new(),
            "{steps}"
        );
    }
}

#[test]
fn no_record_stays_over_for_a_summary_above_its_target() {
    for steps in [13, 20, 40] {
        let line = thinking_run(steps);
        for target in (600..3000).step_by(100) {
            let settings = FitSettings {
                summary_max_tokens: 400,
                ..settings(target, 100)
            };
            let row = fit(&rendered_fitter(GROWING, settings), &line).row;
            assert!(
                !row.still_over_limit || row.summary_tokens <= 130,
                "{target}: {row:?}"
            );
        }
    }
}

proptest! {
    #![proptest_config(crate::support::generate::config())]

    #[test]
    fn nothing_ends_over_the_budget_while_a_group_and_a_pass_are_left(
        made in made(),
        steps in 3..24_usize,
        is_run in any::<bool>(),
        target in 300..2500_usize,
        summary in 60..160_usize,
        max_passes in 1..6_usize,
        template in prop_oneof![Just(THINKING), Just(NEIGHBOURS), Just(GROWING), Just(ECHOING)],
        placement in prop_oneof![Just(SummaryPlacement::Human), Just(SummaryPlacement::Auto)],
    ) {
        let line = if is_run { thinking_run(steps) } else { made.line() };
        let settings = FitSettings { max_passes, summary_placement: placement, ..settings(target, summary) };
        let fitter = rendered_fitter(template, settings);
        let row = fit(&fitter, &line).row;
        let is_refused = row.reason.starts_with("template_refuses");
        if row.status == Status::Compressed && !is_refused {
            let has_groups_left = has_groups_left(&fitter, &line);
            let is_divided = row.reason.starts_with("region_divided");
            let costs_more = row.reason.starts_with("larger_region_costs_more");
            // Orders of roles may leave no place for the summary of more turns.
            let no_place = ["no_place_for_summary", "protected_turns_exceed_budget"];
            let has_no_place = no_place.iter().any(|reason| row.reason.starts_with(reason))
                && placement == SummaryPlacement::Auto;
            if row.still_over_limit && has_groups_left && !is_divided && !costs_more && !has_no_place {
                prop_assert!(row.reason.starts_with("passes_exhausted"), "{}", row.reason);
                prop_assert_eq!(row.passes, max_passes as u64, "{}", row.reason);
            }
            if row.reason.starts_with("region_exhausted") || (row.summary_starved && row.passes < max_passes as u64 && !row.region_moved && !has_no_place) {
                prop_assert!(!has_groups_left, "{}", row.reason);
            }
        }
        if row.status == Status::Kept && !is_refused && row.reason.starts_with("passes_exhausted") {
            prop_assert!(row.passes <= max_passes as u64);
        }
    }
}

#[test]
fn a_call_that_is_written_as_text_is_kept_with_its_answer_in_a_persons_role() {
    let bash = |number: usize| format!("Next, file {number}.\n```bash\ncat src/part_{number}.py\n```");
    let tagged = |number: usize| {
        format!(
            "<tool_call>\n{{\"name\": \"read\", \"arguments\": {{\"path\": \"part_{number}.py\"}}}}\n</tool_call>"
        )
    };
    let code = "def part(a):\n    return [a, a + 1, a * 2, a ** 3]\n".repeat(8);
    let returned = format!("<returncode>0</returncode>\n<output>\n{code}</output>");
    let responded = format!("<tool_response>\n{code}</tool_response>");
    let labelled = format!("Execution output: [code]\n{code}");
    let forms: [(&dyn Fn(usize) -> String, &str); 3] =
        [(&bash, &returned), (&tagged, &responded), (&bash, &labelled)];
    for (call, answer) in forms {
        let mut turns = vec![
            serde_json::json!({"role": "system", "content": "You mend code."}),
            serde_json::json!({"role": "user", "content": "Read all parts and say which one is slow."}),
        ];
        for number in 0..20 {
            turns.push(serde_json::json!({"role": "assistant", "content": call(number)}));
            turns.push(serde_json::json!({"role": "user", "content": answer}));
        }
        turns.push(serde_json::json!({"role": "assistant", "content": "Part 7 is slow."}));
        let line = serde_json::json!({"messages": turns}).to_string();
        let fitted = fit(&fitter(settings(1_600, 200)), &line);
        assert_eq!(
            (fitted.row.status, fitted.row.unanswered_calls),
            (Status::Compressed, 0)
        );
        let record: serde_json::Value = serde_json::from_str(fitted.text.as_deref().unwrap()).unwrap();
        let kept: Vec<(&str, &str)> = record["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|turn| (turn["role"].as_str().unwrap(), turn["content"].as_str().unwrap()))
            .collect();
        for pair in kept.windows(2) {
            let calls = pair[0].0 == "assistant";
            assert_eq!(calls, pair[1].1.starts_with(answer), "{pair:?}");
        }
    }
}

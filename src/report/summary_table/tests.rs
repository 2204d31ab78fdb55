//! The table of a busy run, an empty one and a dry one, as people see them.

use std::path::PathBuf;
use std::time::Duration;

use super::super::run_figures::{DryRunFigures, OverLimitFigures, Reasons, RequestFigures};
use super::*;

fn counts(reasons: &[(&str, u64)]) -> Reasons {
    reasons
        .iter()
        .map(|(reason, count)| ((*reason).to_owned(), *count))
        .collect()
}

fn busy_run() -> RunFigures {
    RunFigures {
        records: RecordFigures {
            under_target: 8_000,
            compressed: 4_210,
            placements: counts(&[("own", 110), ("tool-before", 4_100)]),
            kept: 30,
            kept_reasons: counts(&[("no_net_saving", 10), ("nothing_compressible", 20)]),
            rejected: 4,
            rejected_reasons: counts(&[("invalid_json", 3), ("no_trajectory", 1)]),
            failed: 1,
            failed_reasons: counts(&[("panic", 1)]),
        },
        tokens_before: 212_345_678,
        tokens_after: 98_765_432,
        is_rendered: false,
        uncounted_value_tokens: 0,
        target_max_tokens: 15_250,
        over_limit: OverLimitFigures {
            records: 41,
            reasons: counts(&[
                ("a", 1),
                ("protected_turns_exceed_budget", 30),
                ("b", 4),
                ("c", 6),
            ]),
        },
        both_counts: None,
        requests: RequestFigures::default(),
        degraded: 2,
        degraded_compressed: 2,
        summary_starved: 0,
        masked_turns: 0,
        records_with_faults: 0,
        faults: (0, 0),
        records_with_mended_shapes: 0,
        mended_shapes: 0,
        converted: 0,
        format_losses: (0, 0),
        anchors_needed: 9_500,
        anchors_held: 9_310,
        missing: 0,
        elapsed: Duration::from_millis(12_340),
        bytes_in: 850_000_000,
        files: [
            "out.jsonl",
            "out.metrics.csv",
            "out.summary.json",
            "out.rejects.jsonl",
        ]
        .map(PathBuf::from)
        .into(),
        dry_run: None,
    }
}

#[test]
fn a_busy_run_is_understood_at_a_glance() {
    insta::assert_snapshot!(summary_table(&busy_run()), @r"
    Records                 12,245
      under target           8,000   65.3 %
      compressed             4,210   34.4 %  placed tool-before 4,100, own 110
      kept                      30    0.2 %  nothing_compressible 20, no_net_saving 10
      rejected                   4   <0.1 %  invalid_json 3, no_trajectory 1
      failed                     1   <0.1 %  panic 1
    Tokens before      212,345,678
    Tokens after        98,765,432  -53.5 %
    Still over 15,250           41  protected_turns_exceed_budget 30, c 6, b 4, others 1
    Degraded                     2  compressed, but not as asked: see the metrics
    Anchors                  9,310  of 9,500 identifiers that later turns rely on are held (98.0 %)
    Time                      12 s  850.0 MB, 68.9 MB/s
    Written            out.jsonl
                       out.metrics.csv
                       out.summary.json
                       out.rejects.jsonl
    ");
}

#[test]
fn an_empty_run_says_so_and_divides_by_nothing() {
    let empty = RunFigures {
        target_max_tokens: 15_250,
        ..RunFigures::default()
    };
    insta::assert_snapshot!(summary_table(&empty), @r"
    Records                 0
    Tokens before           0
    Tokens after            0  unchanged
    Still over 15,250       0
    Degraded                0
    Time               0.00 s  0 bytes, 0.0 MB/s
    Written            no file
    ");
}

#[test]
fn a_dry_run_says_what_it_would_have_cost() {
    let dry_run = RunFigures {
        dry_run: Some(DryRunFigures {
            summaries: 4_210,
            tokens_to_read: 101_000_000,
            is_estimate: false,
        }),
        files: vec![PathBuf::from("out.metrics.csv")],
        ..busy_run()
    };
    insta::assert_snapshot!(summary_table(&dry_run), @r"
    Records                 12,245
      under target           8,000   65.3 %
      compressed             4,210   34.4 %  placed tool-before 4,100, own 110
      kept                      30    0.2 %  nothing_compressible 20, no_net_saving 10
      rejected                   4   <0.1 %  invalid_json 3, no_trajectory 1
      failed                     1   <0.1 %  panic 1
    Tokens before      212,345,678
    Tokens planned      98,765,432  -53.5 %
    Still over 15,250           41  protected_turns_exceed_budget 30, c 6, b 4, others 1
    Degraded                     2  compressed, but not as asked: see the metrics
    Anchors                  9,310  of 9,500 identifiers that later turns rely on are held (98.0 %)
    Time                      12 s  850.0 MB, 68.9 MB/s
    Summaries                4,210  would be written, reading 101,000,000 tokens
    Written (dry run)  out.metrics.csv
    ");
}

fn row_of(figures: &RunFigures, label: &str) -> String {
    let table = summary_table(figures);
    let row = table.lines().find(|line| line.starts_with(label));
    row.unwrap_or_default()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn figures_that_no_summarizer_was_asked_for_are_called_estimates() {
    let planned = |is_estimate| RunFigures {
        dry_run: Some(DryRunFigures {
            is_estimate,
            ..DryRunFigures::default()
        }),
        ..busy_run()
    };
    let estimate = planned(true);
    assert_eq!(
        row_of(&estimate, "Tokens planned"),
        "Tokens planned 98,765,432 -53.5 %, an estimate: each summary at its target size"
    );
    assert!(row_of(&estimate, "Still over").starts_with("Still over 15,250 41 an estimate protected_turns"));
    assert!(!summary_table(&planned(false)).contains("estimate"));
}

#[test]
fn what_was_not_compressed_is_not_called_compressed() {
    let degraded = |degraded, degraded_compressed| {
        let figures = RunFigures {
            degraded,
            degraded_compressed,
            ..busy_run()
        };
        row_of(&figures, "Degraded")
    };
    assert_eq!(
        degraded(3, 0),
        "Degraded 3 not compressed as asked, but left as they were: see the metrics"
    );
    assert_eq!(
        degraded(1_003, 3),
        "Degraded 1,003 3 compressed, but not as asked; 1,000 left as they were: see the metrics"
    );
}

#[test]
fn each_row_of_tokens_names_its_count() {
    let both = |is_rendered| RunFigures {
        is_rendered,
        tokens_before: if is_rendered { 1_210 } else { 1_000 },
        tokens_after: if is_rendered { 605 } else { 500 },
        uncounted_value_tokens: if is_rendered { 77 } else { 0 },
        both_counts: Some(BothCounts {
            records: 3,
            refused: 2,
            original_value_tokens: 1_000,
            original_rendered_tokens: 1_210,
            compressed_value_tokens: 500,
            compressed_rendered_tokens: 605,
            records_with_changed_turns: 0,
        }),
        ..RunFigures::default()
    };
    let tokens = |figures: &RunFigures| {
        let labels = [
            "Rendered before",
            "Rendered after",
            "Values before",
            "Values after",
        ];
        labels.map(|label| row_of(figures, label))
    };
    assert_eq!(
        tokens(&both(true)),
        [
            "Rendered before 1,210",
            "Rendered after 605 -50.0 %",
            "Values before 1,000 -17.4 % against 1,210 rendered",
            "Values after 500 -17.4 % against 605 rendered",
        ]
    );
    assert_eq!(
        tokens(&both(false)),
        [
            "Rendered before 1,210 +21.0 % against 1,000 by values",
            "Rendered after 605 +21.0 % against 500 by values",
            "Values before 1,000",
            "Values after 500 -50.0 %",
        ]
    );
    assert!(
        row_of(&both(true), "Template refuses").contains("2 records of 77 tokens by values, in no other sum")
    );
    let planned = RunFigures {
        dry_run: Some(DryRunFigures::default()),
        ..both(true)
    };
    assert!(!summary_table(&planned).contains("after"));
}

#[test]
fn starved_summaries_are_counted() {
    let starved = RunFigures {
        summary_starved: 7,
        ..busy_run()
    };
    assert!(row_of(&starved, "Starved").starts_with("Starved 7 summaries had less room"));
    assert!(!summary_table(&busy_run()).contains("Starved"));
}

#[test]
fn the_table_never_grows_beyond_a_screen() {
    let files = (0..500)
        .map(|index| PathBuf::from(format!("out/{index}.jsonl")))
        .collect();
    let dry_run = Some(DryRunFigures::default());
    let table = summary_table(&RunFigures {
        files,
        dry_run,
        ..busy_run()
    });
    assert!(table.lines().count() <= 25, "{table}");
    assert!(table.ends_with("and 492 more\n"));
}

#[test]
fn what_is_missing_is_told_with_what_to_do() {
    let waiting = RunFigures {
        missing: 1_012,
        ..RunFigures::default()
    };
    let table = summary_table(&waiting);
    assert!(table.contains("1,012  answers: have the requests"), "{table}");
    assert!(!summary_table(&RunFigures::default()).contains("Missing"));
}

#[test]
fn requests_are_told_where_there_were_some() {
    let requests = RequestFigures {
        sent: 1200,
        failed: 3,
        cached: 20,
        prompt_tokens: 9_000_000,
        completion_tokens: 800_000,
        cost: Some(12.345),
    };
    let row = |dry_run| {
        let figures = RunFigures {
            requests,
            dry_run,
            ..busy_run()
        };
        let table = summary_table(&figures);
        let row = table.lines().find(|line| line.starts_with("Requests")).unwrap();
        row.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        row(None),
        "Requests 1,200 read 9,000,000 tokens and wrote 800,000 for $12.35; 3 failed; 20 summaries were known"
    );
    assert!(
        row(Some(DryRunFigures::default()))
            .contains("would read 9,000,000 tokens and write about 800,000 for about $")
    );
    assert!(!summary_table(&busy_run()).contains("Requests"));
}

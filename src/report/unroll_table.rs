//! The text that ends a run of `trajfit unroll`.

use std::path::PathBuf;
use std::time::Duration;

use super::figures::{percent, thousands};
use super::run_figures::Reasons;
use super::table::{Table, reasons};
use crate::metrics::UnrollSums;

/// The result of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UnrollFigures {
    /// Sums over the records.
    pub sums: UnrollSums,
    /// Trajectories that stayed as they were, over the budget, with reasons.
    pub kept: (u64, Reasons),
    /// Trajectories in the rejects file, with reasons.
    pub rejected: (u64, Reasons),
    /// Trajectories that the program failed on, with reasons.
    pub failed: (u64, Reasons),
    /// The budget, in tokens.
    pub target_max_tokens: u64,
    /// Records over it, with reasons.
    pub over_limit: (u64, Reasons),
    /// Records whose result is not what was asked for.
    pub degraded: u64,
    /// Identifiers that the kept turns of compacted contexts rely on, and those of them that summaries hold.
    pub anchors: (u64, u64),
    /// Requests to a model or program, tokens read and written, and their cost in US dollars.
    pub requests: (u64, u64, u64, Option<f64>),
    /// The cost of the agents' calls, in US dollars, if prices are known.
    pub agent_cost: Option<f64>,
    /// Wall time.
    pub elapsed: Duration,
    /// Bytes of input, decompressed.
    pub bytes_in: u64,
    /// Files written.
    pub files: Vec<PathBuf>,
    /// True if no data was written.
    pub dry_run: bool,
}

/// The table, a newline after each row.
pub fn unroll_table(figures: &UnrollFigures) -> String {
    let mut table = Table::default();
    trajectories(&mut table, figures);
    let sums = &figures.sums;
    let most = format!("at most {} of one trajectory", thousands(sums.most_segments));
    table.row("Records", &thousands(sums.segments), &most);
    table.row("Compactions", &thousands(sums.compactions), "");
    if sums.summary_records > 0 {
        table.row(
            "Summaries",
            &thousands(sums.summary_records),
            "records more, each teaches one",
        );
    }
    table.row("Tokens before", &thousands(sums.trajectory_tokens), "");
    let times = sums.context_tokens as f64 / sums.trajectory_tokens.max(1) as f64;
    table.row(
        "Tokens after",
        &thousands(sums.context_tokens),
        &format!("{times:.2} times as many"),
    );
    let trained = format!(
        "tokens of {} assistant turns, {} of all",
        thousands(sums.trained_turns),
        percent(sums.trained_tokens, sums.assistant_tokens)
    );
    table.row("Trained", &thousands(sums.trained_tokens), &trained);
    let cost = figures
        .agent_cost
        .map_or(String::new(), |cost| format!(", for ${cost:.2}"));
    let calls = format!(
        "calls would have sent {} tokens, {} of them cached{cost}",
        thousands(sums.agent_prompt_tokens),
        percent(sums.agent_cached_tokens, sums.agent_prompt_tokens)
    );
    table.row("Agent", &thousands(sums.agent_calls), &calls);
    let (over, why) = &figures.over_limit;
    let label = format!("Still over {}", thousands(figures.target_max_tokens));
    table.row(&label, &thousands(*over), &reasons(why));
    let note = if figures.degraded > 0 {
        "not as asked: see the metrics"
    } else {
        ""
    };
    table.row("Degraded", &thousands(figures.degraded), note);
    let (needed, held) = figures.anchors;
    table.anchors(held, needed, "the kept");
    let (sent, read, written, cost) = figures.requests;
    if sent > 0 {
        let cost = cost.map_or(String::new(), |cost| format!(" for ${cost:.2}"));
        let note = format!(
            "read {} tokens and wrote {}{cost}",
            thousands(read),
            thousands(written)
        );
        table.row("Requests", &thousands(sent), &note);
    }
    table.time(figures.elapsed, figures.bytes_in);
    let label = if figures.dry_run {
        "Written (dry run)"
    } else {
        "Written"
    };
    table.files(label, &figures.files);
    table.text()
}

fn trajectories(table: &mut Table, figures: &UnrollFigures) {
    let sums = &figures.sums;
    let others = [
        ("kept", &figures.kept),
        ("rejected", &figures.rejected),
        ("failed", &figures.failed),
    ];
    let total = sums.trajectories + figures.rejected.0;
    let left: u64 = figures.kept.0 + figures.failed.0;
    let fits = sums
        .trajectories
        .saturating_sub(sums.unrolled_trajectories + left);
    table.row("Trajectories", &thousands(total), "");
    let mut row = |label: &str, count: u64, why: &str| {
        if count > 0 {
            let note = format!("{:>7}  {why}", percent(count, total));
            table.row(&format!("  {label}"), &thousands(count), &note);
        }
    };
    row("one record", fits, "");
    row("unrolled", sums.unrolled_trajectories, "");
    for (label, (count, why)) in others {
        row(label, *count, &reasons(why));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_told_in_a_few_lines() {
        let figures = UnrollFigures {
            sums: UnrollSums {
                trajectories: 3,
                unrolled_trajectories: 1,
                segments: 5,
                compactions: 2,
                summary_records: 0,
                most_segments: 3,
                trajectory_tokens: 1000,
                context_tokens: 1500,
                assistant_tokens: 300,
                trained_tokens: 300,
                trained_turns: 12,
                agent_calls: 12,
                agent_prompt_tokens: 9000,
                agent_cached_tokens: 6000,
            },
            kept: (1, vec![("group_exceeds_budget".to_owned(), 1)]),
            target_max_tokens: 500,
            over_limit: (1, vec![("group_exceeds_budget".to_owned(), 1)]),
            anchors: (4, 4),
            files: vec![PathBuf::from("out.jsonl")],
            ..UnrollFigures::default()
        };
        let expected = "\
Trajectories         3
  one record         1   33.3 %
  unrolled           1   33.3 %
  kept               1   33.3 %  group_exceeds_budget 1
Records              5  at most 3 of one trajectory
Compactions          2
Tokens before    1,000
Tokens after     1,500  1.50 times as many
Trained            300  tokens of 12 assistant turns, 100.0 % of all
Agent               12  calls would have sent 9,000 tokens, 66.7 % of them cached
Still over 500       1  group_exceeds_budget 1
Degraded             0
Anchors              4  of 4 identifiers that the kept turns rely on are held (100.0 %)
Time            0.00 s  0 bytes, 0.0 MB/s
Written         out.jsonl
";
        assert_eq!(unroll_table(&figures), expected);
    }
}

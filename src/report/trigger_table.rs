//! The table of `trajfit unroll --dry-run` with several triggers.

use super::figures::{percent, thousands};
use super::table::columns;
use crate::metrics::UnrollSums;

/// The figures of one trigger.
#[derive(Debug, Clone, PartialEq)]
pub struct TriggerFigures {
    /// The trigger, as a part of the budget.
    pub trigger: f64,
    /// Sums over the records.
    pub sums: UnrollSums,
    /// Records over the budget.
    pub over_limit: u64,
    /// The cost of the agents' calls, in US dollars, if prices are known.
    pub cost: Option<f64>,
}

/// The table, a row for each trigger.
pub fn trigger_table(figures: &[TriggerFigures]) -> String {
    let has_cost = figures.iter().any(|figures| figures.cost.is_some());
    let mut head = vec![
        "trigger",
        "records",
        "compactions",
        "tokens",
        "over the budget",
        "calls",
        "tokens sent",
        "cached",
    ];
    head.extend(has_cost.then_some("cost"));
    let mut rows = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for TriggerFigures {
        trigger,
        sums,
        over_limit,
        cost,
    } in figures
    {
        let mut row = vec![
            trigger.to_string(),
            thousands(sums.segments),
            thousands(sums.compactions),
            thousands(sums.context_tokens),
            thousands(*over_limit),
            thousands(sums.agent_calls),
            thousands(sums.agent_prompt_tokens),
            percent(sums.agent_cached_tokens, sums.agent_prompt_tokens),
        ];
        row.extend(cost.map(|cost| format!("${cost:.2}")));
        rows.push(row);
    }
    columns(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_trigger_is_a_row() {
        let figures = |trigger, cost| TriggerFigures {
            trigger,
            sums: UnrollSums {
                segments: 12,
                compactions: 4,
                context_tokens: 9000,
                agent_calls: 30,
                agent_prompt_tokens: 90_000,
                agent_cached_tokens: 45_000,
                ..UnrollSums::default()
            },
            over_limit: 1,
            cost,
        };
        let text = trigger_table(&[figures(0.5, Some(1.5)), figures(1.0, Some(2.0))]);
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(
            lines[0].starts_with("trigger") && lines[0].ends_with("cost"),
            "{text}"
        );
        assert!(
            lines[1].contains("90,000") && lines[1].ends_with("$1.50"),
            "{text}"
        );
        assert!(!trigger_table(&[figures(0.5, None)]).contains("cost"));
    }
}

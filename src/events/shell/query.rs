//! Queries of SQL in few characters: what they ask of which table under which condition, and not their first columns only.

use crate::events::line::shortened;

/// The clauses that say what a result is of, in order; those behind them only sort it or cut it off.
const CLAUSES: [&str; 4] = [" from ", " where ", " group by ", " having "];

/// Clauses that end what is told: those of another query behind it are none of its own.
const ENDS: [&str; 5] = [" order by ", " limit ", " union ", " except ", " intersect "];

/// If a text is a query.
pub(crate) fn is_query(text: &str) -> bool {
    let mut words = text.split_ascii_whitespace();
    let first = words.next().unwrap_or_default();
    ["select", "with"]
        .iter()
        .any(|word| first.eq_ignore_ascii_case(word))
        && words.next().is_some()
}

/// A query in at most about `most` characters: each of its clauses has its share of them.
pub(crate) fn condensed(query: &str, most: usize) -> Option<String> {
    if !is_query(query) || query.len() <= most {
        return None;
    }
    let mut starts: Vec<usize> = Vec::new();
    let mut end = query.len();
    let mut clauses = CLAUSES.iter();
    for at in outer_blanks(query) {
        let starts_with = |clause: &str| {
            let found = query.as_bytes().get(at..at + clause.len());
            found.is_some_and(|found| found.eq_ignore_ascii_case(clause.as_bytes()))
        };
        if !starts.is_empty() && ENDS.iter().any(|clause| starts_with(clause)) {
            end = at;
            break;
        }
        let mut rest = clauses.clone();
        if rest.any(|clause| starts_with(clause)) {
            clauses = rest;
            starts.push(at);
        }
    }
    if starts.is_empty() {
        return None;
    }
    let ends = starts.iter().copied().skip(1).chain([end]);
    let head = query.get(..*starts.first()?)?;
    let clauses = starts
        .iter()
        .zip(ends)
        .filter_map(|(start, end)| query.get(start + 1..end));
    let mut left = most;
    let mut count = starts.len() + 1;
    let mut told: Vec<String> = Vec::with_capacity(count);
    for clause in [head].into_iter().chain(clauses) {
        let share = left / count.max(1);
        let short = shortened(clause, share)?;
        left = left.saturating_sub(short.chars().count() + 1);
        count -= 1;
        told.push(short.into_owned());
    }
    Some(told.join(" "))
}

/// The places of the blanks that stand in no quotation and no parentheses.
fn outer_blanks(query: &str) -> impl Iterator<Item = usize> {
    let (mut quote, mut depth) = (None, 0usize);
    query.bytes().enumerate().filter_map(move |(at, byte)| {
        match (quote, byte) {
            (Some(open), _) => quote = quote.filter(|_| open != byte),
            (None, b'\'' | b'"' | b'`') => quote = Some(byte),
            (None, b'(') => depth += 1,
            (None, b')') => depth = depth.saturating_sub(1),
            (None, b' ') if depth == 0 => return Some(at),
            _ => {}
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_query_keeps_its_tables_and_conditions() {
        for (query, most, expected) in [
            (
                "SELECT p.category, ROUND(SUM(oi.qty * oi.unit_price), 2) AS net, ROUND(AVG(oi.discount), 1) FROM order_items oi \
                 JOIN orders o ON o.id = oi.order_id WHERE o.status = 'completed from 2024' GROUP BY 1 ORDER BY net DESC LIMIT 5",
                100,
                Some("SELECT p.category … FROM order_items oi JOIN … WHERE o.status = … GROUP BY 1"),
            ),
            ("select a from b", 100, None),
            (
                "Selected rows of a table from last year, where each of them is one of a customer",
                20,
                None,
            ),
        ] {
            assert_eq!(condensed(query, most).as_deref(), expected, "{query}");
        }
        let open = format!("SELECT {} x FROM y", "(".repeat(5_000));
        assert_eq!(condensed(&open, 60), None);
    }
}

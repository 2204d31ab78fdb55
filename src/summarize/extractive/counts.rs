//! What the counts of a test run come to.

/// Whether counts tell of tests that failed: `2 failed` and `FAILED (errors=1)`, but not `0 failed` or `1 xfailed`.
pub(super) fn tells_failures(counts: &str) -> bool {
    let mut words = counts
        .split([' ', ',', ';', '=', ':'])
        .filter(|word| !word.is_empty());
    let mut before = "";
    words.any(|word| {
        let number = std::mem::replace(&mut before, word);
        let number = number.parse::<u32>();
        match word {
            "FAILED" | "failed" => number != Ok(0),
            "error" | "errors" => number.is_ok_and(|number| number > 0),
            _ => false,
        }
    })
}

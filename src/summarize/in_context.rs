//! The request for a summary as an agent gets it at the end of its own context, where the turns to be summarized stand already.

use std::sync::LazyLock;

/// The instructions that language models get, of which those about the text hold here as well.
const TEMPLATE: &str = include_str!("../../assets/prompts/summary.jinja");

/// The texts before and after these in that template.
const RULES: [&str; 2] = ["What to write\n", "\n{% if"];

const OPENING: &str = "The context is nearly full. Write the record of the work so far. It will stand in place of the turns \
    between the opening ones and the last ones; whoever goes on has nothing of those turns but your text. An earlier summary \
    among them is replaced by yours: keep what still holds of it, correct what has changed.";

const CLOSING: &str = "Write the summary now. Call no tool.";

/// Returns the text of the request.
pub fn request() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let [before, after] = RULES;
        let rules = TEMPLATE.split_once(before).map_or("", |(_, rest)| rest);
        let rules = rules.split_once(after).map_or(rules, |(rules, _)| rules);
        format!("{OPENING}\n\n{before}{rules}\n\n{CLOSING}")
    });
    &TEXT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_are_those_of_the_prompt() {
        let text = request();
        assert!(
            text.contains("What to write\n- Only what the turns say."),
            "{text}"
        );
        assert!(
            text.contains("no code fence around the whole.\n\nWrite the summary now."),
            "{text}"
        );
        assert!(!text.contains("{%") && !text.contains("<turns>"));
    }
}

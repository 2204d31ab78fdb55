//! Summaries of the right length: the tokens to ask for, and the cut where an answer is too long.

use crate::compress::anchors::{Anchor, held_mask};
use crate::summarize::SummaryRequest;
use crate::summarize::grounding::References;
use crate::summarize::marker::SUMMARY_MARKER;
use crate::tokens::TokenCounter;

/// Divisor of a summary's tokens that gives the room for the prompt's list of identifiers to keep.
const KEEP: usize = 2;

/// Divisor of a summary's tokens that gives the room for references to lost identifiers.
const REFERENCES: usize = 4;

/// The smallest answer worth asking for, in tokens.
const SMALLEST: usize = 16;

/// The limit of a summary, in tokens of the user's tokenizer.
#[derive(Clone, Copy)]
pub struct Limit<'a> {
    /// Tokens of the whole summary, with its marker and references.
    pub tokens: usize,
    /// The anchors that it must name.
    pub anchors: &'a [Anchor],
    /// The user's tokenizer.
    pub counter: &'a dyn TokenCounter,
}

impl<'a> Limit<'a> {
    /// The limit of a request.
    pub fn of(request: &SummaryRequest<'a>) -> Self {
        Self {
            tokens: request.target_tokens.min(request.max_tokens),
            anchors: request.anchors,
            counter: request.counter,
        }
    }

    /// The identifiers to be kept, most used first, as far as a summary has room for them.
    pub fn keep(&self) -> Vec<&'a str> {
        let mut room = self.tokens / KEEP;
        let anchors = self.anchors.iter().map(|anchor| anchor.text.as_str());
        anchors
            .take_while(|text| {
                let cost = self.counter.count(text) + 1;
                let fits = cost <= room;
                room = room.saturating_sub(cost);
                fits
            })
            .filter(|text| !text.contains(['\n', '\r']))
            .collect()
    }

    /// The tokens to ask for: a little less than there may be, since models count badly.
    pub fn ask_first(&self) -> usize {
        let marker = self.counter.count(SUMMARY_MARKER) + 1;
        let room = self.tokens.saturating_sub(marker);
        (room - room / 10).max(SMALLEST)
    }

    /// The tokens to ask for after an answer to `asked` tokens had `got`.
    pub fn ask_next(&self, asked: usize, got: usize) -> usize {
        let scaled = asked * self.tokens / got.max(1);
        (scaled - scaled / 10).min(asked * 3 / 4).max(SMALLEST)
    }

    /// Tokens of a text.
    pub fn cost(&self, text: &str) -> usize {
        self.counter.count(text)
    }

    /// Returns true if a text with its marker is within the limit.
    pub fn holds(&self, text: &str) -> bool {
        self.cost(text) <= self.tokens
    }

    /// `text` cut at a line end so that it fits together with references to the anchors that it does not name.
    pub fn cut(&self, text: String) -> String {
        let most = self.tokens / REFERENCES;
        let references = References::new(self.anchors, self.counter);
        let needed = |text: &str| references.room(&held_mask(self.anchors, text), most);
        if self.cost(&text) + needed(&text) <= self.tokens {
            return text;
        }
        let cut = self.prefix(&text, self.tokens);
        self.prefix(cut, self.tokens.saturating_sub(needed(cut)))
            .to_owned()
    }

    /// `text` cut at a line end so that it is within the limit, references or not.
    pub fn cut_plainly<'t>(&self, text: &'t str) -> &'t str {
        self.prefix(text, self.tokens)
    }

    /// The longest beginning of whole lines of at most `tokens`; of whole words where the first line is too long.
    fn prefix<'t>(&self, text: &'t str, tokens: usize) -> &'t str {
        let fits = |end: &usize| {
            let part = text.get(..*end).unwrap_or_default();
            self.counter.count(part.trim_end()) <= tokens
        };
        let ends = |separator: fn(char) -> bool| -> Vec<usize> {
            let ends = text.match_indices(separator).map(|(at, _)| at);
            ends.chain([text.len()]).collect()
        };
        let longest = |ends: &[usize]| {
            ends.partition_point(fits)
                .checked_sub(1)
                .and_then(|at| ends.get(at).copied())
        };
        let body = SUMMARY_MARKER.len() + 1;
        let end = longest(&ends(|c| c == '\n'))
            .filter(|end| *end > body)
            .or_else(|| longest(&ends(char::is_whitespace)))
            .filter(|end| *end > body)
            .or_else(|| {
                let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
                longest(&ends)
            });
        text.get(..end.unwrap_or(0)).unwrap_or_default().trim_end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarize::marker::with_marker;
    use crate::tokens;

    fn anchors(texts: &[&str]) -> Vec<Anchor> {
        let anchor = |text: &&str| Anchor::new(*text, 1);
        texts.iter().map(anchor).collect()
    }

    #[test]
    fn what_is_too_long_ends_at_a_line_with_room_for_what_it_does_not_name() {
        let counter = tokens::load("o200k_base").unwrap();
        let steps = (0..60).map(|n| format!("Step {n} was done with tool_{n}.\n"));
        let text = with_marker(&steps.collect::<Vec<_>>().concat());
        let names = anchors(&["src/lost/one.rs", "src/lost/two.rs"]);
        let limit = Limit {
            tokens: 120,
            anchors: &names,
            counter: counter.as_ref(),
        };
        let cut = limit.cut(text.clone());
        assert!(text.starts_with(&cut) && cut.ends_with('.'), "{cut}");
        let room = References::new(&names, counter.as_ref()).room(&held_mask(&names, &cut), 30);
        assert!(room > 0 && limit.cost(&cut) + room <= 120 && limit.cost(&cut) > 70);
        let short = with_marker("Done with src/lost/one.rs and src/lost/two.rs.");
        assert_eq!(limit.cut(short.clone()), short);
    }

    #[test]
    fn a_single_long_line_is_cut_between_words_and_endless_words_anywhere() {
        let counter = tokens::load("o200k_base").unwrap();
        let limit = Limit {
            tokens: 40,
            anchors: &[],
            counter: counter.as_ref(),
        };
        let cut = limit.cut(with_marker(&"several words in a row ".repeat(50)));
        assert!(limit.holds(&cut) && limit.cost(&cut) > 30, "{cut}");
        assert!(limit.holds(&limit.cut(with_marker(&"é".repeat(500)))));
    }

    #[test]
    fn less_is_asked_for_the_second_time() {
        let counter = tokens::load("o200k_base").unwrap();
        let limit = Limit {
            tokens: 750,
            anchors: &[],
            counter: counter.as_ref(),
        };
        let first = limit.ask_first();
        assert!((600..750).contains(&first));
        assert!(limit.ask_next(first, 1500) < first / 2);
        assert!(limit.ask_next(first, 760) < first);
    }
}

//! What may stand in a region's place: our summaries, and what one would write without any.

use std::fmt::Write;

use rustc_hash::FxHashSet;
use trajfit::internals::compress::anchors::{dangling, identifiers};
use trajfit::internals::compress::reuse::Reuse;
use trajfit::internals::summarize::extractive::{Extractive, asks_for_something};
use trajfit::internals::summarize::grounding::ground;
use trajfit::internals::summarize::marker::with_marker;
use trajfit::internals::summarize::mask::masks;
use trajfit::internals::summarize::named_files::add_files;
use trajfit::internals::summarize::{Around, Context, Stretch, Summarizer, SummaryRequest};
use trajfit::internals::tokens::TokenCounter;
use trajfit::internals::trajectory::{Role, TurnView, Turns};

use crate::data::{call_text, turn_text};
use crate::windows::Window;

/// A way to fill so many tokens.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Candidate {
    Grounded,
    Ungrounded,
    HalfGrounded,
    HalfUngrounded,
    FirstTokens,
    LastTokens,
    FirstLines,
    RandomLines,
    Identifiers,
    NewestCalls,
    NewestAssistant,
    Masks,
}

impl Candidate {
    pub const ALL: [Self; 12] = [
        Self::Grounded,
        Self::Ungrounded,
        Self::HalfGrounded,
        Self::HalfUngrounded,
        Self::FirstTokens,
        Self::LastTokens,
        Self::FirstLines,
        Self::RandomLines,
        Self::Identifiers,
        Self::NewestCalls,
        Self::NewestAssistant,
        Self::Masks,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Grounded => "**summary**",
            Self::Ungrounded => "**summary, no grounding**",
            Self::HalfGrounded => "half summary, half newest assistant turns",
            Self::HalfUngrounded => "the same, no grounding",
            Self::FirstTokens => "first tokens",
            Self::LastTokens => "last tokens",
            Self::FirstLines => "first line of each turn, newest first",
            Self::RandomLines => "random lines",
            Self::Identifiers => "identifiers alone",
            Self::NewestCalls => "newest calls",
            Self::NewestAssistant => "newest assistant turns",
            Self::Masks => "newest part, outputs masked",
        }
    }

    /// For the heads of narrow columns.
    pub fn short_name(self) -> &'static str {
        match self {
            Self::Grounded => "summary",
            Self::Ungrounded => "no gr.",
            Self::HalfGrounded => "half",
            Self::HalfUngrounded => "half no gr.",
            Self::FirstTokens => "first",
            Self::LastTokens => "last",
            Self::FirstLines => "lines",
            Self::RandomLines => "random",
            Self::Identifiers => "ids",
            Self::NewestCalls => "calls",
            Self::NewestAssistant => "assistant",
            Self::Masks => "masks",
        }
    }

    /// Whether it needs nothing of ours that chooses what matters.
    pub fn is_naive(self) -> bool {
        !matches!(
            self,
            Self::Grounded | Self::Ungrounded | Self::HalfGrounded | Self::HalfUngrounded
        )
    }

    /// The text that stands in the region's place; at most so many tokens.
    pub fn text(self, window: &Window<'_>, tokens: usize, counter: &dyn TokenCounter) -> String {
        let region = window.region();
        let whole = || -> String { region.iter().map(turn_text).collect() };
        match self {
            Self::Grounded => summary(window, true, tokens, counter),
            Self::Ungrounded => summary(window, false, tokens, counter),
            Self::HalfGrounded | Self::HalfUngrounded => {
                let first = summary(window, self == Self::HalfGrounded, tokens / 2, counter);
                let left = tokens.saturating_sub(counter.count(&first));
                format!("{first}{}", end_of(&of_assistant(region), left, counter))
            }
            Self::FirstTokens => start_of(whole().trim_start(), tokens, counter).to_owned(),
            Self::LastTokens => end_of(&whole(), tokens, counter).to_owned(),
            Self::FirstLines => {
                let texts: Vec<String> = region.iter().map(turn_text).collect();
                let first_line =
                    |text: &String| text.trim_start().lines().take(2).collect::<Vec<_>>().join(" ");
                let lines: Vec<String> = texts.iter().map(first_line).collect();
                let newest_first: Vec<usize> = (0..lines.len()).rev().collect();
                chosen(&lines, &newest_first, tokens, counter)
            }
            Self::RandomLines => {
                let whole = whole();
                let lines = whole.lines().filter(|line| !line.trim().is_empty());
                let lines: Vec<String> = lines.map(str::to_owned).collect();
                let mut order: Vec<usize> = (0..lines.len()).collect();
                shuffle(&mut order, (window.place * 10_007 + window.end) as u64);
                chosen(&lines, &order, tokens, counter)
            }
            Self::Identifiers => {
                let mut seen = FxHashSet::default();
                let mut found: Vec<String> = Vec::new();
                identifiers(&whole(), |identifier| found.push(identifier.to_owned()));
                found.reverse();
                found.retain(|identifier| seen.insert(identifier.clone()));
                let newest_first: Vec<usize> = (0..found.len()).collect();
                chosen(&found, &newest_first, tokens, counter)
            }
            Self::NewestCalls => {
                let calls = region.iter().flat_map(|turn| &turn.calls);
                let calls: String = calls.map(|call| format!("\n{}", call_text(call))).collect();
                end_of(&calls, tokens, counter).to_owned()
            }
            Self::NewestAssistant => end_of(&of_assistant(region), tokens, counter).to_owned(),
            Self::Masks => {
                let masked: String = masked(window).iter().map(turn_text).collect();
                end_of(&masked, tokens, counter).to_owned()
            }
        }
    }
}

fn of_assistant(region: &[TurnView<'_>]) -> String {
    let turns = region.iter().filter(|turn| turn.role == Role::Assistant);
    turns.map(turn_text).collect()
}

/// Our summary of the region, as `fit` asks for it and writes it.
fn summary(window: &Window<'_>, grounding: bool, tokens: usize, counter: &dyn TokenCounter) -> String {
    let (head, region, tail) = (window.head(), window.region(), window.tail());
    let mut anchors = if grounding {
        dangling(head, region, tail)
    } else {
        Vec::new()
    };
    let mut context = Context::of(&window.record.turns[..window.end]);
    context.before = head.last();
    let turns = Stretch::within(context, region);
    add_files(&mut anchors, &turns, Turns::Kept(tail));
    let asked = |turn: &TurnView<'static>| {
        (turn.role == Role::Human && asks_for_something(&turn.text)).then(|| turn.text.to_string())
    };
    let goes_on = tail.first().is_some_and(|turn| turn.role == Role::Assistant);
    let at_work = region
        .last()
        .is_some_and(|turn| matches!(turn.role, Role::Tool | Role::Assistant));
    let in_progress = region.iter().rev().find_map(asked).filter(|_| goes_on && at_work);
    let task = head.iter().find_map(asked);
    let asked_later = tail.iter().find_map(asked);
    let request = SummaryRequest {
        turns: &turns,
        is_redacted: false,
        previous: None,
        in_progress: in_progress.as_deref(),
        around: Around {
            task: task.as_deref(),
            asked_later: asked_later.as_deref(),
        },
        files_follow: false,
        anchors: &anchors,
        reuse: &Reuse::of(Turns::Kept(head), grounding.then_some(Turns::Kept(tail))),
        max_tokens: tokens,
        target_tokens: tokens,
        counter,
    };
    let summary = pollster::block_on(Extractive { redaction: true }.summarize(request));
    let text = summary
        .map(|summary| with_marker(&summary.text))
        .unwrap_or_default();
    ground(text, &anchors, tokens, counter).0
}

/// The region with every long output masked.
fn masked(window: &Window<'_>) -> Vec<TurnView<'static>> {
    let mut region = window.region().to_vec();
    for mask in masks(window.region(), &window.record.turns[..window.end], |_| {
        Vec::new()
    }) {
        let turn = region.iter_mut().find(|turn| turn.index == mask.turn);
        if let Some(response) = turn.and_then(|turn| turn.responses.get_mut(mask.response)) {
            response.content = mask.text.into();
        }
    }
    region
}

/// As many of the lines as there is room for, taken in `order`, written in theirs.
fn chosen(lines: &[String], order: &[usize], tokens: usize, counter: &dyn TokenCounter) -> String {
    let mut left = tokens;
    let mut taken = Vec::new();
    for place in order {
        let cost = counter.count(&lines[*place]) + 1;
        if cost <= left {
            left -= cost;
            taken.push(*place);
        }
        if left < 4 {
            break;
        }
    }
    taken.sort_unstable();
    let mut text = String::new();
    for place in taken {
        let _ = writeln!(text, "{}", lines[place]);
    }
    text
}

/// Puts places in an order that only the seed decides.
fn shuffle(places: &mut [usize], seed: u64) {
    let mut random = Random(seed);
    for last in (1..places.len()).rev() {
        places.swap(last, random.below(last + 1));
    }
}

/// Numbers that look random: the same for the same seed.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ mixed >> 31) % bound as u64) as usize
    }
}

/// The longest start of a text that costs at most so many tokens.
fn start_of<'t>(text: &'t str, tokens: usize, counter: &dyn TokenCounter) -> &'t str {
    let end = fitting(text.len(), |length| {
        counter.count(&text[..text.floor_char_boundary(length)]) <= tokens
    });
    &text[..text.floor_char_boundary(end)]
}

/// The longest end of a text that costs at most so many tokens.
fn end_of<'t>(text: &'t str, tokens: usize, counter: &dyn TokenCounter) -> &'t str {
    let start_for = |length: usize| text.ceil_char_boundary(text.len() - length);
    let length = fitting(text.len(), |length| {
        counter.count(&text[start_for(length)..]) <= tokens
    });
    &text[start_for(length)..]
}

/// The largest length that fits, found by doubling and halving.
fn fitting(most: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut below, mut above) = (0, 512);
    while above < most && fits(above) {
        below = above;
        above *= 2;
    }
    above = above.min(most);
    if fits(above) {
        return above;
    }
    while above - below > 1 {
        let middle = usize::midpoint(below, above);
        if fits(middle) {
            below = middle;
        } else {
            above = middle;
        }
    }
    below
}

//! Identifiers that only tool outputs contain before assistant turns use them: a mask must name them.

use rustc_hash::FxHashSet;

use super::{Anchor, Matcher, used};
use crate::trajectory::Turns;

/// A tool output that may be removed.
#[derive(Debug, Clone, Copy)]
pub struct ToolOutput<'t> {
    /// The index of the tool turn.
    pub turn: usize,
    /// The index among the turn's responses.
    pub response: usize,
    /// The text, without secrets.
    pub text: &'t str,
}

/// Returns for each of `outputs`, in order, the identifiers that would dangle without it, most used first: assistant
/// turns use them, and before that only this output, or earlier ones of `outputs`, contain them.
pub fn anchors_of_outputs<'v>(turns: impl Into<Turns<'v>>, outputs: &[ToolOutput<'_>]) -> Vec<Vec<Anchor>> {
    let turns = turns.into();
    let mut told: Vec<Vec<Anchor>> = outputs.iter().map(|_| Vec::new()).collect();
    let (texts, uses) = used(turns.all().enumerate());
    if texts.is_empty() || outputs.is_empty() {
        return told;
    }
    let first_turn = |pattern: usize| uses.get(pattern).map_or(0, |used| used.first_turn);
    let matcher = Matcher::new(texts.iter().map(String::as_str));
    let may_go: FxHashSet<(usize, usize)> = outputs
        .iter()
        .map(|output| (output.turn, output.response))
        .collect();
    let mut open = vec![true; texts.len()];
    for (index, turn) in turns.all().enumerate() {
        let stay = turn.responses.iter().enumerate();
        let stay = stay.filter(|(place, _)| !may_go.contains(&(index, *place)));
        let stay = stay.map(|(_, response)| response.content.as_ref());
        let arguments = turn.calls.iter().map(|call| call.arguments.as_ref());
        for text in std::iter::once(turn.text.as_ref()).chain(arguments).chain(stay) {
            matcher.find(text, &mut open, |pattern, _| index >= first_turn(pattern));
        }
    }
    for (output, told) in outputs.iter().zip(&mut told).rev() {
        matcher.find(output.text, &mut open, |pattern, _| {
            let is_before = output.turn < first_turn(pattern);
            let found = texts.get(pattern).zip(uses.get(pattern)).filter(|_| is_before);
            if let Some((text, used)) = found {
                told.push(Anchor::new(text.clone(), used.uses));
            }
            !is_before
        });
        told.sort_by(|a, b| b.uses.cmp(&a.uses).then_with(|| a.text.cmp(&b.text)));
    }
    told
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::trajectory::{Role, ToolResponse, TurnView};

    fn turn(index: usize, role: Role, text: &'static str) -> TurnView<'static> {
        let response = ToolResponse {
            id: None,
            name: None,
            content: Cow::Borrowed(text),
            ..ToolResponse::default()
        };
        let is_tool = role == Role::Tool;
        TurnView {
            responses: is_tool.then_some(response).into_iter().collect(),
            ..TurnView::of_text(index, role, if is_tool { "" } else { text })
        }
    }

    #[test]
    fn the_last_output_before_the_first_use_tells_it_and_what_others_tell_is_told_by_none() {
        let turns = [
            turn(0, Role::Human, "look at src/known.rs"),
            turn(1, Role::Tool, "lib/deep.rs and src/known.rs and W11111"),
            turn(2, Role::Tool, "lib/deep.rs W22222 late_name"),
            turn(3, Role::Tool, "W11111 stays"),
            turn(
                4,
                Role::Assistant,
                "lib/deep.rs src/known.rs W11111 W22222 W22222 my_own",
            ),
            turn(5, Role::Tool, "my_own lib/deep.rs"),
            turn(6, Role::Assistant, "late_name"),
        ];
        let outputs = [1, 2, 5].map(|turn: usize| ToolOutput {
            turn,
            response: 0,
            text: &turns[turn].responses[0].content,
        });
        let told = anchors_of_outputs(&turns, &outputs);
        let names =
            |place: usize| -> Vec<&str> { told[place].iter().map(|anchor| anchor.text.as_str()).collect() };
        assert_eq!(names(0), [""; 0]);
        assert_eq!(names(1), ["W22222", "late_name", "lib/deep.rs"]);
        assert_eq!(names(2), [""; 0]);
    }
}

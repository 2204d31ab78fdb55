//! Turns as blocks of text that say their index, role and tool.

use rustc_hash::FxHashMap;

use super::delimit::{harmless, label};
use super::shorten::shortened;
use crate::trajectory::TurnView;

/// Arguments of calls are shortened to this part of what other texts may take: they repeat what results show.
const ARGUMENTS: usize = 2;

/// The tools by the ids of their calls.
pub type ToolNames<'t> = FxHashMap<&'t str, &'t str>;

/// The tool of each call: results often name only the call.
pub fn tools<'t>(turns: &'t [TurnView<'_>]) -> ToolNames<'t> {
    let calls = turns.iter().flat_map(|turn| &turn.calls);
    calls
        .filter_map(|call| Some((call.id.as_deref()?, call.name.as_ref())))
        .collect()
}

/// Results that repeat an earlier one word for word, by their turn and place: the first turn that has them.
pub type Repeats = FxHashMap<(usize, usize), usize>;

/// Bytes of the shortest result that is not sent again.
const SHORTEST_REPEATED: usize = 200;

/// The results that repeat an earlier one.
pub fn repeats(turns: &[TurnView<'_>]) -> Repeats {
    let mut first: FxHashMap<&str, usize> = FxHashMap::default();
    let mut repeats = Repeats::default();
    for turn in turns {
        for (place, response) in turn.responses.iter().enumerate() {
            let text = response.content.trim();
            if text.len() < SHORTEST_REPEATED {
                continue;
            }
            let earlier = *first.entry(text).or_insert(turn.index);
            if earlier != turn.index {
                repeats.insert((turn.index, place), earlier);
            }
        }
    }
    repeats
}

/// The block of a turn; each text in it is shortened to about `text_room` bytes.
pub fn block(turn: &TurnView<'_>, tools: &ToolNames<'_>, repeats: &Repeats, text_room: usize) -> String {
    let mut block = format!("<turn index=\"{}\" role=\"{}\">\n", turn.index, turn.role.label());
    push(&mut block, &turn.text, text_room);
    for call in &turn.calls {
        open(&mut block, "call", &call.name);
        push(&mut block, &call.arguments, text_room / ARGUMENTS);
        block.push_str("</call>\n");
    }
    for (place, response) in turn.responses.iter().enumerate() {
        let called = response.id.as_deref().and_then(|id| tools.get(id).copied());
        let tool = response.name.as_deref().or(called).unwrap_or_default();
        open(&mut block, "result", tool);
        match repeats.get(&(turn.index, place)) {
            Some(earlier) => {
                let same = format!("[the same as the result in turn {earlier}]");
                push(&mut block, &same, text_room);
            }
            None => push(&mut block, &response.content, text_room),
        }
        block.push_str("</result>\n");
    }
    block.push_str("</turn>\n");
    block
}

fn open(block: &mut String, kind: &str, tool: &str) {
    block.push('<');
    block.push_str(kind);
    let tool = label(tool);
    if !tool.is_empty() {
        block.push_str(" tool=\"");
        block.push_str(&tool);
        block.push('"');
    }
    block.push_str(">\n");
}

fn push(block: &mut String, text: &str, room: usize) {
    let text = shortened(text.trim(), room);
    if !text.is_empty() {
        block.push_str(&harmless(&text));
        block.push('\n');
    }
}

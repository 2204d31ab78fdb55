//! Masks, footers and summaries must agree on every event: how it ended, and what it did to which files.

#[path = "../../tests/it/support/generate.rs"]
mod generate;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::extractive::Extractive;
use super::footer::Files;
use super::mask::masks;
use super::{Around, Stretch, Summarizer, SummaryRequest};
use crate::events::event::Event;
use crate::events::files::files;
use crate::events::pairing::Pairing;
use crate::events::reading::events;
use crate::events::source::source_turns;
use crate::tokens::words::WordCounter;
use crate::trajectory::views_of;

/// Checks a record, and returns the number of events that its masks report.
fn agree(record: &str) -> usize {
    let views = views_of(record);
    let sources = source_turns(crate::events::source::Context::of(&views), &views, Into::into);
    let (pairing, events) = (Pairing::of(&sources), events(&sources));
    let stretch = Stretch::of(&views);
    let footer = Files::of(&stretch);
    assert_eq!((footer.modified.clone(), footer.read.clone()), files(&events));
    let counter = WordCounter::new();
    let request = SummaryRequest {
        turns: &stretch,
        is_redacted: true,
        previous: None,
        in_progress: None,
        around: Around::default(),
        files_follow: false,
        reuse: crate::compress::reuse::Reuse::none(),
        anchors: &[],
        max_tokens: 100_000,
        target_tokens: 100_000,
        counter: &counter,
    };
    let summary = pollster::block_on(Extractive::default().summarize(request)).unwrap();
    for (label, files) in [("- changed: ", &footer.modified), ("- read: ", &footer.read)] {
        let told = summary.text.lines().find_map(|line| line.strip_prefix(label));
        let mut told = told.into_iter().flat_map(|line| line.split(", "));
        assert!(
            told.all(|file| files.iter().any(|known| known == file)),
            "{label}{files:?} {}",
            summary.text
        );
    }
    let masks = masks(&views, &views, |_| Vec::new());
    let mut checked = 0;
    for mask in &masks {
        let Some(call) = pairing.call((mask.turn, mask.response)) else {
            continue;
        };
        let is_it =
            |event: &&Event| event.turn == call.0 && pairing.answer(call) == Some((mask.turn, mask.response));
        let mut same = events.iter().filter(is_it);
        let Some(event) = same.find(|event| mask.text.starts_with(&event.target.label())) else {
            panic!("{call:?} {}", mask.text);
        };
        let first = mask.text.lines().next().unwrap_or_default();
        let rest = first
            .strip_prefix(event.target.label().as_str())
            .unwrap_or_default();
        let outcome = &event.outcome;
        match outcome.exit_code {
            Some(code) => assert!(
                rest.starts_with(&format!(" -> exit {code}")),
                "{} {outcome:?}",
                mask.text
            ),
            None => assert_eq!(
                rest.starts_with(" -> "),
                outcome.failed() == Some(true),
                "{} {outcome:?}",
                mask.text
            ),
        }
        checked += 1;
    }
    checked
}

/// A call and its result, in the shapes that agents write.
fn turns(shape: usize, command: &str, output: &str, is_error: bool) -> Vec<Value> {
    let arguments = json!({"command": command});
    let tagged = format!("Now.\n<function=bash>\n<parameter=command>\n{command}\n</parameter>\n</function>");
    let terminal = format!("{output}\n(Open file: n/a)\n(Current directory: /w)\nbash-$");
    let id = format!("c{shape}{}", command.len());
    match shape {
        0 => vec![
            json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "Bash", "input": arguments}]}),
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": is_error}]}),
        ],
        1 => vec![
            json!({"role": "assistant", "content": [{"type": "toolCall", "id": id, "name": "bash", "arguments": arguments}]}),
            json!({"role": "toolResult", "toolCallId": id, "toolName": "bash", "content": [{"type": "text", "text": output}], "isError": is_error}),
        ],
        2 => vec![
            json!({"role": "assistant", "content": tagged}),
            json!({"role": "user", "content": format!("EXECUTION RESULT of [bash]:\n{output}")}),
        ],
        3 => vec![
            json!({"role": "assistant", "content": format!("Now.\n```bash\n{command}\n```")}),
            json!({"role": "user", "content": terminal}),
        ],
        _ => vec![
            json!({"role": "assistant", "tool_calls": [{"id": id, "function": {"name": "bash", "arguments": arguments.to_string()}}]}),
            json!({"role": "tool", "tool_call_id": id, "content": format!("<returncode>{}</returncode>\n<output>\n{output}\n</output>", i32::from(is_error))}),
        ],
    }
}

const COMMANDS: [&str; 7] = [
    "cat > \"my file.py\" <<'E'\nopen('a.txt', 'w')\nE",
    "cd /w && python 'my file.py'",
    "sed -i s/a/b/ src/b.py && pytest tests",
    "rm -f src/b.py",
    "cat src/c.py | head -20",
    "grep -rn 'def f' src",
    "bash -lc 'cd /w && cargo test'",
];

const OUTPUTS: [&str; 4] = [
    "",
    "1 failed, 3 passed in 0.1s",
    "Traceback (most recent call last):\nKeyError: 'a'",
    "fatal: not a git repository",
];

proptest! {
    #![proptest_config(generate::config())]

    #[test]
    fn of_any_record(made in generate::made()) {
        agree(&made.line());
    }

    #[test]
    fn of_any_shape(steps in proptest::collection::vec((0..5_usize, 0..7_usize, 0..4_usize, any::<bool>()), 1..6)) {
        let long = "a line that tells nothing of how it ended\n".repeat(6);
        let mut all = vec![json!({"role": "user", "content": "Mend it."})];
        for (shape, command, output, is_error) in &steps {
            let output = format!("{long}{}", OUTPUTS[*output]);
            all.extend(turns(*shape, COMMANDS[*command], &output, *is_error));
        }
        let told = agree(&json!({"messages": all}).to_string());
        let answers = steps.iter().filter(|(shape, ..)| matches!(shape, 0 | 1 | 4)).count();
        prop_assert_eq!(told, answers);
    }
}

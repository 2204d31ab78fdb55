//! Lines left out where later turns are known and use nothing of them.

use super::*;
use crate::compress::reuse::Reuse;
use crate::trajectory::Turns;

#[test]
fn code_run_for_once_is_left_out_unless_later_turns_use_it_or_it_is_the_last() {
    let run = |code: &str| serde_json::json!({"command": format!("python -c 'print({code})'")}).to_string();
    let shows = |output: &str| format!("<returncode>0</returncode>\n<output>\n{output}\n</output>");
    let runs = ["first", "second", "third"].map(run);
    let outputs = ["plain words", "limit_of_zone_alpha_7", "all is well"].map(shows);
    let turns: Vec<TurnView<'_>> = runs
        .iter()
        .zip(&outputs)
        .flat_map(|(run, output)| [call("", "bash", run), answer(output)])
        .collect();
    let before = [turn(Role::Human, "Find the limit.")];
    let after = [turn(
        Role::Assistant,
        "The name is limit_of_zone_alpha_7, as it said.",
    )];
    let reuse = Reuse::of(Turns::Kept(&before), Some(Turns::Kept(&after)));
    let (stretch, counter) = (Stretch::of(&turns), Words::new());
    let request = SummaryRequest {
        reuse: &reuse,
        ..request(&stretch, &counter)
    };
    let text = Extractive::default()
        .composed(None, &request, false)
        .unwrap()
        .text;
    assert!(!text.contains("plain words"), "{text}");
    assert!(
        text.contains("limit_of_zone_alpha_7") && text.contains("all is well"),
        "{text}"
    );
}

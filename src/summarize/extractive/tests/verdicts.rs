//! Results of calls in the assistant's own words.

use super::*;

const LOG: &str = "epoch 1 loss 2.79\nepoch 2 loss 1.93\nepoch 3 loss 1.41\neval val_macro_f1 0.7988\nsaved";

fn told_after(words: &str, log: &str) -> String {
    let train = r#"{"command": "python train.py --config len384.yaml"}"#;
    let next = r#"{"command": "python train.py --config len512.yaml"}"#;
    told(&[
        call("", "bash", train),
        answer(log),
        turn(Role::Assistant, words),
        call("", "bash", next),
        answer("Exit code: 0"),
    ])
}

#[test]
fn a_run_that_prints_no_result_is_told_by_what_the_assistant_said_of_it() {
    let text = told_after("That is better: 0.7988 at 384 tokens. Now the longer one.", LOG);
    assert!(
        text.contains("len384.yaml -> last line: saved; said: That is better: 0.7988 at 384 tokens\n")
            || text.contains("said: That is better: 0.7988 at 384 tokens."),
        "{text}"
    );
}

#[test]
fn words_that_repeat_nothing_of_the_answer_plans_and_questions_are_no_result() {
    for words in [
        "Good, that looks fine to me.",
        "Let me try 0.7988 as the threshold.",
        "Is 0.7988 enough for you?",
        "Results:\n- 0.7988 macro F1\n- 1.41 loss",
    ] {
        let text = told_after(words, LOG);
        assert!(!text.contains("; said: "), "{words}: {text}");
    }
    let failed = "Traceback (most recent call last):\nValueError: 0.7988 is no name\nExit code: 1";
    let text = told_after("It fails: 0.7988 is no name.", failed);
    assert!(!text.contains("; said: "), "{text}");
}

#[test]
fn what_the_assistant_said_is_no_output_when_the_line_is_read_back() {
    let previous = "Done:\n- bash: make all -> ok; said: The build of 0.7988 failed on Tuesday, error 12";
    let turns = [call("", "bash", r#"{"command": "ls"}"#), answer("a.py")];
    let text = summary_of(&turns, Some(previous), &[], 400).text;
    assert!(
        text.contains("said: The build of 0.7988") && !text.contains("Open errors:"),
        "{text}"
    );
}

#[test]
fn a_fact_of_two_answers_or_one_that_is_taken_back_is_no_verdict() {
    let [first, second] = ["a.py", "b.py"].map(|file| format!("{{\"command\": \"python {file} --all\"}}"));
    let (one, other) = (
        "start\nloss 1.93\nf1 0.7988\nsaved",
        "start\nloss 1.88\nf1 0.7988\nsaved",
    );
    let turns = [
        call("", "bash", &first),
        call("", "bash", &second),
        answer(one),
        answer(other),
        turn(Role::Assistant, "Both reached 0.7988 in the end."),
    ];
    assert!(!told(&turns).contains("; said: "), "{}", told(&turns));
    let text = told_after("The F1 is 0.7988 now. Wait, that is the old run.", LOG);
    assert!(!text.contains("; said: "), "{text}");
}

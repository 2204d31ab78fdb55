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
        text.contains("len384.yaml -> said: That is better: 0.7988 at 384 tokens\n"),
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
    let previous = "Calls:\n- bash: make all -> ok; said: The build of 0.7988 failed on Tuesday, error 12";
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

#[test]
fn a_statement_with_a_word_of_the_answer_is_told_where_nothing_else_came_back() {
    let proxy =
        "Current WinHTTP settings:\n\n    Direct access (no proxy server).\n\nState: unhealthy\nGroups: none";
    for (words, expected) in [
        (
            "The device has no proxy server. Let me look at the group.",
            Some("The device has no proxy server"),
        ),
        (
            "Thought: The device has no proxy server.",
            Some("said: The device has no proxy server"),
        ),
        // It has a word of the call alone.
        ("The train file is short.", None),
        // No verb, and next steps.
        ("Proxy server settings.", None),
        (
            "Compare the proxy server with the one that is used elsewhere.",
            None,
        ),
        ("Run 2 has no proxy server.", Some("Run 2 has no proxy server")),
        ("Setting the proxy server for all of them, which works.", None),
        ("| proxy | server | is |", None),
    ] {
        let text = told_after(words, proxy);
        match expected {
            Some(expected) => assert!(text.contains(expected), "{words}: {text}"),
            None => assert!(!text.contains("said: "), "{words}: {text}"),
        }
    }
}

#[test]
fn a_call_that_told_nothing_has_no_line() {
    let table = "Name    Enabled\n----    -------\nDomain     True\nPublic    False";
    let arguments = r#"{"command": "Get-NetFirewallProfile | Format-Table Name,Enabled"}"#;
    let silent = [
        call("", "run_powershell", arguments),
        answer(table),
        turn(Role::Assistant, "Good."),
    ];
    assert!(
        !told(&silent).contains("Get-NetFirewallProfile"),
        "{}",
        told(&silent)
    );
    let said = [
        &silent[..2],
        &[turn(Role::Assistant, "The profile Public is not enabled.")],
    ]
    .concat();
    assert!(
        told(&said).contains("-> said: The profile Public"),
        "{}",
        told(&said)
    );
}

#[test]
fn measurements_beside_tests_are_told() {
    let command = bash("cargo test && cargo run --release --example bench");
    let output = "test result: ok. 6 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\nopen 57.2 ms\nsearch 175.4 ms\nExit code: 0";
    let turns = [
        call("", "bash", &command),
        answer(output),
        turn(Role::Assistant, "Opening takes 57.2 ms now."),
    ];
    let text = told(&turns);
    assert!(
        text.contains("6 passed") && text.contains("said: Opening takes 57.2 ms now"),
        "{text}"
    );
}

#[test]
fn the_turn_behind_a_region_tells_the_call_that_ended_it() {
    let previous = "Calls:\n- run_powershell: Get-BitLockerVolume -MountPoint C:
Recent work:
- turn -1, output of run_powershell: Get-BitLockerVolume -MountPoint C::
```
BKFIN-L104     FullyEncrypted         XtsAes128
```";
    let next = bash("ls");
    let heard = |words: &str| {
        let turns = [call(words, "bash", &next), answer("a.py")];
        let (counter, stretch) = (counter(), Stretch::of(&turns));
        let request = SummaryRequest {
            previous: Some(previous),
            ..request(&stretch, &counter)
        };
        let summary = Extractive::default().composed(None, &request, false);
        summary.expect("fits").text
    };
    let text = heard("The volume of L104 is FullyEncrypted. I look further.");
    assert!(
        text.contains("C: -> said: The volume of L104 is FullyEncrypted"),
        "{text}"
    );
    for words in ["Now the next one.", "The rules are older than the device."] {
        assert!(!heard(words).contains("said: "), "{}", heard(words));
    }
}

#[test]
fn where_the_trajectory_goes_on_a_verdict_stays_beside_the_words_that_are_quoted() {
    let loss = "The loss of 0.7988 is the best so far, so this configuration stays.";
    let next = r#"{"command": "python train.py --config len512.yaml"}"#;
    let turns = [
        call(
            "",
            "bash",
            r#"{"command": "python train.py --config len384.yaml"}"#,
        ),
        answer(LOG),
        call(loss, "bash", next),
        answer("Exit code: 0"),
    ];
    let (counter, stretch) = (counter(), Stretch::of(&turns));
    let told_times = |goes_on: bool| {
        let reuse = crate::compress::reuse::Reuse::default().with_more(goes_on);
        let request = SummaryRequest {
            reuse: &reuse,
            ..request(&stretch, &counter)
        };
        let text = Extractive::default().summary(&request).expect("fits").text;
        text.matches("The loss of 0.7988 is the best so far").count()
    };
    assert_eq!(told_times(false), 1);
    assert_eq!(told_times(true), 2);
}

#[test]
fn of_handoffs_the_last_one_is_told() {
    let turns = [
        call("", "transfer_to_claims_agent", r#"{"topic": "water"}"#),
        answer(r#"{"assistant": "Claims Agent"}"#),
        call("", "transfer_to_billing_agent", r#"{"topic": "refund"}"#),
        answer(r#"{"assistant": "Billing Agent"}"#),
    ];
    let text = told(&turns);
    assert!(
        !text.contains("claims") && text.contains("transfer_to_billing_agent"),
        "{text}"
    );
}

#[test]
fn a_verdict_goes_for_a_quotation_of_its_words_alone() {
    let runs = ["a", "b"].map(|name| bash(&format!("python check_{name}.py")));
    let same = "The table has 1200 rows, as wanted.";
    let output = "start\nread 1200 rows\nfin";
    let turns = [
        call("", "bash", &runs[0]),
        answer(output),
        call(same, "bash", &runs[1]),
        answer(output),
        turn(Role::Assistant, same),
    ];
    let text = told(&turns);
    for name in ["check_a", "check_b"] {
        assert!(
            text.contains(&format!("{name}.py -> said: The table has 1200")),
            "{text}"
        );
    }
}

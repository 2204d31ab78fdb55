//! Turns of a person's role that no person wrote: every row of the tables, and whose the words beside them are.

use super::*;

fn request_in(text: &str, place: TurnPlace) -> Cow<'_, str> {
    super::request_in(text, place, Openings::default())
}

fn observed_from(text: &str, place: TurnPlace) -> Option<usize> {
    super::observed_from(text, place, Openings::default())
}

#[test]
fn the_label_of_an_observation_is_no_part_of_it() {
    for (text, expected) in [
        ("OBSERVATION:\nFile updated.", "File updated."),
        ("Observation 3: 12", "12"),
        ("[read_file for 'a.py'] Result:\nx = 1", "x = 1"),
        ("Output:\n```\n{\"id\": 1}\n```\n\nStop.", "{\"id\": 1}"),
        ("Observations: 12", "Observations: 12"),
        ("Fine.", "Fine."),
    ] {
        assert_eq!(without_label(text, Openings::default()), expected);
    }
    for row in &OBSERVATIONS.spoken {
        assert_eq!(spoken_in(&row.example), Some(row.says.as_str()));
    }
    for row in &OBSERVATIONS.appended {
        assert!(
            row.example.starts_with("Fine.") && without_appended(&row.example) == "Fine.",
            "{row:?}"
        );
        assert_eq!(without_appended(&row.counterexample), row.counterexample);
    }
}

#[test]
fn what_stands_around_a_task_is_no_part_of_it() {
    let frames = OBSERVATIONS
        .frame
        .iter()
        .map(|row| (&row.example, &row.counterexample));
    let lists = OBSERVATIONS
        .functions
        .iter()
        .map(|row| (&row.example, &row.counterexample));
    for (example, counterexample) in frames.chain(lists) {
        assert_eq!(own_words(example).as_deref(), Some("Fine."), "{example}");
        assert_eq!(own_words(counterexample), None, "{counterexample}");
        let (place, twice) = (TurnPlace::Anywhere, format!("{example}\n{example}"));
        let terminal = format!("{example}\n(Open file: n/a)\n(Current directory: /w)\nbash-$");
        assert_eq!(request_in(&terminal, place), "Fine.", "{example}");
        let words = request_in(&twice, place).split_whitespace().count();
        assert!(words == 2 || example.contains("functions"), "{example}");
    }
    for request in [
        "Please implement the following functions in utils.py:\n\nadd(a, b)\n    Return the sum. Never use eval.",
        "These functions crash, fix them:\nparse(text)\n    raises KeyError on empty input",
    ] {
        assert_eq!(request_in(request, TurnPlace::Anywhere), request);
    }
}

#[test]
fn elements_of_a_program_are_no_words_of_a_person() {
    for row in &OBSERVATIONS.elements.example {
        assert_eq!(own_words(&row.text), row.says, "{}", row.text);
    }
    for row in &OBSERVATIONS.results.example {
        assert_eq!(results_in(&row.text).as_ref(), Some(&row.results), "{}", row.text);
    }
    assert_eq!(results_in("<result>1</result> and more"), None);
    let unclosed = "<system-reminder>\n".repeat(100_000);
    assert_eq!(own_words(&unclosed), None);
}

#[test]
fn every_row_knows_its_example_and_nothing_that_only_resembles_it() {
    assert!(OBSERVATIONS.observation.len() > 20 && SUMMARIES.summary.len() > 5);
    for row in &OBSERVATIONS.observation {
        assert!(row.begins(&row.example).is_some(), "{}", row.example);
        assert!(
            observed_from(&row.example, row.place).is_some(),
            "{}",
            row.example
        );
        assert_eq!(
            command_in(&row.example, row.place).map(|(command, _)| command),
            row.ran.as_deref()
        );
        assert_eq!(command_in(&row.counterexample, row.place), None);
        assert_eq!(observed_from(&row.counterexample, row.place), None, "{row:?}");
    }
    for row in &SUMMARIES.summary {
        assert!(is_summary(&row.example), "{}", row.example);
        assert!(!is_summary(&row.counterexample), "{}", row.counterexample);
    }
    let compacted = "The conversation history before this point was compacted into the following summary:\n\nThe port is 8404.";
    assert_eq!(summary_in(compacted), Some("The port is 8404."));
    assert_eq!(
        summary_in("USER_CONTEXT: a\nPENDING: b"),
        Some("USER_CONTEXT: a\nPENDING: b")
    );
}

#[test]
fn what_a_person_asks_before_a_page_or_a_terminal_stays_theirs() {
    let page = "Find the way.\n\n[Current URL: None]\nRootWebArea 'Maps'";
    assert_eq!(request_in(page, TurnPlace::Anywhere), "Find the way.");
    let terminal = "Mend it.\n(Open file: n/a)\n(Current directory: /w)\nbash-$";
    assert_eq!(request_in(terminal, TurnPlace::Anywhere), "Mend it.");
    assert_eq!(request_in(terminal, TurnPlace::AfterAssistant), "");
    assert_eq!(request_in("Mend it.", TurnPlace::AfterAssistant), "Mend it.");
    assert_eq!(request_in("Nothing happened.", TurnPlace::InAnswer), "");
    let behind = [terminal, "\n\nStop, the box is shared."].concat();
    assert_eq!(
        request_in(&behind, TurnPlace::AfterAssistant),
        "Stop, the box is shared."
    );
    let pasted = "<bash-stdout>a</bash-stdout>\nNow mend it.";
    assert_eq!(request_in(pasted, TurnPlace::Anywhere), "Now mend it.");
    let denied = "The user denied this operation.\n<feedback>\nuse 1 MB\n</feedback>";
    assert_eq!(request_in(denied, TurnPlace::InAnswer), "use 1 MB");
    let beside = "<image>\nStop, please use the style.";
    assert_eq!(
        request_in(beside, TurnPlace::InAnswer),
        "Stop, please use the style."
    );
    assert_eq!(
        request_in("<image>\nThe menu File is open.", TurnPlace::InAnswer),
        ""
    );
    let tree = "[image]\nGiven the screenshot and info from accessibility tree as below:\nmenu\tPlease wait";
    assert_eq!(request_in(tree, TurnPlace::InAnswer), "");
}

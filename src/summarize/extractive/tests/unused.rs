//! Lines left out where later turns are known and use nothing of them.

use super::*;
use crate::compress::reuse::Reuse;
use crate::trajectory::Turns;

/// The summary of `turns` before a turn that says `later`; nothing is known of what follows without it.
fn summary_before(later: Option<&str>, turns: &[TurnView<'_>]) -> String {
    summary_of_beginning(later, turns, false)
}

/// The same, where `more` turns follow that nobody knows.
fn summary_of_beginning(later: Option<&str>, turns: &[TurnView<'_>], more: bool) -> String {
    let before = [turn(Role::Human, "Please look into it.")];
    let after = later.map(|later| [turn(Role::Assistant, later)]);
    let reuse = Reuse::of(
        Turns::Kept(&before),
        after.as_ref().map(|after| Turns::Kept(&after[..])),
    )
    .with_more(more);
    let (stretch, counter) = (Stretch::of(turns), WordCounter::new());
    let request = SummaryRequest {
        reuse: &reuse,
        ..request(&stretch, &counter)
    };
    Extractive::default().summary(&request).unwrap().text
}

/// A call at the start of a region, and a later turn that repeats it and nothing else.
const COMMAND: &str =
    r#"{"command": "python simulate.py --planet mars --years 250 --table orbits_of_mars.csv"}"#;
const REPEATING: &str = "Again: python simulate.py --planet mars --years 250 --table orbits_of_mars.csv";

fn after_command<'t>(turns: &[TurnView<'t>]) -> Vec<TurnView<'t>> {
    [&[call("", "bash", COMMAND), answer("written")], turns].concat()
}

/// These turns with the newest calls behind them, which room that is left goes to.
fn before_newest<'t>(turns: &[TurnView<'t>]) -> Vec<TurnView<'t>> {
    let said = "This run of the newest simulation takes the masses of all moons from one table.";
    let newest = [
        call(said, "bash", r#"{"command": "python newest.py --first"}"#),
        answer("fine"),
        call(said, "bash", r#"{"command": "python newest.py --second"}"#),
        answer("fine"),
    ];
    [turns, &newest].concat()
}

#[test]
fn room_that_is_left_goes_to_the_newest_calls_and_words() {
    let kinds = ["first", "second", "third"];
    let words = kinds.map(|which| {
        format!(
            "The {which} table of comets has gaps in the years of its aphelion, which the mean of both sides may close."
        )
    });
    let commands = kinds.map(|which| format!(r#"{{"command": "python gaps_of_{which}.py"}}"#));
    let calls = words.iter().zip(&commands);
    let calls = calls.map(|(words, command)| call(words, "bash", command));
    let turns: Vec<TurnView<'_>> = calls.flat_map(|call| [call, answer("done")]).collect();
    let turns = after_command(&turns);
    let text = summary_before(Some(REPEATING), &turns);
    let is_quoted = words.each_ref().map(|words| text.contains(words.as_str()));
    assert_eq!(is_quoted, [false, true, true], "{text}");
    let (stretch, counter) = (Stretch::of(&turns), WordCounter::new());
    let after = [turn(Role::Assistant, REPEATING)];
    let reuse = Reuse::of(Turns::Kept(&[]), Some(Turns::Kept(&after)));
    for target_tokens in [20, 45, 60] {
        let request = SummaryRequest {
            reuse: &reuse,
            target_tokens,
            ..request(&stretch, &counter)
        };
        let text = Extractive::default().summary(&request).unwrap().text;
        assert!(text.contains("orbits_of_mars"), "{text}");
        let is_short = counter.count(&text) <= target_tokens || !text.contains("table of comets");
        assert!(is_short, "{target_tokens}: {text}");
    }
}

#[test]
fn room_that_is_left_tells_nothing_twice() {
    let words = "The separator of the table is guessed from its first line, which holds no number at all.";
    let edit = |name: &str| {
        let text: Vec<String> = (0..4)
            .map(|line| format!("{name}_limit_{line} = {line} * scale_of_{name}"))
            .collect();
        serde_json::json!({"command": "create", "path": format!("/w/{name}.py"), "file_text": text.join("\n")}).to_string()
    };
    let same = edit("same");
    let twice = |edit| [call(words, "editor", edit), answer("The file was made.")];
    let turns = after_command(&[twice(&same), twice(&same)].concat());
    let text = summary_before(Some(REPEATING), &turns);
    assert_eq!(text.matches(words).count(), 1, "{text}");
    assert_eq!(text.matches("same_limit_2").count(), 1, "{text}");
}

#[test]
fn words_that_something_followed_are_quoted_as_far_as_later_turns_repeat_them() {
    let offer = "The return of the lamp takes 5 days, and 35.90 EUR go to the gift card.";
    let guess = "The parser of rates is likely to be in the folder of the clearing house.";
    let turns = after_command(&[
        turn(Role::Assistant, offer),
        turn(Role::Human, "I would rather keep it."),
        call(guess, "bash", r#"{"command": "python clearing/rates.py"}"#),
        answer("done"),
    ]);
    let turns = before_newest(&turns);
    let silent = summary_before(Some(REPEATING), &turns);
    for (words, other) in [(offer, "the gift card"), (guess, "likely to be")] {
        let repeated = summary_before(Some(words), &turns);
        assert!(repeated.contains(other), "{repeated}");
        assert!(!silent.contains(other), "{silent}");
        let unknown = summary_before(None, &turns);
        assert!(unknown.contains(other), "{unknown}");
    }
}

#[test]
fn words_that_were_answered_need_more_than_single_words_that_later_turns_repeat() {
    let state = "Your phone is connected to the slow network of the second generation, which is why no page loads, \
        and the mode that it prefers has to be set otherwise in the settings of the mobile network.";
    let turns = after_command(&[
        turn(Role::Assistant, state),
        turn(Role::Human, "I have set it, and pages load now."),
    ]);
    let says = |later: &str| {
        let text = summary_before(Some(&[REPEATING, later].join(" ")), &turns);
        assert!(text.contains("orbits_of_mars"), "{text}");
        text.contains("slow network")
    };
    assert!(!says("The mobile network is no longer what slows it down."));
    assert!(says(
        "It was connected to the slow network of the second generation, which is why no page loaded."
    ));
}

#[test]
fn an_output_is_quoted_as_far_as_later_turns_repeat_it() {
    let line = |number: u32| {
        format!(
            "orbit {number}: position {} of planet {}\n",
            number * 37,
            number * 91
        )
    };
    let output: String = (0..8).map(line).collect();
    let turns = after_command(&[
        call("", "read_file", r#"{"path": "orbits.txt"}"#),
        answer(&output),
    ]);
    let says = |later: Option<&str>| summary_before(later, &turns).contains("position 185");
    assert!(!says(Some(REPEATING)));
    assert!(says(Some(&output)));
    assert!(says(None));
    // An agent that lives on may come back to it.
    assert!(summary_of_beginning(Some(REPEATING), &turns, true).contains("position 185"));
    // So much was read behind the region that it is not known what else is repeated.
    let long = [REPEATING, &"x".repeat(200_000)].join(" ");
    assert!(says(Some(&long)));
    // Better the newest than an empty summary.
    let search = [call("", "web_search", r#"{"query": "orbits"}"#), answer(&output)];
    let alone = summary_before(Some("Nothing of that is said again here."), &search);
    assert!(alone.contains("position"), "{alone}");
}

#[test]
fn words_before_a_look_around_are_quoted_if_much_of_them_comes_again() {
    let words = "The limit of orbits seems to stand somewhere in the sources, most likely in the parser of the ephemeris tables, or in one of its helpers.";
    let look = call(words, "bash", r#"{"command": "grep -rn orbit_limit src"}"#);
    let change = call(words, "bash", r#"{"command": "sed -i s/1/2/ src/tables.py"}"#);
    let [part, whole] =
        ["in the parser of the ephemeris tables", words].map(|said| [said, REPEATING].join(" "));
    // Room that is left does not go to such words either.
    let turns = after_command(&[look.clone(), answer("src/tables.py")]);
    let text = summary_before(Some(&part), &turns);
    assert!(!text.contains("ephemeris"), "{text}");
    for (call, after, is_quoted) in [
        (&look, &part, false),
        (&look, &whole, true),
        (&change, &part, true),
    ] {
        let turns = before_newest(&after_command(&[call.clone(), answer("src/tables.py")]));
        let text = summary_before(Some(after), &turns);
        assert_eq!(text.contains("ephemeris"), is_quoted, "{text}");
    }
}

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
    let (stretch, counter) = (Stretch::of(&turns), WordCounter::new());
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

#[test]
fn of_an_attempt_whose_failure_was_mended_that_is_quoted_which_later_turns_repeat() {
    let line = |number: u32| format!("print('orbit {number}:', position_of(planet, day={number}))");
    let script: Vec<String> = (0..12).map(line).collect();
    let script = format!("python3 -c \"\nimport erfa\n{}\n\"", script.join("\n"));
    let commands = [script.as_str(), "pip install erfa", "python3 -c 'import erfa'"];
    let commands = commands.map(|command| serde_json::json!({"command": command}).to_string());
    let outputs = [
        "<returncode>1</returncode>\n<output>\nModuleNotFoundError: No module named 'erfa'\n</output>",
        "<returncode>0</returncode>\n<output>\nSuccessfully installed erfa-2.0\n</output>",
        "<returncode>0</returncode>\n<output>\n</output>",
    ];
    let calls = commands.iter().zip(outputs);
    let turns: Vec<TurnView<'_>> = calls
        .flat_map(|(command, output)| [call("", "bash", command), answer(output)])
        .collect();
    let again = summary_before(Some(&script), &turns);
    assert!(
        again.contains(" -> exit 1: ModuleNotFoundError") && again.contains(&line(7)),
        "{again}"
    );
    let other = summary_before(Some(REPEATING), &after_command(&turns));
    assert!(!other.contains("orbit 7"), "{other}");
    let unknown = summary_before(None, &turns);
    assert!(unknown.contains(&line(7)), "{unknown}");
}

#[test]
fn what_a_tool_takes_down_of_thoughts_is_words_and_no_action() {
    let thought = "The counter of wheels counts each axle of the carriage twice, since the axle is read from both sides.";
    let arguments = serde_json::json!({"thought": thought}).to_string();
    let turns = after_command(&[
        call("", "think", &arguments),
        answer("Your thought has been logged."),
    ]);
    let turns = before_newest(&turns);
    let silent = summary_before(Some(REPEATING), &turns);
    assert!(!silent.contains("think") && !silent.contains("axle"), "{silent}");
    let repeated = summary_before(Some(thought), &turns);
    assert!(
        repeated.contains(", thought: ") && repeated.contains("each axle"),
        "{repeated}"
    );
}

#[test]
fn words_before_a_call_say_if_it_failed() {
    let words = "All checks of the orbit of Ceres pass with the new table of positions.";
    let heading = |output: &str| {
        let failing = call(words, "bash", r#"{"command": "python checks.py"}"#);
        let turns = after_command(&[failing, answer(output)]);
        let text = summary_before(Some(words), &turns);
        let line = text
            .lines()
            .find(|line| line.contains("said before"))
            .map(str::to_owned);
        line.unwrap_or(text)
    };
    let failed = heading("<returncode>1</returncode>\n<output>\nKeyError: 'ceres'\n</output>");
    assert!(
        failed.contains("said before bash: python checks.py (failed): All checks"),
        "{failed}"
    );
    let passed = heading("<returncode>0</returncode>\n<output>\nfine\n</output>");
    assert!(
        passed.contains("said before bash: python checks.py: All checks"),
        "{passed}"
    );
}

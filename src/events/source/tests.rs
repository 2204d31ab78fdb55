//! Tests of the turns as they are read.

use super::*;
use crate::trajectory::views_of;

/// The roles, prose, calls and answers of the turns of a record.
fn read(record: &str) -> Vec<(Role, String, Vec<String>, usize)> {
    let views = views_of(record);
    let turns = source_turns(Context::of(&views), &views, Into::into);
    let of = |turn: &SourceTurn<'_>| {
        let calls = turn.calls.iter().map(|call| call.name.to_string()).collect();
        (turn.role, turn.prose.trim().to_owned(), calls, turn.answers.len())
    };
    turns.iter().map(of).collect()
}

#[test]
fn what_follows_a_summary_may_be_the_answer_to_a_call_that_it_tells() {
    let record = serde_json::json!({"messages": [
        {"role": "user", "content": "[CONTEXT SUMMARY]:\nDone:\n- python a.py"},
        {"role": "user", "content": "Traceback (most recent call last):\nValueError: 3\n\n(Open file: n/a)\nbash-$"},
    ]});
    let record = record.to_string();
    let views = views_of(&record);
    let role = |before| {
        let context = Context {
            before,
            forms: Forms::of(&views),
        };
        source_turns(context, &views[1..], Into::into)[0].role
    };
    assert_eq!(role(Some(&views[0])), Role::Tool);
    assert_eq!(role(None), Role::Human);
}

#[test]
fn what_a_program_puts_around_a_task_is_nobodys_words() {
    let shown = "Here is a demonstration of how to correctly accomplish this task.\n--- DEMONSTRATION ---\nMend the reader.\n\
                 --- END OF DEMONSTRATION ---";
    let task = format!("{shown}\nMend the writer.");
    let record = serde_json::json!({"messages": [
        {"role": "system", "content": task}, {"role": "user", "content": shown}, {"role": "user", "content": task},
    ]});
    let prose: Vec<String> = read(&record.to_string()).into_iter().map(|turn| turn.1).collect();
    assert_eq!(prose, ["Mend the writer.", "", "Mend the writer."]);
}

#[test]
fn calls_are_read_in_the_turns_of_agents_that_write_them_as_text() {
    let tagged =
        "I look.\n\n<function=browser>\n<parameter=code>\nclick(bid=\"1\")\n</parameter>\n</function>";
    let fenced = "I look.\n\n```bash\ngrep -n x a.py\n```";
    for (role, said, tool) in [
        ("function_call", tagged, "browser"),
        ("gpt", tagged, "browser"),
        ("function_call", fenced, ""),
        ("gpt", fenced, ""),
    ] {
        let turn = serde_json::json!({"from": role, "value": said});
        let shown = "[Current URL: None]\nRootWebArea 'Maps'";
        let record = serde_json::json!({"conversations": [turn, {"from": "human", "value": shown}]});
        let found = read(&record.to_string());
        let expected = (Role::Assistant, "I look.".to_owned(), vec![tool.to_owned()], 0);
        assert_eq!(found[0], expected, "{role} {said}");
        assert_eq!(
            found[1],
            (Role::Tool, String::new(), Vec::new(), 1),
            "{role} {said}"
        );
    }
    let said = r#"{"conversations": [{"from": "function_call", "value": "I am done."}]}"#;
    assert_eq!(read(said)[0].1, "I am done.");
}

#[test]
fn what_follows_a_written_call_is_its_answer_and_a_person_in_it_is_heard() {
    let record = serde_json::json!({"conversations": [
        {"from": "human", "value": "Write ACTION: and the action, or <ask_question>. Put it on the desk.\n<environment_details>\nx\n</environment_details>"},
        {"from": "gpt", "value": "I go.\nACTION: go to desk 1"},
        {"from": "human", "value": "You see a pen.\nAVAILABLE ACTIONS: look"},
        {"from": "gpt", "value": "<ask_question>\n<question>When?</question>\n</ask_question>"},
        {"from": "human", "value": "[ask_question] Result:\n<answer>Now.</answer>"},
    ]});
    let found = read(&record.to_string());
    assert!(found[0].1.ends_with("Put it on the desk."));
    assert_eq!(found[1].2, ["go to desk 1"]);
    assert_eq!(found[2], (Role::Tool, String::new(), Vec::new(), 1));
    assert_eq!(
        (found[4].0, found[4].1.as_str(), found[4].3),
        (Role::Human, "Now.", 1)
    );
    // The same where the call stands before the turns that are read.
    let record = record.to_string();
    let views = views_of(&record);
    let context = Context {
        before: Some(&views[1]),
        ..Context::of(&views)
    };
    let turns = source_turns(context, &views[2..3], Into::into);
    assert_eq!(
        (turns[0].role, turns[0].answers[0].1.as_ref()),
        (Role::Tool, "You see a pen.")
    );
    let turns = source_turns(Context::of(&views), &views, Into::into);
    assert!(
        !turns[4].answers[0].1.contains("Now."),
        "a person's words are no output"
    );
}

#[test]
fn calls_of_a_models_own_marks_are_read_with_the_words_around_them() {
    let said = |text: &str| {
        let record = serde_json::json!({"messages": [
            {"role": "user", "content": "Mend it."},
            {"role": "assistant", "content": text},
            {"role": "user", "content": "a.py"},
        ]});
        let found = read(&record.to_string());
        assert_eq!((found[2].0, found[2].3), (Role::Tool, 1), "{text}");
        (found[1].1.clone(), found[1].2.clone())
    };
    let argument = |value: &str| format!("<arg_key>path</arg_key>\n<arg_value>{value}</arg_value>");
    let calls = [("read", "a"), ("list", "b")].map(|(tool, value)| {
        let argument = argument(value);
        format!("<tool_call>{tool}\n{argument}\n{argument}\n</tool_call>")
    });
    let both = || vec!["read".to_owned(), "list".to_owned()];
    for text in [
        format!("I look.\n{}", calls.join("\n")),
        "I look.\n<invoke name=\"read\">\n<parameter name=\"a\">1</parameter>\n</invoke>\n<invoke name=\"list\"></invoke>".to_owned(),
        "I look.[TOOL_CALLS]read[ARGS]{}[TOOL_CALLS]list[ARGS]{\"a\": 1}".to_owned(),
        "I look.\n[TOOL_CALLS] [{\"name\": \"read\", \"arguments\": {}}, {\"name\": \"list\", \"arguments\": {}}]".to_owned(),
        "I look.\n<function=read>{\"a\": 1}</function>\n<function=list>{}</function>".to_owned(),
    ] {
        assert_eq!(said(&text), ("I look.".to_owned(), both()), "{text}");
    }
}

#[test]
fn a_label_that_no_call_stands_before_is_a_persons() {
    let record = serde_json::json!({"messages": [
        {"role": "user", "content": "Mend it."},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Observation: it is slow on page 3."},
        {"role": "assistant", "content": "I see.\nAction: search[page 3]"},
        {"role": "user", "content": "Observation: no such page"},
    ]});
    let roles: Vec<Role> = read(&record.to_string()).iter().map(|turn| turn.0).collect();
    assert_eq!(
        roles,
        [
            Role::Human,
            Role::Assistant,
            Role::Human,
            Role::Assistant,
            Role::Tool
        ]
    );
}

#[test]
fn a_task_that_a_terminal_follows_is_a_task_and_a_summary_is_none() {
    let terminal = "(Open file: n/a)\n(Current directory: /w)\nbash-$";
    let record = serde_json::json!({"messages": [
        {"role": "system", "content": "s"},
        {"role": "user", "content": format!("Mend it.\n{terminal}")},
        {"role": "assistant", "content": "So.\n```\nls\n```"},
        {"role": "user", "content": format!("a.py\n{terminal}")},
        {"role": "user", "content": "This session is being continued from a previous conversation."},
    ]});
    let found = read(&record.to_string());
    assert_eq!((found[1].0, found[1].1.as_str()), (Role::Human, "Mend it."));
    assert_eq!((found[3].0, found[3].3), (Role::Tool, 1));
    assert_eq!(found[4].0, Role::Other);
}

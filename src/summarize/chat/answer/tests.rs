//! Answers of every kind that servers give with status 200.

use serde_json::json;

use super::*;

fn read_json(api: Api, body: &Value) -> Result<ModelAnswer, &'static str> {
    read(api, body.to_string().as_bytes()).map_err(|bad| bad.failure.name)
}

fn openai(message: &Value, finish: &str) -> Value {
    json!({
        "choices": [{"message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 3},
    })
}

#[test]
fn a_text_comes_with_the_tokens_that_it_took() {
    for content in [
        json!("Did it."),
        json!([{"type": "text", "text": "Did "}, {"type": "text", "text": "it."}]),
    ] {
        let body = openai(&json!({"content": content, "refusal": null}), "stop");
        let answer = read_json(Api::OpenAi, &body).unwrap();
        assert_eq!(
            (answer.text.as_str(), answer.prompt_tokens),
            ("Did it.", Some(10))
        );
    }
    let body = json!({
        "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Did it."}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 5, "cache_read_input_tokens": 90, "output_tokens": 3},
    });
    let answer = read_json(Api::Anthropic, &body).unwrap();
    assert_eq!(
        (answer.prompt_tokens, answer.completion_tokens),
        (Some(95), Some(3))
    );
    assert_eq!(answer.text, "Did it.");
}

#[test]
fn every_way_of_not_answering_has_a_name() {
    let cases = [
        (openai(&json!({"content": ""}), "stop"), "summary_empty"),
        (openai(&json!({"content": null}), "stop"), "summary_empty"),
        (openai(&json!({"content": " \n"}), "stop"), "summary_empty"),
        (
            openai(&json!({"content": null, "reasoning_content": "hm"}), "length"),
            "summary_reasoning_only",
        ),
        (
            openai(&json!({"content": "<think>hm"}), "length"),
            "summary_reasoning_only",
        ),
        (
            openai(&json!({"content": "Did"}), "length"),
            "summary_cut_by_length",
        ),
        (
            openai(&json!({"content": null, "refusal": "No."}), "stop"),
            "summary_refused",
        ),
        (
            openai(&json!({"content": ""}), "content_filter"),
            "summary_refused",
        ),
        (openai(&json!({"content": 5}), "stop"), "summary_wrong_shape"),
        (json!({"choices": []}), "summary_wrong_shape"),
        (json!([1]), "summary_wrong_shape"),
        (
            json!({"error": {"message": "overloaded", "code": 503}}),
            "summary_error_body",
        ),
        (
            json!({"choices": [{"error": {"message": "upstream"}}]}),
            "summary_error_body",
        ),
    ];
    for (body, name) in cases {
        assert_eq!(read_json(Api::OpenAi, &body), Err(name), "{body}");
    }
    let cases = [
        (json!({"content": [], "stop_reason": "end_turn"}), "summary_empty"),
        (
            json!({"content": [{"type": "text", "text": "x"}], "stop_reason": "max_tokens"}),
            "summary_cut_by_length",
        ),
        (
            json!({"content": [{"type": "thinking", "thinking": "x"}], "stop_reason": "max_tokens"}),
            "summary_reasoning_only",
        ),
        (
            json!({"content": [], "stop_reason": "refusal"}),
            "summary_refused",
        ),
        (
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "o"}}),
            "summary_error_body",
        ),
        (json!({"answer": "x"}), "summary_wrong_shape"),
    ];
    for (body, name) in cases {
        assert_eq!(read_json(Api::Anthropic, &body), Err(name), "{body}");
    }
}

#[test]
fn a_text_with_a_reason_not_to_be_the_answer_is_none() {
    let text = json!({"content": "Let me look into the files first."});
    for (finish, name) in [
        ("error", "summary_finish_error"),
        ("abort", "summary_finish_error"),
        ("tool_calls", "summary_tool_call"),
        ("function_call", "summary_tool_call"),
        ("model_length", "summary_cut_by_length"),
        ("SAFETY", "summary_refused"),
    ] {
        assert_eq!(
            read_json(Api::OpenAi, &openai(&text, finish)),
            Err(name),
            "{finish}"
        );
    }
    let calls = json!({"content": "Let me look.", "tool_calls": [{"function": {"name": "ls"}}]});
    assert_eq!(
        read_json(Api::OpenAi, &openai(&calls, "stop")),
        Err("summary_tool_call")
    );
    let none = json!({"content": "Did it.", "tool_calls": [], "function_call": null});
    for finish in ["stop", "eos", "end_turn", ""] {
        assert!(read_json(Api::OpenAi, &openai(&none, finish)).is_ok(), "{finish}");
    }
    let body = json!({
        "content": [{"type": "text", "text": "Let me look."}, {"type": "tool_use", "name": "ls"}],
        "stop_reason": "tool_use",
    });
    assert_eq!(read_json(Api::Anthropic, &body), Err("summary_tool_call"));
}

#[test]
fn a_stream_and_a_page_have_their_names() {
    let chunk = r#"data: {"choices": [{"delta": {"content": "Did it."}}]}"#;
    for (body, name, is_final) in [
        (format!("{chunk}\n\ndata: [DONE]\n"), "summary_streamed", true),
        (format!(": PROCESSING\n\n{chunk}\n"), "summary_streamed", true),
        (
            "event: message_start\ndata: {}\n".to_owned(),
            "summary_streamed",
            true,
        ),
        ("\n<!DOCTYPE html><h1>502</h1>".to_owned(), "summary_html", false),
        ("upstream".to_owned(), "summary_invalid_json", false),
    ] {
        let bad = read(Api::OpenAi, body.as_bytes()).unwrap_err();
        assert_eq!((bad.failure.name, bad.is_final), (name, is_final), "{body}");
    }
    let page = "<html><head><title>Bad gateway</title></head>\n<h1>502</h1></html>";
    let bad = read(Api::OpenAi, page.as_bytes()).unwrap_err();
    assert_eq!(bad.failure.detail, "the answer is a page: Bad gateway 502");
}

#[test]
fn thoughts_before_an_answer_are_no_part_of_it() {
    assert_eq!(
        without_thoughts("<think>\nhm\n</think>\n\nDid it."),
        ("Did it.", true)
    );
    assert_eq!(without_thoughts("hm, so\n</think>\nDid it."), ("Did it.", true));
    assert_eq!(
        without_thoughts("Quoted <think>x</think> here."),
        ("Quoted <think>x</think> here.", false)
    );
}

#[test]
fn tokens_of_a_bad_answer_are_known_too_and_so_is_the_status_in_its_body() {
    let bad = read(
        Api::OpenAi,
        openai(&json!({"content": ""}), "stop").to_string().as_bytes(),
    )
    .unwrap_err();
    assert_eq!(bad.tokens, (Some(10), Some(3)));
    let body = json!({"error": {"message": "slow down", "code": "429"}});
    let bad = read(Api::OpenAi, body.to_string().as_bytes()).unwrap_err();
    assert_eq!(
        (bad.error.unwrap().status, bad.failure.detail.as_str()),
        (Some(429), "slow down")
    );
}

#[test]
fn an_error_message_is_found_wherever_servers_put_it() {
    for body in [
        r#"{"error": {"message": "no such model"}}"#,
        r#"{"error": "no such model"}"#,
        r#"{"object": "error", "message": "no such model", "type": "NotFoundError", "code": 404}"#,
        r#"{"type": "error", "error": {"message": "no such model"}}"#,
        "<html><h1>no such</h1> model</html>",
        "no such model",
    ] {
        assert_eq!(error_message(body.as_bytes()), "no such model", "{body}");
    }
}

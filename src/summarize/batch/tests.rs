//! Outcomes of questions, by the responses to them.

use serde_json::{Map, Value, json};

use super::*;
use crate::summarize::chat::api::Api;
use crate::summarize::chat::dialect::Dialect;
use crate::summarize::chat::question::ChatModel;
use crate::summarize::control_tokens::ControlTokens;
use crate::summarize::judge::Judge;
use crate::summarize::prompt::{Prompt, PromptSettings, Style};

/// The responses to every question.
struct Back(Vec<Value>);

impl Responses for Back {
    fn find(&self, _: &AnswerKey) -> Result<Option<BatchResponse>, String> {
        let mut outcomes = Vec::new();
        for line in &self.0 {
            let line = json!({"custom_id": "x", "response": line}).to_string();
            outcomes.push(response::read(line.as_bytes()).unwrap().outcome);
        }
        let answers = outcomes
            .iter()
            .filter(|outcome| matches!(outcome, ResponseOutcome::Answer(_)));
        let answers = answers.count();
        let failures = outcomes.len() - answers;
        let lessons = outcomes.iter().filter_map(ResponseOutcome::lesson).collect();
        Ok(outcomes.pop().map(|outcome| BatchResponse {
            outcome,
            failures,
            answers,
            lessons,
        }))
    }
}

fn ask(back: Vec<Value>, resend_failed: bool) -> QuestionOutcome<'static> {
    let settings = ChatSettings {
        api: Api::OpenAi,
        base_url: String::new(),
        key: None,
        headers: Vec::new(),
        body: Map::new(),
        model: "m".to_owned(),
        fallback_model: None,
        temperature: 0.3,
        max_output_tokens: None,
        context_window: None,
        timeout: std::time::Duration::ZERO,
        max_retries: 1,
        retry_delay: std::time::Duration::ZERO,
        max_concurrent_requests: 1,
        rpm: None,
        tpm: None,
        prompt: PromptSettings {
            style: Style::Concise,
            focus: None,
            template: None,
            redaction: true,
        },
    };
    let question = Question {
        model: Arc::new(ChatModel {
            is_fallback: false,
            name: "m".to_owned(),
            dialect: Dialect::default(),
        }),
        prompt: Prompt {
            system: Arc::from("Rules."),
            user: "Turns.".to_owned(),
        },
        prompt_tokens: 4,
        max_output: 100,
        seed: 0,
        judge: Judge {
            control_tokens: Arc::new(ControlTokens::and(&[])),
            region: 100_000,
        },
    };
    let postbox = BatchAnswers {
        responses: Arc::new(Back(back)),
        manner: RequestShape::default(),
        resend_failed,
    };
    postbox.ask(&settings, AnswerKey::of(&["q"]), &question, 50)
}

fn refusal(status: u16, message: &str) -> Value {
    json!({"status_code": status, "body": {"error": {"message": message}}})
}

fn pending(asked: QuestionOutcome) -> (Value, String) {
    match asked.result {
        Err(ChatError::Pending(request)) => {
            assert_eq!((request.prompt_tokens, request.completion_tokens), (4, 50));
            let line: Value = serde_json::from_slice(&request.line).unwrap();
            (line["body"].clone(), request.why.to_string())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_not_back_has_to_be_asked() {
    let asked = ask(Vec::new(), false);
    assert_eq!(asked.usage, Usage::default());
    let (body, why) = pending(asked);
    assert_eq!(body["messages"][1]["content"], "Turns.");
    assert!(why.starts_with("summary_missing"), "{why}");
}

#[test]
fn an_answer_counts_as_a_request_with_its_tokens() {
    let body = json!({
        "choices": [{"message": {"content": "Here is the summary:\nRan the tests, of which two failed."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3},
    });
    let asked = ask(vec![json!({"status_code": 200, "body": body})], false);
    assert_eq!(asked.result.unwrap().text, "Ran the tests, of which two failed.");
    let usage = asked.usage;
    assert_eq!(
        (
            usage.api_calls,
            usage.errors,
            usage.tokens.prompt,
            usage.tokens.completion
        ),
        (1, 0, 7, 3)
    );
}

#[test]
fn what_may_do_better_is_asked_again_as_often_as_a_request_is_repeated() {
    let (_, why) = pending(ask(vec![refusal(500, "oh")], false));
    assert!(why.starts_with("summary_http_500"), "{why}");
    let twice = ask(vec![refusal(500, "oh"), refusal(500, "oh")], false).result;
    assert!(matches!(twice, Err(ChatError::Failed(failure)) if failure.name == "summary_http_500"));
    pending(ask(vec![refusal(500, "oh"), refusal(500, "oh")], true));
}

#[test]
fn an_answer_that_is_no_summary_is_asked_for_again_as_a_failed_request_is() {
    let body =
        json!({"choices": [{"message": {"content": "Error: rate limit exceeded"}, "finish_reason": "stop"}]});
    let answer = json!({"status_code": 200, "body": body});
    let (_, why) = pending(ask(vec![answer.clone()], false));
    assert!(why.starts_with("summary_error_text"), "{why}");
    for back in [
        vec![answer.clone(), answer.clone()],
        vec![refusal(500, "oh"), answer],
    ] {
        let twice = ask(back, false).result;
        assert!(matches!(twice, Err(ChatError::Failed(failure)) if failure.name == "summary_error_text"));
    }
}

#[test]
fn what_was_refused_for_good_is_asked_again_only_on_demand() {
    let asked = ask(vec![refusal(404, "no such model")], false).result;
    assert!(matches!(asked, Err(ChatError::Failed(failure)) if failure.name == "summary_http_404"));
    pending(ask(vec![refusal(404, "no such model")], true));
    let long = ask(vec![refusal(400, "maximum context length is 900 tokens")], false).result;
    assert!(matches!(long, Err(ChatError::TooLong(_, Some(900)))));
}

#[test]
fn a_parameter_that_was_refused_is_written_otherwise_the_next_time() {
    let limit = refusal(400, "use max_completion_tokens");
    let (body, _) = pending(ask(vec![limit.clone()], false));
    assert_eq!(
        (&body["max_completion_tokens"], &body["temperature"]),
        (&json!(100), &json!(0.3))
    );
    let (body, _) = pending(ask(vec![limit, refusal(400, "no temperature")], true));
    assert_eq!(
        (&body["max_completion_tokens"], body.get("temperature")),
        (&json!(100), None)
    );
}

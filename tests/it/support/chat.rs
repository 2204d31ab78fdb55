//! A server that answers as a language model's would, on a port of its own, and what is asked of it.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::cli::{Ran, Workspace};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;
use trajfit::internals::cache::{AnswerCache, CacheAccess};
use trajfit::internals::compress::anchors::Anchor;
use trajfit::internals::summarize::answers::InMemory;
use trajfit::internals::summarize::chat::api::Api;
use trajfit::internals::summarize::chat::{ChatSettings, ChatSummarizer};
use trajfit::internals::summarize::prompt::{PromptSettings, Style};
use trajfit::internals::summarize::spend::{Spend, SpendLimits};
use trajfit::internals::summarize::{Summarizer, Summary, SummaryError, SummaryRequest};
use trajfit::internals::trajectory::{Role, TurnView};
use wiremock::{Match, Mock, MockServer, Request, Respond, ResponseTemplate};

/// A server in this process.
pub struct Server {
    runtime: Runtime,
    server: MockServer,
}

struct Anything;

impl Match for Anything {
    fn matches(&self, _: &Request) -> bool {
        true
    }
}

impl Server {
    /// A server that answers the first `times` requests with `failure` and the others well.
    pub fn failing(times: usize, failure: ResponseTemplate) -> Self {
        Self::start(move |number, _| {
            if number < times {
                failure.clone()
            } else {
                completion("Done.")
            }
        })
    }

    /// Answers every request as `respond` does, which is told how many there were before.
    pub fn start(respond: impl Fn(usize, &Request) -> ResponseTemplate + Send + Sync + 'static) -> Self {
        struct Numbered<R>(AtomicUsize, R);
        impl<R: Fn(usize, &Request) -> ResponseTemplate + Send + Sync> Respond for Numbered<R> {
            fn respond(&self, request: &Request) -> ResponseTemplate {
                (self.1)(self.0.fetch_add(1, Ordering::SeqCst), request)
            }
        }
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).enable_all().build().unwrap();
        let server = runtime.block_on(async {
            let server = MockServer::start().await;
            let numbered = Numbered(AtomicUsize::new(0), respond);
            Mock::given(Anything).respond_with(numbered).mount(&server).await;
            server
        });
        Self { runtime, server }
    }

    /// Its address, with the version that clients are given.
    pub fn url(&self) -> String {
        format!("{}/v1", self.server.uri())
    }

    /// What it was asked, in the order of arrival.
    pub fn requests(&self) -> Vec<Request> {
        self.runtime.block_on(self.server.received_requests()).unwrap()
    }

    /// The bodies of what it was asked.
    pub fn bodies(&self) -> Vec<Value> {
        let requests = self.requests();
        requests
            .iter()
            .map(|request| request.body_json().unwrap())
            .collect()
    }
}

/// A completion with that text.
pub fn completion(text: &str) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(json!({
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100},
    }))
}

/// An error of that status with a message.
pub fn refusal(status: u16, message: &str) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(json!({"error": {"message": message}}))
}

/// What a request says after the system's text.
pub fn user_text(body: &Value) -> String {
    let messages = body["messages"].as_array().unwrap();
    messages.last().unwrap()["content"].as_str().unwrap().to_owned()
}

/// An answer that depends on the question and on nothing else.
pub fn answer_to(request: &Request) -> String {
    let prompt = user_text(&request.body_json().unwrap());
    let sum = prompt
        .bytes()
        .fold(7_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    format!("The agent read the files and ran the tests ({sum:016x}).\nTwo of them failed.")
}

/// A server that speaks no HTTP: it reads a request, answers with these bytes, and hangs up.
pub fn raw_server(reply: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            read_request(&mut stream);
            let _ = stream.write_all(reply);
        }
    });
    format!("http://{address}/v1")
}

/// Reads a request to its end: where bytes of it are left unread, hanging up may take the answer back.
fn read_request(stream: &mut impl Read) {
    let mut data = Vec::new();
    let mut buffer = vec![0; 65536];
    loop {
        let head = data.windows(4).position(|four| four == b"\r\n\r\n");
        let whole = head.map(|end| {
            let text = String::from_utf8_lossy(&data[..end]).to_lowercase();
            let length = text.split("content-length: ").nth(1).unwrap();
            end + 4 + length.lines().next().unwrap().parse::<usize>().unwrap()
        });
        if whole.is_some_and(|whole| data.len() >= whole) {
            return;
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(read) => data.extend_from_slice(&buffer[..read]),
        }
    }
}

/// Settings for a server, with pauses that a test can wait for.
pub fn chat_settings(url: &str) -> ChatSettings {
    ChatSettings {
        api: Api::OpenAi,
        base_url: url.to_owned(),
        key: None,
        headers: Vec::new(),
        body: Map::new(),
        model: "first".to_owned(),
        fallback_model: None,
        temperature: 0.3,
        max_output_tokens: None,
        context_window: None,
        timeout: Duration::from_secs(30),
        max_retries: 2,
        retry_delay: Duration::from_millis(5),
        max_concurrent_requests: 50,
        rpm: None,
        tpm: None,
        prompt: PromptSettings {
            style: Style::Concise,
            focus: None,
            template: None,
            redaction: true,
        },
    }
}

/// A summarizer with these settings.
pub fn summarizer(settings: ChatSettings) -> ChatSummarizer {
    limited(settings, SpendLimits::default()).0
}

/// A summarizer with limits, and its live figures.
pub fn limited(settings: ChatSettings, limits: SpendLimits) -> (ChatSummarizer, Arc<Spend>) {
    let spend = Arc::new(Spend::new(limits));
    let store = Arc::new(InMemory::default());
    let summarizer = ChatSummarizer::new(settings, store, Arc::clone(&spend), super::counter());
    (summarizer.unwrap(), spend)
}

/// A summarizer whose answers are kept on disk.
pub fn keeping(settings: ChatSettings, folder: &Path) -> ChatSummarizer {
    let store = AnswerCache::new(
        folder.to_owned(),
        CacheAccess::Keep,
        Box::new(|warning| panic!("{warning}")),
    );
    let summarizer =
        ChatSummarizer::new(settings, Arc::new(store), Arc::default(), super::counter()).unwrap();
    summarizer.prepare().unwrap();
    summarizer
}

/// `compress` of the demo records with a model at that address.
pub fn arguments(url: &str) -> Vec<String> {
    let arguments = [
        "compress",
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--target-max-tokens",
        "12000",
        "--summarizer",
        "chat",
        "--model",
        "test-model",
        "--retry-delay",
        "0.01",
        "--base-url",
        url,
    ];
    arguments.map(str::to_owned).to_vec()
}

/// Runs it with more flags.
pub fn run(workspace: &Workspace, url: &str, more: &[&str]) -> Ran {
    let arguments = arguments(url);
    let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    arguments.extend(more);
    workspace.run(&arguments)
}

/// A turn that says something.
pub fn turn(index: usize, role: Role, text: &str) -> TurnView<'static> {
    TurnView::of_text(index, role, text.to_owned())
}

/// Asks for a summary of one turn that says `text`.
pub fn summarize(summarizer: &ChatSummarizer, text: &str) -> Result<Summary, SummaryError> {
    summarize_turns(summarizer, &[turn(3, Role::Assistant, text)], &[])
}

/// Asks for a summary of turns, of at most 200 tokens.
pub fn summarize_turns(
    summarizer: &ChatSummarizer,
    turns: &[TurnView<'_>],
    anchors: &[Anchor],
) -> Result<Summary, SummaryError> {
    pollster::block_on(summary_of(summarizer, turns, anchors))
}

/// As [`summarize_turns`], for whoever waits for several at once.
pub async fn summary_of(
    summarizer: &ChatSummarizer,
    turns: &[TurnView<'_>],
    anchors: &[Anchor],
) -> Result<Summary, SummaryError> {
    let counter = super::counter();
    let request = SummaryRequest {
        turns: &trajfit::internals::summarize::Stretch::of(turns),
        is_redacted: false,
        previous: None,
        in_progress: None,
        around: trajfit::internals::summarize::Around::default(),
        files_follow: false,
        reuse: trajfit::internals::compress::reuse::Reuse::none(),
        anchors,
        max_tokens: 200,
        target_tokens: 200,
        counter: counter.as_ref(),
    };
    summarizer.summarize(request).await
}

/// The name of a failure, or the text of a summary.
pub fn outcome(result: &Result<Summary, SummaryError>) -> String {
    match result {
        Ok(summary) => summary.text.replace("[CONTEXT SUMMARY]:\n", ""),
        Err(SummaryError::Failed { name, .. }) => (*name).to_owned(),
        Err(SummaryError::EndRun { .. }) => "end of the run".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// Runs `task` so often at once.
pub fn at_once<T: Send>(times: usize, task: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for number in 0..times {
            let (done, task) = (&done, &task);
            scope.spawn(move || {
                let result = task(number);
                done.lock().unwrap().push(result);
            });
        }
    });
    done.into_inner().unwrap()
}

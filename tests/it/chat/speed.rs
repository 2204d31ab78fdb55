//! What requests cost, with answers kept on disk: throughput against a slow server, and processor time a request. Ignored
//! unless asked for, since it measures: `cargo test --release --test it chat::speed -- --ignored --nocapture`.

use std::io::Write as _;
use std::time::{Duration, Instant};

use crate::support::chat::{chat_settings, keeping, turn};
use trajfit::internals::summarize::{Summarizer, SummaryRequest};
use trajfit::internals::trajectory::Role;

const REQUESTS: usize = 2500;
const LATENCY: Duration = Duration::from_millis(200);

/// A server as light as can be: it reads a request, waits, and answers; connections are kept.
async fn serve(listener: tokio::net::TcpListener) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let body = r#"{"choices":[{"message":{"content":"The tests were run in the end, and all passed."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":9}}"#;
    let reply = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        let reply = reply.clone();
        tokio::spawn(async move {
            let mut data = Vec::new();
            loop {
                let head = loop {
                    if let Some(at) = data.windows(4).position(|four| four == b"\r\n\r\n") {
                        break at + 4;
                    }
                    if stream.read_buf(&mut data).await.unwrap_or(0) == 0 {
                        return;
                    }
                };
                let text = String::from_utf8_lossy(&data[..head]).to_lowercase();
                let length = text.split("content-length: ").nth(1).unwrap();
                let length: usize = length.lines().next().unwrap().trim().parse().unwrap();
                while data.len() < head + length {
                    if stream.read_buf(&mut data).await.unwrap_or(0) == 0 {
                        return;
                    }
                }
                data.drain(..head + length);
                tokio::time::sleep(LATENCY).await;
                if stream.write_all(reply.as_bytes()).await.is_err() {
                    return;
                }
            }
        });
    }
}

/// Processor time of this process so far.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

#[test]
#[ignore = "it measures"]
fn requests_fill_the_time_that_the_server_takes() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let listener = runtime
        .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
        .unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    runtime.spawn(serve(listener));
    let folder = tempfile::tempdir().unwrap();
    let chat = keeping(chat_settings(&url), folder.path());
    let counter = crate::support::counter();
    // About what a region of a trajectory has: 12 turns of 4 kB.
    let text = |number: usize, at: usize| format!("Turn {at} of record {number} says this.\n").repeat(120);
    let ask = async |number: usize| {
        let turns: Vec<_> = (0..12)
            .map(|at| turn(at, Role::Assistant, &text(number, at)))
            .collect();
        let request = SummaryRequest {
            turns: &trajfit::internals::summarize::Stretch::of(&turns),
            is_redacted: false,
            previous: None,
            in_progress: None,
            around: trajfit::internals::summarize::Around::default(),
            files_follow: false,
            reuse: trajfit::internals::compress::reuse::Reuse::none(),
            anchors: &[],
            max_tokens: 750,
            target_tokens: 750,
            counter: counter.as_ref(),
        };
        chat.summarize(request).await.unwrap();
    };
    pollster::block_on(ask(0));
    let (started, processor) = (Instant::now(), processor_time());
    let next = std::sync::atomic::AtomicUsize::new(1);
    pollster::block_on(futures_util::future::join_all((0..100).map(|_| async {
        loop {
            let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            if number > REQUESTS {
                break;
            }
            ask(number).await;
        }
    })));
    let (elapsed, processor) = (started.elapsed(), processor_time().saturating_sub(processor));
    let rate = REQUESTS as f64 / elapsed.as_secs_f64();
    let each = processor.as_secs_f64() * 1e3 / REQUESTS as f64;
    let _ = writeln!(
        std::io::stderr(),
        "{rate:.1} requests/s of 250, {each:.2} ms of processor time each, the server's and the test's own included"
    );
    assert!(rate >= 0.95 * 250.0);
}

//! Sends the requests of stores. A server is given up when nothing moves for a while, in either direction: an upload over a slow
//! line takes as long as it takes.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, TryFutureExt};
use http_body::{Body, Frame, SizeHint};
use object_store::client::{
    HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse, HttpService,
};
use reqwest::Client;

use crate::http;

/// The longest time that nothing of an upload may move. What the system has taken to send is not seen to move: a slow line
/// needs a while for it.
const SILENCE: Duration = Duration::from_mins(1);

/// Bytes of a body that are handed over at once. Bodies that are not larger need no watching.
const CHUNK: usize = 64 * 1024;

/// The HTTP client of a store.
#[derive(Debug)]
pub struct Sender {
    /// Sends requests with small bodies: its patience begins with the request.
    quick: Client,
    /// Sends large bodies.
    patient: Client,
    silence: Duration,
}

impl Sender {
    /// A sender to a server.
    ///
    /// # Errors
    ///
    /// The system's message, if no client can be made.
    pub fn to(endpoint: &str) -> Result<Self, String> {
        Ok(Self {
            quick: http::transfer_client(endpoint)?,
            patient: http::client(endpoint)?,
            silence: SILENCE,
        })
    }

    /// Sends a large body, and watches it move.
    async fn upload(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let url = reqwest::Url::parse(&parts.uri.to_string());
        let mut request = reqwest::Request::new(
            parts.method,
            url.map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?,
        );
        *request.headers_mut() = parts.headers;
        let moved = Moved::now();
        *request.body_mut() = Some(reqwest::Body::wrap(Watched::of(body, moved.clone())));
        // Answers to uploads are small: they are read here, under the same watch.
        let answer = async {
            let response = self.patient.execute(request).await?;
            moved.again();
            let (status, headers) = (response.status(), response.headers().clone());
            Ok((status, headers, response.bytes().await?))
        };
        let (status, headers, bytes) =
            while_moving(&moved, self.silence, answer.map_err(failure).boxed()).await?;
        let mut response = HttpResponse::new(bytes.into());
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        Ok(response)
    }
}

impl HttpService for Sender {
    fn call<'s, 'f>(&'s self, request: HttpRequest) -> BoxFuture<'f, Result<HttpResponse, HttpError>>
    where
        's: 'f,
        Self: 'f,
    {
        if request.body().content_length() > CHUNK {
            self.upload(request).boxed()
        } else {
            self.quick.call(request)
        }
    }
}

/// An answer, or an error when nothing moved for a while.
async fn while_moving<T>(
    moved: &Moved,
    silence: Duration,
    mut answer: BoxFuture<'_, Result<T, HttpError>>,
) -> Result<T, HttpError> {
    loop {
        let left = silence.saturating_sub(moved.ago());
        if left.is_zero() {
            return Err(HttpError::new(HttpErrorKind::Timeout, Silent));
        }
        if let Ok(answer) = tokio::time::timeout(left, &mut answer).await {
            return answer;
        }
    }
}

/// The error of an upload, as the retries of the crate know it.
fn failure(error: reqwest::Error) -> HttpError {
    let kind = if error.is_connect() {
        HttpErrorKind::Connect
    } else if error.is_timeout() {
        HttpErrorKind::Timeout
    } else {
        HttpErrorKind::Interrupted
    };
    HttpError::new(kind, error.without_url())
}

/// The error for an upload of which nothing moves.
#[derive(Debug)]
struct Silent;

impl fmt::Display for Silent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the server takes nothing and does not answer")
    }
}

impl Error for Silent {}

/// The time at which something moved.
#[derive(Debug, Clone)]
struct Moved(Arc<Mutex<Instant>>);

impl Moved {
    fn now() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    fn again(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn ago(&self) -> Duration {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }
}

/// A body that notes when a piece of it is taken.
struct Watched {
    body: HttpRequestBody,
    current: Bytes,
    moved: Moved,
}

impl Watched {
    fn of(body: HttpRequestBody, moved: Moved) -> Self {
        Self {
            body,
            current: Bytes::new(),
            moved,
        }
    }
}

impl Body for Watched {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        self.moved.again();
        while self.current.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                None => return Poll::Ready(None),
                Some(frame) => match frame?.into_data() {
                    Ok(bytes) => self.current = bytes,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
            }
        }
        let length = self.current.len().min(CHUNK);
        let piece = self.current.split_to(length);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.current.len() as u64;
        match self.body.size_hint().exact() {
            Some(exact) => SizeHint::with_exact(exact + rest),
            None => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::task::Waker;
    use std::thread;

    use super::super::runtime;
    use super::*;

    /// Bytes that no buffer of the system takes at once.
    const BODY: usize = 24 * 1024 * 1024;

    fn put(
        silence: Duration,
        server: impl FnOnce(std::net::TcpStream) + Send + 'static,
    ) -> Result<u16, String> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/k", listener.local_addr().unwrap());
        thread::spawn(move || server(listener.accept().unwrap().0));
        let sender = Sender {
            silence,
            ..Sender::to(&url).unwrap()
        };
        let mut request = HttpRequest::new(vec![7; BODY].into());
        *request.method_mut() = reqwest::Method::PUT;
        *request.uri_mut() = url.parse().unwrap();
        let sent = runtime::wait(async { Ok(sender.call(request).await) }).unwrap();
        sent.map(|response| response.status().as_u16())
            .map_err(|error| format!("{:?}", error.kind()))
    }

    #[test]
    fn a_slow_line_is_waited_for_as_long_as_something_moves() {
        let silence = Duration::from_secs(1);
        let moved = Moved::now();
        let pieces = async {
            for _ in 0..10 {
                tokio::time::sleep(silence / 4).await;
                moved.again();
            }
            Ok(())
        };
        let answer = runtime::wait(async { Ok(while_moving(&moved, silence, pieces.boxed()).await) });
        assert!(answer.unwrap().is_ok());
    }

    #[test]
    fn a_piece_that_is_taken_has_moved() {
        let silence = Duration::from_millis(20);
        let moved = Moved::now();
        let mut body = Watched::of(vec![7; 3 * CHUNK].into(), moved.clone());
        for _ in 0..3 {
            thread::sleep(silence);
            let before = Instant::now();
            let frame = Pin::new(&mut body).poll_frame(&mut Context::from_waker(Waker::noop()));
            assert!(moved.ago() <= before.elapsed());
            assert!(
                matches!(frame, Poll::Ready(Some(Ok(frame))) if frame.data_ref().is_some_and(|data| data.len() == CHUNK))
            );
        }
    }

    #[test]
    fn a_large_body_arrives_whole() {
        let sent = put(SILENCE, |mut stream| {
            let mut left = BODY;
            let mut buffer = vec![0; 1024 * 1024];
            while left > 0 {
                left = left.saturating_sub(stream.read(&mut buffer).unwrap());
            }
            stream
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                .unwrap();
            // What is left of the request is read, or the answer would be lost with it.
            let _ = stream.read_to_end(&mut buffer);
        });
        assert_eq!(sent, Ok(200));
    }

    #[test]
    fn a_server_that_takes_nothing_or_does_not_answer_is_given_up() {
        let silence = Duration::from_millis(300);
        let stalled = put(silence, |stream| {
            thread::sleep(Duration::from_secs(5));
            drop(stream);
        });
        assert_eq!(stalled, Err("Timeout".to_owned()));
        let silent = put(silence, |mut stream| {
            let mut buffer = vec![0; 1024 * 1024];
            while stream.read(&mut buffer).is_ok_and(|read| read > 0) {}
        });
        assert_eq!(silent, Err("Timeout".to_owned()));
    }
}

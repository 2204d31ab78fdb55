//! A web server on the loopback interface that answers as a test says.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A request for a file.
#[derive(Debug, Clone)]
pub struct Request {
    pub path: String,
    /// By their names in small letters.
    pub headers: BTreeMap<String, String>,
    /// How many requests for this path came before.
    pub before: usize,
}

/// What is answered.
#[derive(Debug, Clone)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    /// The connection breaks off after so many bytes of the body.
    pub breaks_after: Option<usize>,
}

impl Response {
    pub fn new(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
            breaks_after: None,
        }
    }

    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }
}

/// A server that runs until the test's process ends.
pub struct Server {
    pub address: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    pub fn start(answer: impl Fn(&Request) -> Response + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&requests), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                // Who has gone away needs no answer.
                thread::spawn(move || serve(&stream.unwrap(), &seen, &*answer).ok());
            }
        });
        Self { address, requests }
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(
    mut stream: &TcpStream,
    seen: &Mutex<Vec<Request>>,
    answer: &(impl Fn(&Request) -> Response + ?Sized),
) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    let Some(path) = first.split(' ').nth(1).map(str::to_owned) else {
        return Ok(());
    };
    let mut headers = BTreeMap::new();
    for line in lines {
        let line = line?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let request = {
        let mut seen = seen.lock().unwrap();
        let before = seen.iter().filter(|request| request.path == path).count();
        let request = Request {
            path,
            headers,
            before,
        };
        seen.push(request.clone());
        request
    };
    let response = answer(&request);
    write!(
        stream,
        "HTTP/1.1 {} -\r\nConnection: close\r\nContent-Length: {}\r\n",
        response.status,
        response.body.len()
    )?;
    for (name, value) in &response.headers {
        write!(stream, "{name}: {value}\r\n")?;
    }
    stream.write_all(b"\r\n")?;
    let end = response.breaks_after.unwrap_or(response.body.len());
    stream.write_all(&response.body[..end])
}

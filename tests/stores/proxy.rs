//! A proxy in front of a server that answers 503 now and then, and cuts answers short.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What a proxy does to a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    /// It answers with 503, and the server hears of nothing.
    Unavailable,
    /// It breaks off after so many bytes of the answer.
    Cut(usize),
}

/// A proxy that runs until the test's process ends.
pub struct Proxy {
    pub address: String,
    connections: Arc<AtomicUsize>,
}

impl Proxy {
    /// A proxy of the server at `address`, with a fault for each connection by its number and the first line of its request.
    pub fn start(address: &str, fault: impl Fn(usize, &str) -> Fault + Send + Sync + 'static) -> Self {
        let target = address.trim_start_matches("http://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let connections = Arc::new(AtomicUsize::new(0));
        let (seen, fault) = (Arc::clone(&connections), Arc::new(fault));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (target, fault) = (target.clone(), Arc::clone(&fault));
                let number = seen.fetch_add(1, Ordering::Relaxed);
                thread::spawn(move || pass(&stream.unwrap(), &target, |line| fault(number, line)).ok());
            }
        });
        Self { address, connections }
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

fn pass(mut client: &TcpStream, target: &str, fault: impl Fn(&str) -> Fault) -> std::io::Result<()> {
    let mut start = vec![0; 64 * 1024];
    let read = client.read(&mut start)?;
    start.truncate(read);
    let line = String::from_utf8_lossy(&start)
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned();
    let fault = fault(&line);
    if fault == Fault::Unavailable {
        client.write_all(b"HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")?;
        return client.shutdown(std::net::Shutdown::Write);
    }
    let mut server = TcpStream::connect(target)?;
    server.write_all(&start)?;
    let (mut from, mut to) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || std::io::copy(&mut from, &mut to));
    if let Fault::Cut(bytes) = fault {
        std::io::copy(&mut server.take(bytes as u64), &mut client)?;
    } else {
        std::io::copy(&mut server, &mut client)?;
    }
    client.shutdown(std::net::Shutdown::Both)
}

//! One running program: started, asked a line, ended or killed.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use futures_util::future::join;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// Bytes of an answer that are read; no summary is nearly as long.
const MAX_ANSWER: usize = 8 * 1024 * 1024;

/// Time that a program has to end after it closed its output, so that its exit status can be reported.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A program that answers one request after the other. Dropped, it is killed.
pub struct Program {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

/// The reason why there is no answer; the program cannot be used any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramFault {
    /// It ended, or closed its output.
    Died(String),
    /// Its answer is longer than any summary.
    Endless,
}

impl Program {
    /// Starts a program. It inherits our standard error.
    ///
    /// # Errors
    ///
    /// If the system cannot start it.
    pub fn start(command: &[String]) -> Result<Self, String> {
        let (program, arguments) = command.split_first().ok_or("no program is named")?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .kill_on_drop(true);
        // Ctrl-C is for us, not for the program: we wait for its answer.
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (stdin, stdout) = pipes.ok_or("it has no pipes")?;
        Ok(Self {
            child,
            stdin,
            stdout: BufReader::new(stdout),
        })
    }

    /// Returns true if it has written nothing unasked.
    pub fn is_quiet(&self) -> bool {
        self.stdout.buffer().is_empty()
    }

    /// Sends a line, and reads the one that comes back.
    pub async fn ask(&mut self, line: &[u8]) -> Result<Vec<u8>, ProgramFault> {
        let send = async {
            self.stdin.write_all(line).await?;
            self.stdin.flush().await
        };
        // It may begin to answer before it has read everything.
        let (sent, answer) = join(send, read_line(&mut self.stdout)).await;
        match answer {
            Ok(Some(answer)) if sent.is_ok() => Ok(answer),
            Ok(Some(_)) => Err(ProgramFault::Died("it closed its input".to_owned())),
            Ok(None) => Err(ProgramFault::Endless),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(ProgramFault::Died(self.ending().await))
            }
            Err(error) => Err(ProgramFault::Died(error.to_string())),
        }
    }

    /// Its exit status, or why there is none.
    async fn ending(&mut self) -> String {
        match tokio::time::timeout(LAST_WORDS, self.child.wait()).await {
            Ok(Ok(status)) => status.to_string(),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it closed its output".to_owned(),
        }
    }

    /// Closes its input, and gives it up to `patience` to end by itself.
    pub async fn end(mut self, patience: Duration) {
        drop(self.stdin);
        // It is killed if it does not.
        let _ = tokio::time::timeout(patience, self.child.wait()).await;
    }
}

/// A line without its end; `None` if it is longer than any answer.
async fn read_line(stdout: &mut BufReader<ChildStdout>) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    loop {
        let read = stdout.fill_buf().await?;
        if read.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let end = memchr::memchr(b'\n', read);
        let taken = read.get(..end.unwrap_or(read.len())).unwrap_or_default();
        line.extend_from_slice(taken);
        let used = taken.len() + usize::from(end.is_some());
        stdout.consume(used);
        if line.len() > MAX_ANSWER {
            return Ok(None);
        }
        if end.is_some() {
            return Ok(Some(line));
        }
    }
}

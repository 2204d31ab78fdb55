//! The S3 server of a test, and the program with its address and keys.
//!
//! It is the one that `scripts/fetch-servers.sh` fetches into `target/servers`, or into the folder that `TRAJFIT_SERVERS`
//! names; without it, tests that need it are not run, and a line says so.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::support::cli::{Ran, Workspace};

/// The bucket that every server has.
pub const BUCKET: &str = "data";

/// A run from store to store that compresses nothing.
pub const ARGUMENTS: [&str; 7] = [
    "compress",
    "s3://data/in.jsonl",
    "-o",
    "s3://data/out.jsonl",
    "--max-tokens",
    "1m",
    "--no-cache",
];

/// A server that runs until this is dropped.
pub struct S3 {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    pub address: String,
    pub key: String,
    pub secret: String,
}

impl S3 {
    pub fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// A server that takes requests of anybody.
    pub fn open() -> Option<Self> {
        Self::start_with(&["--open"])
    }

    fn start_with(options: &[&str]) -> Option<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let servers =
            std::env::var_os("TRAJFIT_SERVERS").map_or_else(|| root.join("target/servers"), PathBuf::from);
        let fetched = servers.join("s3");
        if !fetched.join("version").exists() {
            eprintln!("no {}: scripts/fetch-servers.sh fetches it", fetched.display());
            return None;
        }
        let mut child = Command::new("python3")
            .arg(root.join("tests/servers/s3.py"))
            .arg(fetched)
            .args(options)
            .arg(BUCKET)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let text = |name: &str| told[name].as_str().unwrap().to_owned();
        Some(Self {
            child,
            stdin,
            stdout,
            address: text("address"),
            key: text("key"),
            secret: text("secret"),
        })
    }

    fn ask(&mut self, command: &Value) -> Value {
        writeln!(self.stdin, "{command}").unwrap();
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{command}: {line:?}: {error}"))
    }

    /// Writes an object.
    pub fn put(&mut self, key: &str, bytes: impl AsRef<[u8]>) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        self.ask(&json!(["put", BUCKET, key, file.path()]));
    }

    /// The content of an object.
    pub fn get(&mut self, key: &str) -> Vec<u8> {
        let file = tempfile::NamedTempFile::new().unwrap();
        self.ask(&json!(["get", BUCKET, key, file.path()]));
        std::fs::read(file.path()).unwrap()
    }

    /// Removes an object.
    pub fn delete(&mut self, key: &str) {
        self.ask(&json!(["delete", BUCKET, key]));
    }

    fn names(&mut self, command: &str) -> Vec<String> {
        serde_json::from_value(self.ask(&json!([command, BUCKET]))).unwrap()
    }

    /// The names of all objects.
    pub fn objects(&mut self) -> Vec<String> {
        self.names("list")
    }

    /// The names of objects whose uploads are under way.
    pub fn uploads(&mut self) -> Vec<String> {
        self.names("uploads")
    }

    /// The program in a workspace, with this server at another address.
    pub fn command_at(&self, address: &str, workspace: &Workspace, arguments: &[&str]) -> Command {
        let mut command = workspace.command(arguments);
        for (variable, _) in std::env::vars_os() {
            let name = variable.to_string_lossy();
            if name.starts_with("AWS_") || name.to_lowercase().ends_with("_proxy") {
                command.env_remove(&variable);
            }
        }
        command
            .env("HOME", workspace.path("home"))
            .env_remove("XDG_STATE_HOME")
            .env("AWS_ENDPOINT_URL", address)
            .env("AWS_ACCESS_KEY_ID", &self.key)
            .env("AWS_SECRET_ACCESS_KEY", &self.secret);
        command
    }

    pub fn command(&self, workspace: &Workspace, arguments: &[&str]) -> Command {
        self.command_at(&self.address, workspace, arguments)
    }

    /// `compress` with these arguments.
    pub fn compress(&self, workspace: &Workspace, arguments: &[&str]) -> Ran {
        let mut command = self.command(workspace, &[&["compress"], arguments].concat());
        self.without_secrets(workspace, Ran::of(command.output().unwrap()))
    }

    /// Asserts that the secret key is in nothing that the program has written.
    #[track_caller]
    pub fn without_secrets(&self, workspace: &Workspace, ran: Ran) -> Ran {
        assert!(!ran.stderr.contains(&self.secret), "{}", ran.stderr);
        for file in workspace.files() {
            let bytes = workspace.read(&file);
            assert!(
                memchr::memmem::find(&bytes, self.secret.as_bytes()).is_none(),
                "{file}"
            );
        }
        ran
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

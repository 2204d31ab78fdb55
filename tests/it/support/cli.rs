//! Runs the program in a folder of its own, and looks at what it left there.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use trajfit::internals::metrics::{Row, read_rows};

/// A budget under which the quirks, of about 1,000 tokens each, are compressed.
pub const SMALL: [&str; 4] = ["--target-max-tokens", "600", "--summary-target-tokens", "100"];

/// `compress` of a workspace's input under that budget.
pub const COMPRESS_SMALL: [&str; 8] = [
    "compress",
    "in.jsonl",
    "-o",
    "out.jsonl",
    "--target-max-tokens",
    "600",
    "--summary-target-tokens",
    "100",
];

/// A temporary folder that the program runs in.
pub struct Workspace {
    folder: TempDir,
}

/// What a run came to.
#[derive(Debug)]
pub struct Ran {
    pub status: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Workspace {
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// A workspace that holds these bytes as `in.jsonl`.
    pub fn with_input(bytes: impl AsRef<[u8]>) -> Self {
        let workspace = Self::new();
        workspace.write("in.jsonl", bytes);
        workspace
    }

    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    #[track_caller]
    pub fn read(&self, name: impl AsRef<Path>) -> Vec<u8> {
        std::fs::read(self.path(&name)).unwrap_or_else(|error| panic!("{}: {error}", name.as_ref().display()))
    }

    #[track_caller]
    pub fn text(&self, name: impl AsRef<Path>) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    pub fn exists(&self, name: impl AsRef<Path>) -> bool {
        self.path(name).exists()
    }

    /// How many bytes the files below a folder have. A file that goes away meanwhile has none.
    pub fn bytes_below(&self, folder: &str) -> u64 {
        let size = |entry: std::fs::DirEntry| match entry.metadata() {
            Ok(metadata) if metadata.is_file() => metadata.len(),
            Ok(metadata) if metadata.is_dir() => {
                self.bytes_below(&format!("{folder}/{}", entry.file_name().to_string_lossy()))
            }
            _ => 0,
        };
        let entries = std::fs::read_dir(self.path(folder)).into_iter().flatten();
        entries.filter_map(Result::ok).map(size).sum()
    }

    /// All files, by their paths below the folder, in order.
    pub fn files(&self) -> Vec<String> {
        let mut folders = vec![self.folder.path().to_owned()];
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let below = path.strip_prefix(self.folder.path()).unwrap();
                    files.push(below.to_string_lossy().into_owned());
                }
            }
        }
        files.sort();
        files
    }

    /// The program in this folder, with none of the settings of whoever runs the tests.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trajfit"));
        self.prepare(&mut command);
        command.args(arguments);
        command
    }

    /// A shell script in this folder, with the program as `$0`.
    pub fn shell(&self, script: &str) -> Ran {
        let mut command = Command::new("sh");
        self.prepare(&mut command);
        command.args(["-c", script, env!("CARGO_BIN_EXE_trajfit")]);
        Ran::of(command.output().unwrap())
    }

    fn prepare(&self, command: &mut Command) {
        for (variable, _) in std::env::vars_os() {
            if variable.to_string_lossy().starts_with("TRAJFIT_") {
                command.env_remove(variable);
            }
        }
        command
            .env("NO_COLOR", "1")
            .env_remove("CI")
            // No test asks a server that it has not started.
            .env("HF_HUB_OFFLINE", "1")
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    /// `compress` with these arguments.
    pub fn compress(&self, arguments: &[&str]) -> Ran {
        self.run(&[&["compress"], arguments].concat())
    }

    /// `compress` with bytes on stdin.
    pub fn compress_stdin(&self, arguments: &[&str], stdin: &[u8]) -> Ran {
        let mut command = self.command(&[&["compress"], arguments].concat());
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            // Where the program ends early, the rest has no reader.
            scope.spawn(move || pipe.write_all(stdin));
            Ran::of(child.wait_with_output().unwrap())
        })
    }

    /// The rows of a metrics file.
    #[track_caller]
    pub fn rows(&self, name: &str) -> Vec<Row> {
        read_rows(self.read(name).as_slice())
            .collect::<Result<_, _>>()
            .unwrap()
    }

    #[track_caller]
    pub fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&self.read(name)).unwrap()
    }

    /// The rejects: source, line, reason with its detail, exact bytes.
    #[track_caller]
    pub fn rejects(&self, name: &str) -> Vec<(String, u64, String, Vec<u8>)> {
        let text = self.text(name);
        let of_line = |line: &str| {
            let reject: Value = serde_json::from_str(line).unwrap();
            let string = |key: &str| reject[key].as_str().unwrap().to_owned();
            let bytes = match reject["text"].as_str() {
                Some(text) => text.as_bytes().to_vec(),
                None => decode_base64(&string("base64")),
            };
            let line = reject["line"].as_u64().unwrap();
            let reason = format!("{}: {}", string("reason"), string("reason_detail"));
            (string("source"), line, reason, bytes)
        };
        text.lines().map(of_line).collect()
    }
}

impl Ran {
    pub fn of(output: Output) -> Self {
        Self {
            status: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    pub fn exits(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "{}", self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "{text:?} is not in:\n{}", self.stderr);
        self
    }
}

/// A file of `fixtures/`.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// The bytes of a file of `fixtures/`.
pub fn fixture_bytes(name: &str) -> Vec<u8> {
    std::fs::read(fixture(name)).unwrap()
}

/// All files of `fixtures/quirks/`, in order, without the page about them.
pub fn quirks() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(fixture("quirks")).unwrap();
    let mut paths: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension != "md"));
    paths.sort();
    paths
}

/// The demo records `copies` times over, each with an id of its own.
pub fn many_runs(copies: usize) -> Vec<u8> {
    let runs = String::from_utf8(fixture_bytes("agent_runs.jsonl")).unwrap();
    let copy = |number: usize| runs.replace("{\"id\": \"", &format!("{{\"id\": \"copy-{number}-"));
    let copies: Vec<String> = (0..copies).map(copy).collect();
    assert!(copies.iter().all(|copy| copy.len() > runs.len()));
    copies.concat().into_bytes()
}

/// A short trajectory of its own.
pub fn short(id: &str) -> String {
    format!(
        r#"{{"id": "{id}", "conversations": [{{"from": "human", "value": "Say {id}."}}, {{"from": "gpt", "value": "{id}"}}]}}"#
    )
}

/// Standard base64, decoded without the program's own library call.
fn decode_base64(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => panic!("{byte} is no base64"),
    };
    let digits = text.trim_end_matches('=').as_bytes();
    let of_four = |four: &[u8]| {
        let bits = four
            .iter()
            .fold(0_u32, |bits, byte| bits << 6 | u32::from(value(*byte)));
        let missing = 4 - four.len();
        (bits << (6 * missing)).to_be_bytes()[1..4 - missing].to_vec()
    };
    digits.chunks(4).flat_map(of_four).collect()
}

//! Runs of which one call that changes files fails: by a library that is preloaded, which `cc` makes of `disk_faults.c`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use trajfit::internals::metrics::{Row, read_rows};

use super::cli::{Ran, Workspace};

/// A way for a call to fail.
#[derive(Debug, Clone, Copy)]
struct Fault {
    /// The kind of call.
    kind: &'static str,
    /// The number of the error; 0 for a write that takes half of its bytes, and is no error.
    error: i32,
    /// Whether later calls of that kind fail as well.
    stays: bool,
}

const NO_ACCESS: i32 = 13;
const IO: i32 = 5;
const NO_SPACE: i32 = 28;

const FAULTS: [Fault; 17] = [
    once("open", IO),
    once("open", NO_SPACE),
    from_then_on("open", NO_ACCESS),
    once("write", 0),
    once("write", IO),
    from_then_on("write", NO_SPACE),
    once("ftruncate", IO),
    from_then_on("ftruncate", NO_SPACE),
    once("fsync", IO),
    from_then_on("fsync", NO_SPACE),
    once("rename", IO),
    once("rename", NO_SPACE),
    from_then_on("rename", NO_ACCESS),
    once("unlink", IO),
    from_then_on("unlink", NO_ACCESS),
    once("mkdir", NO_SPACE),
    from_then_on("mkdir", NO_ACCESS),
];

const fn once(kind: &'static str, error: i32) -> Fault {
    Fault {
        kind,
        error,
        stays: false,
    }
}

const fn from_then_on(kind: &'static str, error: i32) -> Fault {
    Fault {
        kind,
        error,
        stays: true,
    }
}

/// So many calls of a kind on a file are disturbed at most: a file that is written in many calls is written the same way in each.
const MOST_OF_A_SITE: usize = 3;

/// A run that is disturbed at one call after another.
pub struct DisturbedRun {
    /// Where its inputs are, once for all runs.
    inputs: Workspace,
    /// What it reads there.
    input: String,
    arguments: Vec<String>,
    /// Whether a path is one whose calls are to fail.
    disturbs: fn(&str) -> bool,
    /// Whether what a record cost depends on what was kept of an earlier run.
    pub pays: bool,
}

/// What a run left, by name; rows without the time that they took.
type Files = BTreeMap<String, Vec<u8>>;

impl DisturbedRun {
    /// A run over the first argument.
    pub fn of(inputs: Vec<(String, Vec<u8>)>, arguments: &str, disturbs: fn(&str) -> bool) -> Self {
        let folder = Workspace::new();
        for (name, bytes) in inputs {
            folder.write(name, bytes);
        }
        let arguments: Vec<String> = arguments.split_whitespace().map(str::to_owned).collect();
        Self {
            inputs: folder,
            input: arguments[0].clone(),
            arguments,
            disturbs,
            pays: false,
        }
    }

    fn workspace(&self) -> Workspace {
        let workspace = Workspace::new();
        std::os::unix::fs::symlink(self.inputs.path(&self.input), workspace.path(&self.input)).unwrap();
        workspace
    }

    /// Runs the program with no call failing. Returns its calls.
    pub fn undisturbed(&self) -> (Ran, Vec<String>) {
        self.run(&self.workspace(), &[], None)
    }

    /// Runs the program; a call fails where one is named. Returns what was noted of its calls.
    fn run(&self, workspace: &Workspace, more: &[&str], fault: Option<(&str, Fault)>) -> (Ran, Vec<String>) {
        let log = tempfile::NamedTempFile::new().unwrap();
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let mut command = workspace.command(&[&["compress"], &arguments[..], more].concat());
        command
            .env("LD_PRELOAD", library())
            .env("DISK_FAULTS_LOG", log.path());
        if let Some((call, fault)) = fault {
            command
                .env("DISK_FAULTS_CALL", call)
                .env("DISK_FAULTS_ERROR", fault.error.to_string());
            if fault.stays {
                command.env("DISK_FAULTS_STAYS", "1");
            }
        }
        let ran = Ran::of(command.output().unwrap());
        let calls = std::fs::read_to_string(log.path()).unwrap();
        (ran, calls.lines().map(str::to_owned).collect())
    }

    fn left(&self, workspace: &Workspace) -> Files {
        let files = workspace.files().into_iter();
        let files = files.filter(|file| !file.starts_with(&self.input) && !file.contains(".cache/"));
        files
            .map(|file| {
                let bytes = self.comparable(&file, workspace.read(&file));
                (file, bytes)
            })
            .collect()
    }

    /// The bytes of a file without what differs from run to run.
    fn comparable(&self, file: &str, bytes: Vec<u8>) -> Vec<u8> {
        if file.ends_with(".metrics.csv") {
            let rows = read_rows(bytes.as_slice()).map(Result::unwrap);
            let rows = rows.map(|row| if self.pays { outcome(row) } else { timeless(row) });
            return rows.flat_map(|row| format!("{row:?}\n").into_bytes()).collect();
        }
        if file.ends_with(".summary.json") {
            let mut totals: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
            let totals = totals.as_object_mut().unwrap();
            totals.remove("timing");
            if self.pays {
                return totals["records_by_status"].to_string().into_bytes();
            }
            totals.remove("sources");
            return serde_json::to_vec(totals).unwrap();
        }
        bytes
    }

    /// Lets calls that are to be disturbed fail in every way, each in a run of its own that is then resumed: of a kind of call on a
    /// file all, or so many as [`MOST_OF_A_SITE`]. Returns the calls of a run that was not disturbed.
    pub fn survives(&self) -> Vec<String> {
        let whole = self.workspace();
        let (undisturbed, calls) = self.run(&whole, &[], None);
        assert!(
            matches!(undisturbed.status, Some(0 | 3)),
            "{}",
            undisturbed.stderr
        );
        let whole = self.left(&whole);
        assert!(
            !whole
                .keys()
                .any(|file| file.contains(".partial") || file.contains(".checkpoint"))
        );
        let disturbed: BTreeSet<&str> = calls
            .iter()
            .map(String::as_str)
            .filter(|call| call.split(' ').nth(1).is_some_and(self.disturbs))
            .collect();
        let faults: Vec<(&str, Fault)> = spread(&disturbed)
            .into_iter()
            .flat_map(|call| {
                let of_kind = FAULTS
                    .iter()
                    .filter(|fault| call.split(' ').next() == Some(fault.kind));
                of_kind.map(move |fault| (call, *fault))
            })
            .collect();
        assert!(faults.len() >= 8, "{calls:?}");
        let next = AtomicUsize::new(0);
        let (met, broken) = (Mutex::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..std::thread::available_parallelism().unwrap().get() {
                scope.spawn(|| {
                    while let Some((call, fault)) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
                        match self.survives_fault(call, *fault, undisturbed.status, &whole) {
                            Ok(was_met) => *met.lock().unwrap() += usize::from(was_met),
                            Err(why) => broken.lock().unwrap().push(format!("{call}, {fault:?}: {why}")),
                        }
                    }
                });
            }
        });
        let (met, broken) = (met.into_inner().unwrap(), broken.into_inner().unwrap());
        assert!(
            broken.is_empty(),
            "{} of {}: {}",
            broken.len(),
            faults.len(),
            broken.join("\n")
        );
        let told = format!("{} faults, {met} of them met", faults.len());
        let _ = writeln!(std::io::stderr(), "{:?}: {told}", self.arguments);
        // How often a run commits depends on the machine's speed as well.
        assert!(met + (faults.len() / 10).max(2) >= faults.len(), "{told}");
        calls
    }

    /// Returns whether the run came to that call, or what was wrong with it.
    fn survives_fault(
        &self,
        call: &str,
        fault: Fault,
        status: Option<i32>,
        whole: &Files,
    ) -> Result<bool, String> {
        let workspace = self.workspace();
        let (mut ran, calls) = self.run(&workspace, &[], Some((call, fault)));
        let met = calls.iter().any(|noted| noted == call);
        // While what failed still fails, and then once more.
        for fault in [Some((call, fault)), None] {
            let refused = self.pays && ran.status == Some(2);
            let allowed = ran.status == status || ran.status == Some(4) || refused;
            if !allowed || ran.stderr.contains("panicked") {
                return Err(format!("exit code {:?}: {}", ran.status, ran.stderr));
            }
            for (file, bytes) in self.left(&workspace) {
                if is_data(&file) && whole.get(&file) != Some(&bytes) {
                    return Err(format!("{file} is half-written: {}", ran.stderr));
                }
            }
            if ran.status != status {
                ran = self.run(&workspace, &["--resume"], fault).0;
            }
        }
        let left = self.left(&workspace);
        let differ: Vec<&String> = left
            .keys()
            .chain(whole.keys())
            .filter(|file| left.get(*file) != whole.get(*file))
            .collect();
        if ran.status != status || !differ.is_empty() {
            return Err(format!(
                "exit code {:?}, {differ:?} differ: {}",
                ran.status, ran.stderr
            ));
        }
        Ok(met)
    }
}

/// Of the calls of each kind on each file, which their notes begin with, all, or some from the first to the last.
fn spread<'c>(calls: &BTreeSet<&'c str>) -> Vec<&'c str> {
    let mut sites: BTreeMap<&str, Vec<(usize, &'c str)>> = BTreeMap::new();
    for &call in calls {
        let (site, number) = call.rsplit_once(' ').unwrap();
        sites
            .entry(site)
            .or_default()
            .push((number.parse().unwrap(), call));
    }
    let some = |mut calls: Vec<(usize, &'c str)>| {
        calls.sort_unstable();
        let taken = calls.len().min(MOST_OF_A_SITE);
        let last = calls.len() - 1;
        (0..taken).map(move |number| calls[number * last / taken.saturating_sub(1).max(1)].1)
    };
    sites.into_values().flat_map(some).collect()
}

fn is_data(file: &str) -> bool {
    [".jsonl", ".gz", ".zst"]
        .iter()
        .any(|ending| file.ends_with(ending))
}

fn timeless(row: Row) -> Row {
    Row {
        duration_ms: 0.0,
        ..row
    }
}

/// What became of a record, whoever paid for it.
fn outcome(row: Row) -> Row {
    Row {
        cached_summary: Row::default().cached_summary,
        summarization_api_calls: 0,
        summarization_errors: 0,
        prompt_tokens: 0,
        completion_tokens: 0,
        ..timeless(row)
    }
}

/// The library that has calls fail, compiled once.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("disk_faults.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/support/disk_faults.c");
        let unfinished = library.with_extension(std::process::id().to_string());
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&unfinished, &source])
            .args(["-ldl", "-lpthread"])
            .stdin(Stdio::null())
            .status();
        assert!(compiled.unwrap().success(), "the C compiler `cc` is needed");
        std::fs::rename(unfinished, &library).unwrap();
        library
    })
}

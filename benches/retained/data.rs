//! Trajectories as plain text, and which of them share a task.

use std::path::{Path, PathBuf};
use std::{env, fs};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};
use trajfit::internals::compress::{CutPoints, Outline, Protection, TurnFacts, compressible_region};
use trajfit::internals::trajectory::leaves::leaves;
use trajfit::internals::trajectory::{self, Role, TurnView, Views};

/// A line that stands in more records than this belongs to no task.
const RARE: usize = 8;

/// Bytes of a line that tells one task from another.
const TELLING: usize = 40;

/// Rare lines that two records share where they are of one task.
const SHARED: usize = 3;

/// A trajectory, decoded.
pub struct Record {
    /// The file's name, without its ending.
    pub source: String,
    /// From 1.
    pub line: usize,
    /// What stands before the turns.
    pub system: String,
    pub turns: Vec<TurnView<'static>>,
    /// Whether a region may end before a turn.
    pub is_cut: Vec<bool>,
    /// One past the protected head.
    pub head_end: usize,
    /// The rare lines of its turns.
    lines: FxHashSet<u64>,
    id: String,
    /// Records of the same task, itself among them.
    pub kin: Vec<usize>,
    /// Records of the same conversation in other forms, itself among them.
    pub forms: Vec<usize>,
}

/// The records of the folder that `TRAJFIT_REAL_DATA` names, or of `../shared/data`.
pub fn records() -> Vec<Record> {
    let folder = env::var_os("TRAJFIT_REAL_DATA").map_or("../shared/data".into(), PathBuf::from);
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .map(|entries| entries.map(|entry| entry.unwrap().path()).collect())
        .unwrap_or_default();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    if files.is_empty() {
        println!("no .jsonl files in {}: set TRAJFIT_REAL_DATA", folder.display());
    }
    let mut records: Vec<Record> = files.iter().flat_map(|file| records_of(file)).collect();
    find_kin(&mut records);
    records
}

/// The records of a file.
pub fn records_of(file: &Path) -> Vec<Record> {
    let source = file.file_stem().unwrap().to_string_lossy();
    let text = fs::read_to_string(file).unwrap();
    let lines = text.lines().enumerate();
    lines
        .filter_map(|(number, line)| record(&source, number + 1, line))
        .collect()
}

fn record(source: &str, line: usize, text: &str) -> Option<Record> {
    let record = trajectory::parse(text.as_bytes(), None).ok()?;
    let views = Views::of(&record, Vec::new());
    let facts = |(index, (turn, answers)): (usize, (&trajectory::Turn<'_>, Option<usize>))| TurnFacts {
        role: turn.role,
        tokens: 0,
        asked_before: TurnFacts::asked_before(index, answers),
        readable: true,
        quotable: true,
        content: trajfit::internals::compress::TurnContent::Text,
        empty: false,
    };
    let answers = trajectory::answered_turns(&views);
    let outline = Outline {
        turns: record.turns.iter().zip(answers).enumerate().map(facts).collect(),
        extra_tokens: 0,
        last_human: None,
    };
    let cuts = CutPoints::of(&outline);
    let turns: Vec<TurnView<'static>> = views.all().map(|view| view.into_owned().into_owned()).collect();
    let decoded =
        |json: Option<&str>| json.map_or_else(String::new, |json| trajectory::json::decode(json).0.into());
    Some(Record {
        source: source.to_owned(),
        line,
        system: decoded(record.system),
        is_cut: (0..=turns.len()).map(|turn| cuts.is_cut(turn)).collect(),
        head_end: compressible_region(&outline, &cuts, &Protection::default(), usize::MAX).start,
        lines: telling_lines(&turns),
        id: decoded(record.id),
        turns,
        kin: Vec::new(),
        forms: Vec::new(),
    })
}

/// The lines that are long enough to tell one task from another; instructions stand in all records of a source.
fn telling_lines(turns: &[TurnView<'_>]) -> FxHashSet<u64> {
    let spoken = turns.iter().filter(|turn| turn.role != Role::System);
    let texts = spoken.flat_map(TurnView::texts);
    let lines = texts.flat_map(str::lines).map(str::trim);
    let telling = lines.filter(|line| line.len() >= TELLING);
    let hashes = telling.map(|line| {
        let mut hasher = FxHasher::default();
        line.hash(&mut hasher);
        hasher.finish()
    });
    hashes.collect()
}

/// Two records are of one task if they share rare lines or an id, and of one conversation if they share most of these lines.
fn find_kin(records: &mut [Record]) {
    let mut holders: FxHashMap<u64, usize> = FxHashMap::default();
    for line in records.iter().flat_map(|record| &record.lines) {
        *holders.entry(*line).or_default() += 1;
    }
    for record in &mut *records {
        record.lines.retain(|line| holders[line] <= RARE);
    }
    for one in 0..records.len() {
        let shared = |other: usize| {
            let (first, second) = (&records[one].lines, &records[other].lines);
            first.intersection(second).count()
        };
        let mut kin = Vec::new();
        let mut forms = Vec::new();
        for other in 0..records.len() {
            let (first, second) = (&records[one], &records[other]);
            let same = shared(other);
            let same_id = !first.id.is_empty() && task_of(&first.id) == task_of(&second.id);
            if one == other || same >= SHARED || (same_id && first.source != second.source) {
                kin.push(other);
            }
            let least = first.lines.len().min(second.lines.len());
            let other_form = first.source != second.source && least >= SHARED && same * 2 > least;
            if one == other || other_form {
                forms.push(other);
            }
        }
        records[one].kin = kin;
        records[one].forms = forms;
    }
}

/// The last part of an id: `eval/astropy__astropy-12907` and `astropy__astropy-12907` are one task.
fn task_of(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}

impl Record {
    /// The text of its protected head.
    pub fn head_text(&self) -> String {
        let turns: String = self.turns[..self.head_end].iter().map(turn_text).collect();
        format!("{}{}{turns}", opening(Role::System), self.system)
    }
}

/// What a turn begins with in a text.
pub fn opening(role: Role) -> &'static str {
    match role {
        Role::System => "\n\nsystem:\n",
        Role::Human => "\n\nhuman:\n",
        Role::Assistant => "\n\nassistant:\n",
        Role::Tool => "\n\ntool:\n",
        Role::Other => "\n\nother:\n",
    }
}

/// What a turn says: its prose, its calls with their arguments decoded, its outputs.
pub fn said(turn: &TurnView<'_>) -> String {
    let calls = turn.calls.iter().map(call_text);
    let outputs = turn.responses.iter().map(|response| response.content.to_string());
    let texts = std::iter::once(turn.text.to_string()).chain(calls).chain(outputs);
    let texts: Vec<String> = texts.filter(|text| !text.trim().is_empty()).collect();
    texts.join("\n")
}

/// A call as lines: the tool's name, and each argument.
pub fn call_text(call: &trajectory::ToolCall<'_>) -> String {
    let Some(leaves) = leaves(&call.arguments, usize::MAX) else {
        return format!("[{}]\n{}", call.name, call.arguments);
    };
    let mut text = format!("[{}]", call.name);
    for leaf in leaves {
        text.push_str(&format!("\n{}: {}", leaf.key(), leaf.value()));
    }
    text
}

/// A turn with its opening.
pub fn turn_text(turn: &TurnView<'_>) -> String {
    format!("{}{}", opening(turn.role), said(turn))
}

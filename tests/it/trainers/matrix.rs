//! Verdicts on records against what trainers' own code did with them: `scripts/trainers/results.csv`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::support::cli::Workspace;
use trajfit::internals::fit::Linter;
use trajfit::internals::names::Named;
use trajfit::internals::tokens::chat_template::ChatTemplate;
use trajfit::internals::trainers::{TrainerName, TrainingOutcome, Verdict, trainer};

/// A row of the results: what a trainer did with a record.
type Row = BTreeMap<String, String>;

/// Modes of the harness that are the configuration that `--print-config` prints, or one that takes no more than it.
const MODES: [(&str, &str); 12] = [
    ("llama-factory", "default"),
    ("trl", "default"),
    ("trl", "assistant-only-loss"),
    ("trl", "strict-template"),
    ("axolotl", "default"),
    ("axolotl", "train-field"),
    ("ms-swift", "default"),
    ("verl", "default"),
    ("openrlhf", "default"),
    ("torchtune", "default"),
    ("unsloth", "default"),
    ("nemo", "default"),
];

/// Modes in which exactly the configuration that is printed ran, with the templates that the test has.
const EXACT: [(&str, &str); 4] = [
    ("llama-factory", "default"),
    ("trl", "assistant-only-loss"),
    ("axolotl", "train-field"),
    ("ms-swift", "default"),
];

/// If the template of a mode is there: another one says nothing about it.
fn is_there((_, mode): &(&str, &str)) -> bool {
    *mode != "assistant-only-loss" || trl_template().is_some()
}

/// Those of them whose templates are there.
fn exact() -> impl Iterator<Item = (&'static str, &'static str)> {
    EXACT.into_iter().filter(is_there)
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The records by their ids, and the rows on them; `None` where the results are not there.
fn matrix() -> Option<(BTreeMap<String, String>, Vec<Row>)> {
    read("records.jsonl", "results.csv")
}

/// The same of longer records before and after the program compressed them: `before/NAME`, `auto/NAME`, and so on.
fn compressed() -> Option<(BTreeMap<String, String>, Vec<Row>)> {
    read("compressed.jsonl", "compressed.csv")
}

fn read(records: &str, results: &str) -> Option<(BTreeMap<String, String>, Vec<Row>)> {
    let folder = std::env::var_os("TRAJFIT_TRAINER_RESULTS")
        .map_or_else(|| root().join("scripts/trainers"), PathBuf::from);
    let records = std::fs::read_to_string(folder.join(records)).ok()?;
    let results = std::fs::read_to_string(folder.join(results)).ok()?;
    let id = |line: &str| {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        record["id"].as_str().unwrap().to_owned()
    };
    let records = records.lines().map(|line| (id(line), line.to_owned())).collect();
    let mut reader = csv::Reader::from_reader(results.as_bytes());
    let rows = reader.deserialize().map(Result::unwrap).collect();
    Some((records, rows))
}

/// The model whose tokenizer and template the harness used, where it is fetched.
fn qwen3() -> Option<PathBuf> {
    let folder = root().join("target/tokenizers/qwen3");
    folder.join("tokenizer_config.json").exists().then_some(folder)
}

/// The template that TRL trains Qwen3 with, where it is fetched.
fn trl_template() -> Option<PathBuf> {
    let file = root().join("target/templates/trl/qwen3.jinja");
    file.exists().then_some(file)
}

fn template(choice: &Path, tokenizer: &str) -> Option<Arc<ChatTemplate>> {
    Some(ChatTemplate::load(choice.to_str()?, tokenizer).unwrap())
}

fn linter(name: &str, mode: &str, limit: Option<u64>) -> Linter {
    let tokenizer = qwen3().map_or_else(|| "o200k_base".to_owned(), |folder| folder.display().to_string());
    let strict = root().join("fixtures/chat_templates/strict_alternation.jinja");
    let template = match mode {
        "strict-template" => template(&strict, &tokenizer),
        // TRL knows templates that mark answers: its own copy of the model's.
        "assistant-only-loss" if trl_template().is_some() => template(&trl_template().unwrap(), &tokenizer),
        _ => qwen3().and_then(|_| template(Path::new("auto"), &tokenizer)),
    };
    Linter {
        trainer: trainer(name.parse::<TrainerName>().unwrap()).unwrap(),
        counter: trajfit::internals::tokens::load(&tokenizer).unwrap(),
        template,
        image_tokens: 1500,
        format: None,
        limit,
    }
}

/// The words of the record's turns that the trainer should print: `mark00` and so on.
fn marks(record: &str) -> BTreeSet<String> {
    let found = record.match_indices("mark");
    let numbers = found.filter_map(|(at, _)| record.get(at + 4..at + 6)?.parse::<u32>().ok());
    numbers
        .filter(|number| *number != 90)
        .map(|number| number.to_string())
        .collect()
}

/// Without the trainer's template nothing is said of what it renders.
fn is_kept(verdict: &Verdict) -> bool {
    let is_undecided = verdict
        .findings
        .iter()
        .any(|finding| finding.outcome == TrainingOutcome::Undecided);
    !is_undecided
        && matches!(
            verdict.outcome(),
            TrainingOutcome::Keep | TrainingOutcome::Lose | TrainingOutcome::Cut
        )
}

#[test]
fn no_record_is_called_kept_that_a_trainer_does_not_keep() {
    for matrix in [matrix(), compressed()].into_iter().flatten() {
        no_false_keeps(&matrix);
    }
}

fn no_false_keeps((records, rows): &(BTreeMap<String, String>, Vec<Row>)) {
    let (mut judged, mut false_keeps) = (0, Vec::new());
    for (name, mode) in MODES.into_iter().filter(is_there) {
        let linter = linter(name, mode, None);
        for row in rows
            .iter()
            .filter(|row| row["trainer"] == name && row["mode"] == mode)
        {
            let Some(record) = records.get(&row["record"]) else {
                continue;
            };
            let verdict = linter.lint(record.as_bytes()).unwrap();
            judged += 1;
            let mut is_false = row["outcome"] != "accepted" && is_kept(&verdict);
            if row["outcome"] == "accepted" && verdict.outcome() == TrainingOutcome::Keep {
                let printed: BTreeSet<String> = row["rendered"].split(' ').map(str::to_owned).collect();
                is_false |= !marks(record).is_subset(&printed);
                is_false |= row["trained_tokens"] == "0";
            }
            if is_false {
                false_keeps.push(format!(
                    "{name} {mode} {}: {:?} {:?}",
                    row["record"], row["message"], verdict.findings
                ));
            }
        }
    }
    assert!(judged > 100, "{judged} rows judged");
    assert!(
        false_keeps.is_empty(),
        "{} of {judged}:\n{}",
        false_keeps.len(),
        false_keeps.join("\n")
    );
}

#[test]
fn a_record_that_a_trainer_keeps_is_not_called_lost() {
    let Some((records, rows)) = matrix() else { return };
    let mut alarms = Vec::new();
    for (name, mode) in exact() {
        let linter = linter(name, mode, None);
        for row in rows
            .iter()
            .filter(|row| row["trainer"] == name && row["mode"] == mode)
        {
            let Some(record) = records.get(&row["record"]) else {
                continue;
            };
            let outcome = linter.lint(record.as_bytes()).unwrap().outcome();
            let is_learnt = row["outcome"] == "accepted" && !row["trained"].is_empty();
            if is_learnt && outcome.harm() > TrainingOutcome::Cut.harm() {
                alarms.push(format!("{name} {mode} {}: {}", row["record"], outcome.name()));
            }
        }
    }
    assert!(alarms.is_empty(), "{}:\n{}", alarms.len(), alarms.join("\n"));
}

#[test]
fn a_record_over_the_limit_is_called_what_the_trainer_makes_of_it() {
    let Some((records, rows)) = matrix() else { return };
    if qwen3().is_none() {
        return;
    }
    let mut wrong = Vec::new();
    for (name, mode) in exact() {
        for row in rows
            .iter()
            .filter(|row| row["trainer"] == name && row["mode"] == mode && !row["limit"].is_empty())
        {
            let Some(record) = records.get(&row["record"]) else {
                continue;
            };
            let linter = linter(name, mode, row["limit"].parse().ok());
            let verdict = linter.lint(record.as_bytes()).unwrap();
            let left: u64 = row["limit_trained_tokens"].parse().unwrap_or(0);
            let expected = if row["limit_outcome"] == "accepted" {
                TrainingOutcome::Cut
            } else {
                TrainingOutcome::Drop
            };
            let kept = verdict.learnt - verdict.vanished;
            let is_near = kept.abs_diff(left) <= 30;
            if verdict.outcome() != expected || (expected == TrainingOutcome::Cut && !is_near) {
                wrong.push(format!(
                    "{name} {}: {left} left, {kept} said: {verdict:?}",
                    row["record"]
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A record's turns as roles, the one that holds the summary marked.
fn places(record: &str) -> Vec<String> {
    let record: serde_json::Value = serde_json::from_str(record).unwrap();
    let turns = record.get("messages").or_else(|| record.get("conversations"));
    let place = |turn: &serde_json::Value| {
        let role = turn.get("role").or_else(|| turn.get("from")).unwrap();
        let has_summary = turn.to_string().contains("[CONTEXT SUMMARY]:");
        format!(
            "{}{}",
            role.as_str().unwrap(),
            if has_summary { " with summary" } else { "" }
        )
    };
    turns.unwrap().as_array().unwrap().iter().map(place).collect()
}

#[test]
fn the_program_still_places_summaries_as_the_trainers_were_given_them() {
    let Some((records, _)) = compressed() else { return };
    let named = |placement: &str| -> Vec<(&String, &String)> {
        let prefix = format!("{placement}/");
        records.iter().filter(|(id, _)| id.starts_with(&prefix)).collect()
    };
    let workspace = Workspace::new();
    for (number, (_, record)) in named("before").iter().enumerate() {
        workspace.write(format!("in/{number:03}.jsonl"), format!("{record}\n"));
    }
    for placement in ["auto", "human", "merge"] {
        let flags = [
            "--target-max-tokens",
            "800",
            "--summary-placement",
            placement,
            "--quiet",
        ];
        let ran = workspace.compress(&[&["in", "-o", placement], &flags[..]].concat());
        assert!(matches!(ran.status, Some(0 | 3)), "{}", ran.stderr);
        for (number, (id, record)) in named(placement).iter().enumerate() {
            let written = workspace.text(format!("{placement}/{number:03}.jsonl"));
            let help = "renew it: matrix.py --compress, then run.py (scripts/trainers/README.md)";
            assert_eq!(places(&written), places(record), "{id}: {help}");
        }
    }
}

#[test]
fn no_record_that_a_trainer_takes_is_refused_once_it_is_compressed() {
    let Some((_, rows)) = compressed() else { return };
    let key = |row: &Row, name: &str| (row["trainer"].clone(), row["mode"].clone(), name.to_owned());
    let is_learnt = |row: &Row| row["outcome"] == "accepted" && row["trained_tokens"] != "0";
    let learnt = rows.iter().filter(|row| is_learnt(row));
    let before: BTreeSet<_> = learnt
        .filter_map(|row| Some(key(row, row["record"].strip_prefix("before/")?)))
        .collect();
    let (mut compared, mut losses, mut losses_of_human) = (0, Vec::new(), 0);
    for row in &rows {
        let (placement, name) = row["record"].split_once('/').unwrap();
        if !before.contains(&key(row, name)) {
            continue;
        }
        match placement {
            "auto" if is_learnt(row) => compared += 1,
            "auto" => losses.push(format!(
                "{} {} {name}: {}",
                row["trainer"], row["mode"], row["message"]
            )),
            "human" if !is_learnt(row) => losses_of_human += 1,
            _ => {}
        }
    }
    assert!(
        compared > 50 && losses_of_human > 10,
        "{compared} {losses_of_human}"
    );
    assert!(losses.is_empty(), "{}", losses.join("\n"));
}

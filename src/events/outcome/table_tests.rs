//! Outcomes of a table of outputs, as tools print them: `fixtures/outcomes.toml`.

use serde::Deserialize;

use super::later_calls::LaterCalls;
use super::outcome;
use super::status::{Answer, CallStatus, Outcome};
use crate::events::call::target;
use crate::events::outcome::reported::ReportedFields;
use crate::events::source_call::{CallArguments, SourceCall};

#[derive(Deserialize)]
struct OutcomeTable {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(default)]
    held_out: bool,
    tool: Option<String>,
    command: Option<String>,
    arguments: Option<String>,
    answer: String,
    flag: Option<bool>,
    exit: Option<i32>,
    status: String,
    error: Option<String>,
    result: Option<String>,
    passed: Option<u32>,
    failed: Option<u32>,
    errors: Option<u32>,
    warnings: Option<u32>,
    #[serde(default)]
    misread: String,
}

impl Case {
    fn read(&self) -> Outcome {
        let command = self.command.clone().unwrap_or_default();
        let arguments = match &self.arguments {
            Some(json) => json.clone(),
            None => serde_json::json!({"command": command}).to_string(),
        };
        let call = SourceCall {
            id: None,
            name: self.tool.clone().unwrap_or_else(|| "bash".to_owned()).into(),
            arguments: CallArguments::Json(arguments.into()),
        };
        let target = target(&call, None);
        let answer = Answer {
            text: &self.answer,
            is_error: self.flag,
            exit_code: self.exit,
        };
        outcome(
            answer,
            target.effect,
            &target.line,
            &mut ReportedFields::default(),
            LaterCalls::default(),
        )
    }

    /// The differences of an outcome from the expected one; empty if there are none.
    fn wrong(&self, ended: &Outcome) -> String {
        let status = match ended.status {
            CallStatus::Ok => "ok",
            CallStatus::Failed => "failed",
            CallStatus::Refused => "refused",
            CallStatus::Partly => "partly",
            CallStatus::Unknown => "unknown",
        };
        let holds = |told: &Option<String>, words: &Option<String>| {
            let words = words.as_deref().unwrap_or_default();
            words.is_empty() || told.as_deref().is_some_and(|told| told.contains(words))
        };
        let is = |told: Option<u32>, wanted: Option<u32>| wanted.is_none() || wanted == told;
        let found = ended.diagnostics.as_ref();
        let counts = ended.tests.unwrap_or_default();
        let checks = [
            ("status", status == self.status),
            ("error", holds(&ended.error, &self.error)),
            ("result", holds(&ended.result, &self.result)),
            ("passed", is(counts.passed, self.passed)),
            ("failed", is(counts.failed, self.failed)),
            ("errors", is(found.map(|found| found.errors), self.errors)),
            ("warnings", is(found.map(|found| found.warnings), self.warnings)),
        ];
        let wrong = checks.into_iter().filter(|(_, is_right)| !is_right);
        wrong.map(|(name, _)| name).collect::<Vec<&str>>().join(", ")
    }
}

#[test]
fn outputs_of_many_tools_are_read_right() {
    let table: OutcomeTable = toml::from_str(include_str!("../../../fixtures/outcomes.toml")).unwrap();
    let mut changed = Vec::new();
    for case in &table.case {
        let ended = case.read();
        let wrong = case.wrong(&ended);
        if wrong != case.misread {
            let call = case.command.as_ref().or(case.arguments.as_ref()).unwrap();
            let kept = if case.held_out { " (held out)" } else { "" };
            changed.push(format!("{call}{kept}: {wrong}: {ended:?}"));
        }
    }
    assert!(changed.is_empty(), "{}", changed.join("\n"));
    let right = table.case.iter().filter(|case| case.misread.is_empty()).count();
    assert!(
        100 * right >= 97 * table.case.len(),
        "{right} of {}",
        table.case.len()
    );
}

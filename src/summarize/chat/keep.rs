//! Makes kept answers of results, and results of kept answers.

use super::answer::ModelAnswer;
use super::question::ChatError;
use crate::summarize::Usage;
use crate::summarize::answers::{AnswerKind, KeptAnswer};
use crate::summarize::failure::Failure;

const REFUSED: &str = "summary_refused";
const CUT: &str = "summary_cut_by_length";

/// The kept form of a result, without secrets. Failures that another attempt may avoid are not kept.
pub fn kept(
    result: Result<ModelAnswer, ChatError>,
    model: &str,
    usage: &Usage,
    redaction: bool,
) -> Result<KeptAnswer, ChatError> {
    let (kind, text) = match result {
        Ok(answer) => (AnswerKind::Summary, answer.text),
        Err(ChatError::Failed(failure)) if failure.name == REFUSED => (AnswerKind::Refused, failure.detail),
        Err(ChatError::Failed(failure)) if failure.name == CUT => (AnswerKind::CutByLength, failure.detail),
        Err(trouble) => return Err(trouble),
    };
    Ok(KeptAnswer::received(
        kind,
        text,
        model.to_owned(),
        usage,
        redaction,
    ))
}

/// The text of a kept answer, or its failure.
pub fn said(answer: KeptAnswer) -> Result<String, ChatError> {
    let name = match answer.kind {
        // Models have no veto and no verbatim summaries: such an answer under their key is a summary.
        AnswerKind::Summary | AnswerKind::Whole | AnswerKind::Veto => return Ok(answer.text),
        AnswerKind::Refused => REFUSED,
        AnswerKind::CutByLength => CUT,
    };
    Err(ChatError::Failed(Failure {
        name,
        detail: answer.text,
    }))
}

/// Returns true if the answer was cut off by its token limit.
pub fn is_cut(trouble: &ChatError) -> bool {
    matches!(trouble, ChatError::Failed(failure) if failure.name == CUT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back(result: Result<ModelAnswer, ChatError>) -> Result<String, ChatError> {
        kept(result, "m", &Usage::default(), true).and_then(said)
    }

    #[test]
    fn what_is_kept_says_the_same_again_without_secrets() {
        let secret = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
        let answer = ModelAnswer {
            text: format!("It used {secret}."),
            ..ModelAnswer::default()
        };
        assert_eq!(
            back(Ok(answer)),
            Ok("It used [REDACTED:github-token].".to_owned())
        );
        for name in [REFUSED, CUT] {
            let failed = ChatError::Failed(Failure::new(name, "why"));
            assert_eq!(back(Err(failed.clone())), Err(failed));
        }
    }

    #[test]
    fn what_may_go_better_the_next_time_is_not_kept() {
        for name in ["summary_timeout", "summary_http_500", "summary_empty"] {
            let failed = ChatError::Failed(Failure::new(name, "why"));
            assert!(kept(Err(failed), "m", &Usage::default(), true).is_err());
        }
    }
}

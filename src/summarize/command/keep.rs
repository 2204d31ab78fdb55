//! What is kept of a program's answer, and what a kept answer says.

use super::protocol::Said;
use crate::summarize::Usage;
use crate::summarize::answers::{AnswerKind, KeptAnswer};
use crate::summarize::failure::Failure;

/// What is kept of what a program said, without secrets.
///
/// # Errors
///
/// That it failed: the next time it may not.
pub fn kept(said: Said, program: String, usage: &Usage, redaction: bool) -> Result<KeptAnswer, Failure> {
    let (kind, text) = match said {
        Said::Summary(text) => (AnswerKind::Summary, text),
        Said::Whole(text) => (AnswerKind::Whole, text),
        Said::Veto(reason) => (AnswerKind::Veto, reason),
        Said::Failed(failure) => return Err(failure),
    };
    Ok(KeptAnswer::received(kind, text, program, usage, redaction))
}

/// What a kept answer says.
pub fn said(answer: KeptAnswer) -> Said {
    match answer.kind {
        AnswerKind::Summary => Said::Summary(answer.text),
        AnswerKind::Whole => Said::Whole(answer.text),
        AnswerKind::Veto => Said::Veto(answer.text),
        // Models refuse and are cut, programs fail: no key of theirs has such an answer.
        AnswerKind::Refused | AnswerKind::CutByLength => {
            Said::Failed(Failure::new("summary_command_failed", &answer.text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_says_the_same_again_without_secrets() {
        let again = |given: Said| kept(given, "p".to_owned(), &Usage::default(), true).map(said);
        let secret = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
        let text = |secret: &str| format!("It used {secret}.");
        for make in [Said::Summary, Said::Whole, Said::Veto] {
            let clean = make(text("[REDACTED:github-token]"));
            assert_eq!(again(make(text(&secret))), Ok(clean));
        }
        let failure = Failure::new("summary_command_failed", "no");
        assert_eq!(again(Said::Failed(failure.clone())), Err(failure));
    }
}

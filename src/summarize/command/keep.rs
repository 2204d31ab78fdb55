//! Makes kept answers of a program's answers, and the other way round.

use super::protocol::Reply;
use crate::summarize::Usage;
use crate::summarize::answers::{AnswerKind, KeptAnswer};
use crate::summarize::failure::Failure;
use crate::summarize::judge::Judge;

/// The kept form of a program's answer, without secrets; a summary also without the text around it.
///
/// # Errors
///
/// If the program failed, or gave no summary: another attempt may do better.
pub fn kept(
    said: Reply,
    judge: &Judge,
    program: String,
    usage: &Usage,
    redaction: bool,
) -> Result<KeptAnswer, Failure> {
    let (kind, text) = match said {
        Reply::Summary(text) => (AnswerKind::Summary, judge.summary_in(&text)?),
        Reply::Whole(text) => (AnswerKind::Whole, text),
        Reply::Veto(reason) => (AnswerKind::Veto, reason),
        Reply::Failed(failure) => return Err(failure),
    };
    Ok(KeptAnswer::received(kind, text, program, usage, redaction))
}

/// The answer that was kept.
pub fn said(answer: KeptAnswer) -> Reply {
    match answer.kind {
        AnswerKind::Summary => Reply::Summary(answer.text),
        AnswerKind::Whole => Reply::Whole(answer.text),
        AnswerKind::Veto => Reply::Veto(answer.text),
        // Models refuse and are cut off, programs fail: no key of theirs has such an answer.
        AnswerKind::Refused | AnswerKind::CutByLength => {
            Reply::Failed(Failure::new("summary_command_failed", &answer.text))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::summarize::control_tokens::ControlTokens;

    #[test]
    fn what_is_kept_says_the_same_again_without_secrets() {
        let judge = Judge {
            control_tokens: Arc::new(ControlTokens::and(&[])),
            region: 0,
        };
        let again = |given: Reply| kept(given, &judge, "p".to_owned(), &Usage::default(), true).map(said);
        let secret = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
        let text = |secret: &str| format!("It used {secret}.");
        for make in [Reply::Summary, Reply::Whole, Reply::Veto] {
            let clean = make(text("[REDACTED:github-token]"));
            assert_eq!(again(make(text(&secret))), Ok(clean));
        }
        let failure = Failure::new("summary_command_failed", "no");
        assert_eq!(again(Reply::Failed(failure.clone())), Err(failure));
        // A verbatim summary is not judged.
        let announced = "Summary:\nDone.<|im_end|>".to_owned();
        assert_eq!(
            again(Reply::Summary(announced.clone())),
            Ok(Reply::Summary("Done.".to_owned()))
        );
        assert_eq!(
            again(Reply::Whole(announced.clone())),
            Ok(Reply::Whole(announced))
        );
        let refused = again(Reply::Summary(
            "I'm sorry, but I can't help with that.".to_owned(),
        ));
        assert_eq!(refused.map_err(|failure| failure.name), Err("summary_refused"));
    }
}

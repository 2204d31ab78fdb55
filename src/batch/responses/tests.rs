//! Files of responses: precedence of several responses, broken lines, and where files are found.

use serde_json::{Value, json};

use super::*;

fn answer(question: &str, text: &str) -> Value {
    let body = json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]});
    response(question, &json!({"status_code": 200, "body": body}))
}

fn response(question: &str, response: &Value) -> Value {
    json!({"custom_id": custom_id::of(&AnswerKey::of(&[question])), "response": response})
}

fn refusal(question: &str, message: &str) -> Value {
    response(
        question,
        &json!({"status_code": 400, "body": {"error": {"message": message}}}),
    )
}

fn files(texts: &[String]) -> (tempfile::TempDir, ResponseFiles) {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (0..texts.len())
        .map(|number| folder.path().join(format!("{number}.jsonl")))
        .collect();
    for (path, text) in paths.iter().zip(texts) {
        std::fs::write(path, text).unwrap();
    }
    let files = ResponseFiles::open(&paths).unwrap();
    (folder, files)
}

fn lines(lines: &[Value]) -> String {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

fn found(files: &ResponseFiles, question: &str) -> Option<(Result<String, &'static str>, usize)> {
    let found = files.find(&AnswerKey::of(&[question])).unwrap()?;
    let outcome = match found.outcome {
        ResponseOutcome::Answer(answer) => Ok(answer.text),
        ResponseOutcome::Failed(failed) => Err(failed.name()),
    };
    Some((outcome, found.failures))
}

#[test]
fn answers_are_found_in_any_file_and_count_before_failures() {
    let first = lines(&[
        answer("a", "A"),
        refusal("b", "no"),
        refusal("c", "no"),
        answer("d", "D"),
    ]);
    let second = lines(&[refusal("a", "no"), answer("b", "B"), refusal("c", "still no")]);
    for texts in [[first.clone(), second.clone()], [second, first]] {
        let (_folder, files) = files(&texts);
        let text = |question| found(&files, question).unwrap().0;
        assert_eq!(
            (text("a"), text("b"), text("d")),
            (Ok("A".into()), Ok("B".into()), Ok("D".into()))
        );
        assert_eq!(found(&files, "c"), Some((Err("summary_http_400"), 2)));
        assert_eq!(found(&files, "e"), None);
        assert_eq!(files.found.answered, 3);
        assert_eq!(files.found.failed, BTreeMap::from([("summary_http_400", 1)]));
    }
}

#[test]
fn broken_lines_have_their_place_and_the_others_count() {
    let text = format!(
        "\u{feff}{}\r\n\n{{\"half\":\nnonsense\n{}\n{}\n{}",
        answer("a", "A"),
        json!({"custom_id": "request-1", "result": {"type": "expired"}}),
        json!({"custom_id": "x", "method": "POST", "body": {}}),
        answer("b", "B"),
    );
    let (_folder, files) = files(&[text]);
    assert_eq!(found(&files, "a").unwrap().0, Ok("A".to_owned()));
    assert_eq!(found(&files, "b").unwrap().0, Ok("B".to_owned()));
    let contents = &files.found;
    assert_eq!((contents.broken, contents.foreign, contents.requests), (2, 1, 1));
    assert!(
        contents.complaints[0].contains("0.jsonl:3: "),
        "{:?}",
        contents.complaints
    );
    assert!(
        contents.complaints[1].contains("0.jsonl:4: "),
        "{:?}",
        contents.complaints
    );
    assert_eq!(files.unasked(), 0);
}

#[test]
fn what_failures_taught_adds_up() {
    let text = lines(&[
        refusal("a", "use max_completion_tokens"),
        refusal("a", "no temperature"),
        refusal("b", "else"),
    ]);
    let (_folder, files) = files(&[text]);
    let lessons = |question| files.find(&AnswerKey::of(&[question])).unwrap().unwrap().lessons;
    assert_eq!(
        lessons("a"),
        [DialectFix::CompletionLimit, DialectFix::NoTemperature]
    );
    assert_eq!(lessons("b"), []);
}

#[test]
fn a_folder_is_its_files_and_what_cannot_be_read_is_named() {
    let (folder, _) = files(&[lines(&[answer("a", "A")]), lines(&[answer("b", "B")])]);
    std::fs::write(folder.path().join("state.json"), "{}").unwrap();
    let twice = [folder.path().to_owned(), folder.path().join("0.jsonl")];
    let files = ResponseFiles::open(&twice).unwrap();
    assert_eq!(
        (files.found.files, files.found.answered, files.unasked()),
        (2, 2, 2)
    );
    assert!(found(&files, "a").is_some());
    assert_eq!(files.unasked(), 1);
    let missing = ResponseFiles::open(&[folder.path().join("none.jsonl")]).unwrap_err();
    assert!(missing.contains("none.jsonl"), "{missing}");
    let packed = folder.path().join("packed.jsonl");
    std::fs::write(&packed, [0x1f, 0x8b, 8, 0]).unwrap();
    assert!(ResponseFiles::open(&[packed]).unwrap_err().contains("compressed"));
    // Compressed files in a folder are not skipped either.
    for name in ["1.jsonl.gz", "1.jsonl.zst"] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(name), GZIP_MAGIC).unwrap();
        let refused = ResponseFiles::open(&[folder.path().to_owned()]).unwrap_err();
        assert!(
            refused.contains(name) && refused.contains("compressed"),
            "{refused}"
        );
    }
    std::fs::remove_file(folder.path().join("0.jsonl")).unwrap();
    assert!(files.find(&AnswerKey::of(&["a"])).is_err());
}

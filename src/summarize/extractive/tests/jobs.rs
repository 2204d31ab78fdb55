//! Jobs that a call only begins.

use super::*;

#[test]
fn a_job_that_was_only_begun_is_told_by_the_state_that_it_came_to() {
    let begun = answer(r#"{"status": 202, "body": {"job_id": "job_4f81d9", "status": "running"}}"#);
    let lookup = r#"{"path": "/jobs/job_4f81d9"}"#;
    let turns = [
        call(
            "",
            "hr_post",
            r#"{"path": "/payroll/calculate", "run": "PR-2024-10"}"#,
        ),
        begun,
        call("", "hr_get", lookup),
        answer(r#"{"status": 200, "body": {"job_id": "job_4f81d9", "status": "running", "progress": 55}}"#),
        call("", "hr_get", lookup),
        answer(r#"{"status": 200, "body": {"job_id": "job_4f81d9", "status": "done", "progress": 100}}"#),
    ];
    let text = told(&turns);
    assert!(text.contains("status: done (later)"), "{text}");
    assert!(told(&turns[..2]).contains("status: running"), "{text}");
}

#[test]
fn a_state_of_something_else_settles_no_job() {
    let begun = r#"{"job_id": "job_1a77", "status": "running", "customer_id": "cus_9931"}"#;
    for (arguments, looked_up) in [
        // Another object that the answer names, one whose id begins the same, a list behind it, and a lookup that failed.
        (
            r#"{"id": "cus_9931"}"#,
            r#"{"id": "cus_9931", "status": "active"}"#,
        ),
        (
            r#"{"id": "job_1a771"}"#,
            r#"{"id": "job_1a771", "status": "stopped"}"#,
        ),
        (
            r#"{"after": "job_1a77"}"#,
            r#"{"id": "job_1b00", "status": "stopped"}"#,
        ),
        (r#"{"id": "job_1a77"}"#, r#"{"error": "rate limit exceeded"}"#),
    ] {
        let turns = [
            call("", "start_job", r#"{"name": "nightly"}"#),
            answer(begun),
            call("", "get_job", arguments),
            answer(looked_up),
        ];
        let text = told(&turns);
        assert!(text.contains("status: running"), "{text}");
    }
}

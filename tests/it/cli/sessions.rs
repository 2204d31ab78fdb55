//! Runs the terminal sessions in `tests/cmd`: what is typed, what is printed, which exit code follows.
//!
//! After a wanted change: `TRYCMD=overwrite cargo test --test it cli::sessions`, then read the difference.

#[test]
fn terminal_sessions_go_as_written() {
    let cases = trycmd::TestCases::new();
    cases
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .env("CI", "")
        .env("HF_HUB_OFFLINE", "1");
    for (variable, _) in std::env::vars().filter(|(variable, _)| variable.starts_with("TRAJFIT_")) {
        // An empty variable counts as not set, whatever the shell of whoever runs this has.
        cases.env(variable, "");
    }
    cases.case("tests/cmd/*.trycmd").run();
}

//! The page on trainers: its commands run, and its configuration is what `--print-config` prints.

use std::path::PathBuf;
use std::process::Command;

use trajfit::internals::names::Named;
use trajfit::internals::trainers::{TrainerName, trainer};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn page() -> String {
    std::fs::read_to_string(root().join("docs/trainers.md")).unwrap()
}

fn trajfit(arguments: &[&str], folder: &std::path::Path) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trajfit"));
    command.args(arguments).current_dir(folder);
    for (variable, _) in std::env::vars().filter(|(variable, _)| variable.starts_with("TRAJFIT_")) {
        command.env_remove(variable);
    }
    command.output().unwrap()
}

#[test]
fn every_entry_on_the_page_is_the_one_that_is_printed() {
    let page = page();
    for name in TrainerName::NAMES {
        let rules = trainer(name.parse().unwrap()).unwrap();
        for form in &rules.forms {
            let arguments = [
                "lint",
                "--trainer",
                name,
                "--print-config",
                "--format",
                &form.form,
            ];
            let printed = trajfit(&arguments, &root());
            assert!(printed.status.success(), "{name}");
            let printed = String::from_utf8(printed.stdout).unwrap();
            assert_eq!(printed, form.config);
            assert!(
                page.contains(&format!("```\n{printed}```\n")),
                "{name} {}",
                form.form
            );
        }
        assert!(
            page.contains(&format!("Rules of {} {}.", rules.package, rules.version)),
            "{name}"
        );
    }
}

#[test]
fn every_command_on_the_page_runs() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(
        root().join("fixtures/agent_runs.jsonl"),
        folder.path().join("runs.jsonl"),
    )
    .unwrap();
    let template = root().join("fixtures/chat_templates/chatml_tools.jinja");
    std::fs::copy(template, folder.path().join("model.jinja")).unwrap();
    let page = page();
    let blocks = page
        .split("```sh\n")
        .skip(1)
        .filter_map(|rest| rest.split_once("```"));
    let mut run = 0;
    for line in blocks.flat_map(|(block, _)| block.lines()) {
        let arguments: Vec<&str> = line.split(' ').skip(1).collect();
        let ended = trajfit(&arguments, folder.path());
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(
            ended.status.success(),
            "{line}: {:?}: {said}",
            ended.status.code()
        );
        run += 1;
    }
    assert!(run >= 20, "{run} commands");
}

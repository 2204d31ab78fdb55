//! Tests of shell commands.

use super::super::files::directories::tell_directories;
use super::*;

fn settled(commands: &[&str]) -> Vec<Target> {
    let mut targets: Vec<Target> = commands.iter().map(|command| of_command("sh", command)).collect();
    tell_directories(&mut targets);
    targets
}

#[track_caller]
fn are_same(one: &str, other: &str, expected: bool) {
    let targets = settled(&[one, other]);
    assert_eq!(targets[0].key == targets[1].key, expected, "{one} / {other}");
}

#[test]
fn a_long_command_is_told_by_its_beginning_and_what_decides_its_end() {
    let line = |command: &str| of_command("", command).line;
    let run = "bin/rails runner -e development 'q = 0; Invoice.find_each { |invoice| q += 1 }; puts q, Invoice.count'";
    assert_eq!(
        line(&format!(
            "git stash -q -- app && {run}; git stash pop -q; git status -s"
        )),
        "git stash -q -- app && …; git stash pop -q; git status -s"
    );
    assert_eq!(
        line(&format!("cd /w && make | tail -3 && {run} && ctest | tail -3")),
        "make | tail -3 && … && ctest | tail -3"
    );
    // Nothing but the first one decides anything, or there is no room for both.
    assert!(line(&format!("{run} && grep -n x src/a.py | head")).ends_with(" …"));
    assert!(line(&format!("{run} && {run}")).ends_with(" …"));
    assert!(
        line(&format!(
            "if make; then git stash && {run}; else git stash pop; fi"
        ))
        .ends_with(" …")
    );
}

#[test]
fn tests_behind_looks_decide_what_a_command_does() {
    let effect = |command: &str| of_command("sh", command).effect;
    assert_eq!(effect("git diff --stat && pytest -q | tail -3"), Effect::Other);
    assert_eq!(effect("cat a.py; ls"), Effect::Read);
    // What was looked at may say anything of what another program than tests does.
    assert_eq!(effect("cat err.log && ruff check ."), Effect::Read);
}

#[test]
fn two_commands_are_the_same_as_a_whole_only() {
    are_same("cd a && npm test", "cd b && npm test", false);
    are_same("cd /a", "cd /b", false);
    are_same("cd /a && pwd\ncd b", "cd /a && pwd\ncd c", false);
    are_same("cd /a\npytest -x", "cd /a\nls -la", false);
    are_same("set -e\ndeploy_it", "set -e\nreport_it", false);
    are_same("yes | apt-get install a", "yes | apt-get install b", false);
    are_same("echo 'a | grep b'", "echo 'a | grep c'", false);
    are_same("run it | grep a && rm b", "run it | grep a && rm c", false);
    are_same(
        "cd /a && pytest  -x 2>&1 | tail -5",
        "cd /a\n# again\npytest -x",
        true,
    );
    are_same("run it 2>&1 | grep -v x | head -3", "run it | tee out.log", true);
    are_same("python a.py", "cd /a && python a.py", true);
}

#[test]
fn a_command_that_ran_in_two_places_is_neither_where_it_says_none() {
    let targets = settled(&["x", "cd /a && x", "cd /b && x"]);
    assert!(targets[0].key != targets[1].key && targets[1].key != targets[2].key);
    assert_ne!(targets[0].key, targets[2].key);
}

#[test]
fn the_file_of_a_command_is_that_of_its_first_statement_or_of_its_last_edit() {
    for (command, file) in [
        ("sed -i s/a/b/ c.py && python d.py", Some("c.py")),
        ("sed -i s/a/b/ c.py; python d.py", Some("c.py")),
        ("cat a/b.py | grep c.py", Some("a/b.py")),
        ("touch a && python d.py", Some("a")),
        ("cat > \"my file.py\" <<'E'\nx\nE", Some("my file.py")),
        ("pytest tests > out.log", None),
        ("echo x | sudo tee /etc/a.conf", Some("/etc/a.conf")),
        ("python a.py | tee a.log", None),
        ("sed -i '9a\\n operations.Add(\\n x.y=1)' a/b.py", Some("a/b.py")),
        ("sed -i '9a\\n operations.Add(\\n x.y=1", None),
        ("sed -i \"s/don't x.y/do/\" a/b.py", Some("a/b.py")),
        ("mkdir -p a/b && touch a/b/c.py && python d.py", Some("a/b/c.py")),
    ] {
        assert_eq!(of_command("sh", command).file.as_deref(), file, "{command}");
    }
}

#[test]
fn lines_that_only_prepare_are_not_shown() {
    for (command, shown) in [
        (
            "cd /a\nset -e\n\n# why\nsource x/activate\nrun_it now",
            "sh: run_it now",
        ),
        ("cd /a && cd b && run_it", "sh: run_it"),
        ("cd /a; run_it", "sh: run_it"),
        ("bash -lc 'cd /a && run_it -x'", "sh: run_it -x"),
        ("A=1 run_it $(cd b; ls)", "sh: A=1 run_it $(cd b; ls)"),
        ("git commit -m 'One\n\ntwo'", "sh: git commit -m 'One"),
        ("export A=1", "sh: export A=1"),
        ("cat > 'my a.py' <<'E'\nrun(a)\nE", "sh: cat > 'my a.py'"),
        ("cd /a", "sh: cd /a"),
        (
            "python - <<'E'\nimport re\np = 'a/b.py'\ns = open(p).read()\nopen(p, 'w').write(s.replace('a', 'b'))\nE",
            "sh: python # edits a/b.py",
        ),
        ("# nothing", "sh: # nothing"),
        ("", "sh"),
    ] {
        assert_eq!(of_command("sh", command).line, shown);
    }
}

#[test]
fn where_a_command_ran_is_told_where_the_same_ran_elsewhere() {
    let told = |commands: &[&str]| -> Vec<String> {
        let targets = settled(commands).into_iter();
        targets.map(|target| target.line).collect()
    };
    assert_eq!(
        told(&["cd a && x", "cd b && x"]),
        ["sh: cd a && x", "sh: cd b && x"]
    );
    assert_eq!(
        told(&["cd /a && x", "cd /a\ncd b\nx", "cd /c && y", "x", "y"]),
        [
            "sh: cd /a && x",
            "sh: cd /a/b && x",
            "sh: cd /c && y",
            "sh: x",
            "sh: y"
        ]
    );
}

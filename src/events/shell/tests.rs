//! Steps on files of commands, from the text of the command.

use super::*;
use crate::events::command::of_command;

/// Checks what a command does with which files; an editor's open one has no name.
#[track_caller]
pub(in crate::events::shell) fn does(command: &str, expected: &[(Step, &str)]) {
    let touches = Command::read(command).touches();
    let found: Vec<(Step, &str)> = touches
        .iter()
        .map(|touch| (touch.step, touch.file.as_deref().unwrap_or("(open)")))
        .collect();
    assert_eq!(found, expected, "{command}");
}

#[test]
fn names_are_whole_and_options_are_none() {
    use Step::{Create, Read, Remove, Restore, Run, Search, Write};
    does("cat \"my file.txt\"", &[(Read, "my file.txt")]);
    does(
        "head -n 20 a.py b.py | tail -5",
        &[(Read, "a.py"), (Read, "b.py")],
    );
    does("sed -i s/a/b/ 'x y.py'", &[(Write, "x y.py")]);
    does("sed -i.bak -e s/a/b/ -e 's/c d/e/' x.py", &[(Write, "x.py")]);
    does("sed -n '40,45p' a.py", &[(Read, "a.py")]);
    does("sed -i '' 's/a/b/' a.py", &[(Write, "a.py")]);
    does("perl -pi -e 's/a/b/' a.pl", &[(Write, "a.pl")]);
    does(
        "echo x > a.txt && rm -f *.pyc",
        &[(Create, "a.txt"), (Remove, "*.pyc")],
    );
    does(
        "mv a b; cp c d/; cp e f",
        &[
            (Remove, "a"),
            (Create, "b"),
            (Read, "c"),
            (Read, "e"),
            (Create, "f"),
        ],
    );
    does(
        "git checkout -- a.py && git diff a.py > p.diff",
        &[(Restore, "a.py"), (Create, "p.diff")],
    );
    does("cat $FILE *.py /dev/null; ls b.c", &[]);
    does(
        "grep -n x a.py; cp a.py.orig a.py; cp a.py b.py",
        &[
            (Search, "a.py"),
            (Read, "a.py.orig"),
            (Restore, "a.py"),
            (Read, "a.py"),
            (Create, "b.py"),
        ],
    );
    does(
        "sudo timeout 5 cat a.py < in.txt | tee out.txt",
        &[(Read, "in.txt"), (Read, "a.py"), (Create, "out.txt")],
    );
    does(
        "cat > a.py <<'E' && python3 a.py\nopen('b', 'w')\nE",
        &[(Create, "a.py"), (Run, "a.py")],
    );
    does("python3 - <<'E'\nopen('b', 'w')\nE", &[(Create, "b")]);
    does(
        "bash -lc \"cd /w && python -c \\\"open('b c', 'w')\\\"\"",
        &[(Create, "b c")],
    );
}

#[test]
fn an_editor_of_lines_works_on_the_open_file() {
    use Step::{Create, Read, Write};
    does("edit 287:296\nrm a.py\nend_of_edit", &[(Write, "(open)")]);
    does("edit\nx\nend_of_edit", &[(Write, "(open)")]);
    does("insert 3 \"rm a.py\"", &[(Write, "(open)")]);
    does("scroll_down", &[(Read, "(open)")]);
    does("search_file 'def f'", &[(Read, "(open)")]);
    does("open src/a.py 12", &[(Read, "src/a.py")]);
    does("create \"a b.py\"", &[(Create, "a b.py")]);
}

#[test]
fn a_command_knows_where_it_ran() {
    let touches = Command::read("cd /w && cat a; cd b; cat c; cd $X && cat d").touches();
    let places: Vec<&str> = touches.iter().map(|touch| touch.directory.as_str()).collect();
    assert_eq!(places, ["/w", "/w/b", ""]);
}

proptest::proptest! {
    #[test]
    fn whatever_is_written_is_read_without_fail(command in "[a-c \"'\\\\<>|&;()$`#*\n\t=/.é-]{0,60}") {
        let touches = Command::read(&command).touches();
        let code = Command::read(&format!("python -c \"open('{command}', 'w')\"")).touches();
        for touch in touches.iter().chain(&code) {
            let name = touch.file.as_deref().unwrap_or_default();
            proptest::prop_assert!(name.len() <= command.len() + 32, "{command:?} {name:?}");
        }
    }

    #[test]
    fn whatever_is_a_script_is_read_without_fail(code in "(open\\(|Path\\(|\\)|\\.write_text\\(|'|\"|, ?'w'|=|\n|a|é|os.remove\\(){0,30}") {
        of_code(&code);
    }
}

#[test]
fn outputs_and_formatted_files_are_written() {
    use Step::{Create, Remove, Write};
    does("git mv a.py b.py", &[(Remove, "a.py"), (Create, "b.py")]);
    does(
        "curl -sSLo a.html http://x/y; curl --output=b http://x; curl -O http://x/c",
        &[(Create, "a.html"), (Create, "b")],
    );
    does(
        "wget -q -O a.html http://x; wget -qO - http://x",
        &[(Create, "a.html")],
    );
    does("sort -u -o a.txt b.txt && sort c.txt", &[(Create, "a.txt")]);
    does("black -l 99 --config x.toml a.py src/", &[(Write, "a.py")]);
    does(
        "black --check a.py; black --diff a.py; black .; npx prettier a.js",
        &[],
    );
    does(
        "npx prettier --write a.js && python -m black b.py",
        &[(Write, "a.js"), (Write, "b.py")],
    );
    does(
        "ruff check a.py; ruff format --check a.py; ruff check --fix b.py; ruff format c.py",
        &[(Write, "b.py"), (Write, "c.py")],
    );
}

#[test]
fn a_way_from_where_it_began_is_part_of_the_name() {
    use Step::{Create, Read, Remove};
    does(
        "cd sub && echo x > rel.txt && cat ../up.txt ../../out.txt; cd ./more; rm -f t_*.py /w/a",
        &[
            (Create, "sub/rel.txt"),
            (Read, "up.txt"),
            (Read, "out.txt"),
            (Remove, "sub/more/t_*.py"),
            (Remove, "/w/a"),
        ],
    );
    does("(cd sub && ls) && cat a", &[(Read, "a")]);
    does(
        "bash -c 'cd sub && cat a'; cat b",
        &[(Read, "sub/a"), (Read, "b")],
    );
    does("pushd sub; cat a; popd; cat b", &[(Read, "sub/a"), (Read, "b")]);
}

#[test]
fn commands_of_any_length_are_read_in_one_pass() {
    for piece in [
        "cat | ",
        "cd abc; ",
        "$(a ",
        "((",
        "bash -c ",
        "x & ",
        "<<E\n",
        "'a' \"b\" ",
    ] {
        let target = of_command("sh", &piece.repeat(20_000));
        assert!(target.line.len() < 500, "{piece}");
    }
    let command = Command::read(&"cd abc; ".repeat(20_000));
    assert!(
        command
            .statements
            .iter()
            .all(|statement| statement.directory.len() <= 2 * MAX_DIRECTORY)
    );
}

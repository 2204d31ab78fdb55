//! What a shell command was about: the statement that tells it, where it ran, and what makes two of them the same.

use rustc_hash::FxHashMap;

use super::line::{cleaned, lines_of, shortened};
use super::target::{Directory, Effect, MAX_TARGET, MAX_VALUE, Target};

/// Programs that only choose what of an output is shown: behind a pipe they make no other command of it.
const FILTERS: [&str; 10] = [
    "head", "tail", "grep", "egrep", "cat", "wc", "tee", "less", "sort", "uniq",
];

/// A shell command, or the line of a script that tells most.
pub(crate) fn of_command(name: &str, command: &str) -> Target {
    let command = command.trim();
    let (first, directory) = telling_line(command);
    let is_script =
        command.lines().nth(1).is_some() && first.ends_with(['"', '\'', '(']) || first.contains("<<");
    let (effect, file) = effect_of_command(first);
    let mut shown = if is_script {
        script_line(first, command)
    } else {
        cleaned(without_redirection(first))
    };
    shown = shortened(&shown, MAX_TARGET).map_or_else(String::new, std::borrow::Cow::into_owned);
    let at = if name.is_empty() { 0 } else { name.len() + 2 };
    let line = match (name.is_empty(), shown.is_empty()) {
        (true, _) => shown,
        (false, true) => name.to_owned(),
        (false, false) => [name, ": ", &shown].concat(),
    };
    Target {
        line,
        key: match first {
            // Scripts are the same only as a whole, whatever runs them.
            _ if is_script => [name, ": ", command].concat(),
            // An editor's next try at the open file, whatever its lines.
            _ if first.starts_with("edit ") => [name, ": edit"].concat(),
            _ => key(name, command, first, !directory.is_empty(), effect),
        },
        effect,
        file,
        directory: Some(Directory {
            name: cleaned(&directory),
            place: at,
        }),
    }
}

/// The first line that does more than to prepare the next one, without the directories that it goes to first, and these.
fn telling_line(command: &str) -> (&str, String) {
    let mut directory = String::new();
    for line in lines_of(command).map(str::trim_ascii) {
        let mut rest = line;
        while let Some((to, behind)) = gone_to(rest) {
            if to.starts_with(['/', '~']) {
                directory.clear();
            } else if !directory.is_empty() {
                directory.push_str(" && cd ");
            }
            directory.push_str(to);
            rest = behind;
        }
        let prepares = ["set ", "export ", "source ", ". "]
            .iter()
            .any(|start| rest.starts_with(start))
            && !rest.contains("&&")
            && !rest.contains(';');
        if !(rest.is_empty() || rest.starts_with('#') || prepares) {
            return (rest, directory);
        }
    }
    // There is none: the last line that is no comment.
    let mut lines = command.lines().map(str::trim);
    let last = lines.rfind(|line| !line.is_empty() && !line.starts_with('#'));
    (
        last.unwrap_or(command.lines().next().unwrap_or_default()),
        String::new(),
    )
}

/// The directory that a line goes to first, and what it does there.
fn gone_to(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("cd ")?;
    let (to, behind) = rest.split_once("&&").unwrap_or((rest, ""));
    let to = to.trim().trim_end_matches(';').trim_end();
    let is_plain = !to.is_empty() && !to.contains([';', '|', '>', '#']);
    is_plain.then(|| (to, behind.trim()))
}

/// What makes two commands the same wherever they run: all of their words, but what a pipe shows of the output of one that
/// only runs. `has_gone` says whether the command goes somewhere before it comes to `first`.
fn key(name: &str, command: &str, first: &str, mut has_gone: bool, effect: Effect) -> String {
    let mut key = String::with_capacity(name.len() + command.len() + 2);
    key.push_str(name);
    key.push(':');
    for line in lines_of(command).map(str::trim_ascii) {
        let mut rest = line;
        while let Some((_, behind)) = gone_to(rest).filter(|_| has_gone) {
            rest = behind;
        }
        has_gone &= rest.as_ptr() != first.as_ptr();
        if rest.is_empty() || rest.starts_with('#') {
            continue;
        }
        let rest = match effect {
            Effect::Other => unfiltered(rest),
            _ => without_redirection(rest),
        };
        for word in rest.split_ascii_whitespace() {
            key.push(' ');
            key.push_str(word);
        }
        key.push('\n');
    }
    key
}

/// A command without what sends its errors where its output goes.
pub(crate) fn without_redirection(command: &str) -> &str {
    let command = command.trim_end();
    command.strip_suffix("2>&1").map_or(command, str::trim_end)
}

/// A line without the pipes at its end that only choose what is shown.
fn unfiltered(mut line: &str) -> &str {
    loop {
        line = without_redirection(line);
        let Some((before, after)) = line.rsplit_once(" | ") else {
            return line;
        };
        let program = after.split_ascii_whitespace().next().unwrap_or_default();
        let is_whole = after.matches('"').count() % 2 == 0 && after.matches('\'').count() % 2 == 0;
        if !FILTERS.contains(&program) || !is_whole || after.contains([';', '&', '\n', '`']) {
            return line;
        }
        line = before;
    }
}

/// Settles where each command ran. The keys say it always, the lines where the same ran in several places; one that went
/// nowhere counts as run where alone the same ran otherwise.
pub(crate) fn tell_directories(targets: &mut [Target]) {
    // The only directory of each command; `None` where there are several.
    let mut only: FxHashMap<&str, Option<&str>> = FxHashMap::default();
    for target in targets.iter() {
        let name = target.directory.as_ref().map_or("", |directory| &directory.name);
        if !name.is_empty() {
            let only = only.entry(&target.key).or_insert(Some(name));
            *only = only.filter(|only| *only == name);
        }
    }
    let places: Vec<(Option<String>, bool)> = targets
        .iter()
        .map(|target| {
            let name = target.directory.as_ref().map_or("", |directory| &directory.name);
            let only = only.get(target.key.as_str()).copied().unwrap_or_default();
            let place = if name.is_empty() { only } else { Some(name) };
            (
                place.map(|place| [" in ", place].concat()),
                only.is_none() && !name.is_empty(),
            )
        })
        .collect();
    for (target, (place, is_told)) in targets.iter_mut().zip(places) {
        target.key.push_str(place.as_deref().unwrap_or_default());
        let Some(directory) = target.directory.take().filter(|_| is_told) else {
            continue;
        };
        if target.line.is_char_boundary(directory.place) {
            let told = ["cd ", &directory.name, " && "].concat();
            target.line.insert_str(directory.place, &told);
        }
    }
}

/// The command that runs a script of several lines, with the comment or statement that tells most of the script.
fn script_line(first: &str, command: &str) -> String {
    let program = first
        .split("<<")
        .next()
        .unwrap_or(first)
        .trim_end_matches([' ', '"', '\'', '(', '-']);
    // One of the command's own lines.
    let at = (first.as_ptr() as usize).wrapping_sub(command.as_ptr() as usize);
    let rest = command.get(at..).unwrap_or_default();
    let mut body = lines_of(rest)
        .skip(1)
        .map(str::trim_ascii)
        .filter(|line| line.len() > 3);
    let told = body
        .clone()
        .take(40)
        .find_map(|line| line.strip_prefix("# ").filter(|comment| comment.len() > 8))
        .or_else(|| {
            body.find(|line| {
                !["import ", "from ", "#", "sys.path", "\"\"\""]
                    .iter()
                    .any(|start| line.starts_with(start))
            })
        });
    let told = cleaned(told.unwrap_or_default());
    match shortened(&told, MAX_VALUE) {
        Some(told) if !told.is_empty() => [&cleaned(program), " # ", &told].concat(),
        _ => cleaned(program),
    }
}

/// What a command does, by the program that it starts first and where it writes to. Where that changes a file, so may those
/// behind it: the last file tells.
fn effect_of_command(command: &str) -> (Effect, Option<String>) {
    let words: Vec<&str> = command.split_ascii_whitespace().take(40).collect();
    if let Some(file) = written(&words) {
        return (Effect::Modify, Some(file));
    }
    let ends = |word: &&str| matches!(*word, "&&" | "||" | "|") || word.ends_with(';');
    let mut statements = words.split_inclusive(ends).map(effect_of_statement);
    let (effect, file) = statements.next().unwrap_or((Effect::Other, None));
    if effect != Effect::Modify {
        return (effect, file);
    }
    let changed = statements.filter(|(effect, file)| *effect == Effect::Modify && file.is_some());
    (effect, changed.fold(file, |_, (_, file)| file))
}

/// The file that an output goes to.
fn written(words: &[&str]) -> Option<String> {
    // A `>` inside quotes compares; only one outside them writes.
    let mut quotes = 0;
    words.windows(2).find_map(|pair| {
        let [word, file] = pair else { return None };
        let outside = quotes % 2 == 0;
        quotes += word.matches(['"', '\'']).count();
        // Code compares.
        let is_file = !file.starts_with('&') && !file.contains(['(', ')', '[', ']', '\\', '=', ',', '<']);
        let writes = outside && matches!(*word, ">" | ">>") && *file != "/dev/null" && is_file;
        writes.then(|| bare(file))
    })
}

/// A word without quotes.
fn bare(word: &str) -> String {
    word.trim_matches(['"', '\'', ';']).to_owned()
}

/// What a program does with its words, and the last file among them.
fn effect_of_statement(words: &[&str]) -> (Effect, Option<String>) {
    let is_path = |word: &&&&str| {
        !word.starts_with(['-', '<', '|', '&', '\'', '"', '$', '{'])
            && word.contains(['/', '.'])
            && !word.contains('*')
    };
    // Words of a script in quotes are no files.
    let mut quote = None;
    let outside = words.iter().filter(|word| {
        let was_open = quote.is_some();
        for mark in word.bytes().filter(|byte| matches!(byte, b'"' | b'\'')) {
            match quote {
                None => quote = Some(mark),
                Some(open) if open == mark => quote = None,
                Some(_) => {}
            }
        }
        !was_open
    });
    let outside: Vec<&&str> = outside.collect();
    let last_path = || outside.iter().skip(1).rfind(is_path).map(|word| bare(word));
    match words.first().copied().unwrap_or_default() {
        "sed" if words.iter().any(|word| word.starts_with("-i")) => (Effect::Modify, last_path()),
        "rm" | "mv" | "cp" | "touch" | "mkdir" | "patch" | "tee" | "create" => (Effect::Modify, last_path()),
        "edit" => (Effect::Modify, None),
        "cat" | "head" | "tail" | "sed" | "less" | "nl" | "open" | "bat" => (Effect::Read, last_path()),
        "grep" | "rg" | "find" | "ls" | "find_file" | "search_dir" | "search_file" | "tree" | "awk"
        | "wc" => (Effect::Read, None),
        "git" => match words.get(1).copied() {
            Some("diff" | "log" | "show" | "status" | "blame" | "grep") => (Effect::Read, None),
            Some("apply" | "checkout" | "stash" | "reset" | "commit" | "add") => (Effect::Modify, None),
            _ => (Effect::Other, None),
        },
        _ => (Effect::Other, None),
    }
}

#[cfg(test)]
mod tests {
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
            ("touch a && python d.py", None),
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
            ("cd /a; run_it", "sh: cd /a; run_it"),
            ("export A=1", "sh: export A=1"),
            ("cd /a", "sh: cd /a"),
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
                "sh: cd /a && cd b && x",
                "sh: y",
                "sh: x",
                "sh: y"
            ]
        );
    }
}

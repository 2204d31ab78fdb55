//! The words of a statement told apart: its program, options, files.

use super::statement::Word;
use super::touch::Step;

/// The files among the words of an editor of streams: neither options nor its script.
pub(super) fn edited(words: &[Word]) -> impl Iterator<Item = &Word> {
    let mut has_script = false;
    let mut is_value = false;
    words.iter().filter(move |word| {
        let text = word.text.as_str();
        let option = text.strip_prefix('-').filter(|option| !option.is_empty());
        if std::mem::take(&mut is_value) || text.is_empty() {
            return false;
        }
        if let Some(option) = option {
            let takes_value = option == "-expression"
                || !option.starts_with('-') && !option.contains('i') && option.ends_with(['e', 'f']);
            is_value = takes_value;
            has_script |= takes_value || option.starts_with("-expression");
            return false;
        }
        std::mem::replace(&mut has_script, true)
    })
}

/// The files that a program writes that fetches, sorts or formats, where its words name them.
pub(super) fn written_by(program: &str, words: &[Word]) -> Vec<(Step, Word)> {
    let output = match program {
        "wget" => value_of(words, 'O', "--output-document"),
        "curl" | "sort" => value_of(words, 'o', "--output"),
        _ => {
            let files = formatted(program, words).into_iter();
            return files.map(|word| (Step::Write, word.clone())).collect();
        }
    };
    output.into_iter().map(|word| (Step::Create, word)).collect()
}

/// What follows an option, by its letter or its name.
fn value_of(words: &[Word], letter: char, name: &str) -> Option<Word> {
    let is_short = |text: &str| text.starts_with('-') && !text.starts_with("--") && text.ends_with(letter);
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let text = word.text.as_str();
        if text == name || is_short(text) {
            return rest.next().cloned();
        }
        if let Some(value) = text.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) {
            return Some(Word {
                text: value.to_owned(),
                ..word.clone()
            });
        }
    }
    None
}

/// The files that a formatter writes: those that are named with an ending.
fn formatted<'w>(program: &str, words: &'w [Word]) -> Vec<&'w Word> {
    let has = |option: &str| words.iter().any(|word| word.text == option);
    let first = words.first().map_or("", |word| word.text.as_str());
    let writes = match program {
        "prettier" => has("--write") || has("-w"),
        "ruff" => first == "format" && !has("--check") || first == "check" && has("--fix"),
        _ => !has("--check") && !has("-c") && !has("--code"),
    };
    if !writes || has("--diff") {
        return Vec::new();
    }
    let mut before = "";
    let files = words.iter().filter(|word| {
        let option = std::mem::replace(&mut before, word.text.as_str());
        let name = word.text.rsplit('/').next().unwrap_or_default();
        let ending = name.trim_start_matches('.').rsplit_once('.');
        !option.starts_with("--config") && !word.text.starts_with('-') && ending.is_some()
    });
    files.collect()
}

/// `-i`, `-i.bak`, `-ri`, `-pi`, `--in-place`.
pub(super) fn is_in_place(option: &str) -> bool {
    let short = option.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    let letters = short.unwrap_or_default().split('i').next().unwrap_or_default();
    option.starts_with("--in-place")
        || short.is_some_and(|short| short.contains('i'))
            && letters
                .chars()
                .all(|letter| matches!(letter, 'n' | 'r' | 'E' | 's' | 'z' | 'p' | 'l' | 'w' | '0'))
}

/// The program that a statement runs, by its name alone, and its words; what only runs another one is passed over.
pub(super) fn program_of(words: &[Word]) -> Option<(&str, &[Word])> {
    const PASSED: [&str; 17] = [
        "{", "}", "!", "do", "then", "else", "if", "while", "time", "sudo", "env", "nohup", "command",
        "exec", "timeout", "nice", "npx",
    ];
    let mut rest = words;
    let mut may_be_option = false;
    while let Some((first, others)) = rest.split_first() {
        let text = first.text.as_str();
        let is_value = text
            .split_once('=')
            .is_some_and(|(name, _)| !name.is_empty() && !name.contains(['/', '-', '.']));
        let is_option =
            may_be_option && (text.starts_with(['-']) || text.starts_with(|c: char| c.is_ascii_digit()));
        if PASSED.contains(&text) {
            may_be_option = true;
        } else if !is_value && !is_option {
            return Some((text.rsplit('/').next().unwrap_or(text), others));
        }
        rest = others;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::touch::Step;
    use super::super::touch::tests::does;

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
}

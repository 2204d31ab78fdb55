//! The words of a statement told apart: options, values, files.

use super::Word;
use super::programs::Program;

/// Words that are no options.
pub(super) fn files(words: &[Word]) -> impl Iterator<Item = &Word> {
    words.iter().filter(|word| !word.text.starts_with('-'))
}

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

/// What follows one of these options: a letter, which may stand behind others, or a name.
pub(super) fn value_of(words: &[Word], options: &[String]) -> Option<Word> {
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let text = word.text.as_str();
        for option in options {
            let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
            let is_letter = letter.is_some_and(|letter| {
                text.starts_with('-') && !text.starts_with("--") && text.ends_with(letter)
            });
            if is_letter || text == option {
                return rest.next().cloned();
            }
            if let Some(value) = text
                .strip_prefix(option.as_str())
                .and_then(|rest| rest.strip_prefix('='))
            {
                return Some(Word {
                    text: value.to_owned(),
                    ..word.clone()
                });
            }
        }
    }
    None
}

/// The files that a formatter writes: those that are named with an ending.
pub(super) fn formatted<'w>(words: &'w [Word], row: &Program) -> impl Iterator<Item = &'w Word> {
    let has = |options: &[String]| words.iter().any(|word| options.contains(&word.text));
    let writes = (row.options.is_empty() || has(&row.options)) && !has(&row.unless);
    let mut before = "";
    words.iter().filter(move |word| {
        let option = std::mem::replace(&mut before, word.text.as_str());
        let name = word.text.rsplit('/').next().unwrap_or_default();
        let ending = name.trim_start_matches('.').rsplit_once('.');
        writes && !option.starts_with("--config") && !word.text.starts_with('-') && ending.is_some()
    })
}

/// Whether an editor of streams changes its files.
pub(super) fn changed_in_place(words: &[Word]) -> bool {
    words.iter().any(|word| is_in_place(&word.text))
}

/// `-i`, `-i.bak`, `-ri`, `-pi`, `--in-place`.
fn is_in_place(option: &str) -> bool {
    let short = option.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    let letters = short.unwrap_or_default().split('i').next().unwrap_or_default();
    option.starts_with("--in-place")
        || short.is_some_and(|short| short.contains('i'))
            && letters
                .chars()
                .all(|letter| matches!(letter, 'n' | 'r' | 'E' | 's' | 'z' | 'p' | 'l' | 'w' | '0'))
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

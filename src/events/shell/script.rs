//! The files that a Python script opens, writes and removes, where it says their names.

use std::cell::LazyCell;

use rustc_hash::FxHashMap;

use super::step::Step;

/// Longest path looked for before a method that is called of it, in bytes.
const MAX_PATH: usize = 300;

/// Functions that are called with a path, and what they do to it. How `open` does, its mode tells.
const FUNCTIONS: [(&str, Step); 3] = [
    ("open", Step::Read),
    ("os.remove", Step::Remove),
    ("os.unlink", Step::Remove),
];

/// Methods that are called of a path.
const METHODS: [(&str, Step); 4] = [
    (".write_text", Step::Create),
    (".write_bytes", Step::Create),
    (".read_text", Step::Read),
    (".unlink", Step::Remove),
];

/// The files of a script, in order.
pub(super) fn files_of(code: &str) -> Vec<(Step, String)> {
    let names = LazyCell::new(|| assigned(code));
    let called = |at: usize| {
        let (before, rest) = (code.get(..at)?, code.get(at + 1..)?);
        let ends = |(name, _): &&(&str, Step)| before.ends_with(name);
        if let Some((name, step)) = FUNCTIONS.iter().find(ends) {
            let before = before.strip_suffix(name)?;
            let is_part = before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
            if is_part && !before.ends_with("io.") && !before.ends_with("codecs.") {
                return None;
            }
            let (file, rest) = value(rest.trim_start(), &names)?;
            let step = if *step == Step::Read { opened(rest) } else { *step };
            return Some((step, file));
        }
        let (name, step) = METHODS.iter().find(ends)?;
        Some((*step, path_before(before.strip_suffix(name)?, &names)?))
    };
    memchr::memchr_iter(b'(', code.as_bytes())
        .filter_map(called)
        .collect()
}

/// Names that stand for a text: `path = 'a.py'`, `path = Path('a.py')`.
fn assigned(code: &str) -> FxHashMap<&str, String> {
    let mut names = FxHashMap::default();
    for statement in code.split(['\n', ';']) {
        let Some((name, text)) = statement.split_once('=') else {
            continue;
        };
        let (name, text) = (name.trim(), without_path(text.trim()));
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if let Some((text, _)) = literal(text).filter(|_| is_name) {
            names.insert(name, text);
        }
    }
    names
}

fn without_path(text: &str) -> &str {
    let inner = text.strip_prefix("pathlib.").unwrap_or(text);
    inner.strip_prefix("Path(").map_or(text, str::trim_start)
}

/// The text at the beginning of `code`, written out or by a name that stands for one, and what follows it.
fn value<'c>(code: &'c str, names: &FxHashMap<&str, String>) -> Option<(String, &'c str)> {
    let code = without_path(code);
    if let Some(found) = literal(code) {
        return Some(found);
    }
    let end = code.find(|c: char| !(c.is_alphanumeric() || c == '_'))?;
    let (name, rest) = code.split_at_checked(end)?;
    Some((names.get(name)?.clone(), rest))
}

/// The string literal at the beginning of `code`, and what follows it; none of several lines, and none that holds values.
fn literal(code: &str) -> Option<(String, &str)> {
    let code = code.strip_prefix(['r', 'b', 'u']).unwrap_or(code);
    let quote = code.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = code.get(1..)?;
    let end = inner.find([quote, '\n', '\\'])?;
    let text = inner.get(..end).filter(|text| !text.is_empty())?;
    let rest = inner.get(end..)?.strip_prefix(quote)?;
    Some((text.to_owned(), rest))
}

/// The mode of `open`, from the text after the name: `open(a, 'w')`, `open(a, mode='w')`, never `open(a).read('w')`.
fn opened(rest: &str) -> Step {
    let rest = rest.trim_start_matches([')', ' ']);
    let mode = rest.strip_prefix(',').map(|more| {
        let more = more.trim_start();
        let named = more
            .strip_prefix("mode")
            .and_then(|more| more.trim_start().strip_prefix('='));
        named.unwrap_or(more).trim_start()
    });
    let (mode, _) = mode.and_then(literal).unwrap_or_default();
    if mode.len() <= 3 && mode.contains(['w', 'a', 'x']) {
        Step::Create
    } else if mode.len() <= 3 && mode.contains('+') {
        Step::Write
    } else {
        Step::Read
    }
}

/// The path that a method is called of: `Path('a.py').write_text(…)`, `path.write_text(…)`.
fn path_before(before: &str, names: &FxHashMap<&str, String>) -> Option<String> {
    if let Some(inner) = before.strip_suffix(')') {
        let line = end_of(inner, MAX_PATH);
        let start = line.rfind("Path(")?;
        let (text, rest) = literal(line.get(start + 5..)?)?;
        return rest.trim().is_empty().then_some(text);
    }
    let start = before
        .rfind(|c: char| !(c.is_alphanumeric() || c == '_'))
        .map_or(0, |at| {
            at + before
                .get(at..)
                .and_then(|rest| rest.chars().next())
                .map_or(1, char::len_utf8)
        });
    names.get(before.get(start..)?).cloned()
}

/// The last bytes of a text, or a few less.
fn end_of(text: &str, most: usize) -> &str {
    let mut start = text.len().saturating_sub(most);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn finds(code: &str, expected: &[(Step, &str)]) {
        let found = files_of(code);
        let found: Vec<(Step, &str)> = found.iter().map(|(step, file)| (*step, file.as_str())).collect();
        assert_eq!(found, expected, "{code}");
    }

    #[test]
    fn files_are_told_by_how_they_are_opened() {
        finds(
            "with open('a b.py', 'r') as f:\n x\nwith open(\"c.py\", mode = 'w') as f: pass\nio.open('d', 'rb+')",
            &[(Step::Read, "a b.py"), (Step::Create, "c.py"), (Step::Write, "d")],
        );
        finds(
            "p = Path('a.py')\ntext = p.read_text()\np.write_text(text)\nq='b.py';open(q,'w').write('x')",
            &[
                (Step::Read, "a.py"),
                (Step::Create, "a.py"),
                (Step::Create, "b.py"),
            ],
        );
        finds(
            "pathlib.Path(\"x y\").write_text('z'); os.remove('old.py'); open(Path('c'), 'a')",
            &[
                (Step::Create, "x y"),
                (Step::Remove, "old.py"),
                (Step::Create, "c"),
            ],
        );
        finds(
            "urlopen('http://x'); open(name); open(f'{a}.py', 'w'); open('",
            &[],
        );
    }
}

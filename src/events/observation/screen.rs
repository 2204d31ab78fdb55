//! A terminal's screen on which several commands were typed: what it shows of each.

/// Signs that end a prompt.
const PROMPT_ENDS: [&str; 4] = ["$ ", "# ", "% ", "> "];

/// Bytes of the beginning of a command that tell it where the screen breaks its line.
const LEAST: usize = 24;

/// What a screen shows below each of several commands; `None` if it does not show all of them being typed, in order.
pub(crate) fn split_by_commands<'s>(screen: &'s str, commands: &[&str]) -> Option<Vec<&'s str>> {
    let mut starts = Vec::with_capacity(commands.len());
    let mut lines = lines_with_places(screen).peekable();
    let mut prompt = "";
    for command in commands {
        let mut typed = command.trim().lines();
        let first = typed.next()?.trim_end();
        let (at, line, begun) = lines.find_map(|(at, line)| Some((at, line, echoed(line, first)?)))?;
        let line_end = line.trim_end();
        prompt = line_end.get(..line_end.len() - begun).unwrap_or_default().trim();
        let mut below = at + line.len();
        // The rest of a line that the screen breaks.
        let mut rest = first.get(begun..).unwrap_or_default();
        while let Some((at, line)) = lines.next_if(|(_, line)| continues(rest, line)) {
            rest = rest.get(line.trim_end().len()..).unwrap_or_default().trim_start();
            below = at + line.len();
        }
        // The other lines of the command, each behind a sign.
        for _ in typed {
            if let Some((at, line)) = lines.next_if(|(_, line)| line.starts_with('>')) {
                below = at + line.len();
            }
        }
        starts.push((at, below));
    }
    let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([screen.len()]);
    let parts = starts.iter().zip(ends);
    parts
        .map(|((_, below), end)| Some(without_prompts(screen.get(*below..end)?, prompt)))
        .collect()
}

/// A text without lines around it on which nothing was typed yet.
fn without_prompts<'t>(text: &'t str, prompt: &str) -> &'t str {
    let mut rest = text.trim();
    for prompt in [prompt, ">"] {
        rest = rest
            .strip_suffix(prompt)
            .filter(|before| before.is_empty() || before.ends_with('\n'))
            .unwrap_or(rest)
            .trim_end();
        rest = rest
            .strip_prefix(prompt)
            .filter(|behind| behind.is_empty() || behind.starts_with('\n'))
            .unwrap_or(rest)
            .trim_start();
    }
    rest
}

/// The lines of a text with their ends, each with its place.
fn lines_with_places(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    })
}

/// If a line of a screen shows a command behind a prompt, the bytes of the command that it shows.
fn echoed(line: &str, command: &str) -> Option<usize> {
    let line = line.trim_end();
    let behind = PROMPT_ENDS
        .iter()
        .flat_map(|end| line.match_indices(end).map(|(at, end)| at + end.len()));
    let mut shown = behind.filter_map(|at| line.get(at..));
    shown
        .find(|shown| *shown == command || shown.len() >= LEAST && command.starts_with(*shown))
        .map(str::len)
}

/// Returns true if a line goes on with the rest of a command.
fn continues(rest: &str, line: &str) -> bool {
    let line = line.trim_end();
    !rest.is_empty() && !line.is_empty() && rest.starts_with(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_what_stands_below_it() {
        let screen = "root@b:/w# cat > a.py <<'E'\n> x = 1\n> E\nroot@b:/w# python a.py\nValueError: 3\nroot@b:/w# ls\na.py\nroot@b:/w#";
        let commands = ["cat > a.py <<'E'\nx = 1\nE\n", "python a.py\n", "ls\n"];
        let parts = split_by_commands(screen, &commands).unwrap();
        assert_eq!(parts, ["", "ValueError: 3", "a.py"]);
        assert_eq!(split_by_commands(screen, &["python a.py", "pwd"]), None);
        assert_eq!(split_by_commands("a.py", &["ls", "ls"]), None);
        let broken = "$ python -m pytest tests/test_read\ners.py\n2 passed\n$ git status\nclean";
        let commands = ["python -m pytest tests/test_readers.py", "git status"];
        assert_eq!(
            split_by_commands(broken, &commands).unwrap(),
            ["2 passed", "clean"]
        );
    }
}

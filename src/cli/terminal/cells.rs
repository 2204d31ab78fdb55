//! Text in columns of a terminal: safe, wrapped by width, shortened, with marks that become colours.

use unicode_width::UnicodeWidthChar;

use super::visible::visible;
use crate::compress::anchors::Matcher;

/// The layout of a page.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// Columns to fill.
    pub width: usize,
    /// True if colours are printed.
    pub colours: bool,
    /// True if long turns are shown whole.
    pub full: bool,
    /// True if before and after stand side by side.
    pub side_by_side: bool,
}

/// Identifiers to be highlighted, and whether each is held.
pub struct Highlights<'h> {
    matcher: Matcher<'h>,
    anchors: Vec<(&'h str, bool)>,
}

/// Marks in a text; the data's own control characters are escaped before.
const HELD: char = '\u{1}';
const DANGLING: char = '\u{2}';
const END: char = '\u{3}';

/// Number of lines of a long turn that are shown from its start and its end.
const FIRST: usize = 8;
const LAST: usize = 3;

/// Bytes of a turn that are read at each end if it is shortened.
const LOOKED_AT: usize = 6_000;

impl<'h> Highlights<'h> {
    /// Highlights of `anchors`: the text to find, and true if it is held.
    pub fn new(anchors: Vec<(&'h str, bool)>) -> Self {
        Self {
            matcher: Matcher::new(anchors.iter().map(|(text, _)| *text)),
            anchors,
        }
    }

    /// `text`, safe, with marks around the identifiers in it.
    fn marked(&self, text: &str) -> String {
        let safe = visible(text);
        if self.anchors.is_empty() {
            return safe;
        }
        let mut hits: Vec<(usize, usize, bool)> = Vec::new();
        let mut wanted = vec![true; self.anchors.len()];
        self.matcher.find(&safe, &mut wanted, |index, at| {
            if let Some((anchor, is_held)) = self.anchors.get(index) {
                hits.push((at, at + anchor.len(), *is_held));
            }
            true
        });
        hits.sort_by_key(|(start, end, _)| (*start, std::cmp::Reverse(*end)));
        let mut marked = String::with_capacity(safe.len() + 2 * hits.len());
        let mut from = 0;
        for (start, end, is_held) in hits {
            // A hit within another is part of it.
            if start < from {
                continue;
            }
            marked.push_str(safe.get(from..start).unwrap_or_default());
            marked.push(if is_held { HELD } else { DANGLING });
            marked.push_str(safe.get(start..end).unwrap_or_default());
            marked.push(END);
            from = end;
        }
        marked.push_str(safe.get(from..).unwrap_or_default());
        marked
    }
}

impl Page {
    /// `text` as lines of at most `width` columns, shortened unless `full`.
    pub fn lines(&self, text: &str, width: usize, highlights: &Highlights<'_>) -> Vec<String> {
        let middle = if self.full { None } else { without_middle(text) };
        let wrapped = |text: &str| wrap(&highlights.marked(text), width.max(8));
        let mut lines = match middle {
            Some((head, tail)) => {
                let (mut head, tail) = (wrapped(head), wrapped(tail));
                head.extend(tail);
                head
            }
            None => wrapped(text),
        };
        if !self.full && lines.len() > FIRST + LAST + 1 {
            let left_out = if middle.is_some() {
                "… (shortened: --full shows all)".to_owned()
            } else {
                format!("… {} more lines (--full shows them)", lines.len() - FIRST - LAST)
            };
            let tail = lines.split_off(lines.len() - LAST);
            lines.truncate(FIRST);
            lines.push(clipped(&left_out, width));
            lines.extend(tail);
        }
        lines.iter().map(|line| self.coloured(line)).collect()
    }

    /// `text` in a colour of the terminal, if colours are printed.
    pub fn paint(&self, text: &str, colour: &str) -> String {
        if self.colours && !colour.is_empty() {
            format!("\u{1b}[{colour}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    fn coloured(&self, line: &str) -> String {
        let mut text = String::with_capacity(line.len());
        let mut last = END;
        for c in line.chars() {
            let before = last;
            if matches!(c, HELD | DANGLING | END) {
                last = c;
            }
            match c {
                HELD if self.colours => text.push_str("\u{1b}[32;4m"),
                DANGLING if self.colours => text.push_str("\u{1b}[1;31;4m"),
                END if self.colours => text.push_str("\u{1b}[0m"),
                // Without colours only dangling identifiers are marked.
                DANGLING => text.push_str("[!"),
                END if before == DANGLING => text.push(']'),
                END | HELD => {}
                c => text.push(c),
            }
        }
        text
    }
}

/// Both ends of a very long text; `None` if it is short enough to be wrapped as a whole.
fn without_middle(text: &str) -> Option<(&str, &str)> {
    if text.len() <= 2 * LOOKED_AT {
        return None;
    }
    let at = |from: usize| {
        (from..=text.len())
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(text.len())
    };
    Some((
        text.get(..at(LOOKED_AT))?,
        text.get(at(text.len() - LOOKED_AT)..)?,
    ))
}

/// Columns that a line takes; marks and colours take none.
pub fn columns(line: &str) -> usize {
    let mut columns = 0;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            chars.find(char::is_ascii_alphabetic);
        } else {
            columns += c.width().unwrap_or(0);
        }
    }
    columns
}

/// `line` cut to `width` columns.
pub fn clipped(line: &str, width: usize) -> String {
    if columns(line) <= width {
        return line.to_owned();
    }
    let mut taken = 0;
    let fits = |c: &char| {
        taken += c.width().unwrap_or(0);
        taken < width
    };
    let mut text: String = line.chars().take_while(fits).collect();
    text.push('…');
    text
}

/// `text` in lines of at most `width` columns, cut at spaces if there are some near the end. Marks that are open at a
/// line's end are closed there and opened again on the next.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut open: Option<char> = None;
    for line in text.split('\n') {
        let mut rest = line;
        loop {
            let cut = cut_at(rest, width);
            let (head, tail) = rest.split_at_checked(cut).unwrap_or((rest, ""));
            let mut piece: String = open.into_iter().collect();
            piece.push_str(head.trim_end_matches(' '));
            for mark in head.chars().filter(|c| matches!(*c, HELD | DANGLING | END)) {
                open = Some(mark).filter(|mark| *mark != END);
            }
            if open.is_some() {
                piece.push(END);
            }
            lines.push(piece);
            rest = tail.trim_start_matches(' ');
            if rest.is_empty() {
                break;
            }
        }
    }
    lines
}

/// The byte at which a line of `width` columns ends.
fn cut_at(text: &str, width: usize) -> usize {
    let mut taken = 0;
    let mut space = None;
    for (at, c) in text.char_indices() {
        let columns = c.width().unwrap_or(0);
        if taken + columns > width {
            // A space in the last third; otherwise the word is cut.
            return space
                .filter(|(_, before)| *before * 3 > width * 2)
                .map_or(at, |(at, _)| at);
        }
        if c == ' ' {
            space = Some((at + 1, taken));
        }
        taken += columns;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: Page = Page {
        width: 40,
        colours: false,
        full: true,
        side_by_side: false,
    };

    fn lines(text: &str, width: usize, page: Page) -> Vec<String> {
        page.lines(
            text,
            width,
            &Highlights::new(vec![("core_a.py", true), ("W123", false)]),
        )
    }

    #[test]
    fn lines_keep_within_their_columns_in_every_script() {
        let texts = [
            "a word and more words",
            "averyveryverylongwordthatgoeson",
            "状态为一百元的订单状态为一百元",
            "a\u{301}".repeat(30).leak(),
        ];
        for text in texts {
            for width in 8..30 {
                let lines = lines(text, width, PAGE);
                assert!(
                    lines.iter().all(|line| columns(line) <= width),
                    "{width}: {lines:?}"
                );
                let letters = |text: &str| text.replace(' ', "");
                assert_eq!(letters(&lines.concat()), letters(text));
            }
        }
    }

    #[test]
    fn identifiers_are_marked_and_no_colour_runs_over_a_line_end() {
        let coloured = Page {
            colours: true,
            ..PAGE
        };
        let text = "see lib/core_a.py and W123";
        assert_eq!(
            lines(text, 60, coloured),
            ["see lib/\u{1b}[32;4mcore_a.py\u{1b}[0m and \u{1b}[1;31;4mW123\u{1b}[0m"]
        );
        assert_eq!(lines(text, 60, PAGE), ["see lib/core_a.py and [!W123]"]);
        for line in lines("xxxxxxxxxx core_a.py", 14, coloured) {
            assert_eq!(
                line.matches("\u{1b}[32;4m").count(),
                line.matches("\u{1b}[0m").count(),
                "{line:?}"
            );
        }
    }

    #[test]
    fn long_turns_are_shortened_unless_all_is_wanted() {
        let text = (0..100)
            .map(|n| format!("line {n}"))
            .collect::<Vec<_>>()
            .join("\n");
        let short = lines(&text, 40, Page { full: false, ..PAGE });
        assert_eq!(short.len(), FIRST + 1 + LAST);
        assert_eq!(
            (short[FIRST].as_str(), short[FIRST + 3].as_str()),
            ("… 89 more lines (--full shows them)", "line 99")
        );
        assert_eq!(lines(&text, 40, PAGE).len(), 100);
        assert!(lines(&"x".repeat(1_000_000), 40, Page { full: false, ..PAGE }).len() < 20);
    }
}

//! Text of the data made safe for a terminal: nothing in it may move the cursor, change colours or hide.

/// `text` with control characters as their escapes (`\u{1b}`), line ends kept, tabs as spaces.
pub fn visible(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => safe.push('\n'),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\t' => safe.push_str("    "),
            c if c.is_control() || is_deceptive(c) => safe.extend(c.escape_unicode()),
            c => safe.push(c),
        }
    }
    safe
}

/// The same on one line: line ends as `\n`.
pub fn one_line(text: &str) -> String {
    visible(text).replace('\n', "\\n")
}

/// Returns true for marks that change the direction of text, break lines or have no width.
fn is_deceptive(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_data_reaches_the_terminal_as_a_command() {
        let hostile = "a\u{1b}[31mred\u{1b}]0;title\u{7} \u{9b}2J \u{202e}abc\r\nnext\rover\tx";
        let safe = visible(hostile);
        assert_eq!(
            safe,
            "a\\u{1b}[31mred\\u{1b}]0;title\\u{7} \\u{9b}2J \\u{202e}abc\nnext\\u{d}over    x"
        );
        assert_eq!(one_line("a\nb"), "a\\nb");
        assert!(
            !visible(&(0..0x2100).filter_map(char::from_u32).collect::<String>())
                .contains(|c: char| c.is_control() && c != '\n')
        );
    }
}

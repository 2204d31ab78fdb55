//! The part of a line that tells what a value in it is, without anything that belongs to another object.

use std::borrow::Cow;

use super::object::{Object, plain_json, without_other_objects};
use crate::events::line::{cleaned_line, place_of, without_bullet};

/// Bytes of a line looked at on each side of a value.
const REACH: usize = 600;

/// The line of `value`, which stands at `at` in `text`, around it, in at most about `most` characters; `None` where that says
/// no more than the value itself.
pub(super) fn excerpt(text: &str, at: usize, value: &str, most: usize) -> Option<String> {
    let value_end = at + value.len();
    let line = Window::line(text, at, value_end)?;
    let most = most.saturating_sub(value.chars().count());
    let (window, label) = match Object::around(text, line.from..line.to, at..value_end) {
        [Some(inner), outer] => line.narrowed(text, at, most, inner, outer),
        _ => (line, String::new()),
    };
    let (left, right) = window.cut(text, at, value_end, most.saturating_sub(label.chars().count()))?;
    // What names the object ends in a mark of its own.
    let left = if label.ends_with("… ") {
        left.trim_start_matches([',', '}', ']', ' '])
    } else {
        left
    };
    let whole = text.get(at - left.len()..value_end + right.len())?;
    let whole = if label.is_empty() {
        Cow::Borrowed(whole)
    } else {
        Cow::Owned(label + whole)
    };
    let line = cleaned_line(&whole);
    let line = plain_json(&line);
    let line = without_bullet(&line)
        .trim_start_matches([',', '}', ']', ' '])
        .trim_end_matches([',', '{', '[', ' ', '(']);
    (line.len() >= value.len() + 4 && line.contains(value)).then(|| line.to_owned())
}

/// A stretch of a text around a value.
#[derive(Clone, Copy)]
struct Window {
    from: usize,
    to: usize,
    /// Whether it begins in the middle of something.
    is_cut_before: bool,
    /// Whether it ends there.
    is_cut_after: bool,
    /// Whether it is an object's inside.
    is_object: bool,
}

impl Window {
    /// The line that the value from `at` to `end` stands in, as far as it is near.
    fn line(text: &str, at: usize, end: usize) -> Option<Self> {
        let mut from = at.saturating_sub(REACH);
        while !text.is_char_boundary(from) {
            from += 1;
        }
        let mut to = (end + REACH).min(text.len());
        while !text.is_char_boundary(to) {
            to -= 1;
        }
        let mut first = text.bytes().take(64).skip_while(u8::is_ascii_whitespace);
        let is_json = matches!(first.next(), Some(b'{' | b'['));
        let bytes = text.as_bytes();
        let start = last_line_start(bytes.get(from..at)?, is_json);
        let line_end = first_line_end(bytes.get(end..to)?, is_json);
        Some(Self {
            from: from + start.unwrap_or(0),
            to: line_end.map_or(to, |line_end| end + line_end),
            is_cut_before: start.is_none() && from > 0,
            is_cut_after: line_end.is_none() && to < text.len(),
            is_object: false,
        })
    }

    /// As much of the objects around the value as `most` characters take, and what names the object where its name is not
    /// in it.
    fn narrowed(
        self,
        text: &str,
        at: usize,
        most: usize,
        inner: Object,
        outer: Option<Object>,
    ) -> (Self, String) {
        let fits = |object: &Object| {
            let inside = object.to.and_then(|to| text.get(object.from..to));
            inside.is_some_and(|inside| inside.len() <= most || inside.chars().count() <= most)
        };
        if let Some(outer) = outer.filter(fits) {
            let key = outer.key(text, self.from).unwrap_or_default();
            return (outer.window(&self), key.to_owned());
        }
        let is_whole = fits(&inner);
        let name = if is_whole {
            outer.and_then(|outer| outer.first_field(text))
        } else {
            inner
                .first_field(text)
                .filter(|(from, _)| at.saturating_sub(*from) > most / 2)
        };
        let name = name.filter(|(from, field)| from + field.len() < at);
        let name = name.map(|(_, field)| field);
        let label = match (name, inner.key(text, self.from)) {
            (Some(name), Some(key)) if is_whole => format!("{name} … {key}"),
            (Some(name), key) => format!("{}{name} … ", key.unwrap_or_default()),
            (None, key) => key.unwrap_or_default().to_owned(),
        };
        let has_room = label.chars().count() <= most / 2;
        (inner.window(&self), if has_room { label } else { String::new() })
    }

    /// What stands before and after the value, cut between words to `most` characters in all.
    fn cut<'t>(&self, text: &'t str, at: usize, end: usize, most: usize) -> Option<(&'t str, &'t str)> {
        let before = text.get(self.from..at)?;
        let after = text.get(end..self.to)?;
        let after_length = after.chars().count();
        let for_left = if after_length < most / 2 {
            most - after_length
        } else {
            most / 2
        };
        let mut left = tail_words(before, for_left, self.is_cut_before);
        if self.is_object {
            left = without_other_objects(left);
        }
        let for_right = most.saturating_sub(left.chars().count());
        Some((left, head_words(after, for_right, self.is_cut_after)))
    }
}

impl Object {
    fn window(self, line: &Window) -> Window {
        Window {
            from: self.from,
            to: self.to.unwrap_or(line.to),
            is_cut_before: false,
            is_cut_after: self.to.is_none() && line.is_cut_after,
            is_object: true,
        }
    }
}

/// Where the last line of `text` begins; in JSON strings line ends are escaped.
fn last_line_start(text: &[u8], is_json: bool) -> Option<usize> {
    let newline = memchr::memrchr(b'\n', text).map(|at| at + 1);
    let from = newline.unwrap_or(0);
    let line = text.get(from..)?;
    let escaped = is_json.then(|| memchr::memrchr_iter(b'\\', line).find(|at| is_line_end(line, *at)));
    escaped.flatten().map(|at| from + at + 2).or(newline)
}

/// Where the first line of `text` ends.
fn first_line_end(text: &[u8], is_json: bool) -> Option<usize> {
    let newline = memchr::memchr(b'\n', text);
    let line = text.get(..newline.unwrap_or(text.len()))?;
    let escaped = is_json.then(|| memchr::memchr_iter(b'\\', line).find(|at| is_line_end(line, *at)));
    escaped.flatten().or(newline)
}

/// Whether a line's end is escaped here, not a backslash before an n.
fn is_line_end(line: &[u8], at: usize) -> bool {
    line.get(at + 1) == Some(&b'n') && (at == 0 || line.get(at - 1) != Some(&b'\\'))
}

/// The last words of `text` in at most `most` characters; with `cut` its first word may be half a word.
fn tail_words(text: &str, most: usize, cut: bool) -> &str {
    if text.len() <= most && !cut {
        return text;
    }
    let count = text.chars().count();
    if count <= most && !cut {
        return text;
    }
    let skip = count.saturating_sub(most);
    let from = place_of(text, skip).unwrap_or(text.len());
    let Some(tail) = text.get(from..) else { return "" };
    // A field of a JSON object is told from its key on.
    let starts_field = |at: &usize| {
        let before = tail.get(..*at).unwrap_or_default();
        before.ends_with(['{', ',']) || before.ends_with(", ")
    };
    let field = memchr::memchr_iter(b'"', tail.as_bytes()).find(starts_field);
    let piece = || memchr::memchr3(b' ', b',', b';', tail.as_bytes()).map(|at| at + 1);
    let from = field.or_else(piece);
    from.and_then(|at| tail.get(at..)).unwrap_or_default()
}

/// The first words of `text` in at most `most` characters; with `cut` its last word may be half a word.
fn head_words(text: &str, most: usize, cut: bool) -> &str {
    if text.len() <= most && !cut {
        return text;
    }
    let limit = place_of(text, most);
    if limit.is_none() && !cut {
        return text;
    }
    let Some(head) = text.get(..limit.unwrap_or(text.len())) else {
        return "";
    };
    let field = head
        .rfind(", \"")
        .or_else(|| head.rfind(",\""))
        .and_then(|at| head.get(..at));
    // What directly follows the anchor belongs to its word.
    field
        .or_else(|| head.rfind([' ', ',', ';']).and_then(|at| head.get(..at)))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(text: &str, value: &str, most: usize) -> Option<String> {
        excerpt(text, text.find(value)?, value, most)
    }

    #[test]
    fn nothing_of_another_object_is_told_beside_a_value() {
        let users = r#"[{"name": "Ann", "id": "u_1", "home": {"street": "1 A St", "zip": "11111"}}, {"name": "Bob", "id": "u_2", "home": {"street": "2 B St", "zip": "22222"}}]"#;
        let told = |value: &str, most: usize| around(users, value, most).unwrap();
        assert_eq!(told("u_2", 60), "name: Bob, id: u_2, home: street: 2 B St");
        assert_eq!(told("22222", 60), "name: Bob … home: street: 2 B St, zip: 22222");
        assert_eq!(
            told("22222", 99),
            "name: Bob, id: u_2, home: street: 2 B St, zip: 22222"
        );
        assert_eq!(told("u_2", 30), "id: u_2");
    }

    #[test]
    fn the_key_of_an_object_names_it() {
        let variants = r#"{"variants": {"670": {"options": {"color": "red", "hours": "10"}, "price": 271.89}, "671": {"options": {"color": "blue", "hours": "20"}, "price": 280.10}}}"#;
        assert_eq!(
            around(variants, "280.10", 90).unwrap(),
            "671: options: color: blue, hours: 20, price: 280.10"
        );
        assert_eq!(around(variants, "280.10", 30).unwrap(), "671: price: 280.10");
    }

    #[test]
    fn a_long_object_is_told_around_the_value_with_its_first_field() {
        let order = r##"{"order_id": "#W77", "a": "one two three four five", "b": "six seven eight nine ten", "total": 512.40, "c": "eleven twelve"}"##;
        assert_eq!(
            around(order, "512.40", 60).unwrap(),
            "order_id: #W77 … total: 512.40, c: eleven twelve"
        );
    }

    #[test]
    fn a_path_of_windows_is_no_line_end() {
        let copied = r"copied C:\new\alpha.txt to D:\nice\gamma.txt";
        assert_eq!(around(copied, "gamma.txt", 90).as_deref(), Some(copied));
        let json = r#"["first line\ncopied C:\\new\\alpha.txt"]"#;
        let told = around(json, "alpha.txt", 90).unwrap();
        assert!(told.contains("copied C:") && told.contains("alpha.txt"), "{told}");
        assert!(!told.contains("first line"), "{told}");
    }

    #[test]
    fn a_value_that_begins_with_a_blank_right_after_a_brace_is_no_trouble() {
        let text = r#"{ "key": "one two three four five six seven"}"#;
        for most in 0..60 {
            let _ = around(text, r#" "key": "one"#, most);
        }
    }

    #[test]
    fn braces_of_code_bound_nothing() {
        let code = "fn retries() -> u32 { let most = 4500; most }";
        assert_eq!(around(code, "4500", 80).as_deref(), Some(code));
    }
}

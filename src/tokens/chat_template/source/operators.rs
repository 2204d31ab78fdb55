//! Rewriting loops and operators in the tags of a template: the engine's own differ from Python's, and allocate without
//! a check of the budget.

use super::quoted::string_end;
use crate::tokens::chat_template::bounds::DEEPEST;
use crate::tokens::chat_template::names::{ADD, CONCATENATE, ITERATE, MARKING, MULTIPLY};

/// Returns true if a template marks texts as safe, so that texts added to them must be escaped.
pub fn marks_texts(source: &str) -> bool {
    source.split('|').skip(1).any(|after| {
        let name = after.trim_start();
        let end = name.find(|character: char| !character.is_ascii_alphanumeric() && character != '_');
        MARKING.contains(&name.get(..end.unwrap_or(name.len())).unwrap_or_default())
    })
}

/// The number of recursive steps in a tag's expressions: operators, brackets, filters and attributes. The engine
/// recurses for each.
pub fn steps(tag: &str) -> usize {
    let is_step = |token: &ExpressionToken| match token.kind {
        TokenKind::Open | TokenKind::Other => true,
        TokenKind::Separator => !matches!(token.text(tag), "," | ":" | "="),
        TokenKind::Word => token.text(tag) == "is",
        TokenKind::Text | TokenKind::Close => false,
    };
    ExpressionToken::of(tag).filter(is_step).count()
}

/// Returns true if a tag starts a block whose text is captured: a macro, or a block that is set, filtered or called.
pub fn begins_capture(tag: &str) -> bool {
    let mut words = ExpressionToken::of(tag).filter(|token| token.depth == 0);
    match words.next().map(|word| word.text(tag)) {
        Some("macro" | "call" | "filter") => true,
        Some("set") => !words.any(|word| word.text(tag) == "="),
        _ => false,
    }
}

/// Returns true if it ends such a block.
pub fn ends_capture(tag: &str) -> bool {
    let word = ExpressionToken::of(tag).next();
    word.is_some_and(|word| matches!(word.text(tag), "endmacro" | "endcall" | "endfilter" | "endset"))
}

/// Returns true if a tag is another branch of a condition.
pub fn is_branch(tag: &str) -> bool {
    ExpressionToken::of(tag)
        .next()
        .is_some_and(|word| word.text(tag) == "elif")
}

/// Returns a tag with the sequence of its loop, if it is a loop, passed through [`ITERATE`].
pub fn with_checked_loop(tag: &str) -> String {
    let mut words = ExpressionToken::of(tag).filter(|token| token.depth == 0);
    let is_loop = words.next().is_some_and(|word| word.text(tag) == "for");
    let Some(start) = words.find(|word| word.text(tag) == "in").filter(|_| is_loop) else {
        return tag.to_owned();
    };
    let end = words
        .find(|word| matches!(word.text(tag), "if" | "recursive"))
        .map_or_else(|| end_of_inner(tag), |word| word.start);
    let (head, rest) = tag.split_at(start.end);
    let (sequence, tail) = rest.split_at(end.saturating_sub(start.end).min(rest.len()));
    format!("{head} ({})|{ITERATE} {tail}", sequence.trim())
}

/// An operator that is rewritten to a filter.
struct Operator {
    sign: &'static str,
    filter: &'static str,
    /// Minimum number of them in a row that is rewritten.
    least: usize,
    /// Operators of lower precedence.
    weaker: &'static [&'static str],
    /// Operators of the same precedence.
    equal: &'static [&'static str],
}

/// Returns a tag with its operators that make texts rewritten to filters: `a + b + c` is `((a)|__add__(b, c))`. A
/// single addition stays, unless texts are marked: its result is no larger than both sides together.
pub fn with_filters(tag: &str, marks_texts: bool) -> String {
    let multiply = Operator {
        sign: "*",
        filter: MULTIPLY,
        least: 1,
        weaker: &["+", "-", "~"],
        equal: &["/", "%"],
    };
    let concatenate = Operator {
        sign: "~",
        filter: CONCATENATE,
        least: 1,
        weaker: &["+", "-"],
        equal: &[],
    };
    let add = Operator {
        sign: "+",
        filter: ADD,
        least: if marks_texts { 1 } else { 2 },
        weaker: &[],
        equal: &["-"],
    };
    let mut tag = tag.to_owned();
    for operator in [multiply, concatenate, add] {
        if tag.contains(operator.sign) {
            tag = operator.written_in(&tag);
        }
    }
    tag
}

impl Operator {
    fn written_in(&self, tag: &str) -> String {
        let mut out = String::with_capacity(tag.len() + 32);
        let mut copied = start_of_inner(tag).min(tag.len());
        out.push_str(tag.get(..copied).unwrap_or_default());
        let mut open = vec![Operands::starting_at(out.len())];
        let mut before = TokenKind::Separator;
        let mut after_is = false;
        for token in ExpressionToken::of(tag) {
            out.push_str(tag.get(copied..token.start).unwrap_or_default());
            copied = token.end;
            let text = token.text(tag);
            let is_binary = matches!(before, TokenKind::Word | TokenKind::Text | TokenKind::Close);
            // `is not` and `is in` are tests of the operand before them.
            let separates = token.kind == TokenKind::Separator && !(after_is && matches!(text, "not" | "in"))
                || is_binary && self.weaker.contains(&text);
            match token.kind {
                // The engine refuses expressions as deep as this.
                TokenKind::Open if open.len() > DEEPEST => return tag.to_owned(),
                TokenKind::Open => {
                    out.push_str(text);
                    open.push(Operands::starting_at(out.len()));
                }
                _ if token.kind == TokenKind::Close || separates => {
                    if let Some(operands) = open.pop() {
                        operands.join(self, &mut out);
                    }
                    out.push_str(text);
                    if separates {
                        open.push(Operands::starting_at(out.len()));
                    }
                }
                _ => {
                    if let Some(operands) = open.last_mut().filter(|_| is_binary) {
                        if text == self.sign {
                            operands.signs.push(out.len());
                        } else if self.equal.contains(&text) {
                            let signs = std::mem::take(&mut operands.signs);
                            let start = operands.start;
                            Operands { start, signs }.join(self, &mut out);
                        }
                    }
                    out.push_str(text);
                }
            }
            after_is = text == "is";
            before = token.kind;
        }
        out.push_str(tag.get(copied..end_of_inner(tag).max(copied)).unwrap_or_default());
        if let Some(operands) = open.pop() {
            operands.join(self, &mut out);
        }
        out.push_str(tag.get(end_of_inner(tag).max(copied)..).unwrap_or_default());
        out
    }
}

/// The start of a tag's text, after its delimiter and a sign of white space control.
fn start_of_inner(tag: &str) -> usize {
    2 + usize::from(matches!(tag.as_bytes().get(2), Some(b'-' | b'+')))
}

/// The end of a tag's text, before a sign of white space control and its delimiter.
fn end_of_inner(tag: &str) -> usize {
    let inner = tag
        .strip_suffix("%}")
        .or_else(|| tag.strip_suffix("}}"))
        .unwrap_or(tag);
    inner.strip_suffix(['-', '+']).unwrap_or(inner).len()
}

/// The operands of an operator being read, in the output.
struct Operands {
    start: usize,
    signs: Vec<usize>,
}

impl Operands {
    fn starting_at(start: usize) -> Self {
        Self {
            start,
            signs: Vec::new(),
        }
    }

    /// Rewrites the operation at the end of the output to a filter.
    fn join(&self, operator: &Operator, out: &mut String) {
        if self.signs.len() < operator.least {
            return;
        }
        let ends = self.signs.iter().copied().chain([out.len()]);
        let starts = std::iter::once(self.start).chain(self.signs.iter().map(|sign| sign + 1));
        let mut operands = starts
            .zip(ends)
            .map(|(start, end)| out.get(start..end).unwrap_or_default().trim());
        let first = operands.next().unwrap_or_default();
        let others: Vec<&str> = operands.collect();
        let written = format!(" (({first})|{}({})) ", operator.filter, others.join(", "));
        out.truncate(self.start);
        out.push_str(&written);
    }
}

/// Words of lower precedence than all operators.
const SEPARATORS: [&str; 11] = [
    "and", "do", "elif", "else", "for", "if", "in", "not", "or", "print", "set",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenKind {
    /// A name or a number.
    Word,
    /// A string.
    Text,
    Open,
    Close,
    /// A word or sign of lower precedence than all operators.
    Separator,
    /// An operator.
    Other,
}

/// A piece of a tag's expression.
struct ExpressionToken {
    start: usize,
    end: usize,
    kind: TokenKind,
    /// Number of open brackets around it.
    depth: usize,
}

impl ExpressionToken {
    fn text<'t>(&self, tag: &'t str) -> &'t str {
        tag.get(self.start..self.end).unwrap_or_default()
    }

    /// The tokens of a tag, without its delimiters and its signs of white space control.
    fn of(tag: &str) -> impl Iterator<Item = Self> {
        let bytes = tag.as_bytes();
        let inner_end = end_of_inner(tag);
        let mut at = start_of_inner(tag);
        let mut depth = 0_usize;
        std::iter::from_fn(move || {
            while at < inner_end && bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
                at += 1;
            }
            let start = at;
            let byte = *bytes.get(start).filter(|_| start < inner_end)?;
            at += 1;
            let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
            let mut around = depth;
            let kind = match byte {
                b'\'' | b'"' => {
                    at = string_end(bytes, start).min(inner_end);
                    TokenKind::Text
                }
                _ if is_word(&byte) => {
                    while bytes.get(at).filter(|_| at < inner_end).is_some_and(is_word) {
                        at += 1;
                    }
                    if tag.get(start..at).is_some_and(|word| SEPARATORS.contains(&word)) {
                        TokenKind::Separator
                    } else {
                        TokenKind::Word
                    }
                }
                b'(' | b'[' | b'{' => {
                    depth += 1;
                    TokenKind::Open
                }
                b')' | b']' | b'}' => {
                    depth = depth.saturating_sub(1);
                    around = depth;
                    TokenKind::Close
                }
                b'*' if bytes.get(at) == Some(&b'*') => {
                    at += 1;
                    TokenKind::Other
                }
                b',' | b':' | b'=' | b'<' | b'>' | b'!' => TokenKind::Separator,
                _ => TokenKind::Other,
            };
            Some(Self {
                start,
                end: at,
                kind,
                depth: around,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_of_a_loop_is_checked_and_nothing_else() {
        let cases = [
            ("{% for x in tools %}", "{% for x in (tools)|__iterate__ %}"),
            (
                "{%- for a, b in d.items() if a in b -%}",
                "{%- for a, b in (d.items())|__iterate__ if a in b -%}",
            ),
            (
                "{% for x in (y if z else []) recursive %}",
                "{% for x in ((y if z else []))|__iterate__ recursive %}",
            ),
            (
                "{% for x in 'if in', 2 %}",
                "{% for x in ('if in', 2)|__iterate__ %}",
            ),
        ];
        for (tag, expected) in cases {
            assert_eq!(with_checked_loop(tag), expected);
        }
        for tag in [
            "{% if x in y %}",
            "{{ 'for x in y' }}",
            "{% for",
            "{% endfor %}",
            "{%",
        ] {
            assert_eq!(with_checked_loop(tag), tag);
        }
    }

    #[test]
    fn operators_become_filters_wherever_they_stand() {
        let cases = [
            ("{{ a + b }}", "{{ ((a)|__add__(b)) }}"),
            (
                "{{- 'x + y'|safe + a['b' + c] + d|tojson() -}}",
                "{{- (('x + y'|safe)|__add__(a[ (('b')|__add__(c)) ], d|tojson())) -}}",
            ),
            (
                "{% if x + 1 is not none and f(a + b, c=-1) %}",
                "{% if ((x)|__add__(1 is not none)) and f( ((a)|__add__(b)) , c=-1) %}",
            ),
            (
                "{% set x = a + b if c else +d %}",
                "{% set x = ((a)|__add__(b)) if c else +d %}",
            ),
            ("{{ {'k': a + 1}[b] }}", "{{ {'k': ((a)|__add__(1)) }[b] }}"),
            (
                "{{ a ~ b * 2 ~ c }}",
                "{{ ((a)|__concatenate__(((b)|__multiply__(2)), c)) }}",
            ),
            (
                "{{ a * b // c * -d }}",
                "{{ ((((a)|__multiply__(b)) // c)|__multiply__(-d)) }}",
            ),
            ("{{ a + b - c + d }}", "{{ ((((a)|__add__(b)) - c)|__add__(d)) }}"),
            ("{{ a ** b * c }}", "{{ ((a ** b)|__multiply__(c)) }}"),
        ];
        let squeezed = |text: &str| text.replace(' ', "");
        for (tag, expected) in cases {
            assert_eq!(squeezed(&with_filters(tag, true)), squeezed(expected));
        }
        for tag in ["{{ a +", "{{", "{{ ) + ]"] {
            with_filters(tag, true);
        }
        for tag in [
            "{%+ if x +%}",
            "{{ +1 }}",
            "{{ 'a+b' }}",
            "{{ f(*a) }}",
            "{{ a ** b }}",
            "{{ a - b }}",
        ] {
            assert_eq!(with_filters(tag, true), tag);
        }
        assert_eq!(with_filters("{{ a + b }}", false), "{{ a + b }}");
    }

    #[test]
    fn only_filters_mark_texts() {
        assert!(marks_texts("{{ x |safe }}") && marks_texts("{{ x|e }}"));
        assert!(!marks_texts("{{ safe + x|escaped|safely }} | none"));
    }
}

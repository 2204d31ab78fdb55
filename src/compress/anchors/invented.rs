//! Identifiers that a text names and none of its sources does: those that a summary made up.

use memchr::memmem;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Matcher, Search, argument_values, identifiers};
use crate::trajectory::{TurnView, Turns};

/// Most identifiers of one text that are searched for.
const MAX_NAMED: usize = 4_096;

/// The start of a JSON escape that gives a character by its number.
const ESCAPED: &[u8] = b"\\u";

/// The start of a redaction marker, whose content is in no source.
const REDACTED: &str = "[REDACTED:";

/// Returns the identifiers of `text` that occur, as whole identifiers, in none of `turns` and `others`, in order of
/// appearance. Sources of JSON text are searched as written and decoded; a line end in a source counts as a space.
pub fn invented<'s>(
    text: &str,
    turns: Turns<'_>,
    others: impl Iterator<Item = &'s str> + Clone,
) -> Vec<String> {
    let named = named(text);
    let matcher = Matcher::new(named.iter().map(String::as_str));
    let mut search = Search::new(&matcher, vec![true; named.len()]);
    each_source(turns, others.clone(), |source| search.find(source, |_, _| false));
    let mut missing = search.into_wanted();
    // Models often reword an identifier, so this branch is common: only texts that may contain one are decoded.
    if missing.contains(&true) {
        find_decoded(&named, &matcher, &mut missing, |look| {
            each_source(turns, others, look);
        });
    }
    let lost = named
        .into_iter()
        .zip(missing)
        .filter(|(_, is_missing)| *is_missing);
    lost.map(|(identifier, _)| identifier).collect()
}

/// Searches for the missing identifiers in decoded sources, with white space reduced to single spaces.
fn find_decoded(
    named: &[String],
    matcher: &Matcher<'_>,
    missing: &mut [bool],
    each_source: impl FnOnce(&mut dyn FnMut(&str)),
) {
    let wanted = named.iter().zip(missing.iter());
    let wanted = wanted.filter(|(_, is_missing)| **is_missing);
    let cores: FxHashSet<&str> = wanted.map(|(identifier, _)| core(identifier)).collect();
    let has_empty = cores.contains("");
    let cores = Matcher::new(cores);
    let may_hold = |text: &str| has_empty || cores.touches(text);
    let places: FxHashMap<&str, usize> = named.iter().map(String::as_str).zip(0..).collect();
    each_source(&mut |source| {
        if !may_hold(source) && memmem::find(source.as_bytes(), ESCAPED).is_none() {
            return;
        }
        for value in argument_values(source) {
            if !may_hold(&value.text) {
                continue;
            }
            let line = one_line(&value.text);
            matcher.find(&line, missing, |_, _| false);
            // An identifier that the scanner finds here counts, even if the matcher rejects it: `9p` of `1,9p`.
            identifiers(&line, |identifier| {
                if let Some(is_missing) = places.get(identifier).and_then(|place| missing.get_mut(*place)) {
                    *is_missing = false;
                }
            });
        }
    });
}

/// Returns the longest part of an identifier that is spelled the same in every source: white space may differ, and JSON
/// may escape some characters with a backslash. JSON text can escape all other characters by number only.
fn core(identifier: &str) -> &str {
    let may_differ = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '/' | '"' | '\\');
    let parts = identifier.split(may_differ);
    parts.max_by_key(|part| part.len()).unwrap_or(identifier)
}

fn each_source<'s>(turns: Turns<'_>, others: impl Iterator<Item = &'s str>, mut find: impl FnMut(&str)) {
    for turn in turns.all() {
        sources_of(&turn).for_each(&mut find);
    }
    others.for_each(find);
}

/// Returns every text of a turn that a summary may quote an identifier from, names of tools and ids of calls included.
fn sources_of<'v>(turn: &'v TurnView<'_>) -> impl Iterator<Item = &'v str> {
    let calls = turn.calls.iter().flat_map(|call| {
        let id = call.id.as_deref();
        [call.name.as_ref(), call.arguments.as_ref()]
            .into_iter()
            .chain(id)
    });
    let responses = turn.responses.iter().flat_map(|response| {
        let ids = response.name.as_deref().into_iter().chain(response.id.as_deref());
        std::iter::once(response.content.as_ref()).chain(ids)
    });
    std::iter::once(turn.text.as_ref()).chain(calls).chain(responses)
}

fn named(text: &str) -> Vec<String> {
    let mut seen: FxHashSet<String> = FxHashSet::default();
    let mut named = Vec::new();
    let mut note = |identifier: &str| {
        if named.len() < MAX_NAMED && seen.insert(identifier.to_owned()) {
            named.push(identifier.to_owned());
        }
    };
    let mut pieces = text.split(REDACTED);
    identifiers(pieces.next().unwrap_or_default(), &mut note);
    for piece in pieces {
        let rest = piece.split_once(']').map_or(piece, |(_, rest)| rest);
        identifiers(rest, &mut note);
    }
    named
}

/// Returns `text` with each run of white space and control characters reduced to one space.
fn one_line(text: &str) -> String {
    let is_blank = |c: char| c.is_whitespace() || c.is_control();
    let words = text.split(is_blank).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the same as [`invented`], but decodes every source.
    fn by_looking_closely(text: &str, sources: &[String]) -> Vec<String> {
        let mut lost = named(text);
        for value in sources.iter().flat_map(|source| argument_values(source)) {
            let line = one_line(&value.text);
            let held = Matcher::new(lost.iter().map(String::as_str)).held(&line);
            let mut held = held.into_iter();
            lost.retain(|_| !held.next().unwrap_or_default());
            identifiers(&line, |identifier| lost.retain(|lost| lost != identifier));
        }
        for source in sources {
            let mut held = Matcher::new(lost.iter().map(String::as_str))
                .held(source)
                .into_iter();
            lost.retain(|_| !held.next().unwrap_or_default());
        }
        lost
    }

    proptest! {
        #[test]
        fn passing_over_sources_by_their_words_loses_none(
            sources in prop::collection::vec("[a-c/_.,:19\\\\\"' \n\té漢-]{0,60}", 1..4),
            forms in prop::collection::vec(0..4, 4),
            text in "[a-c/_.,:19\"' \né漢-]{0,40}",
            taken in any::<prop::sample::Index>(),
        ) {
            let whole: String = sources.concat();
            // A summary quotes its sources, sometimes with errors.
            let chars: Vec<char> = whole.chars().collect();
            let from = taken.index(chars.len() + 1);
            let quoted: String = chars.iter().skip(from).take(20).collect();
            let text = format!("{quoted} {text}");
            let written = |(source, form): (&String, &i32)| match form {
                0 => source.clone(),
                1 => serde_json::json!({"a": source}).to_string(),
                2 => serde_json::json!([{"a": serde_json::json!({"b": source}).to_string()}]).to_string(),
                _ => serde_json::json!([source]).to_string().replace('/', "\\/"),
            };
            let sources: Vec<String> = sources.iter().zip(&forms).map(written).collect();
            let found = invented(&text, Turns::Kept(&[]), sources.iter().map(String::as_str));
            prop_assert_eq!(found, by_looking_closely(&text, &sources));
        }
    }

    fn made_up(text: &str, sources: &[&str]) -> Vec<String> {
        invented(text, Turns::Kept(&[]), sources.iter().copied())
    }

    #[test]
    fn what_no_source_names_is_invented() {
        let sources = [
            "edit src/core_a.py",
            "{\"order_id\": \"#W123\", \"note\": \"caf\\u00e9_7\"}",
        ];
        assert!(made_up("src/core_a.py, #W123 and café_7", &sources).is_empty());
        assert_eq!(
            made_up("src/core_b.py then W1234", &sources),
            ["src/core_b.py", "W1234"]
        );
        assert!(made_up("core_a.py", &sources).is_empty());
        assert_eq!(made_up("ore_a.py", &sources), ["ore_a.py"]);
    }

    #[test]
    fn what_a_source_escapes_is_no_invention() {
        for source in [
            r#"{"path": "src\/core_a.py"}"#,
            r#"{"path": "src\u002fcore_a.py"}"#,
            r#"{"path": "\u0073rc/core\u005fa.py"}"#,
            r#"[{"text": "see\nsrc/core_a.py\tthere"}]"#,
        ] {
            assert!(
                made_up("src/core_a.py", &["nothing", source]).is_empty(),
                "{source}"
            );
            assert_eq!(made_up("src/core_b.py", &[source]), ["src/core_b.py"]);
        }
        assert!(made_up("the 'müller key'", &[r#"{"a": "m\u00fcller\r\n key"}"#]).is_empty());
    }

    #[test]
    fn a_quote_over_a_line_end_is_no_invention() {
        assert!(made_up("it says 'not a b-c'", &["it says 'not\n  a b-c'"]).is_empty());
    }

    #[test]
    fn what_is_an_identifier_to_the_scanner_in_both_is_no_invention() {
        assert!(
            made_up(
                "sed -n '1900,1950p' x",
                &["{\"command\": \"sed -n '1900,1950p' x\"}"]
            )
            .is_empty()
        );
    }

    #[test]
    fn markers_of_redaction_are_passed_over() {
        assert!(made_up("key [REDACTED:token_v2_long] used", &["key abc used"]).is_empty());
        assert_eq!(made_up("[REDACTED:x_y] made_up", &[]), ["made_up"]);
    }
}

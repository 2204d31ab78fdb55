//! Demands and requests that a person gave up later: altogether (`forget the admin page`), or for another value (`90 days instead of 30`).

use super::sentences::bare;
use crate::knowledge::phrases::{Kinds, PhraseKind, around, is_word};

/// Sentences of people that give something up, compared with each earlier one.
const MAX_NOTED: usize = 100;

/// Words behind `instead of` in which the value stands, and words of what is given up altogether.
const WORDS_TO_VALUE: usize = 2;
const MAX_THING: usize = 4;

/// Letters of a word that says what a sentence is about, and of one that names what is given up.
const TOPIC: usize = 5;
const NAME: usize = 3;

/// Words before what gives something up: `And please`.
const MAX_BEFORE: usize = 3;

/// Words of a sentence that asks for one thing: of a longer one more is left than was given up.
const MAX_WORDS: usize = 24;

/// Words of people that give something up, the latest first.
#[derive(Default)]
pub(super) struct Withdrawals(Vec<Withdrawal>);

struct Withdrawal {
    turn: usize,
    sentence: String,
    given_up: GivenUp,
}

enum GivenUp {
    /// A value for another one, in what is about the same.
    Value(String),
    /// The thing that these words name, in demands too or only in requests.
    Thing(Vec<String>, bool),
    /// A sentence that gave up something that one of these words names.
    Withdrawal(Vec<String>),
}

/// Words for what an earlier sentence says, now that a person gave it up.
pub(super) enum Now<'w> {
    /// It holds with another value, as this sentence says.
    Changed(&'w str),
    Gone,
}

impl Withdrawals {
    /// Notes a sentence of a person, no later than those noted before.
    pub fn note(&mut self, turn: usize, sentence: &str, kinds: Kinds) {
        let given_up = if kinds.has(PhraseKind::Instead) {
            value_given_up(sentence, kinds)
        } else if kinds.has_any(&[PhraseKind::Withdraws, PhraseKind::Drops]) {
            thing_given_up(sentence, kinds)
        } else if kinds.has(PhraseKind::Reverses) {
            Some(GivenUp::Withdrawal(
                words_of(sentence).filter(|word| is_topic(word)).collect(),
            ))
        } else {
            None
        };
        if let Some(given_up) = given_up.filter(|_| self.0.len() < MAX_NOTED) {
            let sentence = sentence.to_owned();
            self.0.push(Withdrawal {
                turn,
                sentence,
                given_up,
            });
        }
    }

    /// The consequence of a person's later words for a sentence, said in `turn` or (`None`) before all turns; `None` if it stands.
    pub fn of(&self, turn: Option<usize>, sentence: &str, is_demand: bool) -> Option<Now<'_>> {
        let mut later = self
            .0
            .iter()
            .filter(|by| turn.is_none_or(|turn| by.turn > turn))
            .peekable();
        later.peek()?;
        let words: Vec<String> = words_of(sentence).collect();
        let withdraws = Kinds::of(sentence).has_any(&[PhraseKind::Withdraws, PhraseKind::Drops]);
        let by = later.find(|by| match by.given_up {
            GivenUp::Thing(_, of_demands) if is_demand && !of_demands => false,
            _ => by.gives_up(&words, withdraws),
        })?;
        Some(match by.given_up {
            GivenUp::Value(_) => Now::Changed(&by.sentence),
            GivenUp::Thing(..) | GivenUp::Withdrawal(_) => Now::Gone,
        })
    }
}

impl Withdrawal {
    /// If it gives up what these words say, which may give up something themselves.
    fn gives_up(&self, words: &[String], withdraws: bool) -> bool {
        match &self.given_up {
            GivenUp::Value(value) => {
                let is_here = |word: &String| words_of(&self.sentence).any(|other| other == *word);
                words.contains(value) && words.iter().filter(|word| is_topic(word)).any(is_here)
            }
            GivenUp::Withdrawal(thing) => withdraws && thing.iter().any(|word| words.contains(word)),
            GivenUp::Thing(thing, _) => {
                words.len() <= MAX_WORDS && thing.iter().all(|word| words.contains(word))
            }
        }
    }
}

/// If a word says what a sentence is about.
fn is_topic(word: &str) -> bool {
    word.chars().count() >= TOPIC && !is_word(PhraseKind::Preposition, word)
}

/// The words of a sentence in small letters: `Amara` of `Amara's`.
fn words_of(sentence: &str) -> impl Iterator<Item = String> {
    sentence.split_whitespace().map(|word| {
        let word = bare(word);
        let owner = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s"));
        owner.map_or(word.clone(), str::to_owned)
    })
}

/// The value that a sentence gives up: `30` of `90 days instead of 30`. A remark or a question gives up none.
fn value_given_up(sentence: &str, kinds: Kinds) -> Option<GivenUp> {
    let wants = kinds.has_any(&[PhraseKind::Demand, PhraseKind::Request, PhraseKind::Wants]);
    if !wants || sentence.ends_with(['?', '？']) {
        return None;
    }
    let (_, rest) = around(PhraseKind::Instead, sentence)?;
    let mut words = words_of(rest).take(WORDS_TO_VALUE);
    let value = words.find(|word| word.bytes().any(|byte| byte.is_ascii_digit()))?;
    Some(GivenUp::Value(value))
}

/// The thing that a sentence gives up: `ticket`, `lena` of `forget the ticket for Lena, but tell me …`. What forbids to give something
/// up, does so under a condition or tells of it gives up nothing.
fn thing_given_up(sentence: &str, kinds: Kinds) -> Option<GivenUp> {
    let withdraws = kinds.has(PhraseKind::Withdraws);
    let kind = if withdraws {
        PhraseKind::Withdraws
    } else {
        PhraseKind::Drops
    };
    let (before, rest) = around(kind, sentence)?;
    let opens = |word: String| word.is_empty() || is_word(PhraseKind::Opener, &word);
    let is_first = words_of(before).take(MAX_BEFORE + 1).count() <= MAX_BEFORE && words_of(before).all(opens);
    if !is_first || kinds.has(PhraseKind::Condition) || sentence.ends_with(['?', '？']) {
        return None;
    }
    let mut thing: Vec<String> = Vec::new();
    for raw in rest.split_whitespace() {
        let word = words_of(raw).next().unwrap_or_default();
        if is_word(PhraseKind::Joint, &word) {
            break;
        }
        let is_beside = [PhraseKind::Article, PhraseKind::Preposition];
        if !is_beside.iter().any(|kind| is_word(*kind, &word)) && !word.is_empty() {
            thing.push(word);
        }
        if raw.ends_with([',', ';', ':', '.', '!', ')', '—', '-']) || thing.len() > MAX_THING {
            break;
        }
    }
    // A word alone for what was named before (`it`, `that`) names nothing.
    let names = thing
        .first()
        .is_some_and(|word| word.chars().count() >= NAME && !Kinds::of(word).has(PhraseKind::Pronoun));
    (names && thing.len() <= MAX_THING).then_some(GivenUp::Thing(thing, withdraws))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_given_up_by_what_names_all_of_it_or_puts_another_value_in_its_place() {
        let keep = "Keep delivery rows for 30 days, then purge.";
        let page = "Also put a small admin page on /admin/deliveries.";
        let group = "And Amara's manager wants her in g-9015 too.";
        for (earlier, later, expected) in [
            (
                keep,
                "Legal wants 90 days instead of 30 for the delivery rows.",
                "changed",
            ),
            (
                "Be in Berlin before 11:00.",
                "I have to be in Berlin before 10:00, not 11:00.",
                "changed",
            ),
            (
                "Höchstens 5 Zeilen je Tabelle.",
                "Nimm 9 Zeilen statt 5.",
                "changed",
            ),
            (
                page,
                "And forget the admin page, support has it in Metabase.",
                "gone",
            ),
            (
                group,
                "OK, then drop g-9015 for Amara, Henrik asks again.",
                "gone",
            ),
            (
                "Add 1 bottle of isopropanol.",
                "Leave out the isopropanol.",
                "gone",
            ),
            // Another thing, another value, and none at all.
            (keep, "Take 5 workers instead of 30.", ""),
            (keep, "Keep delivery logs 9 days instead of 7.", ""),
            (keep, "Purge delivery rows instead of keeping them.", ""),
            (page, "Don't forget the admin page.", ""),
            (page, "Can we drop the admin page?", ""),
            (page, "Forget it.", ""),
            (page, "Drop the page for members.", ""),
            (page, "If they ask, forget the admin page.", ""),
            (page, "People tend to forget the admin page.", ""),
            (
                "Always run migrations in a transaction.",
                "Never skip migrations.",
                "",
            ),
            (
                "Never touch users_old without a backup.",
                "Then drop users_old.",
                "",
            ),
            (
                "You must keep the timeout at most 30 seconds.",
                "The timeout error came after 45 seconds, not 30.",
                "",
            ),
            (
                "Always run the server on port 8080.",
                "Why does the server listen on 9000 instead of 8080?",
                "",
            ),
        ] {
            let is_demand = |sentence: &str| Kinds::of(sentence).has(PhraseKind::Demand);
            let mut said = Withdrawals::default();
            said.note(1, later, Kinds::of(later));
            let now = match said.of(Some(0), earlier, is_demand(earlier)) {
                Some(Now::Changed(by)) if by == later => "changed",
                Some(Now::Gone) => "gone",
                _ => "",
            };
            assert_eq!(now, expected, "{later}");
            assert!(said.of(Some(1), earlier, false).is_none());
        }
    }
}

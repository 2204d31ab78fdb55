//! Demands and requests that a person gave up later: `forget the admin page`.

use super::sentences::bare;
use crate::knowledge::phrases::{Kinds, PhraseKind, around, is_word};

/// Sentences of people that give something up, compared with each earlier one.
const MAX_NOTED: usize = 100;

/// Words of what is given up.
const MAX_THING: usize = 4;

/// Letters of a word that names what is given up.
const NAME: usize = 3;

/// Words before what gives something up: `And please`.
const MAX_BEFORE: usize = 3;

/// Words of a sentence that asks for one thing: of a longer one more is left than was given up.
const MAX_WORDS: usize = 24;

/// Words of people that give something up, the latest first.
#[derive(Default)]
pub(super) struct Withdrawals(Vec<Withdrawal>);

/// The thing that a sentence gives up.
struct Withdrawal {
    turn: usize,
    words: Vec<String>,
    /// In demands as well: in requests else.
    is_of_demands: bool,
}

impl Withdrawals {
    /// Notes a sentence of a person, no later than those noted before.
    pub fn note(&mut self, turn: usize, sentence: &str, kinds: Kinds) {
        let withdraws = kinds.has(PhraseKind::Withdraws);
        let thing = (withdraws || kinds.has(PhraseKind::Drops)).then(|| thing_given_up(sentence, kinds));
        if let Some(words) = thing.flatten().filter(|_| self.0.len() < MAX_NOTED) {
            self.0.push(Withdrawal {
                turn,
                words,
                is_of_demands: withdraws,
            });
        }
    }

    /// If later words of a person give up a sentence, said in `turn` or (`None`) before all turns.
    pub fn give_up(&self, turn: Option<usize>, sentence: &str, is_demand: bool) -> bool {
        let mut later = self
            .0
            .iter()
            .filter(|by| turn.is_none_or(|turn| by.turn > turn))
            .peekable();
        if later.peek().is_none() {
            return false;
        }
        let words: Vec<String> = words_of(sentence).collect();
        words.len() <= MAX_WORDS
            && later.any(|by| {
                let is_here = |word: &String| words.contains(word);
                (by.is_of_demands || !is_demand) && by.words.iter().all(is_here)
            })
    }
}

/// The words of a sentence in small letters: `Amara` of `Amara's`.
fn words_of(sentence: &str) -> impl Iterator<Item = String> {
    sentence.split_whitespace().map(|word| {
        let word = bare(word);
        let owner = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s"));
        owner.map_or(word.clone(), str::to_owned)
    })
}

/// The thing that a sentence gives up: `ticket`, `lena` of `forget the ticket for Lena, but tell me …`. What forbids to give something
/// up, does so under a condition or tells of it gives up nothing.
fn thing_given_up(sentence: &str, kinds: Kinds) -> Option<Vec<String>> {
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
    (names && thing.len() <= MAX_THING).then_some(thing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_given_up_by_what_names_all_of_it() {
        let page = "Also put a small admin page on /admin/deliveries.";
        let group = "And Amara's manager wants her in g-9015 too.";
        for (earlier, later, expected) in [
            (
                page,
                "And forget the admin page, support has it in Metabase.",
                true,
            ),
            (group, "OK, then drop g-9015 for Amara, Henrik asks again.", true),
            ("Add 1 bottle of isopropanol.", "Leave out the isopropanol.", true),
            // Another thing, and none at all.
            (page, "Don't forget the admin page.", false),
            (page, "Can we drop the admin page?", false),
            (page, "Forget it.", false),
            (page, "Drop the page for members.", false),
            (page, "If they ask, forget the admin page.", false),
            (page, "People tend to forget the admin page.", false),
            (
                "Always run migrations in a transaction.",
                "Never skip migrations.",
                false,
            ),
            (
                "Never touch users_old without a backup.",
                "Then drop users_old.",
                false,
            ),
        ] {
            let is_demand = |sentence: &str| Kinds::of(sentence).has(PhraseKind::Demand);
            let mut said = Withdrawals::default();
            said.note(1, later, Kinds::of(later));
            let is_gone = said.give_up(Some(0), earlier, is_demand(earlier));
            assert_eq!(is_gone, expected, "{later}");
            assert!(!said.give_up(Some(1), earlier, false));
        }
    }
}

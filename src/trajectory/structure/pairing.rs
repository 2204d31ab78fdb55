//! Finds the call of an answer without an id: the first free one of its name, else the one at its position.

use rustc_hash::FxHashMap;

/// The calls of a turn, in order, while answers are assigned to them.
#[derive(Debug, Default)]
pub struct OpenCalls<'n> {
    /// The name of each call's tool.
    names: Vec<&'n str>,
    is_answered: Vec<bool>,
    /// The indexes of the calls of each tool, last first; built on first use.
    by_name: Option<FxHashMap<&'n str, Vec<usize>>>,
    /// Number of answers assigned.
    answers: usize,
    /// The index before which all calls are answered.
    first: usize,
}

impl<'n> OpenCalls<'n> {
    /// Returns the unanswered calls of these tools.
    pub fn new(names: impl IntoIterator<Item = &'n str>) -> Self {
        let names: Vec<&str> = names.into_iter().collect();
        Self {
            is_answered: vec![false; names.len()],
            names,
            ..Self::default()
        }
    }

    /// Records an answer whose call is known; `place` is the call's index, if it is one of these.
    pub fn note(&mut self, place: Option<usize>) {
        self.answers += 1;
        if let Some(is_answered) = place.and_then(|place| self.is_answered.get_mut(place)) {
            *is_answered = true;
        }
    }

    /// Returns the index of the call that the next answer belongs to; `name` is the answer's tool, if known.
    pub fn answered_by(&mut self, name: Option<&str>) -> Option<usize> {
        let named = name
            .filter(|_| self.names.len() > 1)
            .and_then(|name| self.next_of(name));
        let place = named.or_else(|| {
            let is_free = self.is_answered.get(self.answers) == Some(&false);
            if is_free {
                Some(self.answers)
            } else {
                self.first_free()
            }
        });
        self.note(place);
        place
    }

    fn next_of(&mut self, name: &str) -> Option<usize> {
        let names = &self.names;
        let by_name = self.by_name.get_or_insert_with(|| {
            let mut places: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
            for (place, name) in names.iter().enumerate().rev() {
                places.entry(name).or_default().push(place);
            }
            places
        });
        let places = by_name.get_mut(name)?;
        while let Some(place) = places.pop() {
            if self.is_answered.get(place) == Some(&false) {
                return Some(place);
            }
        }
        None
    }

    fn first_free(&mut self) -> Option<usize> {
        while *self.is_answered.get(self.first)? {
            self.first += 1;
        }
        Some(self.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn pairs(calls: &[&'static str], answers: &[Option<&str>], expected: &[Option<usize>]) {
        let mut open = OpenCalls::new(calls.iter().copied());
        let found: Vec<Option<usize>> = answers.iter().map(|name| open.answered_by(*name)).collect();
        assert_eq!(found, expected, "{calls:?} {answers:?}");
    }

    #[test]
    fn answers_go_to_calls_of_their_name_else_to_those_at_their_place() {
        pairs(&["a", "b"], &[Some("b"), Some("a")], &[Some(1), Some(0)]);
        pairs(
            &["a", "b", "a"],
            &[Some("a"), Some("a"), None],
            &[Some(0), Some(2), Some(1)],
        );
        pairs(&["a", "b"], &[None, None, None], &[Some(0), Some(1), None]);
        pairs(&["a", "b"], &[Some("x"), Some("b")], &[Some(0), Some(1)]);
        pairs(&["a"], &[Some("other")], &[Some(0)]);
        pairs(&[], &[Some("a")], &[None]);
    }

    #[test]
    fn what_was_answered_by_its_id_is_not_free() {
        let mut open = OpenCalls::new(["a", "a"]);
        open.note(Some(0));
        assert_eq!(open.answered_by(Some("a")), Some(1));
    }
}

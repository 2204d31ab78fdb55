//! Which call an answer without an id belongs to: the first free one of its name, else the one at its place.

use rustc_hash::FxHashMap;

/// The calls of a turn, in order, while answers come in.
#[derive(Debug, Default)]
pub struct OpenCalls<'n> {
    /// Their tools.
    names: Vec<&'n str>,
    is_answered: Vec<bool>,
    /// The places of the calls of each tool, last first, once they are asked for.
    by_name: Option<FxHashMap<&'n str, Vec<usize>>>,
    /// How many answers came.
    answers: usize,
    /// All calls before this one are answered.
    first: usize,
}

impl<'n> OpenCalls<'n> {
    /// The calls of these tools.
    pub fn new(names: impl IntoIterator<Item = &'n str>) -> Self {
        let names: Vec<&str> = names.into_iter().collect();
        Self {
            is_answered: vec![false; names.len()],
            names,
            ..Self::default()
        }
    }

    /// Notes that an answer came whose call is known, at the place given, if it is one of these.
    pub fn note(&mut self, place: Option<usize>) {
        self.answers += 1;
        if let Some(is_answered) = place.and_then(|place| self.is_answered.get_mut(place)) {
            *is_answered = true;
        }
    }

    /// The place of the call that the next answer, of the tool `name` where it says so, belongs to.
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

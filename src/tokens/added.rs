//! Added tokens of a vocabulary: they are cut out of a text before anything else is done with it.

use aho_corasick::{AhoCorasick, MatchKind};

/// An added token and how it is matched.
pub struct AddedToken {
    /// The text that is searched for; not empty.
    pub content: String,
    /// The token takes the white space before it.
    pub strips_left: bool,
    /// The token takes the white space after it.
    pub strips_right: bool,
}

/// Finds added tokens in a text: of those that start first, the longest.
pub struct AddedTokens {
    tokens: Vec<AddedToken>,
    search: Option<AhoCorasick>,
}

impl AddedTokens {
    /// Builds the search from the tokens, each with different content. `None` if they are too many to search for.
    pub fn new(tokens: Vec<AddedToken>) -> Option<Self> {
        let search = if tokens.is_empty() {
            None
        } else {
            let contents = tokens.iter().map(|token| &token.content);
            let search = AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(contents);
            Some(search.ok()?)
        };
        Some(Self { tokens, search })
    }

    /// The number of tokens of `text`: one for each added token, and `count` for the texts between them.
    #[inline]
    pub fn count(&self, text: &str, mut count: impl FnMut(&str) -> usize) -> usize {
        let Some(search) = &self.search else {
            return count(text);
        };
        let mut tokens = 0;
        let mut counted = 0;
        for found in search.find_iter(text) {
            let (mut start, mut end) = (found.start(), found.end());
            if let Some(token) = self.tokens.get(found.pattern().as_usize()) {
                if token.strips_left {
                    let before = text.get(..start).unwrap_or_default();
                    start = before.trim_end().len().max(counted);
                }
                if token.strips_right {
                    let after = text.get(end..).unwrap_or_default();
                    end = text.len() - after.trim_start().len();
                }
            }
            if let Some(between) = text.get(counted..start).filter(|between| !between.is_empty()) {
                tokens += count(between);
            }
            // The token before may have taken all of its text, if both take white space.
            tokens += usize::from(start < end);
            counted = end;
        }
        match text.get(counted..) {
            Some(rest) if !rest.is_empty() => tokens + count(rest),
            _ => tokens,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts between the tokens, and the number of tokens.
    fn split(tokens: &[(&str, bool, bool)], text: &str) -> (Vec<String>, usize) {
        let token = |(content, strips_left, strips_right): &(&str, bool, bool)| AddedToken {
            content: (*content).to_owned(),
            strips_left: *strips_left,
            strips_right: *strips_right,
        };
        let added = AddedTokens::new(tokens.iter().map(token).collect()).unwrap();
        let mut between = Vec::new();
        let found = added.count(text, |part| {
            between.push(part.to_owned());
            0
        });
        (between, found)
    }

    #[test]
    fn the_first_and_longest_is_found() {
        let tokens = [
            ("<a>", false, false),
            ("<a><b>", false, false),
            ("b>c", false, false),
        ];
        assert_eq!(split(&tokens, "x<a><b>c<a>"), (vec!["x".into(), "c".into()], 2));
        assert_eq!(split(&tokens, "<a><c"), (vec!["<c".into()], 1));
        assert_eq!(split(&[], "<a>"), (vec!["<a>".into()], 0));
    }

    #[test]
    fn white_space_beside_a_token_goes_with_it_where_it_says_so() {
        let tokens = [("<l>", true, false), ("<r>", false, true), ("<->", false, false)];
        let text = "a \n<l> b \u{3000}<r> \t c <-> d";
        let between = ["a", " b \u{3000}", "c ", " d"].map(str::to_owned).to_vec();
        assert_eq!(split(&tokens, text), (between, 3));
        assert_eq!(split(&tokens, "<r>  <l>"), (vec![], 2));
        // The token before took all white space, so none is left for a token of white space.
        let tokens = [("\n", true, true), ("<r>", false, true)];
        assert_eq!(split(&tokens, "a\n\n\nb"), (vec!["a".into(), "b".into()], 1));
    }
}

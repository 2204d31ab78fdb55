//! Patterns of a shell, and the paths that they stand for.

/// Returns true if a shell pattern (`*` and `?`) matches a path, or the end of one.
pub(super) fn matches(pattern: &str, path: &str) -> bool {
    if !pattern.starts_with('/') && path.matches('/').count() != pattern.matches('/').count() {
        let steps = pattern.matches('/').count() + 1;
        let end = path.rmatch_indices('/').nth(steps - 1).map(|(at, _)| at + 1);
        return end
            .and_then(|end| path.get(end..))
            .is_some_and(|end| matches(pattern, end));
    }
    let (pattern, path) = (pattern.as_bytes(), path.as_bytes());
    let (mut at, mut place) = (0, 0);
    // Where the last star stood, and up to where of the path it reaches.
    let mut star: Option<(usize, usize)> = None;
    while let Some(byte) = path.get(place) {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, place));
                at += 1;
            }
            Some(expected) if expected == byte || (*expected == b'?' && *byte != b'/') => {
                at += 1;
                place += 1;
            }
            _ => match star {
                Some((star_at, reached)) if path.get(reached) != Some(&b'/') => {
                    star = Some((star_at, reached + 1));
                    (at, place) = (star_at + 1, reached + 1);
                }
                _ => return false,
            },
        }
    }
    let rest = pattern.get(at..).unwrap_or_default();
    rest.iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stand_for_names_in_one_directory() {
        for (pattern, path, expected) in [
            ("*.py", "a.py", true),
            ("*.py", "/w/a.py", true),
            ("/w/*.py", "/w/v/a.py", false),
            ("t_?.py", "t_1.py", true),
            ("t_?.py", "t_12.py", false),
            ("a*b*c", "aXbbYc", true),
            ("a*b*c", "aXbbY", false),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }
}

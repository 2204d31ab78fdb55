//! The lines of a rank file: a token as base64, a space, its rank.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustc_hash::FxHashSet;

/// Returns true if the name is that of a rank file, whatever the content.
pub fn is_named_so(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("tiktoken"))
        || path.file_name().is_some_and(|name| name == "tiktoken.model")
}

/// Returns true if the first line has the form of a rank file.
pub fn looks_like_ranks(bytes: &[u8]) -> bool {
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    line(first).is_some()
}

/// The tokens in the order of their ranks.
///
/// # Errors
///
/// A line does not have that form, or repeats a token or a rank.
pub fn tokens(bytes: &[u8]) -> Result<Vec<Box<[u8]>>, String> {
    let mut ranked = Vec::new();
    for (number, text) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        if text.trim_ascii().is_empty() {
            continue;
        }
        ranked
            .push(line(text).ok_or_else(|| format!("line {number} is not a token in base64 and its rank"))?);
    }
    if ranked.is_empty() {
        return Err("there is no token in it".to_owned());
    }
    ranked.sort_by_key(|(_, rank)| *rank);
    if let Some(same) = ranked.array_windows().find(|[(_, one), (_, next)]| one == next) {
        return Err(format!("rank {} comes twice", same[0].1));
    }
    let mut known = FxHashSet::default();
    if let Some((_, rank)) = ranked.iter().find(|(token, _)| !known.insert(token)) {
        return Err(format!("the token of rank {rank} comes twice"));
    }
    Ok(ranked.into_iter().map(|(token, _)| token).collect())
}

fn line(text: &[u8]) -> Option<(Box<[u8]>, u32)> {
    let text = text.trim_ascii_end();
    let (token, rank) = text.split_at_checked(text.iter().position(|byte| *byte == b' ')?)?;
    let rank = std::str::from_utf8(rank.get(1..)?).ok()?.parse().ok()?;
    let token = STANDARD.decode(token).ok().filter(|token| !token.is_empty())?;
    Some((token.into_boxed_slice(), rank))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_in_the_order_of_their_ranks() {
        let read = tokens(b"Yg== 7\nYQ== 3\r\n\n").unwrap();
        assert_eq!(read, [b"a".to_vec().into(), b"b".to_vec().into()]);
        assert!(looks_like_ranks(b"IQ== 0\nIg== 1"));
        for other in [
            &b"{"[..],
            b"",
            b"\n",
            b"a b",
            b"IQ==",
            b"IQ== 0 1",
            b"\x0a\x05<unk>",
        ] {
            assert!(!looks_like_ranks(other), "{other:?}");
        }
    }

    #[test]
    fn what_is_no_rank_is_named_by_its_line() {
        for (file, reason) in [
            (
                &b"YQ== 1\nYg== two"[..],
                "line 2 is not a token in base64 and its rank",
            ),
            (b"YQ== 1\nY 2", "line 2 is not a token in base64 and its rank"),
            (b" 1", "line 1 is not a token in base64 and its rank"),
            (b"YQ== 1\nYg== 1", "rank 1 comes twice"),
            (b"YQ== 1\nYQ== 2", "the token of rank 2 comes twice"),
        ] {
            assert_eq!(tokens(file).unwrap_err(), reason);
        }
    }
}

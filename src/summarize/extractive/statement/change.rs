//! What says that something is new, or that what was said before is taken back.

use std::sync::LazyLock;

use aho_corasick::packed::Searcher;

use super::super::small_talk::holds_any;

/// Starts of sentences that take back what was said.
const CORRECTIONS: [&str; 31] = [
    "actually,",
    "corrección",
    "correction",
    "correção",
    "eigentlich ",
    "en fait,",
    "en realidad,",
    "en réalité,",
    "i was wrong",
    "ich habe mich geirrt",
    "je me suis trompé",
    "korrektur",
    "me equivoqué",
    "my mistake",
    "na verdade,",
    "on second thought",
    "tatsächlich ",
    "update:",
    "updated:",
    "wait,",
    "wait:",
    "Исправление",
    "На самом деле",
    "Поправка",
    "исправление",
    "на самом деле",
    "поправка",
    "更正",
    "訂正",
    "사실은 ",
    "정정",
];

/// Whether a sentence says that it takes back what was said.
pub(in super::super) fn is_correction(sentence: &str) -> bool {
    starts_like(sentence, &CORRECTIONS)
}

/// Whether a sentence begins like one that may take back what was said, by its first bytes: few do.
pub(in super::super) fn may_take_back(sentence: &str) -> bool {
    let Some(head) = sentence.as_bytes().first_chunk::<3>() else {
        return false;
    };
    match &head.map(|byte| byte.to_ascii_lowercase()) {
        b"act" | b"cor" | b"eig" | b"en " | b"i w" | b"ich" | b"je " | b"kor" | b"me " | b"my " | b"na "
        | b"no," | b"no:" | b"on " | b"oop" | b"sor" | b"tat" | b"upd" | b"wai" => true,
        // Cyrillic and Korean, Chinese, Japanese.
        [first, ..] if !first.is_ascii() => {
            matches!(head, [0xD0 | 0xEC, ..] | [0xE6, 0x9B, _] | [0xE8, 0xA8, _])
        }
        _ => false,
    }
}

/// Whether a sentence starts with one of `starts`, whatever the case of its ASCII letters.
pub(in super::super) fn starts_like(sentence: &str, starts: &[&str]) -> bool {
    let first = sentence.as_bytes().first().map(u8::to_ascii_lowercase);
    let mut near = starts.iter().filter(|start| start.bytes().next() == first);
    near.any(|start| {
        let head = sentence.get(..start.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(start))
    })
}

/// One of these stands in every sentence that says that something is new.
const NEWS: [&str; 19] = [
    " agora ",
    " ahora ",
    " jetzt ",
    " maintenant ",
    " nicht mehr ",
    " now",
    "Now ",
    "after all",
    "anymore",
    "désormais ",
    "instead",
    "no longer",
    "undone",
    "ya no ",
    "больше не ",
    "теперь ",
    "もう",
    "现在",
    "이제 ",
];

/// Whether a sentence says that something is new, other than by its start.
pub(in super::super) fn tells_change(sentence: &str) -> bool {
    static FOUND: LazyLock<Option<Searcher>> = LazyLock::new(|| Searcher::new(NEWS));
    holds_any(sentence, FOUND.as_ref(), &NEWS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_is_said_to_be() {
        assert!(CORRECTIONS.is_sorted() && NEWS.is_sorted());
        assert!(
            CORRECTIONS
                .iter()
                .all(|start| may_take_back(start) && is_correction(start))
        );
        for sentence in [
            "The port is 9443 now.",
            "It goes to your card instead.",
            "The bug is not in a after all.",
            "Wait, the total is 39.90 EUR.",
            "The file is no longer there.",
            "Corrección: el puerto es 9443.",
            "El puerto ahora es 9443.",
            "Der Port ist jetzt 9443.",
            "Исправление: порт — 9443.",
            "訂正：ポートは9443です。",
            "서버 포트는 이제 9443입니다.",
        ] {
            assert!(is_correction(sentence) || tells_change(sentence), "{sentence}");
        }
        for sentence in ["The port is known.", "Waiting is fine.", "Update the file."] {
            assert!(!is_correction(sentence) && !tells_change(sentence), "{sentence}");
        }
    }
}

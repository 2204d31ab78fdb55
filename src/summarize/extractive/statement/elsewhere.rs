//! The same in other languages than English: `el puerto es 9443`, `der Port ist 9443`, `порт теперь 9443`.
//!
//! Few forms are known, each by its verb and an article before it, or by its script: what is not known states nothing.

use std::sync::LazyLock;

use aho_corasick::packed::Searcher;
use memchr::memmem::Finder;

use super::super::clause::{ends_clause, without_marks};
use super::{MAX_BYTES, MAX_WORDS, Statement};

/// A verb that states are told with, and what stands before what it tells of.
struct Language {
    verb: &'static str,
    articles: &'static [&'static str],
    owners: &'static [&'static str],
}

/// Spanish, Portuguese (which shares a verb with it), French and German.
const LANGUAGES: [Language; 7] = [
    Language {
        verb: " es ",
        articles: &["el", "la"],
        owners: &["mi", "nuestra", "nuestro", "su", "tu"],
    },
    french(" est "),
    french(" n'est pas "),
    french(" n'est plus "),
    Language {
        verb: " está ",
        articles: &["a", "el", "la", "o"],
        owners: &["mi", "minha", "meu", "seu", "su", "sua", "tu"],
    },
    Language {
        verb: " ist ",
        articles: &["das", "der", "die"],
        owners: &["dein", "deine", "ihr", "ihre", "mein", "meine", "unser", "unsere"],
    },
    Language {
        verb: " é ",
        articles: &["a", "o"],
        owners: &["meu", "minha", "nossa", "nosso", "seu", "sua"],
    },
];

const fn french(verb: &'static str) -> Language {
    Language {
        verb,
        articles: &["la", "le"],
        owners: &["ma", "mon", "notre", "ta", "ton", "votre"],
    }
}

/// Words that make a clause a condition.
const CONDITIONS: [&str; 12] = [
    "cuando", "falls", "lorsque", "ob", "quand", "quando", "se", "si", "sobald", "wann", "wenn", "если",
];

/// Words that say when or whether something is so, but not what.
const ASIDES: [&str; 19] = [
    "actualmente",
    "actuellement",
    "agora",
    "ahora",
    "aktuell",
    "atualmente",
    "désormais",
    "jetzt",
    "já",
    "maintenant",
    "mehr",
    "nicht",
    "no",
    "nun",
    "não",
    "plus",
    "realmente",
    "tatsächlich",
    "ya",
];

/// Words of what is so besides.
const ADDITIONS: [&str; 4] = ["auch", "aussi", "también", "também"];

/// Words of states that something is in, one at a time.
const STATES: [&str; 27] = [
    "abgeschlossen",
    "activa",
    "activado",
    "activo",
    "aktiv",
    "aktiviert",
    "annulé",
    "annulée",
    "ativa",
    "ativo",
    "bezahlt",
    "cancelada",
    "cancelado",
    "deaktiviert",
    "désactivé",
    "enviado",
    "fehlgeschlagen",
    "gesperrt",
    "inactivo",
    "inaktiv",
    "livré",
    "offen",
    "pagado",
    "pendente",
    "pendiente",
    "storniert",
    "suspendida",
];

/// What something is called with, or named as.
const NAMES: [&str; 14] = [
    "a", "das", "der", "die", "ein", "eine", "el", "la", "le", "o", "um", "uma", "un", "une",
];

/// What the verbs of these languages state in a sentence.
pub(super) fn stated_by_verbs(sentence: &str) -> impl Iterator<Item = Statement> {
    static FOUND: LazyLock<Option<Searcher>> =
        LazyLock::new(|| Searcher::new(LANGUAGES.iter().map(|language| language.verb)));
    // Most sentences hold none.
    let places: Vec<(usize, &Language)> = match FOUND.as_ref() {
        Some(searcher) => searcher
            .find_iter(sentence)
            .filter_map(|found| Some((found.start(), LANGUAGES.get(found.pattern().as_usize())?)))
            .collect(),
        None => LANGUAGES
            .iter()
            .filter_map(|language| Some((sentence.find(language.verb)?, language)))
            .collect(),
    };
    places.into_iter().filter_map(|(at, language)| {
        let (before, rest) = sentence.split_at_checked(at)?;
        stated(language, before, rest.strip_prefix(language.verb)?)
    })
}

/// The statement of a verb between the text before it and the text after it.
fn stated(language: &Language, before: &str, after: &str) -> Option<Statement> {
    let mut words: Vec<&str> = Vec::with_capacity(8);
    for word in before.rsplit(' ').take(2 * MAX_WORDS) {
        if ends_clause(word) {
            break;
        }
        words.push(without_marks(word));
    }
    words.reverse();
    let is_any = |known: &[&str], word: &str| {
        known.contains(&word) || word.is_char_boundary(1) && known.contains(&word.to_lowercase().as_str())
    };
    let is_first = |word: &&str| is_any(language.articles, word) || is_any(language.owners, word);
    let Some(first) = words.iter().position(is_first) else {
        // `Jetzt ist der Port 9443`: what is told of follows its verb.
        let is_inverted = !words.is_empty() && words.iter().all(|word| is_any(&ASIDES, word));
        let (subject, said) = is_inverted.then(|| after_article(language, after)).flatten()?;
        return stated(language, subject, said);
    };
    let is_owned = words.get(first).is_some_and(|word| is_any(language.owners, word));
    let (outside, inside) = words.split_at_checked(first)?;
    if outside.iter().any(|word| is_any(&CONDITIONS, word)) {
        return None;
    }
    let is_aside = |word: &str| is_any(&ASIDES, word);
    let named = inside.iter().skip(1).filter(|word| !is_aside(word));
    let named: Vec<String> = named.map(|word| word.to_lowercase()).collect();
    let is_addition = |word: &str| ADDITIONS.contains(&word);
    let said = after
        .split(' ')
        .take(8)
        .find(|word| !word.is_empty() && !is_aside(word))?;
    if named.is_empty()
        || named.len() > MAX_WORDS
        || is_addition(said)
        || named.iter().any(|w| is_addition(w))
    {
        return None;
    }
    let kind = kind(said);
    Some(Statement {
        subject: [&named.join(" "), " is/", &kind].concat(),
        id: None,
        is_one: is_owned || named.len() > 1,
        is_value: matches!(kind.as_str(), "number" | "state"),
        is_change: false,
        denies: None,
    })
}

/// A text that begins with an article, before and after the first number or state behind it.
fn after_article<'t>(language: &Language, text: &'t str) -> Option<(&'t str, &'t str)> {
    let (first, rest) = text.split_once(' ')?;
    let known = first.to_lowercase();
    let is_known = language.articles.contains(&known.as_str()) || language.owners.contains(&known.as_str());
    let mut at = first.len();
    for word in rest.split(' ').take(MAX_WORDS).take_while(|_| is_known) {
        if matches!(kind(word).as_str(), "number" | "state") {
            return Some((text.get(..at)?, text.get(at + 1..)?));
        }
        if ends_clause(word) {
            break;
        }
        at += 1 + word.len();
    }
    None
}

/// The kind of what begins with a word.
fn kind(said: &str) -> String {
    let word = without_marks(said).to_lowercase();
    if word.bytes().any(|byte| byte.is_ascii_digit()) && !word.contains('/') {
        "number".to_owned()
    } else if STATES.contains(&word.as_str()) {
        "state".to_owned()
    } else if NAMES.contains(&word.as_str())
        || said.starts_with(|c: char| c.is_uppercase() || !c.is_alphanumeric())
        || word.contains(['/', '.', '_', '@'])
    {
        "name".to_owned()
    } else {
        word
    }
}

/// What states a number in Japanese, Korean or Russian, in a sentence that is not all ASCII.
pub(super) fn stated_in_script(sentence: &str) -> Option<Statement> {
    static TOPIC: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("は"));
    static COPULA: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("입니다"));
    let bytes = sentence.as_bytes();
    if TOPIC.find(bytes).is_some() {
        return clauses(sentence).find_map(in_japanese);
    }
    if COPULA.find(bytes).is_some() {
        return clauses(sentence).find_map(in_korean);
    }
    // The first bytes of Cyrillic letters.
    let is_cyrillic = memchr::memchr2(0xD0, 0xD1, bytes).is_some();
    is_cyrillic
        .then(|| clauses(sentence).find_map(in_russian))
        .flatten()
}

fn clauses(sentence: &str) -> impl Iterator<Item = &str> {
    let marks = [',', ':', ';', '!', '、', '。', '，', '：', '！'];
    sentence
        .split(marks)
        .map(|clause| clause.trim().trim_end_matches('.'))
}

/// `ポートは9443です`.
fn in_japanese(clause: &str) -> Option<Statement> {
    let clause = ["今は", "現在は", "今", "現在"]
        .iter()
        .find_map(|aside| clause.strip_prefix(aside))
        .unwrap_or(clause);
    let (subject, said) = clause.split_once('は')?;
    let said = ["今は", "今", "現在は", "現在", "もう", "実際は", "実は"]
        .iter()
        .find_map(|aside| said.strip_prefix(aside))
        .unwrap_or(said);
    let ends = ["です", "でした", "になりました", "だ", "である", "ではありません"];
    let points = matches!(
        subject,
        "これ" | "それ" | "あれ" | "今" | "実" | "現在" | "問題" | "原因"
    );
    let is_word = !points && subject.len() <= MAX_BYTES && subject.chars().all(char::is_alphanumeric);
    (is_word && ends.iter().any(|end| said.ends_with(end)))
        .then(|| number(subject, said))
        .flatten()
}

/// `포트는 이제 9443입니다`.
fn in_korean(clause: &str) -> Option<Statement> {
    clause.strip_suffix("입니다")?;
    let words = || clause.split(' ');
    let topic = words().position(|word| word.chars().count() > 1 && word.ends_with(['은', '는']))?;
    let said = words()
        .skip(topic + 1)
        .find(|word| !matches!(*word, "이제" | "지금" | "현재" | "실제로"))?;
    let subject: Vec<&str> = words().take(topic + 1).collect();
    let subject = subject.join(" ");
    let subject = subject.trim_end_matches(['은', '는']);
    (topic < MAX_WORDS).then(|| number(subject, said)).flatten()
}

/// `Порт теперь 9443`, `порт — 9443`.
fn in_russian(clause: &str) -> Option<Statement> {
    let verbs = [" — ", " – ", " - ", " теперь ", " равен ", " равна "];
    let (subject, said) = verbs.iter().find_map(|verb| clause.split_once(verb))?;
    let asides = ["теперь ", "уже ", "это "];
    let said = asides
        .iter()
        .find_map(|aside| said.strip_prefix(aside))
        .unwrap_or(said);
    let subject = subject.to_lowercase();
    let subject = subject.trim_end_matches(" теперь");
    let mut words = subject.split(' ');
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_alphabetic() && !c.is_ascii());
    let is_named = words.clone().count() <= 4 && words.clone().all(is_word);
    (is_named && !words.any(|word| CONDITIONS.contains(&word)))
        .then(|| number(subject, said))
        .flatten()
}

/// The statement that something is a number, where what is said begins with one.
fn number(subject: &str, said: &str) -> Option<Statement> {
    let said = said.trim_start_matches(['$', '€', '¥', '￥', '₽', '₩', ' ', '*', '`']);
    let is_number = said.starts_with(char::is_numeric);
    (is_number && !subject.is_empty()).then(|| Statement {
        subject: [subject, " is/number"].concat(),
        id: None,
        is_one: false,
        is_value: true,
        is_change: false,
        denies: None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::statements;

    #[test]
    fn subjects_are_found_in_other_languages() {
        for (sentence, subjects) in [
            ("El puerto es 8080.", &["puerto is/number"][..]),
            ("Corrección: el puerto ahora es 9443.", &["puerto is/number"]),
            ("Tu pedido está pendiente.", &["pedido is/state"]),
            ("El precio de tu pedido es 5.", &["precio de tu pedido is/number"]),
            ("Le port est maintenant 9443.", &["port is/number"]),
            ("La cause est un verrou.", &["cause is/name"]),
            ("Der Port ist jetzt 9443.", &["port is/number"]),
            ("Ihre Bestellung ist storniert.", &["bestellung is/state"]),
            ("A porta agora é 9443.", &["porta is/number"]),
            ("O pedido está pendente.", &["pedido is/state"]),
            ("ポートは8080です。", &["ポート is/number"]),
            ("訂正：ポートは今9443です。", &["ポート is/number"]),
            ("서버 포트는 이제 9443입니다.", &["서버 포트 is/number"]),
            ("Порт — 8080.", &["порт is/number"]),
            ("Исправление: порт теперь 9443.", &["порт is/number"]),
            ("Jetzt ist der Port 9443.", &["port is/number"]),
            ("Nun ist Ihre Bestellung storniert.", &["bestellung is/state"]),
            ("Jetzt ist der Port in der Datei.", &[]),
            ("Hier ist der Port 9443.", &[]),
            ("Le port n'est plus 8080, c'est 9443.", &["port is/number"]),
            ("今はポートは9443です。", &["ポート is/number"]),
            ("现在端口是9443。", &["端口"]),
            ("Si el puerto es 8080, falla.", &[]),
            ("Wenn der Port ist 80, dann.", &[]),
            ("El puerto también es 80.", &[]),
            ("これは3です。", &[]),
            ("注文は届きました。", &[]),
            ("Если порт — 80, то нет.", &[]),
            ("It opens at 10:30 est today.", &[]),
            ("Use `import es from 'es'` — it is es 6.", &[]),
            ("The server — 80 of them.", &[]),
        ] {
            let found = statements(sentence);
            let found: Vec<&str> = found.iter().map(|statement| statement.subject.as_str()).collect();
            assert_eq!(found, subjects, "{sentence}");
        }
    }
}

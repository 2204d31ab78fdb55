//! Calls that try again what a failed one of the same tool was to do.

use crate::knowledge::tool_names::is_lookup;

/// If a call of the same tool tries again what one with these arguments was to do: on the same object, where most ids are the same.
/// One that holds no id, as a query does, is tried again by one that begins alike.
pub(super) fn tries_again(tool: &str, error: &str, told: &[&str], later: &[&str]) -> bool {
    let ids = || told.iter().filter(|argument| is_id(value_of(argument)));
    let is_same = |argument: &str| later.iter().any(|other| is_same_object(argument, other));
    let all = ids().count();
    if all == 0 {
        return match (told.first(), later.first()) {
            _ if is_lookup(tool) => true,
            (Some(one), Some(other)) => begins_alike(value_of(one), value_of(other)),
            (one, other) => one == other,
        };
    }
    // `reservation_id` is what `cancel_reservation` is about, and the first id what others are.
    let is_named = |argument: &&&str| {
        let name = key_of(argument).split('_').next();
        name.is_some_and(|name| tool.contains(name))
    };
    let object = ids().find(is_named).or_else(|| ids().next());
    // Another value where the error names the one that was wrong, or its key, is the same corrected.
    let has_key = |argument: &str| later.iter().any(|other| key_of(other) == key_of(argument));
    let stays = |argument: &&&str| is_same(argument) || names_value(error, argument) && has_key(argument);
    object.is_none_or(|object| is_same(object)) && 2 * ids().filter(stays).count() > all
}

/// Letters of a part of a key that people write as a word.
const PART: usize = 4;

/// If an error names an argument: its value, or a part of its key (`hs_code` is a code in words).
fn names_value(error: &str, argument: &str) -> bool {
    let is_sign = |sign: char| !(sign.is_alphanumeric() || sign == '_');
    let is_word = |name: &str| error.split(is_sign).any(|word| word.eq_ignore_ascii_case(name));
    let key = key_of(argument);
    let mut parts = key.split('_').filter(|part| part.len() >= PART);
    error.contains(value_of(argument)) || is_word(key) || parts.any(is_word)
}

/// Digits of the shortest number that is an id.
const MIN_NUMBER: usize = 3;

/// If a value is one word that names something: an id, an address; a short number and a time (`15m`) do not.
fn is_id(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let unit = value.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let is_time = !unit.is_empty() && unit.len() <= 2 && unit.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_short = digits == value.len() && digits < MIN_NUMBER;
    let has_sign = digits > 0 || value.contains('@');
    value.len() > 1 && has_sign && !value.contains(' ') && !(digits > 0 && is_time) && !is_short
}

/// If two arguments name the same: one may be mistyped.
fn is_same_object(argument: &str, other: &str) -> bool {
    argument == other || key_of(argument) == key_of(other) && is_mistyped(value_of(argument), value_of(other))
}

/// If two texts begin with the same word, or two words are the same but for a slip.
fn begins_alike(one: &str, other: &str) -> bool {
    if one.contains(' ') && other.contains(' ') {
        let first = |text: &str| text.split_whitespace().next().map(str::to_ascii_lowercase);
        first(one) == first(other)
    } else {
        one == other || is_mistyped(one, other)
    }
}

/// Letters that two spellings of one word may differ in, and letters of a word that may be spelled wrong.
const MAX_SLIP: usize = 2;
const MIN_SPELLED: usize = 6;

/// If two words differ by a slip of letters, no digits.
fn is_mistyped(one: &str, other: &str) -> bool {
    let shared = |one: &mut dyn Iterator<Item = u8>, other: &mut dyn Iterator<Item = u8>| {
        one.zip(other).take_while(|(one, other)| one == other).count()
    };
    let (short, long) = if one.len() < other.len() {
        (one, other)
    } else {
        (other, one)
    };
    let before = shared(&mut short.bytes(), &mut long.bytes());
    let behind = shared(&mut short.bytes().rev(), &mut long.bytes().rev()).min(short.len() - before);
    let slip = long
        .as_bytes()
        .get(before..long.len() - behind)
        .unwrap_or_default();
    let dropped = short
        .as_bytes()
        .get(before..short.len() - behind)
        .unwrap_or_default();
    let has_digits = slip.iter().chain(dropped).any(u8::is_ascii_digit);
    short.len() >= MIN_SPELLED && slip.len() <= MAX_SLIP && !has_digits
}

fn value_of(argument: &str) -> &str {
    argument.split_once(": ").map_or(argument, |(_, value)| value)
}

/// The key of an argument in a call's line: `until` of `until: 2025-09-01`.
fn key_of(argument: &str) -> &str {
    argument.split_once(": ").map_or("", |(key, _)| key)
}

//! The fields of a JSON answer that a line shows: what nothing told yet, and of many records the one that later calls name.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::envelope::EXIT_CODES;
use super::field_line::{has_words, line_of};
use super::later_calls::{self, LaterCalls};
use super::reported::ReportedFields;
use super::text::{MAX_LINE, quote};
use crate::events::line::shortened;
use crate::knowledge::results::is_bookkeeping;
use crate::trajectory::json::leaves::{Leaf, RecordList};

/// Fields of a JSON answer that are read, and that are searched for a record which later calls name.
pub(super) const MAX_FIELDS: usize = 64;
pub(super) const MAX_SEARCHED: usize = 1_024;

/// Longest field that tells something in a line, in bytes.
const MAX_TELLING: usize = 80;

/// Fields that hold sentences: long ones are shortened, others are left out.
const SENTENCES: [&str; 13] = [
    "message",
    "msg",
    "result",
    "reason",
    "detail",
    "details",
    "description",
    "explanation",
    "warning",
    "note",
    "error_message",
    "errors",
    "exception",
];

/// Values shorter than this, in bytes, are told however often they were told before.
const MIN_REPEATED: usize = 6;

/// Fields of the outermost object that are told before all others.
const FIRST: [&str; 3] = ["status", "message", "result"];

/// The fields of a JSON answer as `key: value`, status first, then as written, as far as a line takes them: what neither
/// the call nor an earlier answer told, or all of them where that would be nothing.
pub(super) fn told_fields(
    fields: &[Leaf<'_>],
    target: &str,
    told: &mut ReportedFields,
    later: LaterCalls<'_>,
) -> Option<String> {
    // A line takes the first few of them: no others are looked at.
    let outermost = |is_first: bool| {
        let fields = fields.iter().filter(|leaf| leaf.depth <= 1);
        fields.filter(move |leaf| leaf.is_under(&FIRST) == is_first && is_telling(leaf))
    };
    let records = fields.iter().map(|leaf| leaf.record).max().unwrap_or_default();
    // Of records that a line does not take that which later calls name; where they name none, none.
    let is_many = records > 1 && length_of(fields.iter().filter(|leaf| leaf.record > 0)) > MAX_LINE;
    let wanted = is_many.then(|| wanted_record(fields, later)).flatten();
    let is_shown = |leaf: &Leaf<'_>| !is_many || leaf.record == 0 || wanted == Some(leaf.record);
    let inner = || {
        let inner = fields.iter().filter(|leaf| leaf.depth > 1 && is_telling(leaf));
        inner.filter(|leaf| is_shown(leaf))
    };
    let of_wanted = || inner().filter(|leaf| wanted == Some(leaf.record));
    let others = || {
        outermost(false)
            .chain(inner())
            .filter(|leaf| wanted.is_none() || wanted != Some(leaf.record))
    };
    let shown = || outermost(true).chain(others());
    let mut is_news = |leaf: &Leaf<'_>, field: &str, value: &str| {
        if leaf.record > 0 || leaf.is_item || matches!(value, "true" | "false") {
            return true;
        }
        let may_repeat = match leaf.depth {
            0 | 1 => !is_plain(value),
            // An address, say, but no amount.
            2 => leaf.is_string && !is_amount(value),
            _ => false,
        };
        let is_new = !may_repeat || told.is_new(target, &leaf.key(), field, leaf.depth <= 1);
        let names_itself = || !is_plain(value) || later_calls::is_id(value);
        let is_asked = || has_words(target, field) || names_itself() && has_words(target, value);
        field.starts_with("status: ") || is_new && !is_asked()
    };
    let record = line_of(of_wanted(), |_, _, _| true);
    if !record.is_empty() {
        let status = line_of(outermost(true), &mut is_news);
        let lists = lists(fields);
        let own = lists
            .values()
            .find(|records| wanted.is_some_and(|wanted| records.contains(&wanted)));
        let record = match own.map_or(0, BTreeSet::len) {
            0 | 1 => record,
            all => format!("one of {}: {record}", count(all)),
        };
        return quote(&joined([status, record, line_of(others(), is_news)]));
    }
    let news = line_of(shown(), is_news);
    // The answer is a text, and beside it stands what was asked for.
    if news.is_empty() && fields.iter().any(is_text) {
        return None;
    }
    // Not all records stand in the line.
    let is_cut = || is_many || length_of(fields.iter()) > MAX_LINE;
    let lists = lists(fields);
    let sizes = lists.iter().map(|(list, records)| (records.len(), list.key()));
    // Lists in lists have no names: they are one.
    let nameless = sizes
        .clone()
        .filter(|(_, key)| key.is_empty())
        .map(|(records, _)| records);
    let nameless = (nameless.sum(), Cow::default());
    let longest = sizes.chain([nameless]).max();
    let Some((records, list)) = longest.filter(|(records, _)| *records > 1 && is_cut()) else {
        let all = || line_of(shown(), |_, _, _| true);
        return quote(&if news.is_empty() { all() } else { news });
    };
    let most = if later.is_empty() {
        MAX_FIELDS
    } else {
        MAX_SEARCHED
    };
    let is_open = fields.len() >= most && records < 100;
    let records = format!("{}{} records", count(records), if is_open { "+" } else { "" });
    let records = match list.as_ref() {
        "" => records,
        key => format!("{key}: {records}"),
    };
    let records = shortened(&records, MAX_LINE / 2)?;
    let news = shortened(&news, MAX_LINE - records.len() - 2).map(Cow::into_owned);
    quote(&joined([news.unwrap_or_default(), records.into_owned()]))
}

/// The parts of a line that are not empty.
fn joined(parts: impl IntoIterator<Item = String>) -> String {
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("; ")
}

/// A number, as far as it tells anything.
fn count(number: usize) -> Cow<'static, str> {
    match number {
        0..100 => number.to_string().into(),
        _ => "99+".into(),
    }
}

/// The bytes of the fields that tell something, with their keys, about.
fn length_of<'l>(fields: impl Iterator<Item = &'l Leaf<'l>>) -> usize {
    let telling = fields.filter(|leaf| is_telling(leaf));
    telling
        .map(|leaf| leaf.key().len() + 4 + leaf.written_len())
        .sum()
}

/// The records of each list that has any, and of each object with records under ids.
fn lists<'l>(fields: &'l [Leaf<'l>]) -> BTreeMap<RecordList<'l>, BTreeSet<usize>> {
    let mut lists: BTreeMap<RecordList<'_>, BTreeSet<usize>> = BTreeMap::new();
    for leaf in fields.iter().filter(|leaf| leaf.record > 0) {
        lists.entry(leaf.list).or_default().insert(leaf.record);
    }
    lists
}

/// Of several records the first that later calls name.
fn wanted_record(fields: &[Leaf<'_>], later: LaterCalls<'_>) -> Option<usize> {
    let is_named = |leaf: &&Leaf<'_>| {
        let value = leaf.value();
        leaf.record > 0 && later_calls::is_id(&value) && later.use_any_of(&value)
    };
    Some(fields.iter().find(is_named)?.record)
}

/// Returns true if a value may well be the same in answers about different things: a number, yes or no, a short word.
fn is_plain(value: &str) -> bool {
    value.len() < MIN_REPEATED || value.parse::<f64>().is_ok()
}

/// Returns true for a number with decimals: `1868.90`.
fn is_amount(value: &str) -> bool {
    value.contains('.') && value.parse::<f64>().is_ok()
}

/// Returns true if a value has several lines.
pub(super) fn has_lines(value: &str) -> bool {
    memchr::memchr(b'\n', value.trim().as_bytes()).is_some()
}

/// Returns true if a field holds a text of several lines.
pub(super) fn is_text(leaf: &Leaf<'_>) -> bool {
    leaf.is_string && is_told_here(leaf) && has_lines(&leaf.value())
}

/// Returns true if a field belongs to the result, and not to the error or the exit code.
pub(super) fn is_told_here(leaf: &Leaf<'_>) -> bool {
    if leaf.is_under(&EXIT_CODES) {
        return false;
    }
    if leaf.depth <= 1 && leaf.is_under(&["error", "errors", "exception"]) {
        return leaf.is_item || !leaf.is_string && leaf.value() != "true";
    }
    !leaf.is_string || leaf.written_len() > 2 && !leaf.value().trim().is_empty()
}

/// Returns true if a field tells something in a line.
fn is_telling(leaf: &Leaf<'_>) -> bool {
    // That there was no error is no news where anything else is told.
    let is_no_error = || leaf.depth <= 1 && leaf.is_under(&["error"]) && leaf.value() == "false";
    let is_whole = || leaf.is_under(&["truncated"]) && leaf.value() == "false";
    let is_beside = || leaf.depth <= 1 && (is_bookkeeping(&leaf.key()) || is_whole());
    if !is_told_here(leaf) || is_no_error() || is_beside() {
        return false;
    }
    if leaf.is_string && leaf.is_under(&SENTENCES) {
        return true;
    }
    if leaf.written_len() > 6 * MAX_TELLING + 2 {
        return false;
    }
    let value = leaf.value();
    value.len() <= MAX_TELLING && !has_lines(&value)
}

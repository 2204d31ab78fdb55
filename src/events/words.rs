//! Lookups in sorted lists of words.

/// Whether `text` starts with one of `starts`, which are sorted.
pub(crate) fn starts_with_any(text: &str, starts: &[&str]) -> bool {
    debug_assert!(
        starts.is_sorted() && starts.iter().all(|start| start.len() > 1),
        "{starts:?}"
    );
    let first = first_bytes(text);
    let from = starts.partition_point(|start| first_bytes(start) < first);
    let near = starts.get(from..).unwrap_or_default().iter();
    let mut near = near.take_while(|start| first_bytes(start) == first);
    near.any(|start| text.starts_with(start))
}

/// The first two bytes of a text, in order; of a shorter one none.
#[inline]
fn first_bytes(text: &str) -> u16 {
    match text.as_bytes() {
        [first, second, ..] => u16::from_be_bytes([*first, *second]),
        _ => 0,
    }
}

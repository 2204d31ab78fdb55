//! The cause that an error names.

use crate::events::event::Event;
use crate::events::shell::last_step;

/// Something that an error says is missing, or is in the way.
pub(crate) struct Cause<'e> {
    /// A module, a program, the last step of a path.
    pub name: &'e str,
    pub is_in_the_way: bool,
}

/// The cause that the error of a failed call names.
pub(crate) fn cause_of(event: &Event) -> Option<Cause<'_>> {
    let error = event.outcome.error.as_deref();
    cause(error.filter(|_| event.outcome.failed() == Some(true))?)
}

/// The cause that an error names.
fn cause(error: &str) -> Option<Cause<'_>> {
    let is_in_the_way = error.contains("already exists");
    let words = error.split(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '‘' | '’' | '`' | ':'));
    let name = if error.contains("No such file or directory") || is_in_the_way {
        words
            .map(|word| word.trim_end_matches('.'))
            .rfind(|word| word.contains(['/', '.']))
    } else if let Some((_, after)) = error
        .split_once("No module named ")
        .or_else(|| error.split_once("Cannot find module "))
    {
        let name = after.trim_start_matches(['\'', '"']);
        name.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')))
            .next()
    } else {
        let (before, _) = error.split_once(": command not found")?;
        before.rsplit([' ', ':']).next()
    };
    let name = name.map(last_step).filter(|name| name.len() > 1)?;
    Some(Cause { name, is_in_the_way })
}

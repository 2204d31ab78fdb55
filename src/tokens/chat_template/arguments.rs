//! Arguments and errors of the functions that templates call.

use minijinja::value::{Kwargs, Rest};
use minijinja::{Error, ErrorKind, Value};

/// The arguments with the named ones appended in the order of `names`; absent ones are none.
pub fn in_order(given: (Rest<Value>, Kwargs), names: &[&str]) -> Result<Vec<Value>, Error> {
    let (Rest(mut arguments), named) = given;
    for name in names.iter().skip(arguments.len()) {
        arguments.push(named.get::<Option<Value>>(name)?.unwrap_or_default());
    }
    named.assert_all_used()?;
    Ok(arguments)
}

/// An error of the engine with this message.
pub fn fault(message: &'static str) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}

//! The engine's own filters and functions that make texts, lists and containers, with a check before and after.

use minijinja::value::{DynObject, Kwargs, Rest, ValueOrKwargs};
use minijinja::{Environment, Error, State, Value, filters, functions};

use super::sizes::{as_list, of_format};
use crate::tokens::chat_template::bounds;
use crate::tokens::chat_template::names::{KEPT, MADE, WRITES};
use crate::tokens::chat_template::values::made::{kept, settled};
use crate::tokens::chat_template::values::{ranges, repr_into};

/// The name that the engine's own filter `format` is kept under.
const OWN_FORMAT: &str = "__own_format__";

macro_rules! charged {
    ($environment:ident, $cost:expr, $($name:ident)*) => {
        $({
            /// The name that the engine's own filter is kept under.
            const OWN: &str = concat!("__own_", stringify!($name), "__");
            $environment.add_filter(OWN, filters::$name);
            let charged = |state: &mut State<'_, '_>, arguments: Rest<ValueOrKwargs>| {
                let arguments = arguments.into_values();
                for argument in &arguments {
                    bounds::room($cost(argument))?;
                }
                settled(state.apply_filter(OWN, &arguments)?)
            };
            $environment.add_filter(stringify!($name), charged);
        })*
    };
}

/// Adds the checks to the engine, and wraps its filters and functions in them.
pub fn add(environment: &mut Environment<'_>) {
    environment.add_function(MADE, settled);
    environment.add_function(KEPT, kept);
    environment.add_test(WRITES, |bytes: usize| bounds::charge(bytes).map(|()| false));
    environment.add_function("range", ranges::range);
    environment.add_function("dict", |value: Option<Value>, named: Kwargs| {
        settled(functions::dict(value, named)?)
    });
    environment.add_function("namespace", namespace);
    // Python's engine has no `debug` without an extension.
    environment.remove_global("debug");
    charged!(environment, as_list, chain zip lines split);
    charged!(environment, as_text, upper lower title);
    environment.add_filter("pprint", |value: Value| {
        let mut out = String::new();
        repr_into(&value, &mut out);
        bounds::text(out)
    });
    environment.add_filter(OWN_FORMAT, filters::format);
    environment.add_filter("format", format);
}

fn namespace(defaults: Option<ValueOrKwargs>) -> Result<Value, Error> {
    let pairs = defaults.as_ref().and_then(|defaults| defaults.as_object());
    for (_, value) in pairs.and_then(DynObject::try_iter_pairs).into_iter().flatten() {
        kept(value)?;
    }
    functions::namespace(defaults)
}

/// Maximum bytes of a text that is made of a value, character by character.
fn as_text(value: &Value) -> usize {
    value.as_str().map_or(0, str::len).saturating_mul(3)
}

fn format(state: &mut State<'_, '_>, arguments: Rest<ValueOrKwargs>) -> Result<Value, Error> {
    let arguments = arguments.into_values();
    if let Some((text, values)) = arguments.split_first() {
        bounds::room(of_format(text.as_str().unwrap_or_default(), values))?;
    }
    settled(state.apply_filter(OWN_FORMAT, &arguments)?)
}

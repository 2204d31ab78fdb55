//! A generator: a sequence that can be iterated once.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use minijinja::Value;
use minijinja::value::{Enumerator, Object, ObjectRepr};

use super::nesting::{Extent, Nesting};

/// A generator: it is true, has no length and no index, and yields every element once.
#[derive(Debug)]
pub struct Generator {
    rest: Mutex<std::vec::IntoIter<Value>>,
    nesting: Nesting,
}

impl Generator {
    /// A generator of these elements, which have this nesting.
    pub fn new(elements: Vec<Value>, nesting: Nesting) -> Self {
        let rest = Mutex::new(elements.into_iter());
        Self { rest, nesting }
    }

    /// The depth and number of the values in it.
    pub fn extent(&self) -> Extent {
        self.nesting.extent
    }

    fn rest(&self) -> MutexGuard<'_, std::vec::IntoIter<Value>> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An iterator over the remaining elements of a generator, with a known length, as loops need it.
struct GeneratorIter(Arc<Generator>);

impl Iterator for GeneratorIter {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        self.0.rest().next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.rest().size_hint()
    }
}

impl Object for Generator {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Iterable
    }

    fn get_value(self: &Arc<Self>, _: &Value) -> Option<Value> {
        Some(Value::UNDEFINED)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Iter(Box::new(GeneratorIter(Arc::clone(self))))
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        None
    }

    fn is_true(self: &Arc<Self>) -> bool {
        true
    }

    fn render(self: &Arc<Self>, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("<generator object>")
    }
}

//! Python's `range`: a sequence that is not a list.

use std::fmt;
use std::sync::Arc;

use minijinja::value::{Enumerator, Object, ObjectRepr};
use minijinja::{Error, Value};

use crate::tokens::chat_template::arguments::fault;

/// The numbers from a start, by steps, up to but not including a stop.
#[derive(Debug)]
pub struct Range {
    start: i64,
    stop: i64,
    step: i64,
}

/// `range(stop)` or `range(start, stop, step)`. A range longer than Jinja's sandbox allows is refused.
pub fn range(first: i64, second: Option<i64>, step: Option<i64>) -> Result<Value, Error> {
    const MOST: usize = 100_000;
    let step = step.unwrap_or(1);
    let (start, stop) = second.map_or((0, first), |stop| (first, stop));
    if step == 0 {
        return Err(fault("a range's step cannot be zero"));
    }
    let range = Range { start, stop, step };
    if range.length() > MOST {
        return Err(fault("the range is too long: at most 100000 numbers are taken"));
    }
    Ok(Value::from_object(range))
}

impl Range {
    fn length(&self) -> usize {
        let (low, high) = if self.step > 0 {
            (self.start, self.stop)
        } else {
            (self.stop, self.start)
        };
        let distance = i128::from(high) - i128::from(low);
        let numbers = u128::try_from(distance)
            .unwrap_or(0)
            .div_ceil(u128::from(self.step.unsigned_abs()));
        usize::try_from(numbers).unwrap_or(usize::MAX)
    }
}

impl Object for Range {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let place = key.as_usize().filter(|place| *place < self.length())?;
        let distance = i64::try_from(place).ok()?.checked_mul(self.step)?;
        self.start.checked_add(distance).map(Value::from)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.length())
    }

    fn render(self: &Arc<Self>, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "range({}, {}", self.start, self.stop)?;
        if self.step != 1 {
            write!(formatter, ", {}", self.step)?;
        }
        formatter.write_str(")")
    }
}

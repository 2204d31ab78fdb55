//! The filters, functions, methods and operators that templates call.

pub(super) mod arithmetic;
pub(super) mod charged;
pub(super) mod filters;
pub(super) mod iteration;
pub(super) mod methods;
mod sizes;
mod strings;
mod to_json;

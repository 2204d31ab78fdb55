//! The nesting of a container: the depth and number of the values in it, and its bytes in the budget.

use crate::tokens::chat_template::bounds;

/// The depth and number of the values in a value.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// The nesting depth.
    pub depth: usize,
    /// The number of values; one that occurs at two places counts twice.
    pub values: usize,
}

/// The extent of a container, and its bytes in the budget until it is dropped.
#[derive(Debug)]
pub struct Nesting {
    pub extent: Extent,
    pub bytes: usize,
}

impl Drop for Nesting {
    fn drop(&mut self) {
        bounds::give_back(self.bytes);
    }
}

//! The values of the flags of `trajfit unroll`.

use crate::names::{Named, named};

named! {
    /// The unit of a row of the metrics.
    Rows {
        /// A row for each record.
        Segments = "segments",
        /// A row for each trajectory.
        Trajectories = "trajectories",
    }
}

/// The value of `--min-savings`.
pub fn savings(text: &str) -> Result<f64, String> {
    let part = text.parse().ok().filter(|part| (0.0..1.0).contains(part));
    part.ok_or_else(|| "not a part from 0 to below 1, such as 0.1".to_owned())
}

/// The value of a flag that takes a name.
pub fn by_name<T: Named>(text: &str) -> Result<T, String> {
    T::from_name(text).ok_or_else(|| format!("known are: {}", T::NAMES.join(", ")))
}

/// The value of `--agent-price`.
pub fn price(text: &str) -> Result<f64, String> {
    let price = text
        .parse()
        .ok()
        .filter(|price: &f64| *price >= 0.0 && price.is_finite());
    price.ok_or_else(|| "not a price in US dollars, such as 0.3".to_owned())
}

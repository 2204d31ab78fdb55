//! Properties of summaries, and what they tell of typical regions.

//! Placeholder for templates of every kind against Python.

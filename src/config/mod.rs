//! Defaults, file, environment and flags become one validated `Config`.

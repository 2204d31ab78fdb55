//! How results are shown to people and machines.

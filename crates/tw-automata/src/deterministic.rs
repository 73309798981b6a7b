//! deterministic.

//! Deterministic automata: one table look-up per event.

//! Monitoring by rewriting: the state is a formula.

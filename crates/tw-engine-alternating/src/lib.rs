//! The three traversals of an alternating automaton, and statistics on its runs.

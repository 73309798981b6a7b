//! Queries by algebraic alternating automata, evaluated backwards.

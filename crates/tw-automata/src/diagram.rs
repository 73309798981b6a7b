//! diagram.

//! residual.

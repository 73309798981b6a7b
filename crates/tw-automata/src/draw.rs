//! draw.

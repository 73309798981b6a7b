//! Queries over a stream: values with a delay.

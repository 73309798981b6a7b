//! A tracing layer that checks properties inside the program.

//! Error patterns of concurrent programs: lock-order deadlocks and unprotected accesses.

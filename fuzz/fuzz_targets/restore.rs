#![no_main]
//! See `tracewise_fuzz::restore`.
libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewise_fuzz::restore(data));

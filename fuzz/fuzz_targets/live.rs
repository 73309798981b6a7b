#![no_main]
//! See `tracewise_fuzz::live`.
libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewise_fuzz::live(data));

#![no_main]
//! The `lines` reader: see `tracewise_fuzz::reader`.
libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewise_fuzz::reader("lines", data));

#![no_main]
//! The `logfmt` reader: see `tracewise_fuzz::reader`.
libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewise_fuzz::reader("logfmt", data));

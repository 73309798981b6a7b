#![no_main]
//! The `otlp-json` reader: see `tracewise_fuzz::reader`.
libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewise_fuzz::reader("otlp-json", data));

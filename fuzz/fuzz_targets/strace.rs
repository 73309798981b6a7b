#![no_main]
//! The `strace` reader: see `tracewise_fuzz::reader`.
libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewise_fuzz::reader("strace", data));

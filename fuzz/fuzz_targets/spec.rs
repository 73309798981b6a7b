#![no_main]
//! Parser, printer and lowering: see `tracewise_fuzz::spec`.
libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewise_fuzz::spec(data));

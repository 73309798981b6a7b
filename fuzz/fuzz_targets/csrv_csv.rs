#![no_main]
//! The `csrv-csv` reader: see `tracewise_fuzz::reader`.
libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewise_fuzz::reader("csrv-csv", data));

#![no_main]
//! The `csrv-xml` reader: see `tracewise_fuzz::reader`.
libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewise_fuzz::reader("csrv-xml", data));

#![no_main]
//! Requests of OpenTelemetry in protobuf: see `tracewise_fuzz::otlp`.
libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewise_fuzz::otlp(data));

#![no_main]
//! Specifications of other monitors: no panic on any text, and what is made reads back as itself. The first byte picks the
//! format.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let [format, data @ ..] = data else { return };
    let Ok(text) = std::str::from_utf8(data) else { return };
    let format = &tw_import::FORMATS[usize::from(*format) % tw_import::FORMATS.len()];
    let made = tw_import::import("fuzz.txt", text, format, &tw_import::Options::default());
    let mut sources = tw_diag::Sources::default();
    sources.add("fuzz.txt", text);
    tw_diag::render(&made.diagnostics, &sources, true);
    if made.has_errors() {
        return assert!(made.value.is_empty());
    }
    let parsed = tw_spec::parse(&made.value, 0);
    assert!(!parsed.has_errors(), "{text:?} is made to {:?}", made.value);
    assert_eq!(tw_spec::print(&parsed.value), made.value);
    tw_spec::lower(&parsed.value, &tw_spec::LowerOptions::default());
});

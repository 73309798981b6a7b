#![no_main]
//! Model files: no panic on any bytes; what is read can be written in every format, and what was written as JSON is read
//! back and written the same.

use tw_model::formats::smv::{Limits, read_within};
use tw_model::{FORMATS, Model};

fn written(format: &str, model: &Model) -> Option<Vec<u8>> {
    let format = FORMATS.iter().find(|known| known.name == format)?;
    let mut out = Vec::new();
    (format.write)(model, &mut out).ok()?;
    Some(out)
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let limits = Limits { states: 2_000, edges: 20_000, work: 2_000_000, ..Limits::default() };
    let read = FORMATS.iter().find(|format| format.name == "json").and_then(|format| format.read);
    let Some(read) = read else { return };
    let model = if data.first() == Some(&b'{') {
        read("fuzz.json", data)
    } else {
        read_within("fuzz.smv", data, &limits)
    };
    let model = match model {
        Ok(model) => model,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    for format in ["smv", "promela", "prism", "aut"] {
        let _ = written(format, &model);
    }
    let Some(text) = written("json", &model) else { return };
    let again = read("fuzz.json", &text).expect("what was written is read");
    assert_eq!(written("json", &again).as_deref(), Some(&*text));
    // States that no initial one leads to are left out, so it is the second writing that stays.
    if let Some(text) = written("smv", &model)
        && let Ok(again) = read_within("fuzz.smv", &text, &limits)
    {
        assert_eq!(again.initial.len(), model.initial.len());
    }
});

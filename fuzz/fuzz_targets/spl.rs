#![no_main]
//! Programs: no panic on any text, findings can be rendered, and what has no errors runs to a state or an error with a
//! place.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (program, findings) = tw_spl::parse("fuzz.spl", text);
    tw_diag::render(&findings, program.sources(), true);
    let Ok(mut run) = tw_spl::Simulator::new(&program, 1, 20) else { return };
    let lines = [tw_spl::Form::Csv, tw_spl::Form::Jsonl, tw_spl::Form::Props]
        .map(|form| tw_spl::Lines::new(&program, form));
    for _ in 0..200 {
        assert_eq!(run.state().values().count(), program.columns().len());
        for line in &lines {
            line.push(&run.state(), &mut Vec::new());
        }
        if let Err(found) = run.step() {
            assert!(!found.labels.is_empty());
            return;
        }
    }
});

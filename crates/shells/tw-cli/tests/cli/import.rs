//! `import`: specifications of other monitors, run on traces.

use crate::common::{directory, tracewise, tracewise_with};

#[test]
fn an_imported_specification_runs() {
    let directory = directory("import");
    let (spec, out) = (directory.join("req.txt"), directory.join("req.tw"));
    std::fs::write(&spec, "late = always[0:2](x < 3)\nout = eventually(y >= 1.5) and late\n").unwrap();
    let trace = directory.join("t.csv");
    std::fs::write(&trace, "x,y\n1,0\n2,1\n2,4\n5,0\n").unwrap();
    let shown = |path: &std::path::Path| path.display().to_string();
    let (spec, out, trace) = (shown(&spec), shown(&out), shown(&trace));
    let made = tracewise(&format!("import '{spec}' --from rtamt -o '{out}'"));
    assert_eq!((made.code, made.err.as_str()), (0, ""), "{made:?}");
    assert!(made.out.contains("wrote") && made.out.contains("RTAMT"), "{made:?}");
    assert_eq!(tracewise(&format!("fmt --check '{out}'")).code, 0);
    let robust = tracewise(&format!("robust '{out}' '{trace}' --clock index --at all --output json"));
    let values: Vec<_> = robust.json().iter().map(|line| line["robustness"].clone()).collect();
    assert_eq!(values, [1.0, -2.0, -2.0, -2.0]);
    assert_eq!(tracewise(&format!("check '{out}' '{trace}' --clock index")).code, 0);
}

#[test]
fn the_result_goes_to_standard_output() {
    let made = tracewise_with("import - --from reelay", "once[0:3]{p: true}");
    assert_eq!(made.code, 0);
    assert!(made.out.ends_with("property stdin : G O[0,3] p;\n"), "{made:?}");
    let made = tracewise_with("import - --from mltl --output json", "G[0,1] a0\n");
    assert_eq!(made.json()[0]["format"], "mltl");
    assert!(made.json()[0]["text"].as_str().unwrap().contains("property f0 : G[0,1] a0;"), "{made:?}");
    assert_eq!(tracewise_with("import - --from mltl --quiet", "a0").out, "");
}

#[test]
fn units_and_periods_are_divided() {
    let line = "import - --from rtamt --period 50ms --unit ms";
    let made = tracewise_with(line, "historically[100:1500] x > 1");
    assert!(made.out.contains("one every 50ms") && made.out.contains("H[2,30] (x > 1)"), "{made:?}");
    let refused = tracewise_with(line, "historically[100:1510] x > 1");
    assert_eq!((refused.code, refused.out.as_str()), (2, ""));
    assert!(refused.err.contains("<stdin>:1:13"), "{refused:?}");
}

#[test]
fn help_names_every_format() {
    let help = tracewise("import --help").out;
    for format in ["rtamt", "breach", "reelay", "c2po", "mltl"] {
        assert!(help.contains(&format!("{format}: ")), "{help}");
    }
}

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
    for format in ["rtamt", "breach", "reelay", "c2po", "mltl", "monpoly", "dejavu"] {
        assert!(help.contains(&format!("{format}: ")), "{help}");
    }
}

/// The example of MonPoly's manual: report 160 is published without approval.
#[test]
fn a_policy_with_its_signature_runs() {
    let directory = directory("import-monpoly");
    let file = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let policy = file("p.mfotl", "publish(r) IMPLIES ONCE[0,7d] approve(r)\n");
    let signature = file("p.sig", "publish(int) approve(r: int)\n");
    let log = file(
        "p.log",
        "@1307532861 approve (152)\n@1307955600 approve (163) publish (160)\n@1308477599 approve (187) publish (163) (152)\n",
    );
    let out = directory.join("p.tw").display().to_string();
    let made = tracewise(&format!("import '{policy}' --signature '{signature}' -o '{out}'"));
    assert_eq!((made.code, made.err.as_str()), (0, ""), "{made:?}");
    assert_eq!(tracewise(&format!("fmt --check '{out}'")).code, 0);
    let found = tracewise(&format!("check '{out}' '{log}' --output json"));
    let violations = found.json()[0]["violations"].clone();
    let shown: Vec<_> = violations
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["position"].clone(), one["bindings"]["r"].clone()))
        .collect();
    // 152 was approved more than seven days before.
    assert_eq!(shown, [(1.into(), 160.into()), (2.into(), 152.into())], "{found:?}");
}

/// Values that were seen: what `exists` ranges over is not all there is.
#[test]
fn dejavu_judges_every_event_by_values_seen() {
    let directory = directory("import-dejavu");
    let log = directory.join("l.events");
    std::fs::write(&log, "open,a,read\nclose,a\nclose,b\nopen,b,write\nopen,b,read\nclose,b\nclose,b\n")
        .unwrap();
    for (text, violations) in [
        ("prop p : forall f . close(f) -> exists m . @ [open(f,m),close(f))", vec![2, 6]),
        // A value is seen where a pattern of the property matches it; `Exists` always finds another.
        ("prop p : exists f . !close(f)", vec![0, 1]),
        ("prop p : Exists f . !close(f)", vec![]),
        ("prop p : exists f . ! open(f,\"read\")", vec![0]),
    ] {
        let made = tracewise_with("import - --from dejavu", text);
        let spec = directory.join("p.tw");
        std::fs::write(&spec, &made.out).unwrap();
        let found = tracewise(&format!(
            "check '{}' '{}' --violations all --output json",
            spec.display(),
            log.display()
        ));
        let json = found.json();
        let shown: Vec<u64> = json[0]["violations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["position"].as_u64().unwrap())
            .collect();
        assert_eq!(shown, violations, "{text}: {} {found:?}", made.out);
    }
}

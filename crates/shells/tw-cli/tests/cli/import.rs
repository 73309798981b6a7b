//! `import`: specifications of other monitors, run on traces.

use crate::common::{directory, tracewise, tracewise_with};
use serde_json::json;

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
    for format in [
        "rtamt", "breach", "reelay", "c2po", "mltl", "monpoly", "dejavu", "rvm", "lola", "plantuml",
        "mermaid",
    ] {
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

/// Aggregates with and without groups, in windows, on the engine for logs of any size.
#[test]
fn imported_aggregates_run() {
    let directory = directory("import-aggregates");
    let path = |name: &str| directory.join(name).display().to_string();
    std::fs::write(path("p.sig"), "withdraw(u:string, a:int) limit(u:string, a:int)\n").unwrap();
    let log = "@1 withdraw (\"ann\",50) (\"bob\",20)\n@5 withdraw (\"ann\",60)\n@8 withdraw (\"bob\",70) (\"bob\",20)\n\
               @20 withdraw (\"ann\",90)\n@30 limit (\"ann\",1)\n";
    std::fs::write(path("p.log"), log).unwrap();
    let ann = |s: serde_json::Value| json!({"u": "ann", "s": s});
    let window = |aggregate: &str, bound: &str| {
        format!("(s <- {aggregate} a; u ONCE[0,10] withdraw(u,a)) IMPLIES s <= {bound}")
    };
    for (policy, expected) in [
        (window("SUM", "100"), vec![(1, ann(110.into())), (2, ann(110.into()))]),
        // A set of values: that bob took 20 twice counts once.
        (window("CNT", "1"), vec![(1, ann(2.into())), (2, ann(2.into())), (2, json!({"u": "bob", "s": 2}))]),
        (
            window("MAX", "60"),
            vec![(2, json!({"u": "bob", "s": 70})), (3, ann(90.into())), (4, ann(90.into()))],
        ),
        (window("MIN", "60"), vec![(3, ann(90.into())), (4, ann(90.into()))]),
        (
            window("AVG", "50.0"),
            vec![(1, ann(55.into())), (2, ann(55.into())), (3, ann(90.into())), (4, ann(90.into()))],
        ),
        (
            "(s <- SUM a withdraw(u,a)) IMPLIES s <= 60".into(),
            vec![(0, json!({"s": 70})), (2, json!({"s": 90})), (3, json!({"s": 90}))],
        ),
        // Of nothing it is 0.
        ("(s <- CNT u withdraw(u,a)) IMPLIES s > 0".into(), vec![(4, json!({"s": 0}))]),
        (
            "(s <- MAX a withdraw(u,a)) IMPLIES s > 60".into(),
            vec![(0, json!({"s": 50})), (1, json!({"s": 60})), (4, json!({"s": 0}))],
        ),
    ] {
        std::fs::write(path("p.mfotl"), &policy).unwrap();
        let (policy_file, signature, out) = (path("p.mfotl"), path("p.sig"), path("p.tw"));
        let made = tracewise(&format!("import '{policy_file}' --signature '{signature}' -o '{out}'"));
        assert_eq!((made.code, made.err.as_str()), (0, ""), "{policy}: {made:?}");
        let check = format!("check '{out}' '{}' --violations all --output json", path("p.log"));
        let found = tracewise(&check).json();
        assert_eq!(found[0]["engine"], "relational");
        let violations = found[0]["violations"].as_array().unwrap();
        let shown: Vec<_> = violations
            .iter()
            .map(|one| (one["position"].as_u64().unwrap(), one["bindings"].clone()))
            .collect();
        assert_eq!(shown, expected, "{policy}");
    }
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

/// Imports a text, runs it on a table, and gives the values of each stream.
fn lola(name: &str, text: &str, table: &str) -> Vec<serde_json::Value> {
    let directory = directory(name);
    let path = |file: &str| directory.join(file).display().to_string();
    let (spec, out, trace) = (path("s.lola"), path("s.tw"), path("t.csv"));
    std::fs::write(&spec, text).unwrap();
    std::fs::write(&trace, table).unwrap();
    let made = tracewise(&format!("import '{spec}' -o '{out}'"));
    assert_eq!(made.code, 0, "{made:?}");
    let run = tracewise(&format!("stream run '{out}' '{trace}' --output json"));
    assert_eq!(run.code, 0, "{run:?}");
    run.json()
}

/// Values computed by hand: defaults at the ends, the latest value where cells are empty, both branches, instances.
#[test]
fn streams_of_rtlola_run() {
    let text = "input a: Int64, b: Int64, p: Bool, user: String\n\
                constant step: Int64 := 10\n\
                output sum := sum.offset(by: -1).defaults(to: step) + a\n\
                output before := a.offset(by: -2).defaults(to: a * 100)\n\
                output held := b.hold(or: -1)\n\
                output sign := if p then if a % 2 = 0 then 1 else 2 else -a\n\
                output both := p = (a > 2)\n\
                output mixed := (if p then a else 0) + 1 > 3\n\
                output per(u: String) spawn with user eval when user == u with per(u).last(or: 0) + a\n";
    let rows = lola("import-rtlola", text, "a,b,p,user\n1,,true,x\n2,7,false,y\n3,,true,x\n4,8,true,y\n");
    let column = |name: &str| rows.iter().map(|row| row[name].clone()).collect::<Vec<_>>();
    assert_eq!(column("sum"), [11, 13, 16, 20]);
    assert_eq!(column("before"), [100, 200, 1, 2]);
    assert_eq!(column("held"), [-1, 7, 7, 8]);
    assert_eq!(column("sign"), [2, -2, 2, 1]);
    assert_eq!(column("both"), [false, true, true, true]);
    assert_eq!(column("mixed"), [false, false, true, true]);
    assert_eq!(column("per"), [1, 2, 4, 6]);
}

/// The notation of Lola, with references ahead.
#[test]
fn streams_of_lola_run() {
    let text = "input bool p\ninput int n\noutput int ahead := n[1|-1] + n[-1, 0]\n\
                output bool ever := p || ever[-1, false]\noutput int waits := ite(ever, 0, waits[-1,0] + 1)\n";
    let rows = lola("import-lola", text, "p,n\nfalse,1\nfalse,2\ntrue,3\nfalse,4\n");
    let column = |name: &str| rows.iter().map(|row| row[name].clone()).collect::<Vec<_>>();
    assert_eq!(column("ahead"), [2, 4, 6, 2]);
    assert_eq!(column("ever"), [false, false, true, true]);
    assert_eq!(column("waits"), [1, 2, 0, 0]);
}

/// Windows by positions and by time, with what they are of nothing.
#[test]
fn windows_of_rtlola_run() {
    let text = "input x: Int64, p: Bool\n\
                output three := x.aggregate(over_discrete: 3, using: sum)\n\
                output near := x.aggregate(over: 2s, using: max).defaults(to: 0)\n\
                output all := p.aggregate(over_discrete: 2, using: forall)\n\
                output some := p.aggregate(over: 1s, using: exists)\n";
    let rows = lola("import-windows", text, "time,x,p\n0,1,true\n1,5,true\n2,2,false\n4,3,false\n9,1,true\n");
    let column = |name: &str| rows.iter().map(|row| row[name].clone()).collect::<Vec<_>>();
    assert_eq!(column("three"), [1, 6, 8, 10, 6]);
    assert_eq!(column("near"), [1, 5, 5, 3, 1]);
    assert_eq!(column("all"), [true, true, false, false, false]);
    assert_eq!(column("some"), [true, true, true, false, true]);
}

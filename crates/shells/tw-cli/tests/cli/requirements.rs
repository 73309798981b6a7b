//! Values as requirements: verdicts of queries, the least robustness, tables of counts.

use crate::common::{tracewise, tracewise_with};
use crate::shared::directory;
use serde_json::{Value, json};

const LOG: &str =
    "time,ip,failed,x\n0,a,1,1\n1,b,0,2\n1,a,1,\n5,a,1,4\n11,a,1,5\n12,a,1,6\n12,b,1,7\n22,a,0,8\n";

fn files(test: &str, spec: &str) -> (String, String) {
    let directory = directory(test);
    let (spec_file, log) = (directory.join("s.tw"), directory.join("t.csv"));
    std::fs::write(&spec_file, spec).expect("a scratch file");
    std::fs::write(&log, LOG).expect("a scratch file");
    (spec_file.display().to_string(), log.display().to_string())
}

fn one(test: &str, requirement: &str) -> (i32, Vec<Value>) {
    let (spec, log) = files(test, requirement);
    let run = tracewise(&format!("check {spec} {log} --output json"));
    (run.code, run.json())
}

#[test]
fn requirements_are_checked() {
    let (code, lines) = one("require-check", "require mean \"small\" : avg[x] < 4;");
    assert_eq!(code, 1);
    let line = &lines[0];
    assert_eq!(line["property"], "mean");
    assert_eq!(line["verdict"], "violated");
    assert_eq!(line["title"], "small");
    assert_eq!(
        (&line["position"], &line["violations"], &line["events"]),
        (&json!(null), &json!([]), &json!(8))
    );
    assert!((line["value"].as_f64().unwrap() - 33.0 / 7.0).abs() < 1e-12);
    // The last comparison outside of brackets ends the query.
    let (code, lines) = one("require-last", "require few : count[failed & x > 100] ?? 7 <= 3;");
    assert_eq!((code, &lines[0]["value"]), (1, &json!(7)));
    // A count of nothing is 0; any other missing value settles nothing.
    let (code, lines) =
        one("require-zero", "require none : count[x > 100] <= 0; require half : count[x > 100] / 2 < 1;");
    assert_eq!((code, &lines[0]["value"], &lines[1]["value"]), (0, &json!(0), &json!(0.0)));
    let (code, lines) = one("require-unknown", "require most : max[x > 100 : x] < 3;");
    assert_eq!((code, &lines[0]["verdict"], &lines[0]["value"]), (3, &json!("unknown"), &json!(null)));
    // Lengths of time are numbers of the trace's unit.
    assert_eq!(one("require-length", "require gap : max[elapsed] <= 10s;").0, 0);
    assert_eq!(one("require-length-2", "require gap : max[elapsed] < 10000ms;").0, 1);
}

#[test]
fn divided_requirements_have_an_object_per_part() {
    let (code, lines) = one("require-by", "require few : count[failed] <= 3 by ip;");
    assert_eq!(code, 1);
    let told: Vec<_> = lines.iter().map(|line| (&line["by"], &line["verdict"], &line["value"])).collect();
    assert_eq!(json!(told), json!([[{"ip": "a"}, "violated", 5], [{"ip": "b"}, "satisfied", 1]]));
    let (code, lines) = one("require-every", "require low : max[x] <= 7 every 10s;");
    assert_eq!(code, 1);
    let told: Vec<_> = lines.iter().map(|line| (&line["window"], &line["verdict"])).collect();
    assert_eq!(json!(told), json!([[[0, 10], "satisfied"], [[10, 20], "satisfied"], [[20, 30], "violated"]]));
    let (spec, log) = files("require-option", "property p : G (x < 100);\nrequire few : count[failed] <= 3;");
    let run = tracewise(&format!("check --by ip {spec} {log} --output json"));
    let parts: Vec<Value> = run.json().iter().skip(1).map(|line| line["by"].clone()).collect();
    assert_eq!(json!(parts), json!([{"ip": "a"}, {"ip": "b"}]));
    // A rolling window in one, per part: of each address its own positions.
    let (_, lines) = one("require-window", "require calm : max[count[failed over 10s]] <= 3 by ip;");
    assert_eq!(json!(lines.iter().map(|line| &line["value"]).collect::<Vec<_>>()), json!([3, 1]));
}

#[test]
fn queries_tell_requirements_and_fail_by_them() {
    let (spec, log) = files("require-query", "query all : count[true];\nrequire few : count[failed] <= 3;");
    let run = tracewise(&format!("query {spec} {log} --output json"));
    let lines = run.json();
    assert_eq!((run.code, &lines[0]["value"], &lines[1]["verdict"]), (1, &json!(8), &json!("violated")));
    let run = tracewise(&format!("query {spec} {log}"));
    assert!(run.out.contains("✗ few  6, required <= 3"), "{}", run.out);
    for form in ["junit", "sarif", "github", "html"] {
        for command in ["check", "query", "watch"] {
            let run = tracewise(&format!("{command} {spec} {log} --output {form}"));
            assert_eq!(run.code, 1, "{command} {form}: {}", run.err);
            assert!(run.out.contains("few") && run.out.contains("required"), "{command} {form}: {}", run.out);
        }
    }
    let run = tracewise(&format!("query {spec} {log} --output csv"));
    let rows: Vec<&str> = run.out.lines().map(|line| line.trim_start_matches(&log)).collect();
    assert_eq!(run.code, 1, "{}", run.err);
    assert_eq!(rows, ["trace,query,value,verdict,required", ",all,8,,", ",few,6,violated,<= 3"]);
    let run = tracewise(&format!("query {spec} {log} --output markdown"));
    assert!(run.out.contains("| few | violated | 6, required &lt;= 3 |"), "{}", run.out);
    // Columns of parts that only requirements have, beside values at positions.
    let (parts, _) = files(
        "require-query-parts",
        "query late : x > 6;\nrequire few : count[failed] <= 3 by ip every 10s;",
    );
    let run = tracewise(&format!("query --at all {parts} {log} --output csv"));
    let rows: Vec<&str> = run.out.lines().map(|line| line.trim_start_matches(&log)).collect();
    assert_eq!(rows[0], "trace,query,key,from,to,position,time,value,verdict,required");
    assert_eq!((rows[8], rows[9]), (",late,,,,7,22,true,,", ",few,a,0,10,,,3,satisfied,<= 3"));
    assert!(rows.iter().all(|row| row.matches(',').count() == 9), "{}", run.out);
    let run = tracewise(&format!("check --only all {spec} {log}"));
    assert_eq!(run.code, 2, "{}", run.out);
    assert_eq!(tracewise(&format!("check --only few {spec} {log}")).code, 1);
}

#[test]
fn streams_settle_requirements_as_soon_as_they_can() {
    let (spec, log) = files("require-watch", "require few : count[failed] <= 3;\nrequire mean : avg[x] < 5;");
    let run = tracewise(&format!("watch {spec} {log} --output json"));
    let lines = run.json();
    assert_eq!(run.code, 1, "{}", run.err);
    assert_eq!(
        (
            &lines[0]["property"],
            &lines[0]["verdict"],
            &lines[0]["position"],
            &lines[0]["settled"],
            &lines[0]["value"]
        ),
        (&json!("few"), &json!("violated"), &json!(4), &json!(true), &json!(4))
    );
    assert_eq!(
        (&lines[1]["property"], &lines[1]["verdict"], &lines[1]["position"], &lines[1]["settled"]),
        (&json!("mean"), &json!("satisfied"), &json!(7), &json!(false))
    );
    let (spec, log) =
        files("require-watch-2", "require some : max[x] >= 4;\nrequire start : first[true : x] == 1;");
    let lines = tracewise(&format!("watch {spec} {log} --output json")).json();
    let told: Vec<_> =
        lines.iter().map(|line| (&line["property"], &line["position"], &line["settled"])).collect();
    assert_eq!(json!(told), json!([["start", 0, true], ["some", 3, true]]));
}

#[test]
fn properties_and_requirements_are_read_at_once() {
    let (spec, _) = files(
        "require-once",
        "property p : G (x < 8);\nrequire few : count[failed] <= 3 by ip;\nrequire low : max[x] <= 7 every 10s;",
    );
    let run = tracewise_with(&format!("check --format csv {spec} - --output json"), LOG);
    let told: Vec<_> =
        run.json().iter().map(|line| (line["property"].clone(), line["verdict"].clone())).collect();
    assert_eq!(run.code, 1, "{}", run.err);
    assert_eq!(
        json!(told),
        json!([
            ["p", "violated"],
            ["few", "violated"],
            ["few", "satisfied"],
            ["low", "satisfied"],
            ["low", "satisfied"],
            ["low", "violated"]
        ])
    );
    assert_eq!(
        (&run.json()[3]["window"], &run.json()[1]["by"], &run.json()[1]["value"]),
        (&json!([0, 10]), &json!({"ip": "a"}), &json!(5))
    );
    // A term without a value is told with its line, whichever of the two asks for it.
    let (spec, _) = files("require-fault", "property p : G (x < 8);\nrequire odd : count[x + ip > 0] <= 3;");
    let run = tracewise_with(&format!("check --format csv {spec} -"), LOG);
    assert_eq!(run.code, 2, "{}", run.out);
    assert!(run.err.contains("x + ip"), "{}", run.err);
    // A column that nothing is in.
    let (spec, _) =
        files("require-nobody", "property p : G (x < 8);\nrequire few : count[failed] <= 3 by nobody;");
    assert_eq!(tracewise_with(&format!("check --format csv {spec} -"), LOG).code, 2);
}

#[test]
fn streams_settle_each_part_as_soon_as_they_can() {
    let watch = |test: &str, spec: &str, options: &str| {
        let (spec, log) = files(test, spec);
        let run = tracewise(&format!("watch {spec} {log} --output json {options}"));
        let line = |line: &Value| {
            json!([
                line["property"],
                line["by"],
                line["window"],
                line["verdict"],
                line["position"],
                line["settled"],
                line["value"]
            ])
        };
        (run.code, run.json().iter().map(line).collect::<Vec<_>>())
    };
    let (code, told) = watch("watch-by", "require few : count[failed] <= 3 by ip;", "");
    assert_eq!(code, 1);
    assert_eq!(
        told,
        [
            json!(["few", {"ip": "a"}, null, "violated", 4, true, 4]),
            json!(["few", {"ip": "b"}, null, "satisfied", 7, false, 1])
        ]
    );
    // A window is over when a later position has come.
    let (_, told) = watch("watch-every", "require low : avg[x] <= 4.5 every 10s;", "");
    assert_eq!(
        told,
        [
            json!(["low", null, [0, 10], "satisfied", 4, true, 2.3333333333333335]),
            json!(["low", null, [10, 20], "violated", 7, true, 6.0]),
            json!(["low", null, [20, 30], "violated", 7, false, 8.0])
        ]
    );
    // With `--by`, by its column unless the requirement names another.
    let spec = "property p : G (x < 8);\nrequire few : count[failed] <= 3;\nrequire calm : max[count[failed over 10s]] <= 3;";
    let (code, told) = watch("watch-keyed", spec, "--by ip");
    assert_eq!(code, 1);
    let required: Vec<&Value> = told.iter().filter(|line| line[6] != json!(null)).collect();
    assert_eq!(
        json!(required),
        json!([
            ["few", {"ip": "a"}, null, "violated", 4, true, 4],
            ["few", {"ip": "b"}, null, "satisfied", 7, false, 1],
            ["calm", {"ip": "a"}, null, "satisfied", 7, false, 3],
            ["calm", {"ip": "b"}, null, "satisfied", 7, false, 1]
        ])
    );
    let (spec, log) = files("watch-until", "require few : count[failed] <= 3;");
    assert_eq!(tracewise(&format!("watch {spec} {log} --by ip --until 'x > 5'")).code, 2);
    // Every line has the key.
    let run = tracewise(&format!("watch {spec} {log} --by ip --output json"));
    assert_eq!(run.json()[0]["bindings"], json!({"ip": "a"}));
    let run = tracewise(&format!("watch {spec} {log} --by ip --output html"));
    assert!(run.out.contains("ip = a") && run.out.contains("ip = b"), "{}", run.out);
}

#[test]
fn parts_go_on_where_a_checkpoint_left_off() {
    let text = "require few : count[failed] <= 3 by ip;\nrequire low : avg[x] <= 4.5 every 10s;\n";
    let windows = "require calm : max[count[failed over 10s]] <= 3 by ip every 20s;";
    let (windows, _) = files("require-resume", &format!("{text}{windows}"));
    let (times, _) = files("require-resume-times", &format!("{text}require gap : max[elapsed] < 8 by ip;"));
    let kept = directory("require-resume-state").join("state");
    let told = |spec: &str, log: &str, options: &str| -> Vec<Value> {
        let run = tracewise_with(&format!("watch --format csv {spec} - --output json {options}"), log);
        assert_ne!(run.code, 2, "{}", run.err);
        run.json()
    };
    for (spec, options) in [(&windows, ""), (&windows, "--by ip"), (&times, ""), (&times, "--by ip")] {
        let whole = told(spec, LOG, options);
        for cut in 1..LOG.lines().count() {
            let _ = std::fs::remove_file(&kept);
            let before: String = LOG.split_inclusive('\n').take(cut).collect();
            let with = format!("{options} --checkpoint {}", kept.display());
            let mut lines = told(spec, &before, &with);
            lines.retain(|line| line["settled"] == true);
            lines.extend(told(spec, LOG, &format!("{with} --resume")));
            let sorted = |lines: &[Value]| {
                let mut lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
                lines.sort();
                lines
            };
            assert_eq!(sorted(&lines), sorted(&whole), "cut after {cut} lines, {options}");
        }
    }
}

#[test]
fn a_requirement_compares_with_a_number() {
    for (text, said) in [
        ("require r : count[p];", "nothing is compared"),
        ("require r : count[p] <= x;", "a number"),
        ("require r count[p] <= 3;", "`:`"),
        ("require r : G p <= 3 by;", "by"),
    ] {
        let (spec, log) = files("require-bad", text);
        let run = tracewise(&format!("check {spec} {log}"));
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{text}");
        assert!(run.err.contains(said), "{text}: {}", run.err);
    }
    // Elsewhere it is a name like any other.
    let run = tracewise_with("check --format csv -e 'G (require -> over)' -", "require,over\n1,1\n0,0\n");
    assert_eq!(run.code, 0, "{}", run.err);
}

#[test]
fn the_least_robustness_and_its_table() {
    let command = |rest: &str| {
        tracewise_with(&format!("robust --format csv {rest} -"), &LOG.replace("1,a,1,\n", "1,a,1,3\n"))
    };
    assert_eq!(command("-e 'G (x < 9)' --min 1").code, 0);
    assert_eq!(command("-e 'G (x < 9)' --min 1.5").code, 1);
    assert_eq!(command("-e 'G (x < 7)' --min -1").code, 0);
    assert_eq!(command("-e 'G (x < 9)' --min much").code, 2);
    assert_eq!(command("-e 'x < 9' --min 2").code, 0);
    assert_eq!(command("-e 'x < 9' --min 2 --at all").code, 1);
    // What fails is said to fail, and by what.
    let run = command("-e 'G (x < 9)' --min 1.5");
    assert!(
        run.out.starts_with("✗ G (x < 9)\n  robustness 1, less than the 1.5 asked for, at"),
        "{}",
        run.out
    );
    let run = command("-e 'G (x < 7)' --min -1");
    assert!(run.out.starts_with("✓ G (x < 7)\n  robustness -1 at"), "{}", run.out);
    let run = command("-e 'x < 9' --min 2 --at all");
    assert!(run.out.contains("✗ x < 9: least robustness 1, less than the 2 asked for"), "{}", run.out);
    let run = command("-e 'G (x < 9)' --min 1.5 --output junit");
    assert!(run.out.contains("failures=\"1\"") && run.out.contains("asked for"), "{}", run.out);
    let run = command("-e 'G (x < 9)' --output csv");
    assert_eq!(run.out, "trace,property,position,time,robustness\n-,G (x < 9),0,0,1.0\n");
    let run = command("-e 'G (x < 9)' --by ip --output csv");
    assert_eq!(
        run.out,
        "trace,property,key,position,time,robustness\n-,G (x < 9),a,0,0,1.0\n-,G (x < 9),b,1,1,2.0\n"
    );
    let run = command("-e 'x < 3' --at all --output csv");
    assert_eq!(run.out.lines().nth(2), Some("-,x < 3,1,1,1.0"));
}

#[test]
fn tables_show_zero_where_nothing_was_counted() {
    let run = tracewise_with("query --format csv -e 'count[x > 6] by ip' -", LOG);
    assert!(run.out.contains("a  1") && run.out.contains("b  1"), "{}", run.out);
    let run = tracewise_with("query --format csv -e 'count[x > 7] by ip' -", LOG);
    assert!(run.out.contains("b  0"), "{}", run.out);
    let run = tracewise_with("query --format csv --output csv -e 'count[x > 7] by ip' -", LOG);
    assert!(run.out.ends_with(",b,0\n"), "{}", run.out);
    let run = tracewise_with("query --format csv --output json -e 'count[x > 7] by ip' -", LOG);
    assert_eq!(run.json()[1]["value"], json!(null));
}

/// Of a requirement `explain` says what is required, of which parts, and that it is judged live.
#[test]
fn what_is_required_is_explained() {
    let spec = "require few : count[p] < 3 by user;\nrequire load : count[p] <= 9 every 1m;\nquery q : count[p] by user;\n";
    let run = tracewise_with("explain -", spec);
    assert_eq!(run.code, 0, "{}", run.err);
    let part = |name: &str| {
        let part = run.out.split("\n\n").find(|part| part.starts_with(name));
        part.unwrap_or_else(|| panic!("{name}: {}", run.out)).to_owned()
    };
    let (few, load, query) = (part("few  (requirement)"), part("load  (requirement)"), part("q  (query)"));
    assert!(few.contains("required  < 3 by user") && few.contains("live      yes"), "{few}");
    assert!(load.contains("required  <= 9 every 1m") && load.contains("live      yes"), "{load}");
    assert!(query.contains("live      no: it divides the trace"), "{query}");
}

//! Rolling windows as terms: in properties, queries, streams and robustness, stored, live and per key.

use crate::common::{tracewise, tracewise_with};
use crate::shared::directory;
use serde_json::{Value, json};

fn file(test: &str, name: &str, text: &str) -> String {
    // Each in a directory of its own: they are made anew.
    let file = directory(&format!("{test}-{name}")).join(name);
    std::fs::write(&file, text).expect("a scratch file");
    file.display().to_string()
}

const LOG: &str =
    "time,ip,failed,x\n0,a,1,1\n1,b,0,2\n1,a,1,\n5,a,1,4\n11,a,1,5\n12,a,1,6\n12,b,1,7\n22,a,0,8\n";

fn values(query: &str) -> Vec<Value> {
    let run = tracewise_with(&format!("query --at all --output json --format csv -e '{query}' -"), LOG);
    assert_eq!(run.code, 0, "{query}: {}", run.err);
    run.json().iter().map(|line| line["value"].clone()).collect()
}

#[test]
fn windows_hold_positions_or_lengths_of_time() {
    assert_eq!(json!(values("count[failed over 10s]")), json!([1, 1, 2, 3, 3, 3, 4, 2]));
    assert_eq!(json!(values("count(failed over 2)")), json!([1, 1, 1, 2, 2, 2, 2, 1]));
    assert_eq!(json!(values("avg[x over 3]")), json!([1.0, 1.5, 1.5, 3.0, 4.5, 5.0, 6.0, 7.0]));
    assert_eq!(json!(values("sum[failed : x over 0s]")), json!([1, 0, 0, 4, 5, 6, 13, 0]));
    assert_eq!(
        json!(values("max[x > 100 : x over 3]")),
        json!([null, null, null, null, null, null, null, null])
    );
    assert_eq!(json!(values("distinct[ip over 2]")), json!([1, 2, 2, 1, 1, 1, 2, 2]));
    assert_eq!(json!(values("mode(ip over 3)")), json!(["a", "a", "a", "a", "a", "a", "a", "a"]));
    assert_eq!(json!(values("quantile(0.5)(x over 2)")), json!([1.0, 1.5, 2.0, 4.0, 4.5, 5.5, 6.5, 7.5]));
    assert_eq!(json!(values("first(x over 2) + last[x over 2]")), json!([2, 3, 4, 8, 9, 11, 13, 15]));
    // A window in a window, and past operators in one.
    assert_eq!(json!(values("max[count[failed over 1] over 2]")), json!([1, 1, 1, 1, 1, 1, 1, 1]));
    assert_eq!(json!(values("count[Y failed over 3]")), json!([0, 1, 1, 2, 2, 3, 3, 3]));
    assert_eq!(json!(values("count[O[<=1s] !failed over 2]")), json!([0, 1, 2, 1, 0, 0, 0, 1]));
    // They are numbers like others.
    let run = tracewise_with("eval --format csv --output json -e 'x > 2 * avg[x over 8]' -", LOG);
    assert_eq!(run.code, 0, "{}", run.err);
    let run = tracewise_with("robust --at all --format csv --output json -e 'avg[x over 2] < 5' -", LOG);
    let worth: Vec<Value> = run.json().iter().map(|line| line["robustness"].clone()).collect();
    assert_eq!(json!(worth), json!([4.0, 3.5, 3.0, 1.0, 0.5, -0.5, -1.5, -2.5]));
}

#[test]
fn streams_hold_windows_and_windows_streams() {
    let spec = "stream mean: real = avg[x over 2];\nstream level: real = if mean > 3 then mean else 0;\n\
                stream per: int = sum[x over 2] by ip;\nproperty p : G (max[level over 3] < 7);\n";
    let (spec, log) = (file("windows-streams", "s.tw", spec), file("windows-streams", "t.csv", LOG));
    let run = tracewise(&format!("stream run {spec} {log} --output json"));
    assert_eq!(run.code, 0, "{}", run.err);
    let per: Vec<Value> = run.json().iter().map(|row| row["per"].clone()).collect();
    assert_eq!(json!(per), json!([1, 2, 1, 4, 9, 11, 9, 14]));
    let run = tracewise(&format!("check {spec} {log} --output json"));
    assert_eq!((run.code, run.json()[0]["position"].clone()), (1, json!(7)));
    assert_eq!(tracewise(&format!("watch {spec} {log}")).code, 1);
}

/// Random logs of failures, checked by a count that looks at every pair of lines.
#[test]
fn at_most_three_failures_in_ten_seconds_per_address() {
    let mut state = 11u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    for case in 0..12 {
        let (mut now, mut rows) = (0, Vec::new());
        for _ in 0..60 {
            now += [0, 0, 1, 2, 5, 10][next(6) as usize];
            rows.push((now, ["a", "b", "c"][next(3) as usize], next(3) > 0));
        }
        let line = |(time, ip, failed): &(u64, &str, bool)| format!("{time},{ip},{}\n", u8::from(*failed));
        let log = "time,ip,failed\n".to_owned() + &rows.iter().map(line).collect::<String>();
        let log = file("windows-failures", &format!("{case}.csv"), &log);
        let bad = |at: &usize| {
            let (time, ip, _) = rows[*at];
            let near = |row: &&(u64, &str, bool)| row.1 == ip && row.2 && time - row.0 <= 10;
            rows[..=*at].iter().filter(near).count() > 3
        };
        let expected: Vec<usize> = (0..rows.len()).filter(bad).collect();
        let formula = "G (count[failed over 10s] <= 3)";
        let run = tracewise(&format!("check --violations all --output json --by ip -e '{formula}' {log}"));
        let found = &run.json()[0];
        let positions: Vec<usize> = found["violations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|v| v["position"].as_u64().unwrap() as usize)
            .collect();
        assert_eq!(positions, expected, "{log}");
        let run = tracewise(&format!("watch --output json --by ip -e '{formula}' {log}"));
        let told: Vec<usize> = run
            .json()
            .iter()
            .filter_map(|line| line["violation"]["position"].as_u64())
            .map(|position| position as usize)
            .collect();
        assert_eq!(told, expected, "{log}: {}", run.err);
    }
}

#[test]
fn what_windows_do_not_hold_is_refused() {
    let log = file("windows-refused", "t.csv", LOG);
    let plain = file("windows-refused", "p.csv", "a,x\n1,2\n");
    for (command, said) in [
        (format!("check --clock dense -e 'G (count[failed over 10s] <= 3)' {log}"), "--clock dense"),
        (format!("check --clock index -e 'G (count[failed over 10s] <= 3)' {log}"), "--clock index"),
        (format!("check -e 'G (count[a over 10s] <= 3)' {plain}"), "no timestamps"),
        (format!("check -e 'G (count[F failed over 3] <= 3)' {log}"), "`F`"),
        (format!("check -e 'G (count[last over 3] <= 3)' {log}"), "`last`"),
        (format!("check -e 'G (sum[x over 0] <= 3)' {log}"), "over 0 positions"),
        (format!("check -e 'G (histogram(3)[x over 3] > 3)' {log}"), "histogram"),
        (format!("check -e 'G (corr[x over 3] > 3)' {log}"), "corr"),
        (format!("check -e 'G (sum[9223372036854775807 over 3] > 3)' {log}"), "overflows"),
    ] {
        let run = tracewise(&command);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{command}");
        assert!(run.err.contains(said), "{command}: {}", run.err);
    }
    // Time that goes back is an error where windows measure it, and a warning elsewhere.
    let back = file("windows-refused", "back.csv", "time,x\n5,1\n3,2\n");
    assert_eq!(tracewise(&format!("check -e 'G (sum[x over 2s] < 9)' {back}")).code, 2);
    assert_eq!(tracewise(&format!("check -e 'G (sum[x over 2] < 9)' {back}")).code, 0);
}

/// A window holds what comes in it, looks back, and is computed before a log is split.
#[test]
fn windows_are_explained() {
    let run = tracewise("explain -e 'G (count[p over 10s] <= 1)'");
    assert!(run.out.contains("memory    what comes within 10s (`count[p over 10s]`), while"), "{}", run.out);
    assert!(run.out.contains("0 samples back (history), and 10s back in `count[p over 10s]`"), "{}", run.out);
    assert!(
        run.out.contains("not by `split` (`count[p over 10s]` is computed from other positions)"),
        "{}",
        run.out
    );
    let run = tracewise("explain -e 'G (max[p over 3] <= 1 -> F[0,5s] q)'");
    assert!(run.out.contains("the positions within 5s; what comes within 3 positions"), "{}", run.out);
    let run = tracewise("explain -e 'G (p <= 1)'");
    assert!(run.out.contains("memory    constant, while") && !run.out.contains("`split`"), "{}", run.out);
}

//! Parquet and Arrow through the command: a trace converted there and back gives the same verdicts.
#![cfg(feature = "parquet")]

mod common;

use common::{command, directory, root};

fn tracewise(arguments: &[&str]) -> (i32, String) {
    let output = command().current_dir(root()).args(arguments).output().expect("the binary runs");
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn verdicts_survive_conversion() {
    let directory = directory("parquet");
    for (spec, trace, code) in [
        ("examples/lock/lock.tw", "examples/lock/lock-bad.csv", 1),
        ("examples/door/door.tw", "examples/door/door-ok.csv", 0),
        ("examples/web/web.tw", "examples/web/requests-bad.jsonl", 1),
    ] {
        let (direct, expected) = tracewise(&["check", "--output", "json", "--no-explain", spec, trace]);
        assert_eq!(direct, code, "{trace}");
        for extension in ["parquet", "arrow"] {
            let converted = directory.join(format!("trace.{extension}")).display().to_string();
            assert_eq!(tracewise(&["convert", trace, "-o", &converted]).0, 0, "{trace} to {extension}");
            let (got, found) = tracewise(&["check", "--output", "json", "--no-explain", spec, &converted]);
            assert_eq!(got, code, "{converted}");
            let verdicts = |text: &str| -> Vec<serde_json::Value> {
                text.lines()
                    .map(|line| {
                        let object: serde_json::Value =
                            serde_json::from_str(line).expect("one object per line");
                        serde_json::json!([
                            object["property"],
                            object["verdict"],
                            object["position"],
                            object["time"]
                        ])
                    })
                    .collect()
            };
            assert_eq!(verdicts(&found), verdicts(&expected), "{trace} as {extension}");
        }
    }
}

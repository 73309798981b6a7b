//! Many of something: work in proportion to it, within limits of processor time and addresses.

use crate::common::{Run, command, directory, finish};
use std::path::Path;
use std::process::Command;

/// A run with so many seconds of processor time and so many KiB of addresses; one that takes more has no exit code of ours.
fn limited(folder: &Path, seconds: u32, kilobytes: u32, line: &str) -> Run {
    let binary = command().get_program().to_owned();
    let limits = format!("ulimit -t {seconds}; ulimit -v {kilobytes}; exec \"$0\" {line}");
    finish(Command::new("sh").current_dir(folder).args(["-c", &limits]).arg(binary), "")
}

/// The start of a watch is linear in the number of properties.
#[test]
fn many_properties_are_watched() {
    let folder = directory("many-properties");
    let property = |at: usize| format!("property p{at} : G (a{} -> F b{});\n", at % 50, at % 37);
    std::fs::write(folder.join("s.tw"), (0..8_000).map(property).collect::<String>()).unwrap();
    let names = (0..50).map(|at| format!("a{at}")).chain((0..37).map(|at| format!("b{at}")));
    let header: Vec<String> = names.collect();
    let cells = vec!["true"; header.len()].join(",");
    std::fs::write(folder.join("t.csv"), format!("{}\n{cells}\n", header.join(","))).unwrap();
    let run = limited(&folder, 60, 4_000_000, "watch s.tw t.csv");
    assert_eq!((run.code, run.out.lines().count()), (0, 8_000), "{}", run.err);
}

/// CSV with a column for each of very many keys would be empty cells: that is said, before they are written.
#[test]
fn rows_without_common_keys_are_not_written_as_a_table() {
    let folder = directory("many-keys");
    std::fs::write(
        folder.join("t.jsonl"),
        (0..60_000).map(|at| format!("{{\"k{at}\":1}}\n")).collect::<String>(),
    )
    .unwrap();
    let run = limited(&folder, 60, 2_000_000, "convert t.jsonl -o t.csv");
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(run.err.contains("60000 columns") && run.err.contains("--to jsonl"), "{}", run.err);
    assert!(!folder.join("t.csv").exists());
}

/// Specifications of other monitors are read in proportion to their length.
#[test]
fn many_lines_are_imported() {
    let folder = directory("many-lines");
    let line = |at: usize| format!("out{at} = always((x{at} > {at}) implies eventually[0:5](y > 1))\n");
    std::fs::write(folder.join("s.rtamt"), (0..20_000).map(line).collect::<String>()).unwrap();
    let run = limited(&folder, 60, 4_000_000, "import --from rtamt s.rtamt -o s.tw");
    assert!(run.code == 0 && folder.join("s.tw").exists(), "{} {}", run.code, run.err);
}

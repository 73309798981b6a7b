//! Runs the built command.

use std::io::Write;
use std::process::{Command, Stdio};
use tracewise::error::Setting;

pub use crate::shared::{directory, words};

/// What a run left behind.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Run {
    /// The lines of standard output as JSON.
    pub fn json(&self) -> Vec<serde_json::Value> {
        json_lines(&self.out)
    }

    /// The lines of standard error as JSON.
    pub fn errors(&self) -> Vec<serde_json::Value> {
        json_lines(&self.err)
    }
}

fn json_lines(text: &str) -> Vec<serde_json::Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

/// The command in the directory of the test data.
pub fn command() -> Command {
    let mut command = crate::shared::command();
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data"));
    command
}

/// Runs with arguments (split at white space, `'…'` kept together) and nothing on standard input.
pub fn tracewise(line: &str) -> Run {
    finish(command().args(words(line)), "")
}

/// The same with a text on standard input.
pub fn tracewise_with(line: &str, input: &str) -> Run {
    finish(command().args(words(line)), input)
}

/// Runs a prepared command.
pub fn finish(command: &mut Command, input: &str) -> Run {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    // It may exit without reading.
    let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("the command ends");
    let run = Run {
        code: output.status.code().expect("an exit code, not a signal"),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    };
    let arguments: Vec<_> = command.get_args().map(|own| own.to_string_lossy().into_owned()).collect();
    crate::shared::schema::hold(arguments.iter().map(String::as_str), &run.out);
    // Errors and warnings are JSON, too, where JSON was asked for and understood.
    let told: Vec<&str> = run.err.lines().filter(|line| line.starts_with('{')).collect();
    crate::shared::schema::hold(arguments.iter().map(String::as_str), &told.join("\n"));
    // Users of the command read flags.
    let unspelled = [&run.out, &run.err].map(|text| Setting::named_in(text));
    assert_eq!(unspelled, [vec![], vec![]], "settings of the library in {run:?}");
    run
}

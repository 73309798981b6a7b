//! What tests of the built command share, whichever way they run it.

// Each program of tests takes some of it.
#![allow(dead_code)]

pub mod schema;

use std::path::PathBuf;
use std::process::Command;

/// The command, away from the tester's own settings.
pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracewise"));
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        command.env_remove(name);
    }
    command
}

/// The words of a line, what stands in `'…'` kept together.
pub fn words(line: &str) -> Vec<&str> {
    let of = |(index, part): (usize, _)| match index % 2 {
        0 => str::split_whitespace(part).collect(),
        _ => vec![part],
    };
    line.split('\'').enumerate().flat_map(of).collect()
}

/// The root of the repository.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// A fresh directory for one test, by a name that no other has: `watch/alarm`.
pub fn directory(test: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a directory for the test");
    path
}

//! Files that the command writes: whole or not at all, as they were permitted, where links lead.
#![cfg(unix)]

use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn place(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("files-{test}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("trace.csv"), "event,p\na,1\nb,0\n").unwrap();
    std::fs::write(folder.join("crooked.tw"), "property   x :   G p ;\n").unwrap();
    std::fs::write(folder.join("spec.stl"), "G[0:3](p > 0.5)\n").unwrap();
    std::fs::write(folder.join("run.spl"), include_str!("../../../../../examples/spl/mux-sem.spl")).unwrap();
    folder
}

fn run(folder: &Path, command: &str, out: Stdio) -> Output {
    let arguments = command.split_whitespace();
    let tracewise = env!("CARGO_BIN_EXE_tracewise");
    Command::new(tracewise)
        .args(arguments)
        .current_dir(folder)
        .stdout(out)
        .stderr(Stdio::piped())
        .output()
        .unwrap()
}

/// Commands that write a file, and the file.
const WRITERS: [(&str, &str); 6] = [
    ("fmt --write crooked.tw", "crooked.tw"),
    ("import --from rtamt spec.stl -o out.tw", "out.tw"),
    ("convert trace.csv -o out.jsonl", "out.jsonl"),
    ("merge --keep state --state event trace.csv -o out.smv", "out.smv"),
    ("simulate run.spl --steps 5 -o out.csv", "out.csv"),
    ("query --at all -e count[p] trace.csv --plot out.svg", "out.svg"),
];

#[test]
fn permissions_and_links_stay_and_nothing_is_left_over() {
    for (number, (command, file)) in WRITERS.into_iter().enumerate() {
        let folder = place(&format!("mode-{number}"));
        let (path, real) = (folder.join(file), folder.join("real"));
        if path.exists() {
            std::fs::rename(&path, &real).unwrap();
        } else {
            std::fs::write(&real, "old").unwrap();
        }
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o600)).unwrap();
        symlink("real", &path).unwrap();
        // A victim behind every name that a temporary file could be thought to have.
        std::fs::write(folder.join("victim"), "precious").unwrap();
        for suffix in ["new", "partial", "part", "tmp"] {
            symlink("victim", folder.join(format!("{file}.{suffix}"))).unwrap();
            symlink("victim", folder.join(format!("real.{suffix}"))).unwrap();
        }
        let before = std::fs::read_dir(&folder).unwrap().count();
        let found = run(&folder, command, Stdio::null());
        let told = String::from_utf8_lossy(&found.stderr);
        assert_eq!(found.status.code(), Some(0), "{command}: {told}");
        assert!(std::fs::symlink_metadata(&path).unwrap().is_symlink(), "{command} replaced the link");
        assert_ne!(std::fs::read(&real).unwrap(), b"old", "{command} wrote elsewhere");
        assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600, "{command}");
        assert_eq!(
            std::fs::read(folder.join("victim")).unwrap(),
            b"precious",
            "{command} followed a planted link"
        );
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), before, "{command} left something behind");
    }
}

#[test]
fn what_cannot_be_written_is_an_error_everywhere() {
    let folder = place("full");
    let commands = [
        "--help",
        "--version",
        "check --help",
        "merge --keep state --state event trace.csv -o -",
        "convert trace.csv --to jsonl -o -",
        "simulate run.spl --steps 5 -o -",
        "fmt crooked.tw",
        "import --from rtamt spec.stl",
        "inspect trace.csv",
        "check -e F(p==1) trace.csv",
        "eval -e p==1 trace.csv",
        "explain -e G(p)",
        "watch -e F(p==1) trace.csv",
        "completions bash",
        "man",
    ];
    for command in commands {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let found = run(&folder, command, full.into());
        let told = String::from_utf8_lossy(&found.stderr);
        assert_eq!(found.status.code(), Some(2), "{command}: {told}");
        assert!(told.contains("No space left") || told.contains("cannot write"), "{command}: {told}");
    }
    let found = run(&folder, "convert trace.csv --to jsonl -o /dev/full", Stdio::null());
    assert_eq!(found.status.code(), Some(2));
}

#[test]
fn devices_are_written_to() {
    let folder = place("null");
    for command in
        ["convert trace.csv --to jsonl -o /dev/null", "simulate run.spl --steps 5 --format csv -o /dev/null"]
    {
        let found = run(&folder, command, Stdio::null());
        let told = String::from_utf8_lossy(&found.stderr);
        assert_eq!(found.status.code(), Some(0), "{command}: {told}");
        assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
    }
}

#[test]
fn what_never_ends_is_refused_with_its_limit() {
    let folder = place("endless");
    std::fs::File::create(folder.join("huge.spl")).unwrap().set_len((64 << 20) + 1).unwrap();
    for command in [
        "fmt --write /dev/zero",
        "check /dev/zero trace.csv",
        "import --from rtamt /dev/zero",
        "simulate huge.spl --steps 5 -o -",
    ] {
        let found = run(&folder, command, Stdio::null());
        let told = String::from_utf8_lossy(&found.stderr);
        assert_eq!(found.status.code(), Some(2), "{command}: {told}");
        assert!(told.contains("larger than 64 MiB"), "{command}: {told}");
    }
}

/// Standard output under its name in `/dev`, a pipe or a file that others write to as well: nothing of theirs is lost.
#[test]
#[cfg(target_os = "linux")]
fn standard_output_can_be_named() {
    let folder = place("stdout");
    for name in ["/dev/stdout", "/proc/self/fd/1"] {
        let piped = run(&folder, &format!("convert trace.csv --to jsonl -o {name}"), Stdio::piped());
        assert!(piped.status.success(), "{piped:?}");
        assert!(
            String::from_utf8_lossy(&piped.stdout).starts_with("{\"event\":\"a\",\"p\":1}\n"),
            "{piped:?}"
        );
        let log = folder.join("log");
        let mut shared = std::fs::File::create(&log).unwrap();
        shared.write_all(b"before\n").unwrap();
        let own = shared.try_clone().unwrap();
        let filed = run(&folder, &format!("convert trace.csv --quiet --to jsonl -o {name}"), own.into());
        assert!(filed.status.success(), "{filed:?}");
        shared.write_all(b"after\n").unwrap();
        let text = std::fs::read_to_string(&log).unwrap();
        assert_eq!(text, "before\n{\"event\":\"a\",\"p\":1}\n{\"event\":\"b\",\"p\":0}\nafter\n", "{name}");
    }
}

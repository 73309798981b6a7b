//! `record`: real programs run unharmed, what they do is in the trace whole and in order, and mistakes are found while they run.
//! The programs are compiled by gcc; where there is none the tests say that they were left out.

#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod shared;

mod mistakes;
mod programs;
mod sound;
mod traced;

use mistakes::MORE;
use programs::{COUNTING, HEAD, SIGNALS, WILD, WRONG};
use serde_json::Value;
use std::collections::HashMap;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Whether a program is there; otherwise what is left out is said.
fn there(program: &str, what: &str) -> bool {
    let there = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let there = there.is_ok_and(|status| status.success());
    if !there {
        eprintln!("{program} is not there: {what} left out");
    }
    there
}

fn compile(directory: &Path, name: &str, text: &str) -> PathBuf {
    compile_with(directory, name, &["-O0"], text)
}

fn compile_with(directory: &Path, name: &str, options: &[&str], text: &str) -> PathBuf {
    let (source, program) = (directory.join(format!("{name}.c")), directory.join(name));
    std::fs::write(&source, format!("{HEAD}{text}")).unwrap();
    let mut gcc = Command::new("gcc");
    let done = gcc
        .arg("-w")
        .args(options)
        .arg("-o")
        .arg(&program)
        .arg(&source)
        .args(["-lpthread", "-lutil"])
        .status();
    assert!(done.expect("gcc runs").success(), "{name} does not compile");
    program
}

fn record(options: &[&str], program: &Path, arguments: &[&str]) -> Output {
    let mut command = shared::command();
    command.arg("record").args(options).arg("--").arg(program).args(arguments);
    command.stdin(Stdio::null()).output().expect("the command runs")
}

fn plain(program: &Path, arguments: &[&str]) -> Output {
    Command::new(program).args(arguments).stdin(Stdio::null()).output().expect("the program runs")
}

fn lines(trace: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(trace).expect("a trace");
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

fn is(line: &Value, event: &str) -> bool {
    line["event"] == event
}

#[test]
fn seeded_mistakes_are_found_and_the_status_is_the_programs() {
    if !there("gcc", "seeded mistakes") {
        return;
    }
    let directory = shared::directory("record/wrong");
    for (rule, said, text) in WRONG.iter().chain(MORE) {
        let program = compile(&directory, rule, text);
        let run = record(&["--only", rule, "--library", "posix"], &program, &[]);
        let err = String::from_utf8_lossy(&run.stderr);
        assert!(err.contains(&format!("✗ {rule}")) && err.contains(said), "{rule}: {err}");
        let alone = plain(&program, &[]).status;
        assert_eq!((run.status.code(), run.status.signal()), (alone.code(), alone.signal()), "{rule}: {err}");
    }
}

#[test]
fn a_double_free_is_told_before_libc_stops_the_program() {
    if !there("gcc", "the double free") {
        return;
    }
    let directory = shared::directory("record/double-free");
    let (.., text) = WRONG.iter().find(|(rule, ..)| *rule == "DoubleFree").unwrap();
    let run = record(&["--library", "posix"], &compile(&directory, "twice", text), &[]);
    let err = String::from_utf8_lossy(&run.stderr);
    let (told, stopped) =
        (err.find("✗ DoubleFree").expect(&err), err.find("double free detected").expect(&err));
    assert!(told < stopped, "{err}");
    assert_eq!(run.status.signal(), Some(6), "{err}");
}

#[test]
fn threads_lose_and_reorder_no_event() {
    if !there("gcc", "the counting program") {
        return;
    }
    let directory = shared::directory("record/counting");
    let (program, trace) = (compile(&directory, "counting", COUNTING), directory.join("trace.jsonl"));
    let run = record(&["-o", trace.to_str().unwrap()], &program, &[]);
    assert_eq!(run.stdout, b"160000\n");
    let (mut turn, mut own, mut holder) = (0, HashMap::new(), None);
    for line in lines(&trace) {
        if is(&line, "pthread_mutex_lock") {
            assert_eq!(holder, None, "two threads hold the lock: {line}");
            holder = Some(line["thread"].clone());
        } else if is(&line, "pthread_mutex_unlock") {
            assert_eq!(holder.take(), Some(line["thread"].clone()), "{line}");
        } else if is(&line, "pwrite") {
            // What happens under the lock is in the order of the lock, over all threads.
            assert_eq!((line["offset"].as_i64(), holder.as_ref()), (Some(turn), Some(&line["thread"])));
            turn += 1;
        } else if is(&line, "lseek") {
            // Each thread's own order.
            let next = own.entry(line["fd"].as_i64()).or_insert(0);
            assert_eq!(line["offset"].as_i64(), Some(*next), "{line}");
            *next += 1;
        }
    }
    assert_eq!((turn, own.len()), (160_000, 8));
    assert!(own.values().all(|count| *count == 20_000), "{own:?}");
    let last = lines(&trace).pop().unwrap();
    assert!(is(&last, "recorded") && last["whole"] == true && last["lost"] == 0, "{last}");
}

#[test]
fn calls_of_signal_handlers_are_recorded_and_errno_is_kept() {
    if !there("gcc", "the program with signals") {
        return;
    }
    let directory = shared::directory("record/signals");
    let (program, trace) = (compile(&directory, "signals", SIGNALS), directory.join("trace.jsonl"));
    let run = record(&["-o", trace.to_str().unwrap()], &program, &[]);
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    let handled: i64 = String::from_utf8(run.stdout).unwrap().trim().parse().unwrap();
    let (mut calls, mut nested) = (0, 0);
    for line in lines(&trace).iter().filter(|line| is(line, "lseek")) {
        match line["fd"].as_i64() {
            Some(-7) => nested += 1,
            Some(-8) => {
                assert_eq!(line["offset"].as_i64(), Some(calls));
                calls += 1;
            }
            _ => panic!("{line}"),
        }
    }
    assert!(nested == handled && calls >= 200_000, "{nested} of {handled}, {calls}");
}

#[test]
fn the_trace_is_whole_up_to_forks_executions_closed_descriptors_and_the_kill() {
    if !there("gcc", "the wild program") {
        return;
    }
    let directory = shared::directory("record/wild");
    let (program, trace) = (compile(&directory, "wild", WILD), directory.join("trace.jsonl"));
    let run = record(&["-o", trace.to_str().unwrap()], &program, &[]);
    assert_eq!(run.status.signal(), Some(9), "{run:?}");
    let all = lines(&trace);
    let own = all[0]["pid"].as_i64().unwrap();
    let at = |event: &str, pid: &dyn Fn(i64) -> bool| {
        all.iter().position(|line| is(line, event) && line["pid"].as_i64().is_some_and(pid))
    };
    let child =
        all.iter().find(|line| is(line, "fork") && line["result"] != 0).unwrap()["result"].as_i64().unwrap();
    // The fork stands before what the child does, the wait behind its end.
    let fork = at("fork", &|pid| pid == own).unwrap();
    let chdir = at("chdir", &|pid| pid == child).unwrap();
    let ends = at("exit", &|pid| pid == child).unwrap();
    let wait = at("waitpid", &|pid| pid == own).unwrap();
    assert!(fork < chdir && chdir < ends && ends < wait, "{fork} {chdir} {ends} {wait}");
    // The child of vfork executes a program under its own number, which is recorded as such.
    let other = all.iter().find(|line| is(line, "vfork") && line["result"] != 0).unwrap()["result"].as_i64();
    assert!(
        all.iter()
            .any(|line| is(line, "start") && line["pid"].as_i64() == other && line["path"] != all[0]["path"])
    );
    // Every descriptor was closed, and what came then is there; so is what the executed program did before it was killed.
    assert!(all.iter().any(|line| is(line, "access") && line["path"] == "/still-here"));
    assert!(
        all.iter().any(|line| is(line, "write") && line["size"] == 9 && line["pid"].as_i64() == Some(own))
    );
    let [.., killed, last] = &all[..] else { panic!("too short") };
    assert!(is(killed, "killed") && killed["signal"] == "SIGKILL", "{killed}");
    assert!(is(last, "recorded") && last["whole"] == true && last["lost"] == 0, "{last}");
    assert_eq!(last["events"].as_u64(), Some(all.len() as u64 - 2));
    let err = String::from_utf8_lossy(&run.stderr);
    assert!(err.contains("ended by SIGKILL") && err.contains("the trace is whole up to there"), "{err}");
}

/// Real programs: the same output, errors aside, and the same status, with the library on.
#[test]
fn real_programs_run_unharmed() {
    let directory = shared::directory("record/real");
    let python = "import os,subprocess,threading,json\n\
        print(sorted(k for k in os.environ if 'PRELOAD' in k or 'TRACEWISE' in k))\n\
        t=[threading.Thread(target=lambda: json.dumps(list(range(1000)))) for _ in range(8)]\n\
        [x.start() for x in t];[x.join() for x in t]\n\
        print(subprocess.run(['sh','-c','echo $LD_PRELOAD; exit 5'],capture_output=True))\n\
        print(os.popen('echo popen').read(), os.system('exit 3'))\n\
        raise SystemExit(7)";
    let root = shared::root();
    let git = ["-C", root.to_str().unwrap(), "status", "--short"];
    let sql = "create table t(a); insert into t values(1),(2); select sum(a) from t;";
    let programs: &[(&str, &[&str])] = &[
        ("git", &git),
        ("git", &["-C", "/", "rev-parse", "HEAD"]),
        ("sqlite3", &[":memory:", sql]),
        ("python3", &["-c", python]),
        ("sh", &["-c", "ls / | sort | head -3; exit 4"]),
        ("sh", &["-c", "kill -TERM $$"]),
        ("cat", &["/etc/passwd"]),
        ("env", &[]),
    ];
    for (program, arguments) in programs {
        if !matches!(*program, "sh" | "cat" | "env") && !there(program, "its run") {
            continue;
        }
        let trace = directory.join("trace.jsonl");
        let before = shared::command().env_clear().get_program().to_owned();
        assert!(!before.is_empty());
        let run =
            record(&["--library", "posix", "-o", trace.to_str().unwrap()], Path::new(program), arguments);
        let mut alone = Command::new(program);
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
            alone.env_remove(name);
        }
        let alone = alone.args(*arguments).stdin(Stdio::null()).output().unwrap();
        let shown = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(
            shown(&run),
            shown(&alone),
            "{program} {arguments:?}: {}",
            String::from_utf8_lossy(&run.stderr)
        );
        assert_eq!(run.status.code(), alone.status.code(), "{program} {arguments:?}");
        assert_eq!(run.status.signal(), alone.status.signal(), "{program} {arguments:?}");
        let last = lines(&trace).pop().unwrap();
        assert!(is(&last, "recorded") && last["lost"] == 0 && last["unfinished"] == 0, "{program}: {last}");
    }
}

#[test]
fn what_cannot_be_recorded_is_said() {
    let directory = shared::directory("record/refused");
    let missing = record(&[], Path::new("no-such-program-anywhere"), &[]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&missing.stderr).contains("there is no program `no-such-program-anywhere`")
    );
    let nothing = shared::command().arg("record").output().unwrap();
    assert_eq!(nothing.status.code(), Some(2));
    let output = record(&["-o", "-"], Path::new("true"), &[]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    // What is in the files is still there.
    let kept = [directory.join("kept.jsonl"), directory.join("kept.txt")];
    kept.iter().for_each(|path| std::fs::write(path, "kept\n").unwrap());
    let [out, report] = kept.each_ref().map(|path| path.to_str().unwrap());
    for program in ["./no-such-program-anywhere", "/"] {
        let refused = record(&["-o", out, "--report", report, "--library", "posix"], Path::new(program), &[]);
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        assert!(kept.iter().all(|path| std::fs::read(path).unwrap() == b"kept\n"), "{program}");
    }
    if there("gcc", "the static program") {
        let (source, program) = (directory.join("s.c"), directory.join("static"));
        std::fs::write(&source, "int main() { return 0; }").unwrap();
        let made = Command::new("gcc").args(["-static", "-o"]).arg(&program).arg(&source).status();
        if made.is_ok_and(|status| status.success()) {
            let run = record(&[], &program, &[]);
            let err = String::from_utf8_lossy(&run.stderr);
            assert!(run.status.code() == Some(2) && err.contains("statically linked"), "{err}");
            // Executed by another program it runs, and that it is missing is said.
            let run = record(&[], Path::new("sh"), &["-c", &format!("exec {}", program.display())]);
            let err = String::from_utf8_lossy(&run.stderr);
            assert!(run.status.code() == Some(0) && err.contains("executed and not recorded"), "{err}");
        }
    }
}

#[test]
fn a_trace_is_what_its_name_says() {
    let directory = shared::directory("record/names");
    for name in ["t.jsonl", "t.jsonl.gz", "t.jsonl.zst", "t.log"] {
        let trace = directory.join(name);
        let run = record(&["-o", trace.to_str().unwrap()], Path::new("true"), &[]);
        assert_eq!(run.status.code(), Some(0), "{run:?}");
        let bytes = std::fs::read(&trace).unwrap();
        let magic: &[u8] = if name.ends_with("gz") {
            &[0x1f, 0x8b]
        } else if name.ends_with("zst") {
            &[0x28, 0xb5, 0x2f, 0xfd]
        } else {
            b"{"
        };
        assert!(bytes.starts_with(magic), "{name}");
        let found = shared::command().args(["check", "-e", "F event recorded"]).arg(&trace).output().unwrap();
        assert_eq!(found.status.code(), Some(0), "{name}: {found:?}");
    }
    for name in ["t.csv", "t.props", "t.csv.gz"] {
        let trace = directory.join(name);
        let _ = std::fs::remove_file(&trace);
        let run = record(&["-o", trace.to_str().unwrap()], Path::new("true"), &[]);
        let err = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.code() == Some(2) && err.contains("lines of JSON are recorded"), "{name}: {err}");
        assert!(!trace.exists(), "{name}");
    }
}

#[test]
fn fail_makes_a_violation_the_exit_code() {
    if !there("gcc", "--fail") {
        return;
    }
    let directory = shared::directory("record/fail");
    let (.., text) = WRONG[0];
    let program = compile(&directory, "wrong", text);
    assert_eq!(plain(&program, &[]).status.code(), Some(0));
    // A warning counts where warnings are denied, and only with --fail.
    let warned = compile(
        &directory,
        "warned",
        "int main() { void *volatile p = malloc(10); p = realloc(p, 0); return 0; }",
    );
    for (options, code) in
        [(&["--fail"][..], 0), (&["--deny", "warnings"], 0), (&["--fail", "--deny", "warnings"], 1)]
    {
        let run = record(options, &warned, &[]);
        assert_eq!(run.status.code(), Some(code), "{options:?}: {run:?}");
    }
    let report = directory.join("report.jsonl");
    let report = report.to_str().unwrap();
    let run = record(&["--fail", "--report", report, "--output", "json"], &program, &[]);
    assert_eq!(run.status.code(), Some(1), "{run:?}");
    let told = std::fs::read_to_string(report).expect("a report");
    shared::schema::hold(["record", "--output", "json"].into_iter(), &told);
    let found = lines(Path::new(report));
    let found = found.iter().find(|line| line["property"] == "UseAfterClose").expect("told as JSON");
    assert_eq!(found["violation"]["bindings"]["f"], 3, "{found}");
}

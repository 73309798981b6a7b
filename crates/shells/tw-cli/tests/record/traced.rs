//! The same rules over what `strace -f -ttt` writes of real programs: calls that threads interrupt, signals, ends of processes.

use super::programs::{HEAD, WRONG};
use super::{compile, compile_with, shared, there};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Several threads in calls at the same time, so that most lines are unfinished or resumed; signals; a child.
const BUSY: &str = "
void handler(int s) { }
void *run(void *x) { int p[2]; char c; for (int i = 0; i < 200; i++) { pipe(p); write(p[1], \"x\", 1); read(p[0], &c, 1); close(p[0]); close(p[1]);
  void *m = mmap(0, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); munmap(m, 65536); } return 0; }
int main() { signal(SIGUSR1, handler); pthread_t t[4]; for (int i = 0; i < 4; i++) pthread_create(t + i, 0, run, 0);
  for (int i = 0; i < 50; i++) { kill(getpid(), SIGUSR1); usleep(100); } for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
  int c = fork(); if (!c) _exit(3); waitpid(c, 0, 0); return 0; }
";

fn strace(trace: &Path, program: &[&str]) -> bool {
    let mut command = Command::new("strace");
    command.args(["-f", "-ttt", "-o"]).arg(trace).args(program).stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn check(trace: &Path) -> Output {
    shared::command().args(["check", "--library", "posix"]).arg(trace).output().unwrap()
}

#[test]
fn what_strace_writes_is_judged_by_the_same_rules() {
    if !there("gcc", "programs under strace") || !there("strace", "programs under strace") {
        return;
    }
    assert!(HEAD.contains("unistd.h"));
    let directory = shared::directory("record/strace");
    let trace = |name: &str| -> PathBuf { directory.join(format!("{name}.strace")) };
    let (rule, said, text) = WRONG[0];
    let wrong = compile(&directory, "wrong", text);
    if !strace(&trace("wrong"), &[wrong.to_str().unwrap()]) {
        eprintln!("strace may not trace here: left out");
        return;
    }
    let found = check(&trace("wrong"));
    let out = String::from_utf8_lossy(&found.stdout);
    assert!(found.status.code() == Some(1) && out.contains(rule) && out.contains(said), "{out}");
    // Threads interrupt each other's calls, and nothing is wrong with what they do.
    let busy = compile_with(&directory, "busy", &[], BUSY);
    assert!(strace(&trace("busy"), &[busy.to_str().unwrap()]));
    let text = std::fs::read_to_string(trace("busy")).unwrap();
    assert!(text.contains("<unfinished ...>") && text.contains("resumed>") && text.contains("--- SIGUSR1"));
    let found = check(&trace("busy"));
    let out = String::from_utf8_lossy(&found.stdout);
    assert!(found.status.code() == Some(0), "{out}{}", String::from_utf8_lossy(&found.stderr));
    // Real programs: every line is read.
    for (name, program) in
        [("shell", &["sh", "-c", "ls / | sort | head -3; kill -TERM $$"][..]), ("git", &["git", "--version"])]
    {
        strace(&trace(name), program);
        if std::fs::metadata(trace(name)).is_ok_and(|data| data.len() > 0) {
            let found = check(&trace(name));
            let err = String::from_utf8_lossy(&found.stderr);
            assert!(matches!(found.status.code(), Some(0 | 1)), "{name}: {err}");
        }
    }
}

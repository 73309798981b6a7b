//! Programs without a mistake that do what is hard to record: they run as they do alone, their trace is whole, and no rule finds anything.

use super::{compile_with, lines, plain, record, shared, there};
use std::collections::HashMap;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Name, options of the compiler, program. What it does is the first line.
const SOUND: &[(&str, &[&str], &str)] = &[
    (
        "first-thread-ends",
        &[],
        "// Its first thread ends before the others: the process looks like one that has ended.
void *run(void *x) { for (int i = 0; i < 12; i++) { usleep(30000); lseek(-9, i, 0); } return 0; }
int main() { pthread_t t; pthread_create(&t, 0, run, 0); pthread_detach(t); pthread_exit(0); }",
    ),
    (
        "waves",
        &[],
        "// Stacks of threads are made, kept and freed: blocks that libc allocates in one call and frees in another.
void *run(void *x) { usleep(2000); return 0; }
int main() { for (int r = 0; r < 20; r++) { pthread_t t[40]; for (int i = 0; i < 40; i++) pthread_create(t + i, 0, run, 0);
  for (int i = 0; i < 40; i++) pthread_join(t[i], 0); } return 0; }",
    ),
    (
        "late-frees",
        &[],
        "// More threads than there are places to write, one after the other, with memory that libc frees after their end.
void *run(void *x) { strerror(123456 + (long)x); return 0; }
int main() { for (long i = 0; i < 3000; i++) { pthread_t t; pthread_create(&t, 0, run, (void *)i); pthread_join(t, 0); } return 0; }",
    ),
    (
        "detached",
        &[],
        "// Threads that are detached from the beginning and call nothing.
void *run(void *x) { usleep(100); return 0; }
int main() { pthread_attr_t d; pthread_attr_init(&d); pthread_attr_setdetachstate(&d, PTHREAD_CREATE_DETACHED);
  for (long i = 0; i < 2000; i++) { pthread_t t; while (pthread_create(&t, &d, run, 0)) usleep(100); } usleep(100000); return 0; }",
    ),
    (
        "c11-threads",
        &[],
        "// Threads that are not made by pthread_create.
#include <threads.h>
int run(void *x) { free(malloc(10)); return 0; }
int main() { for (int i = 0; i < 1500; i++) { thrd_t t; thrd_create(&t, run, 0); thrd_join(t, 0); } return 0; }",
    ),
    (
        "pages",
        &[],
        "// The old forms of memalign: the same address again and again.
int main() { for (int i = 0; i < 5; i++) { void *volatile p = valloc(100); free(p); p = pvalloc(100); free(p); } return 0; }",
    ),
    (
        "memory-streams",
        &[],
        "// Streams that are no files, at the same address, with blocks that become the program's.
int main() { for (int i = 0; i < 5; i++) { char *p; size_t n; FILE *f = open_memstream(&p, &n); for (int k = 0; k < 2000; k++) fputs(\"hello\", f); fclose(f); free(p);
  char all[9]; f = fmemopen(all, 9, \"w\"); fputs(\"x\", f); fclose(f);
  cookie_io_functions_t none = {0}; f = fopencookie(all, \"w\", none); fclose(f); } return 0; }",
    ),
    (
        "timed-locks",
        &[],
        "// Locks with a limit of time, by every clock.
int main() { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); t.tv_sec++; pthread_mutex_clocklock(&a, CLOCK_MONOTONIC, &t); pthread_mutex_unlock(&a);
  pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER; clock_gettime(CLOCK_REALTIME, &t); t.tv_sec++; pthread_rwlock_timedrdlock(&r, &t); pthread_rwlock_unlock(&r);
  pthread_rwlock_timedwrlock(&r, &t); pthread_rwlock_unlock(&r); pthread_rwlock_clockwrlock(&r, CLOCK_REALTIME, &t); pthread_rwlock_unlock(&r); return 0; }",
    ),
    (
        "cancelled",
        &[],
        "// A thread is cancelled while it waits: it has the lock then, and gives it back.
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
void unlocks(void *m) { pthread_mutex_unlock(m); }
void *run(void *x) { pthread_mutex_lock(&a); pthread_cleanup_push(unlocks, &a); for (;;) pthread_cond_wait(&c, &a); pthread_cleanup_pop(1); return 0; }
void *reads(void *f) { char s[9]; fgets(s, 9, f); return 0; }
int main() { pthread_t t; void *r; int p[2]; pthread_create(&t, 0, run, 0); usleep(10000); pthread_cancel(t); pthread_join(t, &r);
  pipe(p); FILE *f = fdopen(p[0], \"r\"); pthread_create(&t, 0, reads, f); usleep(10000); pthread_cancel(t); pthread_join(t, 0); fclose(f); close(p[1]);
  return r != PTHREAD_CANCELED; }",
    ),
    (
        "robust",
        &[],
        "// A lock whose owner, another process, has ended is taken over.
int main() { pthread_mutex_t *m = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); pthread_mutexattr_t k; pthread_mutexattr_init(&k);
  pthread_mutexattr_setrobust(&k, PTHREAD_MUTEX_ROBUST); pthread_mutexattr_setpshared(&k, PTHREAD_PROCESS_SHARED); pthread_mutex_init(m, &k);
  int c = fork(); if (!c) { pthread_mutex_lock(m); _exit(0); } waitpid(c, 0, 0);
  if (pthread_mutex_lock(m) != EOWNERDEAD) return 9; pthread_mutex_consistent(m); pthread_mutex_unlock(m); munmap(m, 4096); return 0; }",
    ),
    (
        "handlers-of-fork",
        &[],
        "// What is locked before a fork is unlocked in the child before fork returns there.
void locks(void) { pthread_mutex_lock(&a); } void unlocks(void) { pthread_mutex_unlock(&a); }
int main() { pthread_atfork(locks, unlocks, unlocks); int c = fork(); if (!c) { pthread_mutex_lock(&a); pthread_mutex_unlock(&a); _exit(0); }
  waitpid(c, 0, 0); return 0; }",
    ),
    (
        "waits",
        &[],
        "// Every call that waits for a child, and for a thread.
#include <sys/resource.h>
void *run(void *x) { usleep(2000); return 0; }
int main() { int s, c; struct rusage u; siginfo_t i; if (!fork()) _exit(0); wait3(&s, 0, &u); c = fork(); if (!c) _exit(0); wait4(c, &s, 0, &u);
  c = fork(); if (!c) _exit(0); waitid(P_PID, c, &i, WEXITED); if (i.si_pid != c) return 9;
  pthread_t t; pthread_create(&t, 0, run, 0); while (pthread_tryjoin_np(t, 0)) usleep(500);
  struct timespec l; clock_gettime(CLOCK_REALTIME, &l); l.tv_sec += 5; pthread_create(&t, 0, run, 0); pthread_timedjoin_np(t, 0, &l); return 0; }",
    ),
    (
        "vfork-memory",
        &[],
        "// What a child of vfork allocates is its parent's: freed by the one, allocated by the other. What it closes is its own.
int main() { int f = open(\"/dev/null\", O_RDONLY); char *volatile p = malloc(100); free(p); FILE *volatile s = fopen(\"/dev/null\", \"r\"); pthread_mutex_lock(&b);
  if (!vfork()) { p = malloc(100); fclose(s); pthread_mutex_unlock(&b); close(f); _exit(0); }
  wait(0); free(p); s = fopen(\"/dev/null\", \"r\"); fclose(s); pthread_mutex_lock(&b); pthread_mutex_unlock(&b); close(f); return 0; }",
    ),
    (
        "fortified",
        &["-O1", "-D_FORTIFY_SOURCE=2"],
        "// Calls that a fortified build makes in their place.
__attribute__((noinline)) int get(int f, size_t n) { char to[64]; struct sockaddr_storage from; socklen_t l = sizeof from;
  int r = recvfrom(f, to, n, 0, (void *)&from, &l); return r == 5 && l == sizeof(struct sockaddr_in) ? 0 : 9; }
int main(int c, char **v) { struct sockaddr_in x = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}; socklen_t l = sizeof x;
  int s = socket(AF_INET, SOCK_DGRAM, 0); bind(s, (void *)&x, l); getsockname(s, (void *)&x, &l); sendto(s, \"hello\", 5, 0, (void *)&x, l);
  int r = get(s, c * 64); close(s); return r; }",
    ),
    (
        "low-addresses",
        &["-no-pie", "-static-libgcc"],
        "// A program at low addresses, where a block's number is small.
int main() { void *p = 0; return posix_memalign(&p, 64, 100) || (free(p), 0); }",
    ),
    (
        "no-environment",
        &[],
        "// Executed without an environment, and with another library to load.
int main(int n, char **v) { char *none[] = {0}, *again[] = {v[0], \"1\", 0}, *third[] = {v[0], \"1\", \"2\", 0};
  if (n == 1) execve(\"/proc/self/exe\", again, none);
  if (n == 2) { if (environ[0]) return 9; setenv(\"LD_PRELOAD\", \"libm.so.6\", 1); execv(\"/proc/self/exe\", third); }
  puts(getenv(\"LD_PRELOAD\")); return n == 3 ? 5 : 8; }",
    ),
    (
        "mapped-blocks",
        &[],
        "// An allocator of the program's own gives out what it mapped, at the very address.
int main() { char *p = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); munmap(p, 8192); char *volatile q = malloc(200000); free(q); return 0; }",
    ),
    (
        "many-processes",
        &[],
        "// More processes at once than there are places to write.
int main() { int n = 0; for (int i = 0; i < 1100; i++) { int c = fork(); if (!c) { usleep(200000); access(\"/\", 0); _exit(0); } n += c > 0; }
  for (int i = 0; i < n; i++) wait(0); return 0; }",
    ),
];

#[test]
fn sound_programs_are_unharmed_whole_and_not_blamed() {
    if !there("gcc", "sound programs") {
        return;
    }
    let directory = shared::directory("record/sound");
    for (name, options, text) in SOUND {
        let (program, trace) =
            (compile_with(&directory, name, options, text), directory.join(format!("{name}.jsonl")));
        let run = record(&["--library", "posix", "-o", trace.to_str().unwrap()], &program, &[]);
        let (alone, err) = (plain(&program, &[]), String::from_utf8_lossy(&run.stderr));
        assert_eq!((&run.stdout, run.status.code()), (&alone.stdout, alone.status.code()), "{name}: {err}");
        assert!(!err.contains('✗') && !err.contains("error"), "{name}: {err}");
        let last = lines(&trace).pop().unwrap();
        assert!(last["event"] == "recorded" && last["whole"] == true, "{name}: {last}");
    }
}

/// A handler that leaves by longjmp, out of whatever it interrupted, on the same stack and on another one.
const JUMPS: &str = "
#include <setjmp.h>
#include <sys/time.h>
sigjmp_buf where;
volatile long jumps, i;
void handler(int s) { jumps++; lseek(-7, jumps, SEEK_SET); siglongjmp(where, 1); }
int main(int n, char **v) {
    stack_t other = {.ss_sp = malloc(65536), .ss_size = 65536};
    struct sigaction how = {.sa_handler = handler, .sa_flags = n > 1 ? SA_ONSTACK : 0};
    if (n > 1) sigaltstack(&other, 0);
    sigaction(SIGALRM, &how, 0);
    struct itimerval every = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &every, 0);
    sigsetjmp(where, 1);
    while (i < 200000 || jumps < 50) { lseek(-8, i, SEEK_SET); i++; }
    setitimer(ITIMER_REAL, &never, 0);
    return 0;
}
";

#[test]
fn handlers_that_leave_by_longjmp_stop_nothing() {
    if !there("gcc", "the program that jumps") {
        return;
    }
    let directory = shared::directory("record/jumps");
    let (program, trace) = (compile_with(&directory, "jumps", &[], JUMPS), directory.join("trace.jsonl"));
    for arguments in [&[][..], &["other"]] {
        let started = Instant::now();
        let run = record(&["-o", trace.to_str().unwrap()], &program, arguments);
        assert_eq!(run.status.code(), Some(0), "{run:?}");
        assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
        let (mut latest, mut calls, mut handled) = (-1, 0, 0);
        let all = lines(&trace);
        for line in all.iter().filter(|line| line["event"] == "lseek") {
            let offset = line["offset"].as_i64().unwrap();
            if line["fd"] == -8 {
                // A call that was left is made again: its number comes twice or once, never out of order.
                assert!(offset == latest || offset == latest + 1, "{offset} after {latest}");
                (latest, calls) = (offset, calls + 1);
            } else {
                handled += 1;
                assert_eq!(offset, handled, "the handlers' own calls are all there");
            }
        }
        assert!(calls >= 200_000 && handled >= 50, "{calls}, {handled}");
        let last = all.last().unwrap();
        assert!(last["event"] == "recorded" && last["lost"] == 0, "{last}");
    }
}

/// Threads, handlers and jumps together: each thread's numbers are in its order, and none is missing.
const STRESS: &str = "
volatile int stop;
void handler(int s) { lseek(-7, 0, SEEK_SET); free(malloc(s)); }
void *count(void *own) { for (long i = 0; i < 30000; i++) { lseek((int)(long)own, i, SEEK_SET); free(malloc(i % 200 + 1)); } return 0; }
int main() {
    pthread_t t[6];
    signal(SIGUSR1, handler);
    for (long i = 0; i < 6; i++) pthread_create(t + i, 0, count, (void *)(-100 - i));
    for (int i = 0; i < 3000; i++) { pthread_kill(t[i % 6], SIGUSR1); if (i % 10 == 0) usleep(50); }
    for (int i = 0; i < 6; i++) pthread_join(t[i], 0);
    return 0;
}
";

#[test]
fn threads_under_signals_keep_their_order_and_lose_nothing() {
    if !there("gcc", "the stress program") {
        return;
    }
    let directory = shared::directory("record/stress");
    // Without memory calls of the handler inside malloc, which no program may make, the rest is as hard as it gets.
    let text = STRESS.replace("free(malloc(s));", "");
    let (program, trace) =
        (compile_with(&directory, "stress", &["-fno-builtin"], &text), directory.join("trace.jsonl"));
    let run = record(&["-o", trace.to_str().unwrap()], &program, &[]);
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    let (mut next, mut blocks): (HashMap<_, i64>, HashMap<_, bool>) = Default::default();
    let all = lines(&trace);
    for line in &all {
        if line["event"] == "lseek" && line["fd"] != -7 {
            let next = next.entry(line["fd"].as_i64()).or_default();
            assert_eq!(line["offset"].as_i64(), Some(*next), "{line}");
            *next += 1;
        }
        // A block belongs to one thread at a time, whoever gets it next.
        let used = |block: &serde_json::Value| block.as_str().map(str::to_string);
        if line["event"] == "malloc" {
            assert!(!std::mem::replace(blocks.entry(used(&line["block"])).or_default(), true), "{line}");
        } else if line["event"] == "free" {
            blocks.insert(used(&line["block"]), false);
        }
    }
    assert_eq!(next.len(), 6);
    assert!(next.values().all(|count| *count == 30_000), "{next:?}");
    let last = all.last().unwrap();
    assert!(last["whole"] == true && last["lost"] == 0, "{last}");
}

#[test]
fn a_program_outlives_its_recorder() {
    if !there("gcc", "the program that outlives its recorder") {
        return;
    }
    let directory = shared::directory("record/outlives");
    let text =
        "int main() { for (long i = 0; i < 400000; i++) lseek(-9, i, 0); close(1); usleep(10); return 0; }";
    let program = compile_with(&directory, "outlives", &[], text);
    let mut command = shared::command();
    command.args(["record", "-o", directory.join("trace.jsonl").to_str().unwrap(), "--"]).arg(&program);
    let mut recorder =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(150));
    // Killed, and not waited for: its number stays taken, and the rings are full.
    recorder.kill().unwrap();
    let (started, mut rest) = (Instant::now(), Vec::new());
    // The pipe closes when the program does that.
    recorder.stdout.take().unwrap().read_to_end(&mut rest).unwrap();
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    recorder.wait().unwrap();
}

#[test]
fn a_trace_that_cannot_be_written_does_not_hide_how_the_program_ended() {
    let words = "for i in 1 2 3 4 5 6 7 8; do ls / > /dev/null; done; echo said";
    for (end, expected) in [("exit 4", Some(4)), ("exit 0", Some(2)), ("kill -9 $$", None)] {
        for library in [&[][..], &["--library", "posix"]] {
            let options = [&["-o", "/dev/full"], library].concat();
            let run = record(&options, Path::new("sh"), &["-c", &format!("{words}; {end}")]);
            let err = String::from_utf8_lossy(&run.stderr);
            assert_eq!(
                (run.stdout.as_slice(), run.status.code()),
                (&b"said\n"[..], expected),
                "{end}: {err}"
            );
            assert!(err.contains("cannot write the trace") && err.contains("recorded sh"), "{err}");
            assert_eq!(run.status.signal().is_some(), expected.is_none());
        }
    }
}

#[test]
fn what_runs_unseen_is_named() {
    if !there("gcc", "the static program") {
        return;
    }
    let directory = shared::directory("record/unseen");
    let source = directory.join("s.c");
    std::fs::write(&source, "int main() { return 3; }").unwrap();
    let silent = directory.join("static");
    let made = Command::new("gcc").args(["-static", "-o"]).arg(&silent).arg(&source).status();
    if made.is_ok_and(|status| status.success()) {
        let text = "#include <spawn.h>\nint main(int n, char **v) { int c, s; posix_spawn(&c, v[1], 0, 0, v + 1, environ); waitpid(c, &s, 0); return WEXITSTATUS(s); }";
        let program = compile_with(&directory, "spawns", &[], text);
        let run = record(&[], &program, &[silent.to_str().unwrap()]);
        let err = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.code() == Some(3) && err.contains("executed and not recorded"), "{err}");
    }
    // What becomes another user cannot load the library, and nobody but the summary says so.
    let text = "int main() { if (setuid(65534)) return 7; execl(\"/bin/echo\", \"echo\", \"said\", (char *)0); return 8; }";
    let program = compile_with(&directory, "other", &[], text);
    let (run, alone) = (record(&[], &program, &[]), plain(&program, &[]));
    let err = String::from_utf8_lossy(&run.stderr);
    assert_eq!((&run.stdout, run.status.code()), (&alone.stdout, alone.status.code()), "{err}");
    assert!(!err.contains("ld.so"), "{err}");
    if alone.status.code() == Some(0) {
        assert!(err.contains("`/bin/echo` was executed and not recorded"), "{err}");
    }
    // Too little memory for the library: the program runs, and that nothing is known of it is said.
    let run = record(&[], Path::new("sh"), &["-c", "ulimit -v 100000; exec /bin/echo said"]);
    let err = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.stdout, b"said\n", "{err}");
    assert!(err.contains("`/bin/echo` was executed and not recorded"), "{err}");
}

/// Name, program: its parent ends at once, and the child, which says nothing for a while, goes on.
const LEFT: &[(&str, &str)] = &[
    ("fork", "int main() { if (!fork()) { usleep(200000); access(\"/left\", 0); } return 0; }"),
    ("daemon", "int main() { if (daemon(0, 0)) return 9; usleep(200000); access(\"/left\", 0); return 0; }"),
    // A chain: the one in the middle says that it has a child, and is gone.
    (
        "twice",
        "int main() { if (fork()) return 0; setsid(); if (fork()) _exit(0); usleep(200000); access(\"/left\", 0); return 0; }",
    ),
    (
        "forkpty",
        "#include <pty.h>\nint main() { int m, c; signal(SIGHUP, SIG_IGN); c = forkpty(&m, 0, 0, 0); if (c < 0) return 9;\n\
         if (c) { usleep(60000); _exit(0); } usleep(300000); access(\"/left\", 0); return 0; }",
    ),
];

#[test]
fn children_that_are_left_behind_are_known_by_what_their_parents_said() {
    if !there("gcc", "programs that leave children") {
        return;
    }
    let directory = shared::directory("record/left");
    for (name, text) in LEFT {
        let program = compile_with(&directory, name, &[], text);
        let trace = directory.join(format!("{name}.jsonl"));
        let out = trace.to_str().unwrap();
        for _ in 0..5 {
            let run = record(&["-o", out, "--all"], &program, &[]);
            assert_eq!(run.status.code(), Some(0), "{name}: {run:?}");
            let all = lines(&trace);
            let left = all.iter().any(|line| line["event"] == "access" && line["path"] == "/left");
            assert!(left && all.last().unwrap()["running"] == 0, "{name}: {:?}", all.last());
            // Not waited for, it is said to run.
            let run = record(&["-o", out], &program, &[]);
            let (err, all) = (String::from_utf8_lossy(&run.stderr), lines(&trace));
            assert!(all.last().unwrap()["running"].as_u64() > Some(0), "{name}: {err}");
            assert!(err.contains("still running when") && !err.contains("without an exit"), "{name}: {err}");
        }
    }
}

#[test]
fn who_executes_a_program_is_one_thread() {
    let directory = shared::directory("record/executes");
    let trace = directory.join("trace.jsonl");
    let out = trace.to_str().unwrap();
    let run = record(&["-o", out], Path::new("sh"), &["-c", "exec sh -c 'exec echo said'"]);
    let err = String::from_utf8_lossy(&run.stderr);
    assert!(run.stdout == b"said\n" && err.contains("1 process, 1 thread;"), "{err}");
}

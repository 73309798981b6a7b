//! The header and the library, from C: compiled by gcc, linked with the library that this build made, run.

use std::path::{Path, PathBuf};
use std::process::Command;

fn library() -> PathBuf {
    // Beside this test, where cargo puts what it depends on.
    std::env::current_exe().expect("a path").parent().expect("a folder").to_path_buf()
}

#[test]
fn the_example_is_told_what_it_does_wrong() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("files");
    let built = Command::new("gcc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"])
        .arg(root.join("include"))
        .arg(root.join("examples/files.c"))
        .arg("-L")
        .arg(library())
        .args(["-ltw_capi", "-o"])
        .arg(&program)
        .status();
    let Ok(built) = built else {
        eprintln!("gcc is not there: the header was not compiled");
        return;
    };
    assert!(built.success());
    let run = Command::new(&program).env("LD_LIBRARY_PATH", library()).output().expect("it runs");
    let said = String::from_utf8(run.stdout).expect("UTF-8");
    assert_eq!(
        said,
        "error: Once reports `fail` at position 1 with file = \"a.txt\": a file is opened once at a time\n\
         warning: Left reports `violation` where the trace ends with file = \"a.txt\": every file is closed\n"
    );
    assert!(run.status.success());
}

#[test]
fn wrong_use_is_an_error_and_no_crash() {
    use tw_capi::{tracewise_error, tracewise_event, tracewise_finish, tracewise_free, tracewise_new};
    // SAFETY: what is passed is null or a text, and a monitor is freed once.
    unsafe {
        for text in [std::ptr::null(), c"property p : G (".as_ptr(), c"\xff".as_ptr()] {
            let monitor = tracewise_new(text);
            assert!(!tracewise_error(monitor).is_null());
            assert_eq!(
                tracewise_event(monitor, c"e".as_ptr(), std::ptr::null(), 0, None, std::ptr::null_mut()),
                -1
            );
            tracewise_free(monitor);
        }
        let monitor = tracewise_new(c"property p : G !e;".as_ptr());
        assert!(tracewise_error(monitor).is_null());
        assert_eq!(
            tracewise_event(monitor, std::ptr::null(), std::ptr::null(), 0, None, std::ptr::null_mut()),
            -1
        );
        assert!(!tracewise_error(monitor).is_null());
        assert_eq!(
            tracewise_event(monitor, c"e".as_ptr(), std::ptr::null(), 0, None, std::ptr::null_mut()),
            1
        );
        assert_eq!(tracewise_finish(monitor, None, std::ptr::null_mut()), 0);
        tracewise_free(monitor);
        tracewise_free(std::ptr::null_mut());
    }
}

/// What `generate c` writes is C, and calls what the header declares.
#[test]
fn the_generated_header_compiles_and_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let rules = "// \"quotes\" \\ and ??= trigraphs\nmonitor Twice(f) { event open(f); event fire(); ere : (open | fire)* open open; on match \"again {f}\"; }\n";
    let spec = tracewise::Specification::from_text("twice.tw", rules).expect("a specification");
    std::fs::write(folder.join("twice.h"), tracewise::generate::c(&spec).expect("a header"))
        .expect("written");
    let text = "#include \"twice.h\"\nint main(void) { tracewise_monitor *m = twice_new(); int f = 0;\n\
                if (tracewise_error(m)) return 9;\n\
                int all = twice_open(m, &f, 0, 0) + twice_fire(m, 0, 0) + twice_open(m, &f, 0, 0);\n\
                all += 10 * twice_open(m, &f, 0, 0); tracewise_free(m); return all; }\n";
    std::fs::write(folder.join("twice.c"), text).expect("written");
    let mut gcc = Command::new("gcc");
    gcc.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(root.join("include"))
        .arg("-I")
        .arg(folder);
    gcc.arg(folder.join("twice.c"))
        .arg("-L")
        .arg(library())
        .args(["-ltw_capi", "-o"])
        .arg(folder.join("twice"));
    let Ok(built) = gcc.status() else {
        eprintln!("gcc is not there: the generated header was not compiled");
        return;
    };
    assert!(built.success());
    let run = Command::new(folder.join("twice")).env("LD_LIBRARY_PATH", library()).status().expect("it runs");
    assert_eq!(run.code(), Some(10));
}

/// Names of files, events and parameters that C does not have as they stand.
#[test]
fn odd_names_are_c_too() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let rules = "monitor Odd(`a-b`, a_b, arguments, tracewise_told) { event new(`a-b`, a_b); event text(arguments, tracewise_told); \
                 event `1st`; event `a */ b`; event `/*`(arguments) = `%`(bool: arguments); \
                 ere : new text `1st` `a */ b` `/*`; }\n";
    for (number, name) in ["9-a.tw", "tracewise.tw", "a*/.tw", "%.tw", "new.tw"].iter().enumerate() {
        let spec = tracewise::Specification::from_text(name, rules).expect("a specification");
        let code = tracewise::generate::c(&spec).expect("a header");
        let file = folder.join(format!("odd{number}.c"));
        std::fs::write(&file, code).expect("written");
        let mut gcc = Command::new("gcc");
        gcc.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"])
            .arg(root.join("include"));
        let Ok(built) = gcc.arg(&file).status() else {
            eprintln!("gcc is not there: the generated header was not compiled");
            return;
        };
        assert!(built.success(), "{name}: {}", std::fs::read_to_string(file).expect("read"));
    }
}

/// The example and wrong uses of the interface under AddressSanitizer and under valgrind: no error, nothing left.
#[test]
fn memory_is_used_as_it_should_be() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let text = r#"#include "tracewise.h"
static void told(void *data, const char *name, const char *severity, const char *sentence) {
    *(int *)data += name[0] && severity[0] && sentence[0];
}
int main(void) {
    int count = 0;
    for (int round = 0; round < 3; round++) {
        tracewise_monitor *wrong = tracewise_new("monitor M(");
        if (!tracewise_error(wrong) || tracewise_event(wrong, "e", 0, 0, told, &count) != -1) return 8;
        tracewise_free(wrong);
        tracewise_monitor *m = tracewise_new("monitor Again(x) \"once {x}\" { event e(x); ere : e e; on match \"again {x}\"; }");
        if (tracewise_error(m)) return 9;
        tracewise_argument all[] = {{"x", TRACEWISE_TEXT, {.text = "value"}}, {"y", TRACEWISE_REAL, {.real = 0.5}}, {"z", TRACEWISE_NULL, {.integer = 0}}};
        tracewise_argument strange = {"x", 77, {.integer = 0}}, nothing = {0, TRACEWISE_TEXT, {.text = 0}};
        for (int i = 0; i < 4; i++) tracewise_event(m, "e", all, 3, told, &count);
        if (tracewise_event(m, "e", &strange, 1, told, &count) != -1 || !tracewise_error(m)) return 10;
        if (tracewise_event(m, "e", &nothing, 1, told, &count) != -1 || !tracewise_error(m)) return 11;
        if (tracewise_event(m, "e", all, 3, 0, 0) < 0 || tracewise_error(m)) return 12;
        tracewise_finish(m, told, &count);
        tracewise_free(m);
    }
    return count > 0 ? 0 : 13;
}
"#;
    let source = folder.join("careful.c");
    std::fs::write(&source, text).expect("written");
    let build = |name: &str, options: &[&str]| {
        let program = folder.join(name);
        let mut gcc = Command::new("gcc");
        gcc.args(["-std=c11", "-g", "-Wall", "-Wextra", "-Werror"])
            .args(options)
            .arg("-I")
            .arg(root.join("include"));
        gcc.arg(&source).arg("-L").arg(library()).args(["-ltw_capi", "-o"]).arg(&program);
        gcc.status().is_ok_and(|status| status.success()).then_some(program)
    };
    let run = |command: &mut Command| {
        let run = command.env("LD_LIBRARY_PATH", library()).output();
        run.map(|run| (run.status.code(), String::from_utf8_lossy(&run.stderr).into_owned()))
    };
    match build("careful-asan", &["-fsanitize=address,undefined"]) {
        Some(program) => {
            let (code, said) = run(&mut Command::new(program)).expect("it runs");
            assert_eq!(code, Some(0), "{said}");
        }
        None => eprintln!("gcc has no sanitizers here: left out"),
    }
    let Some(program) = build("careful", &[]) else {
        eprintln!("gcc is not there: left out");
        return;
    };
    let valgrind = ["-q", "--error-exitcode=33", "--leak-check=full", "--errors-for-leak-kinds=definite"];
    match run(Command::new("valgrind").args(valgrind).arg(program)) {
        Ok((code, said)) => assert_eq!(code, Some(0), "{said}"),
        Err(_) => eprintln!("valgrind is not there: left out"),
    }
}

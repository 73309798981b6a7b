//! Makes the functions of the preloaded library from the table `preload/calls.txt`, compiles the library, and writes the same
//! table for the reader of its records.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

include!("preload/table.rs");

fn main() {
    println!("cargo:rerun-if-changed=preload");
    println!("cargo:rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    let table = fs::read_to_string("preload/calls.txt").expect("the table is part of the crate");
    let lines = lines(&table);
    write(&out.join("calls.h"), &constants(&lines));
    write(&out.join("wrappers.h"), &wrappers(&lines));
    write(&out.join("calls.rs"), &rows(&lines));
    let library = out.join("librecord.so");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        compile(&out, &library);
    } else {
        // There is no such thing elsewhere; the command says so.
        write(&library, "");
    }
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}

/// A shared library: `cc` makes static ones only, but knows the compiler and its flags.
fn compile(out: &Path, library: &Path) {
    let compiler = cc::Build::new().opt_level(2).cargo_metadata(false).pic(true).get_compiler();
    let mut command = compiler.to_command();
    command
        .args([
            "-std=gnu11",
            "-shared",
            "-O2",
            "-g0",
            "-fvisibility=hidden",
            "-fasynchronous-unwind-tables",
            "-fno-builtin",
        ])
        .args(["-fno-stack-protector", "-w", "-Wl,-z,now", "-Wl,-s", "-I"])
        .arg(out)
        .arg("-o")
        .arg(library)
        .args(["preload/preload.c", "-ldl", "-lpthread"]);
    match command.status() {
        Ok(status) if status.success() => {}
        status => panic!("the library that records calls could not be compiled ({command:?}: {status:?})"),
    }
}

/// `enum { CALL_open, … };`, and which of them are about memory.
fn constants(lines: &[Line<'_>]) -> String {
    let names: Vec<String> = lines.iter().map(|line| format!("    CALL_{}", line.names[0])).collect();
    let memory: Vec<&str> = lines.iter().map(|line| if line.in_memory() { "1" } else { "0" }).collect();
    format!(
        "enum {{\n{}\n}};\nstatic const unsigned char in_memory[] = {{{}}};\n",
        names.join(",\n"),
        memory.join(", ")
    )
}

/// What is passed on takes a register each, whatever its type, and so do results: one form fits all.
fn wrappers(lines: &[Line<'_>]) -> String {
    let mut text = String::new();
    for line in lines.iter().filter(|line| !line.hand) {
        for name in &line.names {
            wrapper(&mut text, line, name).expect("a string takes everything");
        }
    }
    text
}

fn wrapper(text: &mut String, line: &Line<'_>, name: &str) -> std::fmt::Result {
    let call = line.names[0];
    let count = line.arguments.len();
    let listed =
        |form: fn(usize) -> String, count: usize| (0..count).map(form).collect::<Vec<_>>().join(", ");
    let parameters = match count {
        0 => "void".into(),
        _ => listed(|at| format!("long a{at}"), count),
    };
    let passed = listed(|at| format!("a{at}"), count) + if count > 0 { ", " } else { "" };
    let passed = passed + &vec!["0"; 6 - count].join(", ");
    let passed = passed.trim_end_matches(", ");
    let (kind, missing) = match line.result {
        "void" => ("void", ""),
        "ptr" => ("long", "0"),
        "code" => ("long", "ENOSYS"),
        _ => ("long", "-1"),
    };
    writeln!(text, "PUBLIC {kind} tw_{name}({parameters}) __asm__(\"{name}\");")?;
    writeln!(text, "{kind} tw_{name}({parameters}) {{")?;
    writeln!(text, "    REAL(\"{name}\", {missing})")?;
    writeln!(text, "    int recording = on(), before = errno;\n    (void)before;")?;
    if line.before {
        writeln!(text, "    uint64_t ticket = recording ? take_ticket() : 0;")?;
    }
    if line.result == "ptr" {
        // Null may also be an end that is no failure.
        writeln!(text, "    errno = 0;")?;
    }
    writeln!(text, "    long result = real({passed});")?;
    if line.result == "ptr" {
        writeln!(text, "    if (!errno) errno = before;\n    else if (!result) before = -1;")?;
    }
    writeln!(text, "    int error = errno;")?;
    let (shown, failed) = match line.result {
        "int" => ("(int64_t)(int)result", "(int)result == -1"),
        "code" => ("(int64_t)(int)result", "(int)result != 0"),
        "long" => ("result", "result == -1"),
        "map" => ("result", "result == -1"),
        "ptr" => ("result", "!result && before == -1"),
        _ => ("result", "0"),
    };
    let errno = if line.result == "code" { "(int)result" } else { "error" };
    writeln!(text, "    int failed = {failed};\n    (void)failed;")?;
    writeln!(text, "    if (recording) {{")?;
    let recorded: Vec<String> = (0..count).filter_map(|at| argument(line, at)).collect();
    let flags = if line.result == "void" { "0" } else { "TW_HAS_RESULT | (failed ? TW_HAS_ERRNO : 0)" };
    let result = if line.result == "void" { "0" } else { shown };
    let all = match recorded.as_slice() {
        [] => "NULL".to_string(),
        all => format!("(struct argument[]){{{}}}", all.join(", ")),
    };
    let how_many = recorded.len();
    let ticket = if line.before { "ticket" } else { "NOW" };
    writeln!(
        text,
        "        write_record(CALL_{call}, {flags}, {ticket}, {result}, failed ? {errno} : 0, {how_many}, {all});"
    )?;
    writeln!(text, "        errno = error;\n    }}")?;
    if line.result != "void" {
        writeln!(text, "    return result;")?;
    }
    writeln!(text, "}}")
}

fn argument(line: &Line<'_>, at: usize) -> Option<String> {
    Some(match line.arguments[at].0 {
        Kind::Skip => return None,
        Kind::Int | Kind::Flags | Kind::Command | Kind::Family | Kind::Type => {
            format!("number((uint64_t)(int64_t)(int)a{at})")
        }
        Kind::Mode => format!("number((uint32_t)a{at})"),
        Kind::Long | Kind::Num | Kind::Ptr => format!("number((uint64_t)a{at})"),
        // Where libc found that nobody may read there, neither may we.
        Kind::Str => format!("text(failed && error == EFAULT ? NULL : (const char *)a{at})"),
        Kind::Addr => format!("address(failed && error == EFAULT ? 0 : a{at}, a{})", at + 1),
        Kind::Ref => format!("referred(a{at}, failed)"),
    })
}

/// The table as the reader has it.
fn rows(lines: &[Line<'_>]) -> String {
    let mut text = String::from(
        "/// What is recorded, in the order of the numbers in records.\npub const CALLS: &[Call] = &[\n",
    );
    for line in lines {
        let arguments: Vec<String> = line
            .arguments
            .iter()
            .filter(|(kind, _)| *kind != Kind::Skip)
            .map(|(kind, name)| format!("(Kind::{kind:?}, {name:?})"))
            .collect();
        let pointer = matches!(line.result, "ptr" | "map");
        let result = line.result_name;
        writeln!(
            text,
            "    Call {{ name: {:?}, before: {}, pointer: {pointer}, result: {result:?}, arguments: &[{}] }},",
            line.names[0],
            line.before,
            arguments.join(", ")
        )
        .expect("a string takes everything");
    }
    text + "];\n"
}

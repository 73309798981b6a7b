//! The documentation tells the truth: samples of commands are run, specifications are read, links are followed, and
//! the table of patterns is the one in the program. `UPDATE_DOCS=1 cargo test --test docs` rewrites what is outdated.
//!
//! A ```` ```console ```` block holds commands after `$ ` and what they print, run from the root of the repository:
//! `tracewise …` (or `cargo run --release -- …`), `cat FILE`, `head -N FILE`, `echo $?`. A command may end in `2>&1`
//! and in `| head -N`, and may read `< FILE`; arguments are quoted with `'…'`. Elapsed times are not compared. A line
//! `…` stands for any lines left out.

mod common;
#[path = "../src/flags.rs"]
mod flags;

use common::{root, words};
use flags::flagged;
use std::fmt::Write as _;
use std::io::Read as _;
use std::process::Stdio;

fn updating() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some_and(|value| value != "0")
}

/// Every page: its path from the root and its text.
fn pages() -> Vec<(String, String)> {
    let mut names: Vec<String> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(String::from).to_vec();
    for entry in std::fs::read_dir(root().join("docs")).expect("docs") {
        let name = entry.expect("an entry").file_name().into_string().expect("UTF-8");
        if name.ends_with(".md") {
            names.push(format!("docs/{name}"));
        }
    }
    names.sort();
    let text =
        |name: &String| std::fs::read_to_string(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    names.into_iter().map(|name| (name.clone(), text(&name))).collect()
}

/// A page cut into prose and fenced blocks: (language of the fence, lines between the fences, line number). Prose has
/// no language and keeps the fences.
struct Piece<'t> {
    language: Option<&'t str>,
    lines: Vec<&'t str>,
    at: usize,
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = vec![Piece { language: None, lines: Vec::new(), at: 1 }];
    for (index, line) in text.lines().enumerate() {
        let inside = pieces[pieces.len() - 1].language.is_some();
        if let Some(language) = line.strip_prefix("```") {
            match inside {
                false => {
                    let last = pieces.len() - 1;
                    pieces[last].lines.push(line);
                    pieces.push(Piece { language: Some(language.trim()), lines: Vec::new(), at: index + 2 });
                }
                true => pieces.push(Piece { language: None, lines: vec![line], at: index + 1 }),
            }
        } else {
            let last = pieces.len() - 1;
            pieces[last].lines.push(line);
        }
    }
    pieces
}

/// The schemas that are read beside the documentation are those that the command prints; the two are one.
#[test]
fn schemas_are_those_of_the_command() {
    let folder = root().join("docs/schemas");
    let commands = common::command().args(["schema", "--help"]).output().expect("the command runs");
    let help = String::from_utf8(commands.stdout).expect("UTF-8");
    let (_, list) = help.split_once("[possible values: ").expect("the commands are listed");
    let list = list.split_once(']').expect("a list").0.replace('\n', " ");
    let names: Vec<&str> = list.split(',').map(str::trim).collect();
    assert!(names.len() > 20, "{names:?}");
    for name in &names {
        let output = common::command().args(["schema", name]).output().expect("the command runs");
        let printed = String::from_utf8(output.stdout).expect("UTF-8");
        let file = folder.join(format!("{name}.json"));
        if updating() {
            std::fs::create_dir_all(&folder).expect("the folder");
            std::fs::write(&file, &printed).expect("the schema is written");
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap_or_default(), printed, "docs/schemas/{name}.json");
    }
    let files = std::fs::read_dir(&folder).expect("the folder").count();
    assert_eq!(files, names.len(), "a file for every command, and no other");
}

/// Schemas that forbid nothing would be of no use: a field too many, one too few and a wrong type are found.
#[test]
fn schemas_bite() {
    let schema = common::schema::schema("eval").expect("a schema");
    let valid = |text: &str| {
        common::schema::valid(&schema, &schema, &serde_json::from_str(text).expect("JSON")).is_ok()
    };
    assert!(valid("{\"position\": 0, \"value\": true}"));
    for wrong in [
        "{\"position\": 0}",
        "{\"position\": 0, \"value\": 1}",
        "{\"position\": -1, \"value\": true}",
        "{\"position\": 0, \"value\": true, \"time\": 1}",
        "[]",
    ] {
        assert!(!valid(wrong), "{wrong}");
    }
}

#[test]
fn console_samples_are_true() {
    let mut outdated = String::new();
    for (name, text) in pages() {
        let mut fresh = String::new();
        for piece in pieces(&text) {
            if piece.language != Some("console") {
                piece.lines.iter().for_each(|line| writeln!(fresh, "{line}").expect("memory"));
                continue;
            }
            let mut code = 0;
            let mut lines = piece.lines.as_slice();
            while let Some((first, rest)) = lines.split_first() {
                let command = first.strip_prefix("$ ");
                let command = command.unwrap_or_else(|| panic!("{name}:{}: expected `$ command`", piece.at));
                let end = rest.iter().position(|line| line.starts_with("$ ")).unwrap_or(rest.len());
                let (shown, after) = rest.split_at(end);
                lines = after;
                let printed = run(command, &mut code);
                let printed: Vec<&str> = printed.lines().collect();
                writeln!(fresh, "{first}").expect("memory");
                if same(shown, &printed) {
                    shown.iter().for_each(|line| writeln!(fresh, "{line}").expect("memory"));
                } else {
                    let kept = shorten(shown, &printed);
                    kept.iter().for_each(|line| writeln!(fresh, "{line}").expect("memory"));
                    let (shown, printed) = (shown.join("\n"), printed.join("\n"));
                    writeln!(outdated, "{name}: $ {command}\n--- shown\n{shown}\n--- printed\n{printed}\n")
                        .expect("memory");
                }
            }
        }
        if updating() && fresh != text {
            std::fs::write(root().join(&name), fresh).expect("the page can be written");
        }
    }
    assert!(updating() || outdated.is_empty(), "rewrite with UPDATE_DOCS=1:\n{outdated}");
}

/// Runs one line of a sample; what it prints.
fn run(line: &str, code: &mut i32) -> String {
    let (line, head) = match line.rsplit_once("| head -") {
        Some((line, number)) => {
            (line.trim(), Some(number.trim().parse::<usize>().expect("a number of lines")))
        }
        None => (line, None),
    };
    let (line, errors_too) = match line.strip_suffix("2>&1") {
        Some(line) => (line.trim(), true),
        None => (line, false),
    };
    let (line, input) = match line.rsplit_once(" < ") {
        // Inside quotes it is a comparison.
        Some((line, file)) if !file.contains('\'') => (line, Some(file.trim())),
        _ => (line, None),
    };
    let built = line.strip_prefix("cargo run --release -- ").map(|rest| format!("tracewise {rest}"));
    let words = words(built.as_deref().unwrap_or(line));
    let read =
        |file: &str| std::fs::read_to_string(root().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
    let text = match words.as_slice() {
        ["echo", "$?"] => code.to_string(),
        ["cat", file] => read(file),
        ["head", number, file] => {
            let number: usize = number.trim_start_matches('-').parse().expect("a number of lines");
            first_lines(read(file), Some(number))
        }
        ["tracewise", arguments @ ..] => {
            let mut command = common::command();
            command.current_dir(root()).args(arguments).stdin(match input {
                Some(file) => Stdio::from(std::fs::File::open(root().join(file)).expect("the input")),
                None => Stdio::null(),
            });
            if !errors_too {
                command.stderr(Stdio::null());
                let output = command.output().expect("the command runs");
                *code = output.status.code().expect("an exit code, not a signal");
                let text = String::from_utf8(output.stdout).expect("UTF-8");
                common::schema::hold(arguments.iter().copied(), &text);
                return first_lines(text, head);
            }
            // One pipe for both, so that they come in the order written.
            let (mut reader, writer) = std::io::pipe().expect("a pipe");
            command.stdout(writer.try_clone().expect("a pipe")).stderr(writer);
            let mut child = command.spawn().expect("the command runs");
            drop(command);
            let mut text = String::new();
            reader.read_to_string(&mut text).expect("UTF-8");
            *code = child.wait().expect("the command ends").code().expect("an exit code, not a signal");
            text
        }
        _ => panic!("a sample may run tracewise, cat, head and echo $?, not `{line}`"),
    };
    first_lines(text, head)
}

fn first_lines(text: String, number: Option<usize>) -> String {
    match number {
        Some(number) => text.lines().take(number).map(|line| format!("{line}\n")).collect(),
        None => text,
    }
}

/// Whether what is shown is what was printed, where `…` stands for any lines.
fn same(shown: &[&str], printed: &[&str]) -> bool {
    // Trailing blank lines do not show on a page.
    let trim =
        |lines: &[&str]| lines.iter().rposition(|line| !line.trim().is_empty()).map_or(0, |last| last + 1);
    let (shown, printed) = (&shown[..trim(shown)], &printed[..trim(printed)]);
    let parts: Vec<&[&str]> = shown.split(|line| line.trim() == "…").collect();
    let fits = |part: &[&str], at: usize| {
        at + part.len() <= printed.len()
            && part.iter().zip(&printed[at..]).all(|(a, b)| normal(a) == normal(b))
    };
    if let [all] = parts.as_slice() {
        return all.len() == printed.len() && fits(all, 0);
    }
    let mut at = 0;
    for (index, part) in parts.iter().enumerate() {
        let found = match index {
            0 => fits(part, 0).then_some(0),
            last if last + 1 == parts.len() => {
                printed.len().checked_sub(part.len()).filter(|&start| start >= at && fits(part, start))
            }
            _ => (at..printed.len()).find(|&start| fits(part, start)),
        };
        match found {
            Some(start) => at = start + part.len(),
            None => return false,
        }
    }
    true
}

/// What to show instead: as many first and last lines as before, if lines were left out in one place.
fn shorten<'p>(shown: &[&str], printed: &[&'p str]) -> Vec<&'p str> {
    let parts: Vec<&[&str]> = shown.split(|line| line.trim() == "…").collect();
    match parts.as_slice() {
        [head, tail] if head.len() + tail.len() < printed.len() => {
            [&printed[..head.len()], &["…"], &printed[printed.len() - tail.len()..]].concat()
        }
        _ => printed.to_vec(),
    }
}

/// The line without elapsed times: `9.4 ms` and `time="0.0094"`.
fn normal(line: &str) -> String {
    let mut words: Vec<String> = line.trim_end().split(' ').map(str::to_string).collect();
    for index in 1..words.len() {
        let unit = words[index].trim_end_matches([',', ';', ')', '.']);
        let number = words[index - 1].trim_start_matches('(');
        let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        if is_number && ["ns", "µs", "us", "ms", "s"].contains(&unit) {
            words[index - 1] = "N".into();
            words[index] = "unit".into();
        }
    }
    for word in &mut words {
        if let Some(rest) = word.strip_prefix("time=\"") {
            let end = rest.find('"').map_or("", |end| &rest[end..]);
            *word = format!("time=\"N{end}");
        }
    }
    words.join(" ")
}

#[test]
fn samples_may_leave_lines_out_but_not_change_them() {
    let printed = ["a", "b", "took 9.4 ms", "d"];
    for (shown, expected) in [
        (&["a", "b", "took 1 s", "d"][..], true),
        (&["a", "…", "d"], true),
        (&["…", "b", "…"], true),
        (&["a", "…"], true),
        (&["a", "b"], false),
        (&["…", "b"], false),
        (&["…", "c", "…"], false),
        (&["a", "b", "took a while", "d"], false),
    ] {
        assert_eq!(same(shown, &printed), expected, "{shown:?}");
    }
    assert_eq!(shorten(&["x", "…", "y"], &printed), ["a", "…", "d"]);
    assert_eq!(shorten(&["x", "y"], &printed), printed);
}

#[test]
fn specifications_can_be_read() {
    let mut seen = 0;
    for (name, text) in pages() {
        for piece in pieces(&text).iter().filter(|piece| piece.language == Some("tw")) {
            seen += 1;
            let spec = tracewise::Specification::from_text(&name, &piece.lines.join("\n"));
            if let Err(error) = spec {
                panic!("{name}:{}: {}", piece.at, error.render(false));
            }
        }
    }
    assert!(seen > 0);
}

/// Rust on a page is part of an example, which `cargo test` compiles.
#[test]
fn rust_samples_are_compiled() {
    let folders =
        ["crates/tracewise/examples", "crates/shells/tw-tracing/examples"].map(|folder| root().join(folder));
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).expect("examples"));
    let files = files.map(|file| file.expect("a file").path());
    let examples: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| std::fs::read_to_string(path).expect("an example"))
        .collect();
    for (name, text) in pages() {
        for piece in pieces(&text).iter().filter(|piece| piece.language == Some("rust")) {
            let sample = piece.lines.join("\n");
            let known = examples.iter().any(|example| example.contains(&sample));
            assert!(known, "{name}:{}: not part of any of the examples", piece.at);
        }
    }
}

/// Files that pages point at exist.
#[test]
fn links_lead_somewhere() {
    for (name, text) in pages() {
        let folder = root().join(&name).parent().expect("a folder").to_path_buf();
        for piece in pieces(&text).iter().filter(|piece| piece.language.is_none()) {
            let prose = piece.lines.join("\n");
            for (start, _) in prose.match_indices("](") {
                let target = &prose[start + 2..];
                let target = &target[..target.find(')').unwrap_or(0)];
                let file = target.split('#').next().unwrap_or_default();
                if !file.is_empty() && !file.contains("://") {
                    assert!(folder.join(file).exists(), "{name}: `{target}` leads nowhere");
                }
            }
        }
    }
}

/// `docs/patterns.md` is made of the pattern library.
#[test]
fn patterns_are_the_library() {
    let path = root().join("docs/patterns.md");
    let fresh = patterns_page();
    if updating() {
        std::fs::write(&path, &fresh).expect("the page can be written");
    }
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(page == fresh, "docs/patterns.md is outdated: rewrite it with UPDATE_DOCS=1");
}

/// `docs/codes.md` is the table of diagnostics.
#[test]
fn codes_are_the_table() {
    let path = root().join("docs/codes.md");
    let fresh = codes_page();
    if updating() {
        std::fs::write(&path, &fresh).expect("the page can be written");
    }
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(page == fresh, "docs/codes.md is outdated: rewrite it with UPDATE_DOCS=1. Expected:\n{fresh}");
}

/// The table of codes, spelled as the command spells settings.
fn codes_page() -> String {
    let mut page = String::from(
        "# Codes of errors and warnings\n\n\
         <!-- Made from the table in crates/base/tw-diag/src/codes/table.rs: UPDATE_DOCS=1 cargo test --test docs -->\n\n\
         Every error and warning has a code, which does not change: in text it stands in brackets, `error[unknown-name]`, in\n\
         JSON in the field `code` (see [Commands and outputs](cli.md)). An error ends the run with exit code 2; a warning does\n\
         not stop it.\n",
    );
    for (area, heading) in tracewise::diag::codes::Area::ALL {
        let _ =
            write!(page, "\n## {heading}\n\n| code | | what it means | what to do |\n|---|---|---|---|\n");
        for known in tracewise::diag::codes::CODES.iter().filter(|known| known.area == area) {
            let severity: Vec<&str> = known.severity.iter().map(|severity| severity.name()).collect();
            let _ = writeln!(
                page,
                "| `{}` | {} | {} | {} |",
                known.code,
                severity.join(" or "),
                cell(&flagged(known.meaning)),
                cell(&flagged(known.repair))
            );
        }
    }
    page
}

fn patterns_page() -> String {
    const SHAPES: [(&str, &str); 7] = [
        ("absence", "Absence: p does not happen"),
        ("existence", "Existence: p happens"),
        ("universality", "Universality: p holds all the time"),
        ("response", "Response: p is followed by s"),
        ("precedence", "Precedence: s comes before p"),
        ("bounded_existence", "Bounded existence: p holds during at most two stretches"),
        ("", "Any formula in a scope"),
    ];
    let shape = |name: &str| {
        let of = |(shape, _): &(&str, &str)| name == *shape || name.starts_with(&format!("{shape}_"));
        SHAPES[..6].iter().position(of).unwrap_or(6)
    };
    let mut page = String::from(
        "# The pattern library\n\n\
         <!-- Made from the library in crates/language/tw-spec/src/patterns.rs: UPDATE_DOCS=1 cargo test --test docs -->\n\n\
         A pattern is a macro that every specification may call; its arguments are formulas. The end of its name says \
         which\npart of the trace it speaks of:\n\n\
         ![Scopes](pictures/scopes.svg)\n\n\
         A stretch begins with the position of its q and ends before the position of its r; every q that is not an r \
         begins\none. Most people need `absence`, `response`, `precedence` and their `_between` and `_after_until` \
         forms. How to read\nthe formulas: [language.md](language.md).\n\n\
         Arguments stand in the order that the tables show, or have names: q is `from`, r is `to`, p is `holds`, so that \
         \n`between(q, r, p)` is also written `between(from: q, to: r, holds: p)`, in any order.\n",
    );
    for (index, (_, title)) in SHAPES.iter().enumerate() {
        let _ =
            write!(page, "\n## {title}\n\n| pattern | meaning | formula | example |\n|---|---|---|---|\n");
        for pattern in tracewise::language::PATTERNS.iter().filter(|pattern| shape(pattern.name) == index) {
            let _ = writeln!(
                page,
                "| `{}({})` | {} | `{}` | `{}` |",
                pattern.name,
                pattern.parameters.join(", "),
                cell(pattern.meaning),
                cell(pattern.formula),
                cell(pattern.example)
            );
        }
    }
    page
}

/// Text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

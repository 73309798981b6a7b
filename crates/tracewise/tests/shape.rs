//! The shape of the library: few names at its root, and messages that know no command line.

use std::path::{Path, PathBuf};

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.extension().is_some_and(|extension| extension == "rs") {
            true => found.push(path),
            false if path.is_dir() => sources(&path, found),
            false => {}
        }
    }
}

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The names that `pub` statements of a file bring in, modules aside.
fn names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    for statement in code.split(';').filter_map(|part| part.rsplit_once("pub use ")) {
        let list = statement.1.split_once('{').map_or(statement.1, |(_, list)| list).trim_end_matches('}');
        let last = |item: &str| item.rsplit([' ', ':']).next().unwrap_or_default().to_string();
        names.extend(list.split(',').map(str::trim).filter(|item| !item.is_empty()).map(last));
    }
    names
}

#[test]
fn the_root_has_few_names() {
    assert_eq!(names("// pub use no;\npub use a::B;\nmod c;\npub use d::{self as e, F,};"), ["B", "e", "F"]);
    let root = std::fs::read_to_string(src().join("lib.rs")).unwrap();
    let names = names(&root);
    assert!(["Session", "Specification", "Error"].iter().all(|name| names.contains(&name.to_string())));
    assert!(
        names.len() <= 18,
        "{} names at the root, which is for what every program needs: {names:?}",
        names.len()
    );
    assert!(!root.contains("pub fn ") && !root.contains("pub struct "), "the root re-exports, no more");
}

/// The first line that speaks of a `--flag`, be it in a message or to who reads the code.
fn flag(text: &str) -> Option<&str> {
    text.lines().find(|line| {
        let mut dashes = line.match_indices("--");
        dashes.any(|(at, _)| line.as_bytes().get(at + 2).is_some_and(u8::is_ascii_lowercase))
    })
}

#[test]
fn nothing_speaks_of_flags() {
    assert_eq!(flag("let a = b - -c;\n\"-- by\" ---"), None);
    assert!(flag("let a = b;\nformat!(\"leave out --by\")").is_some() && flag("/// With `--by`.").is_some());
    let mut files = Vec::new();
    sources(&src(), &mut files);
    assert!(files.len() > 100, "{} files", files.len());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        // A shell has flags; the library has `tracewise::error::Setting`.
        assert_eq!(flag(&text), None, "{} speaks of a flag", file.display());
    }
}

//! The table of codes is what the sources use, no more and no less.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tw_diag::Severity;
use tw_diag::codes::{CODES, code};

/// Every source file of the workspace's crates but tests, without its test module, and without comments.
fn sources() -> Vec<(PathBuf, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the folder of crates");
    let mut folders = vec![crates.to_path_buf()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let skipped = ["tests", "tests.rs", "target", "examples", "benches", "codes", "tw-testkit"];
            if skipped.contains(&name) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".rs") && path.components().any(|part| part.as_os_str() == "src") {
                let text = std::fs::read_to_string(&path).expect("UTF-8");
                let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
                let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                files.push((path, lines.collect::<Vec<_>>().join("\n")));
            }
        }
    }
    assert!(files.len() > 200, "{} files", files.len());
    files
}

/// The word in quotes that a text begins with, if it looks like a code.
fn quoted(text: &str) -> Option<&str> {
    let (word, _) = text.trim_start().strip_prefix('"')?.split_once('"')?;
    let fits = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    fits.then_some(word)
}

/// Functions that take a code first: those of [`tw_diag::Diagnostic`], and whatever hands one on.
fn makers(sources: &[(PathBuf, String)]) -> BTreeSet<String> {
    let own = ["Diagnostic::error", "Diagnostic::warning", "Diagnostic::note"];
    let mut makers: BTreeSet<String> = own.map(String::from).into();
    for (path, text) in sources {
        if path.components().any(|part| part.as_os_str() == "tw-diag") {
            continue;
        }
        for (at, _) in text.match_indices("code: &'static str") {
            let before = &text[..at];
            let Some(head) = before.rsplit("fn ").next().filter(|head| head.len() < 60) else { continue };
            let name: String = head.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            makers.insert(name);
        }
    }
    makers
}

/// Codes in use, and where.
fn used() -> BTreeMap<String, PathBuf> {
    let sources = sources();
    let makers = makers(&sources);
    assert!(makers.len() > 2, "codes are handed on somewhere: {makers:?}");
    let mut used = BTreeMap::new();
    for (path, text) in &sources {
        let mut add = |word: Option<&str>| {
            if let Some(word) = word {
                used.entry(word.to_string()).or_insert(path.clone());
            }
        };
        for maker in &makers {
            let call = format!("{maker}(");
            text.match_indices(&call).for_each(|(at, call)| add(quoted(&text[at + call.len()..])));
        }
        text.match_indices("code: ").for_each(|(at, field)| add(quoted(&text[at + field.len()..])));
        // `let code = if … { "this" } else { "that" };`
        for (at, _) in text.match_indices("let code = ") {
            let value = &text[at..][..text[at..].find(';').unwrap_or(0)];
            value.match_indices("{ ").for_each(|(at, open)| add(quoted(&value[at + open.len()..])));
        }
        // A function that gives a kind its code.
        for (at, _) in text.match_indices("_code(") {
            let body = &text[at..][..text[at..].find("\n}").unwrap_or(0)];
            body.match_indices("=> ").for_each(|(at, arm)| add(quoted(&body[at + arm.len()..])));
        }
    }
    used
}

#[test]
fn every_code_in_use_is_in_the_table() {
    let unknown: Vec<String> = used()
        .into_iter()
        .filter(|(word, _)| code(word).is_none())
        .map(|(word, path)| format!("`{word}` in {}", path.display()))
        .collect();
    assert!(unknown.is_empty(), "add to crates/base/tw-diag/src/codes/table.rs: {unknown:#?}");
}

#[test]
fn every_code_in_the_table_is_in_use() {
    let used = used();
    let idle: Vec<&str> =
        CODES.iter().map(|known| known.code).filter(|code| !used.contains_key(*code)).collect();
    assert!(idle.is_empty(), "no diagnostic has these codes: {idle:?}");
}

#[test]
fn severities_are_those_of_the_table() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        for severity in [Severity::Error, Severity::Warning, Severity::Note] {
            let call = format!("Diagnostic::{}(", severity.name());
            for (at, call) in text.match_indices(&call) {
                let known = quoted(&text[at + call.len()..]).and_then(code);
                if let Some(known) = known.filter(|known| !known.severity.contains(&severity)) {
                    wrong.push(format!("`{}` is {} in {}", known.code, severity.name(), path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

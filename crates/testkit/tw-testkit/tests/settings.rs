//! Only shells know a command line: the texts of all other crates name settings, and name those that there are.

use std::path::{Path, PathBuf};
use tw_diag::Setting;

/// The source files of all crates but the shells, tests aside.
fn library() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the folder of crates");
    let (mut folders, mut files) = (vec![crates.to_path_buf()], Vec::new());
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path())
        {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if ["shells", "tests", "tests.rs", "examples", "benches", "target"].contains(&name) {
                continue;
            }
            match path.is_dir() {
                true => folders.push(path),
                false if name.ends_with(".rs") => files.push(path),
                false => {}
            }
        }
    }
    assert!(files.len() > 300, "{} files", files.len());
    files
}

/// The literal texts of a Rust file, each with its line, up to the tests at its end. Comments are none.
fn literals(text: &str) -> Vec<(usize, &str)> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let bytes = text.as_bytes();
    let after = |at: usize, what: &str| text[at..].find(what).map_or(text.len(), |found| at + found);
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let rest = &bytes[at..];
        if rest.starts_with(b"//") {
            at = after(at, "\n");
        } else if rest.starts_with(b"'\\") {
            // What is escaped may be a quote itself.
            at = after(at + 3, "'") + 1;
        } else if rest.starts_with(b"'\"'") {
            at += 3;
        } else if rest[0] == b'"' {
            let hashes = bytes[..at].iter().rev().take_while(|byte| **byte == b'#').count();
            let raw = bytes[..at - hashes].ends_with(b"r");
            let start = at + 1;
            let end =
                if raw { after(start, &format!("\"{}", "#".repeat(hashes))) } else { closing(bytes, start) };
            found.push((text[..start].matches('\n').count() + 1, &text[start..end.min(text.len())]));
            at = end + 1;
        } else {
            at += 1;
        }
    }
    found
}

/// Where the text that begins here ends.
fn closing(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at
}

/// Whether a text speaks of a `--flag`.
fn flag(text: &str) -> bool {
    let bytes = text.as_bytes();
    text.match_indices("--").any(|(at, _)| {
        let before = at.checked_sub(1).map_or(b' ', |before| bytes[before]);
        let alone = !before.is_ascii_alphanumeric() && before != b'-';
        alone && bytes.get(at + 2).is_some_and(u8::is_ascii_lowercase)
    })
}

/// What stands in angle brackets as a setting does: `⟨clock⟩`, `⟨clock: dense⟩`.
fn marks(text: &str) -> Vec<&str> {
    let inside = text.split('⟨').skip(1);
    let names = inside.filter_map(|inside| inside.find([':', '⟩']).map(|end| &inside[..end]));
    let word = |name: &&str| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    names.filter(|name| !name.is_empty()).filter(word).collect()
}

#[test]
fn texts_are_found_and_nothing_else_is() {
    let source = concat!(
        "// \"no\"\nlet a = \"one \\\" \\\\\"; // it's \"no\"\nlet b = ('\"', '\\'', '\\\\', 'x');\n",
        "fn f<'a>(x: &'a str) { r#\"two \"2\"\"#; r\"three\\\"; \"four\nlines\" }\n",
        "#[cfg(test)]\nmod tests {\"no\"}",
    );
    let expected = [(2, "one \\\" \\\\"), (4, "two \"2\""), (4, "three\\"), (4, "four\nlines")];
    assert_eq!(literals(source), expected);
    for text in ["use --clock index", "`--by`", "--by", "(--sort)"] {
        assert!(flag(text), "{text}");
    }
    for text in ["a -- b", "<!-- c -->", "---", "x--y", "--{option}"] {
        assert!(!flag(text), "{text}");
    }
    assert_eq!(marks("`⟨by⟩`, ⟨clock: dense⟩, ⟨a, true⟩, ⟨{name}: {value}⟩, ⟨⟩ ⟨x"), ["by", "clock"]);
}

#[test]
fn no_library_speaks_of_flags() {
    let (mut texts, mut named) = (0, 0);
    for file in library() {
        let source = std::fs::read_to_string(&file).expect("a source");
        for (line, text) in literals(&source) {
            texts += 1;
            // A shell has flags; the library has settings, and a shell spells them.
            assert!(!flag(text), "{}:{line} speaks of a flag: {text}", file.display());
            for mark in marks(text) {
                let known = Setting::ALL.iter().any(|setting| setting.name() == mark);
                assert!(known, "{}:{line} names the setting `{mark}`, which is none: {text}", file.display());
                named += 1;
            }
        }
    }
    assert!(texts > 5000 && named > 50, "{texts} texts that name {named} settings");
}

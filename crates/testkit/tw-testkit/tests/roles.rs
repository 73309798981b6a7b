//! Dependencies point one way: what `crates/README.md` says of each folder holds of the manifests in it; and none is
//! named in vain.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the folder of crates").to_path_buf()
}

fn backquoted(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_string).collect()
}

/// Folder → what it may import, folders and crates, as the table says.
fn rules() -> BTreeMap<String, BTreeSet<String>> {
    let text = std::fs::read_to_string(crates().join("README.md")).expect("crates/README.md");
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<_> = row.trim_matches('|').split('|').collect();
        (backquoted(cells[0]).remove(0), backquoted(cells[2]).into_iter().collect())
    })
    .collect()
}

/// The names in one table of a manifest.
fn keys<'m>(manifest: &'m str, table: &str) -> Vec<&'m str> {
    let lines = manifest.lines().skip_while(|line| *line != format!("[{table}]")).skip(1);
    let inside = lines.take_while(|line| !line.starts_with('['));
    let names =
        inside.filter(|line| line.contains('=') && line.starts_with(|c: char| c.is_ascii_lowercase()));
    names.filter_map(|line| line.split(['.', ' ', '=']).next()).collect()
}

/// The workspace's crates that one table of a manifest names.
fn imports(manifest: &str, table: &str) -> Vec<String> {
    let ours = |name: &&str| name.starts_with("tw-") || *name == "tracewise";
    keys(manifest, table).into_iter().filter(ours).map(str::to_string).collect()
}

/// The folder of a crate.
fn place(name: &str, role: &str) -> PathBuf {
    if name == role { crates().join(name) } else { crates().join(role).join(name) }
}

/// All Rust text below a folder, and nothing where there is no such folder.
fn sources(folder: &Path, text: &mut String) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|end| end == "rs") {
            text.push_str(&std::fs::read_to_string(&path).expect("a source"));
        }
    }
}

/// Whether a text names a crate as the start of a path. A variable of the same name is no use of it.
fn names(text: &str, krate: &str) -> bool {
    let name = krate.replace('-', "_");
    let inside = |before: &str| before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
    let path = format!("{name}::");
    text.match_indices(&path).any(|(at, _)| !inside(&text[..at])) || text.contains(&format!("use {name} as "))
}

/// Crate → its folder and its manifest.
fn manifests(rules: &BTreeMap<String, BTreeSet<String>>) -> BTreeMap<String, (String, String)> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(crates()).expect("crates") {
        let folder = entry.expect("an entry").path();
        if !folder.is_dir() {
            continue;
        }
        let role = folder.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(rules.contains_key(&role), "crates/README.md has no row for `{role}`");
        let inside =
            std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        for place in inside.chain([folder.clone()]) {
            if let Ok(manifest) = std::fs::read_to_string(place.join("Cargo.toml")) {
                let name = place.file_name().expect("a name").to_string_lossy().into_owned();
                assert!(
                    manifest.contains(&format!("name = \"{name}\"")),
                    "{} is not named as its folder",
                    place.display()
                );
                found.insert(name, (role.clone(), manifest));
            }
        }
    }
    assert!(found.len() > 25, "{} crates", found.len());
    found
}

#[test]
fn each_folder_imports_what_its_row_names() {
    let rules = rules();
    let crates = manifests(&rules);
    for (name, (role, manifest)) in &crates {
        for import in imports(manifest, "dependencies") {
            let other = &crates[&import].0;
            let allowed = other == role || rules[role].contains(other) || rules[role].contains(&import);
            assert!(
                allowed,
                "{name} (in {role}) imports {import} (in {other}), which crates/README.md does not allow"
            );
        }
        for import in imports(manifest, "dev-dependencies") {
            let upwards = crates[&import].0 == "shells" && role != "shells";
            assert!(!upwards, "the tests of {name} import {import}, a shell");
        }
    }
}

#[test]
fn engines_do_not_import_each_other() {
    let shared = ["tw-monitor", "tw-automata", "tw-statistics"];
    for (name, (role, manifest)) in &manifests(&rules()) {
        if role == "engines" || role == "values" {
            let crates = imports(manifest, "dependencies").into_iter();
            let engines: Vec<_> =
                crates.filter(|import| import.contains("-engine-") || import.contains("-query-")).collect();
            assert!(engines.is_empty(), "{name} imports {engines:?}; what engines share lives in {shared:?}");
        }
    }
}

#[test]
fn every_row_names_what_is_there() {
    let rules = rules();
    let crates = manifests(&rules);
    for (role, imports) in &rules {
        assert!(crates.values().any(|(folder, _)| folder == role), "no crate in `{role}`");
        for import in imports {
            assert!(
                rules.contains_key(import) || crates.contains_key(import),
                "`{role}` may import `{import}`, which is not there"
            );
        }
    }
}

#[test]
fn every_dependency_is_used() {
    for (name, (role, manifest)) in &manifests(&rules()) {
        let (mut shipped, mut all) = (String::new(), String::new());
        sources(&place(name, role).join("src"), &mut shipped);
        for folder in ["src", "tests", "benches", "examples"] {
            sources(&place(name, role).join(folder), &mut all);
        }
        assert!(!shipped.is_empty(), "{name} has no sources");
        let built = std::fs::read_to_string(place(name, role).join("build.rs")).unwrap_or_default();
        let tables = manifest.lines().filter(|line| line.starts_with('[') && line.ends_with("dependencies]"));
        for table in tables.map(|line| line.trim_matches(['[', ']'])) {
            let text = match table {
                "dev-dependencies" => &all,
                "build-dependencies" => &built,
                _ => &shipped,
            };
            for key in keys(manifest, table) {
                assert!(names(text, key), "{name} names {key} in [{table}] and does not use it");
            }
        }
    }
}

#[test]
fn every_dependency_of_the_workspace_is_some_crates() {
    let root =
        std::fs::read_to_string(crates().join("../Cargo.toml")).expect("the manifest of the workspace");
    let manifests = manifests(&rules());
    let shared = keys(&root, "workspace.dependencies");
    assert!(shared.len() > 40, "{shared:?}");
    for key in shared {
        let takes = |line: &str| {
            line.starts_with(&format!("{key}.workspace"))
                || line.starts_with(&format!("{key} = {{ workspace"))
        };
        let taken = manifests.values().any(|(_, manifest)| manifest.lines().any(takes));
        assert!(taken, "no crate takes {key} from the workspace");
    }
}

fn architecture() -> String {
    std::fs::read_to_string(crates().join("../ARCHITECTURE.md")).expect("ARCHITECTURE.md")
}

#[test]
fn the_code_map_names_every_crate_in_its_folder() {
    let (text, rules) = (architecture(), rules());
    let mut named: Vec<(String, String)> = Vec::new();
    for row in text.lines().skip_while(|line| *line != "| folder | crate | what is in it | reads |").skip(2) {
        let Some(row) = row.strip_prefix("| `") else { break };
        let cells: Vec<_> = row.split('|').collect();
        named.push((cells[0].trim().trim_matches('`').into(), backquoted(cells[1]).remove(0)));
    }
    named.sort();
    let mut there: Vec<_> = manifests(&rules).into_iter().map(|(name, (role, _))| (role, name)).collect();
    there.sort();
    assert_eq!(named, there);
}

/// Every path that the page names is there, and what it says is in a file is in it.
#[test]
fn the_page_names_what_is_there() {
    let (text, rules) = (architecture(), rules());
    let roles: BTreeMap<String, String> =
        manifests(&rules).into_iter().map(|(name, (role, _))| (name, role)).collect();
    let place = |path: &str| -> Option<PathBuf> {
        let (first, rest) = path.split_once('/')?;
        let folder = match roles.get(first) {
            Some(role) if role == first => crates().join(first),
            Some(role) => crates().join(role).join(first),
            // Within the facade, whose files are often named without it.
            None => crates().join("tracewise/src").join(first),
        };
        Some(folder.join(rest))
    };
    let mut found = 0;
    for line in text.lines() {
        let quoted: Vec<String> = backquoted(line);
        for pair in quoted.windows(2) {
            // "`NAME` in `path`"
            if pair[1].ends_with(".rs") && line.contains(&format!("`{}` in `{}`", pair[0], pair[1])) {
                let path = place(&pair[1]).unwrap_or_else(|| panic!("{line}"));
                let source = std::fs::read_to_string(&path)
                    .unwrap_or_else(|_| panic!("{} is not there", path.display()));
                assert!(source.contains(&pair[0]), "{} has no {}", pair[1], pair[0]);
            }
        }
        for path in quoted.iter().filter(|path| path.ends_with(".rs") && path.contains('/')) {
            let path = place(path).unwrap_or_else(|| panic!("{line}"));
            assert!(path.exists(), "{} is not there", path.display());
            found += 1;
        }
    }
    assert!(found > 15, "{found} paths");
}

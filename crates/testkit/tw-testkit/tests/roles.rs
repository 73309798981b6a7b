//! Dependencies point one way: what `crates/README.md` says of each folder holds of the manifests in it.

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

/// The workspace's crates that one table of a manifest names.
fn imports(manifest: &str, table: &str) -> Vec<String> {
    let lines = manifest.lines().skip_while(|line| *line != format!("[{table}]")).skip(1);
    let names =
        lines.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split(['.', ' ', '=']).next());
    names.filter(|name| name.starts_with("tw-") || *name == "tracewise").map(str::to_string).collect()
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

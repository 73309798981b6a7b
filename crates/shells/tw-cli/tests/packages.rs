//! What brings the command to its users: packages, the action, the hooks, the container file, the editors' extensions. They are
//! run as far as a machine without a network can.

#[path = "common/mod.rs"]
mod common;

use common::{directory, root};
use std::path::Path;
use std::process::{Command, Output};

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The version is said in one place, and the others say the same.
#[test]
fn versions_are_one() {
    let manifest = read("Cargo.toml");
    let (_, package) = manifest.split_once("[workspace.package]").expect("the workspace's package");
    let version = package
        .lines()
        .find_map(|line| line.strip_prefix("version = "))
        .expect("a version")
        .trim_matches('"');
    for member in ["crates/tracewise", "crates/shells/tw-cli", "crates/shells/tw-lsp", "python"] {
        assert!(read(&format!("{member}/Cargo.toml")).contains("version.workspace = true"), "{member}");
    }
    // Python's is made from the crate's.
    assert!(read("python/pyproject.toml").contains("dynamic = [\"version\"]"));
    for file in [
        "editors/vscode/package.json",
        "editors/vscode/package-lock.json",
        "editors/tree-sitter-tracewise/tree-sitter.json",
    ] {
        let json: serde_json::Value = serde_json::from_str(&read(file)).expect("JSON");
        let own = json.get("version").unwrap_or(&json["metadata"]["version"]);
        assert_eq!(own, version, "{file}");
    }
    let grammar = read("editors/tree-sitter-tracewise/Cargo.toml");
    assert!(grammar.contains(&format!("version = \"{version}\"")));
    let said = common::command().arg("--version").output().expect("the command runs");
    assert_eq!(text(&said.stdout).trim(), format!("tracewise {version}"));
    // The container builds with the Rust that the workspace asks for.
    let rust = package
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = "))
        .expect("a version")
        .trim_matches('"');
    for file in ["Containerfile", "packaging/Containerfile.server"] {
        assert!(read(file).contains(&format!("rust:{rust}-slim")), "{file}");
    }
}

/// The steps of the action, as they are written there, with their environment.
fn steps() -> Vec<(Vec<String>, String)> {
    let mut steps: Vec<(Vec<String>, String)> = Vec::new();
    for line in read("action.yml").lines() {
        let line = line.trim();
        if line.starts_with("- name: ") {
            steps.push((Vec::new(), String::new()));
        } else if let (Some((names, _)), Some((name, _))) =
            (steps.last_mut(), line.split_once(": ${{ inputs."))
        {
            names.push(name.to_owned());
        } else if let (Some((_, run)), Some(script)) = (steps.last_mut(), line.strip_prefix("run: ")) {
            script.clone_into(run);
        }
    }
    steps
}

fn act(folder: &Path, inputs: &[(&str, &str)]) -> Vec<Output> {
    let run = |(names, script): (Vec<String>, String)| {
        let mut command = Command::new("bash");
        command.args(["-e", "-c", &script]).current_dir(folder);
        command
            .env("GITHUB_ACTION_PATH", root())
            .env("GITHUB_OUTPUT", folder.join("outputs"))
            .env("RUNNER_TEMP", folder);
        for name in names {
            let value = inputs.iter().find(|(own, _)| *own == name).map_or("", |(_, value)| value);
            command.env(&name, value);
        }
        command.output().expect("bash runs")
    };
    steps().into_iter().map(run).collect()
}

#[test]
fn the_action_runs() {
    let folder = directory("packages/action");
    let trace = read("examples/web/requests-bad.jsonl");
    std::fs::write(folder.join("a b.jsonl"), &trace).expect("a trace");
    std::fs::write(folder.join("bad.jsonl"), &trace).expect("a trace");
    std::fs::write(folder.join("web.tw"), read("examples/web/web.tw")).expect("a specification");
    let command = env!("CARGO_BIN_EXE_tracewise");
    let of = |traces: &'static str, output: &'static str| {
        [
            ("COMMAND", command),
            ("SPEC", "web.tw"),
            ("TRACES", traces),
            ("ARGUMENTS", "--by id --violations 1"),
            ("OUTPUT", output),
            ("SARIF", "found.sarif"),
        ]
    };
    let all = act(&folder, &of("bad.jsonl", "github"));
    assert_eq!(all.len(), 2);
    assert!(text(&all[0].stdout).starts_with("tracewise "), "{all:?}");
    assert_eq!(all[1].status.code(), Some(1), "{all:?}");
    assert!(text(&all[1].stdout).contains("::error file=bad.jsonl"), "{all:?}");
    let outputs = || std::fs::read_to_string(folder.join("outputs")).unwrap_or_default();
    assert!(outputs().contains("exit-code=1"), "{}", outputs());

    let all = act(&folder, &of("*.jsonl", "sarif"));
    assert_eq!(all[1].status.code(), Some(1), "{all:?}");
    let found = std::fs::read_to_string(folder.join("found.sarif")).expect("the document");
    let found: serde_json::Value = serde_json::from_str(&found).expect("JSON");
    assert_eq!(found["version"], "2.1.0");
    assert!(outputs().contains("sarif-file=found.sarif"), "{}", outputs());

    // The output says how it ended, whatever ended it.
    for (traces, output) in [("none-*.jsonl", "github"), ("bad.jsonl", "; touch hacked")] {
        std::fs::remove_file(folder.join("outputs")).expect("outputs");
        let all = act(&folder, &of(traces, output));
        assert_eq!(all[1].status.code(), Some(2), "{all:?}");
        assert_eq!(outputs(), "exit-code=2\n", "{traces} {output}");
    }
    assert!(!folder.join("hacked").exists());
}

#[test]
fn the_hooks_run() {
    let folder = directory("packages/hooks");
    std::fs::write(folder.join("good.tw"), "property p : G (a -> F b);\n").expect("a file");
    std::fs::write(folder.join("loose.tw"), "property p : G ((a) -> F b);\n").expect("a file");
    std::fs::write(folder.join("odd.tw"), "property p : G (q > 1 | q == \"x\");\n").expect("a file");
    std::fs::write(folder.join("bad.tw"), "property p : G (a -> ;\n").expect("a file");
    let hooks = read(".pre-commit-hooks.yaml");
    let entries: Vec<&str> = hooks.lines().filter_map(|line| line.strip_prefix("  entry: ")).collect();
    assert_eq!(entries.len(), 3);
    let run = |entry: &str, file: &str| {
        let words: Vec<&str> = entry.split(' ').collect();
        assert_eq!(words[0], "tracewise");
        let output = common::command()
            .current_dir(&folder)
            .args(&words[1..])
            .arg(file)
            .output()
            .expect("the command runs");
        output.status.code()
    };
    let (check, write, lint) = (entries[0], entries[1], entries[2]);
    assert_eq!(
        [run(check, "good.tw"), run(check, "loose.tw"), run(check, "bad.tw")],
        [Some(0), Some(1), Some(2)]
    );
    assert_eq!([run(lint, "good.tw"), run(lint, "odd.tw"), run(lint, "bad.tw")], [Some(0), Some(1), Some(2)]);
    assert_eq!([run(write, "loose.tw"), run(check, "loose.tw")], [Some(0), Some(0)]);
}

#[test]
fn packages_hold_what_they_should() {
    let folder = directory("packages/archives");
    // Packing what debuggers read would take a minute.
    let bare = folder.join("tracewise").to_string_lossy().into_owned();
    let stripped = Command::new("strip").args(["-o", &bare, env!("CARGO_BIN_EXE_tracewise")]).status();
    let program = match stripped {
        Ok(status) if status.success() => &bare,
        _ => env!("CARGO_BIN_EXE_tracewise"),
    };
    let output = Command::new(root().join("packaging/package"))
        .args([program, folder.to_string_lossy().as_ref()])
        .output()
        .expect("the script runs");
    assert!(output.status.success(), "{output:?}");
    let made = text(&output.stdout);
    let archive = made.lines().next().expect("an archive");
    let listed = Command::new("tar").args(["-tzf", archive]).output().expect("tar runs");
    let listed = text(&listed.stdout);
    for wanted in [
        "/bin/tracewise",
        "/share/man/man1/tracewise.1.gz",
        "/share/man/man1/tracewise-lsp.1.gz",
        "/share/bash-completion/completions/tracewise",
        "/share/zsh/site-functions/_tracewise",
        "/share/fish/vendor_completions.d/tracewise.fish",
        "/share/doc/tracewise/LICENSE-MIT",
        "/share/tracewise/schemas/check.json",
    ] {
        assert!(listed.lines().any(|line| line.ends_with(wanted)), "{wanted}: {listed}");
    }
    if let Some(package) = made.lines().find(|line| line.ends_with(".deb")) {
        let told = Command::new("dpkg-deb").args(["--info", package]).output().expect("dpkg-deb runs");
        assert!(text(&told.stdout).contains("Package: tracewise"), "{told:?}");
    }
}

/// The container file copies what is there and builds what there is.
#[test]
fn the_container_file_fits_the_tree() {
    let file = read("Containerfile");
    let mut copied = 0;
    for line in file.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["COPY", from, path, _] if from.starts_with("--from=") => {
                assert_eq!(*path, "/source/target/release/tracewise");
            }
            ["COPY", sources @ .., _] => {
                for source in sources {
                    assert!(root().join(source).exists(), "{source}");
                    copied += 1;
                }
            }
            ["RUN", ..] => {
                let script = line.strip_prefix("RUN ").expect("a command");
                let parsed = Command::new("bash").args(["-n", "-c", script]).status().expect("bash runs");
                assert!(parsed.success(), "{script}");
            }
            _ => {}
        }
    }
    assert!(copied >= 3);
    assert!(file.contains("cargo build --release --locked -p tw-cli"));
    assert!(root().join("Cargo.lock").exists());
}

/// The extension's own checks, where Node is there; it is packed where its dependencies were fetched.
#[test]
fn the_extension_is_whole() {
    let folder = root().join("editors/vscode");
    let node = |arguments: &[&str]| Command::new("node").args(arguments).current_dir(&folder).output();
    match node(&["test.mjs"]) {
        Err(error) => eprintln!("left out, there is no Node: {error}"),
        Ok(output) => assert!(output.status.success(), "{output:?}"),
    }
    if !folder.join("node_modules").exists() {
        eprintln!("the packing is left out: `npm ci` was not run");
        return;
    }
    let file = directory("packages/extension").join("tracewise.vsix");
    if let Ok(output) = node(&["package.mjs", &file.to_string_lossy()]) {
        assert!(output.status.success(), "{output:?}");
        let bytes = std::fs::read(&file).expect("the archive");
        assert!(bytes.starts_with(b"PK\x03\x04") && bytes.len() > 50_000);
        let names = [
            "extension/package.json",
            "extension/client.js",
            "extension.vsixmanifest",
            "vscode-languageclient",
        ];
        for name in names {
            assert!(bytes.windows(name.len()).any(|window| window == name.as_bytes()), "{name}");
        }
    }
}

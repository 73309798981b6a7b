//! The command line is consistent, and its page says what it is.

use super::exits::EXITS;
use super::{COMMANDS, program};
use crate::flags::{flag, flagged};
use tracewise::error::Setting;

#[test]
fn the_command_line_is_consistent() {
    program().debug_assert();
}

#[test]
fn every_setting_is_a_flag_of_some_command() {
    let mut commands = program();
    // Only then does each have its `--help`.
    commands.build();
    let all: Vec<&clap::Command> = commands.get_subcommands().collect();
    let known = |flag: &str| {
        let long = flag.trim_start_matches("--");
        all.iter().any(|command| command.get_arguments().any(|arg| arg.get_long() == Some(long)))
    };
    for &setting in Setting::ALL {
        assert!(known(&flag(setting)), "{} of {setting}", flag(setting));
    }
    assert_eq!(flagged("leave out ⟨by⟩: use `⟨clock: stamps⟩`"), "leave out --by: use `--clock stamps`");
}

/// The options of a group have a table of their own where several commands share them.
const SHARED: [&str; 1] = ["Reading traces"];

/// A cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "\\<").replace('\n', " ")
}

/// An option as it is written, and what it says of itself.
fn option(arg: &clap::Arg) -> (String, String) {
    let value = match arg.get_value_names() {
        Some(names) if arg.get_action().takes_values() => {
            names.iter().map(|name| format!(" {name}")).collect::<String>()
        }
        _ => String::new(),
    };
    let short = arg.get_short().map(|short| format!("-{short}"));
    let long = arg.get_long().map(|long| format!("--{long}"));
    let written: Vec<String> =
        short.into_iter().chain(long).map(|flag| format!("`{flag}{}`", cell(&value))).collect();
    let mut says = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let values: Vec<String> =
        arg.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
    // Which formats there are depends on how the program was built.
    if values.iter().any(|value| value == "`jsonl`") {
        says.push_str(" (see [formats](formats.md))");
    } else if !values.is_empty() && arg.get_action().takes_values() {
        says.push_str(&format!(": {}", values.join(", ")));
    }
    let defaults = arg.get_default_values();
    if !defaults.is_empty() && arg.get_action().takes_values() {
        let defaults: Vec<String> = defaults.iter().map(|own| own.to_string_lossy().into_owned()).collect();
        says.push_str(&format!(" [default: {}]", defaults.join(", ")));
    }
    (written.join(", "), cell(&says))
}

fn table(args: &[&clap::Arg]) -> String {
    let rows = args.iter().map(|arg| {
        let (written, says) = option(arg);
        format!("| {written} | {says} |\n")
    });
    format!("| option | meaning |\n|---|---|\n{}", rows.collect::<String>())
}

/// The options of a command that are its own, and the shared groups that it has.
fn own(command: &clap::Command) -> (Vec<&clap::Arg>, Vec<&'static str>) {
    const EVERYWHERE: [&str; 5] = ["help", "version", "color", "quiet", "deny"];
    let flags = command.get_arguments().filter(|arg| !arg.is_positional() && !arg.is_hide_set());
    let flags = flags.filter(|arg| !EVERYWHERE.contains(&arg.get_id().as_str()));
    let (shared, own): (Vec<&clap::Arg>, Vec<&clap::Arg>) =
        flags.partition(|arg| arg.get_help_heading().is_some_and(|heading| SHARED.contains(&heading)));
    let has = |group: &&&str| shared.iter().any(|arg| arg.get_help_heading() == Some(group));
    (own, SHARED.iter().filter(has).copied().collect())
}

/// Both parts of `docs/cli.md` that are made from the definitions: exit codes, and options.
fn parts() -> [(&'static str, String); 2] {
    let mut program = program();
    program.build();
    let mut exits = String::from("| command | 0 | 1 | 3 |\n|---|---|---|---|\n");
    for (name, [holds, violated, undecided]) in EXITS {
        exits.push_str(&format!("| `{name}` | {holds} | {violated} | {undecided} |\n"));
    }
    let mut options = String::new();
    for group in SHARED {
        let commands: Vec<&clap::Command> =
            program.get_subcommands().filter(|command| own(command).1.contains(&group)).collect();
        let names: Vec<String> = commands.iter().map(|own| format!("`{}`", own.get_name())).collect();
        let of_group = |command: &&clap::Command| {
            command.get_arguments().filter(|arg| arg.get_help_heading() == Some(group)).count()
        };
        let Some(most) = commands.iter().max_by_key(|own| of_group(own)) else { continue };
        let args: Vec<&clap::Arg> =
            most.get_arguments().filter(|arg| arg.get_help_heading() == Some(group)).collect();
        options.push_str(&format!("### {group}: options\n\nOf {}.\n\n{}\n", names.join(", "), table(&args)));
    }
    for command in COMMANDS {
        let Some(clap) = program.find_subcommand(command.name) else { continue };
        let (mut args, mut groups) = own(clap);
        // What several commands of a command have is told once.
        for (more, of_groups) in clap.get_subcommands().map(own) {
            for arg in more {
                if !args.iter().any(|known| known.get_id() == arg.get_id()) {
                    args.push(arg);
                }
            }
            groups.extend(of_groups.into_iter().filter(|group| !groups.contains(group)).collect::<Vec<_>>());
        }
        options.push_str(&format!("### `{}`: options\n\n", command.name));
        match args.is_empty() {
            true => options.push_str("None of its own.\n"),
            false => options.push_str(&table(&args)),
        }
        let links: Vec<String> = groups
            .iter()
            .map(|group| {
                format!("[{}](#{}-options)", group.to_lowercase(), group.to_lowercase().replace(' ', "-"))
            })
            .collect();
        if !links.is_empty() {
            options.push_str(&format!("\nand those for {}.\n", links.join(" and ")));
        }
        options.push('\n');
    }
    [("exit codes", exits), ("options", options.trim_end().to_string() + "\n")]
}

#[test]
fn the_page_lists_options_and_exit_codes_of_every_command() {
    let named: Vec<&str> = EXITS.iter().map(|(name, _)| *name).collect();
    let commands: Vec<&str> = COMMANDS.iter().map(|command| command.name).collect();
    assert_eq!(named, commands, "every command says in `exits.rs` what its exit codes mean");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/cli.md");
    let page = std::fs::read_to_string(path).expect("docs/cli.md");
    let mut fresh = page.clone();
    for (part, text) in parts() {
        let (begin, end) = (format!("<!-- {part}: made from the command line -->\n\n"), "\n<!-- end -->");
        let from = fresh.find(&begin).expect(part) + begin.len();
        let to = from + fresh[from..].find(end).expect(part);
        fresh.replace_range(from..to, &text);
    }
    if std::env::var_os("UPDATE_DOCS").is_some_and(|value| value != "0") {
        std::fs::write(path, fresh).expect("docs/cli.md");
    } else {
        assert!(page == fresh, "docs/cli.md is not up to date: UPDATE_DOCS=1 cargo test -p tw-cli --bins");
    }
    // What the page says by hand names options that there are.
    let mut program = program();
    program.build();
    let known = |flag: &str| {
        let has = |command: &clap::Command| command.get_arguments().any(|arg| arg.get_long() == Some(flag));
        has(&program) || program.get_subcommands().any(|own| has(own) || own.get_subcommands().any(has))
    };
    for row in page.lines().filter(|line| line.starts_with("| `-")) {
        let first = row.split(" | ").next().unwrap_or(row);
        for word in first.split(['`', ' ', ',']).filter_map(|word| word.strip_prefix("--")) {
            assert!(known(word), "docs/cli.md has an option that there is not: --{word}");
        }
    }
}

//! The commands: one file and one row in [`COMMANDS`] each.

mod chart;
mod check;
mod classify;
mod completions;
mod convert;
mod coverage;
mod eval;
mod explain;
mod fmt;
mod generate;
mod import;
mod init;
mod inspect;
mod lint;
mod lsp;
mod man;
mod merge;
mod model_check;
mod query;
mod races;
#[cfg(target_os = "linux")]
mod record;
mod residuals;
mod robust;
mod schema;
mod serve;
mod simulate;
mod slice;
mod split;
mod stream;
mod templates;
mod test;
mod watch;

use crate::context::{Context, Failure, Outcome};
use crate::exit::Exit;
use crate::style::ColorChoice;
use clap::{Arg, ArgAction, ArgMatches, Args, value_parser};
use std::ffi::OsString;
use std::io;

/// A command of the program.
pub struct Command {
    /// Its name.
    pub name: &'static str,
    /// Adds its arguments and help.
    define: fn(clap::Command) -> clap::Command,
    /// Runs it.
    run: fn(&ArgMatches, &mut Context) -> Outcome,
}

/// A row, made from a type that derives [`Args`] and its run function.
const fn row<A: Args + Runnable>(name: &'static str) -> Command {
    Command { name, define: A::augment_args, run: run_with::<A> }
}

/// Arguments that know what to do.
trait Runnable {
    /// Does it.
    fn run(self, context: &mut Context) -> Outcome;
}

fn run_with<A: Args + Runnable>(matches: &ArgMatches, context: &mut Context) -> Outcome {
    match A::from_arg_matches(matches) {
        Ok(arguments) => arguments.run(context),
        Err(error) => Err(crate::context::usage(error.to_string())),
    }
}

/// Every command, in the order of help.
pub static COMMANDS: &[Command] = &[
    row::<check::Check>("check"),
    row::<query::Query>("query"),
    row::<eval::Eval>("eval"),
    row::<classify::Classify>("classify"),
    row::<watch::Watch>("watch"),
    #[cfg(target_os = "linux")]
    row::<record::Record>("record"),
    row::<serve::Serve>("serve"),
    row::<robust::Robust>("robust"),
    row::<stream::Stream>("stream"),
    row::<chart::Chart>("chart"),
    row::<explain::Explain>("explain"),
    row::<fmt::Fmt>("fmt"),
    row::<lint::Lint>("lint"),
    row::<lsp::Lsp>("lsp"),
    row::<generate::Generate>("generate"),
    row::<import::Import>("import"),
    row::<test::Test>("test"),
    row::<inspect::Inspect>("inspect"),
    row::<init::Init>("init"),
    row::<convert::Convert>("convert"),
    row::<slice::SliceBy>("slice"),
    row::<split::Split>("split"),
    row::<templates::Templates>("templates"),
    row::<simulate::Simulate>("simulate"),
    row::<merge::Merge>("merge"),
    row::<model_check::ModelCheck>("model-check"),
    row::<coverage::CoverageOf>("coverage"),
    row::<races::Races>("races"),
    row::<schema::Schema>("schema"),
    row::<completions::Completions>("completions"),
    row::<man::Man>("man"),
];

const EXIT_CODES: &str = "\
Exit codes: 0 all properties hold, 1 something is violated, 2 bad usage or input, 3 undecided.";

/// The whole command line.
pub fn program() -> clap::Command {
    let program = clap::Command::new("tracewise")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Check traces, logs and live events against temporal requirements")
        .after_help(EXIT_CODES)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(
            Arg::new("color")
                .long("color")
                .global(true)
                .display_order(900)
                .value_name("WHEN")
                .value_parser(value_parser!(ColorChoice))
                .default_value("auto")
                .hide_possible_values(true)
                .help("Colour: auto, always or never"),
        )
        .arg(
            Arg::new("quiet")
                .long("quiet")
                .short('q')
                .global(true)
                .display_order(900)
                .action(ArgAction::SetTrue)
                .help("Print nothing but errors; the exit code tells the outcome"),
        )
        .arg(
            Arg::new("deny")
                .long("deny")
                .global(true)
                .display_order(900)
                .value_name("WHAT")
                .value_parser(["warnings"])
                .hide_possible_values(true)
                .help("With `warnings`, a warning gives the exit code of a violation"),
        );
    COMMANDS.iter().fold(program, |program, command| {
        program.subcommand((command.define)(clap::Command::new(command.name)))
    })
}

/// Runs the command line; its exit.
pub fn run(arguments: Vec<OsString>) -> Exit {
    let program = program().color(help_color(&arguments));
    let matches = match program.try_get_matches_from(&arguments) {
        Ok(matches) => matches,
        Err(error) => {
            // Help and version are "errors" of code 0, on standard output; a reader who has seen enough may leave.
            let printed = error.print();
            if error.exit_code() != 0 {
                return Exit::Bad;
            }
            let printed = printed.or_else(|error| match error.kind() {
                io::ErrorKind::BrokenPipe => Ok(()),
                _ => Err(Failure::Output(error)),
            });
            let mut context = Context::new(ColorChoice::default(), false, "text");
            return context.conclude(printed.map(|()| Exit::Holds));
        }
    };
    let Some((name, matches)) = matches.subcommand() else { return Exit::Bad };
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else { return Exit::Bad };
    let color = matches.get_one::<ColorChoice>("color").copied().unwrap_or_default();
    // The last word of `chart check` has the option.
    let inner = matches.subcommand().map_or(matches, |(_, inner)| inner);
    let form = inner.try_get_one::<String>("output").ok().flatten();
    let form = form.map_or("text", String::as_str);
    let mut context = Context::new(color, matches.get_flag("quiet"), form);
    context.deny = matches.contains_id("deny");
    let outcome = (command.run)(matches, &mut context);
    context.conclude(outcome)
}

/// Help is coloured before the arguments are understood, so `--color` is looked for by hand.
fn help_color(arguments: &[OsString]) -> clap::ColorChoice {
    let texts: Vec<&str> = arguments.iter().filter_map(|argument| argument.to_str()).collect();
    let after = texts.windows(2).find(|pair| pair[0] == "--color").map(|pair| pair[1]);
    match after.or_else(|| texts.iter().find_map(|text| text.strip_prefix("--color="))) {
        Some("always") => clap::ColorChoice::Always,
        Some("never") => clap::ColorChoice::Never,
        _ => clap::ColorChoice::Auto,
    }
}

/// `--output text|json` of the commands that have no other outputs.
#[derive(Args, Clone, Debug)]
pub struct OutputArgs {
    /// Text for people, or one JSON object per line
    #[arg(long, value_name = "FORM", default_value = "text", value_parser = ["text", "json"])]
    output: String,
}

impl OutputArgs {
    /// Whether JSON is wanted.
    pub fn json(&self) -> bool {
        self.output == "json"
    }
}

#[cfg(test)]
mod exits;
#[cfg(test)]
mod tests;

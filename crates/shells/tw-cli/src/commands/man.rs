//! `tracewise man`: manual pages.

use super::Runnable;
use crate::context::{Context, Outcome, usage};
use crate::exit::Exit;
use clap::{Args, ValueHint};
use clap_mangen::Man as Page;
use std::io::{self, Write};
use std::path::PathBuf;
use tracewise::files::write_file;

/// Manual pages: the main one on standard output, or all of them into a directory
#[derive(Args, Debug)]
pub struct Man {
    /// Directory to write `tracewise.1`, `tracewise-check.1`, … into
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    directory: Option<PathBuf>,
}

impl Runnable for Man {
    fn run(self, context: &mut Context) -> Outcome {
        let mut program = super::program();
        program.build();
        let Some(directory) = self.directory else {
            context.out.data();
            context.out.write_all(&page(program)?)?;
            return Ok(Exit::Holds);
        };
        let mut pages = vec![("tracewise.1".to_string(), page(program.clone())?)];
        for command in program.get_subcommands().filter(|command| command.get_name() != "help") {
            // Building has given every command its full name.
            let name = command.get_display_name().unwrap_or(command.get_name());
            pages.push((format!("{name}.1"), page(command.clone())?));
        }
        let failed = |path: &std::path::Path, error: io::Error| {
            usage(format!("cannot write the manual pages to `{}`: {error}", path.display()))
        };
        std::fs::create_dir_all(&directory).map_err(|error| failed(&directory, error))?;
        for (name, bytes) in pages {
            let path = directory.join(name);
            write_file(&path, &bytes).map_err(|error| failed(&path, error))?;
            if !context.quiet {
                writeln!(context.out, "{}", path.display())?;
            }
        }
        Ok(Exit::Holds)
    }
}

fn page(command: clap::Command) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    Page::new(command).render(&mut bytes)?;
    Ok(bytes)
}

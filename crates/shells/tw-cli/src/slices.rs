//! `--slices` and what goes with it: a log in pieces.

use crate::context::{Failure, usage};
use crate::options::named;
use clap::Args;
use std::path::PathBuf;
use tracewise::slicing::{Filter, Slicing};

/// How a log is cut into slices.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Slices")]
pub struct SliceArgs {
    /// Evaluate the log in so many slices; the output is the same
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub slices: Option<u32>,

    /// Slice on these outer variables, `c` or `c,s` [default: the one that costs least]
    #[arg(long, value_name = "VARIABLE", value_delimiter = ',')]
    pub slice_on: Vec<String>,

    /// Slice in time, too: periods of this length (7d, 12h, or a number in the trace's unit)
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    pub period: Option<String>,

    /// Slices evaluated at once [default: as many as threads]
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,

    /// Leave positions at which nothing happens out of slices: where it changes nothing, always (else refused), or never
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = named(&Filter::ALL))]
    pub filter_empty: Filter,

    /// Evaluate positions with equal timestamps as one; a property that can tell is refused
    #[arg(long)]
    pub collapse: bool,

    /// Evaluate slices in so many processes; one that dies is started again
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), requires = "slices")]
    pub workers: Option<u16>,

    /// Where slices wait that do not fit into memory [default: the system's directory for temporary files]
    #[arg(long, value_name = "DIR")]
    pub spill: Option<PathBuf>,

    /// Evaluates slices for another process, which names them on standard input
    #[arg(long, hide = true)]
    pub work: bool,
}

impl SliceArgs {
    /// How the log is cut, if it is.
    pub fn slicing(&self) -> Result<Option<Slicing>, Failure> {
        if self.slices.is_none() && self.period.is_none() {
            let alone = [
                (!self.slice_on.is_empty(), "--slice-on"),
                (self.jobs.is_some(), "--jobs"),
                (self.filter_empty == Filter::On, "--filter-empty on"),
                (self.collapse, "--collapse"),
                (self.spill.is_some(), "--spill"),
            ];
            return match alone.iter().find(|(given, _)| *given) {
                Some((_, option)) => {
                    Err(usage(format!("{option} is about slices: add --slices N or --period LENGTH")))
                }
                None => Ok(None),
            };
        }
        let workers = match self.workers {
            Some(count) => Some((own_command()?, usize::from(count))),
            None => None,
        };
        Ok(Some(Slicing {
            slices: self.slices.map_or(1, |slices| slices as usize),
            on: self.slice_on.clone(),
            period: self.period.clone(),
            jobs: self.jobs.map(usize::from),
            filter: self.filter_empty,
            collapse: self.collapse,
            workers,
            spill: self.spill.clone(),
            ..Slicing::default()
        }))
    }
}

/// This very command, to be a worker.
fn own_command() -> Result<Vec<String>, Failure> {
    let program = std::env::current_exe().map_err(|error| usage(format!("cannot start workers: {error}")))?;
    let mut command = vec![program.display().to_string()];
    command.extend(std::env::args().skip(1));
    command.push("--work".into());
    Ok(command)
}

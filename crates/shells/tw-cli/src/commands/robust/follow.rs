//! Streams: values are told as they come.

use super::Robust;
use super::printer::Printer;
use super::screen::Screen;
use crate::commands::watch::signals;
use crate::context::{Context, Failure, Outcome, usage};
use crate::exit::Exit;
use crate::report::{self, Reporter};
use std::io::{self, IsTerminal};
use std::time::Instant;
use tracewise::findings::Report;
use tracewise::robust::{Predictor, RobustLive, Telling};
use tracewise::watch::{Control, WatchSource};
use tracewise::{Session, Specification};

/// Follows one stream.
pub fn run(
    arguments: &Robust,
    spec: &Specification,
    files: &[String],
    session: &Session,
    reporter: &mut dyn Reporter,
    context: &mut Context,
) -> Outcome {
    let live = &arguments.live;
    let stored = [
        (arguments.at.is_some(), "--at"),
        (arguments.plot.is_some(), "--plot"),
        (arguments.interpolate.is_some(), "--interpolate"),
    ];
    for (given, option) in stored {
        if given {
            return Err(usage(format!(
                "{option} is for stored traces; a stream tells every position as it comes"
            )));
        }
    }
    let telling = match (live.live.as_deref(), live.predict) {
        (Some("now"), predictor) => Telling::Now(predictor.unwrap_or_default()),
        (None, Some(predictor)) => Telling::Now(predictor),
        (Some(what), Some(_)) => {
            return Err(usage(format!("--predict tells the value now, not --live {what}: leave one out")));
        }
        (Some("interval"), None) => Telling::Interval,
        _ => Telling::Exact,
    };
    let period = match &live.period {
        None => None,
        // A straight line goes on as between the last two samples, so it has their distance.
        Some(_) if telling != Telling::Now(Predictor::Hold) => {
            return Err(usage("--period is how far apart samples are that `--predict hold` predicts"));
        }
        Some(period) => match period.nanoseconds(arguments.read.with(&spec.settings).unit(), "--period")? {
            0 => return Err(usage("--period has to be more than nothing")),
            period => Some(period),
        },
    };
    let screen = match live.live_plot {
        false => None,
        true => Some(screen(context)?),
    };
    let options = RobustLive {
        source: source(arguments, files)?,
        telling,
        period,
        stop_on_negative: live.stop_on_negative,
        skip_bad_lines: arguments.read.skip_bad_lines,
        signals: screen.is_some(),
        every: screen.as_ref().map(|_| Screen::EVERY),
    };
    let control = Control::new();
    signals::install(&control).map_err(|error| usage(format!("cannot wait for signals: {error}")))?;
    let named = spec.program.roots.len() > 1;
    let form = arguments.form.output.as_str();
    let (json, streams, sources) = (form == "json", report::streams(form), &spec.sources);
    let mut printer = Printer { context, sources, json, streams, named, screen, started: Instant::now() };
    let report = session.robust_live(spec, &options, &control, &mut printer);
    printer.last_picture()?;
    let report = report?;
    printer.summary(&report);
    let elapsed = printer.started.elapsed();
    if !streams && !context.quiet {
        let report = Report::of_robust_live(options.source.name(), &report, spec, None, elapsed);
        reporter.report(&report, &mut context.out)?;
    }
    Ok(Exit::Holds)
}

/// Where the stream comes from.
fn source(arguments: &Robust, files: &[String]) -> Result<WatchSource, Failure> {
    if let Some(address) = &arguments.live.listen {
        return Ok(WatchSource::Listen(address.clone()));
    }
    match (files, arguments.live.follow) {
        ([one], true) if one == "-" => {
            Err(usage("--follow needs a file; standard input is followed to its end anyway"))
        }
        ([one], _) if one == "-" => Ok(WatchSource::Stdin),
        ([one], true) => Ok(WatchSource::Follow(one.clone())),
        ([one], false) => Ok(WatchSource::File(one.clone())),
        (several, _) => Err(usage(format!("a stream is one trace, but {} files were given", several.len()))),
    }
}

/// The terminal to draw in: standard output, or standard error where the output goes elsewhere.
fn screen(context: &Context) -> Result<Screen, Failure> {
    let error_too = match (io::stdout().is_terminal(), io::stderr().is_terminal()) {
        (true, _) => false,
        (false, true) => true,
        (false, false) => {
            return Err(usage(
                "--live-plot needs a terminal, but neither the output nor the errors go to one",
            ));
        }
    };
    let style = if error_too { context.error_style } else { context.style };
    Ok(Screen::new(style.color, error_too))
}

//! `tracewise record`: a program runs, its calls of libc become a trace, or are checked while it runs.

mod signals;

use super::Runnable;
use super::watch::printer::Printer;
use crate::context::{Context, Failure, Outcome, usage};
use crate::exit::Exit;
use crate::options::{FILES, library, specification};
use crate::output::{Kind, Output};
use crate::report::{self, FormArgs, Reporter, Silent};
use crate::words;
use clap::Args;
use signals::Forward;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::process::ExitStatusExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tracewise::findings::Gathered;
use tracewise::record::{Bell, RecordOptions, Recorded, Recording, Summary, check_name, writer};
use tracewise::watch::{
    Control, LiveSink, Observation, Pending, WatchOptions, WatchSender, WatchSink, WatchSource, WatchValue,
    WatchVerdict, watch_channel,
};
use tracewise::{Error, Evaluating, Reading, Semantics, Session, Specification, Verdict, diag::Diagnostic};

/// Run a program; what it asks of libc becomes a trace, or is checked while it runs
#[derive(Args, Debug)]
#[command(
    override_usage = "tracewise record [OPTIONS] -- PROGRAM [ARGUMENT]…",
    after_help = "\
With neither -o nor --check nor --library the program is checked with the library `posix`. What is found is told on standard error (or in --report); \
standard input and output are the program's.
Exit code: the program's, whatever was found (with --fail, 1 where it would be 0 and a rule of severity `error` is violated, with --deny warnings also one of severity `warning`); a program that a signal ended ends the \
command the same way. 2 bad usage, or the program cannot be recorded."
)]
pub struct Record {
    /// The program and its arguments
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    program: Vec<OsString>,

    /// Write the trace here, a line of JSON per call; compressed if the name ends in .gz or .zst
    #[arg(short = 'o', long = "out", value_name = "TRACE", value_hint = FILES)]
    out: Option<String>,

    /// Check this specification while the program runs
    #[arg(long, value_name = "SPEC.tw", value_hint = FILES, conflicts_with = "library")]
    check: Option<String>,

    /// Check the rules of a library while the program runs: `posix`
    #[arg(long, value_name = "NAME")]
    library: Option<String>,

    /// This property or monitor alone, by its name; may be given several times
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// Tell what is found here, not on standard error
    #[arg(long, value_name = "FILE", value_hint = FILES)]
    report: Option<String>,

    /// Exit code 1 where the program's is 0 and a rule is violated
    #[arg(long)]
    fail: bool,

    /// Go on until the processes that the program leaves behind have ended
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    form: FormArgs,
}

/// A program that is to be run, and what it is to be checked by.
struct Prepared<'r> {
    program: &'r str,
    spec: Option<Specification>,
    recording: Recording,
}

/// What came of the rules.
#[derive(Clone, Copy, PartialEq)]
enum Judged {
    Holds,
    Violated,
    /// They could not be checked to the end.
    Failed,
}

impl Runnable for Record {
    fn run(self, context: &mut Context) -> Outcome {
        let kind = match self.form.output.as_str() {
            "text" => Kind::Text { color: context.error_style.color && self.report.is_none() },
            "json" | "sarif" => Kind::Json,
            _ => Kind::Data,
        };
        let prepared = match self.prepared() {
            // What stands in the file is not emptied for a program that does not run.
            Err(failure) if self.report.is_some() => return Err(failure),
            prepared => prepared,
        };
        context.out = match &self.report {
            None => {
                context.style = context.error_style;
                Output::over(io::stderr(), kind)
            }
            Some(path) => Output::over(made(path)?, kind),
        };
        let mut ended = None;
        let outcome = report::with(&self.form.output, Silent, context, |reporter, context| {
            self.record(prepared?, reporter, context, &mut ended)
        });
        if let Some(signal) = ended
            && outcome.is_ok()
        {
            context.out.flush()?;
            signals::end_by(signal);
        }
        outcome
    }
}

fn made(path: &str) -> Result<File, Error> {
    File::create(path).map_err(|error| Error::io(format!("cannot write `{path}`"), error))
}

impl Record {
    /// Everything that can be refused, before any file is written.
    fn prepared(&self) -> Result<Prepared<'_>, Failure> {
        let Some((program, arguments)) = self.program.split_first() else {
            return Err(usage("no program given: tracewise record -- PROGRAM"));
        };
        let Some(program) = program.to_str() else {
            return Err(usage("the program's name is not UTF-8"));
        };
        if self.out.as_deref() == Some("-") {
            return Err(usage("standard output is the program's: name a file for the trace"));
        }
        self.out.as_deref().map(check_name).transpose()?;
        let spec = self.specification()?;
        let options =
            RecordOptions { program: program.to_string(), arguments: arguments.to_vec(), all: self.all };
        Ok(Prepared { program, spec, recording: Recording::new(&options)? })
    }

    fn record(
        &self,
        prepared: Prepared<'_>,
        reporter: &mut dyn Reporter,
        context: &mut Context,
        ended: &mut Option<i32>,
    ) -> Outcome {
        let Prepared { program, spec, recording } = prepared;
        if let Some(spec) = &spec {
            context.warnings(&spec.warnings, &spec.sources);
        }
        let file = self.out.as_deref().map(Trace::new).transpose()?;
        let forward =
            signals::forward().map_err(|error| usage(format!("cannot wait for signals: {error}")))?;
        let (Written { recorded, failed }, judged) = match &spec {
            None => (written(recording, file, None, &forward)?, Judged::Holds),
            Some(spec) => self.checked(recording, file, forward, spec, reporter, context)?,
        };
        self.summary(program, &recorded, context);
        if let Some(error) = &failed {
            context.error(error);
        }
        *ended = recorded.status.signal();
        Ok(match recorded.status.code() {
            Some(0) if self.fail && (judged == Judged::Violated || context.denied()) => Exit::Violated,
            Some(0) if judged == Judged::Failed || failed.is_some() => Exit::Bad,
            Some(code) => Exit::Program(code as u8),
            None => Exit::Program((128 + recorded.status.signal().unwrap_or_default()) as u8),
        })
    }

    fn specification(&self) -> Result<Option<Specification>, Failure> {
        let spec = match (&self.check, &self.library) {
            (Some(path), _) if path == "-" => {
                return Err(usage("standard input is the program's: name a file for the specification"));
            }
            (Some(path), _) => specification(path)?,
            (None, Some(name)) => library(name)?,
            (None, None) if self.out.is_none() => library("posix")?,
            (None, None) => return Ok(None),
        };
        Ok(Some(spec.only(&self.only)?.into_owned()))
    }

    /// Records and watches: lines go to the file and through a channel to the one loop that watches streams.
    fn checked(
        &self,
        recording: Recording,
        file: Option<Trace>,
        forward: Forward,
        spec: &Specification,
        reporter: &mut dyn Reporter,
        context: &mut Context,
    ) -> Result<(Written, Judged), Failure> {
        let bell = recording.checking();
        let (sender, source) = watch_channel(self.out.as_deref().unwrap_or("<recorded>"));
        let reader = std::thread::Builder::new().name("recorder".into());
        let control = Control::new();
        let watching = control.clone();
        let over = Arc::new(AtomicBool::new(false));
        let refused = over.clone();
        let reader = reader.spawn(move || {
            // Rules are ready before the program begins: it is not to run ahead of them.
            while !watching.begun() && !refused.load(Ordering::Acquire) {
                std::thread::sleep(Duration::from_micros(200));
            }
            if !watching.begun() {
                return Ok(None);
            }
            written(recording, file, Some(sender), &forward).map(Some)
        })?;
        let started = Instant::now();
        let read = Reading { format: Some("jsonl".into()), ..Reading::default() };
        let evaluating = Evaluating { semantics: Semantics::Ltl3, ..Evaluating::default() };
        let session = Session::new().reading(read).evaluating(evaluating);
        let options = WatchOptions { ..WatchOptions::new(source) };
        let gathers = !report::streams(&self.form.output);
        let gathered = gathers.then(|| Gathered::new(spec, Semantics::Ltl3.name()));
        let json = self.form.output == "json";
        let printer = Printer {
            context,
            sources: &spec.sources,
            json,
            observers: false,
            gathered,
            alarm: None,
            started,
        };
        let library = self.check.is_none();
        let mut sink = Told { printer, bell, library };
        let report = session.watch(spec, &options, &control, &mut sink);
        over.store(true, Ordering::Release);
        let Told { mut printer, .. } = sink;
        let gathered = printer.gathered.take();
        let recorded = reader
            .join()
            .unwrap_or_else(|_| Err(Error::Internal("the thread that reads records has failed".into())))?;
        let (recorded, report) = match (recorded, report) {
            (Some(recorded), Ok(report)) => (recorded, report),
            (Some(recorded), Err(error)) => {
                // The program has run, and its end is what the command ends with; unless that would pass for a success.
                context.error(&error);
                return Ok((recorded, Judged::Failed));
            }
            (None, report) => {
                report?;
                return Err(Error::Internal("the program was not run".into()).into());
            }
        };
        if let Some(gathered) = gathered.filter(|_| !context.quiet) {
            let found = gathered.finish(WatchSource::name(&options.source), &report, started.elapsed());
            reporter.report(&found, &mut context.out)?;
        }
        let verdict = |holds: &bool| if *holds { Verdict::Satisfied } else { Verdict::Violated };
        let mut exit = Exit::Holds;
        for (severity, silent) in &report.monitors {
            exit = exit.and(context.weigh(verdict(silent), *severity));
        }
        let verdicts = report.verdicts.iter().map(verdict);
        exit = verdicts
            .chain(report.requirements.iter().copied())
            .fold(exit, |exit, verdict| exit.and(verdict.into()));
        Ok((recorded, if exit == Exit::Violated { Judged::Violated } else { Judged::Holds }))
    }

    /// How the recording went, for people; what is missing is said whatever the form.
    fn summary(&self, program: &str, recorded: &Recorded, context: &mut Context) {
        let summary = &recorded.summary;
        if context.quiet {
            return;
        }
        let json = self.form.output == "json";
        let name = words::printable(program);
        let to =
            self.out.as_ref().map_or(String::new(), |out| format!(", written to {}", words::printable(out)));
        let counted = [
            words::counted(summary.events, "event"),
            processes(summary.processes),
            words::counted(summary.threads, "thread"),
        ];
        let how = match (recorded.status.code(), recorded.status.signal()) {
            (Some(code), _) => format!("exit code {code}"),
            (None, signal) => format!("ended by {}", tracewise::record::signal(signal.unwrap_or_default())),
        };
        context.remark(&format!("recorded {name}: {}; {how}{to}", counted.join(", ")), json);
        for missing in missing(summary) {
            context.remark(&missing, json);
        }
    }
}

fn processes(count: u64) -> String {
    format!("{} {}", words::count(count), if count == 1 { "process" } else { "processes" })
}

/// What the trace does not have.
fn missing(summary: &Summary) -> Vec<String> {
    let mut said = Vec::new();
    if summary.processes == 0 {
        said.push(
            "nothing was recorded: the library was not loaded into the program, or found no memory there"
                .into(),
        );
    }
    let mut say = |count: u64, what: &str| {
        if count > 0 {
            said.push(format!("{} {what}", words::counted(count, "event")));
        }
    };
    say(summary.lost, "could not be written: more threads or calls than the shared memory holds");
    say(
        summary.unfinished,
        "had begun and not come back when their thread was ended, or left them by longjmp",
    );
    say(summary.late, "stand later than their order: their calls took seconds");
    if summary.killed > 0 {
        let what = processes(summary.killed);
        said.push(format!("{what} ended without an exit of its own; the trace is whole up to there"));
    }
    if summary.running > 0 {
        let what = processes(summary.running);
        said.push(format!(
            "{what} still running when the program ended, recorded up to there (--all goes on)"
        ));
    }
    for program in &summary.unrecorded {
        let name = words::printable(program);
        said.push(format!(
            "`{name}` was executed and not recorded: it is static, privileged, another user's or of another machine"
        ));
    }
    said
}

/// The program has run; whether its trace could be written is another matter.
struct Written {
    recorded: Recorded,
    failed: Option<Error>,
}

/// The file of the trace.
struct Trace {
    path: String,
    file: File,
}

impl Trace {
    fn new(path: &str) -> Result<Self, Error> {
        Ok(Self { path: path.to_string(), file: made(path)? })
    }

    /// Large writes, and compressed as the name says.
    fn writer(self) -> Result<BufWriter<Box<dyn Write>>, Error> {
        let file =
            writer(&self.path, self.file).map_err(|error| Error::io("cannot write the trace", error))?;
        Ok(BufWriter::with_capacity(1 << 16, file))
    }
}

/// Reads the program's events to their end, into the file and to the watch.
fn written(
    recording: Recording,
    file: Option<Trace>,
    sender: Option<WatchSender>,
    forward: &Forward,
) -> Result<Written, Error> {
    let mut file = file.map(Trace::writer).transpose()?;
    let (mut sender, mut failed) = (sender, None);
    let recorded = recording.run(
        |pid| forward.to(pid),
        |lines| {
            if let Some(to) = &mut file
                && let Err(error) = to.write_all(lines)
            {
                // The program goes on; that the trace ends here is told in the end.
                failed = Some(error);
                file = None;
            }
            if sender.as_ref().is_some_and(|sender| sender.send(std::mem::take(lines)).is_err()) {
                sender = None;
            }
        },
    );
    let recorded = recorded?;
    let flushed = file.map_or(Ok(()), |mut file| file.flush());
    let failed = failed.or(flushed.err()).map(|error| Error::io("cannot write the trace", error));
    Ok(Written { recorded, failed })
}

/// Tells verdicts on standard error, and the program that it need not wait for them.
struct Told<'p> {
    printer: Printer<'p>,
    bell: Bell,
    /// The rules are of a library: what of them the program never calls is no news.
    library: bool,
}

impl LiveSink for Told<'_> {
    fn bad_line(&mut self, error: &Error) {
        self.printer.bad_line(error);
    }

    fn note(&mut self, note: &str) {
        if !(self.library && note.contains("not occurred")) {
            self.printer.note(note);
        }
    }

    fn warnings(&mut self, warnings: &[Diagnostic]) {
        if !self.library {
            self.printer.warnings(warnings);
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.printer.flush()
    }
}

impl WatchSink for Told<'_> {
    fn verdict(&mut self, verdict: &WatchVerdict<'_>) -> io::Result<()> {
        // That a rule holds is not told of each of a library.
        if verdict.verdict == Verdict::Violated || !self.library {
            self.printer.verdict(verdict)?;
            self.printer.flush()?;
        }
        if verdict.verdict == Verdict::Violated {
            self.bell.ring();
        }
        Ok(())
    }

    fn observation(&mut self, seen: &Observation<'_>) -> io::Result<()> {
        self.printer.observation(seen)
    }

    fn value(&mut self, value: &WatchValue) -> io::Result<()> {
        self.printer.value(value)
    }

    fn pending(&mut self, positions: u64, pending: &[Pending<'_>]) -> io::Result<()> {
        self.printer.pending(positions, pending)
    }
}

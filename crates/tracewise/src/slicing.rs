//! `check` by slices: the log is cut into pieces, each is evaluated by itself, and what they say together is what the whole says.
//!
//! What can be cut is found for each property by `decide`; cutting and putting together is `tw_log_slices`. The trace is in memory;
//! pieces beyond the memory budget wait on disk, and so do those that other processes evaluate (`workers`). A log beyond the budget
//! flows through live monitors (`flow`). Slices wait in a queue (`queue`), in which one that is slow is divided again.

mod decide;
pub(crate) mod flow;
mod keeping;
mod keyed;
pub(crate) mod manifest;
mod partial;
mod pieces;
mod plan;
mod queue;
pub(crate) mod split;
pub(crate) mod workers;

use crate::error::Setting;
use crate::plan::{Who, choose, restrict};
use crate::run::Run;
use crate::{Error, Session, Specification};
pub(crate) use decide::{Way, decide};
pub use partial::{Partial, PartialProperty};
use pieces::{Pieces, Slice, Spill};
pub use plan::Plan;
pub(crate) use plan::derived;
use queue::{Hands, Stop};
pub use split::{MANIFEST, SplitReport};
use std::path::PathBuf;
use std::time::Duration;
use tw_core::Bits;
use tw_diag::Diagnostic;
use tw_ir::{Clock, Semantics};
use tw_log_slices::{Sliced, as_one, cut_keys, merge};
use tw_monitor::{Answer, Answers, Bindings, EvaluateOptions, Trace};
pub use workers::Work;
use workers::Workers;

/// How a log is cut.
#[derive(Clone, Debug, PartialEq)]
pub struct Slicing {
    /// How many slices there are; with a period, in each.
    pub slices: usize,
    /// The variables whose values divide the log; found, if there are none.
    pub on: Vec<String>,
    /// The length of time slices: a number, and a unit if it is time.
    pub period: Option<String>,
    /// Threads that evaluate slices; as many as read, if it is not said.
    pub jobs: Option<usize>,
    /// Whether positions at which nothing happens are left out.
    pub filter: Filter,
    /// Whether positions with equal timestamps are evaluated as one; a property that can tell is refused.
    pub collapse: bool,
    /// How long a slice may take, at least, before it is divided again while others wait: then it is if it takes several times what
    /// most take. Zero: whenever others wait.
    pub patience: Duration,
    /// The command of processes that evaluate slices, and how many run at once.
    pub workers: Option<(Vec<String>, usize)>,
    /// Where slices wait that do not fit into memory; the system's place for such, if it is not said.
    pub spill: Option<PathBuf>,
}

impl Default for Slicing {
    /// One slice.
    fn default() -> Self {
        let (on, period, jobs, filter) = (Vec::new(), None, None, Filter::Auto);
        let patience = Duration::from_millis(100);
        Self { slices: 1, on, period, jobs, filter, collapse: false, patience, workers: None, spill: None }
    }
}

/// Whether positions at which nothing happens are left out of slices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// Where a property cannot tell.
    #[default]
    Auto,
    /// Always; a property that can tell is refused.
    On,
    /// Never.
    Off,
}

impl Filter {
    /// Every one with its name.
    pub const ALL: [(&'static str, Filter); 3] =
        [("auto", Filter::Auto), ("on", Filter::On), ("off", Filter::Off)];
}

/// What slices say, and what is to be said about slicing.
type Told = (Vec<Answer>, Vec<Diagnostic>);

/// What each property is worth, by slices.
pub(crate) fn answers(run: &mut Run<'_>, slicing: &Slicing, limit: usize) -> Result<Told, Error> {
    refuse(&run.options, slicing)?;
    if run.loaded.trace.len > u32::MAX as usize {
        let message = format!("a log of {} positions is not sliced in memory", run.loaded.trace.len);
        return Err(Error::refused(message));
    }
    if run.order.by_key() {
        return Ok((by_keys(run, slicing, limit)?, Vec::new()));
    }
    let roots = &run.spec.program.roots;
    let mut answers: Vec<Option<Answer>> = vec![None; roots.len()];
    let (mut notes, mut whole) = (Vec::new(), Vec::new());
    for (number, root) in roots.iter().enumerate() {
        let alone = run.spec.with_roots(vec![root.clone()]);
        let trace = restrict(&run.loaded.trace, &run.spec.program, &alone.program);
        match decide(&alone, Some(&trace), &run.options, slicing) {
            Ok(way) => match sliced(run, (&alone, number), &trace, &way, slicing, limit)? {
                Some(answer) => answers[number] = Some(answer),
                None => whole.push(number),
            },
            Err(reason) => {
                notes
                    .push(Diagnostic::note("not-sliced", format!("`{}` is not sliced: {reason}", root.name)));
                whole.push(number);
            }
        }
    }
    if notes.len() == roots.len() && !roots.is_empty() {
        let reasons: Vec<&str> = notes.iter().map(|note| note.message.as_str()).collect();
        return Err(match given(slicing) {
            Some(given) => Error::refused_instead(reasons.join("\n"), format!("leave out {given}")),
            None => Error::refused(reasons.join("\n")),
        });
    }
    if !whole.is_empty() {
        let others = run.spec.with_roots(whole.iter().map(|&number| roots[number].clone()).collect());
        let trace = restrict(&run.loaded.trace, &run.spec.program, &others.program);
        let mut chosen = choose(run.session, &others, &run.options, Who::Any(Answers::Verdicts))?;
        let found = chosen.answers(&others, &run.options, &trace, limit)?;
        for (number, answer) in whole.into_iter().zip(found) {
            answers[number] = Some(answer);
        }
    }
    Ok((answers.into_iter().flatten().collect(), notes))
}

/// The settings by which slices were asked for.
fn given(slicing: &Slicing) -> Option<String> {
    let given = [
        (slicing.slices > 1, Setting::Slices),
        (slicing.period.is_some(), Setting::Period),
        (!slicing.on.is_empty(), Setting::SliceOn),
    ];
    let names: Vec<String> = given.iter().filter(|own| own.0).map(|own| own.1.to_string()).collect();
    let (last, before) = names.split_last()?;
    Some(if before.is_empty() { last.clone() } else { format!("{} and {last}", before.join(", ")) })
}

/// What no log is sliced for.
fn refuse(options: &EvaluateOptions, slicing: &Slicing) -> Result<(), Error> {
    if slicing.slices == 0 {
        return Err(Error::refused(format!("{}: there is at least one", Setting::Slices.to(0))));
    }
    if options.semantics == Semantics::Ltl3 {
        return Err(Error::refused_instead(
            "slices do not share the end of the log, which verdicts over all continuations are about",
            format!("use {}", Setting::Semantics.to("finite")),
        ));
    }
    if options.clock == Clock::Dense {
        return Err(Error::refused_instead(
            "slices are made of positions, and in continuous time more happens than at those",
            format!("use {}", Setting::Clock.to("stamps")),
        ));
    }
    Ok(())
}

/// Threads that evaluate slices.
fn jobs(session: &Session, slicing: &Slicing) -> usize {
    slicing.jobs.unwrap_or(session.read.threads).max(1)
}

/// One property by slices; nothing where the engine refuses a slice, which has values that the log has not.
fn sliced(
    run: &Run<'_>,
    (alone, root): (&Specification, usize),
    trace: &Trace,
    way: &Way,
    slicing: &Slicing,
    limit: usize,
) -> Result<Option<Answer>, Error> {
    let spill = Spill::new(slicing, run.session.evaluate.memory_budget);
    let (session, options) = (run.session, &run.options);
    let pieces = Pieces { alone, options, way, spill: &spill };
    let slices = pieces.cut(trace, slicing)?;
    let most = |slice: &Slice| if slice.exact { limit } else { usize::MAX };
    let here = |slice: &Slice, stop: &Stop| -> Result<Option<Sliced>, Error> {
        let piece = slice.piece()?;
        let options = EvaluateOptions { stop: Some(stop.flag.clone()), ..options.clone() };
        let answer = evaluate(session, alone, &options, (&piece.trace, way.collapse), most(slice))?;
        let of = |answer| Sliced {
            shard: piece.shard.clone(),
            order: piece.order.clone(),
            answer,
            exact: slice.exact,
        };
        Ok(answer.map(of))
    };
    let workers = slicing.workers.as_ref().map(|(command, _)| Workers::new(command));
    let evaluate = |slice: &Slice, stop: &Stop| match (&workers, slice.file()) {
        (Some(workers), Some(file)) => {
            let (clock, collapse, file) = (options.clock, way.collapse, file.to_path_buf());
            let work = Work { root, clock, collapse, most: most(slice), file };
            workers.evaluate(slice, &work, stop, &here)
        }
        _ => here(slice, stop),
    };
    let count = slicing.workers.as_ref().map_or(jobs(session, slicing), |(_, count)| *count);
    let divide = |slice: &Slice, depth| pieces.divide(slice, depth);
    let hands = Hands { evaluate: &evaluate, divide: &divide, count, patience: slicing.patience };
    let (found, _) = hands.run(slices)?;
    let found: Option<Vec<Sliced>> = found.into_iter().collect();
    Ok(found.map(|found| merge(found, limit)))
}

/// The answer of a program with one root on a slice; nothing where the engine refuses it. With `collapse`, positions with equal
/// timestamps are evaluated as one, and those that are violated once more each by itself.
pub(crate) fn evaluate(
    session: &Session,
    alone: &Specification,
    options: &EvaluateOptions,
    (trace, collapse): (&Trace, bool),
    limit: usize,
) -> Result<Option<Answer>, Error> {
    let plainly = |trace: &Trace, limit: usize| plainly(session, alone, options, trace, limit);
    match collapse {
        true => as_one(trace, limit, plainly),
        false => plainly(trace, limit),
    }
}

fn plainly(
    session: &Session,
    alone: &Specification,
    options: &EvaluateOptions,
    trace: &Trace,
    limit: usize,
) -> Result<Option<Answer>, Error> {
    if trace.len == 0 {
        let holds = Bits::repeat(true, 1);
        return Ok(Some(Answer { holds, ..Answer::default() }));
    }
    let options = EvaluateOptions { threads: 1, ..options.clone() };
    let mut chosen = choose(session, alone, &options, Who::Any(Answers::Verdicts))?;
    Ok(chosen.evaluator.evaluate(trace, limit).ok().and_then(|mut answers| answers.pop()))
}

/// A log that is divided by a column is sliced by the values of that column.
fn by_keys(run: &Run<'_>, slicing: &Slicing, limit: usize) -> Result<Vec<Answer>, Error> {
    if slicing.collapse {
        return Err(Error::refused(format!(
            "with {} each value has positions of its own, which are not evaluated as one",
            Setting::By
        )));
    }
    if slicing.period.is_some() || !slicing.on.is_empty() {
        return Err(Error::refused_instead(
            format!("with {} the values of that column are what is sliced", Setting::By),
            format!("leave out {} and {}", Setting::Period, Setting::SliceOn),
        ));
    }
    let trace = &run.loaded.trace;
    let parts = cut_keys(trace, slicing.slices);
    let (session, spec) = (run.session, run.spec);
    let options = EvaluateOptions { threads: 1, ..run.options.clone() };
    let one = |number: &usize, _: &Stop| {
        let mut chosen = choose(session, spec, &options, Who::Any(Answers::Verdicts))?;
        Ok((*number, chosen.answers(spec, &options, &parts[*number].0.trace, limit)?))
    };
    let (count, patience) = (jobs(session, slicing), slicing.patience);
    let hands = Hands { evaluate: &one, divide: &|_, _| Ok(None), count, patience };
    let (mut found, _) = hands.run((0..parts.len()).collect())?;
    found.sort_by_key(|(number, _)| *number);
    let keys = trace.starts().len();
    let mut whole: Vec<Answer> = run
        .spec
        .program
        .roots
        .iter()
        .map(|_| Answer { holds: Bits::repeat(true, keys), ..Answer::default() })
        .collect();
    for ((piece, own), (_, answers)) in parts.iter().zip(found) {
        for (answer, found) in whole.iter_mut().zip(answers) {
            own.iter().enumerate().for_each(|(at, key)| answer.holds.set(*key, found.holds.get(at)));
            answer.violation_count += found.violation_count;
            answer.violations.extend(found.violations.iter().map(|&at| piece.order[at] as usize));
            answer.bindings.extend(found.bindings);
        }
    }
    for answer in &mut whole {
        let bound = answer.bindings.len() == answer.violations.len();
        let bindings = std::mem::take(&mut answer.bindings);
        let mut all: Vec<(usize, Bindings)> = std::mem::take(&mut answer.violations)
            .into_iter()
            .zip(bindings.into_iter().chain(std::iter::repeat(Bindings::default())))
            .collect();
        all.sort_by_key(|(at, _)| *at);
        all.truncate(limit);
        let (violations, bindings) = all.into_iter().unzip();
        answer.violations = violations;
        answer.bindings = if bound { bindings } else { Vec::new() };
    }
    Ok(whole)
}

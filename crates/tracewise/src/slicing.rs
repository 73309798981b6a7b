//! `check` by slices: the log is cut into pieces, each is evaluated by itself, and what they say together is what the whole says.
//!
//! What can be cut is found for each property by `decide`; cutting and putting together is `tw_log_slices`. The trace is in memory;
//! pieces beyond the memory budget wait on disk, and so do those that other processes evaluate (`workers`). A log beyond the budget
//! flows through live monitors (`flow`).

mod decide;
pub(crate) mod flow;
pub(crate) mod manifest;
mod partial;
mod pieces;
mod plan;
pub(crate) mod split;
pub(crate) mod workers;

use crate::error::Setting;
use crate::plan::{Who, choose, restrict};
use crate::run::Run;
use crate::{Error, Session, Specification};
pub(crate) use decide::{Way, decide};
pub use partial::{Partial, PartialProperty};
use pieces::{Pieces, Spill};
pub use plan::Plan;
pub use split::{MANIFEST, SplitReport};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tw_core::{Bits, Column, Value};
use tw_diag::Diagnostic;
use tw_ir::{Clock, Semantics};
use tw_log_slices::{Piece, Sliced, cut_keys, merge};
use tw_monitor::{Answer, Answers, Bindings, EvaluateOptions, Trace};
pub use workers::Work;

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
    /// The command of processes that evaluate slices, and how many run at once.
    pub workers: Option<(Vec<String>, usize)>,
    /// Where slices wait that do not fit into memory; the system's place for such, if it is not said.
    pub spill: Option<PathBuf>,
}

impl Default for Slicing {
    /// One slice.
    fn default() -> Self {
        let (on, period, jobs, filter) = (Vec::new(), None, None, Filter::Auto);
        Self { slices: 1, on, period, jobs, filter, workers: None, spill: None }
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
            Ok(_) if written_twice(&trace) => whole.push(number),
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
        return Err(Error::refused_instead(reasons.join("\n"), format!("leave out {}", Setting::Slices)));
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

/// Which numbers were seen: whole ones, and reals that could be written as such. Where a log has both, 2 and 2.0, which of them is
/// told depends on what was seen before, in all of it.
#[derive(Default)]
struct Written {
    whole: AtomicBool,
    real: AtomicBool,
}

impl Written {
    fn look(&self, trace: &Trace) {
        let look = |value: &Value| match value {
            Value::Int(_) => self.whole.store(true, Ordering::Relaxed),
            Value::Real(own) if own.fract() == 0.0 => self.real.store(true, Ordering::Relaxed),
            _ => {}
        };
        let tuples = trace.relations.iter().flat_map(|relation| relation.columns());
        for column in tuples.chain(trace.terms.iter().map(|term| &term.column)) {
            match column {
                Column::Int { values, .. } if !values.is_empty() => look(&Value::Int(0)),
                Column::Real { values, .. } => values.iter().for_each(|own| look(&Value::Real(*own))),
                Column::Any(values) => values.iter().for_each(look),
                _ => {}
            }
        }
    }

    fn twice(&self) -> bool {
        self.whole.load(Ordering::Relaxed) && self.real.load(Ordering::Relaxed)
    }
}

/// Whether a log has numbers in both ways.
fn written_twice(trace: &Trace) -> bool {
    let written = Written::default();
    written.look(trace);
    written.twice()
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
    let spill = Spill::new(slicing, run.session.evaluate.memory_budget)?;
    let pieces = Pieces::cut(alone, trace, &run.options, way, &spill, slicing)?;
    let exact = pieces.exact;
    let most = if exact { limit } else { usize::MAX };
    let (session, options) = (run.session, &run.options);
    let evaluate = |piece: &Piece| -> Result<Option<Answer>, Error> {
        evaluate(session, alone, options, &piece.trace, most)
    };
    let found = match &slicing.workers {
        Some(workers) => {
            let work = Work { root, clock: run.options.clock, most, file: PathBuf::new() };
            workers::evaluate(&pieces, workers, &work, &evaluate)?
        }
        None => parallel(jobs(run.session, slicing), pieces.len(), &|number| {
            let piece = pieces.get(number)?;
            Ok(evaluate(&piece)?.map(|answer| Sliced {
                shard: piece.shard.clone(),
                order: piece.order.clone(),
                answer,
            }))
        })?,
    };
    let found: Option<Vec<Sliced>> = found.into_iter().collect();
    Ok(found.map(|found| merge(found, limit, exact)))
}

/// The answer of a program with one root on a slice; nothing where the engine refuses it.
pub(crate) fn evaluate(
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
    let found = parallel(jobs(session, slicing), parts.len(), &|number| {
        let mut chosen = choose(session, spec, &options, Who::Any(Answers::Verdicts))?;
        chosen.answers(spec, &options, &parts[number].0.trace, limit)
    })?;
    let keys = trace.starts().len();
    let mut whole: Vec<Answer> = run
        .spec
        .program
        .roots
        .iter()
        .map(|_| Answer { holds: Bits::repeat(true, keys), ..Answer::default() })
        .collect();
    for ((piece, own), answers) in parts.iter().zip(found) {
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

/// Does numbered things on several threads, and gives what they come to in the order of their numbers.
fn parallel<T: Send>(
    jobs: usize,
    count: usize,
    work: &(dyn Fn(usize) -> Result<T, Error> + Sync),
) -> Result<Vec<T>, Error> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Result<T, Error>)>> = Mutex::new(Vec::with_capacity(count));
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(count) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    let result = work(number);
                    let failed = result.is_err();
                    done.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((number, result));
                    if failed {
                        next.store(count, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

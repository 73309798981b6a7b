//! Why a chart is violated: how far it got, the event that broke it, and the log lines of the events before.

use super::drawing::{Mark, drawing};
use crate::check::{Step, log_line};
use crate::run::Run;
use tw_core::Position;
use tw_diag::Diagnostic;
use tw_engine_charts::Feed;
use tw_ir::Root;
use tw_ir::chart::{Check, Condition, Event, Reading};

/// Events that are kept for an explanation, the last ones.
const KEPT: usize = 4096;
/// Events that are shown where no window says how many matter.
const SHOWN: usize = 12;

/// What is told of a violated chart.
pub(crate) struct Told {
    pub step: Step,
    pub drawing: Vec<String>,
}

/// Explains a violation in a segment: at a position of the trace as evaluated, or at the end.
pub(crate) fn explain(run: &Run<'_>, root: &Root, segment: usize, at: Option<Position>) -> Option<Told> {
    let program = &run.spec.program;
    let trace = &run.loaded.trace;
    let (_, check, nodes) = program.chart(root.node)?;
    if trace.atoms.len() != program.atoms().len() {
        return None;
    }
    let feed = Feed::new(program, &nodes).ok()?;
    let (start, end) = (trace.starts()[segment], trace.segment_end(segment));
    let last = at.map_or(end, |at| at + 1);
    let mut word: Vec<(Position, usize)> = Vec::new();
    feed.columns(&trace.atoms, last, |position, events| {
        if position < start {
            return;
        }
        if word.len() >= 2 * KEPT {
            word.drain(..KEPT);
        }
        let mut events: Vec<usize> = events.iter().map(|&event| event as usize).collect();
        events.sort_unstable();
        word.extend(events.into_iter().map(|event| (position, event)));
    });
    let story = tell(check, &word, at.is_some());
    let shown: Vec<Position> = story.shown.iter().map(|&at| run.order.original(word[at].0)).collect();
    let located = run.loaded.locate(&shown);
    let position = run.order.original(at.unwrap_or(end - 1));
    let line = |position: Position| located.get(&position).and_then(log_line);
    let time = |position: Position| located.get(&position).and_then(|located| located.time);
    let because = story.shown.iter().zip(&shown).map(|(&place, &position)| {
        let event = &check.events[word[place].1];
        let broke = story.broke == Some(place);
        Step {
            formula: name(event),
            holds: !broke,
            from: position,
            to: position,
            time: time(position),
            reason: sentence(check, word[place].1, broke),
            values: Vec::new(),
            line: line(position),
            pending_since: None,
            because: Vec::new(),
        }
    });
    let step = Step {
        formula: root.name.clone(),
        holds: false,
        from: position,
        to: position,
        time: time(position),
        reason: story.reason,
        values: Vec::new(),
        line: None,
        pending_since: None,
        because: because.collect(),
    };
    Some(Told { step, drawing: drawing(check, &story.marks, Some(&story.cut)) })
}

/// That nothing of a chart happened: then it is satisfied for want of events.
pub(crate) fn silent(run: &Run<'_>, root: &Root) -> Option<Diagnostic> {
    let (program, trace) = (&run.spec.program, &run.loaded.trace);
    let (_, check, nodes) = program.chart(root.node)?;
    let feed = Feed::new(program, &nodes).ok().filter(|_| trace.atoms.len() == program.atoms().len())?;
    let mut any = false;
    feed.columns(&trace.atoms, trace.len, |_, _| any = true);
    if any {
        return None;
    }
    let (first, last) = (&check.events[0], &check.events[check.events.len() - 1]);
    let message =
        format!("no event of `{}` happens in this trace, from {} to {}", root.name, name(first), name(last));
    let help =
        "events are `send(msg)` and `recv(msg)`, or columns `dir` and `msg`; ⟨map⟩ names other columns";
    Some(Diagnostic::warning("chart-without-events", message).at(root.span, "nothing was asked").help(help))
}

/// That events of an iterated chart belong to executions that are not complete: those are not counted.
pub(crate) fn incomplete(run: &Run<'_>, root: &Root) -> Option<Diagnostic> {
    let (program, trace) = (&run.spec.program, &run.loaded.trace);
    let (_, check, nodes) = program.chart(root.node).filter(|(_, check, _)| check.iterate.is_some())?;
    let feed = Feed::new(program, &nodes).ok().filter(|_| trace.atoms.len() == program.atoms().len())?;
    let mut left = [0u64; 2];
    let mut counts = vec![0u64; check.events.len()];
    let mut close = |counts: &mut Vec<u64>| {
        for (side, own) in [0..check.pre, check.pre..check.events.len()].into_iter().enumerate() {
            let (least, most) = (counts[own.clone()].iter().min(), counts[own].iter().max());
            left[side] += most.zip(least).map_or(0, |(most, least)| most - least);
        }
        counts.fill(0);
    };
    let mut segment = 0;
    feed.columns(&trace.atoms, trace.len, |position, events| {
        while position >= trace.segment_end(segment) {
            close(&mut counts);
            segment += 1;
        }
        events.iter().for_each(|&event| counts[event as usize] += 1);
    });
    close(&mut counts);
    let [(pre, first), (main, second)] = &check.parts;
    let named = [(left[0], format!("`{pre}.{first}`")), (left[1], format!("`{main}.{second}`"))];
    let told: Vec<String> =
        named.into_iter().filter(|own| own.0 > 0).map(|(n, name)| format!("{n} of {name}")).collect();
    let message = format!("executions are not complete, and are not counted: {}", told.join(", "));
    let found = Diagnostic::warning("chart-incomplete", message).at(root.span, "this chart is iterated");
    (!told.is_empty()).then(|| found.help("some of their events never come: look for what was lost"))
}

/// A violation told: places in the word.
struct Story {
    reason: String,
    /// What is said where the chart stopped.
    cut: String,
    shown: Vec<usize>,
    /// The event that broke it.
    broke: Option<usize>,
    marks: Vec<Mark>,
}

fn name(event: &Event) -> String {
    format!("{} {}", event.direction.word(), event.message)
}

fn sentence(check: &Check, event: usize, broke: bool) -> String {
    let (chart, part) = &check.parts[usize::from(event >= check.pre)];
    let own = &check.events[event];
    let what = match own.direction {
        tw_ir::chart::Direction::Send => format!("`{}` sends it to `{}`", own.lifeline, own.other),
        tw_ir::chart::Direction::Recv => format!("`{}` receives it from `{}`", own.lifeline, own.other),
    };
    if broke { format!("{what}, which does not fit here") } else { format!("{what}, in {chart}.{part}") }
}

/// Whether events are distinct ones of a basic chart, each after those that precede it.
fn begins(check: &Check, main: bool, events: &[(Position, usize)]) -> bool {
    let (from, len) = if main { (check.pre, check.main()) } else { (0, check.pre) };
    let mut cut = 0u64;
    events.iter().all(|&(_, event)| {
        let own = event.wrapping_sub(from);
        let fits = own < len && cut >> own & 1 == 0 && check.before[event] & !cut == 0;
        cut |= if own < len { 1 << own } else { 0 };
        fits
    })
}

fn tell(check: &Check, word: &[(Position, usize)], broken: bool) -> Story {
    let part = |side: usize| format!("{}.{}", check.parts[side].0, check.parts[side].1);
    let (pre, main) = (part(0), part(1));
    let whole = word.len();
    let windows = check.iterate.is_none() && check.reading != Reading::Ltl;
    let tail = whole.saturating_sub(SHOWN);
    match (check.condition, windows) {
        (Condition::Necessary, true) => {
            // The prechart whose main chart is not there.
            let until = if broken { whole.saturating_sub(1) } else { whole };
            let done = (check.pre..=until).rev().find(|&end| {
                let rest = check.reading == Reading::Precedes || begins(check, true, &word[end..until]);
                rest && begins(check, false, &word[end - check.pre..end])
            });
            let end = done.unwrap_or(until);
            let from = end.saturating_sub(check.pre);
            let got = if check.reading == Reading::Precedes { end } else { until };
            let marks = marked(check, &word[from..got]);
            let next = expected(check, &word[end..got]);
            let directly = if check.reading == Reading::Segment { " directly" } else { "" };
            let start = format!("{pre} is complete, and {main} has to follow{directly}");
            let (reason, cut) = match word.last().filter(|_| broken) {
                Some(&(_, event)) => {
                    let event = name(&check.events[event]);
                    (format!("{start}: expected {next}, found {event}"), format!("found {event}"))
                }
                None => (format!("{start}: the trace ends before {next}"), "the trace ends here".to_owned()),
            };
            let shown = (from..whole.min(from + 4 * SHOWN)).collect();
            Story { reason, cut, shown, broke: broken.then(|| whole.saturating_sub(1)), marks }
        }
        (Condition::Sufficient, true) => {
            let from = whole.saturating_sub(check.main());
            let before = from.saturating_sub(check.pre);
            let marks = marked(check, &word[from..]);
            let (reason, cut) = match check.reading {
                Reading::Precedes => (
                    format!("{main} is complete, and {pre} has not been before it"),
                    format!("{pre} is missing"),
                ),
                _ => (
                    format!("{main} is complete, and {pre} does not come directly before it"),
                    format!("{pre} does not come directly before"),
                ),
            };
            Story { reason, cut, shown: (before..whole).collect(), broke: whole.checked_sub(1), marks }
        }
        _ => {
            let (reason, cut) = match (check.iterate, check.condition, broken) {
                (Some(_), _, true) => (
                    format!(
                        "an execution of {pre} or {main} is complete here, and it is out of order, overlaps the one before or lacks its partner"
                    ),
                    "an execution is complete here".to_owned(),
                ),
                (Some(_), Condition::Necessary, false) => (
                    format!("the trace ends before each execution of {pre} has one of {main} after it"),
                    "the trace ends here".to_owned(),
                ),
                (Some(_), Condition::Sufficient, false) => (
                    format!("the trace ends with more executions of {main} than of {pre}"),
                    "the trace ends here".to_owned(),
                ),
                (None, Condition::Necessary, _) => (
                    format!("{pre} happens once and in order, {main} does not"),
                    "the trace ends here".to_owned(),
                ),
                (None, Condition::Sufficient, _) => (
                    format!("{main} happens once and in order, {pre} does not before it"),
                    "the trace ends here".to_owned(),
                ),
            };
            let marks = marked(check, &word[tail..]);
            Story { reason, cut, shown: (tail..whole).collect(), broke: None, marks }
        }
    }
}

fn marked(check: &Check, events: &[(Position, usize)]) -> Vec<Mark> {
    let mark = |own: usize| match events.iter().any(|&(_, event)| event == own) {
        true => Mark::Done,
        false => Mark::Missing,
    };
    (0..check.events.len()).map(mark).collect()
}

/// The events of the main chart that may come next.
fn expected(check: &Check, events: &[(Position, usize)]) -> String {
    let own = |event: usize| event.checked_sub(check.pre).filter(|own| *own < check.main());
    let cut = events.iter().filter_map(|&(_, event)| own(event)).fold(0u64, |cut, own| cut | 1 << own);
    let next = |at: &usize| cut >> at & 1 == 0 && check.before[check.pre + at] & !cut == 0;
    let names: Vec<String> =
        (0..check.main()).filter(next).map(|at| name(&check.events[check.pre + at])).collect();
    names.join(" or ")
}

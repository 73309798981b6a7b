//! Columns that equations define, put into batches before predicates read them: after what timestamps say, which they may use.

use super::windows;
use crate::{Error, Session, Specification};
use std::sync::Arc;
use tw_core::codec::{Corrupt, put_text, take_text};
use tw_core::{Batch, Column, GrowingTexts, Time, Value};
use tw_diag::Diagnostic;
use tw_ir::{SlotId, StreamType};
use tw_monitor::PredicateError;
use tw_streams::{Ahead, Divided, Measure, Pass, Plan, StreamError, Streams, ZeroCycle};

/// The equations of a specification, and how far they have come.
#[derive(Clone)]
pub(crate) struct Computing {
    streams: Arc<Streams>,
    pass: Pass,
    /// Positions that wait for later ones, where equations look ahead on a live trace.
    ahead: Option<(Arc<Plan>, Ahead)>,
}

impl Computing {
    /// Of a specification that has some; `key` is the column read as keys, and whether it divides the whole trace. Streams around
    /// a cycle of weight 0 are refused, unless they are Boolean.
    pub fn new(
        session: &Session,
        spec: &Specification,
        key: (Option<&str>, bool),
    ) -> Result<Option<Self>, Error> {
        windows::refuse(session, spec)?;
        let measure = Measure { clock: session.evaluate.clock, unit: session.read.unit };
        let divided = Divided { key: key.0, whole: key.1, measure };
        let Some(streams) = Streams::divided(&spec.program, divided) else { return Ok(None) };
        match streams.cycle(&spec.program) {
            Some(cycle) if !cycle.boolean => Err(circular(spec, &cycle)),
            _ => Ok(Some(Self { streams: Arc::new(streams), pass: Pass::default(), ahead: None })),
        }
    }

    /// The same, where only having values matters.
    #[must_use]
    pub fn unseen(self) -> Self {
        Self { streams: Arc::new(Streams::clone(&self.streams).unseen()), ..self }
    }

    /// What these slots need alone; `None` if they need nothing.
    #[must_use]
    pub fn only(self, read: impl Fn(SlotId) -> bool) -> Option<Self> {
        Some(Self { streams: Arc::new(self.streams.only(read)?), ..self })
    }

    /// The same, for positions whose successors are not known: how far streams look ahead must be bounded.
    pub fn live(session: &Session, spec: &Specification, by: Option<&str>) -> Result<Option<Self>, Error> {
        let Some(mut computing) = Self::new(session, spec, (by, by.is_some()))? else { return Ok(None) };
        if let Some(cycle) = computing.streams.cycle(&spec.program) {
            return Err(circular(spec, &cycle));
        }
        if !computing.looks_back() {
            let Some(plan) = computing.streams.plan(&spec.program) else {
                return Err(Error::refused_instead(
                    "the streams of this specification look ahead without a bound: through themselves, or to the next \
                     position of a key, which may never come",
                    "check a stored trace, or look back there",
                ));
            };
            computing.ahead = Some((Arc::new(plan), Ahead::default()));
        }
        Ok(Some(computing))
    }

    /// The same, for positions that are told at once.
    pub fn at_once(session: &Session, spec: &Specification) -> Result<Option<Self>, Error> {
        let computing = Self::live(session, spec, None)?;
        if computing.as_ref().is_some_and(|computing| !computing.looks_back()) {
            return Err(Error::refused_instead(
                "the streams of this specification look ahead, and these positions are told at once",
                "use offsets that look back",
            ));
        }
        Ok(computing)
    }

    /// Whether batches can be filled one after the other.
    pub fn looks_back(&self) -> bool {
        self.streams.looks_back()
    }

    /// Fills the next batch.
    pub fn fill(&mut self, spec: &Specification, batch: &mut Batch) -> Result<(), PredicateError> {
        self.pass.fill(&self.streams, &spec.program, batch).map_err(predicate)
    }

    /// Fills a batch of one position, of which nothing but its time is said beside.
    pub fn fill_at(
        &mut self,
        spec: &Specification,
        time: Option<Time>,
        batch: &mut Batch,
    ) -> Result<(), PredicateError> {
        batch.times = time.map(|time| vec![time]);
        self.fill(spec, batch)
    }

    /// Fills one position, a value per slot.
    pub fn row(
        &mut self,
        spec: &Specification,
        time: Option<Time>,
        row: &mut [Value],
    ) -> Result<(), PredicateError> {
        self.pass.row(&self.streams, &spec.program, time, row).map_err(predicate)
    }

    /// Takes the next positions; gives back what equations say of the first that wait and are complete now.
    pub fn ahead(
        &mut self,
        spec: &Specification,
        batch: &Batch,
    ) -> Result<Vec<(SlotId, Column)>, PredicateError> {
        let Some((plan, ahead)) = &mut self.ahead else { return Ok(Vec::new()) };
        ahead.push((&self.streams, &spec.program, plan), batch).map_err(predicate)
    }

    /// No position comes any more: the same for all that wait.
    pub fn rest(&mut self, spec: &Specification) -> Result<Vec<(SlotId, Column)>, PredicateError> {
        let Some((plan, ahead)) = &mut self.ahead else { return Ok(Vec::new()) };
        ahead.finish((&self.streams, &spec.program, plan)).map_err(predicate)
    }

    /// Fills all positions at once.
    pub fn whole(&self, spec: &Specification, batch: &mut Batch) -> Result<(), PredicateError> {
        self.streams.whole(&spec.program, batch).map_err(predicate)
    }

    /// Writes how far it has come, and of which equations.
    pub fn save(&self, spec: &Specification, out: &mut Vec<u8>) {
        put_text(&equations(spec), out);
        match &self.ahead {
            None => self.pass.save(out),
            Some((_, ahead)) => ahead.save(out),
        }
    }

    /// Reads that again; the equations must be the same.
    pub fn load(&mut self, spec: &Specification, from: &mut &[u8]) -> Result<bool, Corrupt> {
        if *take_text(from)? != *equations(spec) {
            return Ok(false);
        }
        match &mut self.ahead {
            None => self.pass = Pass::load(&self.streams, from)?,
            Some((_, ahead)) => *ahead = Ahead::load(&self.streams, from)?,
        }
        Ok(true)
    }
}

/// All equations as text: what was carried belongs to these.
fn equations(spec: &Specification) -> String {
    let line = |stream: &tw_ir::Stream| {
        let by = stream.by.as_ref().map_or(String::new(), |by| format!(" by {by}"));
        format!(
            "{}: {} = {}{by}\n",
            stream.name,
            stream.ty.name(),
            tw_ir::display(&spec.program, stream.node)
        )
    };
    let window = |(_, window): (_, &tw_ir::Window)| {
        let per = window.per.as_ref().map_or(String::new(), |per| format!(" by {per}"));
        let parts: Vec<String> = window.parts().map(|part| tw_ir::display(&spec.program, part)).collect();
        format!("{} over {}{per}: {}\n", window.aggregate, window.over, parts.join(" : "))
    };
    spec.program.streams.iter().map(line).chain(spec.program.windows().map(window)).collect()
}

fn predicate(error: StreamError) -> PredicateError {
    PredicateError { node: error.node, position: error.position, message: error.message }
}

/// Streams that are defined by each other at the same position.
pub(crate) fn circular(spec: &Specification, cycle: &ZeroCycle) -> Error {
    let names = cycle.names.join("`, `");
    let through =
        crate::stream::walk_text(&cycle.walk).map_or(String::new(), |text| format!(", through {text}"));
    let message = match &cycle.names[..] {
        [one] => format!("the stream `{one}` is defined by its own value at the same position{through}"),
        _ => format!("the streams `{names}` are defined by each other at the same position{through}"),
    };
    let mut diagnostic = Diagnostic::error("zero-cycle", message);
    if let Some(span) = spec.span(cycle.node) {
        diagnostic = diagnostic.at(span, "this equation is part of the cycle");
    }
    let first = cycle.names.first().map_or("y", String::as_str);
    let ty = spec.program.streams.iter().find(|stream| stream.name == first).map(|stream| stream.ty);
    let default = match ty {
        Some(StreamType::Int | StreamType::Real) => "0",
        Some(StreamType::Text) => "\"\"",
        _ => "false",
    };
    let who = if cycle.names.len() == 1 { "it" } else { "one of them" };
    let help = format!("let {who} look at another position: `{first}[-1|{default}]`");
    Error::Unsupported {
        diagnostic: diagnostic.help(help),
        sources: Box::new(spec.sources.clone()),
        exhausted: false,
    }
}

/// Batches laid end to end.
#[derive(Default)]
pub(crate) struct Gathered {
    batch: Batch,
    texts: Vec<GrowingTexts>,
}

impl Gathered {
    /// Appends a batch.
    pub fn push(&mut self, more: Batch) {
        let before = self.batch.len;
        self.batch.len += more.len;
        match (&mut self.batch.times, more.times) {
            (Some(times), Some(more)) => times.extend(more),
            (times, more) if before == 0 => *times = more,
            _ => {}
        }
        if before == 0 {
            self.texts.resize_with(more.slots.len(), GrowingTexts::default);
            self.batch.slots = more.slots;
            return;
        }
        for ((column, more), texts) in self.batch.slots.iter_mut().zip(more.slots).zip(&mut self.texts) {
            texts.append(column, more);
        }
    }

    /// Bytes held, about.
    pub fn held(&self) -> usize {
        self.batch.slots.iter().map(Column::heap_bytes).sum::<usize>() + self.batch.len * 8
    }

    /// Positions so far.
    pub fn len(&self) -> usize {
        self.batch.len
    }

    /// All of them.
    pub fn into_batch(self) -> Batch {
        self.batch
    }
}

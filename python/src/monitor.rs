//! Monitors that Python feeds: batches, or one position at a time.

mod told;

pub use told::{Pending, Verdict};

use crate::data::Data;
use crate::error::{checked, refused};
use crate::report::Violation;
use crate::settings::Settings;
use crate::values;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyString};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use tracewise::findings;
use tracewise::live::{Bindings, Computed, Known, Outcome, Plan, PlanOptions, Row, ShardMonitor, Telling};
use tracewise::trace::{Projection, RecordReader, Stamp, TimeStyle};
use tracewise::{Error, Reading, Semantics, Specification, Time, TimeUnit, Value};

/// Times of positions that are remembered, so that violations settled later can say when they were.
const REMEMBERED: usize = 1 << 20;

/// What columns of timestamps are called, where it is not `time`.
const USUAL: [&str; 2] = ["ts", "timestamp"];

/// A specification at work on a live trace, or on one per key.
#[pyclass(frozen, module = "tracewise")]
pub struct Monitor {
    inner: Mutex<Inner>,
}

struct Inner {
    spec: Arc<Specification>,
    shard: ShardMonitor,
    by: Option<String>,
    reading: Reading,
    reader: Option<(SchemaRef, RecordReader)>,
    /// Names of properties and monitors; of each property whether it is `G φ`.
    names: Vec<(Arc<str>, bool)>,
    /// The times of the latest positions, and the position of the first of them.
    times: VecDeque<Time>,
    first: usize,
    style: TimeStyle,
    /// Whether keys were numbers before they were texts.
    numeric: bool,
    /// Whether positions need a time.
    timed: bool,
    /// Digits of a nanosecond behind the point of a time.
    digits: usize,
}

impl Monitor {
    /// A monitor that has seen nothing, or goes on from a state.
    pub fn over(spec: &Arc<Specification>, settings: Settings, state: Option<Vec<u8>>) -> PyResult<Self> {
        let evaluating = settings.evaluating(Semantics::Ltl3);
        let options = PlanOptions {
            semantics: evaluating.semantics,
            clock: evaluating.clock,
            unit: settings.unit(),
            telling: Telling::Violations,
            engine: evaluating.engine,
            memory_budget: evaluating.memory_budget,
            state_budget: evaluating.state_budget,
        };
        if spec.program.derives() {
            return Err(refused("a monitor has no columns that equations define; check() computes them"));
        }
        let plan = checked(Plan::new(spec, &options))?;
        let mut shard = checked(ShardMonitor::new(&plan, settings.by.as_deref()))?;
        if let Some(state) = state {
            checked(shard.restore(&state))?;
        }
        let program = &plan.specification().program;
        let roots = program
            .roots
            .iter()
            .map(|root| (root.name.as_str().into(), program.invariant(root.node).is_some()));
        let monitors = program.monitors.iter().map(|monitor| (monitor.name.as_str().into(), true));
        let names = roots.chain(monitors).collect();
        let reading = Reading { any_order: !plan.timed(), ..settings.reading()? };
        let inner = Inner {
            spec: Arc::clone(spec),
            by: settings.by.clone(),
            style: TimeStyle::Number(reading.unit),
            reading,
            reader: None,
            names,
            times: VecDeque::new(),
            first: shard.positions(),
            numeric: false,
            timed: plan.timed(),
            digits: settings.clock_column().1,
            shard,
        };
        Ok(Self { inner: Mutex::new(inner) })
    }

    /// Who waits for the monitor lets others have the GIL: one of them may hold the monitor and need it.
    fn inner(&self, py: Python<'_>) -> MutexGuard<'_, Inner> {
        // What was poisoned is a monitor in the middle of a position; its next error says so.
        self.inner.lock_py_attached(py).unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// What was settled, before it is a Python object.
struct Told {
    property: usize,
    own: findings::Violation,
    severity: findings::Severity,
    count: u64,
    position: usize,
    time: Option<Time>,
}

impl Inner {
    fn stamp(&self, time: Option<Time>) -> Option<Stamp> {
        time.map(|time| Stamp { time, style: self.style })
    }

    /// When a position was, if that is not forgotten.
    fn time_of(&self, position: usize) -> Option<Time> {
        position.checked_sub(self.first).and_then(|at| self.times.get(at)).copied()
    }

    fn remember(&mut self, times: Option<&[Time]>, len: usize) {
        match times {
            None => {
                self.times.clear();
                self.first = self.shard.positions() + len;
            }
            Some(times) => {
                self.times.extend(times);
                let over = self.times.len().saturating_sub(REMEMBERED);
                self.times.drain(..over);
                self.first += over;
            }
        }
    }

    fn told(&self, told: Vec<Told>) -> Vec<Violation> {
        let violation = |mut told: Told| {
            told.own.time = told.own.position.and_then(|position| self.stamp(self.time_of(position)));
            let settled = (told.position, self.stamp(told.time));
            Violation::told(&self.names[told.property].0, told.severity, told.own, told.count, settled)
        };
        told.into_iter().map(violation).collect()
    }

    fn key(&self, key: Option<&str>) -> Option<(String, Value)> {
        self.by.clone().zip(key.map(|key| key_value(key, self.numeric)))
    }

    /// Where nobody says which column holds the time, and time is needed, a usual name will do.
    fn name_time(&mut self, schema: &SchemaRef) {
        if self.reading.time.is_none() && self.timed && schema.field_with_name("time").is_err() {
            let usual = USUAL.iter().find(|name| schema.field_with_name(name).is_ok());
            self.reading.time = usual.map(ToString::to_string);
        }
    }

    fn feed_records(&mut self, schema: SchemaRef, batches: &[RecordBatch]) -> Result<Vec<Told>, Error> {
        let time = self.reading.time.as_deref().unwrap_or("time");
        if let Ok(field) = schema.field_with_name(time) {
            self.style = match field.data_type().is_numeric() {
                true => TimeStyle::Number(self.reading.unit),
                false => TimeStyle::Text,
            };
        }
        if let Some(field) = self.by.as_deref().and_then(|by| schema.field_with_name(by).ok()) {
            self.numeric = field.data_type().is_numeric();
        }
        let known = self.reader.as_ref().is_some_and(|(known, _)| *known == schema);
        if !known {
            let mut projection = Projection::new(self.shard.slots(), None, true);
            projection.templates = self.spec.program.templates.as_slice().into();
            let reader = RecordReader::new(&projection, &schema, &self.reading)?;
            self.reader = Some((schema, reader));
        }
        let mut told = Vec::new();
        for records in batches {
            let Some((_, reader)) = &mut self.reader else { break };
            let batch = reader.read(records)?;
            if !known {
                reader.judge().map_err(|error| error.in_file("data"))?;
            }
            self.remember(batch.times.as_deref(), batch.len);
            let (names, by, numeric) = (&self.names, &self.by, self.numeric);
            let spec = &self.spec;
            self.shard.feed(&batch, &mut |outcome| told.extend(of(spec, names, by, numeric, outcome)))?;
        }
        Ok(told)
    }

    /// Rows, one after the other.
    fn feed_rows(&mut self, rows: &[Bound<'_, PyDict>]) -> PyResult<Vec<Told>> {
        let parts = rows.iter().map(|row| self.parts(row)).collect::<PyResult<Vec<_>>>()?;
        let values = parts.iter().map(Parts::values).collect::<PyResult<Vec<_>>>()?;
        let events = parts.iter().map(Parts::event).collect::<PyResult<Vec<_>>>()?;
        let all = parts.iter().zip(&values).zip(events);
        let rows: Vec<Row<'_>> =
            all.map(|((part, values), event)| Row { time: part.time, event, values }).collect();
        let times: Option<Vec<Time>> = rows.iter().map(|row| row.time).collect();
        self.remember(times.as_deref(), rows.len());
        let mut told = Vec::new();
        let (names, by, numeric) = (&self.names, &self.by, self.numeric);
        let spec = &self.spec;
        let mut tell = |outcome: Outcome<'_>| told.extend(of(spec, names, by, numeric, outcome));
        checked(self.shard.feed_rows(&rows, &mut tell))?;
        Ok(told)
    }

    /// One row.
    fn push_row(&mut self, row: &Bound<'_, PyDict>) -> PyResult<Vec<Told>> {
        let parts = self.parts(row)?;
        let row = Row { time: parts.time, event: parts.event()?, values: &parts.values()? };
        self.remember(row.time.as_ref().map(std::slice::from_ref), 1);
        let mut told = Vec::new();
        let (names, by, numeric) = (&self.names, &self.by, self.numeric);
        let spec = &self.spec;
        let mut tell = |outcome: Outcome<'_>| told.extend(of(spec, names, by, numeric, outcome));
        checked(self.shard.feed_rows(std::slice::from_ref(&row), &mut tell))?;
        Ok(told)
    }

    /// What a dictionary says.
    fn parts<'py>(&mut self, dict: &Bound<'py, PyDict>) -> PyResult<Parts<'py>> {
        let mut parts = Parts { time: None, event: None, values: Vec::with_capacity(dict.len()) };
        for (name, value) in dict.iter() {
            let name = name.cast_into::<PyString>()?;
            let text = name.to_str()?;
            if self.is_time(text) && !value.is_none() {
                let unit = self.reading.unit;
                (parts.time, self.style) = instant(&value, self.reading.numbers.unwrap_or(unit), unit)?;
            } else if text == self.reading.event.as_deref().unwrap_or("event")
                && value.is_instance_of::<PyString>()
            {
                parts.event = Some(value.cast_into::<PyString>()?);
            } else {
                if self.by.as_deref() == Some(text) {
                    self.numeric = !value.is_instance_of::<PyString>();
                }
                let value = values::from_python(&value)?;
                parts.values.push((name, value));
            }
        }
        Ok(parts)
    }

    /// Whether a column holds the time. Where nobody says which, and time is needed, a usual name will do.
    fn is_time(&self, name: &str) -> bool {
        match &self.reading.time {
            Some(time) => time == name,
            None => name == "time" || (self.timed && USUAL.contains(&name)),
        }
    }
}

/// What a row says, and the texts it says it with.
struct Parts<'py> {
    time: Option<Time>,
    event: Option<Bound<'py, PyString>>,
    values: Vec<(Bound<'py, PyString>, Value)>,
}

impl Parts<'_> {
    fn event(&self) -> PyResult<Option<&str>> {
        self.event.as_ref().map(|event| event.to_str()).transpose()
    }

    fn values(&self) -> PyResult<Vec<(&str, Value)>> {
        self.values.iter().map(|(name, value)| Ok((name.to_str()?, value.clone()))).collect()
    }
}

/// The time of a row: a number, text or a date.
fn instant(
    value: &Bound<'_, PyAny>,
    numbers: TimeUnit,
    unit: TimeUnit,
) -> PyResult<(Option<Time>, TimeStyle)> {
    let wrong = |text: &str| {
        refused(format!("found the time {text:?}, expected a number ({}) or ISO 8601 text", numbers.name()))
    };
    let number = TimeStyle::Number(unit);
    if value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>() {
        let whole: i64 = value.extract()?;
        let time = whole.checked_mul(numbers.nanoseconds()).ok_or_else(|| wrong(&whole.to_string()))?;
        return Ok((Some(time), number));
    }
    if let Ok(real) = value.cast::<PyFloat>() {
        // A nanosecond is as near as it gets.
        let digits = numbers.nanoseconds().checked_ilog10().unwrap_or(9).min(9) as usize;
        let text = format!("{:.digits$}", real.value());
        return Ok((Some(numbers.parse_number(&text).map_err(|_| wrong(&text))?), number));
    }
    let text = match value.cast::<PyString>() {
        Ok(text) => text.to_str()?.to_string(),
        Err(_) => match value.call_method0("isoformat") {
            Ok(text) => text.extract()?,
            Err(_) => values::from_python(value)?.to_string(),
        },
    };
    let stamp = tracewise::trace::parse_stamp(&text, numbers).map_err(|_| wrong(&text))?;
    Ok((Some(stamp.time), if stamp.style == TimeStyle::Text { TimeStyle::Text } else { number }))
}

/// A key as a value: keys are kept as texts.
pub fn key_value(key: &str, numeric: bool) -> Value {
    match (numeric, key.parse::<i64>(), key.parse::<f64>()) {
        (true, Ok(whole), _) => Value::Int(whole),
        (true, _, Ok(real)) => Value::Real(real),
        _ => Value::text(key),
    }
}

fn bound(spec: &Specification, bindings: &Bindings) -> Vec<(String, Value)> {
    let names = &spec.program.dag.variables;
    let pair = |(variable, value): &(u32, Value)| {
        (names.get(*variable as usize).cloned().unwrap_or_default(), value.clone())
    };
    bindings.pairs().iter().map(pair).collect()
}

/// A violation, of what was settled.
fn of(
    spec: &Specification,
    names: &[(Arc<str>, bool)],
    by: &Option<String>,
    numeric: bool,
    outcome: Outcome<'_>,
) -> Option<Told> {
    // Of `G φ` each position that fails is told; that the property fails, too, is no news.
    let repeats = outcome.about.is_none()
        && outcome.report.is_none()
        && names[outcome.property].1
        && outcome.ended.is_none();
    if outcome.verdict != tracewise::Verdict::Violated || repeats {
        return None;
    }
    let mut own = match outcome.report {
        Some(report) => findings::Violation::from(report),
        None => findings::Violation {
            position: outcome.about,
            bindings: bound(spec, &outcome.bindings),
            infinite: outcome.bindings.infinite(),
            ..findings::Violation::default()
        },
    };
    if let Some((by, key)) =
        by.as_ref().zip(outcome.key).filter(|(by, _)| own.bindings.iter().all(|(name, _)| name != *by))
    {
        own.bindings.push((by.clone(), key_value(key, numeric)));
    }
    Some(Told {
        property: outcome.property,
        own,
        severity: outcome.severity,
        count: outcome.count,
        position: outcome.position,
        time: outcome.time,
    })
}

#[pymethods]
impl Monitor {
    /// Of a specification, or of what makes one.
    #[new]
    #[pyo3(signature = (spec, *, state = None, **options))]
    fn new(
        spec: &Bound<'_, PyAny>,
        state: Option<Vec<u8>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let spec = crate::spec::Spec::of(spec, crate::spec::Meant::Formula)?;
        let settings = Settings::new(options, &spec.settings)?;
        crate::spec::Spec { own: spec }.followed(settings, state)
    }

    /// Takes the next positions (Arrow data, columns or rows); the violations that they settle.
    fn feed(&self, py: Python<'_>, batch: &Bound<'_, PyAny>) -> PyResult<Vec<Violation>> {
        if let Ok(row) = batch.cast::<PyDict>()
            && row
                .values()
                .iter()
                .all(|value| value.is_instance_of::<PyString>() || value.try_iter().is_err())
        {
            return self.push(py, Some(row), None);
        }
        if !crate::arrow_data::offers(batch)
            && !batch.is_instance_of::<PyDict>()
            && crate::data::path(batch)?.is_none()
        {
            let rows = batch.try_iter()?.collect::<PyResult<Vec<_>>>()?;
            if rows.iter().all(|row| row.is_instance_of::<PyDict>()) {
                let rows = rows
                    .into_iter()
                    .map(|row| Ok(row.cast_into::<PyDict>()?))
                    .collect::<PyResult<Vec<_>>>()?;
                let mut inner = self.inner(py);
                let told = inner.feed_rows(&rows)?;
                return Ok(inner.told(told));
            }
            return self.records(
                py,
                Data::of(&pyo3::types::PyList::new(py, rows)?.into_any(), &Settings::default())?,
            );
        }
        self.records(py, Data::of(batch, &Settings::default())?)
    }

    /// Takes the next position, a dictionary or keyword arguments; the violations that it settles.
    #[pyo3(signature = (row = None, /, **values))]
    fn push(
        &self,
        py: Python<'_>,
        row: Option<&Bound<'_, PyDict>>,
        values: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<Violation>> {
        let mut inner = self.inner(py);
        let told = match (row, values) {
            (Some(row), None) => inner.push_row(row)?,
            (None, Some(values)) => inner.push_row(values)?,
            (None, None) => inner.push_row(&PyDict::new(py))?,
            (Some(row), Some(values)) => {
                let both = row.copy()?;
                both.update(values.as_mapping())?;
                inner.push_row(&both)?
            }
        };
        Ok(if told.is_empty() { Vec::new() } else { inner.told(told) })
    }

    /// Time has come so far, though nothing happened: the violations that this settles.
    fn advance(&self, time: &Bound<'_, PyAny>) -> PyResult<Vec<Violation>> {
        let py = time.py();
        let mut guard = self.inner(py);
        let inner = &mut *guard;
        let unit = inner.reading.unit;
        let (Some(time), _) = instant(time, inner.reading.numbers.unwrap_or(unit), unit)? else {
            return Ok(Vec::new());
        };
        let mut told = Vec::new();
        let (names, by, numeric, spec) = (&inner.names, &inner.by, inner.numeric, &inner.spec);
        checked(
            inner.shard.watermark(time, &mut |outcome| told.extend(of(spec, names, by, numeric, outcome))),
        )?;
        Ok(inner.told(told))
    }

    /// What properties still wait for.
    #[getter]
    fn pending(&self, py: Python<'_>) -> Vec<Pending> {
        let mut guard = self.inner(py);
        let inner = &mut *guard;
        let mut owed = Vec::new();
        inner.shard.pending(&mut |property, key, obligation| {
            owed.push((property, key.map(str::to_string), obligation));
            true
        });
        let pending = |(property, key, obligation): (usize, Option<String>, tracewise::live::Obligation)| {
            let mut bindings = bound(&inner.spec, &obligation.bindings);
            bindings.extend(inner.key(key.as_deref()));
            Pending {
                property: Arc::clone(&inner.names[property].0),
                bindings,
                since: obligation.since,
                owed: obligation.residual,
                deadline: inner.stamp(obligation.deadline),
            }
        };
        owed.into_iter().map(pending).collect()
    }

    /// What each property (of each key) is worth if the trace ends here. The monitor goes on as before.
    fn settle(&self, py: Python<'_>) -> PyResult<Vec<Verdict>> {
        let mut guard = self.inner(py);
        let inner = &mut *guard;
        let mut ends: Vec<Verdict> = Vec::new();
        let (names, by, numeric) = (&inner.names, &inner.by, inner.numeric);
        let mut failed = None;
        let finished = inner.shard.finish(&mut |end| {
            let key = by.clone().zip(end.key.map(|key| key_value(key, numeric)));
            let (holds, value) = match end.known {
                Known::Truth(holds) => (Some(holds), Value::Null),
                Known::Value(Computed::Value(value)) => (None, value),
                Known::Value(Computed::Error(why)) => {
                    failed = failed
                        .take()
                        .or(Some(format!("the value of `{}` cannot be computed: {why}", end.name)));
                    return;
                }
                Known::Robustness(..) => return,
            };
            let own = end.violations.iter().map(|(position, _)| *position);
            ends.push(Verdict {
                property: Arc::clone(&names[end.property].0),
                bindings: key.into_iter().collect(),
                holds,
                settled: end.settled,
                value,
                violations: own.chain(end.reports.iter().filter_map(|report| report.position)).collect(),
                texts: end.reports.iter().filter_map(|report| report.text.clone()).collect(),
            });
        });
        checked(finished)?;
        failed.map_or(Ok(ends), |why| Err(refused(why)))
    }

    /// The whole state, for `spec.monitor(state=…)` of the same settings.
    fn save<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let state = self.inner(py).shard.snapshot();
        PyBytes::new(py, &state)
    }

    /// Goes on from a state that `save` gave, or from the beginning.
    #[pyo3(signature = (state = None))]
    fn restore(&self, py: Python<'_>, state: Option<Vec<u8>>) -> PyResult<()> {
        let mut guard = self.inner(py);
        let inner = &mut *guard;
        match state {
            Some(state) => drop(checked(inner.shard.restore(&state))?),
            None => checked(inner.shard.clear())?,
        }
        inner.times.clear();
        inner.first = inner.shard.positions();
        Ok(())
    }

    /// How many positions came.
    #[getter]
    fn positions(&self, py: Python<'_>) -> usize {
        self.inner(py).shard.positions()
    }

    /// How many keys there are.
    #[getter]
    fn keys(&self, py: Python<'_>) -> usize {
        self.inner(py).shard.keys()
    }

    /// Bytes held, about.
    #[getter]
    fn memory(&self, py: Python<'_>) -> usize {
        self.inner(py).shard.heap_bytes()
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let inner = self.inner(py);
        let names: Vec<&str> = inner.names.iter().map(|(name, _)| &**name).collect();
        format!("Monitor({}; {} positions)", names.join(", "), inner.shard.positions())
    }
}

impl Monitor {
    fn records(&self, py: Python<'_>, data: Data) -> PyResult<Vec<Violation>> {
        let (schema, batches) = match data {
            Data::Records(records) => records,
            Data::Files(_) => return Err(refused("a monitor is fed rows or batches; check() reads files")),
            Data::Lines(..) => {
                return Err(refused("a monitor takes nested or mixed values as rows: a list of dicts"));
            }
        };
        py.detach(|| {
            let mut inner = self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            inner.name_time(&schema);
            let digits = inner.digits;
            let time = inner.reading.time.as_deref().unwrap_or("time");
            let (schema, batches) = crate::arrow_data::on_grid((schema, batches), time, digits)?;
            checked(inner.feed_records(schema, &batches)).map(|told| inner.told(told))
        })
    }
}

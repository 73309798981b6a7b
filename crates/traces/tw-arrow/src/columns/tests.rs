//! Columns are what rows give: random batches × random projections, at every cut.

use super::*;
use crate::Records;
use crate::rows::Source;
use crate::testing::batch;
use std::ops::ControlFlow;
use std::sync::Arc;
use tw_core::Value;
use tw_ir::Slot;
use tw_testkit::Rng;
use tw_trace::{
    Bytes, FormatCard, Input, Order, Outline, Reading, RowSource, Summary, TraceError, TraceFormat, Writing,
};

const PATHS: &[&str] =
    &["a", "b", "c", "a.b", "s", "s.x", "s.y", "s.t.z", "l", "l[*]", "s.l[*]", "m", "m.k", "nosuch", "login"];
const EXPECTS: [Expect; 5] = [Expect::Bool, Expect::Number, Expect::Int, Expect::Text, Expect::Any];

fn argument(rng: &mut Rng) -> ArgumentKey {
    let name = rng.pick(&["a", "b", "c", "s", "nosuch"]).to_string();
    match rng.below(30) {
        0 => ArgumentKey::Index(0),
        1..8 => ArgumentKey::Declared { index: 0, name, of: 1 },
        _ => ArgumentKey::Name(name),
    }
}

fn constants(rng: &mut Rng) -> Vec<(ArgumentKey, Value)> {
    let constants = [Value::Int(1), Value::Real(0.0), Value::text("x"), Value::Bool(true), Value::text("7")];
    (0..rng.below(3)).map(|_| (argument(rng), constants[rng.below(constants.len())].clone())).collect()
}

fn slot(rng: &mut Rng, schema: &arrow::datatypes::Schema) -> Slot {
    let path = Path::parse(rng.pick(PATHS));
    let name = rng.pick(&["login", "logout", "a", "s.x"]).to_string();
    let what = match rng.below(8) {
        0 => What::Proposition(path),
        1 => What::Event { name, arguments: constants(rng), arity: None },
        2 => {
            let arguments = (0..rng.below(3)).map(|_| argument(rng)).collect();
            What::Tuples { name, constants: constants(rng), arity: None, arguments }
        }
        _ => {
            // Mostly the use that fits the column.
            let fitting =
                schema.field_with_name(&path.to_string()).ok().map(|field| match field.data_type() {
                    DataType::Boolean => Expect::Bool,
                    kind if text::is_text(kind) => Expect::Text,
                    kind if kind.is_numeric() => Expect::Number,
                    _ => Expect::Any,
                });
            let expect = match rng.below(4) {
                0 => EXPECTS[rng.below(5)],
                _ => fitting.unwrap_or(Expect::Any),
            };
            What::Variable(path, expect)
        }
    };
    Slot { what, declared: rng.below(3) > 0, span: Default::default() }
}

/// The same kind, and the same values; texts numbered alike.
fn same(one: &Column, other: &Column) -> bool {
    if let (Column::Text { dictionary: one, .. }, Column::Text { dictionary: other, .. }) = (one, other)
        && one != other
    {
        return false;
    }
    std::mem::discriminant(one) == std::mem::discriminant(other)
        && one.len() == other.len()
        && (0..one.len()).all(|at| one.value(at) == other.value(at))
}

/// A batch by its definition.
fn by_rows(
    mapper: &Mapper,
    records: &RecordBatch,
    options: &ReadOptions,
) -> Result<(Batch, Vocabulary), TraceError> {
    let mut builder = SlotBuilder::new(&mapper.projection);
    let mut seen = Vocabulary::new(mapper.projection.slots.len());
    let (mut order, mut row) = (Order::new(options), Row::default());
    let mut source = Source::new(vec![records.clone()].into_iter(), mapper.layout.clone());
    while source.next(&mut row)? {
        order.check(&row)?;
        builder.push(&row, &mut seen)?;
    }
    Ok((builder.finish(row.time.is_some()), seen))
}

#[test]
fn batches_by_columns_are_batches_by_rows() {
    let mut rng = Rng::new(0x5EED_0001);
    let mut told = [0; 2];
    for round in 0..4000 {
        let length = [1, 2, 7, 64, 65, 130][rng.below(6)];
        let whole = batch(&mut rng, length);
        let from = rng.below(whole.num_rows());
        let records = whole.slice(from, 1 + rng.below(whole.num_rows() - from));
        let slots: Vec<Slot> = (0..rng.below(4)).map(|_| slot(&mut rng, &whole.schema())).collect();
        let key = (rng.below(3) == 0).then(|| rng.pick(&["a", "b", "s", "a.b", "nosuch"]));
        let projection = Projection::new(&slots, key, rng.below(2) == 0);
        let options = ReadOptions { any_order: rng.below(4) == 0, ..ReadOptions::default() };
        let layout = Arc::new(Layout::new(&whole.schema(), &options).unwrap());
        let mapper = Mapper::new(layout, &projection, &options);
        let mut seen = Vocabulary::new(slots.len());
        let read = mapper.read(&records, &mut seen);
        let context = || format!("round {round}: {slots:?} {key:?}\n{records:?}");
        match (by_rows(&mapper, &records, &options), read) {
            (Ok((expected, expected_seen)), Some(read)) => {
                told[0] += 1;
                assert_eq!(
                    (read.batch.len, &read.batch.times),
                    (expected.len, &expected.times),
                    "{}",
                    context()
                );
                assert_eq!(read.batch.slots.len(), expected.slots.len());
                for (found, expected) in read.batch.slots.iter().zip(&expected.slots) {
                    assert!(same(found, expected), "{found:?}\n{expected:?}\n{}", context());
                }
                assert_eq!(names(&seen), names(&expected_seen), "{}", context());
            }
            (Err(_), None) => told[1] += 1,
            (Ok(_), None) => panic!("rows hold no error: {}", context()),
            (Err(error), Some(_)) => panic!("{error}: {}", context()),
        }
    }
    assert!(told.iter().all(|&count| count > 500), "{told:?}");
}

/// What a vocabulary says.
fn names(seen: &Vocabulary) -> String {
    let Vocabulary { variable, event, key, variables, events, has_events, positions, .. } = seen;
    format!("{variable:?} {event:?} {key} {variables:?} {events:?} {has_events} {positions}")
}

/// Records that are read by rows alone.
struct ByRows(Records);

impl TraceFormat for ByRows {
    fn card(&self) -> FormatCard {
        FormatCard { name: "rows", extensions: &[], about: "records by rows", open_vocabulary: false }
    }

    fn rows<'a>(&self, _: Bytes<'a>, options: &ReadOptions) -> Reading<'a> {
        let layout = Layout::new(&self.0.schema, options)?;
        Ok(Box::new(Source::new(self.0.batches.clone().into_iter(), layout)))
    }

    fn writer<'a>(&self, _: Box<dyn std::io::Write + 'a>, _: Outline<'_>) -> Writing<'a> {
        Err(TraceError::new(tw_trace::TraceErrorKind::Usage, "nothing is written"))
    }
}

/// All values, and what else a scan says.
type Told = Result<(Vec<Vec<Value>>, Vec<i64>, String), TraceError>;

fn scan(input: &Input, format: &dyn TraceFormat, projection: &Projection, options: &ReadOptions) -> Told {
    let columns = projection.slots.len() + usize::from(projection.key.is_some());
    let (mut all, mut times) = (vec![Vec::new(); columns], Vec::new());
    let summary = tw_trace::scan(input, format, projection, options, &Ok, &mut |batch: Batch| {
        for (all, column) in all.iter_mut().zip(&batch.slots) {
            all.extend((0..batch.len).map(|at| column.value(at)));
        }
        times.extend(batch.times.into_iter().flatten());
        Ok(ControlFlow::Continue(()))
    })?;
    let Summary { positions, timed, style, warnings, locator, .. } = &summary;
    let lines: Vec<_> = (0..*positions as usize).map(|at| locator.line(at)).collect();
    let places = locator.locate(input, format, options, &[0, *positions as usize / 2])?;
    let places: Vec<_> =
        places.into_iter().map(|place| (place.position, place.line, place.row, place.time)).collect();
    Ok((all, times, format!("{positions} {timed} {style:?} {warnings:?} {lines:?} {places:?}")))
}

#[test]
fn traces_by_parts_are_traces_by_rows_at_every_cut() {
    let mut rng = Rng::new(0x5EED_0002);
    let mut told = [0; 2];
    for round in 0..400 {
        let length = 1 + rng.below(40);
        let whole = batch(&mut rng, length);
        let cut = rng.below(whole.num_rows() + 1);
        let batches = vec![whole.slice(0, cut), whole.slice(cut, whole.num_rows() - cut)];
        let records = Records::new(whole.schema(), batches).unwrap();
        let slots: Vec<Slot> = (0..rng.below(3)).map(|_| slot(&mut rng, &whole.schema())).collect();
        let key = (rng.below(4) == 0).then(|| rng.pick(&["a", "b"]));
        let projection = Projection::new(&slots, key, true);
        let mut options = ReadOptions::default();
        if rng.below(5) == 0 {
            options.sort = Some(5_000_000_000);
        }
        let format = ByRows(records.clone());
        let expected = scan(&Input::from_bytes("t", Vec::new()), &format, &projection, &options);
        told[usize::from(expected.is_err())] += 1;
        let input = Input::from_table("t", Arc::new(records));
        for rows in [1, 2, 3, 5, 8, 40] {
            for threads in [1, 3] {
                let block = 8 * whole.num_columns() * rows;
                let options = ReadOptions { block, threads, ..options.clone() };
                let found = scan(&input, &crate::Arrow, &projection, &options);
                assert_eq!(
                    found, expected,
                    "round {round}, {rows} rows, {threads} threads\n{slots:?}\n{whole:?}"
                );
            }
        }
    }
    assert!(told.iter().all(|&count| count > 50), "{told:?}");
}

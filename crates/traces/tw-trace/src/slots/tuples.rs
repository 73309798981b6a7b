//! The column of an event pattern with variables, built from rows.

use super::*;
use tw_core::Relation;

/// A slot's column under construction.
pub(super) enum Building {
    Column(ColumnBuilder),
    Tuples(TupleBuilder),
}

impl Building {
    pub(super) fn new(what: &What) -> Self {
        match what {
            What::Tuples { arguments, .. } => Building::Tuples(TupleBuilder::new(arguments.len())),
            other => Building::Column(ColumnBuilder::new(expect_of(other))),
        }
    }

    pub(super) fn finish(self) -> Column {
        match self {
            Building::Column(column) => column.finish(),
            Building::Tuples(tuples) => Column::Tuples(tuples.finish()),
        }
    }
}

/// The tuples of one slot, position by position.
pub(super) struct TupleBuilder {
    starts: Vec<u32>,
    columns: Vec<Vec<Value>>,
    /// The tuple that is being read.
    tuple: Vec<Value>,
}

impl TupleBuilder {
    fn new(arguments: usize) -> Self {
        Self { starts: vec![0], columns: vec![Vec::new(); arguments], tuple: Vec::new() }
    }

    /// Appends a position; whether an event of the name happens there.
    pub(super) fn push(&mut self, row: &Row, what: &What) -> Result<bool, TraceError> {
        let What::Tuples { name, constants, arity, arguments } = what else { return Ok(false) };
        let mut happens = false;
        for event in row.events.iter().filter(|event| *event.name == **name) {
            happens = true;
            if matches(row, &event.arguments, constants, *arity)? && self.read(row, event, arguments)? {
                self.columns
                    .iter_mut()
                    .zip(self.tuple.drain(..))
                    .for_each(|(column, value)| column.push(value));
            }
        }
        let tuples = self.columns.first().map_or(0, Vec::len);
        let end = u32::try_from(tuples).map_err(|_| {
            let message = format!("more than {} events `{name}` in one part of the trace", u32::MAX);
            TraceError::new(TraceErrorKind::Budget, message).at(row.line, 1)
        })?;
        self.starts.push(end);
        Ok(happens)
    }

    /// Reads an event's arguments; whether it has them all. What is null or absent binds no variable.
    fn read(&mut self, row: &Row, event: &Event, arguments: &[ArgumentKey]) -> Result<bool, TraceError> {
        self.tuple.clear();
        for key in arguments {
            let value = match argument(row, &event.arguments, key)? {
                Some(Value::Str(text)) if !row.typed => Value::from_cell(text).ok_or_else(|| {
                    let error = CellError { found: quote(text), expected: FINITE };
                    error.into_trace_error(&event.name, None).at(row.line, 1)
                })?,
                Some(value) => value.clone(),
                None => Value::Null,
            };
            if value.is_null() {
                return Ok(false);
            }
            self.tuple.push(value);
        }
        Ok(true)
    }

    fn finish(self) -> Relation {
        Relation::new(self.starts, self.columns.into_iter().map(Column::of_values).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(name: &str, constants: &[(usize, Value)], arity: usize, arguments: &[usize]) -> What {
        What::Tuples {
            name: name.into(),
            constants: constants
                .iter()
                .map(|(index, value)| (ArgumentKey::Index(*index), value.clone()))
                .collect(),
            arity: Some(arity),
            arguments: arguments.iter().map(|&index| ArgumentKey::Index(index)).collect(),
        }
    }

    fn row(events: &[(&str, &[&str])]) -> Row {
        let value = |text: &&str| if text.is_empty() { Value::Null } else { Value::text(text) };
        let event = |(name, arguments): &(&str, &[&str])| Event {
            name: (*name).into(),
            arguments: Arguments::Positional(arguments.iter().map(value).collect()),
        };
        Row { events: events.iter().map(event).collect(), ..Row::default() }
    }

    #[test]
    fn tuples_are_the_events_that_match_and_have_every_argument() {
        let what = slot("p", &[(0, Value::Int(7))], 3, &[2, 1]);
        let mut building = TupleBuilder::new(2);
        let rows = [
            row(&[("p", &["7", "a", "1.5"]), ("p", &["8", "a", "1"]), ("p", &["7", "b", "2"])]),
            row(&[("q", &["7", "a", "1"])]),
            row(&[("p", &["7", "a"]), ("p", &["7", "", "3"]), ("p", &["7", "c", "4"])]),
        ];
        let happens: Vec<bool> = rows.iter().map(|row| building.push(row, &what).unwrap()).collect();
        assert_eq!(happens, [true, false, true]);
        let relation = building.finish();
        let tuples = |at| relation.tuples(at).map(|number| relation.tuple(number)).collect::<Vec<_>>();
        assert_eq!(tuples(0), [[Value::Real(1.5), Value::text("a")], [Value::Int(2), Value::text("b")]]);
        assert!(tuples(1).is_empty());
        assert_eq!(tuples(2), [[Value::Int(4), Value::text("c")]]);
    }

    #[test]
    fn arguments_without_names_cannot_be_asked_for_by_name() {
        let what = What::Tuples {
            name: "p".into(),
            constants: Vec::new(),
            arity: None,
            arguments: vec![ArgumentKey::Name("user".into())],
        };
        let error = TupleBuilder::new(1).push(&row(&[("p", &["7"])]), &what).unwrap_err();
        assert!(error.message.contains("have no names"), "{}", error.message);
    }
}

//! The column of an event pattern with variables, built from rows or from the cells of a block.

use super::cells::index_of;
use super::*;
use tw_core::Relation;
use tw_ir::Take;

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

    pub(super) fn finish(self, positions: usize) -> Column {
        match self {
            Building::Column(column) => column.finish(),
            Building::Tuples(tuples) => Column::Tuples(tuples.finish(positions)),
        }
    }
}

/// The tuples of one slot, position by position.
pub(crate) struct TupleBuilder {
    /// Where the tuples of each position begin, as far as positions had some.
    starts: Vec<u32>,
    columns: Vec<ArgumentBuilder>,
    tuples: u32,
    /// The tuple that is being read.
    tuple: Vec<Value>,
}

impl TupleBuilder {
    /// Of a slot, with room for so many positions; `None` if it is not about tuples.
    pub(crate) fn of(what: &What, positions: usize) -> Option<Self> {
        match what {
            What::Tuples { arguments, .. } => {
                let mut own = Self::new(arguments.len());
                own.starts.reserve_exact(positions);
                Some(own)
            }
            _ => None,
        }
    }

    pub(crate) fn new(arguments: usize) -> Self {
        let columns = (0..arguments).map(|_| ArgumentBuilder::default()).collect();
        Self { starts: vec![0], columns, tuples: 0, tuple: Vec::new() }
    }

    /// Reads a position; whether an event of the name happens there. Positions without one may be left out.
    pub(super) fn push(&mut self, position: usize, row: &Row, what: &What) -> Result<bool, TraceError> {
        let What::Tuples { name, constants, arity, arguments } = what else { return Ok(false) };
        let mut happens = false;
        self.starts.resize(position + 1, self.tuples);
        for event in row.events.iter().filter(|event| *event.name == **name) {
            happens = true;
            if matches(row, &event.arguments, constants, *arity)? && self.read(row, event, arguments)? {
                self.tuples = self.tuples.checked_add(1).ok_or_else(|| {
                    let message = format!("more than {} events `{name}` in one part of the trace", u32::MAX);
                    TraceError::new(TraceErrorKind::Budget, message).at(row.line, 1)
                })?;
                for (column, value) in self.columns.iter_mut().zip(self.tuple.drain(..)) {
                    column.push_value(value);
                }
            }
        }
        Ok(happens)
    }

    /// Appends an event at a position, given its arguments as cells; events come in the order of positions. `None` if rows
    /// must say what is wrong with it.
    #[inline]
    pub(crate) fn push_cells(&mut self, position: usize, what: &What, cells: &impl Cells) -> Option<()> {
        let What::Tuples { constants, arity, arguments, .. } = what else { return Some(()) };
        if !meets(constants, *arity, cells)? {
            return Some(());
        }
        // Few have more, which are looked for a second time.
        let mut texts = [""; 4];
        for (at, key) in arguments.iter().enumerate() {
            let text = cells.get(index_of(key)?).map_or("", |(text, _)| text);
            if text.is_empty() {
                // Left out. Rows read from left to right, and may have found a value before that nothing can hold.
                let fine = |key| Value::from_cell(cells.get(index_of(key)?)?.0).map(drop);
                return arguments[..at].iter().try_for_each(fine);
            }
            if let Some(place) = texts.get_mut(at) {
                *place = text;
            }
        }
        if self.starts.len() <= position {
            self.starts.resize(position + 1, self.tuples);
        }
        self.tuples = self.tuples.checked_add(1)?;
        for (at, (column, key)) in self.columns.iter_mut().zip(arguments).enumerate() {
            column.push_cell(match texts.get(at) {
                Some(text) => text,
                None => cells.get(index_of(key)?)?.0,
            })?;
        }
        Some(())
    }

    /// Appends an event at a position, given what placeholders took; events come in the order of positions.
    pub(crate) fn push_parts<'t>(&mut self, position: usize, parts: impl Iterator<Item = (&'t str, Take)>) {
        // More than fit one number are in no batch.
        let Some(tuples) = self.tuples.checked_add(1) else { return };
        if self.starts.len() <= position {
            self.starts.resize(position + 1, self.tuples);
        }
        self.tuples = tuples;
        for (column, (text, take)) in self.columns.iter_mut().zip(parts) {
            match take {
                Take::Run | Take::Words | Take::Rest => column.push_text(text),
                take => column.push_value(crate::templates::value(text, take)),
            }
        }
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

    /// The relation of so many positions.
    pub(crate) fn finish(mut self, positions: usize) -> Relation {
        self.starts.resize(positions + 1, self.tuples);
        Relation::new(self.starts, self.columns.into_iter().map(ArgumentBuilder::finish).collect())
    }
}

/// The column of an argument: whole numbers or texts, as long as all are of one kind.
enum ArgumentBuilder {
    Ints(Vec<i64>),
    /// Texts, as long as all are short.
    Words(Words),
    /// A [`ColumnBuilder::Text`].
    Texts(ColumnBuilder),
    Any(Vec<Value>),
}

impl Default for ArgumentBuilder {
    fn default() -> Self {
        ArgumentBuilder::Ints(Vec::new())
    }
}

impl ArgumentBuilder {
    /// What [`Value::from_cell`] reads from a text that is not empty; `None` for what no trace may hold.
    #[inline]
    fn push_cell(&mut self, cell: &str) -> Option<()> {
        match short_int(cell.as_bytes()) {
            Some(int) => self.push_int(int),
            None if is_plain_text(cell) => self.push_text(cell),
            None => self.push_value(Value::from_cell(cell)?),
        }
        Some(())
    }

    fn push_value(&mut self, value: Value) {
        match value {
            Value::Int(int) => self.push_int(int),
            Value::Str(text) => self.push_text(&text),
            other => self.spill().push(other),
        }
    }

    #[inline]
    fn push_int(&mut self, int: i64) {
        match self {
            ArgumentBuilder::Ints(ints) => ints.push(int),
            _ => self.spill().push(Value::Int(int)),
        }
    }

    #[inline]
    fn push_text(&mut self, text: &str) {
        if let ArgumentBuilder::Words(words) = self
            && words.push(text)
        {
            return;
        }
        self.push_other_text(text);
    }

    /// A text that does not stand beside short ones.
    #[cold]
    fn push_other_text(&mut self, text: &str) {
        if let ArgumentBuilder::Ints(ints) = self
            && ints.is_empty()
        {
            let mut words = Words::default();
            if words.push(text) {
                *self = ArgumentBuilder::Words(words);
                return;
            }
            *self = ArgumentBuilder::Texts(ColumnBuilder::new(Expect::Text));
        }
        if let ArgumentBuilder::Words(words) = self {
            let mut texts = ColumnBuilder::new(Expect::Text);
            let copied = (0..words.len()).try_for_each(|at| texts.push_text(words.get(at)));
            debug_assert!(copied.is_ok(), "a column of text takes every text");
            *self = ArgumentBuilder::Texts(texts);
        }
        match self {
            ArgumentBuilder::Texts(texts) => {
                let pushed = texts.push_text(text);
                debug_assert!(pushed.is_ok(), "a column of text takes every text");
            }
            _ => self.spill().push(Value::text(text)),
        }
    }

    /// Goes on with values of every kind.
    #[cold]
    fn spill(&mut self) -> &mut Vec<Value> {
        if !matches!(self, ArgumentBuilder::Any(_)) {
            let column = std::mem::take(self).finish();
            *self = ArgumentBuilder::Any((0..column.len()).map(|at| column.value(at)).collect());
        }
        match self {
            ArgumentBuilder::Any(values) => values,
            _ => unreachable!("it has just become one"),
        }
    }

    fn finish(self) -> Column {
        match self {
            // Of no tuples nothing is known.
            ArgumentBuilder::Ints(ints) if ints.is_empty() => Column::Any(Vec::new()),
            ArgumentBuilder::Ints(values) => Column::Int { valid: Bits::repeat(true, values.len()), values },
            ArgumentBuilder::Words(words) => Column::Words(words),
            ArgumentBuilder::Texts(texts) => texts.finish(),
            ArgumentBuilder::Any(values) => Column::Any(values),
        }
    }
}

/// A whole number of few digits and nothing else: most are.
#[inline]
fn short_int(cell: &[u8]) -> Option<i64> {
    if cell.is_empty() || cell.len() > 18 {
        return None;
    }
    let mut int = 0;
    for byte in cell {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        int = int * 10 + i64::from(digit);
    }
    Some(int)
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
        let happens: Vec<bool> =
            rows.iter().enumerate().map(|(at, row)| building.push(at, row, &what).unwrap()).collect();
        assert_eq!(happens, [true, false, true]);
        let relation = building.finish(3);
        let tuples = |at| relation.tuples(at).map(|number| relation.tuple(number)).collect::<Vec<_>>();
        assert_eq!(tuples(0), [[Value::Real(1.5), Value::text("a")], [Value::Int(2), Value::text("b")]]);
        assert!(tuples(1).is_empty());
        assert_eq!(tuples(2), [[Value::Int(4), Value::text("c")]]);
    }

    /// A bare cell alone.
    struct One<'c>(&'c str);

    impl Cells for One<'_> {
        fn len(&self) -> usize {
            1
        }

        fn get(&self, index: usize) -> Option<(&str, bool)> {
            (index == 0).then_some((self.0, false))
        }
    }

    #[test]
    fn columns_have_the_kind_of_their_cells_and_cells_are_what_rows_read() {
        for (cells, kind) in [
            (&["1", "007", "-5", "999999999999999999"][..], "Int"),
            (&["a", "true story", "long text number one", "99999999999999999999"], "Words"),
            (&["a", "true story", "a text that is longer than others", "a"], "Text"),
            (&["1", "a", "2", "+3"], "Any"),
            (&["a", "1.5", "b"], "Any"),
            (&["true", "false"], "Any"),
            (&["9223372036854775807", "9223372036854775808"], "Any"),
            (&["1", "nan"], ""),
        ] {
            let what = slot("p", &[], 1, &[0]);
            let (mut by_cells, mut by_rows) = (TupleBuilder::new(1), TupleBuilder::new(1));
            let read = cells
                .iter()
                .enumerate()
                .try_for_each(|(at, cell)| by_cells.push_cells(2 * at + 1, &what, &One(cell)));
            let rows = cells.iter().enumerate().try_for_each(|(at, cell)| {
                by_rows.push(2 * at, &row(&[]), &what)?;
                by_rows.push(2 * at + 1, &row(&[("p", &[cell])]), &what).map(drop)
            });
            assert_eq!(read.is_some(), rows.is_ok(), "{cells:?}");
            if read.is_some() {
                let relation = by_cells.finish(2 * cells.len());
                assert_eq!(relation, by_rows.finish(2 * cells.len()));
                assert!(format!("{:?}", relation.columns()[0]).starts_with(kind), "{cells:?}");
            }
        }
    }

    #[test]
    fn arguments_without_names_cannot_be_asked_for_by_name() {
        let what = What::Tuples {
            name: "p".into(),
            constants: Vec::new(),
            arity: None,
            arguments: vec![ArgumentKey::Name("user".into())],
        };
        let error = TupleBuilder::new(1).push(0, &row(&[("p", &["7"])]), &what).unwrap_err();
        assert!(error.message.contains("have no names"), "{}", error.message);
    }
}

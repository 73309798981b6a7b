//! The walker against the definition, and both against another JSON parser.

use super::*;
use crate::formats::json_record::decreasing;
use crate::{Block, Row, SlotBuilder, Stamp, TraceErrorKind, TraceWarning, Vocabulary};
use tw_core::{Column, Time, Value};
use tw_ir::{ArgumentKey, Expect, Path, PathStep, Slot, What};

/// A small generator of our own, so that failures can be repeated by seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }

    fn one_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == 0
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.roll(from.len())]
    }
}

fn slot(what: What) -> Slot {
    Slot { what, declared: false, span: Default::default() }
}

fn path(text: &str) -> Path {
    let steps = text
        .split('.')
        .flat_map(|step| match step.strip_suffix("[*]") {
            Some(name) => vec![PathStep::Field(name.to_string()), PathStep::Each],
            None => vec![PathStep::Field(step.to_string())],
        })
        .collect();
    Path { steps }
}

/// What a reading yields: the values of every position, the timestamps, and what is said about names at the end.
#[derive(Debug, PartialEq)]
struct Reading {
    rows: Vec<Vec<Value>>,
    times: Option<Vec<Time>>,
    names: Result<Vec<TraceWarning>, String>,
}

type Outcome = Result<Reading, (TraceErrorKind, Option<u64>, String)>;

fn failure(error: TraceError, lines: u64) -> (TraceErrorKind, Option<u64>, String) {
    (error.kind, error.line.map(|line| line + lines), error.message)
}

fn transpose(columns: &[Column], len: usize, into: &mut Vec<Vec<Value>>) {
    assert!(columns.iter().all(|column| column.len() == len));
    into.extend((0..len).map(|at| columns.iter().map(|column| column.value(at)).collect()));
}

/// By the definition.
fn by_rows(text: &[u8], projection: &Projection<'_>, options: &ReadOptions) -> Outcome {
    let mut source = Jsonl.rows(Box::new(text), options).map_err(|error| failure(error, 0))?;
    let mut builder = SlotBuilder::new(projection);
    let mut vocabulary = Vocabulary::new(projection.slots.len());
    let (mut row, mut before, mut timed) = (Row::default(), None::<Stamp>, false);
    while source.next(&mut row).map_err(|error| failure(error, 0))? {
        if let (Some(stamp), Some(before)) = (row.time, before)
            && stamp.time < before.time
        {
            let error = TraceError::new(TraceErrorKind::Time, decreasing(stamp, before)).at(row.line, 1);
            return Err(failure(error, 0));
        }
        before = row.time.or(before);
        timed |= row.time.is_some();
        builder.push(&row, &mut vocabulary).map_err(|error| failure(error, 0))?;
    }
    let batch = builder.finish(timed);
    let mut rows = Vec::new();
    transpose(&batch.slots, batch.len, &mut rows);
    let names = vocabulary.judge(projection, false).map_err(|error| error.message);
    Ok(Reading { rows, times: batch.times, names })
}

/// By blocks of about `size` bytes; `None` if there is no fast path.
fn by_blocks(text: &[u8], projection: &Projection<'_>, options: &ReadOptions, size: usize) -> Option<Outcome> {
    let start = match Jsonl.blocks(text, projection, options) {
        Ok(start) => start?,
        Err(error) => return Some(Err(failure(error, 0))),
    };
    let mut rest = &text[start.skip..];
    let mut lines = start.skip_lines;
    let (mut rows, mut times, mut last) = (Vec::new(), None::<Vec<Time>>, Time::MIN);
    while !rest.is_empty() {
        let from = size.min(rest.len());
        let end = rest[from..].iter().position(|&b| b == b'\n').map_or(rest.len(), |newline| from + newline + 1);
        let (bytes, after) = rest.split_at(end);
        rest = after;
        let read = match start.reader.read(Block { bytes, last: rest.is_empty() }) {
            Ok(read) => read,
            Err(error) => return Some(Err(failure(error, lines))),
        };
        assert_eq!(read.open_from, None);
        assert_eq!(read.lines, bytes.split_inclusive(|&b| b == b'\n').count() as u64);
        if let Some((first, end)) = read.time_range {
            if first < last {
                return Some(Err((TraceErrorKind::Time, None, String::new())));
            }
            last = end;
        }
        for index in 0..read.batch.len {
            let (range, line) = start.reader.locate(bytes, index).unwrap();
            assert!(range.start == 0 || bytes[range.start - 1] == b'\n');
            assert_eq!(bytes[..range.start].iter().filter(|&&b| b == b'\n').count() as u64, line);
        }
        assert_eq!(start.reader.locate(bytes, read.batch.len), None);
        lines += read.lines;
        transpose(&read.batch.slots, read.batch.len, &mut rows);
        if let Some(more) = read.batch.times {
            times.get_or_insert_default().extend(more);
        }
    }
    let names = start.reader.finish().map_err(|error| error.message);
    Some(Ok(Reading { rows, times, names }))
}

/// Compares; true if the trace was accepted.
fn agree(text: &str, projection: &Projection<'_>, options: &ReadOptions, size: usize, seed: u64) -> bool {
    let expected = by_rows(text.as_bytes(), projection, options);
    if let Some(outcome) = by_blocks(text.as_bytes(), projection, options, size) {
        match (&outcome, &expected) {
            // Disorder between two blocks is for the caller of blocks to find.
            (Err((TraceErrorKind::Time, None, _)), Err((TraceErrorKind::Time, _, _))) => {}
            (Err((_, found, _)), Err((TraceErrorKind::Time, line, message)))
                if size < text.len() && message.contains("do not decrease") =>
            {
                assert!(found >= line, "seed {seed}: {text}");
            }
            (Ok(blocks), Ok(rows)) if blocks.rows.is_empty() => assert_eq!(rows.rows.len(), 0, "seed {seed}: {text}"),
            (Ok(blocks), Ok(rows)) if size < text.len() => {
                // A block without fractions has whole numbers where the trace as a whole has reals.
                let real = |value: &Value| match value {
                    Value::Int(int) => Value::Real(*int as f64),
                    other => other.clone(),
                };
                let real = |rows: &[Vec<Value>]| -> Vec<Vec<Value>> {
                    rows.iter().map(|row| row.iter().map(real).collect()).collect()
                };
                assert_eq!(real(&blocks.rows), real(&rows.rows), "seed {seed}, blocks of {size}: {text}");
                assert_eq!((&blocks.times, &blocks.names), (&rows.times, &rows.names), "seed {seed}: {text}");
            }
            _ => assert_eq!(outcome, expected, "seed {seed}, blocks of {size}: {text}"),
        }
    }
    expected.is_ok()
}

/// The slots to choose from: (what, kind of value that fits it).
fn slots() -> Vec<(What, char)> {
    let event = |name: &str, arguments: &[(&str, Value)]| What::Event {
        name: name.to_string(),
        arguments: arguments.iter().map(|(name, value)| (ArgumentKey::Name(name.to_string()), value.clone())).collect(),
        arity: None,
    };
    let variable = |name: &str, expect| What::Variable(path(name), expect);
    vec![
        (What::Proposition(path("p")), 'b'),
        (What::Proposition(path("q")), 'b'),
        (What::Proposition(path("login")), 'b'),
        (What::Proposition(path("user.login")), 'b'),
        (What::Proposition(path("deep.flag")), 'b'),
        (variable("n", Expect::Number), 'n'),
        (variable("n", Expect::Any), 'n'),
        (variable("i", Expect::Int), 'i'),
        (variable("i", Expect::Bool), 'b'),
        (variable("s", Expect::Text), 's'),
        (variable("s", Expect::Any), 's'),
        (variable("é ü", Expect::Text), 's'),
        (variable("deep.x", Expect::Number), 'n'),
        (variable("deep.er.y", Expect::Text), 's'),
        (variable("tags[*]", Expect::Any), 'a'),
        (variable("deep.items[*].z", Expect::Any), 'a'),
        (variable("time", Expect::Number), 'n'),
        (event("login", &[]), 'e'),
        (event("login", &[("s", Value::text("one")), ("i", Value::Int(1))]), 'e'),
        (event("ev\"il", &[]), 'e'),
        (event("logout", &[("n", Value::Real(2.0))]), 'e'),
        (event("logout", &[("absent", Value::Null)]), 'e'),
    ]
}

/// How a file is written.
struct Writer {
    dice: Dice,
    blanks: bool,
    errors: bool,
    kinds: Vec<(String, char)>,
}

impl Writer {
    fn blank(&mut self) -> &'static str {
        if self.blanks && self.dice.one_in(3) { self.dice.pick(&[" ", "  ", "\t", " \r ", "   \t  "]) } else { "" }
    }

    fn text(&mut self, plain: &str) -> String {
        let mut out = String::from("\"");
        for c in plain.chars() {
            match c {
                '"' | '\\' => out.extend(['\\', c]),
                _ if self.dice.one_in(20) => {
                    let mut units = [0; 2];
                    for unit in c.encode_utf16(&mut units) {
                        out.push_str(&format!("\\u{unit:04X}"));
                    }
                }
                _ => out.push(c),
            }
        }
        out + "\""
    }

    fn value(&mut self, kind: char, depth: usize) -> String {
        if self.dice.one_in(25) {
            return "null".to_string();
        }
        let kind = if self.errors && self.dice.one_in(60) { ['b', 'n', 's', 'a', 'o', 'x'][self.dice.roll(6)] } else { kind };
        match kind {
            'b' => self.dice.pick(&["true", "false", "0", "1", "-0"]).to_string(),
            'i' => self.dice.pick(&["0", "1", "-1", "42", "9223372036854775807", "-9223372036854775808", "1234567890123456"]).to_string(),
            'n' => match self.dice.roll(4) {
                0 => format!("{}", self.dice.roll(1000) as i64 - 500),
                1 => format!("{}", self.dice.0 as i64),
                2 => format!("{:?}", self.dice.0 as i32 as f64 / 1000.0),
                _ => self.dice.pick(&[
                    "0.1", "-0.0", "1e5", "1E+05", "2.5e-3", "123456789.123456789", "9007199254740993.5", "0.30000000000000004",
                    "1234567890123456789012345678901234567890.5", "1e-400", "5e-324", "2.0", "0.000000000000000000000000000000001",
                ]).to_string(),
            },
            's' => {
                let plain = self.dice.pick(&["", "one", "two", "one", "a \"quoted\" word", "back\\slash", "ünï", "日本語 😀", "a text that is longer than thirty-two bytes, \\ with a twist at the end"]);
                self.text(plain)
            }
            'a' if depth < 4 => {
                let items: Vec<String> = (0..self.dice.roll(4)).map(|_| {
                    let kind = ['b', 'n', 's', 'a', 'o'][self.dice.roll(5)];
                    format!("{}{}{}", self.blank(), self.value(kind, depth + 1), self.blank())
                }).collect();
                if items.is_empty() { format!("[{}]", self.blank()) } else { format!("[{}]", items.join(",")) }
            }
            'o' if depth < 4 => {
                let mut items = Vec::new();
                for (name, kind) in [("x", 'n'), ("flag", 'b'), ("er", 'o'), ("y", 's'), ("items", 'a'), ("z", 'i'), ("x", 'n')] {
                    if self.dice.one_in(2) && (name != "x" || items.is_empty() || self.errors && self.dice.one_in(8)) {
                        let key = self.text(name);
                        items.push(format!("{}{key}{}:{}{}{}", self.blank(), self.blank(), self.blank(), self.value(kind, depth + 1), self.blank()));
                    }
                }
                if items.is_empty() { format!("{{{}}}", self.blank()) } else { format!("{{{}}}", items.join(",")) }
            }
            'x' => self.dice.pick(&["18446744073709551616", "1e400", "-1e999", "NaN", "Infinity", "01", "1.", ".5", "+1", "\"\\ud800\"", "\"\\x\"", "\"\t\"", "tru", "nul", "'a'", "[1,]", "{\"a\"}", "[1 2]", "", "{\"a\":1,}", "[}", "\u{feff}1"]).to_string(),
            _ => "7".to_string(),
        }
    }

    /// A file, its timestamps included.
    fn file(&mut self) -> String {
        let timed = self.dice.roll(4);
        let rows = self.dice.roll(12);
        let heterogeneous = self.dice.one_in(2);
        let newline = if self.dice.one_in(4) { "\r\n" } else { "\n" };
        let mut clock: i64 = self.dice.roll(1000) as i64;
        let mut out = String::new();
        if self.dice.one_in(20) {
            out.push('\u{feff}');
        }
        for _ in 0..rows {
            if self.dice.one_in(20) {
                out.push_str(self.dice.pick(&["\n", " \n", "\r\n", "\t \n"]));
            }
            clock += self.dice.roll(3) as i64 - i64::from(self.errors && self.dice.one_in(40)) * 3;
            let mut fields: Vec<(String, String)> = Vec::new();
            let stamp = match timed {
                0 => None,
                1 => Some(format!("{clock}")),
                2 => Some(format!("{clock}.{:03}", 250)),
                _ => Some(format!("\"2024-02-2{}T00:{:02}:{:02}{}\"", clock / 3600 + 1, clock / 60 % 60, clock % 60, self.dice.pick(&["Z", ".0Z", "+00:00", ""]))),
            };
            if let Some(stamp) = stamp
                && !(self.errors && self.dice.one_in(60))
            {
                fields.push(("time".to_string(), stamp));
            } else if self.dice.one_in(40) {
                fields.push(("time".to_string(), "null".to_string()));
            }
            if self.dice.one_in(2) {
                let name = self.dice.pick(&["login", "logout", "ev\"il", "user.login", "other", "p"]);
                let name = if name == "p" && !self.dice.one_in(10) { "quit" } else { name };
                fields.push(("event".to_string(), if self.errors && self.dice.one_in(30) { "5".to_string() } else { self.text(name) }));
            }
            for (name, kind) in self.kinds.clone() {
                if !heterogeneous || self.dice.one_in(2) {
                    fields.push((name, self.value(kind, 0)));
                }
            }
            if heterogeneous {
                for at in (1..fields.len()).rev() {
                    let other = self.dice.roll(at + 1);
                    fields.swap(at, other);
                }
            }
            if self.errors && self.dice.one_in(30) && !fields.is_empty() {
                let again = fields[self.dice.roll(fields.len())].clone();
                fields.push(again);
            }
            out.push_str(self.blank());
            out.push('{');
            out.push_str(self.blank());
            for (index, (name, value)) in fields.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                let key = self.text(&name);
                for part in [self.blank(), &key, self.blank(), ":", self.blank(), &value, self.blank()] {
                    out.push_str(part);
                }
            }
            out.push('}');
            out.push_str(self.blank());
            if self.errors && self.dice.one_in(100) {
                out.push_str(self.dice.pick(&["x", "{}", ",", "\"", "]"]));
            }
            out.push_str(newline);
        }
        if self.dice.one_in(3) {
            out.truncate(out.trim_end().len());
        }
        out
    }
}

/// A random projection and file.
fn case(seed: u64, errors: bool) -> (Vec<Slot>, Option<&'static str>, String) {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let all = slots();
    let chosen: Vec<(What, char)> = (0..dice.roll(5)).map(|_| all[dice.roll(all.len())].clone()).collect();
    let mut kinds: Vec<(String, char)> = Vec::new();
    let mut add = |name: &str, kind: char| {
        if kinds.iter().all(|(known, _)| known != name) {
            kinds.push((name.to_string(), kind));
        }
    };
    for (what, kind) in &chosen {
        match what {
            What::Proposition(path) | What::Variable(path, _) => match path.as_name() {
                Some("time") => {}
                Some("login") if dice.one_in(8) => add("login", 'b'),
                Some("login") => {}
                Some(name) => add(name, *kind),
                None if dice.one_in(6) => add(&path.to_string(), *kind),
                None => {
                    let PathStep::Field(first) = &path.steps[0] else { unreachable!() };
                    add(first, if first == "tags" { 'a' } else if first == "user" { 's' } else { 'o' });
                }
            },
            What::Event { .. } => {}
        }
    }
    for (name, kind) in [("s", 's'), ("n", 'n'), ("i", 'i'), ("deep", 'o'), ("unneeded", 's'), ("a key that is rather long, longer than most keys are, by far", 'n')] {
        if dice.one_in(2) {
            add(name, kind);
        }
    }
    let key = dice.one_in(4).then(|| ["s", "n", "i", "deep", "unneeded"][dice.roll(5)]);
    let blanks = dice.one_in(2);
    let text = Writer { dice, blanks, errors, kinds }.file();
    (chosen.into_iter().map(|(what, _)| slot(what)).collect(), key, text)
}

#[test]
fn the_walker_reads_what_the_definition_reads() {
    let mut accepted = [0; 2];
    for seed in 0..24_000 {
        let errors = seed % 2 == 1;
        let (slots, key, text) = case(seed, errors);
        let projection = Projection { slots: &slots, key, times: seed % 3 != 0 };
        let size = [1, 40, 200, 1 << 20][seed as usize / 2 % 4];
        accepted[usize::from(errors)] += u32::from(agree(&text, &projection, &ReadOptions::default(), size, seed));
    }
    // Not a test of refusals alone.
    assert!(accepted[0] > 9_000 && accepted[1] > 3_000, "{accepted:?}");
}

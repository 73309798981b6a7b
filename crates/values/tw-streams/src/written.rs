//! Columns as the rows of a text: comma-separated values, or a JSON object a line.
//!
//! A value is written as it is everywhere else (`Value`'s text in CSV, JSON's in JSON), straight from its column: numbers by
//! their shortest digits, without a value or a text between. Rows are independent of each other, so that many are written at once.

use std::ops::Range;
use tw_core::{Bits, Column, Position, Value};

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowForm {
    /// A header, then a line a row.
    Csv,
    /// An object a line.
    Json,
}

/// How each cell of a row begins, and how other values than numbers become text.
#[derive(Clone, Debug)]
pub struct RowWriter {
    form: RowForm,
    /// What stands before the cell of each column.
    leads: Vec<String>,
    header: String,
}

impl RowWriter {
    /// For columns of these names; in JSON, names are written as `quote` writes them.
    pub fn new<'n>(
        form: RowForm,
        names: impl IntoIterator<Item = &'n str>,
        quote: impl Fn(&str) -> String,
    ) -> Self {
        let (mut leads, mut header) = (Vec::new(), String::new());
        match form {
            RowForm::Csv => {
                header.push_str("position");
                for name in names {
                    header.push(',');
                    header.push_str(&quoted(name));
                    leads.push(",".to_owned());
                }
                header.push('\n');
            }
            RowForm::Json => leads.extend(names.into_iter().map(|name| format!(",{}:", quote(name)))),
        }
        Self { form, leads, header }
    }

    /// The line before the first row, if there is one.
    pub fn header(&self) -> &str {
        &self.header
    }

    /// Appends rows; `other` writes what is neither a number nor a truth value, in JSON.
    pub fn rows(
        &self,
        columns: &[Column],
        positions: Range<Position>,
        other: &dyn Fn(&Value) -> String,
        out: &mut Vec<u8>,
    ) {
        let cells: Vec<Cells<'_>> = columns.iter().map(Cells::of).collect();
        for at in positions {
            self.begin(at, out);
            for (lead, cells) in self.leads.iter().zip(&cells) {
                out.extend_from_slice(lead.as_bytes());
                match cells {
                    Cells::Truth(bits) => self.truth(bits.get(at), out),
                    Cells::Int(values, valid) if valid.get(at) => push_int(values[at], out),
                    Cells::Real(values, valid) if valid.get(at) => self.real(values[at], out),
                    Cells::Int(..) | Cells::Real(..) => self.null(out),
                    Cells::Other(column) => self.value(&column.value(at), other, out),
                }
            }
            self.end(out);
        }
    }

    /// Appends a row of values.
    pub fn row(
        &self,
        position: Position,
        values: &[Value],
        other: &dyn Fn(&Value) -> String,
        out: &mut Vec<u8>,
    ) {
        self.begin(position, out);
        for (lead, value) in self.leads.iter().zip(values) {
            out.extend_from_slice(lead.as_bytes());
            self.value(value, other, out);
        }
        self.end(out);
    }

    fn begin(&self, position: Position, out: &mut Vec<u8>) {
        if self.form == RowForm::Json {
            out.extend_from_slice(b"{\"position\":");
        }
        push_int(position as i64, out);
    }

    fn end(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.form == RowForm::Json { b"}\n" } else { b"\n" });
    }

    fn null(&self, out: &mut Vec<u8>) {
        if self.form == RowForm::Json {
            out.extend_from_slice(b"null");
        }
    }

    fn truth(&self, truth: bool, out: &mut Vec<u8>) {
        out.extend_from_slice(if truth { b"true" } else { b"false" });
    }

    fn real(&self, number: f64, out: &mut Vec<u8>) {
        match self.form {
            RowForm::Csv => push_real(number, out),
            RowForm::Json if number.is_finite() => {
                out.extend_from_slice(zmij::Buffer::new().format_finite(number).as_bytes());
            }
            RowForm::Json => out.extend_from_slice(b"null"),
        }
    }

    fn value(&self, value: &Value, other: &dyn Fn(&Value) -> String, out: &mut Vec<u8>) {
        match (value, self.form) {
            (Value::Null, _) => self.null(out),
            (Value::Bool(truth), _) => self.truth(*truth, out),
            (Value::Int(number), _) => push_int(*number, out),
            (Value::Real(number), _) => self.real(*number, out),
            (value, RowForm::Csv) => out.extend_from_slice(quoted(&value.to_string()).as_bytes()),
            (value, RowForm::Json) => out.extend_from_slice(other(value).as_bytes()),
        }
    }
}

/// A column, looked at once.
enum Cells<'c> {
    Truth(&'c Bits),
    Int(&'c [i64], &'c Bits),
    Real(&'c [f64], &'c Bits),
    Other(&'c Column),
}

impl<'c> Cells<'c> {
    fn of(column: &'c Column) -> Self {
        match column {
            Column::Truth(bits) => Cells::Truth(bits),
            Column::Int { values, valid } => Cells::Int(values, valid),
            Column::Real { values, valid } => Cells::Real(values, valid),
            other => Cells::Other(other),
        }
    }
}

/// A cell of CSV.
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

fn push_int(number: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// A real as `Value` writes it: `{:?}`. Where that has no exponent, its digits are the shortest ones that say the number.
fn push_real(number: f64, out: &mut Vec<u8>) {
    if number == 0.0 || (1e-4..1e16).contains(&number.abs()) {
        out.extend_from_slice(zmij::Buffer::new().format_finite(number).as_bytes());
    } else {
        out.extend_from_slice(format!("{number:?}").as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tw_testkit::{Rng, cases};

    #[test]
    fn numbers_are_written_as_values_are() {
        let mut rng = Rng::new(7);
        let mut any = |round: u64| -> f64 {
            let bits = (rng.below(1 << 32) as u64) << 32 | rng.below(1 << 32) as u64;
            match round % 6 {
                0 => f64::from_bits(bits),
                1 => (bits >> 12) as f64 / 1000.0,
                2 => bits as i64 as f64,
                3 => f64::from_bits(f64::from_bits(0x3f1a_36e2_eb1c_432d).to_bits() + bits % 5 - 2),
                4 => 10f64.powi((bits % 40) as i32 - 20) * ((bits >> 40) % 100) as f64,
                _ => f64::from_bits(1e16f64.to_bits() + bits % 5 - 2),
            }
        };
        for round in 0..cases(200_000) as u64 {
            let number = any(round);
            if !number.is_finite() {
                continue;
            }
            for number in [number, -number] {
                let mut out = Vec::new();
                push_real(number, &mut out);
                assert_eq!(String::from_utf8(out).unwrap(), Value::Real(number).to_string());
            }
        }
    }

    #[test]
    fn rows_are_their_values() {
        let columns = [
            Column::Truth([true, false, true].into_iter().collect()),
            Column::Int { values: vec![i64::MIN, 0, 7], valid: [true, false, true].into_iter().collect() },
            Column::Real { values: vec![-0.0, 1e300, 0.5], valid: [true, true, false].into_iter().collect() },
            Column::of_values(vec![Value::text("a"), Value::Null, Value::text("b,\"c\"")]),
            Column::Any(vec![Value::Int(1), Value::Real(1.0), Value::Bool(true)]),
        ];
        let other = |value: &Value| format!("<{value}>");
        let text = |form: RowForm| {
            let names = ["p", "n", "x,y", "s", "m"];
            let writer = RowWriter::new(form, names, |name| format!("'{name}'"));
            let (mut whole, mut single) = (Vec::new(), Vec::new());
            writer.rows(&columns, 0..1, &other, &mut whole);
            writer.rows(&columns, 1..3, &other, &mut whole);
            for at in 0..3 {
                let row: Vec<Value> = columns.iter().map(|column| column.value(at)).collect();
                writer.row(at, &row, &other, &mut single);
            }
            assert_eq!(whole, single);
            format!("{}{}", writer.header(), String::from_utf8(whole).unwrap())
        };
        assert_eq!(
            text(RowForm::Csv),
            "position,p,n,\"x,y\",s,m\n0,true,-9223372036854775808,-0.0,a,1\n1,false,,1e300,,1.0\n2,true,7,,\"b,\"\"c\"\"\",true\n"
        );
        assert_eq!(
            text(RowForm::Json),
            "{\"position\":0,'p':true,'n':-9223372036854775808,'x,y':-0.0,'s':<a>,'m':1}\n\
             {\"position\":1,'p':false,'n':null,'x,y':1e+300,'s':null,'m':1.0}\n\
             {\"position\":2,'p':true,'n':7,'x,y':null,'s':<b,\"c\">,'m':true}\n"
        );
    }
}

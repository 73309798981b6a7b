//! Models as the paper writes them.

use super::super::Digits;
use super::formula;
use super::words::Symbols;
use crate::{Cells, Domain, Model, ModelError, State};
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::Hash;
use std::io::Write;

/// Written out when this full.
const BUFFER: usize = 1 << 16;

/// A variable that tells states apart.
struct Column<'m> {
    name: String,
    domain: Domain,
    symbols: Vec<String>,
    codes: std::borrow::Cow<'m, [u32]>,
}

impl Column<'_> {
    fn value(&self, state: State, out: &mut Vec<u8>) {
        symbol(&self.domain, &self.symbols, self.codes[state as usize], out);
    }
}

fn symbol(domain: &Domain, symbols: &[String], code: u32, out: &mut Vec<u8>) {
    match domain {
        Domain::Boolean => out.extend_from_slice(if code == 0 { b"FALSE" } else { b"TRUE" }),
        Domain::Range(low, _) => out.number(low + i64::from(code)),
        Domain::Values(_) => out.extend_from_slice(symbols[code as usize].as_bytes()),
    }
}

/// Numbers states of one valuation, so that they stay apart; `None` where valuations are enough.
fn copies(model: &Model, own: &[(&Domain, &[u32])]) -> Option<Vec<u32>> {
    // Most valuations are one number, which is quick to look up.
    let sizes = own.iter().try_fold(1u64, |product, (domain, _)| product.checked_mul(domain.size().max(1)));
    let copies = match sizes {
        Some(_) => counted(model.states(), |state| {
            own.iter().fold(0, |key, (domain, codes)| key * domain.size().max(1) + u64::from(codes[state]))
        }),
        None => {
            counted(model.states(), |state| own.iter().map(|(_, codes)| codes[state]).collect::<Vec<u32>>())
        }
    };
    (own.is_empty() || copies.iter().any(|&copy| copy > 0)).then_some(copies)
}

/// How many states before each have its key.
fn counted<K: Hash + Eq>(states: usize, key: impl Fn(usize) -> K) -> Vec<u32> {
    let mut met: FxHashMap<K, u32> = FxHashMap::default();
    let times = (0..states).map(|state| {
        let times = met.entry(key(state)).or_default();
        *times += 1;
        *times - 1
    });
    times.collect()
}

/// Writes a model.
pub fn write(model: &Model, to: &mut dyn Write) -> Result<(), ModelError> {
    let mut called: Vec<String> = model.variables.iter().map(|variable| variable.name.clone()).collect();
    let own: Vec<(&Domain, &[u32])> = model
        .variables
        .iter()
        .filter_map(|variable| match &variable.cells {
            Cells::Own(codes) => Some((&variable.domain, codes.as_slice())),
            Cells::Of(..) => None,
        })
        .collect();
    let copies = copies(model, &own);
    if copies.is_some() {
        called.push("copy".to_owned());
    }
    let values = model.variables.iter().flat_map(|variable| match &variable.domain {
        Domain::Values(values) => values.as_slice(),
        _ => &[],
    });
    let (symbols, called) = Symbols::new(&called, values);
    let symbols_of = |domain: &Domain| -> Vec<String> {
        match domain {
            Domain::Values(values) => values.iter().map(|value| symbols.of(value)).collect(),
            _ => Vec::new(),
        }
    };

    let mut columns = Vec::new();
    for (variable, name) in model.variables.iter().zip(&called) {
        if let Cells::Own(codes) = &variable.cells {
            columns.push(Column {
                name: name.clone(),
                domain: variable.domain.clone(),
                symbols: symbols_of(&variable.domain),
                codes: codes.as_slice().into(),
            });
        }
    }
    if let (Some(copies), Some(name)) = (copies, called.last()) {
        let most = copies.iter().max().copied().unwrap_or(0);
        let domain = Domain::Range(1, i64::from(most) + 1);
        columns.push(Column { name: name.clone(), domain, symbols: Vec::new(), codes: copies.into() });
    }

    let mut out = Vec::with_capacity(BUFFER + 4096);
    for (name, value) in &symbols.changed {
        writeln!(out, "-- {name} is {value}")?;
    }
    out.extend_from_slice(b"MODULE main\n");
    declarations(&columns, &mut out);
    constants(model, &columns, &symbols_of, &mut out);
    definitions(model, &called, &symbols_of, &mut out, to)?;
    section("INIT", model.initial.iter().copied(), &mut out, to, |state, out| {
        for (at, column) in columns.iter().enumerate() {
            out.extend_from_slice(if at > 0 { b" & " } else { b"" });
            out.extend_from_slice(column.name.as_bytes());
            out.extend_from_slice(b" = ");
            column.value(state, out);
        }
    })?;
    section("TRANS", model.graph.iter(), &mut out, to, |(from, into), out| {
        for (at, column) in columns.iter().enumerate() {
            out.extend_from_slice(if at > 0 { b" & " } else { b"" });
            out.extend_from_slice(column.name.as_bytes());
            out.extend_from_slice(b" = ");
            column.value(from, out);
            out.extend_from_slice(b" & next(");
            out.extend_from_slice(column.name.as_bytes());
            out.extend_from_slice(b") = ");
            column.value(into, out);
        }
    })?;
    let written = formula::Speller::new(model, &called, &symbols);
    for fair in &model.fairness {
        written.section("FAIRNESS", fair, &mut out);
    }
    for formula in &model.specifications {
        written.section(if formula.linear { "LTLSPEC" } else { "SPEC" }, &formula.text, &mut out);
    }
    to.write_all(&out)?;
    Ok(())
}

/// `VAR`. Values are listed from the last to the first, as in the paper's figure; their order means nothing.
fn declarations(columns: &[Column<'_>], out: &mut Vec<u8>) {
    out.extend_from_slice(if columns.is_empty() { b"" } else { b"  VAR\n" });
    for column in columns {
        out.extend_from_slice(format!("    {}:", column.name).as_bytes());
        match &column.domain {
            Domain::Boolean => out.extend_from_slice(b" boolean"),
            Domain::Range(low, high) => {
                out.extend_from_slice(format!(" {low} .. {}", low.max(high)).as_bytes());
            }
            Domain::Values(values) if values.is_empty() => out.extend_from_slice(b"{none_}"),
            Domain::Values(_) => {
                let symbols: Vec<&str> = column.symbols.iter().rev().map(String::as_str).collect();
                out.extend_from_slice(format!("{{{}}}", symbols.join(", ")).as_bytes());
            }
        }
        out.extend_from_slice(b";\n");
    }
}

/// `CONSTANTS`: symbols that no type has.
fn constants(
    model: &Model,
    columns: &[Column<'_>],
    symbols_of: &dyn Fn(&Domain) -> Vec<String>,
    out: &mut Vec<u8>,
) {
    let mut known: FxHashSet<String> =
        columns.iter().flat_map(|column| column.symbols.iter().cloned()).collect();
    let mut constants = Vec::new();
    for variable in model.variables.iter().filter(|variable| matches!(variable.cells, Cells::Of(..))) {
        for symbol in symbols_of(&variable.domain) {
            let number = symbol.starts_with(|c: char| c == '-' || c.is_ascii_digit());
            if !number && known.insert(symbol.clone()) {
                constants.push(symbol);
            }
        }
    }
    if !constants.is_empty() {
        out.extend_from_slice(format!("  CONSTANTS\n    {};\n", constants.join(", ")).as_bytes());
    }
}

/// `DEFINE`: variables that depend on another.
fn definitions(
    model: &Model,
    called: &[String],
    symbols_of: &dyn Fn(&Domain) -> Vec<String>,
    out: &mut Vec<u8>,
    to: &mut dyn Write,
) -> Result<(), ModelError> {
    let mut first = true;
    // Many may depend on one, which has many values.
    let mut others: (usize, Vec<String>) = (usize::MAX, Vec::new());
    for (variable, name) in model.variables.iter().zip(called) {
        let Cells::Of(other, codes) = &variable.cells else { continue };
        out.extend_from_slice(if first { b"  DEFINE\n" } else { b"" });
        first = false;
        let symbols = symbols_of(&variable.domain);
        let other_domain = &model.variables[*other].domain;
        if others.0 != *other {
            others = (*other, symbols_of(other_domain));
        }
        writeln!(out, "    {name} := case")?;
        // Where nearly all values are the same, the others are told, and that one last.
        let told: Vec<(u32, u32)> = match codes.others() {
            Some((common, told)) => told.iter().copied().chain([(codes.len() as u32 - 1, common)]).collect(),
            None => (0..).zip(codes.iter()).collect(),
        };
        let last = told.len();
        for (row, (at, code)) in told.into_iter().enumerate() {
            out.extend_from_slice(b"        ");
            if row + 1 < last {
                out.extend_from_slice(called[*other].as_bytes());
                out.extend_from_slice(b" = ");
                symbol(other_domain, &others.1, at, out);
            } else {
                out.extend_from_slice(b"TRUE");
            }
            out.extend_from_slice(b" : ");
            symbol(&variable.domain, &symbols, code, out);
            out.extend_from_slice(b";\n");
            flush(out, to)?;
        }
        if codes.is_empty() {
            out.extend_from_slice(b"        TRUE : FALSE;\n");
        }
        out.extend_from_slice(b"      esac;\n");
    }
    Ok(())
}

/// A section that is one disjunct per item; `FALSE` for none.
fn section<T>(
    keyword: &str,
    items: impl Iterator<Item = T>,
    out: &mut Vec<u8>,
    to: &mut dyn Write,
    disjunct: impl Fn(T, &mut Vec<u8>),
) -> Result<(), ModelError> {
    out.extend_from_slice(format!("  {keyword}\n").as_bytes());
    let mut empty = true;
    for item in items {
        out.extend_from_slice(if empty { b"    (" } else { b" |\n    (" });
        empty = false;
        disjunct(item, out);
        out.push(b')');
        flush(out, to)?;
    }
    out.extend_from_slice(if empty { b"    FALSE\n" } else { b"\n" });
    Ok(())
}

fn flush(out: &mut Vec<u8>, to: &mut dyn Write) -> Result<(), ModelError> {
    if out.len() >= BUFFER {
        to.write_all(out)?;
        out.clear();
    }
    Ok(())
}

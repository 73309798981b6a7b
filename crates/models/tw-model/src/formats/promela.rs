//! Promela, the language of Spin: one process that goes from state to state, a step for each transition.
//!
//! Variables are global, and each named value has a macro (`state_s1`) for formulas. Where there are several initial
//! states, the first step chooses one, and a formula f is to be written `!begun U (begun && (f))`.

use super::Digits;
use super::names::{Names, identifier};
use crate::{Cells, Codes, Domain, Model, ModelError, State};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use tw_core::Value;

/// Words that cannot be names, of Promela and of the C that it becomes.
#[rustfmt::skip]
const RESERVED: &[&str] = &[
    "active", "always", "assert", "atomic", "auto", "bit", "bool", "break", "byte", "c_code", "c_decl",
    "c_expr", "c_state", "c_track", "case", "chan", "char", "const", "continue", "D_proctype", "d_step",
    "default", "do", "double", "else", "empty", "enabled", "end", "enum", "eval", "eventually", "extern",
    "false", "fi", "float", "for", "full", "get_priority", "goto", "hidden", "if", "implies", "in", "init",
    "inline", "int", "len", "local", "long", "ltl", "main", "mtype", "nempty", "never", "next", "nfull",
    "notrace", "np_", "od", "of", "pc_value", "pid", "print", "printf", "printm", "priority", "proctype",
    "provided", "register", "release", "return", "run", "select", "set_priority", "short", "show", "signed",
    "sizeof", "skip", "static", "stronguntil", "struct", "switch", "timeout", "trace", "true", "typedef",
    "unless", "unlock", "unsigned", "until", "union", "void", "volatile", "weakuntil", "while", "xr", "xs",
    "U", "V", "W", "X", "now", "_", "_last", "_nr_pr", "_pid", "_priority",
];

/// Values of a variable that all have macros; of more, those that occur have.
const LISTED: u64 = 1 << 16;

/// A variable that steps assign.
struct Column<'m> {
    name: String,
    domain: &'m Domain,
    codes: &'m [u32],
    /// Numbers stand for themselves; of other values, their places.
    numbers: bool,
}

impl Column<'_> {
    fn value(&self, code: u32) -> i64 {
        match self.domain.value(code) {
            Value::Int(number) if self.numbers => number,
            _ => i64::from(code),
        }
    }
}

/// Whether all values are numbers of 32 bits.
fn are_numbers(domain: &Domain) -> bool {
    match domain {
        Domain::Boolean => false,
        Domain::Range(low, high) => i32::try_from(*low).is_ok() && i32::try_from(*high).is_ok(),
        Domain::Values(values) => {
            values.iter().all(|value| matches!(value, Value::Int(number) if i32::try_from(*number).is_ok()))
        }
    }
}

/// Writes a model.
pub(super) fn write(model: &Model, to: &mut dyn Write) -> Result<(), ModelError> {
    if model.initial.is_empty() {
        return Err(ModelError::Unfit("a model without initial states has no Promela form".to_owned()));
    }
    if i32::try_from(model.states()).is_err() {
        return Err(ModelError::Unfit(format!("Promela numbers at most {} states", i32::MAX)));
    }
    let mut names = Names::new(|word| RESERVED.contains(&word));
    let called: Vec<String> = model.variables.iter().map(|variable| names.fresh(&variable.name)).collect();
    let at = names.fresh("at");
    let mut columns = Vec::new();
    for (variable, name) in model.variables.iter().zip(&called) {
        if let Cells::Own(codes) = &variable.cells {
            let numbers = are_numbers(&variable.domain);
            columns.push(Column { name: name.clone(), domain: &variable.domain, codes, numbers });
        }
    }
    let mut out = Vec::with_capacity(1 << 17);
    let several = model.initial.len() > 1;
    let begin = if several { None } else { Some(model.initial[0]) };
    if several {
        let begun = names.fresh("begun");
        writeln!(
            out,
            "/* The first step chooses an initial state: a formula f is !{begun} U ({begun} && (f)). */"
        )?;
        writeln!(out, "#define {begun} ({at} >= 0)")?;
    }
    writeln!(out, "int {at} = {};", begin.map_or(-1, i64::from))?;
    for column in &columns {
        let kind = if matches!(column.domain, Domain::Boolean) { "bool" } else { "int" };
        let value = begin.map_or(0, |state| column.value(column.codes[state as usize]));
        writeln!(out, "{kind} {} = {value};", column.name)?;
    }
    macros(model, &called, &mut names, &mut out, to)?;
    out.extend_from_slice(b"\nactive proctype traces()\n{\nend:\n  do\n");
    let mut step = |from: i64, into: State| {
        out.extend_from_slice(b"  :: d_step { ");
        out.extend_from_slice(at.as_bytes());
        out.extend_from_slice(b" == ");
        out.number(from);
        out.extend_from_slice(b" -> ");
        out.extend_from_slice(at.as_bytes());
        out.extend_from_slice(b" = ");
        out.number(i64::from(into));
        for column in &columns {
            out.extend_from_slice(b"; ");
            out.extend_from_slice(column.name.as_bytes());
            out.extend_from_slice(b" = ");
            out.number(column.value(column.codes[into as usize]));
        }
        out.extend_from_slice(b" }\n");
        if out.len() < 1 << 16 {
            return Ok(());
        }
        let written = to.write_all(&out);
        out.clear();
        written
    };
    for &state in model.initial.iter().filter(|_| several) {
        step(-1, state)?;
    }
    for (from, into) in model.graph.iter() {
        step(i64::from(from), into)?;
    }
    out.extend_from_slice(b"  od\n}\n");
    to.write_all(&out)?;
    Ok(())
}

/// A macro for each value that has no number of its own, and for each value of a variable that depends on another.
fn macros(
    model: &Model,
    called: &[String],
    names: &mut Names,
    out: &mut Vec<u8>,
    to: &mut dyn Write,
) -> Result<(), ModelError> {
    for (at, variable) in model.variables.iter().enumerate() {
        let boolean = matches!(variable.domain, Domain::Boolean);
        let dependent = dependence(model, at);
        if dependent.is_none() && (boolean || are_numbers(&variable.domain)) {
            continue;
        }
        // Which values of the variable of states mean which value of this one.
        let mut places: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (place, code) in dependent.iter().flat_map(|(_, codes)| codes.iter().enumerate()) {
            places.entry(code).or_default().push(place as u32);
        }
        let most = places.last_key_value().map_or(0, |(&most, _)| u64::from(most) + 1);
        let size = variable.domain.size().min(if dependent.is_some() { most } else { u64::MAX });
        let listed: Vec<u32> = match &variable.cells {
            _ if size <= LISTED => (0..size as u32).collect(),
            Cells::Of(..) => places.keys().copied().collect(),
            Cells::Own(codes) => codes.iter().copied().collect::<BTreeSet<u32>>().into_iter().collect(),
        };
        for code in listed {
            if boolean && code == 0 {
                continue;
            }
            let value = variable.domain.value(code);
            let name = if boolean {
                called[at].clone()
            } else {
                names.fresh(&format!("{}_{}", called[at], identifier(&value.to_string())))
            };
            write!(out, "#define {name} (")?;
            match &dependent {
                None => write!(out, "{} == {code}", called[at])?,
                Some((other, _)) => {
                    let column = Column {
                        name: called[*other].clone(),
                        domain: &model.variables[*other].domain,
                        codes: &[],
                        numbers: are_numbers(&model.variables[*other].domain),
                    };
                    let places = places.get(&code).map_or(&[][..], Vec::as_slice);
                    for (at, &place) in places.iter().enumerate() {
                        let or = if at > 0 { " || " } else { "" };
                        write!(out, "{or}{} == {}", column.name, column.value(place))?;
                    }
                    if places.is_empty() {
                        out.extend_from_slice(b"false");
                    }
                }
            }
            writeln!(out, ") /* {} */", comment(&variable.name, &value))?;
            if out.len() >= 1 << 16 {
                to.write_all(out)?;
                out.clear();
            }
        }
    }
    Ok(())
}

/// The variable of states that a variable depends on in the end, and its value for each value of that one.
fn dependence(model: &Model, variable: usize) -> Option<(usize, Codes)> {
    let Cells::Of(mut other, mut codes) = model.variables[variable].cells.clone() else { return None };
    while let Cells::Of(next, between) = &model.variables[other].cells {
        codes = between.map(|code| codes.get(code as usize));
        other = *next;
    }
    Some((other, codes))
}

fn comment(name: &str, value: &Value) -> String {
    let text = format!("{name} = {}", super::json::text(value)).replace("*/", "* /");
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests;

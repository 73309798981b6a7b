//! Slots, arrays, channels and initial values.

use super::MAX_COLUMNS;
use super::{Declared, Lowering, Symbol, worded};
use crate::machine::{Array, Channel, Code, Kind, Op};
use crate::tree::{Bounds, Declaration, Initial, Name, Scalar, Type};
use tw_diag::{Diagnostic, Span};

fn kind(scalar: Scalar) -> Kind {
    match scalar {
        Scalar::Integer => Kind::Integer,
        Scalar::Boolean => Kind::Boolean,
    }
}

impl<'t> Lowering<'t, '_> {
    pub(super) fn declarations(&mut self, declarations: &[Declaration<'t>]) {
        for declaration in declarations {
            for &name in &declaration.names {
                self.declare(name, &declaration.kind);
            }
            for &initial in &declaration.initial {
                self.initial(declaration, initial);
            }
        }
    }

    fn declare(&mut self, name: Name<'t>, kind_of: &Type) {
        if matches!(name.text, "time" | "event") {
            let message = format!("a column `{}` of a trace has a meaning of its own", name.text);
            self.report(
                Diagnostic::error("reserved-word", message).at(name.span, "").help("choose another name"),
            );
        }
        let symbol = match kind_of {
            Type::Scalar(scalar) => {
                Symbol::Scalar(self.slot(name.text.to_owned(), *scalar, name.span), *scalar)
            }
            Type::Array(bounds, scalar) => {
                let Some(symbol) = self.array(name, *bounds, *scalar) else { return };
                symbol
            }
            Type::Channel { bounds, message, reliable } => {
                let slot = self.slot(name.text.to_owned(), Scalar::Integer, name.span);
                if bounds.low != 1 || bounds.high.is_some_and(|high| high < 1) {
                    let found =
                        Diagnostic::error("bounds", "a channel has room for `[1..]` or `[1..n]` messages");
                    self.report(found.at(bounds.span, ""));
                }
                self.program.channels.push(Channel {
                    name: name.text.to_owned(),
                    slot,
                    arity: message.len(),
                    capacity: bounds.high,
                    reliable: *reliable,
                });
                self.messages.push(message.clone());
                Symbol::Channel((self.program.channels.len() - 1) as u32)
            }
        };
        let scope = if self.process.is_some() { &mut self.local } else { &mut self.global };
        if let Some(before) = scope.insert(name.text, Declared { symbol, span: name.span }) {
            let found = Diagnostic::error("duplicate-name", format!("`{}` is declared twice", name.text));
            self.report(found.at(name.span, "again here").at(before.span, "first here"));
        }
    }

    fn slot(&mut self, name: String, scalar: Scalar, span: Span) -> u32 {
        self.variables.push((name, self.process, kind(scalar), span));
        self.program.slots = self.variables.len() as u32;
        self.program.slots - 1
    }

    fn array(&mut self, name: Name<'t>, bounds: Bounds, scalar: Scalar) -> Option<Symbol> {
        let mut bounded = None;
        if let Some(high) = bounds.high {
            let length = high.checked_sub(bounds.low).and_then(|length| length.checked_add(1));
            let room = MAX_COLUMNS as i64 - i64::from(self.program.slots);
            let Some(length) = length.filter(|length| *length >= 1 && *length <= room) else {
                let message = match high < bounds.low {
                    true => "this range of indices is empty".to_owned(),
                    false => format!("every element is a column, and a trace has at most {MAX_COLUMNS}"),
                };
                let found = Diagnostic::error("bounds", message).at(bounds.span, "");
                self.report(found.help("an array without end, `[1..]`, has no columns"));
                return None;
            };
            bounded = Some((length as u32, self.program.slots));
            for index in bounds.low..=high {
                self.slot(format!("{}[{index}]", name.text), scalar, name.span);
            }
        }
        self.program.arrays.push(Array {
            name: name.text.to_owned(),
            low: bounds.low,
            bounded,
            rule: None,
            read: false,
        });
        Some(Symbol::Array((self.program.arrays.len() - 1) as u32, scalar))
    }

    fn initial(&mut self, declaration: &Declaration<'t>, initial: Initial<'t>) {
        let name = initial.name;
        if !declaration.names.iter().any(|other| other.text == name.text) {
            let message = format!("`{}` is not declared here", name.text);
            let found = Diagnostic::error("unknown-name", message).at(name.span, "");
            return self.report(found.help("`where` speaks of the variables before it"));
        }
        let Some(symbol) = self.resolve(name) else { return };
        let scalar = match (symbol, initial.parameter) {
            (Symbol::Scalar(_, scalar), None) | (Symbol::Array(_, scalar), Some(_)) => scalar,
            (Symbol::Array(..), None) => {
                let found =
                    Diagnostic::error("type", format!("`{}` is an array", name.text)).at(name.span, "");
                return self.report(found.help(format!("write `{}[n] = …`", name.text)));
            }
            (Symbol::Scalar(..), Some(_)) => {
                let message = format!("`{}` is no array", name.text);
                return self.report(Diagnostic::error("type", message).at(name.span, ""));
            }
            (Symbol::Channel(_), _) => {
                let message = "a channel is empty at first";
                return self.report(Diagnostic::error("type", message).at(name.span, ""));
            }
        };
        let code = match initial.value {
            Err(_) if scalar == Scalar::Integer => {
                return self.mismatch(name.span, "an integer as a condition", "`=` and its value");
            }
            Err(truth) => self.constant(i64::from(truth), name.span),
            Ok(value) => {
                let (code, found) = self.constant_expression(value, initial.parameter);
                if let Some(found) = found.filter(|found| *found != scalar) {
                    self.mismatch(value.span, worded(found), worded(scalar));
                }
                code
            }
        };
        match symbol {
            Symbol::Scalar(slot, _) => self.program.initial.push((slot, code)),
            Symbol::Array(array, _) => self.program.arrays[array as usize].rule = Some(code),
            Symbol::Channel(_) => {}
        }
    }

    fn constant(&mut self, value: i64, span: Span) -> Code {
        let start = self.program.ops.len() as u32;
        self.program.ops.push(Op::Const(value));
        self.program.spans.push(span);
        Code { start, end: start + 1 }
    }
}

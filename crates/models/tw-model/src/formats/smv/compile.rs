//! Names to what they mean, definitions to their order. Expressions become code in [`emit`].

mod emit;

use super::plan;
use super::program::{Cases, Define, Program, Slot, Val};
use super::syntax::{Error, Id, Module, Op, Symbol, Type};
use crate::Domain;
use rustc_hash::FxHashMap;
use tw_core::Value;

/// Makes a module ready.
pub(super) fn compile(text: &str, module: Module<'_>) -> Result<Program, Error> {
    let mut compiler = Compiler::new(module)?;
    compiler.definitions()?;
    plan::problems(&mut compiler)?;
    let Compiler { module, mut program, .. } = compiler;
    program.fairness = module.fairness;
    program.specs = module.specs;
    program.lines =
        text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at as u32).collect();
    Ok(program)
}

/// What a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Variable(u32),
    Define(u32),
    Symbol(u32),
}

pub(super) struct Compiler<'t> {
    pub module: Module<'t>,
    pub program: Program,
    pub meanings: FxHashMap<u32, Meaning>,
    /// Definitions, those that others stand on first.
    order: Vec<u32>,
    /// Definitions that a definition names itself.
    direct: Vec<Vec<u32>>,
    /// Entries in lists of needs, which add up where many definitions stand on many.
    needs: usize,
}

/// Most values of a type.
const MOST_VALUES: u64 = 1 << 31;

impl<'t> Compiler<'t> {
    fn new(module: Module<'t>) -> Result<Self, Error> {
        let changed: FxHashMap<&str, Value> = module.changed.iter().cloned().collect();
        let given = |name: &str| match changed.get(name) {
            Some(Value::Str(text)) => text.to_string(),
            _ => name.to_owned(),
        };
        let mut meanings = FxHashMap::default();
        let twice = |at: u32, name: &str| {
            Error::new(at, format!("found `{name}` again, expected a name that is not in use"))
        };
        for (index, variable) in module.variables.iter().enumerate() {
            if meanings.insert(variable.name, Meaning::Variable(index as u32)).is_some() {
                return Err(twice(variable.at, module.names[variable.name as usize]));
            }
        }
        let mut program = Program::default();
        for (index, &(name, _, at)) in module.defines.iter().enumerate() {
            if meanings.insert(name, Meaning::Define(index as u32)).is_some() {
                return Err(twice(at, module.names[name as usize]));
            }
            let name = given(module.names[name as usize]);
            program.defines.push(Define { name, exprs: [None, None], table: None, next: false });
        }
        let mut symbol = |name: u32, at: u32| match meanings.get(&name) {
            Some(Meaning::Symbol(symbol)) => Ok(*symbol),
            Some(_) => Err(twice(at, module.names[name as usize])),
            None => {
                let symbol = program.symbols.len() as u32;
                meanings.insert(name, Meaning::Symbol(symbol));
                let name = module.names[name as usize];
                program.symbols.push(changed.get(name).cloned().unwrap_or_else(|| Value::text(name)));
                Ok(symbol)
            }
        };
        for &name in &module.constants {
            symbol(name, 0)?;
        }
        for variable in &module.variables {
            let mut values = Vec::new();
            if let Type::Values(symbols) = &variable.kind {
                for &value in symbols {
                    values.push(match value {
                        Symbol::Int(value) => Val::Int(value),
                        Symbol::Name(name) => Val::Symbol(symbol(name, variable.at)?),
                    });
                }
            }
            let codes: FxHashMap<Val, u32> =
                values.iter().zip(0..).map(|(&value, code)| (value, code)).collect();
            if codes.len() < values.len() {
                return Err(Error::new(variable.at, "found a value twice in this type, expected it once"));
            }
            program.variables.push(Slot {
                name: given(module.names[variable.name as usize]),
                domain: Domain::Boolean,
                size: 2,
                values,
                codes,
            });
        }
        for (variable, slot) in module.variables.iter().zip(&mut program.variables) {
            slot.domain = match &variable.kind {
                Type::Boolean => Domain::Boolean,
                Type::Range(low, high) => Domain::Range(*low, *high),
                Type::Values(_) => Domain::Values(
                    slot.values
                        .iter()
                        .map(|value| match value {
                            Val::Symbol(symbol) => program.symbols[*symbol as usize].clone(),
                            Val::Int(value) => Value::Int(*value),
                            _ => Value::Null,
                        })
                        .collect(),
                ),
            };
            let size = slot.domain.size();
            if size > MOST_VALUES {
                return Err(Error::new(
                    variable.at,
                    format!("found a type of {size} values, expected at most {MOST_VALUES}"),
                ));
            }
            slot.size = size as u32;
        }
        let direct = vec![Vec::new(); module.defines.len()];
        Ok(Self { module, program, meanings, order: Vec::new(), direct, needs: 0 })
    }

    /// What a name means, or that it means nothing.
    pub fn meaning(&self, name: u32, at: u32) -> Result<Meaning, Error> {
        self.meanings.get(&name).copied().ok_or_else(|| {
            let name = self.module.names[name as usize];
            let hint = if name.contains('-') { "; spaces around `-` make it a difference" } else { "" };
            Error::new(
                at,
                format!("found `{name}`, expected a variable, a definition or a value of a type{hint}"),
            )
        })
    }

    /// The constant that an expression is.
    pub fn constant(&self, id: Id) -> Option<Val> {
        let node = self.module.node(id);
        match node.op {
            Op::Int => Some(Val::Int(node.int())),
            Op::True => Some(Val::Bool(true)),
            Op::False => Some(Val::Bool(false)),
            Op::Name => match self.meanings.get(&node.a) {
                Some(Meaning::Symbol(symbol)) => Some(Val::Symbol(*symbol)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The variable that an expression names.
    pub fn variable(&self, id: Id) -> Option<u32> {
        let node = self.module.node(id);
        match (node.op, self.meanings.get(&node.a)) {
            (Op::Name, Some(Meaning::Variable(variable))) => Some(*variable),
            _ => None,
        }
    }

    fn definitions(&mut self) -> Result<(), Error> {
        for index in 0..self.module.defines.len() {
            let (_, body, _) = self.module.defines[index];
            let mut stack = vec![body];
            while let Some(id) = stack.pop() {
                let node = self.module.node(id);
                self.program.defines[index].next |= node.op == Op::Next;
                if node.op == Op::Name
                    && let Meaning::Define(other) = self.meaning(node.a, node.at)?
                {
                    self.direct[index].push(other);
                }
                stack.extend([node.a, node.b, node.c].into_iter().take(node.parts()));
            }
            self.direct[index].sort_unstable();
            self.direct[index].dedup();
        }
        self.sort_definitions()?;
        for at in 0..self.order.len() {
            let index = self.order[at] as usize;
            let body = self.module.defines[index].1;
            let next = self.direct[index].iter().any(|&other| self.program.defines[other as usize].next);
            self.program.defines[index].next |= next;
            self.program.defines[index].table = self.table(body);
            self.program.defines[index].exprs[0] = Some(self.expression(body, false, true)?);
            if !self.program.defines[index].next {
                self.program.defines[index].exprs[1] = Some(self.expression(body, true, true)?);
            }
        }
        Ok(())
    }

    fn sort_definitions(&mut self) -> Result<(), Error> {
        // 0: not met, 1: on the path, 2: done.
        let mut met = vec![0u8; self.direct.len()];
        for root in 0..self.direct.len() {
            let mut path = vec![(root as u32, 0)];
            while let Some((define, next)) = path.last_mut() {
                let index = *define as usize;
                if met[index] == 2 {
                    path.pop();
                    continue;
                }
                met[index] = 1;
                if let Some(&other) = self.direct[index].get(*next) {
                    *next += 1;
                    match met[other as usize] {
                        0 => path.push((other, 0)),
                        1 => {
                            let (name, _, at) = self.module.defines[index];
                            let name = self.module.names[name as usize];
                            return Err(Error::new(
                                at,
                                format!("found `{name}` defined by itself, expected another expression"),
                            ));
                        }
                        _ => {}
                    }
                    continue;
                }
                met[index] = 2;
                self.order.push(*define);
                path.pop();
            }
        }
        Ok(())
    }

    /// Cases over one variable with constants for values, as variables that depend on another are written.
    fn table(&self, body: Id) -> Option<(u32, Cases)> {
        let mut node = self.module.node(body);
        let first = (node.op == Op::If).then(|| self.module.node(node.a))?;
        let variable = (first.op == Op::Eq).then(|| self.variable(first.a))??;
        let slot = &self.program.variables[variable as usize];
        let mut cases = Cases::default();
        while node.op == Op::If {
            let (condition, value) = (self.module.node(node.a), self.constant(node.b)?);
            if condition.op == Op::True {
                cases.rest = Some(value);
                return Some((variable, cases));
            }
            if condition.op != Op::Eq || self.variable(condition.a) != Some(variable) {
                return None;
            }
            if let Some(code) = slot.code(self.constant(condition.b)?) {
                cases.of.entry(code).or_insert(value);
            }
            node = self.module.node(node.c);
        }
        Some((variable, cases))
    }
}

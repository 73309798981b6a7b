//! Expressions to code for a stack, with tasks of its own in place of recursion.

use super::{Compiler, Meaning};
use crate::formats::smv::program::{Expr, ExprId, Instr, Val};
use crate::formats::smv::syntax::{Error, Id, Op};

/// Most entries in the lists of definitions that expressions stand on.
const MOST_NEEDS: usize = 1 << 24;

impl Compiler<'_> {
    /// Compiles an expression, one step later if `shifted`. `next` says whether it may speak of next states.
    pub fn expression(&mut self, id: Id, shifted: bool, next: bool) -> Result<ExprId, Error> {
        let start = self.program.code.len() as u32;
        let (mut slots, mut direct) = (Vec::new(), Vec::new());
        self.emit(id, shifted, next, &mut slots, &mut direct)?;
        if self.program.code.len() > 1 << 30 {
            return Err(Error::new(
                self.module.node(id).at,
                "found a model with too many expressions, expected fewer",
            ));
        }
        let needs = self.closure(direct)?;
        for &need in &needs {
            let body = self.program.defines[need as usize / 2].exprs[need as usize % 2];
            slots.extend(body.map(|body| &self.program.exprs[body as usize].slots).into_iter().flatten());
        }
        slots.sort_unstable();
        slots.dedup();
        self.program.exprs.push(Expr { start, end: self.program.code.len() as u32, needs, slots });
        Ok(self.program.exprs.len() as ExprId - 1)
    }

    /// Definitions, and those that they stand on, which come first.
    fn closure(&mut self, mut direct: Vec<u32>) -> Result<Vec<u32>, Error> {
        direct.sort_unstable();
        direct.dedup();
        let mut needs = Vec::new();
        for need in direct {
            let body = self.program.defines[need as usize / 2].exprs[need as usize % 2];
            needs.extend(body.iter().flat_map(|&body| &self.program.exprs[body as usize].needs).copied());
            needs.push(need);
            if self.needs + needs.len() > MOST_NEEDS {
                return Err(Error::new(0, "found too many definitions that stand on others, expected fewer"));
            }
        }
        // Each once, where it comes first.
        let mut met = rustc_hash::FxHashSet::default();
        needs.retain(|need| met.insert(*need));
        self.needs += needs.len();
        Ok(needs)
    }

    fn emit(
        &mut self,
        root: Id,
        shifted: bool,
        next: bool,
        slots: &mut Vec<u32>,
        defines: &mut Vec<u32>,
    ) -> Result<(), Error> {
        enum Task {
            Visit(Id, bool),
            Emit(Instr, u32),
            /// The jump at that place leads here.
            Land(usize),
            /// After a condition: a test whose ends are found later.
            Test(Id, bool),
            Otherwise(usize, Id, bool),
        }
        let count = self.program.variables.len() as u32;
        // `next` stands for the step after; a shifted expression has taken it.
        let mut tasks = vec![Task::Visit(root, shifted)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Visit(id, shifted) => {
                    let node = self.module.node(id);
                    match node.op {
                        Op::Name => match self.meaning(node.a, node.at)? {
                            Meaning::Variable(variable) => {
                                let slot = variable + if shifted { count } else { 0 };
                                slots.push(slot);
                                self.step(Instr::Slot(slot), node.at);
                            }
                            Meaning::Define(define) => {
                                let body = &self.program.defines[define as usize];
                                if body.next && (shifted || !next) {
                                    return Err(Error::new(
                                        node.at,
                                        "found a definition that speaks of the next state, expected one of this state",
                                    ));
                                }
                                let define = 2 * define + u32::from(shifted);
                                defines.push(define);
                                self.step(Instr::Define(define), node.at);
                            }
                            Meaning::Symbol(symbol) => self.step(Instr::Push(Val::Symbol(symbol)), node.at),
                        },
                        Op::Next if shifted || !next => {
                            let message =
                                if next { "found `next` in what is next already" } else { "found `next`" };
                            return Err(Error::new(
                                node.at,
                                format!("{message}, expected an expression over one state"),
                            ));
                        }
                        Op::Next => tasks.push(Task::Visit(node.a, true)),
                        Op::Not | Op::Negate => {
                            tasks.push(Task::Emit(Instr::Unary(node.op), node.at));
                            tasks.push(Task::Visit(node.a, shifted));
                        }
                        Op::If => {
                            tasks.push(Task::Test(id, shifted));
                            tasks.push(Task::Visit(node.a, shifted));
                        }
                        Op::Nothing => self.step(Instr::Nothing, node.at),
                        Op::And | Op::Or | Op::Implies => {
                            tasks.push(Task::Emit(Instr::Binary(node.op), node.at));
                            tasks.push(Task::Visit(node.b, shifted));
                            tasks.push(Task::Emit(Instr::Decides(node.op, 0), node.at));
                            tasks.push(Task::Visit(node.a, shifted));
                        }
                        _ if node.parts() == 2 => {
                            tasks.push(Task::Emit(Instr::Binary(node.op), node.at));
                            tasks.push(Task::Visit(node.b, shifted));
                            tasks.push(Task::Visit(node.a, shifted));
                        }
                        _ => {
                            let value = self.constant(id).unwrap_or(Val::Unknown);
                            self.step(Instr::Push(value), node.at);
                        }
                    }
                }
                Task::Emit(instr @ Instr::Decides(..), at) => {
                    let place = self.program.code.len();
                    self.step(instr, at);
                    // Its right side and operator are the next two tasks; the jump lands behind them.
                    let behind = tasks.len() - 2;
                    tasks.insert(behind, Task::Land(place));
                }
                Task::Emit(instr, at) => self.step(instr, at),
                Task::Land(place) => {
                    let here = self.program.code.len() as u32;
                    match &mut self.program.code[place] {
                        Instr::Decides(_, target) | Instr::Jump(target) | Instr::Test(_, target) => {
                            *target = here
                        }
                        _ => {}
                    }
                }
                Task::Test(id, shifted) => {
                    let node = self.module.node(id);
                    let place = self.program.code.len();
                    self.step(Instr::Test(0, 0), node.at);
                    tasks.push(Task::Land(place));
                    tasks.push(Task::Otherwise(place, node.c, shifted));
                    tasks.push(Task::Visit(node.b, shifted));
                }
                Task::Otherwise(test, otherwise, shifted) => {
                    let jump = self.program.code.len();
                    self.step(Instr::Jump(0), 0);
                    let here = self.program.code.len() as u32;
                    if let Instr::Test(target, _) = &mut self.program.code[test] {
                        *target = here;
                    }
                    tasks.push(Task::Land(jump));
                    tasks.push(Task::Visit(otherwise, shifted));
                }
            }
        }
        Ok(())
    }

    fn step(&mut self, instr: Instr, at: u32) {
        self.program.code.push(instr);
        self.program.places.push(at);
    }
}

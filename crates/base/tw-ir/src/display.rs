//! Prints nodes in the specification language, with no more parentheses than needed.
//!
//! The walk keeps its own stack, and stops with `…` after [`LIMIT`] bytes: a DAG of a hundred nodes can stand for
//! a formula longer than any memory.

mod leaf;

use crate::binding::{
    AND, ATOM, COMPARE, DEFAULT, EMIT, IFF, IMPLIES, NOTHING, OR, PREFIX, PRODUCT, SUM, UNARY, UNTIL, XOR,
};
use crate::{
    Aggregate, ArgumentKey, ArithmeticOp, Function, Interval, Node, NodeId, PathStep, PatternArgument,
    Program, SlotId, Temporal, What, quote,
};
use leaf::{event, name, set, value, what};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::fmt::Write;
use tw_core::Value;

/// Longest output, in bytes.
const LIMIT: usize = 1 << 22;

/// The formula, term or experiment at `node`, as a user would write it.
pub fn display(program: &Program, node: NodeId) -> String {
    display_with(program, node, &[])
}

/// The same with values in the places of some free variables.
pub fn display_with(program: &Program, node: NodeId, bound: &[(u32, Value)]) -> String {
    let spelled = |(variable, own): &(u32, Value)| {
        let mut text = String::new();
        value(&mut text, own);
        (*variable, vec![(text, String::new())])
    };
    let mut printer = Printer {
        program,
        out: String::new(),
        stack: vec![Task::Node(node, DEFAULT, NOTHING)],
        names: bound.iter().map(spelled).collect(),
        taken: FxHashMap::default(),
    };
    while let Some(task) = printer.stack.pop() {
        if printer.out.len() > LIMIT {
            printer.out.push('…');
            break;
        }
        match task {
            Task::Text(text) => printer.out.push_str(&text),
            Task::Node(node, level, follow) => printer.node(node, level, follow),
            Task::Unbind(variable) => printer.unbind(variable),
        }
    }
    printer.out
}

/// What is left to print.
enum Task {
    Text(Cow<'static, str>),
    /// A node, how tightly it must bind to go without parentheses, and how tightly the operator binds that follows
    /// it: `forall` and `if` reach as far right as they can, and would draw that in.
    Node(NodeId, u8, u8),
    /// The scope of a variable ends.
    Unbind(u32),
}

struct Printer<'p> {
    program: &'p Program,
    out: String,
    stack: Vec<Task>,
    /// Printed and own names of the variables in scope, innermost last.
    names: FxHashMap<u32, Vec<(String, String)>>,
    /// How many scopes use a name at the moment, printed or own.
    taken: FxHashMap<String, u32>,
}

fn text(text: &'static str) -> Task {
    Task::Text(Cow::Borrowed(text))
}

fn owned(text: String) -> Task {
    Task::Text(Cow::Owned(text))
}

impl Printer<'_> {
    /// Puts tasks on the stack so that the first comes next.
    fn push<const N: usize>(&mut self, tasks: [Task; N]) {
        self.stack.extend(tasks.into_iter().rev());
    }

    fn node(&mut self, id: NodeId, level: u8, follow: u8) {
        let node = self.program.dag.node(id);
        let own = self.level(node, follow);
        let follow = if own < level {
            self.out.push('(');
            self.stack.push(text(")"));
            NOTHING
        } else {
            follow
        };
        self.open(node, follow);
    }

    /// How tightly a node binds.
    fn level(&self, node: Node, follow: u8) -> u8 {
        use Node::*;
        match node {
            Default(..) => DEFAULT,
            Emit(..) => EMIT,
            Iff(..) => IFF,
            Implies(..) => IMPLIES,
            Xor(..) => XOR,
            Or(..) | Either(..) => OR,
            Both(Function::Arithmetic(op), ..) | Arithmetic(op, ..) => match op {
                ArithmeticOp::Add | ArithmeticOp::Sub => SUM,
                ArithmeticOp::Mul | ArithmeticOp::Div | ArithmeticOp::Rem => PRODUCT,
                ArithmeticOp::Min | ArithmeticOp::Max => ATOM,
            },
            And(..) | Both(..) => AND,
            Binary(..) | UntilMap { .. } => UNTIL,
            Forall(..) | Exists(..) if follow >= IFF => DEFAULT,
            IfThenElse(..) if follow >= SUM => DEFAULT,
            Not(_)
            | Unary(..)
            | AllPaths(_)
            | SomePath(_)
            | Forall(..)
            | Exists(..)
            | Fails(..)
            | NextMap { .. } => PREFIX,
            Compare(..) | In(..) | Matches(..) => COMPARE,
            Negate(_) => UNARY,
            Constant(constant) => match self.program.dag.constants[constant as usize] {
                Value::Int(i) if i < 0 => UNARY,
                Value::Real(r) if r.is_sign_negative() => UNARY,
                _ => ATOM,
            },
            _ => ATOM,
        }
    }

    /// How tightly the operand of a prefix operator must bind: `!x < 2` and `G x < 2` would be read right, but not by
    /// everybody.
    fn operand(&self, node: NodeId) -> u8 {
        match self.program.dag.node(node) {
            Node::Compare(..) | Node::In(..) | Node::Matches(..) => SUM,
            Node::Both(Function::Arithmetic(_), ..) => ATOM,
            _ => PREFIX,
        }
    }

    fn open(&mut self, node: Node, follow: u8) {
        use Node::*;
        let program = self.program;
        match node {
            Constant(constant) => value(&mut self.out, &program.dag.constants[constant as usize]),
            Slot(slot) | Truth(slot) => {
                let before = self.out.len();
                what(&mut self.out, &program.slots[slot as usize].what);
                self.reveal(slot, before);
            }
            Negate(a) => self.push([text("-"), Task::Node(a, ATOM, follow)]),
            Abs(a) => self.push([text("abs("), Task::Node(a, SUM, NOTHING), text(")")]),
            Arithmetic(op, a, b) => self.arithmetic(op, a, b, follow),
            IfThenElse(c, a, b) => self.push([
                text("if "),
                Task::Node(c, IFF, NOTHING),
                text(" then "),
                Task::Node(a, SUM, NOTHING),
                text(" else "),
                Task::Node(b, SUM, follow),
            ]),
            Tuple(a, b) => {
                // `(a, b, c)` is a pair whose second part is a pair.
                self.out.push('(');
                self.stack.push(text(")"));
                let mut tasks = vec![Task::Node(a, SUM, NOTHING)];
                let mut rest = b;
                while let Tuple(next, after) = program.dag.node(rest) {
                    tasks.push(text(", "));
                    tasks.push(Task::Node(next, SUM, NOTHING));
                    rest = after;
                }
                tasks.push(text(", "));
                tasks.push(Task::Node(rest, SUM, NOTHING));
                self.stack.extend(tasks.into_iter().rev());
            }
            Variable(number) => self.variable(number),
            Tally(tally, bound, e, a) => {
                let variables = &program.dag.bound[bound as usize];
                let names: Vec<String> = variables.iter().map(|&variable| self.bind(variable)).collect();
                let _ = write!(self.out, "{}(", tally.name());
                self.stack.extend(variables.iter().map(|&variable| Task::Unbind(variable)));
                let names = owned(format!("{} : ", names.join(", ")));
                let rest = [names, Task::Node(a, IFF, NOTHING), text(")")];
                match tally {
                    crate::Tally::Count => self.push(rest),
                    _ => {
                        self.push(rest);
                        self.push([Task::Node(e, SUM, NOTHING), text(" for ")]);
                    }
                }
            }
            Bool(value) => self.out.push_str(if value { "true" } else { "false" }),
            First => self.out.push_str("first"),
            Last => self.out.push_str("last"),
            Compare(op, a, b) => self.infix(op.symbol(), None, a, SUM, b, SUM, follow),
            In(a, index) => {
                let mut list = String::new();
                set(&mut list, &program.dag.sets[index as usize]);
                self.push([Task::Node(a, SUM, COMPARE), text(" in "), owned(list)]);
            }
            Matches(a, index) => {
                let regex = quote(program.dag.regexes[index as usize].as_str());
                self.push([Task::Node(a, SUM, COMPARE), text(" matches "), owned(regex)]);
            }
            Has(a) => self.push([text("has("), Task::Node(a, SUM, NOTHING), text(")")]),
            Pattern(index) => self.pattern(index),
            Chart(index, _) => {
                let check = &program.dag.charts[index as usize];
                let [(first, pre), (second, main)] = &check.parts;
                let _ = write!(self.out, "{}({first}.{pre}, {second}.{main})", check.condition.word());
            }
            Not(a) => self.push([text("!"), Task::Node(a, self.operand(a), follow)]),
            And(a, b) => self.infix("&", None, a, AND, b, AND + 1, follow),
            Or(a, b) => self.infix("|", None, a, OR, b, OR + 1, follow),
            Xor(a, b) => self.infix("^", None, a, XOR, b, XOR + 1, follow),
            Implies(a, b) => self.infix("->", None, a, IMPLIES + 1, b, IMPLIES, follow),
            Iff(a, b) => self.infix("<->", None, a, IFF, b, IFF + 1, follow),
            Unary(_, i, a) => {
                let mut operator = node.operator().to_owned();
                if let Some(interval) = i {
                    let _ = write!(operator, "{interval}");
                }
                operator.push(' ');
                self.push([owned(operator), Task::Node(a, self.operand(a), follow)]);
            }
            Binary(_, i, a, b) => {
                self.infix(node.operator(), i, a, UNTIL + 1, b, UNTIL, follow);
            }
            AllPaths(a) | SomePath(a) => {
                self.out.push_str(node.operator());
                match program.dag.node(a) {
                    // `AX`, `AF`, `AG` are words, others would be names.
                    Unary(Temporal::Next | Temporal::Finally | Temporal::Globally, ..) => {
                        self.push([Task::Node(a, PREFIX, follow)]);
                    }
                    path @ Binary(..) if path.is_future() => {
                        self.push([text("["), Task::Node(a, UNTIL, NOTHING), text("]")]);
                    }
                    _ => self.push([text(" ("), Task::Node(a, IFF, NOTHING), text(")")]),
                }
            }
            Forall(variable, a) | Exists(variable, a) => {
                let name = self.bind(variable);
                let quantifier = if matches!(node, Forall(..)) { "forall" } else { "exists" };
                self.push([
                    owned(format!("{quantifier} {name}. ")),
                    Task::Node(a, IFF, follow),
                    Task::Unbind(variable),
                ]);
            }
            Emit(a, b) => self.infix(":", None, a, IFF, b, SUM, follow),
            Both(Function::Arithmetic(op), a, b) => {
                let (a, b) = (self.unlifted(a, b), self.unlifted(b, a));
                self.arithmetic(op, a, b, follow);
            }
            Both(function, a, b) => self.combine("&", function, a, AND, b, follow),
            Either(function, a, b) => self.combine("|", function, a, OR, b, follow),
            Fails(a, constant) => {
                // Of a formula, `!` would be the formula's negation.
                if self.is_true(constant) && self.is_experiment(a) {
                    self.push([text("!"), Task::Node(a, self.operand(a), follow)]);
                } else {
                    self.push([
                        text("!{"),
                        Task::Node(constant, SUM, NOTHING),
                        text("} "),
                        Task::Node(a, self.operand(a), follow),
                    ]);
                }
            }
            NextMap { body, result, parameter } => {
                self.stack.push(Task::Node(body, self.operand(body), follow));
                self.stack.push(text(" "));
                self.map(result, parameter, self.is_experiment(body));
                self.stack.push(text("X"));
            }
            UntilMap { pair, result, parameter } => {
                let (a, b) = match program.dag.node(pair) {
                    Tuple(a, b) => (a, b),
                    _ => (pair, pair),
                };
                self.stack.push(Task::Node(b, UNTIL, follow));
                self.stack.push(text(" "));
                self.map(result, parameter, self.is_experiment(a) || self.is_experiment(b));
                self.stack.push(text(" U"));
                self.stack.push(Task::Node(a, UNTIL + 1, UNTIL));
            }
            Collect(aggregate, a) => self.collect(aggregate, a, None),
            CollectWhile(aggregate, a, during) => self.collect(aggregate, a, Some(during)),
            Default(a, b) => self.infix("??", None, a, DEFAULT, b, SUM, follow),
        }
    }

    /// Puts the column that was printed at `from` into backquotes where a variable hides its name.
    fn reveal(&mut self, slot: SlotId, from: usize) {
        let (What::Proposition(path) | What::Variable(path, _)) = &self.program.slots[slot as usize].what
        else {
            return;
        };
        let Some(PathStep::Field(first)) = path.steps.first() else { return };
        if self.taken.get(first).is_some_and(|scopes| *scopes > 0) {
            let rest = self.out.split_off(from + first.len());
            self.out.insert(from, '`');
            self.out.push('`');
            self.out.push_str(&rest);
        }
    }

    fn is_experiment(&self, node: NodeId) -> bool {
        self.program.dag.node(node).is_experiment()
    }

    /// Whether a node is the constant `true`, the default of `!{c}`.
    fn is_true(&self, node: NodeId) -> bool {
        let dag = &self.program.dag;
        matches!(dag.node(node), Node::Constant(c) if dag.constants[c as usize] == Value::Bool(true))
    }

    /// `a + b`, `min(a, b)`: terms, or experiments that have numbers as values.
    fn arithmetic(&mut self, op: ArithmeticOp, a: NodeId, b: NodeId, follow: u8) {
        match op {
            ArithmeticOp::Min | ArithmeticOp::Max => self.push([
                text(if op == ArithmeticOp::Min { "min(" } else { "max(" }),
                Task::Node(a, IFF, NOTHING),
                text(", "),
                Task::Node(b, IFF, NOTHING),
                text(")"),
            ]),
            ArithmeticOp::Add | ArithmeticOp::Sub => {
                self.infix(op.symbol(), None, a, SUM, b, PRODUCT, follow)
            }
            _ => self.infix(op.symbol(), None, a, PRODUCT, b, UNARY, follow),
        }
    }

    /// The term itself for `true : 100` or `true : x` beside an experiment, as in `count[p] * 100`.
    fn unlifted(&self, node: NodeId, beside: NodeId) -> NodeId {
        let dag = &self.program.dag;
        let lifted = |node: NodeId| match dag.node(node) {
            Node::Emit(always, term) if dag.node(always) == Node::Bool(true) => Some(term),
            _ => None,
        };
        let plain = |term: NodeId| match dag.node(term) {
            Node::Constant(c) => matches!(dag.constants[c as usize], Value::Int(_) | Value::Real(_)),
            Node::Slot(_) | Node::Arithmetic(..) | Node::Negate(_) | Node::Abs(_) => true,
            _ => false,
        };
        // Two terms side by side would be one term.
        match lifted(node) {
            Some(term) if self.is_experiment(beside) && lifted(beside).is_none() && plain(term) => term,
            _ => node,
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn infix(
        &mut self,
        operator: &'static str,
        interval: Option<Interval>,
        a: NodeId,
        left: u8,
        b: NodeId,
        right: u8,
        follow: u8,
    ) {
        let between = match interval {
            Some(interval) => format!(" {operator}{interval} "),
            None => format!(" {operator} "),
        };
        let own = left.min(right);
        self.push([Task::Node(a, left, own), owned(between), Task::Node(b, right, follow)]);
    }

    fn combine(
        &mut self,
        sign_of: &'static str,
        function: Function,
        a: NodeId,
        level: u8,
        b: NodeId,
        follow: u8,
    ) {
        let function = match function {
            Function::True => String::new(),
            Function::Arithmetic(op) => format!("{{{}}}", op.symbol()),
            Function::Pair => "{pair}".to_owned(),
            Function::First => "{first}".to_owned(),
            Function::Second => "{second}".to_owned(),
        };
        let operator = owned(format!(" {sign_of}{function} "));
        self.push([Task::Node(a, level, level), operator, Task::Node(b, level + 1, follow)]);
    }

    fn collect(&mut self, aggregate: Aggregate, a: NodeId, during: Option<NodeId>) {
        let _ = write!(self.out, "{aggregate}[");
        self.stack.push(text("]"));
        if let Some(during) = during {
            self.stack.push(Task::Node(during, DEFAULT, NOTHING));
            self.stack.push(text(" while "));
        }
        match (aggregate, self.program.dag.node(a)) {
            (Aggregate::Corr, Node::Both(Function::Pair, a, b)) => {
                self.push([Task::Node(a, DEFAULT, NOTHING), text(", "), Task::Node(b, DEFAULT, NOTHING)]);
            }
            // A bare name would stand for its values there.
            (Aggregate::Mode | Aggregate::Distinct, Node::Truth(slot)) if self.is_bare(slot) => {
                self.push([Task::Node(a, DEFAULT, NOTHING), text(" == true")]);
            }
            _ => self.stack.push(Task::Node(a, DEFAULT, NOTHING)),
        }
    }

    /// Whether the slot is a name that no declaration makes a truth value.
    fn is_bare(&self, slot: SlotId) -> bool {
        let slot = &self.program.slots[slot as usize];
        !slot.declared && !matches!(slot.what, What::Event { .. } | What::Tuples { .. })
    }

    /// Puts `{v => …}` on the stack; nothing for the identity, unless the operator would then be one between formulas.
    fn map(&mut self, result: NodeId, parameter: u32, experiment: bool) {
        let dag = &self.program.dag;
        if dag.node(result) == Node::Variable(parameter) && experiment {
            return;
        }
        let mut uses = false;
        let mut open = vec![result];
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some(id) = open.pop() {
            uses |= dag.node(id) == Node::Variable(parameter);
            open.extend(dag.node(id).children().filter(|child| seen.insert(*child)));
        }
        self.stack.push(text("}"));
        self.stack.push(Task::Node(result, SUM, NOTHING));
        if uses {
            let mut arrow = String::new();
            name(&mut arrow, self.program.dag.variables.get(parameter as usize).map_or("v", String::as_str));
            arrow.push_str(" => ");
            self.stack.push(owned(arrow));
        }
        self.stack.push(text("{"));
    }

    /// Opens the scope of a variable and says how it is printed: its name, or that and a number where another
    /// variable in scope has the same name.
    fn bind(&mut self, variable: u32) -> String {
        let mut plain = String::new();
        let known = self.program.dag.variables.get(variable as usize);
        name(&mut plain, known.map_or("v", String::as_str));
        let shadows_itself = self.names.get(&variable).is_some_and(|names| !names.is_empty());
        let taken = |name: &str| self.taken.get(name).copied().unwrap_or(0);
        let mut chosen = plain.clone();
        // Each scope counts its plain name too, so the first suffix tried is free unless a user wrote it.
        let mut suffix = taken(&plain) + 1;
        while !shadows_itself && taken(&chosen) > 0 {
            chosen = format!("{plain}_{suffix}");
            suffix += 1;
        }
        *self.taken.entry(chosen.clone()).or_default() += 1;
        if chosen != plain {
            *self.taken.entry(plain.clone()).or_default() += 1;
        }
        self.names.entry(variable).or_default().push((chosen.clone(), plain));
        chosen
    }

    fn unbind(&mut self, variable: u32) {
        let Some((chosen, plain)) = self.names.get_mut(&variable).and_then(Vec::pop) else { return };
        let counted = if chosen == plain { vec![chosen] } else { vec![chosen, plain] };
        for name in counted {
            if let Some(count) = self.taken.get_mut(&name) {
                *count -= 1;
            }
        }
    }

    fn variable(&mut self, number: u32) {
        match self.names.get(&number).and_then(|names| names.last()) {
            Some((printed, _)) => self.out.push_str(printed),
            None => {
                let known = self.program.dag.variables.get(number as usize);
                name(&mut self.out, known.map_or("v", String::as_str));
            }
        }
    }

    fn pattern(&mut self, index: u32) {
        let pattern = &self.program.dag.patterns[index as usize];
        let arguments = pattern.arguments.iter().map(|(key, argument)| match argument {
            PatternArgument::Constant(constant) => {
                let mut out = String::new();
                value(&mut out, constant);
                (key, out)
            }
            PatternArgument::Variable(number) => {
                let printed =
                    self.names.get(number).and_then(|names| names.last()).map(|(name, _)| name.clone());
                let known = self.program.dag.variables.get(*number as usize);
                (key, printed.unwrap_or_else(|| known.map_or("v".to_owned(), Clone::clone)))
            }
        });
        let arguments: Vec<(&ArgumentKey, String)> = arguments.collect();
        event(&mut self.out, &pattern.name, &arguments, pattern.arity);
    }
}

#[cfg(test)]
mod tests;

/// A slot as the language writes it.
pub fn display_slot(slot: &crate::What) -> String {
    let mut out = String::new();
    leaf::what(&mut out, slot);
    out
}

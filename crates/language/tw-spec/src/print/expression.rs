//! Expressions on one line, with the fewest parentheses, without recursion.

use super::{backquote, print_path, quote_name};
use crate::ast::{ExprId, ExprKind, Ident, Infix, Map, Prefix, Tree};
use crate::parser::{Binary, FUNCTIONS, is_temporal};
use std::borrow::Cow;
use tw_core::Value;
use tw_ir::binding::{COMPARE, IFF, SUM, UNARY};
use tw_ir::{Aggregate, ArithmeticOp, Bound, Function, SetItem, Tally, quote};

/// A place where a long line may be broken: before the operator at `offset`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Break {
    pub offset: usize,
    /// How many brackets are open there.
    pub nesting: u32,
    /// How tightly the operator binds.
    pub power: u8,
}

/// A printed expression.
pub(super) struct Printed {
    pub text: String,
    pub breaks: Vec<Break>,
}

/// What surrounds an expression.
#[derive(Clone, Copy)]
struct Context {
    /// An operator looser than this needs parentheses.
    least: u8,
    /// Binding power of the operator that follows, 0 if none does: a construct that reaches to the right would
    /// take it.
    follow: u8,
    /// Right after a temporal operator without interval, where `(2, 3)` would be one.
    after_temporal: bool,
}

const OUTER: Context = Context { least: 0, follow: 0, after_temporal: false };

enum Task {
    Expr(ExprId, Context),
    Text(Cow<'static, str>),
    Open(&'static str),
    Close(&'static str),
    /// The next text may stand on a new line.
    Break(u8),
}

pub(super) struct Printer<'a> {
    tree: &'a Tree,
    tasks: Vec<Task>,
    /// Tasks of the expression at hand, in order; they go to `tasks` in reverse.
    batch: Vec<Task>,
    nesting: u32,
    out: Printed,
}

/// Words for prefix operators.
fn prefix_letter(op: Prefix) -> &'static str {
    match op {
        Prefix::Temporal(operator) => operator.row().letter,
        Prefix::AllPaths => "A",
        Prefix::SomePath => "E",
    }
}

fn infix_symbol(op: Infix) -> &'static str {
    match op {
        Infix::Iff => "<->",
        Infix::Implies => "->",
        Infix::Xor => "^",
        Infix::Or => "|",
        Infix::And => "&",
        Infix::Temporal(operator) => operator.row().letter,
    }
}

fn names(variables: &[Ident]) -> String {
    let names: Vec<String> = variables.iter().map(|variable| quote_name(&variable.name)).collect();
    names.join(", ")
}

fn print_value(value: &Value) -> String {
    match value {
        Value::Str(text) => quote(text),
        other => other.to_string(),
    }
}

impl<'a> Printer<'a> {
    pub(super) fn new(tree: &'a Tree) -> Self {
        let out = Printed { text: String::new(), breaks: Vec::new() };
        Printer { tree, tasks: Vec::new(), batch: Vec::new(), nesting: 0, out }
    }

    pub(super) fn print(mut self, id: ExprId) -> Printed {
        self.tasks.push(Task::Expr(id, OUTER));
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Text(text) => self.out.text.push_str(&text),
                Task::Open(text) => {
                    self.nesting += 1;
                    self.out.text.push_str(text);
                }
                Task::Close(text) => {
                    self.nesting -= 1;
                    self.out.text.push_str(text);
                }
                Task::Break(power) => {
                    let offset = self.out.text.len();
                    self.out.breaks.push(Break { offset, nesting: self.nesting, power });
                }
                Task::Expr(id, context) => {
                    self.expression(id, context);
                    self.tasks.extend(self.batch.drain(..).rev());
                }
            }
        }
        self.out
    }

    fn text(&mut self, text: impl Into<Cow<'static, str>>) {
        self.batch.push(Task::Text(text.into()));
    }

    fn child(&mut self, id: ExprId, least: u8, follow: u8) {
        self.batch.push(Task::Expr(id, Context { least, follow, after_temporal: false }));
    }

    /// A child in brackets of its own.
    fn inner(&mut self, id: ExprId) {
        self.batch.push(Task::Expr(id, OUTER));
    }

    fn expression(&mut self, id: ExprId, mut context: Context) {
        let kind = &self.tree.exprs[id.index()].kind;
        if needs_parentheses(self.tree, kind, context) {
            self.batch.push(Task::Open("("));
            context = OUTER;
            self.kind(kind, context);
            self.batch.push(Task::Close(")"));
        } else {
            self.kind(kind, context);
        }
    }

    fn kind(&mut self, kind: &ExprKind, context: Context) {
        match kind {
            // Only texts with reported errors have these; the mark cannot be read back as anything else.
            ExprKind::Error => self.text("_"),
            ExprKind::Bool(value) => self.text(if *value { "true" } else { "false" }),
            ExprKind::First => self.text("first"),
            ExprKind::Last => self.text("last"),
            ExprKind::Null => self.text("null"),
            ExprKind::Int(value) => self.text(value.to_string()),
            ExprKind::Real(value) => self.text(format!("{value:?}")),
            ExprKind::Text(text) => self.text(quote(text)),
            ExprKind::Length(length) => self.text(length_text(length)),
            ExprKind::Path { path, quoted } => self.text(print_path(path, *quoted)),
            ExprKind::Shift { of, by, default } => {
                // Both are atoms: nothing in them is ever broken or put in parentheses.
                let (of, default) =
                    (super::print_expr(self.tree, *of), super::print_expr(self.tree, *default));
                self.text(format!("{of}[{by:+}|{default}]"));
            }
            ExprKind::Call { name, arguments, event } => {
                // In backquotes an event may be called like a function of the language, also where a `:` would make it
                // an aggregate over valuations.
                let named = arguments.iter().any(|argument| argument.name.is_some());
                let function = match name.name.as_str() {
                    "min" | "max" | "abs" => true,
                    other => named && Tally::ALL.iter().any(|(name, _)| *name == other),
                };
                self.text(match event {
                    true => format!("event {}", quote_name(&name.name)),
                    false if function => backquote(&name.name),
                    false => quote_name(&name.name),
                });
                if *event && arguments.is_empty() {
                    return;
                }
                self.batch.push(Task::Open("("));
                for (i, argument) in arguments.iter().enumerate() {
                    self.text(if i > 0 { ", " } else { "" });
                    if let Some(name) = &argument.name {
                        self.text(format!("{}: ", quote_name(&name.name)));
                    }
                    match argument.value {
                        // A name and a colon would be read as the argument's name.
                        Some(value) => self.child(value, IFF, 0),
                        None => self.text("_"),
                    }
                }
                self.batch.push(Task::Close(")"));
            }
            ExprKind::Negate(body) => {
                self.text("-");
                // A minus sign before a number belongs to the number.
                if matches!(&self.tree.exprs[body.index()].kind, ExprKind::Int(0..))
                    || matches!(&self.tree.exprs[body.index()].kind, ExprKind::Real(real) if real.is_sign_positive())
                {
                    self.batch.push(Task::Open("("));
                    self.inner(*body);
                    self.batch.push(Task::Close(")"));
                } else {
                    self.child(*body, UNARY, context.follow);
                }
            }
            ExprKind::Abs(body) => self.function_call("abs", &[*body]),
            ExprKind::Arithmetic(op @ (ArithmeticOp::Min | ArithmeticOp::Max), a, b) => {
                self.function_call(op.symbol(), &[*a, *b]);
            }
            ExprKind::Arithmetic(op, a, b) => {
                self.binary(Binary::Arithmetic(*op), op.symbol().into(), *a, *b, context);
            }
            ExprKind::If(condition, then, otherwise) => {
                // A bare `:` would make `min(if …)` an aggregate over valuations.
                self.text("if ");
                self.child(*condition, IFF, 0);
                self.text(" then ");
                self.child(*then, IFF, 0);
                self.text(" else ");
                self.child(*otherwise, SUM, context.follow);
            }
            ExprKind::Tuple(items) => {
                self.batch.push(Task::Open("("));
                for (i, item) in items.iter().enumerate() {
                    self.text(if i > 0 { ", " } else { "" });
                    self.inner(*item);
                }
                self.batch.push(Task::Close(")"));
            }
            ExprKind::Compare(op, a, b) => {
                self.binary(Binary::Compare(*op), op.symbol().into(), *a, *b, context)
            }
            ExprKind::In(value, items) => {
                self.leftmost(*value, SUM, COMPARE, context);
                let items: Vec<String> = items
                    .iter()
                    .map(|item| match item {
                        SetItem::Value(value) => print_value(value),
                        SetItem::Range(low, high) => format!("{low}..{high}"),
                    })
                    .collect();
                self.text(format!(" in {{{}}}", items.join(", ")));
            }
            ExprKind::Matches(value, pattern, _) => {
                self.leftmost(*value, SUM, COMPARE, context);
                self.text(format!(" matches {}", quote(pattern)));
            }
            ExprKind::Not(map, body) => {
                self.text("!");
                if map.is_some() {
                    self.map(map.as_ref());
                    self.text(" ");
                }
                // `!x < 2` would be read right, but not by everybody.
                self.child(*body, UNARY, context.follow);
            }
            ExprKind::Prefix { op, interval, map, body } => {
                self.text(prefix_letter(*op));
                if let Some(interval) = interval {
                    self.text(interval.to_string());
                }
                self.map(map.as_ref());
                self.text(" ");
                let after_temporal = interval.is_none() && map.is_none();
                // As with `!`: `G x < 2` would be read right, but not by everybody.
                let inside = Context { least: UNARY, follow: context.follow, after_temporal };
                self.batch.push(Task::Expr(*body, inside));
            }
            ExprKind::Infix { op, interval, function, map, left, right } => {
                let (power, floor) = Binary::Logic(*op).power();
                self.leftmost(*left, left_least(Binary::Logic(*op)), power, context);
                self.text(" ");
                self.batch.push(Task::Break(power));
                self.text(infix_symbol(*op));
                if let Some(interval) = interval {
                    self.text(interval.to_string());
                }
                match FUNCTIONS.iter().find(|(_, other)| Some(*other) == *function) {
                    Some((name, _)) if *function != Some(Function::True) => self.text(format!("{{{name}}}")),
                    _ => {}
                }
                self.map(map.as_ref());
                self.text(" ");
                let after_temporal = is_temporal(*op) && interval.is_none() && map.is_none();
                let inside = Context { least: floor, follow: context.follow, after_temporal };
                self.batch.push(Task::Expr(*right, inside));
            }
            ExprKind::Quantifier { forall, variables, range, body } => {
                let word = if *forall { "forall" } else { "exists" };
                self.text(format!("{word} {}", names(variables)));
                if let Some(range) = range {
                    self.text(" in ");
                    self.inner(*range);
                }
                self.text(". ");
                self.child(*body, IFF, context.follow);
            }
            ExprKind::Tally { tally, value, variables, body } => {
                self.text(tally.name());
                self.batch.push(Task::Open("("));
                if let Some(value) = value {
                    self.child(*value, IFF, 0);
                    self.text(" for ");
                }
                self.text(format!("{} : ", names(variables)));
                self.child(*body, IFF, 0);
                self.batch.push(Task::Close(")"));
            }
            ExprKind::Emit(a, b) => self.binary(Binary::Emit, ":".into(), *a, *b, context),
            ExprKind::Default(a, b) => self.binary(Binary::Default, "??".into(), *a, *b, context),
            ExprKind::Aggregate { aggregate, body, second, during } => {
                self.collected(*aggregate, *body);
                if let Some(second) = second {
                    self.text(", ");
                    self.inner(*second);
                }
                if let Some(during) = during {
                    self.text(" while ");
                    self.inner(*during);
                }
                self.batch.push(Task::Close("]"));
            }
            ExprKind::Window { aggregate, body, over } => {
                self.collected(*aggregate, *body);
                if let Some(over) = over {
                    self.text(format!(" over {over}"));
                }
                self.batch.push(Task::Close("]"));
            }
        }
    }

    /// An aggregate's name, its bracket and what it collects.
    fn collected(&mut self, aggregate: Aggregate, body: ExprId) {
        self.text(aggregate.to_string());
        self.batch.push(Task::Open("["));
        let offset = looks_like_offset(self.tree, body);
        if offset {
            self.text("(");
        }
        self.inner(body);
        if offset {
            self.text(")");
        }
    }

    /// The leftmost child: what stands before the expression stands before the child.
    fn leftmost(&mut self, id: ExprId, least: u8, follow: u8, context: Context) {
        self.batch.push(Task::Expr(id, Context { least, follow, ..context }));
    }

    fn binary(&mut self, op: Binary, symbol: Cow<'static, str>, a: ExprId, b: ExprId, context: Context) {
        let (power, floor) = op.power();
        self.leftmost(a, left_least(op), power, context);
        self.text(" ");
        if power < COMPARE {
            self.batch.push(Task::Break(power));
        }
        self.text(symbol);
        self.text(" ");
        self.child(b, floor, context.follow);
    }

    fn function_call(&mut self, name: &'static str, arguments: &[ExprId]) {
        self.text(name);
        self.batch.push(Task::Open("("));
        for (i, argument) in arguments.iter().enumerate() {
            self.text(if i > 0 { ", " } else { "" });
            self.child(*argument, IFF, 0);
        }
        self.batch.push(Task::Close(")"));
    }

    fn map(&mut self, map: Option<&Map>) {
        let Some(map) = map else { return };
        self.batch.push(Task::Open("{"));
        if let Some(parameter) = &map.parameter {
            self.text(format!("{} => ", quote_name(&parameter.name)));
        }
        self.inner(map.result);
        self.batch.push(Task::Close("}"));
    }
}

/// The loosest operator that the left side may have without parentheses.
fn left_least(op: Binary) -> u8 {
    let (power, floor) = op.power();
    match op {
        Binary::Emit => IFF,
        Binary::Compare(_) => SUM,
        // Right-associative: the same operator on the left needs parentheses.
        _ if power == floor => power + 1,
        _ => power,
    }
}

fn needs_parentheses(tree: &Tree, kind: &ExprKind, context: Context) -> bool {
    let power = match kind {
        ExprKind::Default(..) => Binary::Default.power().0,
        ExprKind::Emit(..) => Binary::Emit.power().0,
        ExprKind::Infix { op, .. } => Binary::Logic(*op).power().0,
        ExprKind::Compare(..) | ExprKind::In(..) | ExprKind::Matches(..) => COMPARE,
        ExprKind::Arithmetic(ArithmeticOp::Min | ArithmeticOp::Max, ..) => return false,
        ExprKind::Arithmetic(op, ..) => Binary::Arithmetic(*op).power().0,
        // These begin with a word or sign, so only what follows can be drawn in.
        ExprKind::Not(..) | ExprKind::Prefix { .. } => return context.follow >= COMPARE,
        ExprKind::Negate(_) => return context.follow >= UNARY,
        ExprKind::Quantifier { .. } => return context.follow >= IFF,
        ExprKind::If(..) => return context.follow >= SUM,
        ExprKind::Tuple(items) => return context.after_temporal && looks_like_interval(tree, items),
        _ => return false,
    };
    power < context.least
}

/// Whether a tuple reads as an interval where one may stand.
fn looks_like_interval(tree: &Tree, items: &[ExprId]) -> bool {
    let number = |id: &ExprId| match &tree.exprs[id.index()].kind {
        ExprKind::Int(value) => *value >= 0,
        ExprKind::Real(value) => value.is_sign_positive(),
        _ => false,
    };
    match items {
        [low, high] => {
            let infinite = matches!(&tree.exprs[high.index()].kind,
                ExprKind::Path { path, quoted: false } if path.as_name() == Some("inf"));
            number(low) && (number(high) || infinite)
        }
        _ => false,
    }
}

/// Whether an expression begins with a number and `|`: behind the name of an aggregate that would be read as an offset.
fn looks_like_offset(tree: &Tree, mut id: ExprId) -> bool {
    loop {
        id = match &tree.exprs[id.index()].kind {
            ExprKind::Infix { op, function: None, left, .. } => {
                let number = matches!(tree.exprs[left.index()].kind, ExprKind::Int(_) | ExprKind::Real(_));
                if *op == Infix::Or && number {
                    return true;
                }
                *left
            }
            ExprKind::Infix { left, .. } => *left,
            ExprKind::Emit(left, _) | ExprKind::Default(left, _) => *left,
            _ => return false,
        }
    }
}

/// A length as it is written: the sign first.
pub(crate) fn length_text(length: &Bound) -> String {
    let sign = if length.billionths < 0 { "-" } else { "" };
    format!("{sign}{}", Bound { billionths: length.billionths.abs(), ..*length })
}

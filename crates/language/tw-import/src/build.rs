//! The specification that is being made: expressions, definitions, and which of them become properties.

mod blocks;
mod data;
mod intervals;
mod streams;
mod windows;

pub(crate) use blocks::remark;
pub(crate) use intervals::{bound, checked, exactly, interval};
pub(crate) use streams::Leaf;

use crate::cursor::refuse;
use rustc_hash::{FxHashMap, FxHashSet};
use tw_diag::{Diagnostic, Span};
use tw_ir::{ArithmeticOp, CompareOp, Interval, Path, PathStep};
use tw_spec::ast::{
    Comment, Declaration, DeclarationKind, Expr, ExprId, ExprKind, Ident, Infix, Prefix, Tree,
};

/// What an expression is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// True or false.
    Formula,
    /// A whole number, in formats that tell them apart.
    Int,
    /// A number.
    Number,
}

/// An expression, on its way to become part of another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value {
    pub id: ExprId,
    pub sort: Sort,
    /// Its place in the source.
    pub span: Span,
    /// Whether it stands in parentheses of its own.
    pub grouped: bool,
    /// Nodes in it, names of definitions counted as one.
    pub size: usize,
    /// Power of its outermost operator, for operators that cannot be chained.
    pub power: u8,
}

/// Of larger operands no second copy is written: they get a name.
const COPIED: usize = 4;

/// What becomes of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A macro, even if nothing refers to it.
    Macro,
    /// A macro if something refers to it, else a property.
    Either,
}

/// A definition of the source.
struct Definition {
    name: String,
    /// Its name as a macro, different from that of all others.
    word: String,
    parameters: Vec<String>,
    body: Value,
    line: usize,
    /// Whether it becomes a macro.
    used: bool,
}

/// The specification so far.
#[derive(Default)]
pub(crate) struct Builder {
    tree: Tree,
    definitions: Vec<Definition>,
    by_name: FxHashMap<String, usize>,
    by_word: FxHashMap<String, usize>,
    /// Expressions that are names of signals: their names may turn out to be those of definitions, too.
    signals: Vec<ExprId>,
    /// How many operands got a name.
    parts: usize,
    /// What the source declares.
    events: Vec<data::Event>,
    /// Expressions that are patterns of events: their names may turn out to be those of variables, too.
    patterns: Vec<ExprId>,
    /// Names of variables.
    words: FxHashSet<String>,
    /// Parametric monitors and charts.
    blocks: Vec<blocks::Made>,
    /// Streams and triggers.
    streams: streams::Streams,
}

impl Builder {
    /// Adds an expression made of others.
    pub fn push(&mut self, kind: ExprKind, sort: Sort, span: Span, parts: &[Value]) -> Value {
        let id = ExprId(self.tree.exprs.len() as u32);
        self.tree.exprs.push(Expr { kind, span });
        let size = parts.iter().fold(1, |sum, part| part.size.saturating_add(sum));
        Value { id, sort, span, grouped: false, size, power: u8::MAX }
    }

    /// The signal called `name`, dots leading into nested values.
    pub fn signal(&mut self, name: &str, sort: Sort, span: Span) -> Result<Value, Diagnostic> {
        if name.split('.').any(str::is_empty) {
            let found = Diagnostic::error("import-syntax", format!("`{name}` is not a name"));
            return Err(found.at(span, "expected a name between the points"));
        }
        let steps = name.split('.').map(|step| PathStep::Field(step.to_owned())).collect();
        let quoted = name == "_";
        let value = self.push(ExprKind::Path { path: Path { steps }, quoted }, sort, span, &[]);
        self.signals.push(value.id);
        Ok(value)
    }

    /// A number as written: whole if there is neither point nor exponent.
    pub fn number(&mut self, text: &str, span: Span) -> Result<Value, Diagnostic> {
        let digits: String = text.chars().filter(|c| *c != '_').collect();
        let (kind, sort) = match digits.parse::<i64>() {
            Ok(whole) => (ExprKind::Int(whole), Sort::Int),
            Err(_) => match digits.parse::<f64>() {
                Ok(real) if real.is_finite() => (ExprKind::Real(real), Sort::Number),
                _ => return Err(refuse(span, format!("`{text}` is out of range"), "numbers are 64-bit")),
            },
        };
        Ok(self.push(kind, sort, span, &[]))
    }

    /// The number with the other sign.
    pub fn negate(&mut self, body: Value, span: Span) -> Value {
        let kind = match self.tree.exprs[body.id.index()].kind {
            ExprKind::Int(number) if number > i64::MIN => ExprKind::Int(-number),
            ExprKind::Real(number) => ExprKind::Real(-number),
            _ => ExprKind::Negate(body.id),
        };
        self.push(kind, body.sort, span, &[body])
    }

    /// `true` or `false`.
    pub fn constant(&mut self, value: bool, span: Span) -> Value {
        self.push(ExprKind::Bool(value), Sort::Formula, span, &[])
    }

    /// A formula; a number is one that is true from 0 on, and worth itself.
    pub fn truth(&mut self, value: Value) -> Value {
        if value.sort == Sort::Formula {
            return value;
        }
        let zero = self.push(ExprKind::Int(0), Sort::Int, value.span, &[]);
        self.compare(CompareOp::Ge, value, zero, value.span)
    }

    pub fn not(&mut self, body: Value, span: Span) -> Value {
        self.push(ExprKind::Not(None, body.id), Sort::Formula, span, &[body])
    }

    pub fn prefix(&mut self, op: Prefix, interval: Option<Interval>, body: Value, span: Span) -> Value {
        let kind = ExprKind::Prefix { op, interval, map: None, body: body.id };
        self.push(kind, Sort::Formula, span, &[body])
    }

    pub fn infix(
        &mut self,
        op: Infix,
        interval: Option<Interval>,
        [left, right]: [Value; 2],
        span: Span,
    ) -> Value {
        let kind =
            ExprKind::Infix { op, interval, function: None, map: None, left: left.id, right: right.id };
        self.push(kind, Sort::Formula, span, &[left, right])
    }

    pub fn compare(&mut self, op: CompareOp, left: Value, right: Value, span: Span) -> Value {
        self.push(ExprKind::Compare(op, left.id, right.id), Sort::Formula, span, &[left, right])
    }

    pub fn arithmetic(&mut self, op: ArithmeticOp, left: Value, right: Value, span: Span) -> Value {
        let sort = if left.sort == Sort::Int && right.sort == Sort::Int { Sort::Int } else { Sort::Number };
        self.push(ExprKind::Arithmetic(op, left.id, right.id), sort, span, &[left, right])
    }

    /// Adds a definition of the source; a name can be given once.
    pub fn define(
        &mut self,
        role: Role,
        name: &str,
        span: Span,
        line: usize,
        body: Value,
    ) -> Result<(), Diagnostic> {
        if self.by_name.contains_key(name) {
            let found = Diagnostic::error("import-duplicate", format!("`{name}` is defined twice"));
            return Err(found.at(span, "defined again").help("give one of them another name"));
        }
        let mut word = macro_name(name);
        while self.by_word.contains_key(&word) {
            word.push('_');
        }
        self.by_name.insert(name.to_owned(), self.definitions.len());
        self.by_word.insert(word.clone(), self.definitions.len());
        self.definitions.push(Definition {
            name: name.to_owned(),
            word,
            parameters: Vec::new(),
            body,
            line,
            used: role == Role::Macro,
        });
        Ok(())
    }

    /// Refers to a definition, if there is one of this name.
    pub fn refer(&mut self, name: &str, span: Span) -> Option<Value> {
        let definition = &mut self.definitions[*self.by_name.get(name)?];
        definition.used = true;
        let sort = definition.body.sort;
        let path = Path { steps: vec![PathStep::Field(definition.word.clone())] };
        Some(self.push(ExprKind::Path { path, quoted: false }, sort, span, &[]))
    }

    /// The operand, such that it can be written twice without writing much twice: large ones become macros.
    pub fn twice(&mut self, value: Value, line: usize) -> Value {
        if value.size <= COPIED {
            return value;
        }
        self.parts += 1;
        let name = self.fresh(&format!("part_{}", self.parts));
        // The name is new, so this cannot fail.
        let _ = self.define(Role::Macro, &name, value.span, line, value);
        self.refer(&name, value.span).unwrap_or(value)
    }

    /// `name`, or `name_2`, `name_3` and so on if that is taken.
    pub fn fresh(&self, name: &str) -> String {
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let taken = |name: &String| self.by_name.contains_key(name);
        std::iter::once(name.to_owned()).chain(numbered).find(|name| !taken(name)).unwrap_or_default()
    }

    /// The names of definitions so far.
    pub fn is_empty(&self) -> bool {
        self.definitions.is_empty() && self.blocks.is_empty() && self.streams.is_empty()
    }

    /// The whole specification, with comments: `head` at the top, and the line of the source at each definition.
    pub fn finish(mut self, file: &str, head: &[String]) -> Tree {
        for id in &self.signals {
            if let ExprKind::Path { path, quoted } = &mut self.tree.exprs[id.index()].kind
                && let Some(PathStep::Field(name)) = path.steps.first()
            {
                // A plain name would be the macro's.
                *quoted |= self.by_word.get(name).is_some_and(|at| self.definitions[*at].used);
            }
        }
        self.mark_events();
        let file: String = file.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let mut declarations = Vec::new();
        for event in std::mem::take(&mut self.events) {
            let ident = |name: String| Ident { name, span: event.span };
            let parameters = event.parameters.into_iter().map(|(name, ty)| (ident(name), ty)).collect();
            let kind = DeclarationKind::Event { name: ident(event.name), parameters, template: None };
            let blank_before = declarations.is_empty();
            let comments: Vec<Comment> =
                if blank_before { head.iter().map(|line| comment(line)).collect() } else { Vec::new() };
            declarations.push(Declaration { kind, span: event.span, comments, trailing: None, blank_before });
        }
        for definition in std::mem::take(&mut self.definitions) {
            let definition = &definition;
            let name = definition.name.as_str();
            let body = if definition.used { definition.body } else { self.truth(definition.body) };
            let (body, span) = (body.id, body.span);
            let kind = if definition.used {
                let name = Ident { name: definition.word.clone(), span };
                let parameters = definition.parameters.iter();
                let parameters = parameters.map(|name| Ident { name: name.clone(), span }).collect();
                DeclarationKind::Let { name, parameters, body }
            } else {
                let name = Ident { name: name.to_owned(), span };
                DeclarationKind::Property { name, title: None, body }
            };
            let mut comments = Vec::new();
            if declarations.is_empty() {
                comments.extend(head.iter().map(|line| comment(line)));
            }
            comments.push(Comment { blank_before: true, ..comment(&format!("{file}:{}", definition.line)) });
            declarations.push(Declaration { kind, span, comments, trailing: None, blank_before: false });
        }
        for made in std::mem::take(&mut self.streams).declarations(&file) {
            let mut made = made;
            if declarations.is_empty() {
                made.comments.splice(0..0, head.iter().map(|line| comment(line)));
            }
            declarations.push(made);
        }
        for made in std::mem::take(&mut self.blocks) {
            let head = if declarations.is_empty() { head } else { &[] };
            declarations.push(made.declaration(&file, head));
        }
        self.tree.declarations = declarations;
        self.tree
    }
}

fn comment(text: &str) -> Comment {
    let text = format!("// {}", text.replace(['\n', '\r'], " "));
    Comment { text: text.trim_end().to_owned(), same_line: false, blank_before: false }
}

/// The name of a macro: a word that means nothing else in the language (a name in backquotes is always a column).
fn macro_name(name: &str) -> String {
    let mut word: String =
        name.chars().map(|c| if c == '_' || c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    while !tw_spec::is_plain_name(&word) {
        word.push('_');
    }
    word
}

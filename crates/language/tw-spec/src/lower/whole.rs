//! What uses say of the types of variables. A declaration makes those `int` that stand for an argument declared so
//! (`event e(x: int)`), equal a column declared so, or are handed to a macro that does either: quantifiers over them range over
//! whole numbers. A variable that is a number in one place and a text in another is told of.

use super::declarations::{Declarations, Declared};
use super::findings::Findings;
use super::scopes::{Body, Prepared};
use crate::ast::{Argument, ExprId, ExprKind, Ident, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use tw_core::Value;
use tw_diag::{Diagnostic, Span};
use tw_ir::{CompareOp, Path, SetItem};

/// What a use says.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Said {
    Whole,
    Number,
    Text,
}

/// A variable, or a parameter of a macro that may be given one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Target {
    Scope(u32),
    /// Body and place.
    Parameter(u32, usize),
}

struct Flow<'a, 't> {
    declarations: &'a Declarations<'t>,
    prepared: &'a Prepared<'t>,
    bodies: &'a [Body<'t>],
    /// What is handed to each parameter.
    handed: FxHashMap<(u32, usize), Vec<Target>>,
    /// What uses say, not yet handed on.
    todo: Vec<(Target, Said, Span)>,
}

/// Of each scope whether its variable is whole; `owner` says which body an expression belongs to.
pub(super) fn whole<'t>(
    declarations: &Declarations<'t>,
    prepared: &Prepared<'t>,
    bodies: &[Body<'t>],
    owner: &[u32],
    findings: &mut Findings,
) -> Vec<bool> {
    let mut whole = vec![false; prepared.scopes.len()];
    let mut flow = Flow { declarations, prepared, bodies, handed: FxHashMap::default(), todo: Vec::new() };
    if !whole.is_empty() {
        for (id, &body) in owner.iter().enumerate().filter(|(_, body)| (**body as usize) < bodies.len()) {
            flow.expression(id as u32, body);
        }
    }
    // In the order of the text: the first use is the one that others are compared with.
    flow.todo.sort_by_key(|(_, _, span)| std::cmp::Reverse(span.start));
    let mut seen: FxHashSet<(Target, Said)> = FxHashSet::default();
    let mut used: Vec<[Option<Span>; 2]> = vec![[None; 2]; prepared.scopes.len()];
    while let Some((target, said, span)) = flow.todo.pop() {
        if !seen.insert((target, said)) {
            continue;
        }
        match target {
            Target::Scope(scope) => {
                whole[scope as usize] |= said == Said::Whole;
                used[scope as usize][usize::from(said == Said::Text)].get_or_insert(span);
            }
            Target::Parameter(body, place) => {
                let handed = flow.handed.get(&(body, place)).into_iter().flatten();
                flow.todo.extend(handed.map(|&target| (target, said, span)));
            }
        }
    }
    for (scope, used) in prepared.scopes.iter().zip(used) {
        if let [Some(number), Some(text)] = used {
            two_types(scope.name, scope.span, number, text, findings);
        }
    }
    whole
}

/// Values are numbers or texts, and none is both.
fn two_types(name: &str, bound: Span, number: Span, text: Span, findings: &mut Findings) {
    let (last, first, here, before) = match number.start < text.start {
        true => (text, number, "a text", "a number"),
        false => (number, text, "a number", "a text"),
    };
    let message = format!("`{name}` is {here} here and {before} elsewhere");
    findings.add(
        Diagnostic::warning("two-types", message)
            .at(last, format!("used as {here}"))
            .at(first, format!("used as {before}"))
            .at(bound, "bound here")
            .help("no value is both; bind two variables, or change one of the uses or declarations"),
    );
}

impl<'t> Flow<'_, 't> {
    fn expression(&mut self, id: u32, body: u32) {
        match &self.prepared.exprs[id as usize].kind {
            ExprKind::Call { name, arguments, event } => self.call(body, name, arguments, *event),
            ExprKind::Compare(op, a, b) => {
                for (own, other) in [(*a, *b), (*b, *a)] {
                    if self.target(other, body).is_none()
                        && let Some(said) = self.says(other)
                    {
                        // Only what equals a whole number is one.
                        let whole = said == Said::Whole && *op == CompareOp::Eq;
                        self.say(own, body, if said == Said::Text || whole { said } else { Said::Number });
                    }
                }
            }
            ExprKind::Arithmetic(_, a, b) => {
                [*a, *b].iter().for_each(|&own| self.say(own, body, Said::Number))
            }
            ExprKind::Negate(a) | ExprKind::Abs(a) => self.say(*a, body, Said::Number),
            ExprKind::Matches(a, ..) => self.say(*a, body, Said::Text),
            ExprKind::In(a, set) => {
                let text = |item: &SetItem| matches!(item, SetItem::Value(Value::Str(_)));
                let number = |item: &SetItem| {
                    matches!(item, SetItem::Range(..) | SetItem::Value(Value::Int(_) | Value::Real(_)))
                };
                match (set.iter().any(text), set.iter().any(number)) {
                    (true, _) => self.say(*a, body, Said::Text),
                    (false, true) => self.say(*a, body, Said::Number),
                    _ => {}
                }
            }
            ExprKind::Quantifier { range: Some(range), .. } if self.target(*range, body).is_none() => {
                let said = self.says(*range);
                let place = self.prepared.exprs[range.index()].span;
                let scope = self.prepared.opened.get(&id).copied().map(Target::Scope);
                self.todo.extend(scope.zip(said).map(|(scope, said)| (scope, said, place)));
            }
            _ => {}
        }
    }

    fn call(&mut self, body: u32, name: &'t Ident, arguments: &'t [Argument], event: bool) {
        match self.declarations.names.get(name.name.as_str()) {
            Some((Declared::Event(index), _)) => {
                let parameters = &self.declarations.events[*index].parameters;
                for (place, argument) in arguments.iter().enumerate() {
                    let parameter = match &argument.name {
                        None => parameters.get(place),
                        Some(label) => parameters.iter().find(|(parameter, _)| parameter.name == label.name),
                    };
                    let said = parameter.and_then(|(_, ty)| ty.and_then(of_type));
                    if let (Some(value), Some(said)) = (argument.value, said) {
                        self.say(value, body, said);
                    }
                }
            }
            Some((Declared::Macro(index), _)) if !event => {
                for (place, argument) in arguments.iter().enumerate() {
                    let target = argument.value.and_then(|value| self.target(value, body));
                    self.handed.entry((*index as u32, place)).or_default().extend(target);
                }
            }
            _ => {}
        }
    }

    /// The variable or parameter that an expression is.
    fn target(&self, id: ExprId, body: u32) -> Option<Target> {
        let name = self.path(id)?.as_name()?;
        let own = self.bodies[body as usize].parameters.iter().position(|parameter| *parameter == name);
        let scope = || self.prepared.lookup(self.prepared.scope[id.index()], name);
        own.map(|place| Target::Parameter(body, place)).or_else(|| scope().map(Target::Scope))
    }

    /// The expression, if it is a variable or a parameter, is this.
    fn say(&mut self, id: ExprId, body: u32, said: Said) {
        let place = self.prepared.exprs[id.index()].span;
        self.todo.extend(self.target(id, body).map(|target| (target, said, place)));
    }

    /// What an expression that is no variable is by itself.
    fn says(&self, id: ExprId) -> Option<Said> {
        match &self.prepared.exprs[id.index()].kind {
            ExprKind::Int(_) | ExprKind::Real(_) | ExprKind::Length(_) | ExprKind::Arithmetic(..) => {
                Some(Said::Number)
            }
            ExprKind::Text(_) => Some(Said::Text),
            _ => of_type(self.declarations.var(self.path(id)?)?.0),
        }
    }

    fn path(&self, id: ExprId) -> Option<&'t Path> {
        match &self.prepared.exprs[id.index()].kind {
            ExprKind::Path { path, quoted: false } => Some(path),
            _ => None,
        }
    }
}

fn of_type(ty: Type) -> Option<Said> {
    match ty {
        Type::Int => Some(Said::Whole),
        Type::Real => Some(Said::Number),
        Type::Text => Some(Said::Text),
        Type::Bool => None,
    }
}

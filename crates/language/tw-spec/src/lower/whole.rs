//! Which variables a declaration makes `int`: those that stand for an argument declared so (`event e(x: int)`), equal a
//! column declared so, or are handed to a macro that does either. Quantifiers over them range over whole numbers.

use super::declarations::{Declarations, Declared};
use super::scopes::{Body, Prepared};
use crate::ast::{Argument, ExprId, ExprKind, Ident, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use tw_ir::{CompareOp, Path};

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
    /// What is known to be whole, and not yet looked at.
    todo: Vec<Target>,
}

/// Of each scope whether its variable is whole; `owner` says which body an expression belongs to.
pub(super) fn whole<'t>(
    declarations: &Declarations<'t>,
    prepared: &Prepared<'t>,
    bodies: &[Body<'t>],
    owner: &[u32],
) -> Vec<bool> {
    let mut whole = vec![false; prepared.scopes.len()];
    let mut flow = Flow { declarations, prepared, bodies, handed: FxHashMap::default(), todo: Vec::new() };
    if !whole.is_empty() {
        for (id, &body) in owner.iter().enumerate().filter(|(_, body)| (**body as usize) < bodies.len()) {
            flow.expression(id as u32, body);
        }
    }
    let mut seen: FxHashSet<Target> = FxHashSet::default();
    while let Some(target) = flow.todo.pop() {
        if !seen.insert(target) {
            continue;
        }
        match target {
            Target::Scope(scope) => whole[scope as usize] = true,
            Target::Parameter(body, place) => {
                flow.todo.extend(flow.handed.remove(&(body, place)).unwrap_or_default());
            }
        }
    }
    whole
}

impl<'t> Flow<'_, 't> {
    fn expression(&mut self, id: u32, body: u32) {
        match &self.prepared.exprs[id as usize].kind {
            ExprKind::Call { name, arguments, event } => self.call(body, name, arguments, *event),
            ExprKind::Compare(CompareOp::Eq, a, b) => {
                let whole = match (self.target(*a, body), self.target(*b, body)) {
                    (Some(target), None) if self.is_int(*b) => Some(target),
                    (None, Some(target)) if self.is_int(*a) => Some(target),
                    _ => None,
                };
                self.todo.extend(whole);
            }
            ExprKind::Quantifier { range: Some(range), .. }
                if self.target(*range, body).is_none() && self.is_int(*range) =>
            {
                self.todo.extend(self.prepared.opened.get(&id).copied().map(Target::Scope));
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
                    if parameter.is_some_and(|(_, ty)| *ty == Some(Type::Int)) {
                        self.todo.extend(argument.value.and_then(|value| self.target(value, body)));
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

    fn is_int(&self, id: ExprId) -> bool {
        let declared = self.path(id).and_then(|path| self.declarations.var(path));
        declared.is_some_and(|(ty, _)| ty == Type::Int)
    }

    fn path(&self, id: ExprId) -> Option<&'t Path> {
        match &self.prepared.exprs[id.index()].kind {
            ExprKind::Path { path, quoted: false } => Some(path),
            _ => None,
        }
    }
}

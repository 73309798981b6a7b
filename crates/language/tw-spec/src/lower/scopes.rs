//! Which expressions belong to which body, and which variables are bound where: one loop from parents to children.

use super::declarations::{Declarations, unique};
use super::expanded::NONE;
use super::findings::Findings;
use super::whole::whole;
use crate::ast::{Expr, ExprId, ExprKind, Ident, Map};
use rustc_hash::{FxHashMap, FxHashSet};
use tw_diag::{Diagnostic, Span};

/// A bound variable; scopes are linked from the inside out.
#[derive(Clone, Copy)]
pub(super) struct Scope<'t> {
    pub parent: u32,
    pub name: &'t str,
    pub span: Span,
    /// Program-wide number.
    pub number: u32,
    depth: u32,
    /// That of its body.
    class: u32,
    /// Bound by a quantifier rather than by a map.
    pub quantified: bool,
}

/// A formula that is expanded as one unit: the body of a macro, a pattern, a property or a query.
pub(super) struct Body<'t> {
    pub root: ExprId,
    /// Its expressions, children before parents.
    pub exprs: Vec<u32>,
    pub parameters: Vec<&'t str>,
    /// Bodies of one class share variable numbers. Roots are never expanded inside one another, so all of them are
    /// one class and equal quantified formulas become equal nodes; each macro is a class of its own, which keeps the
    /// variables of an argument apart from those of the macro that receives it.
    pub class: u32,
}

/// One arena of expressions, prepared.
pub(super) struct Prepared<'t> {
    pub exprs: &'t [Expr],
    /// Index of an expression within its body.
    pub place: Vec<u32>,
    /// Innermost scope of an expression, or `NONE`.
    pub scope: Vec<u32>,
    pub scopes: Vec<Scope<'t>>,
    /// Innermost scope that a quantifier opens.
    pub opened: FxHashMap<u32, u32>,
    /// Every name bound anywhere: most names are not, and need no walk.
    bound: FxHashSet<&'t str>,
}

/// Numbers for bound variables, by class, name, depth and whether they are whole.
#[derive(Default)]
pub(super) struct Numbers {
    index: FxHashMap<(u32, String, u32, bool), u32>,
    pub names: Vec<String>,
    pub whole: Vec<bool>,
}

impl Numbers {
    /// The number of a variable.
    pub fn number(&mut self, class: u32, name: &str, depth: u32, whole: bool) -> u32 {
        *self.index.entry((class, name.to_owned(), depth, whole)).or_insert_with(|| {
            self.names.push(name.to_owned());
            self.whole.push(whole);
            (self.names.len() - 1) as u32
        })
    }
}

impl<'t> Prepared<'t> {
    /// Assigns every expression to its body and gives it its scope. Parents stand after their children and every
    /// expression has one parent, so a loop from the end sees parents first.
    pub fn new(
        exprs: &'t [Expr],
        bodies: &mut [Body<'t>],
        declarations: &Declarations<'t>,
        numbers: &mut Numbers,
        findings: &mut Findings,
    ) -> Self {
        let mut owner = vec![NONE; exprs.len()];
        let mut prepared = Prepared {
            exprs,
            place: vec![NONE; exprs.len()],
            scope: vec![NONE; exprs.len()],
            scopes: Vec::new(),
            opened: FxHashMap::default(),
            bound: FxHashSet::default(),
        };
        for (index, body) in bodies.iter().enumerate() {
            owner[body.root.index()] = index as u32;
        }
        for id in (0..exprs.len()).rev() {
            if owner[id] == NONE {
                continue;
            }
            let scope = prepared.scope[id];
            let body = &mut bodies[owner[id] as usize];
            body.exprs.push(id as u32);
            let (class, parameters) = (body.class, std::mem::take(&mut body.parameters));
            let mut open = |prepared: &mut Self, parent: u32, ident: &'t Ident, quantified: bool| {
                if parameters.contains(&ident.name.as_str()) {
                    findings.add(
                        Diagnostic::error(
                            "duplicate-name",
                            format!("`{}` is already a parameter of this macro", ident.name),
                        )
                        .at(ident.span, "bound again here")
                        .help("choose another name for the variable"),
                    );
                }
                let depth = if parent == NONE { 0 } else { prepared.scopes[parent as usize].depth + 1 };
                let (name, span, number) = (ident.name.as_str(), ident.span, NONE);
                prepared.bound.insert(name);
                prepared.scopes.push(Scope { parent, name, span, number, depth, class, quantified });
                (prepared.scopes.len() - 1) as u32
            };
            let mut inner = scope;
            let mut result = None;
            match &exprs[id].kind {
                ExprKind::Quantifier { variables, .. } | ExprKind::Tally { variables, .. } => {
                    for variable in variables {
                        inner = open(&mut prepared, inner, variable, true);
                    }
                    prepared.opened.insert(id as u32, inner);
                    // A range is read outside of what it binds.
                    if let ExprKind::Quantifier { range: Some(range), .. } = &exprs[id].kind {
                        result = Some((*range, scope));
                    }
                }
                kind => {
                    if let Some(Map { parameter, result: term }) = map_of(kind) {
                        let scope = match parameter {
                            Some(ident) => open(&mut prepared, scope, ident, false),
                            None => scope,
                        };
                        result = Some((*term, scope));
                    }
                }
            }
            body.parameters = parameters;
            let owned = owner[id];
            children(&exprs[id].kind, |child| {
                owner[child.index()] = owned;
                prepared.scope[child.index()] = inner;
            });
            if let Some((term, scope)) = result {
                prepared.scope[term.index()] = scope;
            }
            if let ExprKind::Quantifier { variables, .. } | ExprKind::Tally { variables, .. } =
                &exprs[id].kind
            {
                unique(variables.iter(), "variable", findings);
            }
        }
        let whole = whole(declarations, &prepared, bodies, &owner, findings);
        for (scope, whole) in prepared.scopes.iter_mut().zip(whole) {
            scope.number = numbers.number(scope.class, scope.name, scope.depth, whole);
        }
        for body in bodies {
            body.exprs.reverse();
            for (place, &id) in body.exprs.iter().enumerate() {
                prepared.place[id as usize] = place as u32;
            }
        }
        prepared
    }

    /// The scope that binds `name` as seen from `from`.
    pub fn lookup(&self, from: u32, name: &str) -> Option<u32> {
        if !self.bound.contains(name) {
            return None;
        }
        let mut at = from;
        while at != NONE {
            let scope = &self.scopes[at as usize];
            if scope.name == name {
                return Some(at);
            }
            at = scope.parent;
        }
        None
    }
}

/// The map that decorates an expression.
pub(crate) fn map_of(kind: &ExprKind) -> Option<&Map> {
    match kind {
        ExprKind::Not(map, _) | ExprKind::Prefix { map, .. } | ExprKind::Infix { map, .. } => map.as_ref(),
        _ => None,
    }
}

/// Visits the children of an expression.
pub(crate) fn children(kind: &ExprKind, mut visit: impl FnMut(ExprId)) {
    use ExprKind::*;
    if let Some(map) = map_of(kind) {
        visit(map.result);
    }
    match kind {
        Error | Bool(_) | First | Last | Null | Int(_) | Real(_) | Text(_) | Length(_) | Path { .. } => {}
        Call { arguments, .. } => arguments.iter().filter_map(|a| a.value).for_each(visit),
        Negate(a) | Abs(a) | In(a, _) | Matches(a, ..) | Not(_, a) => visit(*a),
        Prefix { body, .. } => visit(*body),
        Quantifier { range, body, .. } => [*range, Some(*body)].into_iter().flatten().for_each(visit),
        Tally { value, body, .. } => [*value, Some(*body)].into_iter().flatten().for_each(visit),
        Arithmetic(_, a, b)
        | Compare(_, a, b)
        | Emit(a, b)
        | Default(a, b)
        | Shift { of: a, default: b, .. } => [*a, *b].into_iter().for_each(visit),
        Infix { left, right, .. } => [*left, *right].into_iter().for_each(visit),
        If(a, b, c) => [*a, *b, *c].into_iter().for_each(visit),
        Tuple(items) => items.iter().copied().for_each(visit),
        Aggregate { body, second, during, .. } => {
            [Some(*body), *second, *during].into_iter().flatten().for_each(visit);
        }
        Window { body, .. } => visit(*body),
    }
}

//! One tree behind another.

use super::{DeclarationKind, ExprId, ExprKind, Map, Tree};

impl Tree {
    /// Adds the declarations of `other`, a tree of formulas and queries alone, behind its own; places in the text stay what
    /// they are.
    pub fn append(&mut self, other: Tree) {
        let by = self.exprs.len() as u32;
        for mut expr in other.exprs {
            shift(&mut expr.kind, by);
            self.exprs.push(expr);
        }
        for mut declaration in other.declarations {
            match &mut declaration.kind {
                DeclarationKind::Let { body, .. }
                | DeclarationKind::Property { body, .. }
                | DeclarationKind::Stream { body, .. }
                | DeclarationKind::Trigger { body, .. }
                | DeclarationKind::Require { body, .. }
                | DeclarationKind::Query { body, .. } => body.0 += by,
                _ => {}
            }
            self.declarations.push(declaration);
        }
    }
}

/// Moves the numbers of all operands.
fn shift(kind: &mut ExprKind, by: u32) {
    let map = |map: &mut Option<Map>| map.iter_mut().for_each(|map| map.result.0 += by);
    let some = |id: &mut Option<ExprId>| id.iter_mut().for_each(|id| id.0 += by);
    match kind {
        ExprKind::Error
        | ExprKind::Bool(_)
        | ExprKind::First
        | ExprKind::Last
        | ExprKind::Null
        | ExprKind::Int(_)
        | ExprKind::Real(_)
        | ExprKind::Text(_)
        | ExprKind::Length(_)
        | ExprKind::Path { .. } => {}
        ExprKind::Call { arguments, .. } => {
            arguments.iter_mut().for_each(|argument| some(&mut argument.value));
        }
        ExprKind::Negate(a) | ExprKind::Abs(a) | ExprKind::In(a, _) | ExprKind::Matches(a, ..) => a.0 += by,
        ExprKind::Arithmetic(_, a, b)
        | ExprKind::Compare(_, a, b)
        | ExprKind::Emit(a, b)
        | ExprKind::Default(a, b)
        | ExprKind::Shift { of: a, default: b, .. } => {
            a.0 += by;
            b.0 += by;
        }
        ExprKind::If(a, b, c) => [a, b, c].into_iter().for_each(|id| id.0 += by),
        ExprKind::Tuple(items) => items.iter_mut().for_each(|id| id.0 += by),
        ExprKind::Not(own, a) => {
            map(own);
            a.0 += by;
        }
        ExprKind::Prefix { map: own, body, .. } => {
            map(own);
            body.0 += by;
        }
        ExprKind::Infix { map: own, left, right, .. } => {
            map(own);
            left.0 += by;
            right.0 += by;
        }
        ExprKind::Quantifier { range, body, .. } => {
            some(range);
            body.0 += by;
        }
        ExprKind::Tally { value, body, .. } => {
            some(value);
            body.0 += by;
        }
        ExprKind::Aggregate { body, second, during, .. } => {
            body.0 += by;
            some(second);
            some(during);
        }
        ExprKind::Window { body, .. } => body.0 += by,
    }
}

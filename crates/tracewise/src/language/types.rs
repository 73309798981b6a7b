//! The type of an expression as it stands in the text, in words.

use super::{NameKind, Names};
use tw_spec::ast::{DeclarationKind, ExprId, ExprKind, Tree, Type};

/// How many macros are looked through.
const DEEPEST: usize = 20;

/// What an expression is: a formula, a number, a text, the value of a query; `None` where its surroundings say that.
pub fn type_of(tree: &Tree, names: &Names, id: ExprId) -> Option<&'static str> {
    of(tree, names, id, 0)
}

fn of(tree: &Tree, names: &Names, id: ExprId, depth: usize) -> Option<&'static str> {
    if depth > DEEPEST {
        return None;
    }
    let expr = &tree.exprs[id.index()];
    let declared = |start: u32| {
        let found = names.at(start)?;
        let name = &names.list[found.name];
        let declaration = &tree.declarations[name.declaration?].kind;
        match (name.kind, declaration) {
            (NameKind::Macro, DeclarationKind::Let { body, .. }) => of(tree, names, *body, depth + 1),
            (NameKind::Variable, DeclarationKind::Var { ty, .. })
            | (NameKind::Stream, DeclarationKind::Stream { ty, .. }) => Some(type_word(*ty)),
            (NameKind::Event, _) => Some("formula"),
            _ => None,
        }
    };
    match &expr.kind {
        ExprKind::Error | ExprKind::Null => None,
        ExprKind::Bool(_)
        | ExprKind::First
        | ExprKind::Last
        | ExprKind::Compare(..)
        | ExprKind::In(..)
        | ExprKind::Matches(..)
        | ExprKind::Quantifier { .. } => Some("formula"),
        ExprKind::Int(_) => Some("int"),
        ExprKind::Real(_) | ExprKind::Length(_) => Some("real"),
        ExprKind::Text(_) => Some("string"),
        ExprKind::Negate(_) | ExprKind::Abs(_) | ExprKind::Arithmetic(..) => Some("number"),
        ExprKind::Tally { .. } | ExprKind::Window { .. } => Some("number"),
        ExprKind::Path { .. } => declared(expr.span.start),
        ExprKind::Shift { of: body, .. } => of(tree, names, *body, depth + 1),
        ExprKind::Call { event: true, .. } => Some("formula"),
        ExprKind::Call { .. } => declared(expr.span.start).or(Some("formula")),
        ExprKind::If(_, a, b) => of(tree, names, *a, depth + 1).or_else(|| of(tree, names, *b, depth + 1)),
        ExprKind::Tuple(_) => Some("tuple"),
        ExprKind::Not(None, body) | ExprKind::Prefix { map: None, body, .. } => {
            match of(tree, names, *body, depth + 1) {
                experiment @ Some("experiment") => experiment,
                _ => Some("formula"),
            }
        }
        ExprKind::Infix { map: None, function: None, left, right, .. } => {
            let side = |id: &ExprId| of(tree, names, *id, depth + 1) == Some("experiment");
            Some(if side(left) || side(right) { "experiment" } else { "formula" })
        }
        ExprKind::Not(..)
        | ExprKind::Prefix { .. }
        | ExprKind::Infix { .. }
        | ExprKind::Emit(..)
        | ExprKind::Default(..)
        | ExprKind::Aggregate { .. } => Some("experiment"),
    }
}

/// A declared type as it is written.
fn type_word(ty: Type) -> &'static str {
    Type::ALL.iter().find(|(_, own)| *own == ty).map_or("string", |(name, _)| name)
}

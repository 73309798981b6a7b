//! What every expression is worth, told when all is read, and what does not fit.

use super::{Lola, Made, What};
use crate::build::Leaf;
use crate::cursor::refuse;
use tw_diag::{Diagnostic, Span};
use tw_ir::{Aggregate, ArithmeticOp, CompareOp};
use tw_spec::ast::{Expr, ExprId, ExprKind, Ident, Infix, Type};

fn word(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "a truth value",
        Type::Int => "a whole number",
        Type::Real => "a number",
        Type::Text => "a text",
    }
}

/// The type of both, if they have one in common.
fn join(a: Option<Type>, b: Option<Type>) -> Option<Type> {
    match (a, b) {
        (Some(Type::Int), Some(Type::Real)) | (Some(Type::Real), Some(Type::Int)) => Some(Type::Real),
        (a, None) => a,
        (None, b) => b,
        (a, _) => a,
    }
}

fn alike(a: Option<Type>, b: Option<Type>) -> bool {
    let number = |ty: Type| matches!(ty, Type::Int | Type::Real);
    match (a, b) {
        (Some(a), Some(b)) => a == b || number(a) && number(b),
        _ => true,
    }
}

impl Lola<'_, '_> {
    /// Tells types, and hands on what is made.
    pub(super) fn finish(&mut self) {
        let mut types = vec![None; self.reading.builder.exprs().len()];
        // Each round tells the type of at least one more stream, or is the last.
        loop {
            let mut news = false;
            for at in 0..types.len() {
                types[at] = self.infer(at, &types);
            }
            for output in &mut self.outputs {
                if let (None, Some((body, _))) = (output.ty, output.body) {
                    output.ty = types[body.index()];
                    news |= output.ty.is_some();
                }
            }
            if !news {
                break;
            }
        }
        for (at, _) in types.iter().enumerate() {
            let exprs = self.reading.builder.exprs();
            if let Err(found) = check(exprs, at, &types, |id| self.unused.contains_key(id))
                && !self.reading.report(found)
            {
                return;
            }
        }
        self.between_truths(&types);
        for (default, of) in std::mem::take(&mut self.unused) {
            let kind = match types[of.index()] {
                Some(Type::Bool) => ExprKind::Bool(false),
                Some(Type::Text) => ExprKind::Text("".into()),
                _ => ExprKind::Int(0),
            };
            self.reading.builder.replace(default, kind);
        }
        for made in std::mem::take(&mut self.made) {
            if let Err(found) = self.hand_on(made, &types)
                && !self.reading.report(found)
            {
                return;
            }
        }
    }

    /// `=` and `!=` of truth values are connectives.
    fn between_truths(&mut self, types: &[Option<Type>]) {
        for (at, _) in types.iter().enumerate() {
            let ExprKind::Compare(compare, left, right) = self.reading.builder.exprs()[at].kind else {
                continue;
            };
            let op = match compare {
                CompareOp::Eq => Infix::Iff,
                CompareOp::Ne => Infix::Xor,
                _ => continue,
            };
            if [left, right].iter().any(|side| types[side.index()] == Some(Type::Bool)) {
                let kind = ExprKind::Infix { op, interval: None, function: None, map: None, left, right };
                self.reading.builder.replace(ExprId(at as u32), kind);
            }
        }
    }

    fn hand_on(&mut self, made: Made, types: &[Option<Type>]) -> Result<(), Diagnostic> {
        let Made { name, line, body, what } = made;
        let found = types[body.index()];
        match what {
            What::Trigger(title) => {
                if !alike(found, Some(Type::Bool)) {
                    return Err(unlike(self.span(body), found, "a trigger is a truth value"));
                }
                self.reading.builder.trigger(name, line, title, body);
            }
            What::Stream(number) => {
                let output = &self.outputs[number];
                let Some(ty) = output.ty else {
                    let what = format!("the type of `{}` cannot be told from its equation", name.name);
                    return Err(refuse(name.span, what, "write it: `output x: Int64 := …`"));
                };
                if !alike(found, Some(ty)) || ty == Type::Int && found == Some(Type::Real) {
                    let why = format!("`{}` is declared as {}", name.name, word(ty));
                    return Err(unlike(self.span(body), found, &why));
                }
                let by = output.key.as_ref().map(|(_, column)| column.clone());
                let name = Ident { name: name.name, span: name.span };
                self.reading.builder.stream(name, line, (ty, by), body);
            }
        }
        Ok(())
    }

    fn span(&self, id: ExprId) -> Span {
        self.reading.builder.exprs()[id.index()].span
    }

    fn infer(&self, at: usize, types: &[Option<Type>]) -> Option<Type> {
        let exprs = self.reading.builder.exprs();
        let of = |id: &ExprId| types[id.index()];
        if self.casts.contains(&ExprId(at as u32)) {
            return Some(Type::Real);
        }
        match &exprs[at].kind {
            ExprKind::Int(_) => Some(Type::Int),
            ExprKind::Real(_) => Some(Type::Real),
            ExprKind::Text(_) => Some(Type::Text),
            ExprKind::Path { .. } => match self.reading.builder.leaf(ExprId(at as u32)) {
                Some(Leaf::Known(ty)) => Some(ty),
                Some(Leaf::Stream(number)) => self.outputs[number].ty,
                None => None,
            },
            ExprKind::Shift { of: source, default, .. } => match self.unused.contains_key(default) {
                true => of(source),
                false => join(of(source), of(default)),
            },
            ExprKind::Negate(body) | ExprKind::Abs(body) => of(body),
            ExprKind::Arithmetic(ArithmeticOp::Div, ..) => Some(Type::Real),
            ExprKind::Arithmetic(_, a, b) | ExprKind::Default(a, b) | ExprKind::If(_, a, b) => {
                join(of(a), of(b))
            }
            ExprKind::Window { aggregate, body, .. } => match aggregate {
                Aggregate::Count => Some(Type::Int),
                Aggregate::Sum | Aggregate::Min | Aggregate::Max | Aggregate::Last => of(body),
                _ => Some(Type::Real),
            },
            _ => Some(Type::Bool),
        }
    }
}

fn unlike(span: Span, found: Option<Type>, why: &str) -> Diagnostic {
    let what = found.map_or("something else", word);
    Diagnostic::error("import-type", format!("found {what}: {why}")).at(span, format!("this is {what}"))
}

fn check(
    exprs: &[Expr],
    at: usize,
    types: &[Option<Type>],
    unused: impl Fn(&ExprId) -> bool,
) -> Result<(), Diagnostic> {
    let of = |id: &ExprId| types[id.index()];
    let need = |id: &ExprId, ty: Type, why: &str| match alike(of(id), Some(ty)) {
        true => Ok(()),
        false => Err(unlike(exprs[id.index()].span, of(id), why)),
    };
    match &exprs[at].kind {
        ExprKind::Negate(body) | ExprKind::Abs(body) => need(body, Type::Real, "numbers are computed with"),
        ExprKind::Arithmetic(op, a, b) => {
            need(a, Type::Real, "numbers are computed with")?;
            need(b, Type::Real, "numbers are computed with")?;
            if *op == ArithmeticOp::Div && (of(a), of(b)) == (Some(Type::Int), Some(Type::Int)) {
                let why = "the quotient of whole numbers is rounded there; divide Float64";
                return Err(refuse(exprs[at].span, "`/` of whole numbers", why));
            }
            Ok(())
        }
        ExprKind::Window { aggregate, body, .. } => match aggregate {
            Aggregate::Count => need(body, Type::Bool, "these windows take truth values"),
            Aggregate::Last => Ok(()),
            _ => need(body, Type::Real, "numbers are computed with"),
        },
        ExprKind::Not(_, body) => need(body, Type::Bool, "connectives take truth values"),
        ExprKind::Infix { left, right, .. } => {
            need(left, Type::Bool, "connectives take truth values")?;
            need(right, Type::Bool, "connectives take truth values")
        }
        ExprKind::If(condition, a, b) => {
            need(condition, Type::Bool, "a condition is a truth value")?;
            match alike(of(a), of(b)) {
                true => Ok(()),
                false => Err(unlike(exprs[b.index()].span, of(b), "both branches have one type")),
            }
        }
        ExprKind::Shift { default, .. } if unused(default) => Ok(()),
        ExprKind::Compare(_, a, b) | ExprKind::Default(a, b) | ExprKind::Shift { of: a, default: b, .. } => {
            let whole = matches!(exprs[at].kind, ExprKind::Shift { .. }) && of(a) == Some(Type::Int);
            if alike(of(a), of(b)) && !(whole && of(b) == Some(Type::Real)) {
                return Ok(());
            }
            let why = format!("the other is {}", of(a).map_or("something else", word));
            Err(unlike(exprs[b.index()].span, of(b), &why))
        }
        _ => Ok(()),
    }
}

//! The structure of an expression with every parenthesis, for tests. Written apart from the printer, so that a
//! mistake in one shows.

use crate::ast::{DeclarationKind, ExprId, ExprKind, Infix, Map, Prefix, Tree};
use tw_ir::{Function, PathStep, SetItem};

/// The body of the only declaration.
pub(crate) fn body(tree: &Tree) -> ExprId {
    match &tree.declarations[0].kind {
        DeclarationKind::Property { body, .. }
        | DeclarationKind::Query { body, .. }
        | DeclarationKind::Require { body, .. } => *body,
        other => panic!("not a property or query: {other:?}"),
    }
}

fn map(tree: &Tree, map: &Option<Map>) -> String {
    match map {
        None => String::new(),
        Some(Map { parameter: None, result }) => format!("{{{}}}", dump(tree, *result)),
        Some(Map { parameter: Some(parameter), result }) => {
            format!("{{{} => {}}}", parameter.name, dump(tree, *result))
        }
    }
}

/// The expression with every parenthesis.
pub(crate) fn dump(tree: &Tree, id: ExprId) -> String {
    let d = |id: &ExprId| dump(tree, *id);
    match &tree.exprs[id.index()].kind {
        ExprKind::Error => "<error>".into(),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::First => "first".into(),
        ExprKind::Last => "last".into(),
        ExprKind::Null => "null".into(),
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Real(value) => format!("{value:?}"),
        ExprKind::Text(text) => format!("{text:?}"),
        ExprKind::Length(length) => crate::print::length_text(length),
        ExprKind::Path { path, quoted } => {
            let steps: Vec<String> = path
                .steps
                .iter()
                .map(|step| match step {
                    PathStep::Field(name) => name.clone(),
                    PathStep::Each => "*".into(),
                })
                .collect();
            format!("{}{}", if *quoted { "'" } else { "" }, steps.join("/"))
        }
        ExprKind::Shift { of, by, default } => format!("{}[{by:+}|{}]", d(of), d(default)),
        ExprKind::Call { name, arguments, event } => {
            let arguments: Vec<String> = arguments
                .iter()
                .map(|argument| {
                    let label =
                        argument.name.as_ref().map_or(String::new(), |name| format!("{}=", name.name));
                    format!("{label}{}", argument.value.as_ref().map_or("_".into(), d))
                })
                .collect();
            format!("{}{}({})", if *event { "event " } else { "" }, name.name, arguments.join(", "))
        }
        ExprKind::Negate(a) => format!("(neg {})", d(a)),
        ExprKind::Abs(a) => format!("abs({})", d(a)),
        ExprKind::Arithmetic(op, a, b) => format!("({} {op:?} {})", d(a), d(b)),
        ExprKind::If(a, b, c) => format!("(if {} then {} else {})", d(a), d(b), d(c)),
        ExprKind::Tuple(items) => format!("<{}>", items.iter().map(d).collect::<Vec<_>>().join(", ")),
        ExprKind::Compare(op, a, b) => format!("({} {op:?} {})", d(a), d(b)),
        ExprKind::In(a, items) => {
            let items: Vec<String> = items
                .iter()
                .map(|item| match item {
                    SetItem::Value(value) => format!("{value:?}"),
                    SetItem::Range(low, high) => format!("{low}..{high}"),
                })
                .collect();
            format!("({} in {})", d(a), items.join(" "))
        }
        ExprKind::Matches(a, text, _) => format!("({} matches {text:?})", d(a)),
        ExprKind::Not(f, a) => format!("(!{} {})", map(tree, f), d(a)),
        ExprKind::Prefix { op, interval, map: f, body } => {
            let interval = interval.map_or(String::new(), |interval| interval.to_string());
            let op = match op {
                Prefix::Temporal(operator) => format!("{operator:?}"),
                other => format!("{other:?}"),
            };
            format!("({op}{interval}{} {})", map(tree, f), d(body))
        }
        ExprKind::Infix { op, interval, function, map: f, left, right } => {
            let interval = interval.map_or(String::new(), |interval| interval.to_string());
            let function = match function {
                None | Some(Function::True) => String::new(),
                Some(function) => format!("{{{function:?}}}"),
            };
            let op = match op {
                Infix::Temporal(operator) => format!("{operator:?}"),
                other => format!("{other:?}"),
            };
            format!("({} {op}{interval}{function}{} {})", d(left), map(tree, f), d(right))
        }
        ExprKind::Quantifier { forall, variables, range, body } => {
            let names: Vec<&str> = variables.iter().map(|variable| variable.name.as_str()).collect();
            let range = range.as_ref().map_or(String::new(), |range| format!(" in {}", d(range)));
            format!("({} {}{range}. {})", if *forall { "forall" } else { "exists" }, names.join(" "), d(body))
        }
        ExprKind::Tally { tally, value, variables, body } => {
            let names: Vec<&str> = variables.iter().map(|variable| variable.name.as_str()).collect();
            let value = value.as_ref().map_or(String::new(), |value| format!("{} for ", d(value)));
            format!("{tally:?}({value}{} : {})", names.join(" "), d(body))
        }
        ExprKind::Emit(a, b) => format!("({} : {})", d(a), d(b)),
        ExprKind::Default(a, b) => format!("({} ?? {})", d(a), d(b)),
        ExprKind::Aggregate { aggregate, body, second, during } => {
            let second = second.as_ref().map_or(String::new(), |second| format!(", {}", d(second)));
            let during = during.as_ref().map_or(String::new(), |during| format!(" while {}", d(during)));
            format!("{aggregate:?}[{}{second}{during}]", d(body))
        }
        ExprKind::Window { aggregate, body, over } => {
            let over = over.map_or("?".to_owned(), |over| over.to_string());
            format!("{aggregate:?}[{} over {over}]", d(body))
        }
    }
}

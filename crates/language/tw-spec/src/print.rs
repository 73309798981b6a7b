//! The canonical form of a tree.
//!
//! One declaration per line, operators by their symbols, only the parentheses that the tree needs. Reading the
//! result gives the same tree, so printing twice changes nothing.

mod chart;
mod expression;
mod layout;
mod monitor;
mod settings;
#[cfg(test)]
mod tests;

use crate::ast::{Comment, Declaration, DeclarationKind, Division, ExprId, ExprKind, Ident, Tree, Type};
use crate::lexer::{is_plain_name, is_word};
#[cfg(test)]
pub(crate) use expression::length_text;
use expression::{Break, Printed, Printer};
use tw_ir::{Path, PathStep, quote};

/// Prints a whole specification. Comments keep their words; those inside a declaration move in front of it.
pub fn print(tree: &Tree) -> String {
    let mut out = String::new();
    for declaration in &tree.declarations {
        print_declaration(tree, declaration, &mut out);
    }
    print_comments(&tree.trailing_comments, "", &mut out);
    out
}

/// Prints one expression on one line.
pub fn print_expr(tree: &Tree, id: ExprId) -> String {
    Printer::new(tree).print(id).text
}

fn print_comments(comments: &[Comment], indent: &str, out: &mut String) {
    for comment in comments {
        if comment.blank_before && !out.is_empty() {
            out.push('\n');
        }
        out.push_str(indent);
        out.push_str(&comment.text);
        out.push('\n');
    }
}

fn print_declaration(tree: &Tree, declaration: &Declaration, out: &mut String) {
    print_comments(&declaration.comments, "", out);
    if declaration.blank_before && !out.is_empty() {
        out.push('\n');
    }
    let (head, body) = head(&declaration.kind);
    if matches!(declaration.kind, DeclarationKind::Error) {
        return;
    }
    if let DeclarationKind::Monitor(block) = &declaration.kind {
        monitor::print(tree, block, out);
        return end_line(declaration.trailing.as_ref(), out);
    }
    if let DeclarationKind::Chart(block) = &declaration.kind {
        chart::print(block, out);
        return end_line(declaration.trailing.as_ref(), out);
    }
    if let DeclarationKind::Trace(block) = &declaration.kind {
        settings::print(block, out);
        return end_line(declaration.trailing.as_ref(), out);
    }
    out.push_str(&head);
    if let Some(body) = body {
        let mut body = Printer::new(tree).print(body);
        if let DeclarationKind::Query { division, .. } = &declaration.kind {
            print_division(division, &mut body);
        }
        if let DeclarationKind::Require { op, limit, division, .. } = &declaration.kind {
            body.text.push_str(&format!(" {} {}", op.symbol(), number(limit)));
            print_division(division, &mut body);
        }
        if let DeclarationKind::Stream { by: by @ Some(_), .. } = &declaration.kind {
            print_division(&Division { by: by.clone(), every: None }, &mut body);
        }
        layout::append(out, &head, &body, 0);
    }
    out.push(';');
    end_line(declaration.trailing.as_ref(), out);
}

fn end_line(trailing: Option<&Comment>, out: &mut String) {
    if let Some(comment) = trailing {
        out.push(' ');
        out.push_str(&comment.text);
    }
    out.push('\n');
}

/// Appends ` by user every 1m`, where a line may be broken before anywhere else.
fn print_division(division: &Division, body: &mut Printed) {
    if *division == Division::default() {
        return;
    }
    body.breaks.push(Break { offset: body.text.len() + 1, nesting: 0, power: 0 });
    if let Some(column) = &division.by {
        body.text.push_str(" by ");
        body.text.push_str(&print_path(&column.path, column.quoted));
    }
    if let Some((length, _)) = &division.every {
        body.text.push_str(&format!(" every {length}"));
    }
}

/// What stands before the body, and the body.
fn head(kind: &DeclarationKind) -> (String, Option<ExprId>) {
    let root = |word: &str, name: &Ident, title: &Option<String>| {
        let title = title.as_ref().map(|title| format!(" {}", quote(title))).unwrap_or_default();
        format!("{word} {}{title} :", quote_name(&name.name))
    };
    match kind {
        DeclarationKind::Var { path, ty, .. } => {
            (format!("var {}: {}", print_path(path, false), type_name(*ty)), None)
        }
        DeclarationKind::Event { name, parameters, template } => {
            let list: Vec<String> = parameters
                .iter()
                .map(|(name, ty)| match ty {
                    Some(ty) => format!("{}: {}", quote_name(&name.name), type_name(*ty)),
                    None => quote_name(&name.name),
                })
                .collect();
            let list = if list.is_empty() { String::new() } else { format!("({})", list.join(", ")) };
            let template = template.as_ref().map(|own| {
                let source = print_path(&own.source.path, own.source.quoted);
                format!(" = {source} {}", quote(&own.template.to_string()))
            });
            (format!("event {}{list}{}", quote_name(&name.name), template.unwrap_or_default()), None)
        }
        DeclarationKind::Let { name, parameters, body } => {
            let list: Vec<String> = parameters.iter().map(|parameter| quote_name(&parameter.name)).collect();
            let list = if list.is_empty() { String::new() } else { format!("({})", list.join(", ")) };
            (format!("let {}{list} =", quote_name(&name.name)), Some(*body))
        }
        DeclarationKind::Property { name, title, body } => (root("property", name, title), Some(*body)),
        DeclarationKind::Query { name, title, body, .. } => (root("query", name, title), Some(*body)),
        DeclarationKind::Require { name, title, body, .. } => (root("require", name, title), Some(*body)),
        DeclarationKind::Stream { name, ty, body, .. } => {
            (format!("stream {}: {} =", quote_name(&name.name), type_name(*ty)), Some(*body))
        }
        DeclarationKind::Observe { names } => {
            let names: Vec<String> = names.iter().map(|name| quote_name(&name.name)).collect();
            (format!("observe {}", names.join(", ")), None)
        }
        DeclarationKind::Trigger { name, title, body } => (root("trigger", name, title), Some(*body)),
        DeclarationKind::After(after) => (chart::after(after), None),
        DeclarationKind::Monitor(_)
        | DeclarationKind::Trace(_)
        | DeclarationKind::Chart(_)
        | DeclarationKind::Error => (String::new(), None),
    }
}

/// The limit of a requirement.
fn number(limit: &ExprKind) -> String {
    match limit {
        ExprKind::Int(int) => int.to_string(),
        ExprKind::Real(real) => tw_core::Value::Real(*real).to_string(),
        ExprKind::Length(length) => length.to_string(),
        _ => String::new(),
    }
}

fn type_name(ty: Type) -> &'static str {
    Type::ALL.iter().find(|(_, other)| *other == ty).map_or("string", |(name, _)| name)
}

/// A name, in backquotes if it needs them; `_` alone is no name.
fn quote_name(name: &str) -> String {
    if name != "_" && is_plain_name(name) { name.to_owned() } else { backquote(name) }
}

/// A name in backquotes ends on its line, so a line break inside (in the text of a formula as a name) is folded.
fn backquote(name: &str) -> String {
    format!("`{}`", name.replace('`', "``").replace('\n', " "))
}

pub(crate) fn print_path(path: &Path, quoted: bool) -> String {
    let mut out = String::new();
    for (i, step) in path.steps.iter().enumerate() {
        match step {
            PathStep::Field(name) if i == 0 && quoted => out.push_str(&backquote(name)),
            PathStep::Field(name) if i == 0 => out.push_str(&quote_name(name)),
            // After a point no word has another meaning.
            PathStep::Field(name) if is_word(name) => out.extend([".", name]),
            PathStep::Field(name) => out.extend([".", &backquote(name)]),
            PathStep::Each => out.push_str("[*]"),
        }
    }
    out
}

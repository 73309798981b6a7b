//! `monitor` blocks, one line each for what stands in them.

use super::expression::Printer;
use super::{backquote, end_line, layout, print_comments, quote_name};
use crate::ast::monitor::{Ere, EreKind, Event, ItemKind, Monitor, State};
use crate::ast::{ExprId, ExprKind, Ident, Tree};
use crate::lexer::is_word;
use tw_ir::quote;

pub(super) const MARGIN: &str = "    ";

/// Appends the block, without the end of its last line.
pub(super) fn print(tree: &Tree, monitor: &Monitor, out: &mut String) {
    out.push_str(&format!("monitor {}{}", quote_name(&monitor.name.name), list(&monitor.parameters)));
    if let Some(title) = &monitor.title {
        out.push_str(&format!(" {}", quote(title)));
    }
    let words = [(monitor.strict, "strict"), (monitor.equal, "equal")];
    let words = words.into_iter().filter(|(given, _)| *given).map(|(_, word)| word);
    for word in monitor.severity.map(|severity| severity.name()).into_iter().chain(words) {
        out.push_str(&format!(" {word}"));
    }
    out.push_str(" {\n");
    for (index, item) in monitor.items.iter().enumerate() {
        print_comments(&item.comments, MARGIN, out);
        if matches!(item.kind, ItemKind::Error) {
            continue;
        }
        if item.blank_before && (index > 0 || !item.comments.is_empty()) {
            out.push('\n');
        }
        out.push_str(MARGIN);
        let (head, body) = self::item(tree, &item.kind);
        out.push_str(&head);
        if let Some(body) = body {
            layout::append(out, &head, &Printer::new(tree).print(body), MARGIN.len());
        }
        out.push(';');
        end_line(item.trailing.as_ref(), out);
    }
    print_comments(&monitor.trailing_comments, MARGIN, out);
    out.push('}');
}

/// What stands before the formula of a line, and the formula.
fn item(tree: &Tree, kind: &ItemKind) -> (String, Option<ExprId>) {
    match kind {
        ItemKind::Event { creation, event } => {
            let word = if *creation { "creation event" } else { "event" };
            (self::event(tree, word, event), event.when)
        }
        ItemKind::End(event) => (self::event(tree, "end", event), event.when),
        ItemKind::Where(body) => ("where".into(), Some(*body)),
        ItemKind::Ere(expression) => (format!("ere : {}", ere(expression)), None),
        ItemKind::Fsm(states) => (format!("fsm :{}", fsm(states)), None),
        ItemKind::Ltl(body) => ("ltl :".into(), Some(*body)),
        ItemKind::On { category, text } => {
            let text = text.as_ref().map(|text| format!(" {}", quote(&text.text))).unwrap_or_default();
            (format!("on {}{text}", name(category)), None)
        }
        ItemKind::Error => (String::new(), None),
    }
}

fn event(tree: &Tree, word: &str, event: &Event) -> String {
    let mut out = format!("{word} {}{}", name(&event.name), list(&event.parameters));
    if let Some((source, arguments)) = &event.source {
        out.push_str(&format!(" = {}", name(source)));
        if !arguments.is_empty() {
            let arguments: Vec<String> = arguments
                .iter()
                .map(|argument| {
                    let label = argument.name.as_ref().map(|label| format!("{}: ", name(label)));
                    let value = match argument.value.map(|id| &tree.exprs[id.index()].kind) {
                        None => "_".to_owned(),
                        Some(ExprKind::Path { path, .. }) => {
                            word_or_quoted(path.as_name().unwrap_or_default())
                        }
                        Some(_) => argument.value.map(|id| super::print_expr(tree, id)).unwrap_or_default(),
                    };
                    label.unwrap_or_default() + &value
                })
                .collect();
            out.push_str(&format!("({})", arguments.join(", ")));
        }
    }
    if event.when.is_some() {
        out.push_str(" when");
    }
    out
}

fn list(names: &[Ident]) -> String {
    let names: Vec<String> = names.iter().map(name).collect();
    if names.is_empty() { String::new() } else { format!("({})", names.join(", ")) }
}

/// Any word is a name here.
fn name(ident: &Ident) -> String {
    word_or_quoted(&ident.name)
}

fn word_or_quoted(name: &str) -> String {
    // A lone underscore is an argument that is not bound, a Boolean a constant.
    let plain = is_word(name) && !matches!(name, "_" | "true" | "false");
    if plain { name.to_owned() } else { backquote(name) }
}

fn fsm(states: &[State]) -> String {
    let one = |state: &State| {
        let moves: Vec<String> = state
            .moves
            .iter()
            .map(|(event, target)| format!("{} -> {}", name(event), name(target)))
            .collect();
        match moves.is_empty() {
            true => format!("{} [ ]", name(&state.name)),
            false => format!("{} [ {} ]", name(&state.name), moves.join(", ")),
        }
    };
    let states: Vec<String> = states.iter().map(one).collect();
    match states.len() {
        1 => format!(" {}", states[0]),
        _ => states.iter().map(|state| format!("\n{MARGIN}{MARGIN}{state}")).collect(),
    }
}

/// How tightly the parts bind: choice, intersection, sequence, complement, repetition.
fn power(kind: &EreKind) -> u8 {
    match kind {
        EreKind::Or(..) => 1,
        EreKind::And(..) => 2,
        EreKind::Concat(..) => 3,
        EreKind::Not(_) => 4,
        EreKind::Star(_) | EreKind::Plus(_) | EreKind::Optional(_) => 5,
        EreKind::Epsilon | EreKind::Event(_) => 6,
    }
}

/// What is still to be written, last first: depth costs no stack.
enum Todo {
    Part(u32, u8),
    Text(&'static str),
}

fn ere(ere: &Ere) -> String {
    let mut out = String::new();
    let Some(root) = ere.parts.len().checked_sub(1) else { return out };
    let mut todo = vec![Todo::Part(root as u32, 0)];
    while let Some(next) = todo.pop() {
        let (part, floor) = match next {
            Todo::Text(text) => {
                out.push_str(text);
                continue;
            }
            Todo::Part(part, floor) => (&ere.parts[part as usize], floor),
        };
        let own = power(part);
        if own < floor {
            out.push('(');
            todo.push(Todo::Text(")"));
        }
        // The left operand of equals needs no parentheses, the right one does.
        let mut two = |a: &u32, sign: &'static str, b: &u32| {
            todo.extend([Todo::Part(*b, own + 1), Todo::Text(sign), Todo::Part(*a, own)]);
        };
        match part {
            EreKind::Epsilon => out.push_str("epsilon"),
            EreKind::Event(event) if event.name == "epsilon" => out.push_str("`epsilon`"),
            EreKind::Event(event) if is_word(&event.name) => out.push_str(&event.name),
            EreKind::Event(event) => out.push_str(&backquote(&event.name)),
            EreKind::Concat(a, b) => two(a, " ", b),
            EreKind::Or(a, b) => two(a, " | ", b),
            EreKind::And(a, b) => two(a, " & ", b),
            EreKind::Not(a) => todo.extend([Todo::Part(*a, own), Todo::Text("~")]),
            EreKind::Star(a) => todo.extend([Todo::Text("*"), Todo::Part(*a, own)]),
            EreKind::Plus(a) => todo.extend([Todo::Text("+"), Todo::Part(*a, own)]),
            EreKind::Optional(a) => todo.extend([Todo::Text("?"), Todo::Part(*a, own)]),
        }
    }
    out
}

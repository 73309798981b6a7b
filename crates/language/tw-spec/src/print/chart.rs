//! `chart` blocks, one line for each message.

use super::monitor::MARGIN;
use super::{backquote, end_line, print_comments};
use crate::ast::chart::{After, Body, Chart, Item, ItemKind, Part, PartName};
use crate::lexer::is_word;
use tw_ir::quote;

/// Appends the block, without the end of its last line.
pub(super) fn print(chart: &Chart, out: &mut String) {
    out.push_str(&format!("chart {}", name(&chart.name.name)));
    if let Some(title) = &chart.title {
        out.push_str(&format!(" {}", quote(title)));
    }
    out.push_str(&format!(
        " {}{} {{\n",
        chart.kind.word(),
        if chart.iterate.is_some() { " iterate" } else { "" }
    ));
    let parts = match chart.main_first {
        true => [(Part::Main, &chart.main), (Part::Pre, &chart.pre)],
        false => [(Part::Pre, &chart.pre), (Part::Main, &chart.main)],
    };
    for (part, body) in parts {
        self::body(part, body, out);
    }
    print_comments(&chart.trailing_comments, MARGIN, out);
    out.push('}');
}

fn body(part: Part, body: &Body, out: &mut String) {
    let inner = MARGIN.repeat(2);
    print_comments(&body.comments, MARGIN, out);
    out.push_str(&format!("{MARGIN}{} {{\n", part.word()));
    items(&body.items, &inner, out);
    print_comments(&body.trailing_comments, &inner, out);
    out.push_str(&format!("{MARGIN}}}\n"));
}

fn items(items: &[Item], indent: &str, out: &mut String) {
    for item in items {
        print_comments(&item.comments, indent, out);
        match &item.kind {
            ItemKind::Message(message) => {
                let (from, to) = (name(&message.from.name), name(&message.to.name));
                let only = message.only.map(|only| format!(" [{} only]", only.word())).unwrap_or_default();
                out.push_str(&format!("{indent}{from} -> {to} : {}{only};", name(&message.name.name)));
            }
            ItemKind::Coregion(inside) => {
                out.push_str(&format!("{indent}coregion {{\n"));
                self::items(inside, &format!("{indent}{MARGIN}"), out);
                out.push_str(&format!("{indent}}}"));
            }
            ItemKind::Error => continue,
        }
        end_line(item.trailing.as_ref(), out);
    }
}

/// `after C.main : D.main, D.pre`, without its end.
pub(super) fn after(after: &After) -> String {
    let part = |own: &PartName| format!("{}.{}", name(&own.chart.name), own.part.word());
    let then: Vec<String> = after.then.iter().map(part).collect();
    format!("after {} : {}", part(&after.first), then.join(", "))
}

/// Any word is a name here, and several with points between.
fn name(name: &str) -> String {
    let word = |part: &str| is_word(part);
    // `main` and `pre` behind a point would be read as parts.
    let parts: Vec<&str> = name.split('.').collect();
    let plain =
        parts.iter().all(|part| word(part)) && !parts[1..].iter().any(|part| matches!(*part, "main" | "pre"));
    if plain { name.to_owned() } else { backquote(name) }
}

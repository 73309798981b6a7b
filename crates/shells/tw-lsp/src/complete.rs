//! What can be written at a place: words of the language, names of the text, columns and events of the sample.

use crate::document::Document;
use serde_json::{Value, json};
use std::collections::HashSet;
use tracewise::inspect::{InspectReport, event_word, word};
use tracewise::language::ast::DeclarationKind;
use tracewise::language::meanings::{Place, meanings};
use tracewise::language::{NameKind, PATTERNS, Word, WordKind, is_plain_name};

/// Names of one kind that are offered.
const MOST: usize = 1000;

/// Kinds of items, as the protocol numbers them.
mod item {
    pub const FUNCTION: u8 = 3;
    pub const FIELD: u8 = 5;
    pub const VARIABLE: u8 = 6;
    pub const VALUE: u8 = 12;
    pub const KEYWORD: u8 = 14;
    pub const EVENT: u8 = 23;
    pub const OPERATOR: u8 = 24;
    pub const TYPE: u8 = 25;
}

/// What is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Nothing,
    Declaration,
    MonitorLine,
    MonitorEvents,
    Setting,
    Column,
    Format,
    Unit,
    Type,
    /// Behind a dot: the rest of a path.
    Field,
    Operand,
    Operator,
}

/// What can be written at `offset`; `snippets` if the client knows placeholders.
pub fn complete(document: &Document, offset: usize, sample: Option<&InspectReport>, snippets: bool) -> Value {
    let words = document.words();
    let at = offset as u32;
    // What stands before the word that is being written.
    let count = words.partition_point(|word| word.span.end < at || word.span.end == at && !begun(word));
    let before = &words[..count];
    let here = words.get(count).filter(|word| word.span.start < at);
    let mut list = List { items: Vec::new(), seen: HashSet::new(), snippets };
    let asked = match here.map(|word| word.kind) {
        Some(WordKind::Comment | WordKind::Text | WordKind::Number | WordKind::Unknown) => Asked::Nothing,
        _ => asked(document, before, at),
    };
    match asked {
        Asked::Nothing => {}
        Asked::Declaration => list.words(&[Place::Declaration], "0"),
        Asked::MonitorLine => list.words(&[Place::MonitorLine], "0"),
        Asked::Setting => list.words(&[Place::Setting], "0"),
        Asked::Type => list.words(&[Place::Type], "0"),
        Asked::Format => {
            for format in tracewise::trace::formats() {
                list.plain(format.name(), item::VALUE, "a format of traces", "0");
            }
        }
        Asked::Unit => {
            for unit in ["ns", "us", "ms", "s", "m", "h", "d"] {
                list.plain(unit, item::VALUE, "a unit of time", "0");
            }
        }
        Asked::Column => list.sample(sample, false),
        Asked::Field => list.fields(document, before, sample),
        Asked::MonitorEvents => {
            list.names(document, at, |kind| matches!(kind, NameKind::MonitorEvent | NameKind::State))
        }
        Asked::Operator => list.words(&[Place::Infix, Place::Inside], "0"),
        Asked::Operand => {
            list.names(document, at, |kind| {
                !matches!(kind, NameKind::Root | NameKind::Field | NameKind::State)
            });
            list.sample(sample, true);
            list.words(&[Place::Prefix, Place::Operand, Place::Aggregate], "3");
            list.patterns();
        }
    }
    json!({"isIncomplete": false, "items": list.items})
}

/// Whether more of a word may be written at its end.
fn begun(word: &Word) -> bool {
    matches!(
        word.kind,
        WordKind::Name | WordKind::Keyword | WordKind::Quoted | WordKind::Number | WordKind::Comment
    ) || word.kind == WordKind::Operator && word.span.end - word.span.start > 2
        || matches!(word.kind, WordKind::Text | WordKind::Unknown)
}

/// What is asked for behind the words `before`.
fn asked(document: &Document, before: &[Word], at: u32) -> Asked {
    let before: Vec<&Word> = before.iter().filter(|word| word.kind != WordKind::Comment).collect();
    let text = |back: usize| match before.len().checked_sub(back) {
        Some(index) => document.slice(before[index].span),
        None => "",
    };
    let last = text(1);
    let block = block(document, &before, at);
    let begins = matches!(last, "" | ";" | "}" | "{");
    match block {
        Some("trace") if begins => return Asked::Setting,
        Some("trace") => {
            // `time-unit: …` is more than one word.
            let name = if text(3) == "-" { "time-unit" } else { text(2) };
            return match name {
                _ if last != ":" => Asked::Nothing,
                "format" => Asked::Format,
                "time-unit" => Asked::Unit,
                "time" | "event" | "by" => Asked::Column,
                _ => Asked::Nothing,
            };
        }
        Some("chart") => return Asked::Nothing,
        Some("monitor") if begins => return Asked::MonitorLine,
        Some("monitor") => {
            let line = before.iter().rposition(|word| matches!(document.slice(word.span), ";" | "{"));
            let first = before.get(line.map_or(0, |at| at + 1)).map_or("", |word| document.slice(word.span));
            match first {
                "ere" | "fsm" => return Asked::MonitorEvents,
                "ltl" if !before.last().is_some_and(|word| word.ends_operand) => return Asked::MonitorEvents,
                _ => {}
            }
        }
        _ if begins => return Asked::Declaration,
        _ => {}
    }
    if last == "." {
        return Asked::Field;
    }
    // Where a name is being invented, nothing is proposed.
    let keyword = |word: &str| {
        matches!(word, "var" | "stream" | "let" | "property" | "query" | "require" | "trigger" | "monitor")
    };
    let start = |back: usize| matches!(text(back), "" | ";" | "}");
    if keyword(last) && start(2) || last == "event" && start(2) {
        return Asked::Nothing;
    }
    if last == ":" && (matches!(text(3), "var" | "stream") && start(4) || in_event(document, &before)) {
        return Asked::Type;
    }
    if matches!(last, "by" | "every") && before.len() > 3 {
        return if last == "by" { Asked::Column } else { Asked::Nothing };
    }
    match before.last() {
        Some(word) if word.ends_operand && !keyword(last) => Asked::Operator,
        _ => Asked::Operand,
    }
}

/// Whether the words end inside the parameters of `event name(…`.
fn in_event(document: &Document, before: &[&Word]) -> bool {
    let line = before
        .iter()
        .rposition(|word| matches!(document.slice(word.span), ";" | "}" | "{"))
        .map_or(0, |at| at + 1);
    let word = |index: usize| before.get(line + index).map_or("", |word| document.slice(word.span));
    word(0) == "event"
        && word(2) == "("
        && !before[line..].iter().any(|word| document.slice(word.span) == ")")
}

/// The block that stands around a place: `trace`, `monitor` or `chart`.
fn block<'d>(document: &'d Document, before: &[&Word], at: u32) -> Option<&'d str> {
    let mut open: Vec<usize> = Vec::new();
    for (index, word) in before.iter().enumerate() {
        match document.slice(word.span) {
            "{" => open.push(index),
            "}" => drop(open.pop()),
            _ => {}
        }
    }
    let &brace = open.first()?;
    // Where the tree knows the declaration, it says what it is.
    let declarations = &document.look().tree.declarations;
    let around = declarations.iter().rfind(|own| own.span.start < at);
    let head = before[..brace].iter().rposition(|word| matches!(document.slice(word.span), ";" | "}"));
    let first = before.get(head.map_or(0, |at| at + 1)).map_or("", |word| document.slice(word.span));
    match (around.map(|own| &own.kind), first) {
        (_, "trace") => Some("trace"),
        (Some(DeclarationKind::Monitor(_)), _) | (_, "monitor") => Some("monitor"),
        (Some(DeclarationKind::Chart(_)), _) | (_, "chart") => Some("chart"),
        _ => None,
    }
}

struct List {
    items: Vec<Value>,
    seen: HashSet<String>,
    snippets: bool,
}

impl List {
    /// An item that is written as it is called.
    fn plain(&mut self, label: &str, kind: u8, detail: &str, sort: &str) {
        if self.seen.insert(label.to_owned()) {
            self.items.push(json!({
                "label": label, "kind": kind, "detail": detail, "sortText": format!("{sort}{label}"),
            }));
        }
    }

    fn snippet(&mut self, label: &str, kind: u8, detail: &str, sort: &str, text: &str, more: &str) {
        if !self.seen.insert(label.to_owned()) {
            return;
        }
        let mut item = json!({
            "label": label,
            "kind": kind,
            "detail": detail,
            "documentation": {"kind": "markdown", "value": more},
            "sortText": format!("{sort}{label}"),
        });
        if text != label {
            item["insertText"] = json!(if self.snippets { text.to_owned() } else { bare(text) });
            item["insertTextFormat"] = json!(if self.snippets { 2 } else { 1 });
        }
        self.items.push(item);
    }

    /// The words of the language that stand in these places.
    fn words(&mut self, places: &[Place], sort: &str) {
        for meaning in meanings().iter().filter(|meaning| places.contains(&meaning.place)) {
            let kind = match meaning.place {
                Place::Aggregate => item::FUNCTION,
                Place::Type => item::TYPE,
                Place::Declaration | Place::MonitorLine | Place::Setting => item::KEYWORD,
                Place::Operand | Place::Inside => item::KEYWORD,
                Place::Prefix | Place::Infix => item::OPERATOR,
            };
            let more = format!("```tracewise\n{}\n```\n{}", meaning.form, meaning.meaning);
            for word in std::iter::once(&meaning.word).chain(&meaning.others) {
                let text = if *word == meaning.word { meaning.snippet.as_str() } else { word };
                self.snippet(word, kind, &meaning.form, sort, text, &more);
            }
        }
    }

    fn patterns(&mut self) {
        for pattern in PATTERNS {
            let parameters: Vec<String> = pattern
                .parameters
                .iter()
                .enumerate()
                .map(|(at, name)| format!("${{{}:{name}}}", at + 1))
                .collect();
            let text = format!("{}({})", pattern.name, parameters.join(", "));
            let form = format!("{}({})", pattern.name, pattern.parameters.join(", "));
            let more = format!("{}\n\nIt stands for `{}`.", pattern.meaning, pattern.formula);
            self.snippet(pattern.name, item::FUNCTION, &form, "2", &text, &more);
        }
    }

    /// The names of the text that can be written here.
    fn names(&mut self, document: &Document, at: u32, wanted: impl Fn(NameKind) -> bool) {
        let names = &document.look().names;
        for (index, name) in names.list.iter().enumerate().take(MOST * 10) {
            let visible = name.inside.is_none_or(|span| span.start <= at && at <= span.end + 1);
            // The word that is being written is no name yet.
            let elsewhere = || names.uses_of(index).any(|own| !(own.span.start <= at && at <= own.span.end));
            if !visible || !wanted(name.kind) || !elsewhere() {
                continue;
            }
            let (kind, detail) = match name.kind {
                NameKind::Macro => (item::FUNCTION, "a macro"),
                NameKind::Event => (item::EVENT, "an event"),
                NameKind::MonitorEvent => (item::EVENT, "an event of this monitor"),
                NameKind::State => (item::VALUE, "a state"),
                NameKind::Stream => (item::VARIABLE, "a stream"),
                NameKind::Variable => (item::FIELD, "a column"),
                NameKind::Parameter => (item::VARIABLE, "a parameter of this macro"),
                NameKind::MonitorParameter => (item::VARIABLE, "a parameter of this monitor"),
                NameKind::Bound => (item::VARIABLE, "a variable"),
                NameKind::Library => continue,
                _ => (item::FIELD, "used in this file"),
            };
            let written =
                if is_plain_name(&name.name) { name.name.clone() } else { format!("`{}`", name.name) };
            self.plain(&written, kind, detail, "0");
        }
    }

    /// Columns and events of the sample.
    fn sample(&mut self, sample: Option<&InspectReport>, events: bool) {
        let Some(sample) = sample else { return };
        for column in sample.columns.iter().take(MOST) {
            let examples: Vec<&str> = column.examples.iter().take(3).map(String::as_str).collect();
            let detail = format!("{}: {}", column.kind, examples.join(", "));
            self.plain(&word(&column.name), item::FIELD, &detail, "1");
        }
        for (event, count) in sample.events.iter().take(if events { MOST } else { 0 }) {
            self.plain(
                &event_word(event),
                item::EVENT,
                &format!("an event, {count} times in the sample"),
                "1",
            );
        }
    }

    /// The fields behind `a.b.`.
    fn fields(&mut self, document: &Document, before: &[Word], sample: Option<&InspectReport>) {
        let mut path = String::new();
        for pair in before.rchunks(2) {
            let [name, dot] = pair else { break };
            if document.slice(dot.span) != "." || !matches!(name.kind, WordKind::Name | WordKind::Quoted) {
                break;
            }
            path.insert_str(0, &format!("{}.", document.slice(name.span).trim_matches('`')));
        }
        for column in sample.iter().flat_map(|sample| &sample.columns).take(MOST) {
            if let Some(rest) = column.name.strip_prefix(&path).filter(|_| !path.is_empty()) {
                let next = rest.split('.').next().unwrap_or(rest);
                let detail = if next == rest { column.kind.as_str() } else { "an object" };
                self.plain(&word(next), item::FIELD, detail, "0");
            }
        }
    }
}

/// A snippet without its placeholders: `${1:name}` is `name`, `${1|a,b|}` is `a`.
fn bare(snippet: &str) -> String {
    let mut out = String::new();
    let mut rest = snippet;
    while let Some(at) = rest.find("${") {
        out.push_str(&rest[..at]);
        let end = rest[at..].find('}').map_or(rest.len(), |end| at + end);
        let inside = rest[at + 2..end].trim_start_matches(|c: char| c.is_ascii_digit());
        out.push_str(match inside.strip_prefix('|') {
            Some(choice) => choice.split([',', '|']).next().unwrap_or_default(),
            None => inside.strip_prefix(':').unwrap_or(inside),
        });
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::bare;

    #[test]
    fn snippets_without_placeholders() {
        assert_eq!(bare("var ${1:name}: ${2|bool,int|};"), "var name: bool;");
        assert_eq!(bare("count[${1:p}]"), "count[p]");
        assert_eq!(bare("G"), "G");
    }
}

//! Parametric monitors as RV-Monitor and JavaMOP write them: `Name(Type x) { event e(x) {} ere : e e @match { … } }`.
//!
//! What a file says in the language of the program (where an event fires, conditions, fields, handlers) has no equal in a trace. Where
//! an event fires becomes a comment, handlers become texts, and the rest is said: an event of a trace is one of a monitor by its
//! name. What decides about reports (the logic, creation events, categories) is read exactly or refused.

mod document;
mod ere;
mod fsm;
mod ltl;
mod tokens;
mod words;

use crate::build::remark;
use crate::cursor::refuse;
use crate::{Format, Options, Reading};
use document::{Event, Handler, Logic, Spec, Word};
use rustc_hash::FxHashSet;
use tokens::Tokens;
use tw_diag::{Diagnostic, Span};
use tw_spec::ast::Ident;
use tw_spec::ast::monitor::{self, Item, ItemKind, Monitor};

pub(crate) const FORMAT: Format = Format {
    name: "rvm",
    title: "RV-Monitor and JavaMOP",
    about: "parametric monitors as RV-Monitor and JavaMOP write them: `event next(i) {}`, `ere`, `fsm`, `ltl`, `@match { … }`",
    extensions: &["rvm", "mop"],
    clock,
    read,
};

fn clock(_: &Options) -> String {
    "An event of the trace is that of its name; its arguments are the parameters, in their order or by their names.".to_owned()
}

fn read(reading: &mut Reading<'_>) {
    let text = reading.text;
    let specs = Tokens::of(text).and_then(|tokens| {
        let specs = document::read(&tokens)?;
        Ok((tokens, specs))
    });
    let (tokens, specs) = match specs {
        Ok(read) => read,
        Err(found) => {
            reading.report(found);
            return;
        }
    };
    let mut names: FxHashSet<String> = FxHashSet::default();
    for spec in &specs {
        let Word { name, span } = &spec.name;
        if !names.insert(name.clone()) {
            let found = Diagnostic::error("import-duplicate", format!("`{name}` is defined twice"));
            let found = found.at(*span, "defined again").help("give one of them another name");
            if !reading.report(found) {
                return;
            }
            continue;
        }
        if let Err(found) = add(reading, &tokens, spec, &mut names)
            && !reading.report(found)
        {
            return;
        }
    }
}

/// Something that is left out, and said.
fn left_out(span: Span, what: impl Into<String>, help: &str) -> Diagnostic {
    Diagnostic::warning("import-left-out", what).at(span, "left out").help(help)
}

/// Adds the monitors that a specification is: one for each of its logics.
fn add(
    reading: &mut Reading<'_>,
    tokens: &Tokens<'_>,
    spec: &Spec,
    names: &mut FxHashSet<String>,
) -> Result<(), Diagnostic> {
    let suffix = modifiers(reading, spec)?;
    let (title, severity) = words::about(reading, tokens, spec);
    if let Some(span) = spec.program {
        let help = "fields and methods are the program's; what they decide has to be in the trace";
        reading.report(left_out(span, format!("`{}` has code of its own", spec.name.name), help));
    }
    let events = events(reading, tokens, spec)?;
    let bound = |own: &&Word| {
        spec.events.iter().any(|event| event.parameters.iter().any(|word| word.name == own.name))
    };
    if let Some(Word { name, span }) = spec.parameters.iter().find(|own| !bound(own)) {
        let found = Diagnostic::error("import-syntax", format!("no event binds the parameter `{name}`"));
        return Err(found.at(*span, "never gets a value").help("give it to an event, or remove it"));
    }
    let raw = [Logic { name: Word { name: "raw".into(), span: spec.name.span }, ..Logic::default() }];
    let logics = if spec.logics.is_empty() { &raw[..] } else { &spec.logics };
    for (number, logic) in logics.iter().enumerate() {
        let mut name = spec.name.name.clone();
        if number > 0 {
            let numbered = (number + 1..).map(|number| format!("{}_{number}", spec.name.name));
            name = numbered.into_iter().find(|name| names.insert(name.clone())).unwrap_or_default();
        }
        let mut items = events.clone();
        formalism(reading, tokens, spec, logic, suffix, &mut items)?;
        let ident = |word: &Word| Ident { name: word.name.clone(), span: word.span };
        let monitor = Monitor {
            name: Ident { name, span: spec.name.span },
            parameters: spec.parameters.iter().map(ident).collect(),
            title: title.clone(),
            severity,
            strict: false,
            equal: false,
            items,
            trailing_comments: Vec::new(),
        };
        reading.builder.monitor(monitor, tokens.line(spec.name.span), Vec::new());
    }
    Ok(())
}

/// What stands before the name; whether every suffix of a trace is judged.
fn modifiers(reading: &mut Reading<'_>, spec: &Spec) -> Result<bool, Diagnostic> {
    let mut suffix = None;
    for Word { name, span } in &spec.modifiers {
        match name.as_str() {
            "suffix" => suffix = Some(*span),
            // How the program is locked and how state is kept changes no report.
            "unsynchronized" | "decentralized" | "any-binding" => {}
            "enforce" | "avoid" => {
                let help = "a trace is what has happened: it can be judged, not prevented";
                reading.report(left_out(*span, format!("`{name}` is about what the program may do"), help));
            }
            "full-binding" | "connected" => {
                let help = "here a binding reports when it is what the events of its trace bind";
                reading.report(left_out(*span, format!("`{name}` chooses among bindings"), help));
            }
            "perthread" => {
                let why = "make the thread a parameter of the monitor and of its events";
                return Err(refuse(*span, "`perthread` has a monitor for each thread", why));
            }
            _ => {
                let found =
                    Diagnostic::error("import-syntax", format!("found `{name}`, expected a name and `(`"));
                return Err(found.at(*span, "expected the name of a monitor"));
            }
        }
    }
    let ere = |logic: &Logic| {
        logic.name.name == "ere" && logic.handlers.iter().all(|one| one.category.name == "match")
    };
    match suffix {
        Some(span) if !spec.logics.iter().all(ere) => {
            let why = "only an `ere` that reports `@match` can be said to begin anywhere";
            Err(refuse(span, "`suffix` judges every suffix of a trace", why))
        }
        suffix => Ok(suffix.is_some()),
    }
}

fn item(kind: ItemKind, span: Span) -> Item {
    Item { kind, span, comments: Vec::new(), trailing: None, blank_before: false }
}

/// The lines of the events.
fn events(reading: &mut Reading<'_>, tokens: &Tokens<'_>, spec: &Spec) -> Result<Vec<Item>, Diagnostic> {
    let mut items: Vec<Item> = Vec::new();
    for event in &spec.events {
        let own = |word: &&Word| spec.parameters.iter().any(|parameter| parameter.name == word.name);
        let parameters: Vec<Ident> = event
            .parameters
            .iter()
            .filter(own)
            .map(|word| Ident { name: word.name.clone(), span: word.span })
            .collect();
        for (number, Word { name, span }) in event.parameters.iter().enumerate() {
            if event.parameters[..number].iter().any(|other| other.name == *name) {
                let found = Diagnostic::error("import-duplicate", format!("`{name}` is declared twice"));
                return Err(found.at(*span, "again in this event"));
            }
        }
        let others = event.parameters.iter().filter(|word| !own(word));
        let mut comments = Vec::new();
        if !event.place.is_empty() {
            comments.push(remark(&event.place));
        }
        for Word { name, span } in others {
            let message =
                format!("`{name}` of the event `{}` is no parameter of the monitor", event.name.name);
            let help =
                "the trace's event has the others alone; name it in the head of the monitor to bind it";
            reading.report(left_out(*span, message, help));
        }
        for &span in &event.conditions {
            let condition = words::one_line(tokens.slice(span), 200);
            comments.push(remark(&format!("only if: {condition}")));
            let message =
                format!("the event `{}` has a condition in the program's language", event.name.name);
            let help = "let the trace have the event only where it holds, or write `when` and a formula over its columns";
            reading.report(left_out(span, message, help));
        }
        let same = items.iter_mut().find_map(|item| match &mut item.kind {
            ItemKind::Event { creation, event: other } if other.name.name == event.name.name => {
                Some((creation, other, &mut item.comments))
            }
            _ => None,
        });
        if let Some((creation, other, before)) = same {
            // Several places where one event fires.
            let alike =
                other.parameters.iter().map(|one| &one.name).eq(parameters.iter().map(|one| &one.name));
            if !alike {
                let message =
                    format!("the event `{}` is declared twice, with other parameters", event.name.name);
                let found =
                    Diagnostic::error("import-duplicate", message).at(event.name.span, "declared again");
                return Err(found.at(other.name.span, "declared here").help("give one of them another name"));
            }
            *creation |= event.creation;
            before.extend(comments);
            continue;
        }
        let name = Ident { name: event.name.name.clone(), span: event.name.span };
        let made = monitor::Event { name, parameters, source: None, when: None };
        let kind = ItemKind::Event { creation: event.creation, event: made };
        items.push(Item { comments, ..item(kind, event.name.span) });
    }
    match items.is_empty() {
        false => Ok(items),
        true => {
            let message = format!("`{}` has no event", spec.name.name);
            let found = Diagnostic::error("import-syntax", message).at(spec.name.span, "");
            Err(found.help("write `event name(parameters) {}`"))
        }
    }
}

/// Adds the line of the logic and those of the handlers.
fn formalism(
    reading: &mut Reading<'_>,
    tokens: &Tokens<'_>,
    spec: &Spec,
    logic: &Logic,
    suffix: bool,
    items: &mut Vec<Item>,
) -> Result<(), Diagnostic> {
    let Word { name, span } = &logic.name;
    let events: Vec<&str> = {
        let mut seen = FxHashSet::default();
        spec.events.iter().map(|event| event.name.name.as_str()).filter(|name| seen.insert(*name)).collect()
    };
    let text = |handler: &Handler| words::text(tokens, handler.body, spec, *span);
    let mut on: Vec<(Word, Option<monitor::Text>)> = Vec::new();
    let kind = match name.as_str() {
        "raw" => {
            raw(tokens, reading, spec, items);
            return Ok(());
        }
        "ere" => {
            on.extend(
                categories(logic, &["match", "fail"])?
                    .map(|handler| (handler.category.clone(), text(handler))),
            );
            ItemKind::Ere(ere::read(tokens.text, logic.body, &events, suffix)?)
        }
        "ltl" => {
            let handlers = categories(logic, &["violation", "validation"])?;
            on.extend(handlers.map(|handler| (handler.category.clone(), text(handler))));
            reading.note(
                "At the end of the trace, a formula is judged as it stands; what is owed is a violation.",
            );
            ItemKind::Ltl(ltl::read(reading, tokens.text, logic.body, &events, None)?)
        }
        "ptltl" => {
            let handlers: Vec<&Handler> = categories(logic, &["violation", "validation"])?.collect();
            let goal = handlers.first().map_or("violation", |handler| handler.category.name.as_str());
            if let Some(other) = handlers.iter().find(|handler| handler.category.name != goal) {
                let why = "write two monitors, one for each";
                return Err(refuse(
                    other.category.span,
                    "`ptltl` is judged at every event, for one thing here",
                    why,
                ));
            }
            let violation = Word { name: "violation".into(), span: *span };
            on.extend(handlers.iter().map(|handler| (violation.clone(), text(handler))));
            let help = "the formula is under `G`, and reported once of each binding";
            reading.report(
                Diagnostic::warning("import-left-out", "`ptltl` is judged at every event")
                    .at(*span, "")
                    .help(help),
            );
            ItemKind::Ltl(ltl::read(reading, tokens.text, logic.body, &events, Some(goal == "violation"))?)
        }
        "fsm" => {
            let machine = fsm::read(tokens.text, logic.body, &events)?;
            for handler in &logic.handlers {
                let text = text(handler);
                on.extend(
                    machine.categories(&handler.category)?.into_iter().map(|word| (word, text.clone())),
                );
            }
            ItemKind::Fsm(machine.states)
        }
        _ => {
            let why = "`ere`, `fsm`, `ltl` and `ptltl` are imported";
            return Err(refuse(*span, format!("the logic `{name}` has no equal here"), why));
        }
    };
    items.push(item(kind, *span));
    let mut told = FxHashSet::default();
    for (Word { name, span }, text) in on {
        if told.insert(name.clone()) {
            items.push(item(ItemKind::On { category: Ident { name, span }, text }, span));
        }
    }
    Ok(())
}

/// The handlers, whose categories are among those of the logic.
fn categories<'l>(
    logic: &'l Logic,
    known: &[&str],
) -> Result<impl Iterator<Item = &'l Handler> + use<'l>, Diagnostic> {
    match logic.handlers.iter().find(|handler| !known.contains(&handler.category.name.as_str())) {
        None => Ok(logic.handlers.iter()),
        Some(Handler { category: Word { name, span }, .. }) => {
            let known: Vec<String> = known.iter().map(|name| format!("`@{name}`")).collect();
            let expected = known.join(" or ");
            let message = format!("found `@{name}`, expected {expected}: a handler of `{}`", logic.name.name);
            Err(Diagnostic::error("import-syntax", message).at(*span, format!("expected {expected}")))
        }
    }
}

/// Without a logic, every event is a match; those whose action says nothing only prepare others.
fn raw(tokens: &Tokens<'_>, reading: &mut Reading<'_>, spec: &Spec, items: &mut Vec<Item>) {
    let text = |event: &Event| words::text(tokens, event.body?, spec, spec.name.span);
    let said: Vec<Option<monitor::Text>> = spec.events.iter().map(text).collect();
    let mut texts: Vec<String> = Vec::new();
    for text in said.iter().flatten() {
        if !texts.contains(&text.text) {
            texts.push(text.text.clone());
        }
    }
    if texts.is_empty() {
        return;
    }
    let mut silent: Vec<&Event> = Vec::new();
    for event in &spec.events {
        let mut same = spec.events.iter().zip(&said).filter(|(other, _)| other.name.name == event.name.name);
        if same.all(|(_, text)| text.is_none()) {
            silent.push(event);
        }
    }
    for event in &silent {
        let message = format!("the event `{}` reports nothing", event.name.name);
        let help =
            "a monitor without a logic reports each of its events; what this one prepares is in the program";
        reading.report(left_out(event.name.span, message, help));
    }
    let mut comments = Vec::new();
    items.retain_mut(|item| match &item.kind {
        ItemKind::Event { event, .. } if silent.iter().any(|other| other.name.name == event.name.name) => {
            comments.push(remark(&format!("left out: event {}", event.name.name)));
            comments.append(&mut item.comments);
            false
        }
        _ => true,
    });
    let span = spec.name.span;
    let text = Some(monitor::Text { text: words::cut(&texts.join("; "), 300), span });
    let category = Ident { name: "match".into(), span };
    items.push(Item { comments, ..item(ItemKind::On { category, text }, span) });
}

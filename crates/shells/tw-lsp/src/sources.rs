//! What the events of monitors are in the trace, where no `=` says it: that depends on names, and renaming has to keep it.
//!
//! `event open(file);` is the event `open` of the trace with an argument `file`. Given other names, it is written
//! `event open(f) = open(file: f);`, if `open` is declared. Undeclared events have arguments by name in some traces and by position in
//! others; no `=` says both.

use crate::document::Document;
use tracewise::language::ast::DeclarationKind;
use tracewise::language::ast::monitor::{Event, ItemKind, Monitor};
use tracewise::language::{Name, NameKind, WordKind, is_plain_name};

/// A renaming.
pub struct Renaming<'a> {
    /// What is renamed.
    pub old: &'a Name,
    /// Its new name.
    pub new: &'a str,
}

impl Renaming<'_> {
    /// A name as it is afterwards, if it is what the condition says.
    fn of<'n>(&'n self, ident: &'n str, it: bool) -> &'n str {
        if it && ident == self.old.name { self.new } else { ident }
    }
}

/// What is to be inserted so that all events of monitors stay what they are in the trace, with the places; or why that is not possible.
pub fn kept(document: &Document, renaming: &Renaming<'_>) -> Result<Vec<(usize, String)>, String> {
    let mut found = Vec::new();
    for (index, declaration) in document.look().tree.declarations.iter().enumerate() {
        let DeclarationKind::Monitor(monitor) = &declaration.kind else { continue };
        for item in &monitor.items {
            let event = match &item.kind {
                ItemKind::Event { event, .. } => event,
                // It is the event of the monitor, which says what it is.
                ItemKind::End(end) if end.when.is_none() && owns(monitor, &end.name.name) => continue,
                ItemKind::End(end) => end,
                _ => continue,
            };
            if event.source.is_none()
                && let Some(source) = source(document, (index, event), renaming)?
            {
                found.push((behind(document, event), format!(" = {source}")));
            }
        }
    }
    Ok(found)
}

fn owns(monitor: &Monitor, name: &str) -> bool {
    let own = |kind: &ItemKind| matches!(kind, ItemKind::Event { event, .. } if event.name.name == name);
    monitor.items.iter().any(|item| own(&item.kind))
}

/// What has to stand behind the `=` of an event that has none, if it needs one.
fn source(
    document: &Document,
    (monitor, event): (usize, &Event),
    renaming: &Renaming<'_>,
) -> Result<Option<String>, String> {
    let (old, name) = (renaming.old, event.name.name.as_str());
    let declarations = &document.look().tree.declarations;
    let declared = declarations.iter().enumerate().find_map(|(index, declaration)| match &declaration.kind {
        DeclarationKind::Event { name: own, parameters, .. } if own.name == name => Some((index, parameters)),
        _ => None,
    });
    let here = old.declaration == Some(monitor);
    let (local, parameter) =
        (here && old.kind == NameKind::MonitorEvent, here && old.kind == NameKind::MonitorParameter);
    let global = old.kind == NameKind::Event && declared.is_some();
    let field =
        old.kind == NameKind::Field && declared.is_some_and(|(index, _)| old.declaration == Some(index));
    let named = (local || global) && old.name == name;
    let takes = event.parameters.iter().any(|own| own.name == old.name);
    if !(named || parameter && takes || field) {
        return Ok(None);
    }
    let trace = written(renaming.of(name, global));
    if event.parameters.is_empty() {
        return Ok(named.then_some(trace));
    }
    let Some((_, fields)) = declared else {
        let list: Vec<String> = event.parameters.iter().map(|own| written(&own.name)).collect();
        return Err(format!(
            "by its name `{}` says what `{}` reads from the trace; write `event {}({});` as a declaration of its own before this monitor, \
             and it can be renamed",
            old.name,
            name,
            written(name),
            list.join(", ")
        ));
    };
    // By name if all have the names of arguments, else by position, before and after.
    let places = |parameters: &[&str], fields: &[&str]| -> Vec<usize> {
        let place = |own: &&str| fields.iter().position(|field| field == own);
        let by_name: Option<Vec<usize>> = parameters.iter().map(place).collect();
        by_name.unwrap_or_else(|| (0..parameters.len()).collect())
    };
    let parameters: Vec<&str> = event.parameters.iter().map(|own| own.name.as_str()).collect();
    let fields: Vec<&str> = fields.iter().map(|(own, _)| own.name.as_str()).collect();
    let before = places(&parameters, &fields);
    let now: Vec<&str> = parameters.iter().map(|own| renaming.of(own, parameter)).collect();
    let labels: Vec<&str> = fields.iter().map(|own| renaming.of(own, field)).collect();
    let fits = now.len() == labels.len() || now.iter().all(|own| labels.contains(own));
    if !named && fits && places(&now, &labels) == before {
        return Ok(None);
    }
    let one =
        |(place, own): (&usize, &&str)| Some(format!("{}: {}", written(labels.get(*place)?), written(own)));
    let list: Option<Vec<String>> = before.iter().zip(&now).map(one).collect();
    Ok(list.map(|list| format!("{trace}({})", list.join(", "))))
}

/// Where the parameters of an event end.
fn behind(document: &Document, event: &Event) -> usize {
    let mut words = document.words().iter();
    let last = event.parameters.last().map_or(event.name.span, |own| own.span);
    let closing = words.find(|own| {
        own.span.start >= last.end && own.kind != WordKind::Comment && document.slice(own.span) == ")"
    });
    match closing.filter(|_| !event.parameters.is_empty()) {
        Some(closing) => closing.span.end as usize,
        None => last.end as usize,
    }
}

fn written(name: &str) -> String {
    if is_plain_name(name) { name.to_owned() } else { format!("`{}`", name.replace('`', "``")) }
}

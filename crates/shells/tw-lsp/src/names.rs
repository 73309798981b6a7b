//! Where names are declared and used, and how they are renamed.

use crate::document::{Document, Encoding};
use crate::sources::{self, Renaming};
use serde_json::{Value, json};
use tracewise::language::ast::DeclarationKind;
use tracewise::language::{Look, NameKind, Names, Use, is_plain_name, look};

/// Where the name at `offset` is declared.
pub fn definition(document: &Document, offset: usize, encoding: Encoding) -> Value {
    let names = &document.look().names;
    match names.at(offset as u32).and_then(|found| names.list[found.name].declared) {
        Some(span) => json!({"uri": document.uri, "range": document.range(span, encoding)}),
        None => Value::Null,
    }
}

/// Where the name at `offset` stands.
pub fn references(document: &Document, offset: usize, declared: bool, encoding: Encoding) -> Value {
    let names = &document.look().names;
    let Some(found) = names.at(offset as u32) else { return json!([]) };
    let place = names.list[found.name].declared;
    let wanted = |own: &&Use| declared || Some(own.span) != place;
    names
        .uses_of(found.name)
        .filter(wanted)
        .map(|own| json!({"uri": document.uri, "range": document.range(own.span, encoding)}))
        .collect()
}

/// The same, to be highlighted.
pub fn highlights(document: &Document, offset: usize, encoding: Encoding) -> Value {
    let names = &document.look().names;
    let Some(found) = names.at(offset as u32) else { return json!([]) };
    names.uses_of(found.name).map(|own| json!({"range": document.range(own.span, encoding)})).collect()
}

/// What can be renamed at `offset`, and its name as it stands.
pub fn prepare(document: &Document, offset: usize, encoding: Encoding) -> Value {
    let names = &document.look().names;
    match names.at(offset as u32).filter(|found| names.list[found.name].kind != NameKind::Library) {
        Some(found) => json!({
            "range": document.range(found.span, encoding),
            "placeholder": names.list[found.name].name,
        }),
        None => Value::Null,
    }
}

/// The edits that give the name at `offset` another one, or why that is not possible.
pub fn rename(document: &Document, offset: usize, new: &str, encoding: Encoding) -> Result<Value, String> {
    let before = document.look();
    let found = before.names.at(offset as u32).ok_or("there is no name here")?;
    let old = &before.names.list[found.name];
    if old.kind == NameKind::Library {
        return Err(format!("`{}` is a word of the language", old.name));
    }
    let open = old.kind == NameKind::Trace;
    let quoted = open && !new.is_empty() && !new.contains(['\n', '`']);
    if !is_plain_name(new) && !quoted {
        return Err(format!("`{new}` is not a name: names begin with a letter, and operators are none"));
    }
    let written = if is_plain_name(new) { new.to_owned() } else { format!("`{new}`") };
    let uses = before.names.uses_of(found.name);
    let mut edits: Vec<(usize, usize, String)> =
        uses.map(|own| (own.span.start as usize, own.span.end as usize, written.clone())).collect();
    let kept = sources::kept(document, &Renaming { old, new })?;
    edits.extend(kept.into_iter().map(|(at, text)| (at, at, text)));
    edits.sort();
    let (mut text, mut added, mut rest) = (String::new(), Vec::new(), 0);
    for (start, end, new) in &edits {
        text.push_str(&document.text[rest..*start]);
        if start == end {
            added.push((text.len(), text.len() + new.len()));
        }
        text.push_str(new);
        rest = *end;
    }
    text.push_str(&document.text[rest..]);
    // Read anew, every name has to stand for what it stood for.
    let mut after = look(&document.name(), &text);
    let inside = |own: &Use| added.iter().any(|(from, to)| (*from..*to).contains(&(own.span.start as usize)));
    after.names.uses.retain(|own| !inside(own));
    if let Some(other) = clash(before, &after, found.name, new) {
        return Err(other);
    }
    let edit = |(start, end, new): &(usize, usize, String)| json!({"range": document.between(*start, *end, encoding), "newText": new});
    let edits: Vec<Value> = edits.iter().map(edit).collect();
    Ok(json!({"changes": {document.uri.as_str(): edits}}))
}

/// What would change its meaning with the renaming.
fn clash(before: &Look, after: &Look, renamed: usize, new: &str) -> Option<String> {
    let taken = || format!("`{new}` means something else here already");
    if before.names.uses.len() != after.names.uses.len() || after.diagnostics.len() > before.diagnostics.len()
    {
        return Some(taken());
    }
    // The same uses stand for the same names, whatever their numbers.
    let mut partner: Vec<Option<usize>> = vec![None; before.names.list.len()];
    let mut back: Vec<Option<usize>> = vec![None; after.names.list.len()];
    for (old, now) in before.names.uses.iter().zip(&after.names.uses) {
        let (a, b) = (partner[old.name].get_or_insert(now.name), back[now.name].get_or_insert(old.name));
        let kinds = before.names.list[old.name].kind == after.names.list[now.name].kind;
        if *a != now.name || *b != old.name || !kinds {
            return Some(taken());
        }
    }
    let name = partner[renamed].map(|name| after.names.list[name].name.as_str());
    (name != Some(new)).then(taken)
}

/// The declarations of a document.
pub fn symbols(document: &Document, encoding: Encoding) -> Value {
    let look = document.look();
    let Names { list, .. } = &look.names;
    let mut out = Vec::new();
    for (index, declaration) in look.tree.declarations.iter().enumerate() {
        use DeclarationKind as K;
        let (detail, kind) = match &declaration.kind {
            K::Let { .. } => ("let", 12),
            K::Event { .. } => ("event", 24),
            K::Var { .. } => ("var", 13),
            K::Stream { .. } => ("stream", 13),
            K::Property { .. } => ("property", 7),
            K::Query { .. } => ("query", 7),
            K::Require { .. } => ("require", 7),
            K::Trigger { .. } => ("trigger", 24),
            K::Monitor(_) => ("monitor", 5),
            K::Chart(_) => ("chart", 11),
            _ => continue,
        };
        let global =
            |name: &&tracewise::language::Name| name.declaration == Some(index) && name.inside.is_none();
        let Some((name, span)) = list.iter().find(global).and_then(|name| Some((&name.name, name.declared?)))
        else {
            continue;
        };
        // A name that the client shows may not be empty.
        if name.is_empty() {
            continue;
        }
        out.push(json!({
            "name": name,
            "detail": detail,
            "kind": kind,
            "range": document.range(declaration.span.to(span), encoding),
            "selectionRange": document.range(span, encoding),
        }));
    }
    Value::Array(out)
}

//! Names for the placeholders of templates, from what stands before them and from their values.

use rustc_hash::FxHashMap;
use tw_ir::{Piece, Take, Template};

/// Names that mean something else in a text log.
const TAKEN: [&str; 10] =
    ["text", "time", "event", "facility", "severity", "host", "app", "pid", "msgid", "message"];
/// Words before a placeholder that do not say what it is.
const SMALL: [&str; 22] = [
    "for", "from", "of", "the", "to", "in", "on", "at", "by", "is", "was", "a", "an", "with", "and", "as",
    "it", "has", "had", "are", "be", "or",
];

/// Gives the placeholders of a template names. One name means values of one type in all templates, so that it can be a column.
pub(super) fn rename(template: &mut Template, values: &[Vec<String>], kinds: &mut FxHashMap<String, u8>) {
    let mut before = String::new();
    let mut own: Vec<String> = Vec::new();
    let mut number = 0;
    for piece in &mut template.pieces {
        let (name, take) = match piece {
            Piece::Literal(text) => {
                before.clone_from(text);
                continue;
            }
            Piece::Placeholder { name: Some(name), take, .. } => (name, *take),
            Piece::Placeholder { .. } => continue,
        };
        let values = values.get(number).map_or(&[][..], Vec::as_slice);
        number += 1;
        let base = by_values(values).or_else(|| by_word(&before)).unwrap_or_else(|| name.clone());
        let base = if TAKEN.contains(&base.as_str()) { format!("{base}_here") } else { base };
        let kind = match take {
            Take::Int => 0,
            Take::Real => 1,
            Take::Run | Take::Words | Take::Rest => 2,
        };
        let mut count = 1;
        let found = loop {
            let name = if count == 1 { base.clone() } else { format!("{base}{count}") };
            let fits = kinds.get(&name).is_none_or(|known| *known == kind);
            if fits && !own.contains(&name) && tw_spec::is_plain_name(&name) {
                break name;
            }
            count += 1;
        };
        kinds.insert(found.clone(), kind);
        own.push(found.clone());
        *name = found;
        before.clear();
    }
}

/// What the values look like.
fn by_values(values: &[String]) -> Option<String> {
    let all = |which: &dyn Fn(&str) -> bool| !values.is_empty() && values.iter().all(|value| which(value));
    let address = |value: &str| {
        let inner = value.trim_start_matches('/').split(':').next().unwrap_or_default();
        inner.split('.').count() == 4 && inner.split('.').all(|part| part.parse::<u8>().is_ok())
    };
    if all(&address) {
        return Some("ip".into());
    }
    if all(&|value| value.len() > 1 && value.starts_with('/')) {
        return Some("path".into());
    }
    // `blk_123`, `attempt_0_1` and `app-12` say what they are.
    let lead = |value: &str| {
        let letters = value.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(0);
        let joined = value[letters..].starts_with(['_', '-']) && letters > 1;
        joined.then(|| value[..letters].to_ascii_lowercase())
    };
    let first = values.first().and_then(|value| lead(value))?;
    all(&|value| lead(value).as_ref() == Some(&first)).then_some(first)
}

/// The word before it, if it says something.
fn by_word(before: &str) -> Option<String> {
    let text = before.trim_end_matches(|c: char| !c.is_alphanumeric());
    let start = text
        .rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    let word = text[start..].trim_matches('_').to_ascii_lowercase();
    let says = word.len() > 1 && word.len() <= 20 && !SMALL.contains(&word.as_str());
    (says && word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.is_ascii()).then_some(word)
}

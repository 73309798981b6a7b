//! Text logs: their templates are the events, and what is proposed is what these do in the order of the lines.

use super::candidates::{Candidate, Kind};
use super::pairs::{Pair, pairs};
use super::{Draft, Writer, choose, names};
use crate::Error;
use crate::run::open::Opened;
use crate::templates::{FoundTemplate, TemplatesOptions, texts};
use rustc_hash::FxHashMap;
use std::fmt::Write as _;
use tw_ir::{Take, Template};
use tw_trace::{Templates, find_template};

/// Templates that are looked at.
const LOOKED: usize = 60;
/// Events that are declared although no property uses them.
const DECLARED: usize = 12;
/// Lines whose values are remembered.
const SAMPLE: usize = 20_000;
/// Values of a parameter by which it is named.
const VALUES: usize = 8;
/// Words of lines that nobody wants to see.
const BAD: [&str; 12] = [
    "panic",
    "fatal",
    "emergency",
    "critical",
    "segfault",
    "out of memory",
    "deadlock",
    "corrupt",
    "core dumped",
    "stack overflow",
    "exception",
    "error",
];

/// An event of a text log.
pub(super) struct Event {
    /// Its name as formulas write it.
    pub word: String,
    /// Its name in the names of properties.
    pub name: String,
    pub declaration: String,
    pub example: String,
    pub lines: u64,
    pub template: Template,
    /// What it was found as.
    found: FoundTemplate,
    /// Of each parameter, a few values.
    values: Vec<Vec<String>>,
    /// Its parameters that may be identifiers: their number among all, and in which lines of the sample they had which value.
    pub keys: Vec<Key>,
}

/// A parameter that may be an identifier.
pub(super) struct Key {
    pub number: usize,
    piece: usize,
    pub seen: Vec<(u32, Box<str>)>,
}

impl Event {
    fn new(found: &FoundTemplate) -> Option<Self> {
        let template = Template::parse(&found.text).ok()?;
        let named = template.placeholders().filter(|(_, name, _)| name.is_some()).enumerate();
        let is_key = |take: Take| matches!(take, Take::Run | Take::Int);
        let keys = named
            .filter(|(_, (_, _, take))| is_key(*take))
            .map(|(number, (piece, ..))| Key { number, piece, seen: Vec::new() })
            .collect();
        Some(Self {
            word: super::candidates::word(&found.event),
            name: super::candidates::plain(&found.event),
            declaration: found.declaration()?,
            example: found.example.clone(),
            lines: found.lines,
            values: vec![Vec::new(); template.placeholders().filter(|(_, name, _)| name.is_some()).count()],
            found: found.clone(),
            template,
            keys,
        })
    }

    /// Gives its parameters names that say something.
    fn rename(&mut self, kinds: &mut FxHashMap<String, u8>) {
        names::rename(&mut self.template, &self.values, kinds);
        self.found.text = self.template.to_string();
        if let Some(declaration) = self.found.declaration() {
            self.declaration = declaration;
        }
    }

    /// The event with its `number`-th parameter called `x`.
    fn with(&self, number: usize) -> String {
        let count = self.template.placeholders().filter(|(_, name, _)| name.is_some()).count();
        let parameter = |at: usize| if at == number { "x" } else { "_" };
        let parameters: Vec<&str> = (0..count).map(parameter).collect();
        format!("{}({})", self.word, parameters.join(", "))
    }
}

/// A first specification of a text log.
pub(super) fn init(mut draft: Writer<'_>) -> Result<Draft, Error> {
    let found = draft.session.templates(draft.files, &TemplatesOptions::default())?;
    let all = found.templates.len();
    draft.events = found.templates.iter().take(LOOKED).filter_map(Event::new).collect();
    look(&mut draft)?;
    let mut kinds = FxHashMap::default();
    draft.events.iter_mut().for_each(|event| event.rename(&mut kinds));
    let absent = absent(&draft)?;
    draft.told = draft.events.iter().map(|event| format!("{}\n", event.declaration)).collect();
    let mut candidates = propose(&draft.events);
    candidates.extend(absent);
    if all <= DECLARED && draft.events.len() == all {
        candidates.push(known(&draft.events));
    }
    // What is likeliest to matter first; those of one kind stay in their order.
    candidates.sort_by_key(|candidate| candidate.kind as u8);
    let kept = draft.holding(&candidates);
    let (chosen, rest) = choose(kept);
    draft.write(&chosen, &rest);
    Ok(Draft { text: draft.text, properties: chosen.len() })
}

/// Notes the values of parameters in the first lines.
fn look(draft: &mut Writer<'_>) -> Result<(), Error> {
    let mut opened = Opened::new(&draft.session, draft.files)?;
    let (mut text, mut ends) = (String::new(), Vec::new());
    texts(&draft.session, &mut opened, "text", &mut |own| {
        if text.len() + own.len() <= u32::MAX as usize {
            text.push_str(own);
        }
        ends.push(text.len() as u32);
        ends.len() < SAMPLE
    })?;
    let templates: Vec<Template> = draft.events.iter().map(|event| event.template.clone()).collect();
    let hits = Templates::new(&templates).find(&text, &ends);
    for (event, lines) in draft.events.iter_mut().zip(hits) {
        for line in lines {
            let start = if line == 0 { 0 } else { ends[line as usize - 1] as usize };
            let own = &text[start..ends[line as usize] as usize];
            let Some(taken) = find_template(&event.template, own) else { continue };
            let named = event.template.placeholders().filter(|(_, name, _)| name.is_some());
            for ((piece, ..), values) in named.zip(&mut event.values) {
                if let Some((_, at)) =
                    taken.iter().find(|(own, _)| *own == piece).filter(|_| values.len() < VALUES)
                {
                    values.push(own[at.clone()].to_string());
                }
            }
            for key in &mut event.keys {
                if let Some((_, at)) = taken.iter().find(|(piece, _)| *piece == key.piece) {
                    key.seen.push((line, own[at.clone()].into()));
                }
            }
        }
    }
    Ok(())
}

/// What the events could do.
fn propose(events: &[Event]) -> Vec<Candidate> {
    let mut found = Vec::new();
    for Pair { first, second, keys, response, precedence } in pairs(events) {
        let (a, b) = (&events[first], &events[second]);
        let (before, after, of) = match keys {
            Some((one, other)) => (a.with(one), b.with(other), " of the same"),
            None => (a.word.clone(), b.word.clone(), ""),
        };
        let each = if keys.is_some() { "forall x. " } else { "" };
        if response {
            found.push(Candidate {
                kind: Kind::Response,
                name: format!("{}_then_{}", a.name, b.name),
                title: format!("after {} comes {}{of}", a.name, b.name),
                formula: format!("G {}", body(each, &before, &format!("F {after}"))),
                why: format!("{} of the first kind, each followed by one of the second{of}", lines(a.lines)),
                response: Some((a.word.clone(), b.word.clone())),
            });
        }
        if precedence {
            found.push(Candidate {
                kind: Kind::Precedence,
                name: format!("{}_before_{}", a.name, b.name),
                title: format!("no {} without {}{of} before it", b.name, a.name),
                formula: format!("G {}", body(each, &after, &format!("O {before}"))),
                why: format!("{} of the second kind, each after one of the first{of}", lines(b.lines)),
                response: None,
            });
        }
    }
    found.extend(events.iter().take(3).map(|event| Candidate::occurs(&event.name, &event.word)));
    found
}

fn lines(count: u64) -> String {
    if count == 1 { "1 line".into() } else { format!("{count} lines") }
}

fn body(each: &str, left: &str, right: &str) -> String {
    match each.is_empty() {
        true => format!("({left} -> {right})"),
        false => format!("{each}{left} -> {right}"),
    }
}

/// That no line has a word of those that no line has.
fn absent(draft: &Writer<'_>) -> Result<Option<Candidate>, Error> {
    let mut words: Vec<&str> = BAD.to_vec();
    let mut opened = Opened::new(&draft.session, draft.files)?;
    texts(&draft.session, &mut opened, "text", &mut |text| {
        let lower = text.to_ascii_lowercase();
        words.retain(|word| !lower.contains(word));
        !words.is_empty()
    })?;
    words.truncate(6);
    let Some((last, others)) = words.split_last() else { return Ok(None) };
    let said = match others.is_empty() {
        true => (*last).to_string(),
        false => format!("{} or {last}", others.join(", ")),
    };
    Ok(Some(Candidate {
        kind: Kind::Absence,
        name: "nothing_bad".into(),
        title: format!("no line says {said}"),
        formula: format!("G !(text matches {})", tw_ir::quote(&format!("(?i){}", words.join("|")))),
        why: "no line says so yet; add the words that matter here".into(),
        response: None,
    }))
}

/// That every line is of a kind that was seen.
fn known(events: &[Event]) -> Candidate {
    let words: Vec<&str> = events.iter().map(|event| event.word.as_str()).collect();
    Candidate {
        kind: Kind::Known,
        name: "known".into(),
        title: "every line is of a kind that was seen".into(),
        formula: format!("G ({})", words.join(" | ")),
        why: "a line of another kind is worth a look".into(),
        response: None,
    }
}

/// Writes the declarations: of the most frequent events, and of those that properties use.
pub(super) fn declare(draft: &mut Writer<'_>, chosen: &[Candidate], rest: &[Candidate]) {
    let uses = |event: &Event| {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let all = chosen.iter().chain(rest);
        all.into_iter().any(|one| {
            event.word.starts_with('`') && one.formula.contains(&event.word)
                || one.formula.split(|c| !is_part(c)).any(|part| part == event.word)
        })
    };
    let mut wrote = 0;
    for (number, event) in draft.events.iter().enumerate() {
        if number >= DECLARED && !uses(event) {
            continue;
        }
        let example = crate::findings::words::clip(&crate::findings::words::printable(&event.example), 100);
        let _ = writeln!(draft.text, "// {}: {example}\n{}", lines(event.lines), event.declaration);
        wrote += 1;
    }
    let left = draft.events.len() - wrote;
    if left > 0 {
        let _ = writeln!(draft.text, "// and {left} more: tracewise templates prints them all");
    }
    draft.text.push('\n');
}

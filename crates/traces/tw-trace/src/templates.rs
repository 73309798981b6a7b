//! Events that are templates of texts ([`TextEvent`]), and their placeholders as columns.
//!
//! No format knows of them. A projection with templates is divided ([`Derivation`]): a format reads the slots that are its own
//! and, once for each text that templates look at, that text ([`Expect::Line`]); the slots of templates are then filled from it,
//! batch by batch, on the thread that read the batch.

mod choice;
mod columns;
mod grams;
mod matcher;
mod one;
#[cfg(test)]
mod tests;

use crate::{Exact, Projection, TraceError, TraceWarning, TraceWarningKind};
pub(crate) use columns::value;
use columns::{Asked, Column};
use matcher::{Hits, Matcher};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tw_core::Batch;
use tw_ir::{Expect, Path, Slot, SlotId, Template, TextEvent, What};

/// Texts that are remembered, to show one that is near a template that matches none.
const REMEMBERED: usize = 256;
/// And characters of each.
const SHOWN: usize = 160;
/// Marks the slots of errors that do not come from the format.
const OWN: SlotId = 1 << 31;

/// How a projection with templates is read.
#[derive(Clone, Debug)]
pub(crate) struct Derivation {
    /// What the format is asked for.
    pub reading: Projection,
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    sources: Vec<Source>,
    /// Of each slot, where it comes from; the key, if there is one, is the last.
    asked: Vec<Asked>,
    /// Of each slot that the format reads, which of the program's it is, or is read for.
    slots: Vec<SlotId>,
    seen: Seen,
}

/// A text that templates look at.
#[derive(Debug)]
struct Source {
    /// The slot that it is read by.
    slot: usize,
    matcher: Matcher,
    /// Which of the projection's templates look at it.
    templates: Vec<usize>,
}

/// What was seen of templates so far.
#[derive(Debug, Default)]
struct Seen {
    names: Vec<(String, Vec<String>)>,
    /// The first slot that asks for the event of each template.
    slots: Vec<Option<SlotId>>,
    matched: Vec<AtomicBool>,
    near: Vec<Mutex<Option<String>>>,
    texts: Mutex<Vec<String>>,
    /// Names of the columns in which templates disagreed.
    disagree: Mutex<Vec<String>>,
}

impl Derivation {
    /// How a projection is read; `None` if nothing in it comes from templates.
    pub fn of(projection: &Projection) -> Option<Self> {
        let templates = &projection.templates;
        let key = projection.key.as_ref().filter(|key| names(templates, &key.path));
        let derived = |slot: &Slot| templates.iter().any(|template| template.serves(&slot.what));
        if templates.is_empty() || key.is_none() && !projection.slots.iter().any(derived) {
            return None;
        }
        let (mut reading, mut slots) = (Vec::new(), Vec::new());
        let mut sources: Vec<(Path, Source)> = Vec::new();
        let mut asked = Vec::new();
        let used: Vec<bool> = templates
            .iter()
            .map(|template| {
                let column = key.and_then(|key| key.path.as_name());
                column.is_some_and(|name| template.template.named(name).is_some())
                    || projection.slots.iter().any(|slot| template.serves(&slot.what))
            })
            .collect();
        // Sources first: where a template stands among those of its text.
        let mut places = vec![(0, 0); templates.len()];
        for (number, template) in templates.iter().enumerate().filter(|(number, _)| used[*number]) {
            let known = sources.iter().position(|(path, _)| *path == template.source);
            let source = known.unwrap_or_else(|| {
                let source =
                    Source { slot: 0, matcher: Matcher::new(std::iter::empty()), templates: Vec::new() };
                sources.push((template.source.clone(), source));
                sources.len() - 1
            });
            places[number] = (source, sources[source].1.templates.len());
            sources[source].1.templates.push(number);
        }
        for (id, slot) in projection.slots.iter().enumerate() {
            asked.push(Asked::new(&slot.what, templates, &places).unwrap_or_else(|| {
                reading.push(slot.clone());
                slots.push(id as SlotId);
                Asked::Read(reading.len() - 1)
            }));
        }
        for (path, source) in &mut sources {
            source.slot = reading.len();
            let first = projection
                .slots
                .iter()
                .position(|slot| source.templates.iter().any(|&number| templates[number].serves(&slot.what)));
            let span = source.templates.first().map(|&number| templates[number].span).unwrap_or_default();
            reading.push(Slot { what: What::Variable(path.clone(), Expect::Line), declared: false, span });
            slots.push(first.unwrap_or(0) as SlotId);
            source.matcher = Matcher::new(source.templates.iter().map(|&number| &templates[number].template));
        }
        let own_key = key.and_then(|key| key.path.as_name());
        match (own_key, &projection.key) {
            (Some(name), _) => {
                asked.extend(Column::new(name, Expect::Text, templates, &places).map(Asked::Key))
            }
            (None, Some(_)) => asked.push(Asked::Read(reading.len())),
            (None, None) => {}
        }
        let first_slot = |template: &TextEvent| {
            let event = |what: &What| match what {
                What::Event { name, .. } | What::Tuples { name, .. } => *name == template.name,
                _ => false,
            };
            projection.slots.iter().position(|slot| event(&slot.what)).map(|at| at as SlotId)
        };
        let seen = Seen {
            names: templates.iter().map(|own| (own.name.clone(), words(own))).collect(),
            slots: templates.iter().map(first_slot).collect(),
            matched: templates.iter().map(|_| AtomicBool::new(false)).collect(),
            near: templates.iter().map(|_| Mutex::default()).collect(),
            ..Seen::default()
        };
        let bare = |&(_, id): &(usize, &SlotId)| projection.bare.contains(id);
        let exact = |exact: &Exact| {
            let slot = slots.iter().position(|id| *id == exact.slot)? as SlotId;
            Some(Exact { slot, ..exact.clone() })
        };
        let reading = Projection {
            exact: projection.exact.iter().filter_map(exact).collect(),
            bare: slots.iter().enumerate().filter(bare).map(|(own, _)| own as SlotId).collect(),
            slots: reading.into(),
            key: projection.key.clone().filter(|_| own_key.is_none()),
            times: projection.times,
            templates: [].into(),
        };
        let sources = sources.into_iter().map(|(_, source)| source).collect();
        Some(Self { reading, inner: Arc::new(Inner { sources, asked, slots, seen }) })
    }

    /// The batch that was asked for, from what the format read.
    pub fn derive(&self, mut batch: Batch) -> Batch {
        let inner = &*self.inner;
        let nothing = || tw_core::Column::Any(Vec::new());
        let mut texts = |source: &Source| {
            columns::Texts::new(std::mem::replace(&mut batch.slots[source.slot], nothing()))
        };
        let texts: Vec<columns::Texts> = inner.sources.iter().map(&mut texts).collect();
        let hits: Vec<Vec<Hits>> =
            inner.sources.iter().zip(&texts).map(|(source, texts)| texts.run(&source.matcher)).collect();
        for ((source, texts), hits) in inner.sources.iter().zip(&texts).zip(&hits) {
            inner.seen.note(source, texts, hits);
        }
        let expanded: Vec<Vec<Hits>> =
            texts.iter().zip(hits).map(|(texts, hits)| texts.expand(hits)).collect();
        let slots = inner
            .asked
            .iter()
            .map(|asked| asked.column(&mut batch, &texts, &expanded, &inner.seen.disagree))
            .collect();
        Batch { len: batch.len, slots, times: batch.times.take() }
    }

    /// An error of the format, about the program's slot.
    pub fn error(&self, mut error: TraceError) -> TraceError {
        error.slot = error.slot.and_then(|slot| match slot & OWN {
            0 => self.inner.slots.get(slot as usize).copied(),
            _ => Some(slot & !OWN),
        });
        error
    }

    /// An error that passes through the format, and is about the program's slot as it is.
    pub fn own(mut error: TraceError) -> TraceError {
        error.slot = error.slot.map(|slot| slot | OWN);
        error
    }

    /// The format's warnings about the program's slots, and those about templates.
    pub fn warnings(&self, mut warnings: Vec<TraceWarning>, positions: u64) -> Vec<TraceWarning> {
        for warning in &mut warnings {
            warning.slot = warning.slot.and_then(|slot| self.inner.slots.get(slot as usize).copied());
        }
        if positions > 0 {
            warnings.extend(self.inner.seen.warnings());
        }
        warnings
    }

    /// Which templates have matched, as a checkpoint keeps it.
    pub fn matched(&self) -> Vec<bool> {
        self.inner.seen.matched.iter().map(|own| own.load(Ordering::Relaxed)).collect()
    }

    /// Notes that templates matched before.
    pub fn note_matched(&self, matched: impl Iterator<Item = bool>) {
        for (own, matched) in self.inner.seen.matched.iter().zip(matched) {
            own.fetch_or(matched, Ordering::Relaxed);
        }
    }
}

/// Templates that are looked for together, in many texts at once.
#[derive(Debug)]
pub struct Templates(Matcher);

impl Templates {
    /// Made ready.
    pub fn new(templates: &[Template]) -> Self {
        Self(Matcher::new(templates.iter()))
    }

    /// Of each template, the numbers of the texts that contain it. Texts are laid end to end; `ends` says where each ends.
    pub fn find(&self, text: &str, ends: &[u32]) -> Vec<Vec<u32>> {
        self.0.run(text.as_bytes(), ends).into_iter().map(|hits| hits.lines).collect()
    }
}

/// Whether a text contains a template: of each of its pieces that is a placeholder, where what it takes stands.
pub fn find_template(template: &Template, text: &str) -> Option<Vec<(usize, Range<usize>)>> {
    let (one, mut scratch) = (one::One::new(template), one::Scratch::default());
    if text.is_empty() || !one.find(text.as_bytes(), &mut scratch) {
        return None;
    }
    let taken = |(piece, ..): (usize, Option<&str>, tw_ir::Take)| {
        let (start, end) = scratch.spans[piece];
        (piece, start as usize..end as usize)
    };
    Some(template.placeholders().map(taken).collect())
}

/// Whether a path is a placeholder of one of the templates.
fn names(templates: &[TextEvent], path: &Path) -> bool {
    path.as_name().is_some_and(|name| templates.iter().any(|own| own.template.named(name).is_some()))
}

/// The words of a template's literals.
fn words(own: &TextEvent) -> Vec<String> {
    let literals = own.template.pieces.iter().filter_map(|piece| match piece {
        tw_ir::Piece::Literal(text) => Some(text),
        tw_ir::Piece::Placeholder { .. } => None,
    });
    let words = literals.flat_map(|text| text.split(|c: char| !c.is_alphanumeric()));
    words.filter(|word| word.len() > 1).map(str::to_lowercase).collect()
}

impl Seen {
    fn note(&self, source: &Source, texts: &columns::Texts, hits: &[Hits]) {
        let shown = |text: &str| text.chars().take(SHOWN).collect::<String>();
        for (&template, hits) in source.templates.iter().zip(hits) {
            if self.matched[template].load(Ordering::Relaxed) {
                continue;
            }
            if !hits.lines.is_empty() {
                self.matched[template].store(true, Ordering::Relaxed);
            } else if let Some(near) = hits.near {
                lock(&self.near[template]).get_or_insert_with(|| shown(texts.get(near as usize)));
            }
        }
        if source.templates.iter().all(|&template| self.matched[template].load(Ordering::Relaxed)) {
            return;
        }
        let mut kept = lock(&self.texts);
        let room = REMEMBERED.saturating_sub(kept.len());
        kept.extend(
            (0..texts.len()).map(|at| texts.get(at)).filter(|text| !text.is_empty()).map(shown).take(room),
        );
    }

    fn warnings(&self) -> Vec<TraceWarning> {
        let mut warnings = Vec::new();
        let kept = lock(&self.texts);
        for (template, (name, words)) in self.names.iter().enumerate() {
            let Some(slot) = self.slots[template] else { continue };
            if self.matched[template].load(Ordering::Relaxed) {
                continue;
            }
            let common = |text: &String| {
                let lower = text.to_lowercase();
                words.iter().filter(|word| lower.contains(word.as_str())).count()
            };
            let near = lock(&self.near[template]).clone();
            // The first of the nearest.
            let nearest =
                || kept.iter().rev().max_by_key(|text| common(text)).filter(|text| common(text) > 0);
            let hint = match near.as_ref().or_else(nearest) {
                Some(text) => format!("; the nearest line is `{}`", text.escape_debug()),
                None => String::new(),
            };
            let message = format!("no line contains the template of `{name}`{hint}");
            warnings.push(TraceWarning { message, slot: Some(slot), kind: TraceWarningKind::NeverOccurs });
        }
        for name in lock(&self.disagree).iter() {
            let message = format!(
                "templates give `{name}` different values on one line; the column has those of the template declared first"
            );
            warnings.push(TraceWarning { message, slot: None, kind: TraceWarningKind::TemplatesDisagree });
        }
        warnings
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

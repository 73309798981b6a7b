//! The columns of slots that come from templates.

use super::lock;
use super::matcher::{Hits, Matcher};
use crate::slots::TupleBuilder;
use crate::{ColumnBuilder, equals, expect_of};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Mutex;
use tw_core::{Batch, Bits, Column as Delivered, Value};
use tw_ir::{ArgumentKey, Expect, Take, TextEvent, What};

/// Where a template is: the text it looks at, and its number among the templates of that text.
pub(super) type Place = (usize, usize);

/// What a slot asks for.
#[derive(Debug)]
pub(super) enum Asked {
    /// A column that the format reads.
    Read(usize),
    /// Whether the event happens, with these values.
    Event { at: Place, constants: Vec<(usize, Take, Value)> },
    /// The values of placeholders where the event happens with these.
    Tuples { at: Place, constants: Vec<(usize, Take, Value)>, pieces: Vec<(usize, Take)> },
    /// A placeholder as a column.
    Column(Column),
    /// A placeholder as the key: its text as it is written.
    Key(Column),
}

/// A placeholder as a column: the templates that have it, in the order of their declaration.
#[derive(Debug)]
pub(super) struct Column {
    name: String,
    expect: Expect,
    uses: Vec<(Place, usize, Take)>,
}

impl Column {
    /// The column of a name, if it is a placeholder. Templates in which it is of another type than in the first are left out.
    pub fn new(name: &str, expect: Expect, templates: &[TextEvent], places: &[Place]) -> Option<Self> {
        let all = templates.iter().zip(places);
        let mut uses: Vec<(Place, usize, Take)> = all
            .filter_map(|(own, &at)| own.template.named(name).map(|(piece, take)| (at, piece, take)))
            .collect();
        let first = kind(uses.first()?.2);
        uses.retain(|(_, _, take)| kind(*take) == first);
        Some(Self { name: name.to_owned(), expect, uses })
    }

    /// The template's hit at each position that has one, the first declared of several; whether they agree.
    fn hits(&self, texts: &[Texts], hits: &[Vec<Hits>]) -> (Vec<(u32, u32, u32)>, bool) {
        let mut all: Vec<(u32, u32, u32)> = Vec::new();
        for (number, ((source, own), ..)) in self.uses.iter().enumerate() {
            let lines = hits[*source][*own].lines.iter().enumerate();
            all.extend(lines.map(|(hit, &line)| (line, number as u32, hit as u32)));
        }
        if self.uses.len() > 1 {
            all.sort_unstable();
        }
        let mut agree = true;
        all.dedup_by(|later, first| {
            let same = later.0 == first.0;
            agree &= !same || self.text(texts, hits, later) == self.text(texts, hits, first);
            same
        });
        (all, agree)
    }

    fn text<'t>(
        &self,
        texts: &'t [Texts],
        hits: &[Vec<Hits>],
        &(line, number, hit): &(u32, u32, u32),
    ) -> &'t str {
        let ((source, own), piece, _) = self.uses[number as usize];
        texts[source].part(line as usize, hits[source][own].span(hit as usize, piece))
    }
}

/// Numbers whole and not, and texts.
fn kind(take: Take) -> u8 {
    match take {
        Take::Int => 0,
        Take::Real => 1,
        Take::Run | Take::Words | Take::Rest => 2,
    }
}

impl Asked {
    /// What a slot asks of templates; `None` if it is for the format.
    pub fn new(what: &What, templates: &[TextEvent], places: &[Place]) -> Option<Self> {
        let find = |event: &str| {
            let number = templates.iter().position(|own| own.name == event)?;
            Some((&templates[number], places[number]))
        };
        let piece = |own: &TextEvent, key: &ArgumentKey| match key {
            ArgumentKey::Declared { name, .. } | ArgumentKey::Name(name) => own.template.named(name),
            ArgumentKey::Index(index) => {
                let named = own.template.placeholders().filter(|(_, name, _)| name.is_some());
                named.map(|(piece, _, take)| (piece, take)).nth(*index)
            }
        };
        let constants = |own: &TextEvent, all: &[(ArgumentKey, Value)]| {
            let one = |(key, value): &(ArgumentKey, Value)| {
                // What no placeholder has equals nothing.
                let (piece, take) = piece(own, key).unwrap_or((0, Take::Run));
                (piece, take, value.clone())
            };
            all.iter().map(one).collect()
        };
        match what {
            What::Event { name, arguments, .. } => {
                let (own, at) = find(name)?;
                Some(Asked::Event { at, constants: constants(own, arguments) })
            }
            What::Tuples { name, constants: given, arguments, .. } => {
                let (own, at) = find(name)?;
                let pieces = arguments.iter().filter_map(|key| piece(own, key)).collect();
                Some(Asked::Tuples { at, constants: constants(own, given), pieces })
            }
            What::Proposition(path) | What::Variable(path, _) => {
                Column::new(path.as_name()?, expect_of(what), templates, places).map(Asked::Column)
            }
            What::Timing(_) | What::Stream { .. } | What::Shift(_) | What::Window(_) => None,
        }
    }

    /// The column of the slot.
    pub fn column(
        &self,
        batch: &mut Batch,
        texts: &[Texts],
        hits: &[Vec<Hits>],
        disagree: &Mutex<Vec<String>>,
    ) -> Delivered {
        match self {
            Asked::Read(slot) => std::mem::replace(&mut batch.slots[*slot], Delivered::Any(Vec::new())),
            Asked::Event { at: (source, own), constants } => {
                let (texts, hits) = (&texts[*source], &hits[*source][*own]);
                let mut bits = Bits::repeat(false, batch.len);
                for (hit, &line) in hits.lines.iter().enumerate() {
                    if meets(constants, texts, hits, hit) {
                        bits.set(line as usize, true);
                    }
                }
                Delivered::Truth(bits)
            }
            Asked::Tuples { at: (source, own), constants, pieces } => {
                let (texts, hits) = (&texts[*source], &hits[*source][*own]);
                let mut tuples = TupleBuilder::new(pieces.len());
                for (hit, &line) in hits.lines.iter().enumerate() {
                    if meets(constants, texts, hits, hit) {
                        let part = |piece| texts.part(line as usize, hits.span(hit, piece));
                        tuples.push_parts(
                            line as usize,
                            pieces.iter().map(|&(piece, take)| (part(piece), take)),
                        );
                    }
                }
                Delivered::Tuples(tuples.finish(batch.len))
            }
            Asked::Column(own) | Asked::Key(own) => {
                let (found, agree) = own.hits(texts, hits);
                let mut builder = ColumnBuilder::new(own.expect);
                let mut at = 0;
                for one in &found {
                    (at..one.0 as usize).for_each(|_| builder.push_null());
                    at = one.0 as usize + 1;
                    let take =
                        if matches!(self, Asked::Key(_)) { Take::Run } else { own.uses[one.1 as usize].2 };
                    push(&mut builder, own.text(texts, hits, one), take);
                }
                (at..batch.len).for_each(|_| builder.push_null());
                if !agree && !lock(disagree).contains(&own.name) {
                    lock(disagree).push(own.name.clone());
                }
                builder.finish()
            }
        }
    }
}

/// What a placeholder took, as a value.
pub(crate) fn value(text: &str, take: Take) -> Value {
    match take {
        Take::Int => text.parse().map_or(Value::Null, Value::Int),
        Take::Real => text.parse().map_or(Value::Null, Value::Real),
        Take::Run | Take::Words | Take::Rest => Value::text(text),
    }
}

/// Appends what a placeholder took; null if the column is of another kind, which the specification was warned of.
fn push(builder: &mut ColumnBuilder, text: &str, take: Take) {
    let pushed = match take {
        Take::Run | Take::Words | Take::Rest => builder.push_text(text),
        take => builder.push_value(&value(text, take)),
    };
    if pushed.is_err() {
        builder.push_null();
    }
}

fn meets(constants: &[(usize, Take, Value)], texts: &Texts, hits: &Hits, hit: usize) -> bool {
    constants.iter().all(|(piece, take, constant)| {
        let text = texts.part(hits.lines[hit] as usize, hits.span(hit, *piece));
        match (take, constant) {
            (Take::Run | Take::Words | Take::Rest, Value::Str(constant)) => **constant == *text,
            _ => equals(&value(text, *take), constant, true),
        }
    })
}

/// The texts of a batch, end to end.
pub(super) struct Texts {
    text: String,
    ends: Vec<u32>,
    /// Of each position the number of its text, where several share one; `u32::MAX` is null.
    ids: Option<Vec<u32>>,
}

impl Texts {
    /// From the column that was read; what is not text, or nothing, is the empty text.
    pub fn new(column: Delivered) -> Self {
        match column {
            Delivered::Words(words) => {
                let (text, ends) = words.into_parts();
                Self { text, ends, ids: None }
            }
            Delivered::Text { mut ids, dictionary, valid } => {
                for (at, id) in ids.iter_mut().enumerate() {
                    if !valid.get(at) {
                        *id = u32::MAX;
                    }
                }
                Self::laid(dictionary.entries.iter().map(|text| Cow::Borrowed(&**text)), Some(ids))
            }
            other => {
                let text = |at| match other.value(at) {
                    Value::Str(text) => Cow::Owned(text.to_string()),
                    _ => Cow::Borrowed(""),
                };
                Self::laid((0..other.len()).map(text), None)
            }
        }
    }

    fn laid<'t>(texts: impl Iterator<Item = Cow<'t, str>>, ids: Option<Vec<u32>>) -> Self {
        let (mut text, mut ends) = (String::new(), Vec::new());
        for own in texts {
            // Beyond four gigabytes in one batch texts are left out; no reader makes such batches.
            if text.len() + own.len() <= u32::MAX as usize {
                text.push_str(&own);
            }
            ends.push(text.len() as u32);
        }
        Self { text, ends, ids }
    }

    /// How many texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// A text.
    pub fn get(&self, number: usize) -> &str {
        let start = if number == 0 { 0 } else { self.ends[number - 1] as usize };
        &self.text[start..self.ends[number] as usize]
    }

    /// A part of the text at a position.
    pub fn part(&self, position: usize, part: Range<usize>) -> &str {
        let number = self.ids.as_ref().map_or(position, |ids| ids[position] as usize);
        &self.get(number)[part]
    }

    /// Where templates match, by text.
    pub fn run(&self, matcher: &Matcher) -> Vec<Hits> {
        matcher.run(self.text.as_bytes(), &self.ends)
    }

    /// The same by position.
    pub fn expand(&self, hits: Vec<Hits>) -> Vec<Hits> {
        let Some(ids) = &self.ids else { return hits };
        let expand = |own: Hits| {
            if own.lines.is_empty() {
                return own;
            }
            let mut hit_of = vec![u32::MAX; self.len()];
            own.lines.iter().enumerate().for_each(|(hit, &text)| hit_of[text as usize] = hit as u32);
            let mut all = Hits { width: own.width, ..Hits::default() };
            for (position, &id) in ids.iter().enumerate() {
                let Some(&hit) = hit_of.get(id as usize).filter(|&&hit| hit != u32::MAX) else { continue };
                let from = hit as usize * own.width;
                all.lines.push(position as u32);
                all.spans.extend_from_slice(&own.spans[from..from + own.width]);
            }
            all
        };
        hits.into_iter().map(expand).collect()
    }
}

//! The tuples of a stretch of `monpoly`: where their values stand.

use super::walk::{pass_space, quoted, value_end};
use crate::slots::Cells;
use std::ops::Range;

/// Why the reading of a block ends early.
pub(super) enum Stop {
    /// The block ends inside an entry.
    Open,
    /// Rows must say.
    Odd,
}

/// The values of a tuple.
pub(super) struct Tuple<'b> {
    text: &'b str,
    values: Vec<Place>,
    /// Texts with doubled quotes, as they are meant.
    doubled: Vec<String>,
}

/// Where a value stands.
enum Place {
    Bare(Range<usize>),
    Quoted(Range<usize>),
    Doubled(usize),
}

impl<'b> Tuple<'b> {
    /// None, of tuples that stand in `text`.
    pub(super) fn new(text: &'b str) -> Self {
        Self { text, values: Vec::new(), doubled: Vec::new() }
    }

    /// Goes on to the next, which has no values so far.
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        self.values.clear();
    }

    /// Reads the tuple whose `(` stands before `at`; where it ends.
    #[inline(always)]
    pub(super) fn read(&mut self, at: usize, most: usize) -> Result<usize, Stop> {
        let bytes = self.text.as_bytes();
        let mut at = pass_space(bytes, at);
        if bytes.get(at) == Some(&b')') {
            return Ok(at + 1);
        }
        loop {
            if self.values.len() == most {
                return Err(Stop::Odd);
            }
            match bytes.get(at) {
                None => return Err(Stop::Open),
                Some(b',' | b')') => self.values.push(Place::Bare(at..at)),
                Some(b'"') => at = self.quoted(at)?,
                Some(b'(') => return Err(Stop::Odd),
                Some(_) => {
                    let end = value_end(bytes, at);
                    self.values.push(Place::Bare(at..end));
                    at = end;
                }
            }
            at = pass_space(bytes, at);
            match bytes.get(at) {
                Some(b',') => at = pass_space(bytes, at + 1),
                Some(b')') => return Ok(at + 1),
                None => return Err(Stop::Open),
                Some(_) => return Err(Stop::Odd),
            }
        }
    }

    #[inline]
    fn quoted(&mut self, at: usize) -> Result<usize, Stop> {
        let (text, doubled) = quoted(self.text.as_bytes(), at).ok_or(Stop::Open)?;
        let end = text.end + 1;
        let place = if doubled { self.undouble(&text) } else { Place::Quoted(text) };
        self.values.push(place);
        Ok(end)
    }

    #[cold]
    fn undouble(&mut self, text: &Range<usize>) -> Place {
        self.doubled.truncate(self.values.len());
        self.doubled.push(self.text[text.clone()].replace("\"\"", "\""));
        Place::Doubled(self.doubled.len() - 1)
    }
}

impl Cells for Tuple<'_> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.values.len()
    }

    #[inline(always)]
    fn get(&self, index: usize) -> Option<(&str, bool)> {
        Some(match self.values.get(index)? {
            Place::Bare(range) => (&self.text[range.clone()], false),
            Place::Quoted(range) => (&self.text[range.clone()], true),
            Place::Doubled(index) => (&self.doubled[*index], true),
        })
    }
}

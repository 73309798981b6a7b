//! The slices of a property, in memory or on disk; those far larger than the others are cut again.

use super::{Slicing, Way};
use crate::{Error, Specification};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tw_log_slices::{Division, Piece, Shard, cut, needed, stretches};
use tw_monitor::{EvaluateOptions, Trace};

/// A slice is cut again if it weighs so many times what half of them do …
const FAR_LARGER: usize = 4;
/// … and at least so much …
const WORTH: usize = 10_000;
/// … into so many …
const PARTS: u32 = 4;
/// … and so often.
const AGAIN: u32 = 3;

/// A directory of its own for slices, which goes when it is dropped.
pub(super) struct Spill {
    directory: PathBuf,
    made: AtomicBool,
    written: AtomicUsize,
    /// Bytes that slices may take in memory, and those that they take.
    most: usize,
    held: AtomicUsize,
}

impl Spill {
    pub fn new(slicing: &Slicing, budget: usize) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let parent = slicing.spill.clone().unwrap_or_else(std::env::temp_dir);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let directory = parent.join(format!("tracewise-slices-{}-{number}", std::process::id()));
        let most = if slicing.workers.is_some() { 0 } else { budget / 2 };
        Self { directory, made: false.into(), written: 0.into(), most, held: 0.into() }
    }

    /// Keeps a slice in memory, or on disk if there are too many.
    fn keep(&self, piece: Piece, exact: bool) -> Result<Slice, Error> {
        let size = piece.heap_bytes();
        if self.held.load(Ordering::Relaxed) + size > self.most && piece.trace.slots.is_none() {
            return Ok(Slice { held: Held::File(self.write(&piece)?), exact });
        }
        self.held.fetch_add(size, Ordering::Relaxed);
        Ok(Slice { held: Held::Memory(Box::new(piece)), exact })
    }

    fn write(&self, piece: &Piece) -> Result<PathBuf, Error> {
        let failed =
            |error| Error::io(format!("cannot write slices to `{}`", self.directory.display()), error);
        if !self.made.load(Ordering::Relaxed) {
            std::fs::create_dir_all(&self.directory).map_err(failed)?;
            self.made.store(true, Ordering::Relaxed);
        }
        let number = self.written.fetch_add(1, Ordering::Relaxed);
        let (file, mut bytes) = (self.directory.join(format!("slice-{number}")), Vec::new());
        piece.save(&mut bytes);
        std::fs::write(&file, bytes).map_err(failed)?;
        Ok(file)
    }
}

impl Drop for Spill {
    fn drop(&mut self) {
        if self.made.load(Ordering::Relaxed) {
            // Nobody else knows of it; what is left there costs room alone.
            let _ = std::fs::remove_dir_all(&self.directory);
        }
    }
}

enum Held {
    Memory(Box<Piece>),
    File(PathBuf),
}

/// A slice that waits to be evaluated.
pub(super) struct Slice {
    held: Held,
    /// Whether it finds nothing but what it may report.
    pub exact: bool,
}

impl Slice {
    /// The slice, read back if it waits on disk.
    pub fn piece(&self) -> Result<Cow<'_, Piece>, Error> {
        match &self.held {
            Held::Memory(piece) => Ok(Cow::Borrowed(piece)),
            Held::File(file) => read(file).map(Cow::Owned),
        }
    }

    /// Where it waits on disk.
    pub fn file(&self) -> Option<&Path> {
        match &self.held {
            Held::Memory(_) => None,
            Held::File(file) => Some(file),
        }
    }
}

/// What slices of a property are made with.
pub(super) struct Pieces<'p> {
    pub alone: &'p Specification,
    pub options: &'p EvaluateOptions,
    pub way: &'p Way,
    pub spill: &'p Spill,
}

impl Pieces<'_> {
    /// The slices of a trace, the heaviest first.
    pub fn cut(&self, trace: &Trace, slicing: &Slicing) -> Result<Vec<Slice>, Error> {
        let Pieces { alone, options, way, spill } = *self;
        let program = &alone.program;
        let body = program.invariant(program.roots[0].node).map_or(program.roots[0].node, |(_, body)| body);
        let mut held: Vec<(usize, Slice)> = Vec::new();
        let exact = way.exact && trace.slots.is_none();
        for &own in &way.ranges {
            let divided = way.ranges.len() > 1;
            let range = if divided { needed(program, body, trace, options, own) } else { own };
            let mut pieces = cut(program, trace, range, &way.divisions, way.filter);
            pieces.iter_mut().for_each(|piece| piece.shard.positions = divided.then_some(own));
            let mut weights: Vec<usize> = pieces.iter().map(Piece::weight).collect();
            weights.sort_unstable();
            let median = weights.get(weights.len() / 2).copied().unwrap_or(0);
            let mut todo: Vec<(Piece, u32, bool)> =
                pieces.into_iter().map(|piece| (piece, 0, exact)).collect();
            while let Some((piece, depth, exact)) = todo.pop() {
                let large = piece.weight() > (median * FAR_LARGER).max(WORTH) && slicing.slices > 1;
                if large
                    && depth < AGAIN
                    && let Some((parts, by_time)) = again(&piece, alone, options, way, depth + 1)
                {
                    todo.extend(parts.into_iter().map(|part| (part, depth + 1, exact && !by_time)));
                    continue;
                }
                if !piece.order.is_empty() {
                    held.push((piece.weight(), spill.keep(piece, exact)?));
                }
            }
        }
        held.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
        Ok(held.into_iter().map(|(_, slice)| slice).collect())
    }

    /// A slow slice as several, if that is possible; the number says how often it has been divided.
    pub fn divide(&self, slice: &Slice, depth: u32) -> Result<Option<Vec<Slice>>, Error> {
        let piece = slice.piece()?;
        // Large slices were divided by the numbers up to this one.
        let Some((parts, by_time)) = again(&piece, self.alone, self.options, self.way, AGAIN + depth) else {
            return Ok(None);
        };
        let parts = parts.into_iter().filter(|part| !part.order.is_empty());
        parts.map(|part| self.spill.keep(part, slice.exact && !by_time)).collect::<Result<_, _>>().map(Some)
    }
}

/// A slice from disk.
pub(super) fn read(file: &Path) -> Result<Piece, Error> {
    let bytes = std::fs::read(file)
        .map_err(|error| Error::io(format!("cannot read the slice `{}`", file.display()), error))?;
    Piece::load(&mut bytes.as_slice())
        .map_err(|corrupt| Error::refused(format!("`{}`: {corrupt}", file.display())))
}

/// A large slice as several: by another way of dividing its values or, where it has one value, by time, which the second part of the
/// answer says.
fn again(
    piece: &Piece,
    alone: &Specification,
    options: &EvaluateOptions,
    way: &Way,
    salt: u32,
) -> Option<(Vec<Piece>, bool)> {
    let program = &alone.program;
    let weight = piece.weight();
    let smaller = |parts: &[Piece]| parts.iter().all(|part| part.weight() < weight * 3 / 4);
    let inside = |part: &mut Piece, from: &Piece| {
        part.order.iter_mut().for_each(|at| *at = from.order[*at as usize]);
        part.shard.buckets.splice(0..0, from.shard.buckets.iter().copied());
    };
    for division in &way.divisions {
        let own = Division { salt, of: PARTS, ..*division };
        let mut parts = cut(program, &piece.trace, (0, piece.trace.len), &[own], way.filter);
        if smaller(&parts) {
            for part in &mut parts {
                inside(part, piece);
                part.shard.positions = piece.shard.positions;
            }
            return Some((parts, false));
        }
    }
    if !way.bounded {
        return None;
    }
    let (_, body) = program.invariant(program.roots[0].node)?;
    let mut parts = Vec::new();
    for own in stretches(piece.trace.len, PARTS as usize) {
        let range = needed(program, body, &piece.trace, options, own);
        let first = piece.order[own.0] as usize;
        let end = piece.order[own.1 - 1] as usize + 1;
        let (from, to) = piece.shard.positions.unwrap_or((0, usize::MAX));
        for mut part in cut(program, &piece.trace, range, &[], way.filter) {
            inside(&mut part, piece);
            let positions = Some((first.max(from), end.min(to)));
            part.shard = Shard { positions, ..part.shard };
            parts.push(part);
        }
    }
    smaller(&parts).then_some((parts, true))
}

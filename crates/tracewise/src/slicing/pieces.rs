//! The slices of a property, in memory or on disk; those far larger than the others are cut again.

use super::{Slicing, Way};
use crate::{Error, Specification};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
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
    made: std::cell::Cell<bool>,
    /// Bytes that slices may take in memory.
    most: usize,
}

impl Spill {
    pub fn new(slicing: &Slicing, budget: usize) -> Result<Self, Error> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let parent = slicing.spill.clone().unwrap_or_else(std::env::temp_dir);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let directory = parent.join(format!("tracewise-slices-{}-{number}", std::process::id()));
        let most = if slicing.workers.is_some() { 0 } else { budget / 2 };
        Ok(Self { directory, made: false.into(), most })
    }

    fn file(&self, number: usize) -> PathBuf {
        self.directory.join(format!("slice-{number}"))
    }

    fn write(&self, number: usize, piece: &Piece) -> Result<PathBuf, Error> {
        let failed =
            |error| Error::io(format!("cannot write slices to `{}`", self.directory.display()), error);
        if !self.made.get() {
            std::fs::create_dir_all(&self.directory).map_err(failed)?;
            self.made.set(true);
        }
        let (file, mut bytes) = (self.file(number), Vec::new());
        piece.save(&mut bytes);
        std::fs::write(&file, bytes).map_err(failed)?;
        Ok(file)
    }
}

impl Drop for Spill {
    fn drop(&mut self) {
        if self.made.get() {
            // Nobody else knows of it; what is left there costs room alone.
            let _ = std::fs::remove_dir_all(&self.directory);
        }
    }
}

enum Held {
    Memory(Box<Piece>),
    File(PathBuf),
}

/// The slices of a property, the heaviest first.
pub(super) struct Pieces {
    held: Vec<Held>,
    /// Whether each finds nothing but what it may report.
    pub exact: bool,
}

impl Pieces {
    pub fn cut(
        alone: &Specification,
        trace: &Trace,
        options: &EvaluateOptions,
        way: &Way,
        spill: &Spill,
        slicing: &Slicing,
    ) -> Result<Self, Error> {
        let program = &alone.program;
        let body = program.invariant(program.roots[0].node).map_or(program.roots[0].node, |(_, body)| body);
        let (mut held, mut bytes): (Vec<(usize, Held)>, usize) = (Vec::new(), 0);
        let mut exact = way.exact && trace.slots.is_none();
        for &own in &way.ranges {
            let divided = way.ranges.len() > 1;
            let range = if divided { needed(program, body, trace, options, own) } else { own };
            let mut pieces = cut(program, trace, range, &way.divisions, way.filter);
            pieces.iter_mut().for_each(|piece| piece.shard.positions = divided.then_some(own));
            let mut weights: Vec<usize> = pieces.iter().map(Piece::weight).collect();
            weights.sort_unstable();
            let median = weights.get(weights.len() / 2).copied().unwrap_or(0);
            let mut todo: Vec<(Piece, u32)> = pieces.into_iter().map(|piece| (piece, 0)).collect();
            while let Some((piece, depth)) = todo.pop() {
                let large = piece.weight() > (median * FAR_LARGER).max(WORTH) && slicing.slices > 1;
                if large
                    && depth < AGAIN
                    && let Some((parts, by_time)) = again(&piece, alone, options, way, depth + 1)
                {
                    exact &= !by_time;
                    todo.extend(parts.into_iter().map(|part| (part, depth + 1)));
                    continue;
                }
                if piece.order.is_empty() {
                    continue;
                }
                let (weight, size) = (piece.weight(), piece.heap_bytes());
                let to_disk = bytes + size > spill.most && piece.trace.slots.is_none();
                held.push(match to_disk {
                    true => (weight, Held::File(spill.write(held.len(), &piece)?)),
                    false => {
                        bytes += size;
                        (weight, Held::Memory(Box::new(piece)))
                    }
                });
            }
        }
        held.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
        Ok(Self { held: held.into_iter().map(|(_, held)| held).collect(), exact })
    }

    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// A slice, read back if it waits on disk.
    pub fn get(&self, number: usize) -> Result<Cow<'_, Piece>, Error> {
        match &self.held[number] {
            Held::Memory(piece) => Ok(Cow::Borrowed(piece)),
            Held::File(file) => read(file).map(Cow::Owned),
        }
    }

    /// Where a slice waits on disk.
    pub fn file(&self, number: usize) -> Option<&Path> {
        match &self.held[number] {
            Held::Memory(_) => None,
            Held::File(file) => Some(file),
        }
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

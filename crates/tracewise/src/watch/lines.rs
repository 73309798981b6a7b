//! From positions back to lines, without keeping either: in most streams every line is a position, so a line follows
//! from where such a stretch began. Only the stretches are kept, and only the last ones.

use super::state::{number, number_out};
use std::borrow::Cow;
use tw_core::Position;
use tw_trace::Progress;

/// Stretches kept; a stream with a blank line in every few has many, and forgets the oldest.
const KEPT: usize = 1024;
/// Characters kept of a line.
pub(super) const TEXT: usize = 400;

/// A line as it is told.
pub(super) fn shortened(line: Cow<'_, str>) -> String {
    // There are no more characters than bytes.
    let end = if line.len() <= TEXT { None } else { line.char_indices().nth(TEXT) };
    match end {
        None => line.into_owned(),
        Some((end, _)) => line[..end].to_string(),
    }
}

/// Positions and their lines.
#[derive(Default)]
pub(super) struct LineMap {
    stretches: Vec<Stretch>,
    /// What had been read before the last arrival.
    latest: Progress,
}

/// Positions from `position` up to `end` are on as many lines in a row.
struct Stretch {
    position: u64,
    /// Lines before it.
    lines: u64,
    end: u64,
}

impl LineMap {
    /// Positions arrived after this much had been read.
    pub fn arrive(&mut self, before: Progress) {
        self.close(before);
        self.latest = before;
        let goes_on = self.stretches.last().is_some_and(|last| {
            last.end == before.positions && last.lines + (last.end - last.position) == before.lines
        });
        if !goes_on {
            if self.stretches.len() == KEPT {
                self.stretches.drain(..KEPT / 2);
            }
            let Progress { positions, lines, .. } = before;
            self.stretches.push(Stretch { position: positions, lines, end: positions });
        }
    }

    /// Now this much has been read: if it was a line for each position, the last arrival belongs to its stretch.
    fn close(&mut self, now: Progress) {
        let positions = now.positions.checked_sub(self.latest.positions);
        if let Some(last) = self.stretches.last_mut()
            && last.end == self.latest.positions
            && positions.is_some()
            && positions == now.lines.checked_sub(self.latest.lines)
        {
            last.end = now.positions;
        }
    }

    /// Appends it, for another process that goes on.
    pub fn save(&self, out: &mut Vec<u8>) {
        number_out(self.stretches.len() as u64, out);
        for stretch in &self.stretches {
            number_out(stretch.position, out);
            number_out(stretch.lines, out);
            number_out(stretch.end - stretch.position, out);
        }
        number_out(self.latest.positions, out);
        number_out(self.latest.lines, out);
    }

    /// Reads it back.
    pub fn load(&mut self, from: &mut &[u8]) -> Result<(), String> {
        self.stretches.clear();
        for _ in 0..number(from)? {
            let (position, lines) = (number(from)?, number(from)?);
            let end = position.checked_add(number(from)?).ok_or("its lines are too many")?;
            self.stretches.push(Stretch { position, lines, end });
        }
        self.latest = Progress { positions: number(from)?, lines: number(from)?, bytes: 0 };
        Ok(())
    }

    /// The line of a position, from 1, if it is known; `now` is how much has been read.
    pub fn line(&mut self, position: Position, now: Progress) -> Option<u64> {
        self.close(now);
        let position = position as u64;
        let after = self.stretches.partition_point(|stretch| stretch.position <= position);
        let stretch = &self.stretches[after.checked_sub(1)?];
        (position < stretch.end).then(|| stretch.lines + (position - stretch.position) + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_told_by_its_first_characters() {
        for (line, characters) in
            [("", 0), ("x", 400), ("x", 401), ("\u{fc}", 399), ("\u{fc}", 400), ("\u{fc}", 5000)]
        {
            let line = line.repeat(characters);
            let first: String = line.chars().take(TEXT).collect();
            assert_eq!(shortened(Cow::Borrowed(&line)), first);
        }
    }

    #[test]
    fn lines_follow_from_stretches() {
        let progress = |positions, lines| Progress { positions, lines, bytes: 0 };
        let mut map = LineMap::default();
        // A header, three lines, two more, then four with a blank one among them, then two; the file starts anew.
        for (positions, lines) in [(0, 1), (3, 4), (5, 6), (9, 11), (11, 0)] {
            map.arrive(progress(positions, lines));
        }
        let now = progress(13, 2);
        let lines: Vec<Option<u64>> = (0..14).map(|position| map.line(position, now)).collect();
        let expected = [
            Some(2),
            Some(3),
            Some(4),
            Some(5),
            Some(6),
            None,
            None,
            None,
            None,
            None,
            None,
            Some(1),
            Some(2),
            None,
        ];
        assert_eq!(lines, expected);
        let mut saved = Vec::new();
        map.save(&mut saved);
        let (mut again, mut from) = (LineMap::default(), saved.as_slice());
        again.load(&mut from).unwrap();
        assert!(from.is_empty());
        assert!((0..14).map(|position| again.line(position, now)).eq(expected));
    }

    #[test]
    fn old_stretches_are_forgotten() {
        let mut map = LineMap::default();
        let now = |positions: u64| Progress { positions, lines: positions * 2, bytes: 0 };
        for positions in 0..100_000 {
            map.arrive(now(positions));
        }
        assert!(map.stretches.len() <= KEPT);
        assert_eq!(map.line(5, now(100_000)), None);
    }
}

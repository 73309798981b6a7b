//! Violations taken together: neighbours as ranges, all of them over the length of the log.

use super::Timeline;
use tw_core::Position;

/// Violations that are looked at for ranges, however few are listed.
pub(super) const MERGED: usize = 10_000;
/// Violations that a timeline counts.
pub(crate) const COUNTED: usize = 1_000_000;
/// Parts of a timeline.
const PARTS: usize = 240;
/// Positions named along a timeline, beside the last.
const TICKS: u64 = 4;

/// The first `most` ranges of violations given by position and number, each by the indices of its first and its last:
/// positions that follow one another, if `alike` says that they fail for the same values.
pub(super) fn ranges(
    failing: &[(Position, Position, usize)],
    most: usize,
    alike: impl Fn(usize, usize) -> bool,
) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (index, &(position, ..)) in failing.iter().enumerate() {
        let follows = |last: usize| failing[last].0 + 1 == position && alike(last, index);
        let full = found.len() == most;
        match found.last_mut() {
            Some((_, last)) if follows(*last) => *last = index,
            _ if full => break,
            _ => found.push((index, index)),
        }
    }
    found
}

/// How many of the positions, of which there are `all`, lie in each part of a log.
pub(crate) fn timeline(failing: impl Iterator<Item = Position>, positions: u64, cut: bool) -> Timeline {
    let parts = PARTS.min(positions.max(1) as usize);
    let mut counts = vec![0; parts];
    for position in failing {
        let part = (position as u128 * parts as u128 / u128::from(positions.max(1))) as usize;
        counts[part.min(parts - 1)] += 1;
    }
    Timeline { parts: counts, cut }
}

/// The positions that are named along a timeline.
pub(crate) fn ticks(positions: u64) -> Vec<Position> {
    let last = positions.saturating_sub(1);
    let mut ticks: Vec<Position> = (0..=TICKS)
        .map(|tick| (u128::from(last) * u128::from(tick) / u128::from(TICKS)) as Position)
        .collect();
    ticks.dedup();
    if positions == 0 { Vec::new() } else { ticks }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_that_are_alike_are_one_range() {
        let failing: Vec<_> =
            [3, 4, 5, 7, 8, 8, 9].iter().enumerate().map(|(nth, &at)| (at, at, nth)).collect();
        assert_eq!(ranges(&failing, 9, |_, _| true), [(0, 2), (3, 4), (5, 6)]);
        assert_eq!(ranges(&failing, 2, |_, _| true), [(0, 2), (3, 4)]);
        assert_eq!(ranges(&failing, 2, |_, b| b != 1), [(0, 0), (1, 2)]);
        assert_eq!(ranges(&[], 2, |_, _| true), []);
    }

    #[test]
    fn a_timeline_counts_by_parts() {
        let found = timeline([0, 1, 999].into_iter(), 1000, false);
        assert_eq!((found.parts.len(), found.parts[0], found.parts[PARTS - 1]), (PARTS, 2, 1));
        assert_eq!(timeline([1].into_iter(), 3, false).parts, [0, 1, 0]);
        assert_eq!(timeline([0].into_iter(), 0, false).parts, [1]);
        assert_eq!(ticks(101), [0, 25, 50, 75, 100]);
        assert_eq!((ticks(1), ticks(2), ticks(0)), (vec![0], vec![0, 1], vec![]));
    }
}

//! Windows of one width: what they are worth, by van Herk's and Gil and Werman's blocks.
//!
//! Positions are cut into blocks as long as the window. A window is a suffix of one block and a prefix of the next, so
//! three puttings-together per position answer all. The suffixes of the next block are computed while its prefixes are:
//! the two chains do not wait for each other.

use crate::lattice::Monoid;

/// For each t below `len`, calls `emit` with what `t + offset .. t + offset + width` is worth; positions outside
/// `0..len` are worth nothing.
pub(crate) fn windows<M: Monoid>(
    len: usize,
    offset: isize,
    width: usize,
    item: impl Fn(usize) -> M::Item,
    mut emit: impl FnMut(usize, M::Item),
) {
    let get = |k: isize| {
        if k >= 0 && (k as usize) < len { item(k as usize) } else { M::EMPTY }
    };
    if width == 1 {
        (0..len).for_each(|t| emit(t, get(t as isize + offset)));
        return;
    }
    let mut front = vec![M::EMPTY; width];
    let mut next = vec![M::EMPTY; width];
    let mut all = M::EMPTY;
    for j in (0..width).rev() {
        all = M::cat(get(offset + j as isize), all);
        front[j] = all;
    }
    let mut block = 0;
    while block < len {
        let middle = (block + width) as isize + offset;
        let (mut back, mut all) = (M::EMPTY, M::EMPTY);
        let inside = middle >= 0 && middle as usize + width <= len && block + width <= len;
        if inside {
            let middle = middle as usize;
            let (front, next) = (&front[..width], &mut next[..width]);
            for (j, &suffix) in front.iter().enumerate() {
                let mirrored = width - 1 - j;
                emit(block + j, M::cat(suffix, back));
                back = M::cat(back, item(middle + j));
                all = M::cat(item(middle + mirrored), all);
                next[mirrored] = all;
            }
        } else {
            for (j, &suffix) in front.iter().enumerate().take(len - block) {
                emit(block + j, M::cat(suffix, back));
                back = M::cat(back, get(middle + j as isize));
            }
            for j in (0..width).rev() {
                all = M::cat(get(middle + j as isize), all);
                next[j] = all;
            }
        }
        std::mem::swap(&mut front, &mut next);
        block += width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lattice::{Sinces, Untils, Up, Way};
    use tw_testkit::Rng;

    fn compare<M: Monoid<Item = Way>>() {
        for seed in 0..500 {
            let mut rng = Rng::new(seed);
            let len = 1 + rng.below(60);
            let (offset, width) = (rng.below(40) as isize - 20, 1 + rng.below(30));
            let items: Vec<Way> =
                (0..len).map(|_| Way { hold: rng.below(9) as f64, goal: rng.below(9) as f64 }).collect();
            let mut found = vec![M::EMPTY; len];
            windows::<M>(len, offset, width, |k| items[k], |t, worth| found[t] = worth);
            for (t, found) in found.iter().enumerate() {
                let from = t as isize + offset;
                let inside = (from..from + width as isize).filter(|&k| k >= 0 && k < len as isize);
                let expected = inside.fold(M::EMPTY, |all, k| M::cat(all, items[k as usize]));
                assert_eq!(*found, expected, "seed {seed}, {t} of {len}, offset {offset}, width {width}");
            }
        }
    }

    #[test]
    fn blocks_give_what_windows_are_worth() {
        compare::<Untils<Up>>();
        compare::<Sinces<Up>>();
    }
}

//! Sets of slices: products, unions, and the minimal members.

use tw_monitor::Unsupported;

/// A set of nodes by number, ascending.
pub(crate) type Slice = Vec<u32>;

/// How many slices there may be, and whether those that include others are dropped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// An antichain is enough: a run from a slice is a run from each part of it.
    pub(crate) minimal: bool,
    /// Slices at a position.
    pub(crate) slices: usize,
}

/// Slices merged per slice allowed, in one product: more is given up, since time would run out before memory.
pub(super) const EFFORT: usize = 64;

impl Limits {
    pub(crate) fn over(self) -> Unsupported {
        Unsupported::budget(format!("more than {} slices at a position", self.slices))
            .help("raise the budget of states, or use `reverse` or `automaton`")
    }

    /// The slices in which all of the families are met: one of each, united.
    pub(crate) fn product<F: AsRef<[Slice]>>(self, families: &[F]) -> Result<Vec<Slice>, Unsupported> {
        let mut common = Slice::new();
        let mut choices: Vec<&[Slice]> = Vec::new();
        for family in families {
            match family.as_ref() {
                [] => return Ok(Vec::new()),
                [slice] => common.extend(slice),
                several => choices.push(several),
            }
        }
        common.sort_unstable();
        common.dedup();
        choices.sort_by_key(|family| family.len());
        let mut product = vec![common];
        let mut effort = 0;
        for family in choices {
            let mut next = Vec::new();
            for (left, right) in product.iter().flat_map(|left| family.iter().map(move |right| (left, right)))
            {
                next.push(merge(left, right));
                effort += 1;
                if next.len() > 2 * self.slices {
                    self.normalise(&mut next);
                }
                if next.len() > 2 * self.slices || effort > EFFORT * self.slices {
                    return Err(self.over());
                }
            }
            product = next;
            self.normalise(&mut product);
            if product.len() > self.slices {
                return Err(self.over());
            }
        }
        Ok(product)
    }

    /// The slices of any of the families.
    pub(crate) fn union<F: AsRef<[Slice]>>(self, families: &[F]) -> Result<Vec<Slice>, Unsupported> {
        let mut all: Vec<Slice> = Vec::new();
        for family in families {
            all.extend_from_slice(family.as_ref());
            if all.len() > 2 * self.slices {
                self.normalise(&mut all);
            }
            if all.len() > 2 * self.slices {
                return Err(self.over());
            }
        }
        self.normalise(&mut all);
        if all.len() > self.slices { Err(self.over()) } else { Ok(all) }
    }

    /// Sorts, and drops what is there twice or need not be there.
    pub(crate) fn normalise(self, slices: &mut Vec<Slice>) {
        slices.sort_unstable_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        slices.dedup();
        if !self.minimal {
            return;
        }
        drop_larger(slices, |slice| slice);
    }
}

/// Of slices sorted by length, keeps those that include no other.
pub(super) fn drop_larger<T>(slices: &mut Vec<T>, members: impl Fn(&T) -> &[u32]) {
    let mut kept: Vec<(u64, T)> = Vec::with_capacity(slices.len());
    for item in slices.drain(..) {
        let slice = members(&item);
        let whole = signature(slice);
        // Only shorter ones can be part of it, and those stand before.
        let shorter = kept.iter().take_while(|(_, other)| members(other).len() < slice.len());
        let part = |(part, other): &(u64, T)| part & !whole == 0 && includes(slice, members(other));
        if !shorter.into_iter().any(part) {
            kept.push((whole, item));
        }
    }
    slices.extend(kept.into_iter().map(|(_, item)| item));
}

/// One bit per member, shared by members 64 apart: a part has no bit that the whole lacks.
fn signature(slice: &[u32]) -> u64 {
    slice.iter().fold(0, |bits, node| bits | 1 << (node % 64))
}

fn includes(whole: &[u32], part: &[u32]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|node| rest.any(|other| other == node))
}

/// The union.
pub(super) fn merge(a: &[u32], b: &[u32]) -> Slice {
    let mut merged = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while let (Some(&x), Some(&y)) = (a.get(i), b.get(j)) {
        merged.push(x.min(y));
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    merged.extend_from_slice(&a[i..]);
    merged.extend_from_slice(&b[j..]);
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Limits = Limits { minimal: false, slices: 100 };
    const MINIMAL: Limits = Limits { minimal: true, slices: 100 };

    #[test]
    fn products_unite_one_of_each() {
        let (a, b) = (vec![vec![1], vec![2]], vec![vec![2], vec![1, 3]]);
        let all = vec![vec![2], vec![1, 2], vec![1, 3], vec![1, 2, 3]];
        assert_eq!(ALL.product(&[a.clone(), b.clone()]).unwrap(), all);
        assert_eq!(MINIMAL.product(&[a.clone(), b]).unwrap(), [vec![2], vec![1, 3]]);
        assert_eq!(ALL.product(&[a, vec![]]).unwrap(), Vec::<Slice>::new());
        assert_eq!(ALL.product::<Vec<Slice>>(&[]).unwrap(), [Slice::new()]);
    }

    #[test]
    fn the_empty_slice_is_part_of_all() {
        let family = vec![vec![7], vec![], vec![7, 71]];
        assert_eq!(MINIMAL.union(std::slice::from_ref(&family)).unwrap(), [Slice::new()]);
        assert_eq!(ALL.union(&[family]).unwrap().len(), 3);
    }

    /// Nodes 0 and 64 share a bit of the signature.
    #[test]
    fn signatures_do_not_decide_alone() {
        let family = vec![vec![0], vec![1, 64]];
        assert_eq!(MINIMAL.union(std::slice::from_ref(&family)).unwrap(), family);
    }

    #[test]
    fn too_many_are_given_up() {
        let pairs: Vec<Vec<Slice>> = (0..30).map(|i| vec![vec![2 * i], vec![2 * i + 1]]).collect();
        let refusal = MINIMAL.product(&pairs).unwrap_err();
        assert!(refusal.exhausted);
        assert_eq!(refusal.what, "more than 100 slices at a position");
    }
}

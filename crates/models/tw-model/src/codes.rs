//! Numbers of values, one for each value of another variable.

/// The number of a variable's value for each value of another. Where nearly all are the same, the others are listed: of
/// many events each happens in few states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Codes(Repr);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Repr {
    All(Vec<u32>),
    /// How many there are, what most of them are, and the others with their places, ascending.
    Few(usize, u32, Vec<(u32, u32)>),
}

/// Short lists are kept as they are.
const SHORT: usize = 512;

impl From<Vec<u32>> for Codes {
    fn from(codes: Vec<u32>) -> Self {
        Self(Repr::All(codes))
    }
}

impl FromIterator<u32> for Codes {
    fn from_iter<I: IntoIterator<Item = u32>>(codes: I) -> Self {
        codes.into_iter().collect::<Vec<u32>>().into()
    }
}

impl Codes {
    /// `len` numbers that are `common` but at some places, ascending.
    pub fn few(len: usize, common: u32, others: Vec<(u32, u32)>) -> Self {
        if Self::is_few(len, others.len()) {
            return Self(Repr::Few(len, common, others));
        }
        let mut codes = vec![common; len];
        others.into_iter().for_each(|(place, code)| codes[place as usize] = code);
        codes.into()
    }

    /// These numbers; those that most of them are not are listed if they are few.
    pub fn packed(codes: Vec<u32>) -> Self {
        // Only a number that is more than half of them can be what most are (Boyer, Moore).
        let (mut common, mut votes) = (0, 0usize);
        for &code in &codes {
            if votes == 0 {
                common = code;
            }
            votes = if code == common { votes + 1 } else { votes - 1 };
        }
        let others = codes.iter().filter(|&&code| code != common).count();
        if !Self::is_few(codes.len(), others) {
            return codes.into();
        }
        let others = codes.iter().zip(0..).filter(|&(&code, _)| code != common);
        Self::few(codes.len(), common, others.map(|(&code, place)| (place, code)).collect())
    }

    /// Whether so many others of so many are listed.
    pub fn is_few(len: usize, others: usize) -> bool {
        len > SHORT && others.saturating_mul(8) < len
    }

    /// Bytes that so many take of which all but some are the same.
    pub fn bytes(len: usize, others: usize) -> usize {
        if Self::is_few(len, others) { others * size_of::<(u32, u32)>() } else { len * size_of::<u32>() }
    }

    /// The number at a place.
    pub fn get(&self, place: usize) -> u32 {
        match &self.0 {
            Repr::All(codes) => codes[place],
            Repr::Few(_, common, others) => {
                let found = others.binary_search_by_key(&(place as u32), |&(place, _)| place);
                found.map_or(*common, |at| others[at].1)
            }
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match &self.0 {
            Repr::All(codes) => codes.len(),
            Repr::Few(len, ..) => *len,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len()).map(|place| self.get(place))
    }

    /// What most are and the others with their places, where they are told so.
    pub fn others(&self) -> Option<(u32, &[(u32, u32)])> {
        match &self.0 {
            Repr::All(_) => None,
            Repr::Few(_, common, others) => Some((*common, others)),
        }
    }

    /// Each number changed to another.
    #[must_use]
    pub fn map(&self, new: impl Fn(u32) -> u32) -> Self {
        match &self.0 {
            Repr::All(codes) => codes.iter().map(|&code| new(code)).collect(),
            Repr::Few(len, common, others) => {
                let others = others.iter().map(|&(place, code)| (place, new(code))).collect();
                Self::few(*len, new(*common), others)
            }
        }
    }

    /// The numbers at some places, in the order of these; `places` are theirs by the old ones, the largest number for
    /// none.
    #[must_use]
    pub fn ordered(&self, order: &[u32], places: &[u32]) -> Self {
        match &self.0 {
            Repr::All(codes) => order.iter().map(|&old| codes[old as usize]).collect(),
            Repr::Few(_, common, others) => {
                let moved = others.iter().map(|&(old, code)| (places[old as usize], code));
                let mut moved: Vec<(u32, u32)> = moved.filter(|&(place, _)| place != u32::MAX).collect();
                moved.sort_unstable();
                Self::few(order.len(), *common, moved)
            }
        }
    }

    /// Adds one at the end.
    pub fn push(&mut self, code: u32) {
        match &mut self.0 {
            Repr::All(codes) => codes.push(code),
            Repr::Few(len, common, others) => {
                if code != *common {
                    others.push((*len as u32, code));
                }
                *len += 1;
            }
        }
    }

    /// The numbers that occur, ascending.
    pub fn used(&self) -> Vec<u32> {
        let mut used: Vec<u32> = match &self.0 {
            Repr::All(codes) => codes.clone(),
            Repr::Few(_, common, others) => others.iter().map(|&(_, code)| code).chain([*common]).collect(),
        };
        used.sort_unstable();
        used.dedup();
        used
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tw_testkit::{Rng, cases};

    #[test]
    fn few_are_as_all() {
        for seed in 0..cases(200).min(2_000) {
            let random = &mut Rng::new(seed);
            let len = SHORT - 2 + random.below(40);
            let mut all = vec![random.below(3) as u32; len];
            let common = all[0];
            (0..random.below(len / 5)).for_each(|_| all[random.below(len)] = random.below(4) as u32);
            let others = (0..len).filter(|&at| all[at] != common).map(|at| (at as u32, all[at]));
            let mut few = Codes::few(len, common, others.collect());
            let told = few.others().map_or(0, |(_, others)| others.len());
            assert!(few.others().is_none() || told * 8 < len && len > SHORT);
            assert!(few.iter().eq(all.iter().copied()) && few.len() == len);
            assert_eq!(Codes::packed(all.clone()), few, "seed {seed}");
            assert!(few.map(|code| code + 1).iter().eq(all.iter().map(|code| code + 1)));
            let mut used = all.clone();
            used.sort_unstable();
            used.dedup();
            assert_eq!(few.used(), used);
            // Some places, turned round.
            let order: Vec<u32> = (0..len as u32).rev().filter(|at| at % 7 > 0).collect();
            let mut places = vec![u32::MAX; len];
            order.iter().zip(0..).for_each(|(&old, new)| places[old as usize] = new);
            let expected = order.iter().map(|&old| all[old as usize]);
            assert!(few.ordered(&order, &places).iter().eq(expected), "seed {seed}");
            for code in [common, common + 1] {
                few.push(code);
                all.push(code);
            }
            assert!(few.iter().eq(all), "seed {seed}");
        }
    }
}

//! Many fragments of one length, looked for in one pass that touches few bytes.
//!
//! A fragment of n bytes holds n - 3 runs of four. Of those that stand in the text at multiples of n - 3, exactly one lies in each
//! place where the fragment stands: the others need not be looked at. How many fragments there are matters little.

use rustc_hash::FxHashMap;

/// Bytes of a run.
pub(super) const GRAM: usize = 4;
/// Bits of the table of runs that occur in fragments: a few kilobytes, near the processor.
const BITS: u32 = 15;

/// The runs of fragments.
#[derive(Debug)]
pub(super) struct Grams {
    fragments: Vec<Box<[u8]>>,
    stride: usize,
    bits: Vec<u64>,
    /// By run, where in which fragments it stands, the furthest first.
    places: FxHashMap<u32, Vec<(u32, u32)>>,
}

#[inline]
fn gram(text: &[u8], at: usize) -> Option<u32> {
    let bytes = text.get(at..at + GRAM)?;
    Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

#[inline]
fn bit(gram: u32) -> usize {
    (gram.wrapping_mul(0x9E37_79B1) >> (32 - BITS)) as usize
}

impl Grams {
    /// The search for fragments, all of one length, which is more than that of a run.
    pub fn new(fragments: &[&[u8]]) -> Option<Self> {
        let len = fragments.first()?.len();
        let stride = len.checked_sub(GRAM - 1).filter(|stride| *stride > 0)?;
        let mut bits = vec![0; 1 << (BITS - 6)];
        let mut places: FxHashMap<u32, Vec<(u32, u32)>> = FxHashMap::default();
        for (number, fragment) in fragments.iter().enumerate().filter(|(_, own)| own.len() == len) {
            for at in 0..stride {
                let gram = gram(fragment, at)?;
                bits[bit(gram) / 64] |= 1u64 << (bit(gram) % 64);
                places.entry(gram).or_default().push((at as u32, number as u32));
            }
        }
        for places in places.values_mut() {
            places.sort_by_key(|(at, number)| (std::cmp::Reverse(*at), *number));
        }
        let fragments = fragments.iter().map(|fragment| Box::from(*fragment)).collect();
        Some(Self { fragments, stride, bits, places })
    }

    /// Every place where a fragment stands, from left to right.
    #[inline]
    pub fn each(&self, text: &[u8], mut found: impl FnMut(usize, usize)) {
        let mut at = 0;
        while let Some(gram) = gram(text, at) {
            let bit = bit(gram);
            if self.bits[bit / 64] >> (bit % 64) & 1 == 1 {
                self.places(text, at, gram, &mut found);
            }
            at += self.stride;
        }
    }

    fn places(&self, text: &[u8], at: usize, gram: u32, found: &mut impl FnMut(usize, usize)) {
        let Some(places) = self.places.get(&gram) else { return };
        for &(back, number) in places {
            let fragment = &self.fragments[number as usize];
            if let Some(start) = at.checked_sub(back as usize)
                && text[start..].starts_with(fragment)
            {
                found(start, number as usize);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tw_testkit::Rng;

    #[test]
    fn all_places_are_found_in_order() {
        let mut rng = Rng::new(4);
        for _ in 0..3000 {
            let mut word = |len: usize| (0..len).map(|_| b"abc"[rng.below(3)]).collect::<Vec<u8>>();
            let text = word(60);
            let len = 4 + text[0] as usize % 6;
            let mut fragments: Vec<Vec<u8>> = (0..1 + text[1] as usize % 5).map(|_| word(len)).collect();
            fragments.push(text[20..20 + len].to_vec());
            fragments.sort();
            fragments.dedup();
            let borrowed: Vec<&[u8]> = fragments.iter().map(Vec::as_slice).collect();
            let mut all = Vec::new();
            Grams::new(&borrowed).unwrap().each(&text, |at, number| all.push((at, number)));
            let mut naive = Vec::new();
            for at in 0..text.len() {
                let here = fragments.iter().enumerate().filter(|(_, own)| text[at..].starts_with(own));
                naive.extend(here.map(|(number, _)| (at, number)));
            }
            assert_eq!(all, naive, "{:?}", String::from_utf8_lossy(&text));
        }
    }
}

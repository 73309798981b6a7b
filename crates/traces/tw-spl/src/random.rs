//! The random numbers of a run: a linear congruential generator that is written down in a line, so that traces can be
//! made again elsewhere.

/// `x := x · 6364136223846793005 + 1442695040888963407 mod 2^64`, from the seed on; the upper 31 bits are used.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`, which is not 0.
    #[inline]
    pub fn next(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // 31 bits remain, so 32-bit division does, which is the faster one.
        (self.0 >> 33) as u32 % bound
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn the_sequence_is_the_documented_one() {
        let mut random = Random::new(1);
        // Computed with unbounded integers from the formula above.
        let expected = [7_806_831_264_735_756_412u64, 9_396_908_728_118_811_419, 11_960_119_808_228_829_710];
        for x in expected {
            assert_eq!(u64::from(random.next(u32::MAX)), x >> 33);
        }
    }
}

//! Windows of names, numbered. They lie end to end, since there may be as many as events.

/// All windows of one width.
pub(crate) struct Windows {
    width: usize,
    names: Vec<u32>,
    /// One more than the number of a window; 0 where there is none. A power of two, at most three quarters full.
    slots: Vec<u32>,
}

impl Windows {
    pub fn new(width: usize) -> Self {
        Self { width, names: Vec::new(), slots: vec![0; 4] }
    }

    pub fn len(&self) -> usize {
        self.names.len() / self.width
    }

    pub fn get(&self, number: u32) -> &[u32] {
        &self.names[number as usize * self.width..][..self.width]
    }

    /// The number of a window; a new one gets the next.
    pub fn number(&mut self, window: &[u32]) -> u32 {
        let mut at = self.slot(window);
        if self.slots[at] == 0 {
            if (self.len() + 1) * 4 > self.slots.len() * 3 {
                self.grow();
                at = self.slot(window);
            }
            self.names.extend_from_slice(window);
            self.slots[at] = self.len() as u32;
        }
        self.slots[at] - 1
    }

    /// Where a window is, or would be.
    fn slot(&self, window: &[u32]) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = hash(window) & mask;
        while self.slots[at] != 0 && self.get(self.slots[at] - 1) != window {
            at = (at + 1) & mask;
        }
        at
    }

    fn grow(&mut self) {
        self.slots = vec![0; self.slots.len() * 2];
        for number in 0..self.len() as u32 {
            let at = self.slot(self.get(number));
            self.slots[at] = number + 1;
        }
    }
}

fn hash(window: &[u32]) -> usize {
    let mix =
        |hash: u64, &name: &u32| (hash.rotate_left(23) ^ u64::from(name)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    window.iter().fold(0, mix).rotate_left(26) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use tw_testkit::Rng;

    #[test]
    fn windows_keep_their_numbers() {
        for width in [2, 3, 7] {
            let mut rng = Rng::new(width as u64);
            let (mut windows, mut known) = (Windows::new(width), BTreeMap::new());
            for _ in 0..5_000 {
                let window: Vec<u32> = (0..width).map(|_| rng.below(5) as u32).collect();
                let next = known.len() as u32;
                let number = *known.entry(window.clone()).or_insert(next);
                assert_eq!(windows.number(&window), number);
                assert_eq!(windows.get(number), window);
            }
            assert_eq!(windows.len(), known.len());
        }
    }
}

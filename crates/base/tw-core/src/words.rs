//! Short texts laid end to end.

/// Texts of few bytes, one after the other: what arguments of events mostly are. There is nothing to look up or to allocate for
/// each, as there is with a dictionary, which is better where texts are long and few.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Words {
    text: String,
    /// Where each ends.
    ends: Vec<u32>,
}

impl Words {
    /// Bytes of the longest text that belongs here.
    pub const MOST: usize = 22;

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Appends a text; whether there was room for it, and it is short enough.
    #[inline]
    pub fn push(&mut self, text: &str) -> bool {
        let Ok(end) = u32::try_from(self.text.len() + text.len()) else { return false };
        if text.len() > Self::MOST {
            return false;
        }
        self.text.push_str(text);
        self.ends.push(end);
        true
    }

    /// Appends a text of any length; whether there was room for it.
    #[inline]
    pub fn push_any(&mut self, text: &str) -> bool {
        let Ok(end) = u32::try_from(self.text.len() + text.len()) else { return false };
        self.text.push_str(text);
        self.ends.push(end);
        true
    }

    /// Makes room for so many more texts.
    pub fn reserve(&mut self, additional: usize) {
        self.ends.reserve(additional);
    }

    /// All texts end to end, and where each ends.
    pub fn into_parts(self) -> (String, Vec<u32>) {
        (self.text, self.ends)
    }

    /// The text at `at`.
    #[inline]
    pub fn get(&self, at: usize) -> &str {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.text[start as usize..self.ends[at] as usize]
    }

    /// Whether there is room for the texts of another.
    pub fn has_room(&self, other: &Words) -> bool {
        u32::try_from(self.text.len() + other.text.len()).is_ok()
    }

    /// Appends the texts of another, for which there must be room.
    pub fn append(&mut self, other: &Words) {
        let before = self.text.len() as u32;
        self.text.push_str(&other.text);
        self.ends.extend(other.ends.iter().map(|end| before + end));
    }

    /// The texts `order`, in that order; `None` if there is no room for them.
    #[must_use]
    pub fn gather(&self, order: &[u32]) -> Option<Words> {
        let mut words = Words::default();
        order.iter().all(|&at| words.push(self.get(at as usize))).then_some(words)
    }

    /// Bytes held, about.
    pub fn heap_bytes(&self) -> usize {
        self.text.len() + self.ends.len() * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_what_they_are() {
        let (mut words, texts) = (Words::default(), ["a", "", "éé", "0123456789012345678901"]);
        assert!(texts.iter().all(|text| words.push(text)));
        assert!(!words.push("01234567890123456789012"));
        let mut twice = words.clone();
        assert!(twice.has_room(&words));
        twice.append(&words);
        assert_eq!((0..8).map(|at| twice.get(at)).collect::<Vec<_>>(), [texts, texts].concat());
        let picked = twice.gather(&[6, 0, 6]).unwrap();
        assert_eq!((0..picked.len()).map(|at| picked.get(at)).collect::<Vec<_>>(), ["éé", "a", "éé"]);
    }
}

//! A word per number, in pages that never move: growing costs one page, and numbers that nobody uses cost nothing.

/// Words of a page.
const PAGE: usize = 1 << 10;

/// A word per number, `ABSENT` where none was set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dense<const ABSENT: u32> {
    pages: Vec<Option<Box<[u32; PAGE]>>>,
    /// Pages that are there.
    held: usize,
}

impl<const ABSENT: u32> Dense<ABSENT> {
    /// The word of a number.
    #[inline]
    pub fn get(&self, number: u32) -> u32 {
        match self.pages.get(number as usize / PAGE) {
            Some(Some(page)) => page[number as usize % PAGE],
            _ => ABSENT,
        }
    }

    /// Sets the word of a number.
    #[inline]
    pub fn set(&mut self, number: u32, word: u32) {
        let place = number as usize / PAGE;
        if let Some(Some(page)) = self.pages.get_mut(place) {
            page[number as usize % PAGE] = word;
        } else if word != ABSENT {
            self.page(place)[number as usize % PAGE] = word;
        }
    }

    /// Sets the word of a number; what it was.
    pub fn replace(&mut self, number: u32, word: u32) -> u32 {
        let before = self.get(number);
        self.set(number, word);
        before
    }

    /// Makes room for the word of a number, and of its neighbours.
    pub fn make_room(&mut self, number: u32) {
        self.page(number as usize / PAGE);
    }

    /// A page, made if it is not there.
    #[cold]
    fn page(&mut self, place: usize) -> &mut [u32; PAGE] {
        if self.pages.len() <= place {
            self.pages.resize(place + 1, None);
        }
        self.held += usize::from(self.pages[place].is_none());
        self.pages[place].get_or_insert_with(|| Box::new([ABSENT; PAGE]))
    }

    /// Whether a number costs no further page.
    pub fn has_room(&self, number: u32) -> bool {
        matches!(self.pages.get(number as usize / PAGE), Some(Some(_)))
    }

    /// Numbers whose words are in the page of this one.
    pub fn neighbours(number: u32) -> std::ops::Range<u32> {
        let first = number / PAGE as u32 * PAGE as u32;
        first..first + PAGE as u32
    }

    /// How many words there is room for.
    pub fn room(&self) -> usize {
        self.held * PAGE
    }

    /// The numbers that have a word, and it.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let pages = self.pages.iter().enumerate().filter_map(|(place, page)| Some((place, page.as_ref()?)));
        let words = pages.flat_map(|(place, page)| {
            page.iter().enumerate().map(move |(nth, &word)| ((place * PAGE + nth) as u32, word))
        });
        words.filter(|&(_, word)| word != ABSENT)
    }

    /// Forgets the words that are not kept.
    pub fn retain(&mut self, kept: impl Fn(u32, u32) -> bool) {
        for (place, page) in self.pages.iter_mut().enumerate() {
            let Some(words) = page else { continue };
            let mut empty = true;
            for (nth, word) in words.iter_mut().enumerate().filter(|(_, word)| **word != ABSENT) {
                match kept((place * PAGE + nth) as u32, *word) {
                    true => empty = false,
                    false => *word = ABSENT,
                }
            }
            if empty {
                *page = None;
                self.held -= 1;
            }
        }
    }

    /// Bytes held, about.
    pub fn heap_bytes(&self) -> usize {
        self.room() * 4 + self.pages.capacity() * size_of::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_where_they_were_put() {
        let mut dense = Dense::<7>::default();
        dense.set(5, 7);
        assert_eq!((dense.get(5), dense.heap_bytes()), (7, 0));
        dense.set(5_000_000, 1);
        dense.set(3, 2);
        assert_eq!((dense.get(3), dense.get(4), dense.get(5_000_000), dense.get(u32::MAX)), (2, 7, 1, 7));
        assert_eq!((dense.room(), dense.has_room(1000), dense.has_room(2000)), (2048, true, false));
        assert!(Dense::<7>::neighbours(5_000_000).contains(&5_000_000));
        dense.retain(|_, word| word == 2);
        assert_eq!((dense.iter().collect::<Vec<_>>(), dense.room()), (vec![(3, 2)], 1024));
    }
}

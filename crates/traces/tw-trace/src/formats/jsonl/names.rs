//! A cache from short texts to ids, found by one comparison of 32 bytes instead of a loop: which of a few words comes
//! next is what the machine's branch prediction cannot know, so nothing here branches on it.

use super::lanes::Lanes;
use super::scalar::Bytes;

const ENTRIES: usize = 256;
/// Longest text that is cached.
const LONGEST: usize = 32;

#[derive(Clone)]
#[repr(C, align(64))]
struct Entry {
    text: [u8; LONGEST],
    len: u32,
    id: u32,
}

/// The cache: each text has one place it can be in, and the latest stays.
pub(super) struct Names {
    entries: Vec<Entry>,
}

impl Names {
    pub(super) fn new() -> Self {
        Self { entries: vec![Entry { text: [0; LONGEST], len: u32::MAX, id: 0 }; ENTRIES] }
    }

    /// The id of the text from `at` to `end`, if it is cached.
    #[inline(always)]
    pub(super) fn get<L: Lanes>(&self, bytes: Bytes, at: usize, end: usize) -> Option<u32> {
        let len = end - at;
        let entry = &self.entries[place(bytes, at, len)];
        let mask = if len >= 32 { u32::MAX } else { (1 << len) - 1 };
        // SAFETY: an entry has 32 bytes, and as many follow any byte the walker may stand on.
        let equal = unsafe { L::equal(entry.text.as_ptr(), bytes.pointer(at)) };
        (entry.len == len as u32 && !equal & mask == 0).then_some(entry.id)
    }

    /// Caches the id of the text from `at` to `end`.
    pub(super) fn put(&mut self, bytes: Bytes, at: usize, end: usize, id: u32) {
        let len = end - at;
        if len <= LONGEST {
            let entry = &mut self.entries[place(bytes, at, len)];
            entry.text[..len].copy_from_slice(bytes.slice(at, end));
            (entry.len, entry.id) = (len as u32, id);
        }
    }
}

/// By its first and last bytes and its length.
#[inline(always)]
fn place(bytes: Bytes, at: usize, len: usize) -> usize {
    let mask = if len >= 8 { u64::MAX } else { (1 << (8 * len)) - 1 };
    let first = bytes.eight(at) & mask;
    let last = bytes.eight(at + len.saturating_sub(8)) & mask;
    let mixed = (first ^ last.rotate_left(29) ^ len as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 56) as usize % ENTRIES
}

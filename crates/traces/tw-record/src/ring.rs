//! The recorder's end of the memory that it shares with the processes it records. The layout is that of `preload/ring.h`.

use crate::json::Record;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const MAGIC: u64 = 0x5452_4143_4557_4953;
const VERSION: u64 = 2;
/// Threads that can be recorded at the same time.
pub(crate) const SLOTS: usize = 1024;
const RING_WORDS: usize = 32768;
const HEADER_WORDS: usize = 512;
const SLOT_WORDS: usize = 16;
const RINGS_AT: usize = HEADER_WORDS + SLOTS * SLOT_WORDS;
const WORDS: usize = RINGS_AT + SLOTS * RING_WORDS;

/// A word of a slot's kind: the process number is not one that the recorder knows; the thread has another slot, too.
const FOREIGN: u32 = 1;
const NESTED: u32 = 2;
/// The state of a slot.
pub(crate) const FREE: u32 = 0;
pub(crate) const CLAIMED: u32 = 1;
pub(crate) const ENDED: u32 = 3;

/// The shared memory.
pub(crate) struct Shared {
    words: *mut u64,
}

// SAFETY: the memory is that of a mapping which this value owns; all access to it is atomic.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// Makes the file as large as it has to be (it has holes until threads come) and maps it.
    pub(crate) fn new(file: &File) -> io::Result<Self> {
        file.set_len((WORDS * 8) as u64)?;
        // SAFETY: a new shared mapping of a file of this length; the result is checked.
        let memory = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                WORDS * 8,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_NORESERVE,
                file.as_raw_fd(),
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let shared = Self { words: memory.cast() };
        // Process numbers mean the same where this is the same; 0 where it cannot be told.
        let numbers = std::fs::metadata("/proc/self/ns/pid").map_or(0, |data| data.ino());
        shared.word(5).store(numbers, Ordering::Relaxed);
        shared.word(1).store(VERSION | u64::from(std::process::id()) << 32, Ordering::Relaxed);
        shared.word(0).store(MAGIC, Ordering::Release);
        Ok(shared)
    }

    fn word(&self, index: usize) -> &AtomicU64 {
        assert!(index < WORDS);
        // SAFETY: within the mapping, aligned, and never accessed other than atomically.
        unsafe { AtomicU64::from_ptr(self.words.add(index)) }
    }

    fn half(&self, index: usize) -> &AtomicU32 {
        assert!(index < 2 * WORDS);
        // SAFETY: as for words; the two halves of a word that is used so are never accessed as one.
        unsafe { AtomicU32::from_ptr(self.words.cast::<u32>().add(index)) }
    }

    /// Nobody reads any more: programs go on unrecorded.
    pub(crate) fn close(&self) {
        self.half(4).store(1, Ordering::Release);
    }

    /// Somebody judges while programs run.
    pub(crate) fn checking(&self) {
        self.half(5).store(1, Ordering::Release);
    }

    /// A verdict was told.
    pub(crate) fn told(&self) {
        self.half(6).fetch_add(1, Ordering::Release);
    }

    /// Events that programs could not write.
    pub(crate) fn lost(&self) -> u64 {
        self.word(4).load(Ordering::Acquire)
    }

    /// Places in the order of events that were given out.
    pub(crate) fn tickets(&self) -> u64 {
        self.word(8).load(Ordering::Acquire)
    }

    pub(crate) fn slot(&self, index: usize) -> Slot<'_> {
        Slot { shared: self, at: HEADER_WORDS + index * SLOT_WORDS, ring: RINGS_AT + index * RING_WORDS }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's, and ends with it.
        unsafe { libc::munmap(self.words.cast(), WORDS * 8) };
    }
}

/// The place of a thread.
pub(crate) struct Slot<'s> {
    shared: &'s Shared,
    at: usize,
    ring: usize,
}

impl Slot<'_> {
    fn state_word(&self) -> &AtomicU32 {
        self.shared.half(2 * self.at)
    }

    pub(crate) fn state(&self) -> u32 {
        self.state_word().load(Ordering::Acquire)
    }

    /// What its process was has ended.
    pub(crate) fn end(&self) {
        self.state_word().store(ENDED, Ordering::Release);
    }

    pub(crate) fn pid(&self) -> u32 {
        self.shared.half(2 * self.at + 1).load(Ordering::Acquire)
    }

    pub(crate) fn tid(&self) -> u32 {
        self.shared.half(2 * self.at + 2).load(Ordering::Acquire)
    }

    /// Whether its process can be asked for by its number.
    pub(crate) fn foreign(&self) -> bool {
        self.kind() & FOREIGN != 0
    }

    /// Whether it is the second one of a thread.
    pub(crate) fn nested(&self) -> bool {
        self.kind() & NESTED != 0
    }

    fn kind(&self) -> u32 {
        self.shared.half(2 * self.at + 3).load(Ordering::Acquire)
    }

    fn head(&self) -> &AtomicU64 {
        self.shared.word(self.at + 2)
    }

    fn tail(&self) -> &AtomicU64 {
        self.shared.word(self.at + 8)
    }

    /// Hands on every record that is there; whether there was one. `words` is room that is used again.
    pub(crate) fn drain(&self, words: &mut Vec<u64>, take: &mut dyn FnMut(Record<'_>)) -> bool {
        let (pid, thread, foreign) = (self.pid(), self.tid(), self.foreign());
        let start = self.tail().load(Ordering::Relaxed);
        let mut tail = start;
        let head = self.head().load(Ordering::Acquire);
        while tail != head {
            let length = self.ring_word(tail).load(Ordering::Relaxed) >> 32;
            // A process that writes over its ring may damage it, but not us. Where its next record begins is not known then.
            if !(5..=head.wrapping_sub(tail).min(RING_WORDS as u64)).contains(&length) {
                self.tail().store(head, Ordering::Release);
                break;
            }
            words.clear();
            words.extend((0..length).map(|index| self.ring_word(tail + index).load(Ordering::Relaxed)));
            tail += length;
            // Seen by a thread that waits for room.
            self.tail().store(tail, Ordering::Release);
            take(Record { words, pid, thread, foreign });
        }
        tail != start
    }

    fn ring_word(&self, position: u64) -> &AtomicU64 {
        self.shared.word(self.ring + position as usize % RING_WORDS)
    }

    /// Makes it free for another thread.
    pub(crate) fn free(&self) {
        self.head().store(0, Ordering::Relaxed);
        self.tail().store(0, Ordering::Relaxed);
        self.shared.half(2 * self.at + 1).store(0, Ordering::Relaxed);
        self.state_word().store(FREE, Ordering::Release);
    }
}

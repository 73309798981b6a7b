//! Values by number, one table per kind of thing: the paper's table of references.
//!
//! Parameters that read one argument of a trace event are of one *class*, in whatever monitors they stand; so are those of one
//! monitor whose values are compared with each other. All monitors share the numbers of a class, which index dense arrays. Small
//! whole numbers are found by place, in pages, others by hash. A whole number takes 12 bytes, or 8 and a place in a table.

use crate::dense::Dense;
use crate::table::Table;
use rustc_hash::{FxHashMap, FxHasher};
use std::borrow::Cow;
use std::hash::Hasher;
use std::sync::Arc;
use tw_core::codec::{Corrupt, put, put_value, take_len, take_value};
use tw_core::{Column, Value};

/// The number of a value in its class.
pub(crate) type Handle = u32;
/// No value, no record, no object.
pub(crate) const NONE: u32 = u32::MAX;
/// Whole numbers below this may be found by place.
const SMALL: i64 = 1 << 26;
/// Places for them: so many for each value that there is, and so many in any case.
const SPARSE: usize = 4;
const FREELY: usize = 1 << 16;
/// Values of a piece.
const PIECE: usize = 1 << 10;
/// Words below this are places of `rest`.
const REST: i64 = i64::MIN + (1 << 33);

/// The values of one class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values {
    /// Of each number the whole number that it is, or a place in `rest`; in pieces that never move.
    words: Vec<Box<[i64; PIECE]>>,
    len: usize,
    /// Values that are no whole numbers, and places that are free again.
    rest: Vec<Value>,
    rest_free: Vec<u32>,
    /// Numbers that are free again.
    free: Vec<Handle>,
    small: Dense<NONE>,
    whole: Table,
    texts: Table,
    /// What is left, by its text.
    others: FxHashMap<String, Handle>,
    /// How many there were after the last sweep.
    kept: usize,
    /// Bytes of the texts.
    text_bytes: usize,
}

/// The whole number that a value equals, if it does so exactly.
fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Int(int) => Some(*int),
        Value::Real(real) if real.fract() == 0.0 && real.abs() < 9e15 => Some(*real as i64),
        _ => None,
    }
}

/// One text for equal values.
fn name(value: &Value) -> String {
    match (whole(value), value) {
        (Some(int), _) => int.to_string(),
        (_, Value::List(items)) => format!("[{}]", items.iter().map(name).collect::<Vec<_>>().join(",")),
        _ => format!("{value:?}"),
    }
}

#[inline]
fn int_hash(int: i64) -> u32 {
    let mixed = (int as u64 ^ int as u64 >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) as u32
}

/// The same of whole numbers whose places are in one line of memory, so that threads do not both need it.
#[inline]
pub(crate) fn near_hash(int: i64) -> u32 {
    int_hash(int >> 4)
}

pub(crate) fn text_hash(text: &str) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write(text.as_bytes());
    int_hash(hasher.finish() as i64)
}

/// A number that equal values share, by which they are divided.
pub(crate) fn value_hash(value: &Value) -> u32 {
    match (whole(value), value) {
        (Some(int), _) => near_hash(int),
        (_, Value::Str(text)) => text_hash(text),
        _ => text_hash(&name(value)),
    }
}

impl Values {
    #[inline]
    fn word(&self, handle: Handle) -> i64 {
        self.words[handle as usize / PIECE][handle as usize % PIECE]
    }

    fn add_word(&mut self, word: i64) -> Handle {
        let handle = self.free.pop().unwrap_or_else(|| {
            if self.len == self.words.len() * PIECE {
                self.words.push(Box::new([0; PIECE]));
            }
            self.len += 1;
            (self.len - 1) as Handle
        });
        self.words[handle as usize / PIECE][handle as usize % PIECE] = word;
        handle
    }

    fn add(&mut self, value: Value) -> Handle {
        let place = match self.rest_free.pop() {
            Some(place) => {
                self.rest[place as usize] = value;
                place
            }
            None => {
                self.rest.push(value);
                (self.rest.len() - 1) as u32
            }
        };
        self.add_word(i64::MIN + i64::from(place))
    }

    /// The number of a whole number.
    #[inline]
    pub fn int(&mut self, int: i64) -> Handle {
        if (0..SMALL).contains(&int) {
            let known = self.small.get(int as u32);
            if known != NONE {
                return known;
            }
        }
        self.rare_int(int)
    }

    #[cold]
    fn rare_int(&mut self, int: i64) -> Handle {
        if (0..SMALL).contains(&int) {
            let own = int as u32;
            if !self.small.has_room(own) && self.small.room() < FREELY + SPARSE * self.len {
                self.move_page(own);
            }
            if self.small.has_room(own) {
                if self.small.get(own) == NONE {
                    let handle = self.add_word(int);
                    self.small.set(own, handle);
                }
                return self.small.get(own);
            }
        }
        if int < REST {
            return self.named(&Value::Int(int));
        }
        let hash = int_hash(int);
        let known = self.whole.find(hash, |own| self.word(own) == int);
        if known != NONE {
            return known;
        }
        let handle = self.add_word(int);
        self.whole.add(hash, handle);
        handle
    }

    /// Makes a page of places, for numbers that were found by hash so far too.
    fn move_page(&mut self, own: u32) {
        self.small.make_room(own);
        for int in Dense::<NONE>::neighbours(own) {
            let hash = int_hash(i64::from(int));
            let known = self.whole.find(hash, |own| self.word(own) == i64::from(int));
            if known != NONE {
                self.whole.remove(hash, |own| own == known);
                self.small.set(int, known);
            }
        }
    }

    fn text(&mut self, text: Cow<'_, Arc<str>>) -> Handle {
        let hash = text_hash(&text);
        let known = self.find_text(hash, &text);
        if known != NONE {
            return known;
        }
        self.text_bytes += text.len() + 16;
        let handle = self.add(Value::Str(text.into_owned()));
        self.texts.add(hash, handle);
        handle
    }

    fn find_text(&self, hash: u32, text: &str) -> Handle {
        let same = |own: u32| matches!(self.rest_of(own), Some(Value::Str(own)) if **own == *text);
        self.texts.find(hash, same)
    }

    /// What a number that is no whole number's is.
    fn rest_of(&self, handle: Handle) -> Option<&Value> {
        let word = self.word(handle);
        (word < REST).then(|| &self.rest[(word - i64::MIN) as usize])
    }

    /// A value that is found by its text.
    fn named(&mut self, value: &Value) -> Handle {
        let name = name(value);
        if let Some(&handle) = self.others.get(&name) {
            return handle;
        }
        let handle = self.add(value.clone());
        self.others.insert(name, handle);
        handle
    }

    /// The number of a value.
    pub fn of(&mut self, value: &Value) -> Handle {
        match (whole(value), value) {
            (Some(int), _) => self.int(int),
            (_, Value::Str(text)) => self.text(Cow::Borrowed(text)),
            _ => self.named(value),
        }
    }

    /// The number of a value in a column. `known` has the numbers of a dictionary's texts as far as they are known.
    #[inline]
    pub fn at(&mut self, column: &Column, at: usize, known: &mut Dense<NONE>) -> Handle {
        match column {
            Column::Int { values, valid } if valid.get(at) => self.int(values[at]),
            Column::Text { ids, dictionary, valid } if valid.get(at) => match known.get(ids[at]) {
                NONE => {
                    let handle = self.text(Cow::Borrowed(&dictionary.entries[ids[at] as usize]));
                    known.set(ids[at], handle);
                    handle
                }
                handle => handle,
            },
            Column::Words(words) => {
                let text = words.get(at);
                match self.find_text(text_hash(text), text) {
                    NONE => self.text(Cow::Owned(text.into())),
                    handle => handle,
                }
            }
            other => self.of(&other.value(at)),
        }
    }

    /// The value with that number.
    pub fn value(&self, handle: Handle) -> Value {
        self.rest_of(handle).cloned().unwrap_or_else(|| Value::Int(self.word(handle)))
    }

    /// Numbers given so far, those that are free again included.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Numbers in use.
    pub fn used(&self) -> usize {
        self.len - self.free.len()
    }

    /// Whether there are so many more than after the last sweep that another is worth it.
    pub fn grown(&self) -> bool {
        self.used() > 2 * self.kept + (1 << 16)
    }

    /// Frees the numbers that are not marked.
    pub fn sweep(&mut self, used: &[bool]) {
        let kept = |handle: Handle| used.get(handle as usize).copied().unwrap_or(false);
        self.small.retain(|_, handle| kept(handle));
        self.whole.retain(kept);
        self.texts.retain(kept);
        self.others.retain(|_, handle| kept(*handle));
        self.free = (0..self.len as Handle).filter(|&handle| !kept(handle)).collect();
        for nth in 0..self.free.len() {
            let handle = self.free[nth];
            let word = self.word(handle);
            if word < REST {
                let place = (word - i64::MIN) as usize;
                if let Value::Str(text) = std::mem::replace(&mut self.rest[place], Value::Null) {
                    self.text_bytes -= text.len() + 16;
                }
                self.rest_free.push(place as u32);
                self.words[handle as usize / PIECE][handle as usize % PIECE] = 0;
            }
        }
        self.kept = self.len - self.free.len();
    }

    /// Bytes held, about.
    pub fn heap_bytes(&self) -> usize {
        self.words.len() * PIECE * 8
            + self.rest.capacity() * size_of::<Value>()
            + self.text_bytes
            + (self.rest_free.capacity() + self.free.capacity()) * 4
            + self.small.heap_bytes()
            + self.whole.heap_bytes()
            + self.texts.heap_bytes()
            + self.others.capacity() * 64
    }

    /// Writes all values.
    pub fn save(&self, out: &mut Vec<u8>) {
        put(self.len as u64, out);
        (0..self.len as Handle).for_each(|handle| put_value(&self.value(handle), out));
        put(self.free.len() as u64, out);
        self.free.iter().for_each(|&handle| put(u64::from(handle), out));
    }

    /// Reads them back.
    pub fn load(from: &mut &[u8]) -> Result<Self, Corrupt> {
        let mut read = Vec::new();
        for _ in 0..take_len(from)? {
            read.push(take_value(from)?);
        }
        let mut own = Self::default();
        let mut free = vec![false; read.len()];
        for _ in 0..take_len(from)? {
            let handle = number(from, read.len())?;
            if std::mem::replace(&mut free[handle as usize], true) {
                return Err(Corrupt("the saved state of a monitor frees a value twice".into()));
            }
            own.free.push(handle);
        }
        let free_later = std::mem::take(&mut own.free);
        for (handle, value) in read.iter().enumerate() {
            // What is free takes its number too.
            let given = if free[handle] { own.add_word(0) } else { own.of(value) };
            if given as usize != handle {
                return Err(Corrupt("the saved state of a monitor holds a value twice".into()));
            }
        }
        own.free = free_later;
        own.kept = own.len - own.free.len();
        Ok(own)
    }
}

/// A number below `limit`.
pub(crate) fn number(from: &mut &[u8], limit: usize) -> Result<u32, Corrupt> {
    let number = tw_core::codec::take(from)?;
    match number < limit as u64 {
        true => Ok(number as u32),
        false => {
            Err(Corrupt(format!("the saved state of a monitor holds {number}, expected less than {limit}")))
        }
    }
}

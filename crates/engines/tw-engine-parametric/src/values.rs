//! Values by number, one table per kind of thing: the paper's table of references.
//!
//! Parameters that read one argument of a trace event are of one *class*, in whatever monitors they stand; so are those of one
//! monitor whose values are compared with each other. All monitors share the numbers of a class, which index dense arrays. Small
//! whole numbers are found by place, others by hash.

use rustc_hash::FxHashMap;
use std::sync::Arc;
use tw_core::codec::{Corrupt, put, put_value, take_len, take_value};
use tw_core::{Column, Value};

/// The number of a value in its class.
pub(crate) type Handle = u32;
/// No value, no record, no object.
pub(crate) const NONE: u32 = u32::MAX;
/// Whole numbers below this, times how many there are, are found by place.
const SPARSE: usize = 4;

/// The values of one class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values {
    values: Vec<Value>,
    /// Numbers that are free again.
    free: Vec<Handle>,
    small: Vec<Handle>,
    whole: FxHashMap<i64, Handle>,
    texts: FxHashMap<Arc<str>, Handle>,
    /// What is left, by its text.
    others: FxHashMap<String, Handle>,
    /// How many there were after the last sweep.
    kept: usize,
    /// Bytes of the texts, which the index shares.
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

impl Values {
    fn add(&mut self, value: Value) -> Handle {
        match self.free.pop() {
            Some(handle) => {
                self.values[handle as usize] = value;
                handle
            }
            None => {
                self.values.push(value);
                (self.values.len() - 1) as Handle
            }
        }
    }

    #[inline]
    fn int(&mut self, int: i64) -> Handle {
        match self.small.get(int as usize) {
            Some(&handle) if int >= 0 && handle != NONE => handle,
            _ => self.rare_int(int),
        }
    }

    #[cold]
    fn rare_int(&mut self, int: i64) -> Handle {
        if let Some(&handle) = self.whole.get(&int) {
            return handle;
        }
        let handle = self.add(Value::Int(int));
        let limit = (SPARSE * self.values.len()).max(1 << 16);
        if (0..limit as i64).contains(&int) {
            if self.small.len() <= int as usize {
                self.small.resize(int as usize + 1, NONE);
            }
            self.small[int as usize] = handle;
        } else {
            self.whole.insert(int, handle);
        }
        handle
    }

    fn text(&mut self, text: &Arc<str>) -> Handle {
        if let Some(&handle) = self.texts.get(text) {
            return handle;
        }
        self.text_bytes += text.len() + 16;
        let handle = self.add(Value::Str(text.clone()));
        self.texts.insert(text.clone(), handle);
        handle
    }

    /// The number of a value.
    pub fn of(&mut self, value: &Value) -> Handle {
        if let Some(int) = whole(value) {
            return self.int(int);
        }
        if let Value::Str(text) = value {
            return self.text(text);
        }
        let name = name(value);
        if let Some(&handle) = self.others.get(&name) {
            return handle;
        }
        let handle = self.add(value.clone());
        self.others.insert(name, handle);
        handle
    }

    /// The numbers of a column.
    pub fn column(&mut self, column: &Column, out: &mut Vec<Handle>) {
        out.clear();
        match column {
            Column::Int { values, valid } if valid.count_ones() == values.len() => {
                out.extend(values.iter().map(|&int| self.int(int)));
            }
            Column::Text { ids, dictionary, valid } if valid.count_ones() == ids.len() => {
                let mut known = vec![NONE; dictionary.entries.len()];
                out.extend(ids.iter().map(|&id| {
                    let known = &mut known[id as usize];
                    if *known == NONE {
                        *known = self.text(&dictionary.entries[id as usize]);
                    }
                    *known
                }));
            }
            Column::Words(words) => {
                for at in 0..words.len() {
                    out.push(match words.get(at) {
                        text => match self.texts.get(text) {
                            Some(&handle) => handle,
                            None => self.text(&text.into()),
                        },
                    });
                }
            }
            other => out.extend((0..other.len()).map(|at| self.of(&other.value(at)))),
        }
    }

    /// The value with that number.
    pub fn value(&self, handle: Handle) -> &Value {
        &self.values[handle as usize]
    }

    /// Numbers given so far, those that are free again included.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are so many more than after the last sweep that another is worth it.
    pub fn grown(&self) -> bool {
        self.values.len() - self.free.len() > 2 * self.kept + (1 << 16)
    }

    /// Frees the numbers that are not marked.
    pub fn sweep(&mut self, used: &[bool]) {
        let gone = |handle: &Handle| !used.get(*handle as usize).copied().unwrap_or(false);
        self.small.iter_mut().filter(|handle| **handle != NONE && gone(handle)).for_each(|own| *own = NONE);
        self.whole.retain(|_, handle| !gone(handle));
        self.texts.retain(|_, handle| !gone(handle));
        self.text_bytes = self.texts.keys().map(|text| text.len() + 16).sum();
        self.others.retain(|_, handle| !gone(handle));
        self.free = (0..self.values.len() as Handle).filter(gone).collect();
        self.free.iter().for_each(|&handle| self.values[handle as usize] = Value::Null);
        self.kept = self.values.len() - self.free.len();
    }

    /// Bytes held, about.
    pub fn heap_bytes(&self) -> usize {
        self.values.capacity() * size_of::<Value>()
            + self.text_bytes
            + (self.small.capacity() + self.free.capacity()) * 4
            + self.whole.capacity() * 18
            + self.texts.capacity() * 26
            + self.others.capacity() * 64
    }

    /// Writes all values.
    pub fn save(&self, out: &mut Vec<u8>) {
        put(self.values.len() as u64, out);
        self.values.iter().for_each(|value| put_value(value, out));
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
        for _ in 0..take_len(from)? {
            own.free.push(number(from, read.len())?);
        }
        let mut free = vec![false; read.len()];
        own.free.iter().for_each(|&handle| free[handle as usize] = true);
        for (handle, value) in read.into_iter().enumerate() {
            let handle = handle as Handle;
            if !free[handle as usize] {
                match (whole(&value), &value) {
                    (Some(int), _) => drop(own.whole.insert(int, handle)),
                    (_, Value::Str(text)) => drop(own.texts.insert(text.clone(), handle)),
                    _ => drop(own.others.insert(name(&value), handle)),
                }
            }
            own.values.push(value);
        }
        own.kept = own.values.len() - own.free.len();
        own.text_bytes = own.texts.keys().map(|text| text.len() + 16).sum();
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

//! Values in classes of equal ones, the most frequent first.

use crate::class::key::encode;
use foldhash::fast::FixedState;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use tw_core::Value;

/// The size of a class and what it is known by: the largest first, then the least.
type Rank = (Reverse<u64>, Arc<[u8]>);

/// How often each value is there.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    /// Of each class its values, oldest first; of a count alone as many nulls.
    classes: HashMap<Arc<[u8]>, Class, FixedState>,
    /// Classes by their size, then by the order of values; nothing unless that is asked for.
    ranks: Option<BTreeSet<Rank>>,
}

#[derive(Clone, Debug, Default)]
struct Class {
    times: u64,
    values: VecDeque<Value>,
}

impl Classes {
    pub fn new(ranked: bool) -> Self {
        Self { classes: HashMap::default(), ranks: ranked.then(BTreeSet::new) }
    }

    /// Adds a value: what its class is known by.
    pub fn add(&mut self, value: &Value) -> Arc<[u8]> {
        let mut bytes = Vec::new();
        encode(value, &mut bytes);
        let key: Arc<[u8]> = match self.classes.get_key_value(bytes.as_slice()) {
            Some((key, _)) => key.clone(),
            None => bytes.into(),
        };
        let class = self.classes.entry(key.clone()).or_default();
        if let Some(ranks) = &mut self.ranks {
            ranks.remove(&(Reverse(class.times), key.clone()));
            ranks.insert((Reverse(class.times + 1), key.clone()));
            class.values.push_back(value.clone());
        }
        class.times += 1;
        key
    }

    /// Takes back the oldest value of a class.
    pub fn remove(&mut self, key: &Arc<[u8]>) {
        let Some(class) = self.classes.get_mut(key) else { return };
        class.times -= 1;
        class.values.pop_front();
        let times = class.times;
        if let Some(ranks) = &mut self.ranks {
            ranks.remove(&(Reverse(times + 1), key.clone()));
            if times > 0 {
                ranks.insert((Reverse(times), key.clone()));
            }
        }
        if times == 0 {
            self.classes.remove(key);
        }
    }

    pub fn distinct(&self) -> Value {
        Value::Int(self.classes.len() as i64)
    }

    /// The most frequent value, of several the least; a whole number if it was written as one, else as it came first.
    pub fn mode(&self) -> Value {
        let first = self.ranks.as_ref().and_then(|ranks| ranks.first());
        let Some(class) = first.and_then(|(_, key)| self.classes.get(key)) else { return Value::Null };
        let whole = class.values.iter().find(|value| matches!(value, Value::Int(_)));
        whole.or_else(|| class.values.front()).cloned().unwrap_or(Value::Null)
    }
}

//! Classes that earlier runs knew.

use super::Classes;
use crate::Error;
use tw_classify::{Entry, Store};

impl Classes {
    /// Asks the store at `path` which classes are known, and adds those that are not. It is made if there is none.
    pub fn remember(&mut self, path: &str) -> Result<(), Error> {
        let entries: Vec<Entry> = self
            .found
            .iter()
            .map(|class| Entry {
                property: class.property.clone(),
                rules: class.rules.to_string(),
                class: class.class.clone(),
                verdict: class.verdict.as_str().into(),
                hologram: class.hologram.clone(),
                why: class.why.clone(),
                example: class.examples.first().cloned().unwrap_or_default(),
                severity: class.severity,
                traces: class.traces,
            })
            .collect();
        let refused = |error: tw_classify::StoreError| Error::refused(error.to_string());
        let known = Store::open(path).and_then(|mut store| store.note(&entries)).map_err(refused)?;
        self.found.iter_mut().zip(known).for_each(|(class, known)| class.known = known);
        self.stored = true;
        Ok(())
    }

    /// Whether there is a store that can be used, or can be made, before anything is read.
    pub fn try_store(path: &str) -> Result<(), Error> {
        Store::open(path).map(drop).map_err(|error| Error::refused(error.to_string()))
    }
}

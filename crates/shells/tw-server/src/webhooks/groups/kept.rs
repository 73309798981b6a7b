//! What groups keep on disk: the numbers of violations, whose texts are in their log.

use super::{Batch, Group, Groups};
use crate::pack::{Packer, Unpacker, read};
use crate::webhooks::Settings;
use std::io;
use std::path::Path;

const MAGIC: &str = "tracewise state of a webhook 1";

impl Groups {
    /// Keeps all of it.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let mut pack = Packer::default();
        pack.number(self.next);
        pack.number(self.by.len() as u64);
        self.by.iter().for_each(|name| pack.bytes(name.as_bytes()));
        pack.number(self.all.len() as u64);
        for (key, group) in &self.all {
            key.iter().for_each(|value| pack.bytes(value.as_bytes()));
            for number in [u64::from(group.failures), group.due, group.told, group.found] {
                pack.number(number);
            }
            for batch in [Some(&group.waiting), group.sending.as_ref(), group.taken.as_ref()] {
                pack.number(u64::from(batch.is_some()));
                let Some(batch) = batch else { continue };
                for number in [batch.count, batch.last, u64::from(batch.again), batch.listed.len() as u64] {
                    pack.number(number);
                }
                batch.listed.iter().for_each(|(number, _)| pack.number(*number));
            }
        }
        pack.write(path, MAGIC)
    }

    /// Reads it back; where groups are made otherwise now, only how far it was.
    pub fn load(settings: &Settings, path: &Path) -> io::Result<Option<Self>> {
        let Some(file) = read(path)? else { return Ok(None) };
        let mut from = Unpacker::new(&file, MAGIC)?;
        let mut groups = Self::new(settings, from.number()?);
        let by = (0..from.number()?).map(|_| Ok(from.text()?.to_string())).collect::<io::Result<Vec<_>>>()?;
        for _ in 0..from.number()? {
            let key = (0..by.len()).map(|_| Ok(from.text()?.to_string())).collect::<io::Result<Vec<_>>>()?;
            let mut group = Group {
                failures: from.number()?.min(1000) as u32,
                due: from.number()?,
                told: from.number()?,
                found: from.number()?,
                ..Group::default()
            };
            let mut batches = [None, None, None];
            for batch in &mut batches {
                if from.number()? == 0 {
                    continue;
                }
                let mut own = Batch {
                    count: from.number()?,
                    last: from.number()?,
                    again: from.number()? > 0,
                    listed: Vec::new(),
                };
                for _ in 0..from.number()? {
                    own.listed.push((from.number()?, None));
                }
                *batch = Some(own);
            }
            let [waiting, sending, taken] = batches;
            (group.waiting, group.sending, group.taken) = (waiting.unwrap_or_default(), sending, taken);
            groups.all.insert(key, group);
        }
        if by != groups.by {
            // What nobody has taken is grouped anew.
            let open = |own: &Group| {
                let sending = own.sending.as_ref().filter(|batch| !batch.again).and_then(Batch::first);
                sending.into_iter().chain(own.waiting.first()).min()
            };
            groups.next = groups.all.values().filter_map(open).min().unwrap_or(groups.next);
            groups.all.clear();
        }
        Ok(Some(groups))
    }
}

impl Batch {
    fn first(&self) -> Option<u64> {
        self.listed.first().map(|(number, _)| *number)
    }
}

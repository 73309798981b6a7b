//! The whole state, written and read back.

use super::Online;
use super::graph::Edge;
use tw_core::codec::{Corrupt, put, put_option, take, take_option};

impl Online {
    /// The whole state, for another process with the same program and options to [`Online::load`].
    pub fn save(&self, out: &mut Vec<u8>) {
        put(self.roots.len() as u64, out);
        for root in &self.roots {
            put(root.verdict.map_or(2, u64::from), out);
        }
        self.network.save(out);
        put_option(self.last, out);
        put(u64::from(self.ended), out);
        for root in &self.roots {
            put(root.told, out);
            root.parts.iter().for_each(|part| part.save(out));
            if let (None, Some(foresight)) = (root.verdict, &root.foresight) {
                foresight.save(out);
            }
        }
    }

    /// Continues from what [`Online::save`] wrote, advancing `from`. After an error this is of no use any more.
    pub fn load(&mut self, from: &mut &[u8]) -> Result<(), Corrupt> {
        if take(from)? != self.roots.len() as u64 {
            return Err(Corrupt("the saved state is of another number of properties".into()));
        }
        for root in &mut self.roots {
            root.verdict = match take(from)? {
                2 => None,
                verdict => Some(verdict == 1),
            };
        }
        self.ask();
        self.network.load(from)?;
        self.last = take_option(from)?;
        self.ended = take(from)? == 1;
        for root in &mut self.roots {
            root.told = take(from)?;
            let told = root.told <= self.network.len;
            if !told || !root.each.is_none_or(|each| self.network.holds_from(each, root.told)) {
                return Err(Corrupt("the saved state has told other positions than it says".into()));
            }
            for part in &mut root.parts {
                part.load(self.network.len, from)?;
                if root.verdict.is_some() || part.verdict.is_some() {
                    continue;
                }
                let held = |&atom: &Edge| self.network.holds_from(atom, part.row);
                // Rows that are complete have been read.
                let open = |&atom: &Edge| self.network.known(atom, part.row).is_none();
                let read = || part.row == self.network.len || part.atoms.iter().any(open);
                if !(part.atoms.iter().all(held) && read()) {
                    return Err(Corrupt("the saved state lacks positions".into()));
                }
            }
            if let (None, Some(foresight)) = (root.verdict, &mut root.foresight) {
                foresight.load(from)?;
            }
        }
        if self.heap_bytes() > self.memory_budget {
            return Err(Corrupt(format!("the saved state takes more than {} bytes", self.memory_budget)));
        }
        self.tidy = self.network.len;
        Ok(())
    }
}

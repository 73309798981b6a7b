//! The state of all operators, written and read back.

use super::{Cell, Network, Witnesses};
use crate::online::graph::Kind;
use crate::online::stream::{Stream, Times};
use tw_core::codec::{Corrupt, put, put_option, put_signed, take, take_option, take_signed};

impl Network {
    pub(in crate::online) fn save(&self, out: &mut Vec<u8>) {
        put(self.len, out);
        put(self.cells.len() as u64, out);
        put_option(self.passed, out);
        put(u64::from(self.ended), out);
        self.times.save(out);
        for cell in self.cells.iter().filter(|cell| cell.live) {
            cell.out.save(out);
            put(cell.read, out);
            let past = cell.past.as_deref();
            put_option(past.and_then(|past| past.ready), out);
            put(past.map_or(0, |past| past.waiting.len() as u64), out);
            past.iter().flat_map(|past| &past.waiting).for_each(|&time| put_signed(time, out));
        }
    }

    /// Reads back what [`Network::save`] wrote; the same operators are asked for.
    pub(in crate::online) fn load(&mut self, from: &mut &[u8]) -> Result<(), Corrupt> {
        self.len = take(from)?;
        if self.len > i64::MAX as u64 {
            return Err(Corrupt("the saved state has too many positions".into()));
        }
        if take(from)? != self.cells.len() as u64 {
            return Err(Corrupt("the saved state is of other properties".into()));
        }
        self.passed = take_option(from)?;
        self.ended = take(from)? == 1;
        self.times = Times::load(self.times.stamped(), self.len, from)?;
        let operators = self.operators.clone();
        let kinds = operators.iter().map(|fixed| fixed.kind);
        for (cell, kind) in self.cells.iter_mut().zip(kinds).filter(|(cell, _)| cell.live) {
            cell.out = Stream::load(self.len, from)?;
            cell.read = take(from)?;
            let mut past = Witnesses { ready: take_option(from)?, ..Witnesses::default() };
            for _ in 0..take(from)? {
                past.waiting.push_back(take_signed(from)?);
            }
            let none = past.ready.is_none() && past.waiting.is_empty();
            cell.past = (!none).then(|| Box::new(past));
            let atom = matches!(kind, Kind::Atom(_) | Kind::First);
            let ahead = matches!(kind, Kind::Since(..)) && cell.read > cell.out.end();
            let behind = matches!(kind, Kind::Last) && cell.out.end() + 1 < self.len
                || matches!(kind, Kind::Beyond(..))
                    && cell.out.end() > cell.read
                    && !(self.ended && cell.out.end() == self.len)
                || matches!(kind, Kind::Until(..)) && cell.out.end() > cell.read.saturating_add(1);
            if cell.read > self.len || ahead || behind || (atom && cell.out.end() != self.len) {
                return Err(Corrupt("the saved state has read other positions than it says".into()));
            }
        }
        // What will be read must be there, and what can be read has been.
        let whole = |(cell, kind): (&Cell, Kind)| {
            let operands = kind.operands().all(|edge| self.holds_from(edge, cell.operands_from(kind)));
            let read = || match kind {
                Kind::Since(..) => cell.read == cell.out.end(),
                Kind::Until(..) => cell.read == self.len,
                _ => true,
            };
            let waits = || kind.operands().any(|edge| self.known(edge, cell.read).is_none());
            operands && self.times.base() <= cell.times_from(kind) && (read() || waits())
        };
        let cells = self.cells.iter().zip(operators.iter().map(|fixed| fixed.kind));
        if cells.filter(|(cell, _)| cell.live).all(whole) {
            Ok(())
        } else {
            Err(Corrupt("the saved state lacks positions".into()))
        }
    }
}

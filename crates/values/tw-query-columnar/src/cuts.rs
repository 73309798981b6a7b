//! Where a trace can be cut into stretches that are walked over at the same time.
//!
//! A walk that begins in the middle must know what crosses its right border. At some positions that does not depend on
//! what comes later: where φ of `agg[ψ while φ]` fails, where `a U b` is decided, at the end of a segment. A cut is made
//! in front of such a position (or of a segment), so nothing is guessed and nothing is computed twice.

use crate::plan::{Op, Ops, Plan, Step, TermRef};
use crate::space::Given;

/// How many positions are tried for a cut.
const TRIES: usize = 1 << 15;
/// With more nodes than this, looking for cuts is not worth it.
const NODES: usize = 1000;

/// What is known of a node at a position without looking further.
#[derive(Clone, Copy, Default)]
struct Known {
    /// Whether it is decided.
    decided: bool,
    /// Whether it surely has no value; it may be an error all the same.
    none: bool,
    /// Whether it surely has a value.
    some: bool,
}

/// The borders of up to `parts` stretches of `0..len`, multiples of 64 except for the last.
pub(crate) fn cuts(ops: &Ops, plan: &Plan, given: Given<'_>, parts: usize) -> Vec<usize> {
    let len = given.trace.len;
    let mut borders = vec![0];
    if plan.steps.len() <= NODES {
        let mut known = vec![Known::default(); ops.0.len()];
        for part in 1..parts {
            let wanted = (len as u128 * part as u128 / parts as u128) as usize / 64 * 64;
            let found = (0..TRIES).map(|index| wanted + index * 64).take_while(|at| *at < len);
            let mut found = found.filter(|at| *at > borders[borders.len() - 1]);
            borders.extend(found.find(|at| is_cut(ops, plan, given, *at, &mut known)));
        }
    }
    borders.push(len);
    borders
}

fn is_cut(ops: &Ops, plan: &Plan, given: Given<'_>, at: usize, known: &mut [Known]) -> bool {
    let starts = given.trace.starts();
    let begins = |at: usize| at == given.trace.len || starts.binary_search(&at).is_ok();
    if begins(at) {
        return true;
    }
    let last = begins(at + 1);
    let stretch = |p: Known, q: Known| Known {
        decided: q.decided && (q.none || last && p.decided),
        none: q.decided && q.none,
        some: false,
    };
    for step in &plan.steps {
        let id = match step {
            Step::Compute(id) => *id,
            Step::Stretch(_, p, q) if !stretch(known[*p], known[*q]).decided => return false,
            _ => continue,
        };
        let Some(op) = &ops.0[id] else { continue };
        // What is handed over is the operator's own value, of `X a` that of a.
        let mut handed = true;
        known[id] = match op {
            Op::Guard(index) => {
                let holds = given.guards[*index].get(at);
                Known { decided: true, none: !holds, some: holds }
            }
            Op::Emit(index, term) => {
                let holds = given.guards[*index].get(at);
                let some = holds && matches!(term, TermRef::Constant(value) if !value.is_null());
                Known { decided: true, none: !holds, some }
            }
            Op::Both(_, a, b) => {
                let (a, b) = (known[*a], known[*b]);
                Known { decided: a.decided && b.decided, none: a.none || b.none, some: false }
            }
            Op::Either(_, a, b) => {
                let (a, b) = (known[*a], known[*b]);
                Known { decided: a.decided && b.decided, none: a.none && b.none, some: false }
            }
            Op::Fails(a, _) | Op::Default(a, _) => {
                Known { decided: known[*a].decided, none: false, some: false }
            }
            Op::Next(a, _) => {
                handed = known[*a].decided;
                Known { decided: last, none: last, some: false }
            }
            Op::Until(a, b, _) => {
                let (a, b) = (known[*a], known[*b]);
                let decided = a.decided && b.decided && (a.none || b.some || last);
                handed = decided;
                Known { decided, none: decided && b.none && (a.none || last), some: false }
            }
            Op::Collect(_, a) => {
                let decided = last && known[*a].decided;
                handed = decided;
                Known { decided, none: decided && known[*a].none, some: false }
            }
            Op::While(_, a, phi) => {
                let found = stretch(known[*a], known[*phi]);
                handed = found.decided;
                found
            }
        };
        if !handed {
            return false;
        }
    }
    true
}

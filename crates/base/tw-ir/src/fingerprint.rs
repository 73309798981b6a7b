//! What makes two properties the same: all that their meaning depends on, and nothing else.
//!
//! A fingerprint is taken of the root as a program of its own ([`alone`]), whose numbers are those of first use: it does not
//! change with the place of a property in its file, nor with its name, title, layout or comments, and it changes with
//! anything that changes what is true.

use crate::{Node, Program, alone};
use std::fmt;

/// 256 bits of BLAKE3.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(pub [u8; 32]);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

/// The fingerprints of all roots, in their order.
pub fn fingerprints(program: &Program) -> Vec<Fingerprint> {
    (0..program.roots.len()).map(|root| fingerprint(&alone(program, root).program)).collect()
}

/// The fingerprint of a program made by [`alone`].
pub fn fingerprint(alone: &Program) -> Fingerprint {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"tracewise property 1");
    let mut text = String::new();
    // The debug form names what a part is, tells kinds apart and prints reals exactly; its length keeps parts apart.
    let mut note = |part: &dyn fmt::Debug| {
        text.clear();
        // Writing to a string does not fail.
        let _ = fmt::Write::write_fmt(&mut text, format_args!("{part:?}"));
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    // What stands beside its root is no part of it.
    let Program { dag, roots, slots, templates, .. } = alone;
    note(&[
        dag.len(),
        dag.constants.len(),
        dag.sets.len(),
        dag.regexes.len(),
        dag.patterns.len(),
        slots.len(),
    ]);
    dag.nodes().iter().for_each(|node| match node {
        // Operators are noted by their own names: what is told apart is the operator, not how many operands it has.
        Node::Unary(operator, interval, a) => note(&format_args!("{operator:?}({interval:?}, {a:?})")),
        Node::Binary(operator, interval, a, b) => {
            note(&format_args!("{operator:?}({interval:?}, {a:?}, {b:?})"));
        }
        node => note(node),
    });
    dag.constants.iter().for_each(|constant| note(constant));
    dag.sets.iter().for_each(|set| note(set));
    dag.regexes.iter().for_each(|regex| note(&regex.as_str()));
    dag.patterns.iter().for_each(|pattern| note(pattern));
    // What most programs lack is noted where it is, so that the others keep their fingerprints.
    if !dag.bound.is_empty() {
        note(&("bound", &dag.bound));
    }
    for chart in &dag.charts {
        // Places in the text are no part of its meaning.
        let events: Vec<_> =
            chart.events.iter().map(|event| (event.direction, &event.message, &event.lifeline)).collect();
        let head = (chart.condition, chart.reading, chart.iterate, chart.open_end, chart.pre);
        note(&("chart", head, events, &chart.before));
    }
    if dag.variable_whole.contains(&true) {
        note(&("whole", &dag.variable_whole));
    }
    templates.iter().for_each(|own| note(&("template", &own.name, &own.source, own.template.to_string())));
    slots.iter().for_each(|slot| note(&(&slot.what, slot.declared)));
    roots.iter().for_each(|root| note(&(root.kind, &root.division, root.node)));
    Fingerprint(*hasher.finalize().as_bytes())
}

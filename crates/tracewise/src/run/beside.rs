//! What live monitors read of positions beside the truth of atoms: the tuples of event patterns with variables, and the
//! columns that variables are compared with. Programs without quantifiers have none.

use tw_core::codec::{Corrupt, put, put_value, take, take_len, take_value};
use tw_core::{Batch, Bits, Column, Relation, Time, Value};
use tw_ir::{NodeId, Program, SlotId};
use tw_monitor::{AtomParts, Monitor, Positions, Sink, Term, Terms, Unsupported};

/// Arguments of an event at most, as far as saved states are believed.
const COLUMNS: usize = 1 << 16;

/// Reads it from batches.
#[derive(Clone)]
pub(crate) struct BesideReader {
    patterns: Vec<SlotId>,
    terms: AtomParts,
    /// How many atoms the program has.
    pub atoms: usize,
}

impl BesideReader {
    /// Of a program with quantified variables.
    pub(crate) fn new(program: &Program) -> Option<Self> {
        let roots: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
        let quantified = |id: NodeId| program.dag.node(id).is_first_order();
        program.reachable(&roots).into_iter().any(quantified).then(|| Self {
            patterns: program.patterns().iter().filter_map(|&node| program.pattern_slot(node)).collect(),
            terms: Terms::new(program).parts(),
            atoms: program.atoms().len(),
        })
    }

    pub(crate) fn read(&self, program: &Program, batch: &Batch) -> Beside {
        let relation = |&slot: &SlotId| match &batch.slots[slot as usize] {
            Column::Tuples(relation) => relation.clone(),
            _ => Relation::default(),
        };
        let relations = self.patterns.iter().map(relation).collect();
        Beside { relations, terms: Terms::with_parts(program, self.terms.clone()).evaluate(batch) }
    }
}

/// What was read of some positions.
#[derive(Clone, Default)]
pub(crate) struct Beside {
    pub relations: Vec<Relation>,
    pub terms: Vec<Term>,
}

impl Beside {
    /// What was read of one of them.
    pub(crate) fn at(&self, place: usize) -> Beside {
        let order = [place as u32];
        Beside {
            relations: self.relations.iter().map(|relation| relation.gather(&order)).collect(),
            terms: self.terms.iter().map(|term| term.gather(&order)).collect(),
        }
    }

    /// The same for a program that has only these of the patterns and terms.
    pub(crate) fn of(&self, patterns: &[usize], terms: &[usize]) -> Beside {
        Beside {
            relations: patterns.iter().filter_map(|&at| self.relations.get(at).cloned()).collect(),
            terms: terms.iter().filter_map(|&at| self.terms.get(at).cloned()).collect(),
        }
    }

    /// Bytes held, about.
    pub(crate) fn heap_bytes(&self) -> usize {
        let relations: usize = self.relations.iter().map(Relation::heap_bytes).sum();
        let terms: usize = self.terms.iter().map(|term| term.column.heap_bytes()).sum();
        relations
            + terms
            + self.relations.len() * size_of::<Relation>()
            + self.terms.len() * size_of::<Term>()
    }

    /// Feeds one position to a monitor, whose atoms are packed 64 to a word.
    pub(crate) fn step(
        &self,
        monitor: &mut dyn Monitor,
        time: Option<Time>,
        (row, atoms): (&[u64], usize),
        sink: &mut Sink,
    ) -> Result<(), Unsupported> {
        let bit = |atom: usize| Bits::repeat(row[atom / 64] >> (atom % 64) & 1 == 1, 1);
        let atoms: Vec<Bits> = (0..atoms).map(bit).collect();
        let times = time.map(|time| [time]);
        let times = times.as_ref().map(<[Time; 1]>::as_slice);
        let positions =
            Positions { len: 1, atoms: &atoms, terms: &self.terms, relations: &self.relations, times };
        monitor.feed(&positions, sink)
    }

    /// Appends what was read of one position to a state that is saved.
    pub(crate) fn save(&self, out: &mut Vec<u8>) {
        put(self.relations.len() as u64, out);
        for relation in &self.relations {
            put(relation.tuples(0).len() as u64, out);
            put(relation.columns().len() as u64, out);
            for number in relation.tuples(0) {
                relation.tuple(number).iter().for_each(|value| put_value(value, out));
            }
        }
        put(self.terms.len() as u64, out);
        for term in &self.terms {
            match term.at(0) {
                Ok(value) => {
                    put(1, out);
                    put_value(&value, out);
                }
                Err(message) => {
                    put(0, out);
                    put_value(&Value::text(message), out);
                }
            }
        }
    }

    /// Reads back what [`Beside::save`] wrote.
    pub(crate) fn load(from: &mut &[u8]) -> Result<Self, Corrupt> {
        let mut beside = Beside::default();
        for _ in 0..take_len(from)? {
            let tuples = take_len(from)?;
            // Columns without tuples take no bytes.
            let columns = usize::try_from(take(from)?).ok().filter(|&columns| columns <= COLUMNS);
            let columns = columns.ok_or_else(|| Corrupt("the saved state has too many columns".into()))?;
            let mut values: Vec<Vec<Value>> = vec![Vec::new(); columns];
            for _ in 0..tuples {
                for column in &mut values {
                    column.push(take_value(from)?);
                }
            }
            let columns = values.into_iter().map(Column::of_values).collect();
            beside.relations.push(Relation::new(vec![0, tuples as u32], columns));
        }
        for _ in 0..take_len(from)? {
            let known = take_len(from)? == 1;
            let value = take_value(from)?;
            let errors = if known { Vec::new() } else { vec![(0, value.to_string())] };
            let value = if known { value } else { Value::Null };
            beside.terms.push(Term { column: Column::of_values(vec![value]), errors });
        }
        Ok(beside)
    }
}

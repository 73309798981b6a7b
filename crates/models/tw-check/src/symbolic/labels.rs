//! The truth of a formula's atoms as sets.
//!
//! An atom depends on few variables. The values that these can have together are listed as the states of a small model,
//! all atoms side by side, and [`Labels`] tells which of them satisfy the atom, as it tells of any listed state.

use super::{Stop, SymbolicChecker};
use crate::Labels;
use tw_core::Value;
use tw_diag::Diagnostic;
use tw_ir::{Node, NodeId, Program, What, display};
use tw_model::symbolic::Bdd;
use tw_model::{Cells, Domain, Graph, Model, State, Variable};
use tw_monitor::Unsupported;

/// Most combinations of values, for one atom and for all.
const ONE: u64 = 1 << 14;
const ALL: usize = 1 << 20;

/// The truth of a program's atoms.
#[derive(Clone, Debug)]
pub struct SymbolicLabels {
    /// One set per atom, in the order of [`Program::atoms`].
    pub atoms: Vec<Bdd>,
    /// Names that the model lacks.
    pub warnings: Vec<Diagnostic>,
}

/// Why atoms have no sets.
#[derive(Debug)]
pub enum Unlabelled {
    /// They cannot be understood.
    Wrong(Vec<Diagnostic>),
    /// They can be told of listed states alone.
    Refused(Unsupported),
}

impl<E: Into<Stop>> From<E> for Unlabelled {
    fn from(stop: E) -> Self {
        Unlabelled::Refused(stop.into().into())
    }
}

impl SymbolicChecker {
    /// Of the atoms of a program.
    pub fn labels(&mut self, program: &Program) -> Result<SymbolicLabels, Unlabelled> {
        let names: Vec<(String, Domain)> =
            self.space.known.iter().map(|known| (known.name.clone(), known.domain.clone())).collect();
        let atoms = program.atoms();
        let mut cells: Vec<Vec<u32>> = vec![Vec::new(); names.len()];
        // Of each atom: its variables, and where the combinations of their values begin.
        let mut rows: Vec<(Vec<usize>, usize)> = Vec::with_capacity(atoms.len());
        let mut count = 0;
        for &atom in &atoms {
            let variables = variables(program, atom, &names);
            let sizes: Vec<u64> = variables.iter().map(|&variable| names[variable].1.size()).collect();
            let own = sizes.iter().fold(1u64, |all, &size| all.saturating_mul(size));
            rows.push((variables, count));
            if own > ONE || count + own as usize > ALL {
                let what = format!("`{}`: {own} combinations of values", display(program, atom));
                return Err(Unsupported { node: Some(atom), ..Unsupported::budget(what) }.into());
            }
            let variables = &rows[rows.len() - 1].0;
            for (at, column) in cells.iter_mut().enumerate() {
                match variables.iter().position(|&variable| variable == at) {
                    // The first variable changes fastest.
                    Some(place) => {
                        let before: u64 = sizes[..place].iter().product();
                        column.extend((0..own).map(|row| (row / before % sizes[place]) as u32));
                    }
                    None => column.extend((0..own).map(|_| 0)),
                }
            }
            count += own as usize;
        }
        let variables = names.iter().zip(cells).map(|((name, domain), cells)| Variable {
            name: name.clone(),
            domain: domain.clone(),
            cells: Cells::Own(cells),
        });
        let graph = Graph::from_edges(count, std::iter::empty::<(State, State)>());
        let model = Model { variables: variables.collect(), graph, ..Model::default() };
        let labels = Labels::new(&model, program).map_err(|found| {
            // No state that there is may have the values for which something cannot be computed.
            match found.iter().find(|found| found.code == "no-value") {
                Some(found) => Unlabelled::Refused(Unsupported::budget(found.message.clone())),
                None => Unlabelled::Wrong(found),
            }
        })?;
        let mut sets = Vec::with_capacity(atoms.len());
        let ends = rows.iter().skip(1).map(|row| row.1).chain([count]).collect::<Vec<usize>>();
        for (((variables, start), end), bits) in rows.iter().zip(ends).zip(&labels.atoms) {
            let mut set = Bdd::FALSE;
            for row in (*start..end).filter(|&row| bits.get(row)) {
                let mut all = self.space.states;
                for &variable in variables {
                    let having = self.space.having(variable, model.code(variable, row as State))?;
                    all = self.and(all, having)?;
                }
                set = self.or(set, all)?;
            }
            sets.push(set);
        }
        Ok(SymbolicLabels { atoms: sets, warnings: labels.warnings })
    }
}

/// The variables that an atom depends on: those that it names, and those that have the values it names.
fn variables(program: &Program, atom: NodeId, names: &[(String, Domain)]) -> Vec<usize> {
    let mut found = Vec::new();
    for id in program.reachable(&[atom]) {
        let (Node::Slot(slot) | Node::Truth(slot)) = program.dag.node(id) else { continue };
        let name = match &program.slots[slot as usize].what {
            What::Proposition(path) | What::Variable(path, _) => path.to_string(),
            What::Timing(timing) => timing.measure.name().to_string(),
            What::Stream { .. }
            | What::Shift(_)
            | What::Window(_)
            | What::Event { .. }
            | What::Tuples { .. } => continue,
        };
        match names.iter().position(|(known, _)| *known == name) {
            Some(variable) => found.push(variable),
            None => found.extend((0..names.len()).filter(|&at| match &names[at].1 {
                Domain::Values(values) => values.contains(&Value::text(&name)),
                _ => false,
            })),
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

//! `slice`: a trace cut by what its events are about, one slice per binding of variables.

use crate::run::columns::{self, Need};
use crate::{Error, Session, Specification, Value};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use tw_core::{Column, Position};
use tw_diag::{Diagnostic, Sources};
use tw_ir::SlotId;
use tw_slicing::{Binding, Constraint, Joined, Objects, Occurrences, Partial};

/// Bindings kept at most, of some hundred bytes each.
const BINDINGS: usize = 2_000_000;

/// What a trace is sliced by.
#[derive(Clone, Debug, Default)]
pub struct SliceOptions {
    /// Patterns of events: `f(x), f(y), h(x), h(y)`.
    pub patterns: String,
    /// What bindings have to satisfy: `x > y`.
    pub constraint: Option<String>,
    /// Whether two variables may have one value.
    pub allow_equal: bool,
    /// Whether bindings that leave variables open are told, too.
    pub partial: bool,
}

/// The positions whose events are about nothing but what a binding binds.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// Of each variable the value, if it is bound.
    pub bindings: Vec<Option<Value>>,
    /// The positions, ascending.
    pub positions: Vec<Position>,
}

/// The slices of a trace.
#[derive(Clone, Debug)]
pub struct SliceReport {
    /// The trace as the user named it.
    pub trace: String,
    /// The variables, in the order of their first use.
    pub variables: Vec<String>,
    found: Found,
    /// How many positions there are.
    pub events: usize,
    /// Findings that did not stop the run.
    pub warnings: Vec<Diagnostic>,
    /// What they point into.
    pub sources: Sources,
}

/// The bindings in their order, and what their slices are made of: all of them at once may be far longer than the trace.
#[derive(Clone, Debug)]
struct Found {
    bindings: Vec<Binding>,
    occurrences: Occurrences,
    objects: Objects,
}

impl SliceReport {
    /// How many slices there are.
    pub fn count(&self) -> usize {
        self.found.bindings.len()
    }

    /// The slices, ordered by the values of the variables.
    pub fn slices(&self) -> impl Iterator<Item = Slice> {
        let Found { bindings, occurrences, objects } = &self.found;
        let value = |object: Option<u32>| object.map(|object| objects.value(object).clone());
        bindings.iter().map(move |binding| Slice {
            bindings: binding.0.iter().map(|&object| value(object)).collect(),
            positions: occurrences.slice(binding),
        })
    }
}

pub(crate) fn slice(
    session: &Session,
    files: &[String],
    options: &SliceOptions,
) -> Result<SliceReport, Error> {
    within(session, files, options, BINDINGS)
}

/// The same with so many bindings at most.
fn within(
    session: &Session,
    files: &[String],
    options: &SliceOptions,
    most: usize,
) -> Result<SliceReport, Error> {
    let text = match &options.constraint {
        Some(constraint) => format!("{} where {constraint}", options.patterns),
        None => options.patterns.clone(),
    };
    let spec = Specification::from_patterns(&text)?;
    let slots: Vec<SlotId> = (0..spec.program.slots.len() as SlotId).collect();
    let loaded = columns::read(session, &spec, files, Need { kept: &slots, ..Need::default() }, None, None)?;
    let monitor = spec.program.monitors[0].clone();
    let variables = monitor.parameters.len();
    if variables > Joined::VARIABLES {
        return Err(Error::refused(format!("a trace is sliced by {} variables at most", Joined::VARIABLES)));
    }
    let mut objects = Objects::default();
    let constraint = monitor.constraint.as_ref().map(|own| Constraint::new(&spec.program, own, &mut objects));
    let mut occurrences = Occurrences::default();
    // What events are about, when it first occurs.
    let mut first: Vec<(Position, Binding)> = Vec::new();
    for position in 0..loaded.trace.len {
        for event in &monitor.events {
            let source = &event.source;
            let mut happens = |tuple: &[Value]| {
                let arguments: Vec<_> = tuple.iter().map(|value| objects.of(value)).collect();
                let about = Binding::matcher(variables, &source.columns, &arguments);
                if let Some(about) = about.filter(|about| occurrences.push(position, about)) {
                    first.push((position, about));
                }
            };
            match &loaded.kept[source.slot as usize] {
                Column::Tuples(relation) => {
                    relation.tuples(position).for_each(|at| happens(&relation.tuple(at)))
                }
                truth if truth.value(position) == Value::Bool(true) => happens(&[]),
                _ => {}
            }
        }
    }
    let injective = !options.allow_equal;
    let lattice = Partial { variables, injective, constraint: constraint.as_ref(), objects: &objects };
    let mut joined = Joined::new(lattice);
    for (position, about) in first.iter().filter(|(_, about)| lattice.allows(about)) {
        if !joined.add(about, most) {
            let (worst, count) = worst(&first, variables);
            let why = format!(
                "there are more than {most} bindings after {} positions; most values has `{}`, {count} in all",
                position + 1,
                monitor.parameters[worst]
            );
            let instead = format!("leave `{}` out, or constrain it with `where`", monitor.parameters[worst]);
            return Err(Error::refused_instead(why, instead));
        }
    }
    let mut bindings: Vec<Binding> = joined
        .bindings()
        .iter()
        .filter(|binding| options.partial || binding.is_complete())
        .cloned()
        .collect();
    drop(joined);
    let ranks = objects.ranks();
    bindings.sort_by_cached_key(|binding| -> Vec<u32> {
        binding.0.iter().map(|object| object.map_or(0, |object| 1 + ranks[object as usize])).collect()
    });
    let mut warnings = spec.warnings.clone();
    warnings.extend(loaded.warnings.iter().cloned());
    Ok(SliceReport {
        trace: loaded.name().to_string(),
        variables: monitor.parameters,
        found: Found { bindings, occurrences, objects },
        events: loaded.trace.len,
        warnings,
        sources: spec.sources,
    })
}

/// The variable with most values, and how many they are.
fn worst(about: &[(Position, Binding)], variables: usize) -> (usize, usize) {
    let values = |variable: usize| {
        let values: BTreeSet<u32> = about.iter().filter_map(|(_, binding)| binding.0[variable]).collect();
        (values.len(), variable)
    };
    (0..variables)
        .map(values)
        .max_by_key(|&(count, variable)| (count, Reverse(variable)))
        .map_or((0, 0), |(count, variable)| (variable, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_bindings_name_the_variable_with_most_values() {
        let file = std::env::temp_dir().join(format!("tracewise-slice-{}.events", std::process::id()));
        let lines: String = (0..40).map(|at| format!("f,{}\ng,{}\n", at % 4, at)).collect();
        std::fs::write(&file, lines).expect("a file");
        let files = [file.to_string_lossy().into_owned()];
        let options = SliceOptions { patterns: "f(x), g(y)".into(), allow_equal: true, ..Default::default() };
        let session = Session::new();
        let report = within(&session, &files, &options, 205).expect("205 bindings");
        assert_eq!((report.count(), report.slices().count()), (160, 160));
        let error = within(&session, &files, &options, 100).expect_err("more than 100").to_string();
        let _ = std::fs::remove_file(&file);
        assert!(
            error.contains("more than 100 bindings after") && error.contains("`y`, 40 in all"),
            "{error}"
        );
    }
}

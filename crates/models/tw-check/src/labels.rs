//! The truth of a formula's atoms in every state: names are found in the model, and predicates are evaluated on states
//! as they are on the positions of a trace.
//!
//! A name is a variable of the model, or one of the values that a variable can have: `state = s1` compares the variable
//! `state` with its value `s1`, and `s1` alone says the same. A value that the model lacks is no error: the traces may
//! never have been there. It is false, with a warning.

use rustc_hash::FxHashMap;
use tw_core::{Batch, Bits, Column, Dictionary, Value, suggest};
use tw_diag::{Diagnostic, Span};
use tw_ir::{CompareOp, Expect, Node, NodeId, Program, SlotId, What, display};
use tw_model::{Domain, Model};
use tw_monitor::Predicates;

/// The truth of a program's atoms in every state.
#[derive(Clone, Debug)]
pub struct Labels {
    /// One column per atom, in the order of [`Program::atoms`]; bit `s` is state `s`.
    pub atoms: Vec<Bits>,
    /// Names that the model lacks.
    pub warnings: Vec<Diagnostic>,
}

impl Labels {
    /// Of the atoms of `program` in the states of `model`; or what cannot be understood.
    pub fn new(model: &Model, program: &Program) -> Result<Self, Vec<Diagnostic>> {
        let mut names = Names { model, program, warnings: Vec::new(), errors: Vec::new() };
        names.texts_compared();
        let truths = names.truths();
        truths.iter().for_each(|&(node, variable, _)| names.partly(node, variable));
        let constants = names.constants();
        let slots: Vec<Column> = (0..program.slots.len() as SlotId)
            .map(|slot| names.column(slot, constants.get(&slot).copied().unwrap_or_default()))
            .collect();
        let Names { warnings, errors, .. } = names;
        if !errors.is_empty() {
            return Err(errors);
        }
        let batch = Batch { len: model.states(), slots, times: None };
        match Predicates::new(program).evaluate_owned(batch) {
            Ok(mut atoms) => {
                let known = program.atoms();
                for (node, _, bits) in truths {
                    if let Ok(atom) = known.binary_search(&node) {
                        atoms[atom] = bits;
                    }
                }
                Ok(Self { atoms, warnings })
            }
            Err(error) => {
                let mut found = Diagnostic::error("no-value", error.message.clone());
                if let Some(span) = program.spans.get(error.node.index()).copied().flatten() {
                    let state = model.label(error.position as u32);
                    found = found.at(span, format!("computed here, in the state {state}"));
                }
                Err(vec![found])
            }
        }
    }
}

/// What a name that is no variable is compared with.
#[derive(Clone, Copy, Default)]
enum Beside {
    /// Nothing that tells what it means.
    #[default]
    Nothing,
    /// This variable of the model, for equality: it is one of its values.
    Variable(usize),
}

struct Names<'a> {
    model: &'a Model,
    program: &'a Program,
    warnings: Vec<Diagnostic>,
    errors: Vec<Diagnostic>,
}

impl Names<'_> {
    /// Slots that stand opposite a variable in an equality, and are none themselves.
    fn constants(&self) -> FxHashMap<SlotId, Beside> {
        let mut constants = FxHashMap::default();
        for node in self.program.dag.nodes() {
            let Node::Compare(CompareOp::Eq | CompareOp::Ne, a, b) = *node else { continue };
            for (one, other) in [(a, b), (b, a)] {
                if let (Some(slot), Some(variable)) = (self.slot(one), self.variable_at(other)) {
                    constants.insert(slot, Beside::Variable(variable));
                }
            }
        }
        constants
    }

    /// Warns of texts that a variable is compared with, and never is.
    fn texts_compared(&mut self) {
        let program = self.program;
        for node in program.dag.nodes() {
            let Node::Compare(CompareOp::Eq | CompareOp::Ne, a, b) = *node else { continue };
            for (one, other) in [(a, b), (b, a)] {
                if let (Node::Constant(text), Some(variable)) =
                    (program.dag.node(one), self.variable_at(other))
                    && let Value::Str(text) = &program.dag.constants[text as usize]
                {
                    let span = program.spans.get(one.index()).copied().flatten();
                    self.value_of(variable, text, span);
                }
            }
        }
    }

    /// Where variables that are truth values in some states only are one. `x = false` is lowered to "not `x`, and `x`
    /// has a value", and the second part must not be taken for granted where `x` is a text.
    fn truths(&self) -> Vec<(NodeId, usize, Bits)> {
        let dag = &self.program.dag;
        let negated = |node: NodeId| match dag.node(node) {
            Node::Not(inner) => self.variable_at(inner),
            _ => None,
        };
        let is_false = |node: &Node| {
            let Node::And(not, known) = *node else { return None };
            let variable = negated(not)?;
            let domain = &self.model.variables[variable].domain;
            let Node::Compare(CompareOp::Eq, a, b) = dag.node(known) else { return None };
            let itself = a == b && self.variable_at(a) == Some(variable);
            (itself && truth(domain) == Truth::Sometimes).then(|| {
                let known_in = |code: u32| matches!(domain.value(code), Value::Bool(_));
                (known, variable, self.model.codes(variable).into_iter().map(known_in).collect())
            })
        };
        dag.nodes().iter().filter_map(is_false).collect()
    }

    /// Warns that `x != true` says the same as `x = false`, where other values are neither.
    fn partly(&mut self, node: NodeId, variable: usize) {
        let name = &self.model.variables[variable].name;
        let message = format!("the variable `{name}` is true or false in some states only");
        let found = Diagnostic::warning("no-truth-value", message).help(format!(
            "`{name} = false` and `{name} != true` hold where it is false alone; `!({name} = true)` holds elsewhere too"
        ));
        let slot = match self.program.dag.node(node) {
            Node::Compare(_, a, _) => self.slot(a),
            _ => None,
        };
        self.warnings.push(match slot {
            Some(slot) => found.at(self.program.slots[slot as usize].span, "compared with a truth value"),
            None => found,
        });
    }

    fn slot(&self, node: NodeId) -> Option<SlotId> {
        match self.program.dag.node(node) {
            Node::Slot(slot) | Node::Truth(slot) => Some(slot),
            _ => None,
        }
    }

    fn variable_at(&self, node: NodeId) -> Option<usize> {
        match &self.program.slots[self.slot(node)? as usize].what {
            What::Variable(path, _) | What::Proposition(path) => self.model.variable(&path.to_string()),
            What::Timing(timing) => self.model.variable(timing.measure.name()),
            _ => None,
        }
    }

    fn column(&mut self, slot: SlotId, beside: Beside) -> Column {
        let program = self.program;
        let slot = &program.slots[slot as usize];
        match &slot.what {
            What::Proposition(path) | What::Variable(path, Expect::Bool) => {
                Column::Truth(self.proposition(&path.to_string(), slot.span))
            }
            // In a model, time is the instant: a variable.
            What::Timing(_) | What::Variable(..) => {
                let name = match &slot.what {
                    What::Variable(path, _) => path.to_string(),
                    What::Timing(timing) => timing.measure.name().to_string(),
                    _ => String::new(),
                };
                match (self.model.variable(&name), beside) {
                    (Some(variable), _) => self.model.column(variable),
                    (None, Beside::Variable(variable)) => {
                        self.value_of(variable, &name, Some(slot.span));
                        self.text(&name)
                    }
                    (None, Beside::Nothing) => {
                        self.unknown(&name, slot.span);
                        self.text(&name)
                    }
                }
            }
            What::Stream { .. } | What::Shift(_) | What::Window(_) => {
                let message = "a state of a model has no position, and so no value at another one";
                let found = Diagnostic::error("unknown-name", message).at(slot.span, "");
                self.errors.push(found.help("use variables of the model"));
                Column::Truth(Bits::repeat(false, self.model.states()))
            }
            What::Event { name, .. } | What::Tuples { name, .. } => {
                let message = format!("a model has states, but no events such as `{name}`");
                let found = Diagnostic::error("unknown-name", message).at(slot.span, "");
                self.errors
                    .push(found.help("merge with `⟨state_columns: event⟩` to make states of the events"));
                Column::Truth(Bits::repeat(false, self.model.states()))
            }
        }
    }

    /// A name as its own value in every state.
    fn text(&self, name: &str) -> Column {
        let states = self.model.states();
        let dictionary = Dictionary { entries: vec![name.into()] };
        Column::Text { ids: vec![0; states], dictionary, valid: Bits::repeat(true, states) }
    }

    /// Where a bare name holds: a boolean variable, or a value that some variable has.
    fn proposition(&mut self, name: &str, span: Span) -> Bits {
        let states = self.model.states();
        if let Some(variable) = self.model.variable(name) {
            let domain = &self.model.variables[variable].domain;
            if truth(domain) != Truth::Never {
                let holds = |code: u32| domain.value(code) == Value::Bool(true);
                return self.model.codes(variable).into_iter().map(holds).collect();
            }
            let mut found = Diagnostic::error(
                "no-truth-value",
                format!("the variable `{name}` is neither true nor false"),
            )
            .at(span, "used as a truth value");
            if let Some(example) = example(domain) {
                found = found.help(format!("compare it: `{name} = {}`", written(&example)));
            }
            self.errors.push(found);
            return Bits::repeat(false, states);
        }
        let having: Vec<(usize, u32)> = (0..self.model.variables.len())
            .filter_map(|variable| Some((variable, self.code(variable, name)?)))
            .collect();
        // The name of the state comes first: other variables may be made of the same words.
        let state =
            having.iter().copied().find(|&(variable, _)| self.model.variables[variable].name == "state");
        match (state, having.as_slice()) {
            (Some(one), _) | (None, &[one]) => {
                let (variable, code) = one;
                let mut bits = Bits::with_capacity(states);
                self.model.codes(variable).into_iter().for_each(|own| bits.push(own == code));
                return bits;
            }
            (None, []) => self.never(name, span),
            (None, several) => {
                let variables: Vec<String> = several
                    .iter()
                    .map(|&(variable, _)| {
                        let value = written(&Value::text(name));
                        format!("`{} = {value}`", self.model.variables[variable].name)
                    })
                    .collect();
                let found = Diagnostic::error("ambiguous-name", format!("several variables can be `{name}`"));
                let help = format!("write {}", variables.join(" or "));
                self.errors.push(found.at(span, "which one is meant?").help(help));
            }
        }
        Bits::repeat(false, states)
    }

    /// The number of a text among a variable's values.
    fn code(&self, variable: usize, name: &str) -> Option<u32> {
        match &self.model.variables[variable].domain {
            Domain::Values(values) => {
                let at = values.iter().position(|value| matches!(value, Value::Str(text) if **text == *name));
                at.map(|at| at as u32)
            }
            _ => None,
        }
    }

    /// Warns if a variable is never `name`.
    fn value_of(&mut self, variable: usize, name: &str, span: Option<Span>) {
        if self.code(variable, name).is_some() {
            return;
        }
        let own = &self.model.variables[variable].name;
        let found = Diagnostic::warning("never-occurs", format!("`{own}` is never `{name}` in this model"));
        let values: &[Value] = match &self.model.variables[variable].domain {
            Domain::Values(values) => values,
            _ => &[],
        };
        let found = self.near(found, name, texts(values));
        self.warnings.push(match span {
            Some(span) => found.at(span, "no state has this value"),
            None => found,
        });
    }

    /// Warns of a bare name that nothing in the model has.
    fn never(&mut self, name: &str, span: Span) {
        let known = self.model.variables.iter().flat_map(|variable| {
            let values: &[Value] = match &variable.domain {
                Domain::Values(values) => values,
                _ => &[],
            };
            texts(values).chain([variable.name.as_str()])
        });
        let found = Diagnostic::warning("never-occurs", format!("no state of this model is `{name}`"));
        self.warnings.push(self.near(found, name, known).at(span, "always false here"));
    }

    /// What may have been meant; if nothing comes near, that what was not seen may be nevertheless.
    fn near<'k>(&self, found: Diagnostic, name: &str, known: impl Iterator<Item = &'k str>) -> Diagnostic {
        match meant(name, known) {
            Some(meant) => found.help(format!("did you mean `{meant}`?")),
            None if self.model.merged.is_some() => {
                found.help("the traces were never there; that they cannot be is not said")
            }
            None => found,
        }
    }

    /// An unknown name where a value is needed.
    fn unknown(&mut self, name: &str, span: Span) {
        let mut found =
            Diagnostic::error("unknown-name", format!("the model has no variable `{name}`")).at(span, "");
        let names = self.model.variables.iter().map(|variable| variable.name.as_str());
        if name == "time" {
            found = found.help("this model keeps no instants: merge with `⟨keep: time⟩` or `⟨keep: change⟩`");
        } else if let Some(meant) = meant(name, names.clone()) {
            found = found.help(format!("did you mean `{meant}`?"));
        } else {
            found = found.help(format!("its variables are {}", names.collect::<Vec<_>>().join(", ")));
        }
        self.errors.push(found);
    }
}

fn texts(values: &[Value]) -> impl Iterator<Item = &str> {
    values.iter().filter_map(|value| match value {
        Value::Str(text) => Some(&**text),
        _ => None,
    })
}

/// The name that may have been meant: `true` and `false` are written so. Of a single letter nothing is left where another
/// one is put in its place, so all names of one letter would be near.
fn meant<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if let Some(literal) = ["true", "false"].into_iter().find(|literal| literal.eq_ignore_ascii_case(name)) {
        return Some(literal);
    }
    let single = name.chars().count() < 2;
    suggest(name, known.filter(|known| !single || known.to_lowercase() == name.to_lowercase()))
}

/// In which states a variable is a truth value.
#[derive(Clone, Copy, PartialEq)]
enum Truth {
    Never,
    Sometimes,
    /// Wherever it has a value.
    Always,
}

fn truth(domain: &Domain) -> Truth {
    let Domain::Values(values) = domain else {
        return if *domain == Domain::Boolean { Truth::Always } else { Truth::Never };
    };
    let boolean = |value: &Value| matches!(value, Value::Bool(_));
    if values.iter().all(|value| boolean(value) || *value == Value::Null) {
        Truth::Always
    } else if values.iter().any(boolean) {
        Truth::Sometimes
    } else {
        Truth::Never
    }
}

/// A value of a domain, one that is there if there is one.
fn example(domain: &Domain) -> Option<Value> {
    match domain {
        Domain::Values(values) => values.iter().find(|value| **value != Value::Null).cloned(),
        _ => (domain.size() > 0).then(|| domain.value(0)),
    }
}

/// A value as a formula writes it.
fn written(value: &Value) -> String {
    let mut program = Program::default();
    let constant = program.dag.constant(value.clone());
    display(&program, constant)
}

#[cfg(test)]
mod tests;

//! Specifications made of others: operations on their languages, formulas, automata, the normal form.

use super::questions::{boolean, budget};
use crate::{Error, Specification};
use tw_stream_boolean::{Automaton, NoNormalForm, NotLtl, algebra};

/// An operation on the inputs that specifications accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamOperation {
    /// What one or the other accepts.
    Union,
    /// What both accept.
    Intersect,
    /// An input of the first, then one of the second.
    Concat,
    /// One or more inputs of the first, end to end.
    Plus,
    /// The inputs of the first, backwards.
    Reverse,
}

/// How an automaton is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutomatonForm {
    /// As JSON.
    Json,
    /// In the Hanoi Omega-Automata format, read on finite words.
    Hoa,
    /// As a drawing.
    Dot,
}

/// The text of what an operation makes of one specification or two.
pub(crate) fn combine(
    operation: StreamOperation,
    a: &Specification,
    b: Option<&Specification>,
) -> Result<String, Error> {
    let first = boolean(a)?;
    let first = first.specification();
    let second = b.map(boolean).transpose()?;
    let missing = || Error::refused("this operation takes two specifications");
    let second = || second.as_ref().map(|second| second.specification()).ok_or_else(missing);
    let made = match operation {
        StreamOperation::Union => algebra::union(first, second()?),
        StreamOperation::Intersect => algebra::intersect(first, second()?),
        StreamOperation::Concat => algebra::concat(first, second()?),
        StreamOperation::Plus => algebra::plus(first),
        StreamOperation::Reverse => algebra::reverse(first),
    };
    made.map(|made| made.to_string()).map_err(|flaw| Error::refused(flaw.to_string()))
}

/// The equations of a formula.
pub(crate) fn from_ltl(spec: &Specification, accept: bool) -> Result<String, Error> {
    let Some(root) = spec.program.roots.first() else {
        return Err(Error::refused("there is no formula to make equations of"));
    };
    let name = |node| tw_ir::display(&spec.program, node);
    tw_stream_boolean::from_ltl(&spec.program, root.node, "y", accept, name)
        .map(|made| made.to_string())
        .map_err(|not| match not {
            NotLtl::Node(node) => {
                let operator = spec.program.dag.node(node).operator();
                let message = format!("`{operator}` has no equation: found `{}`", spec.words(node));
                Error::refused_instead(message, "use linear temporal logic without intervals and quantifiers")
            }
            NotLtl::Flaw(flaw) => Error::refused(flaw.to_string()),
        })
}

/// The automaton of the inputs that have a model.
pub(crate) fn to_automaton(
    spec: &Specification,
    form: AutomatonForm,
    states: Option<usize>,
) -> Result<String, Error> {
    let own = boolean(spec)?;
    let made = Automaton::of(own.specification(), &budget(states));
    let made = made.map_err(|gave_up| Error::refused(format!("the automaton is too large: {gave_up}")))?;
    Ok(match form {
        AutomatonForm::Json => format!("{}\n", made.to_json()),
        AutomatonForm::Hoa => made.to_hoa(),
        AutomatonForm::Dot => made.to_dot(),
    })
}

/// The equations of an automaton, JSON or HOA.
pub(crate) fn from_automaton(name: &str, text: &str) -> Result<String, Error> {
    let read = match text.trim_start().starts_with('{') {
        true => Automaton::from_json(text),
        false => Automaton::from_hoa(text),
    };
    let automaton = read.map_err(|error| {
        Error::refused(format!("{name}:{}:{}: {}", error.line, error.column, error.message))
    })?;
    automaton.specification().map(|made| made.to_string()).map_err(|flaw| Error::refused(flaw.to_string()))
}

/// A well-formed specification of alternation depth 1 at most that is equal in what is observed.
pub(crate) fn normalise(spec: &Specification, states: Option<usize>) -> Result<String, Error> {
    let own = boolean(spec)?;
    let made = tw_stream_boolean::normalise(own.specification(), &budget(states));
    made.map(|made| made.to_string()).map_err(|none| match none {
        NoNormalForm::NotWellDefined => {
            Error::refused("the streams are not well-defined, and have no normal form")
        }
        other => Error::refused(other.to_string()),
    })
}

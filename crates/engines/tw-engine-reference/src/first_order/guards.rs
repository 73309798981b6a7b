//! Which variables only take values that were seen.
//!
//! A quantifier looks at a value in vain where its body is decided by that: `exists x. p(x) & φ` is about the arguments of p
//! alone, and so is `forall x. p(x) -> φ`. Such a variable is guarded. What is computed from values (`x + 1`) is exact for
//! guarded variables, whose values are all known; the others range over more values than anybody can compute with.

use crate::term;
use std::collections::BTreeSet;
use tw_ir::{Applied, CompareOp, Form, Node, NodeId, Program, SetItem};

/// What there is to know about the variables of a program.
pub(crate) struct Guards {
    /// Of each variable whether all quantifiers that bind it are about seen values alone.
    guarded: Vec<bool>,
    /// Of each node whether its value is computed from variables, truth values and aggregates apart.
    over_variable: Vec<bool>,
}

/// The variables that have seen values where a formula is true, and where it is false.
#[derive(Clone, Default)]
struct Sides {
    yes: BTreeSet<u32>,
    no: BTreeSet<u32>,
}

impl Guards {
    pub(crate) fn new(program: &Program, roots: &[NodeId]) -> Self {
        let dag = &program.dag;
        let mut over_variable = vec![false; dag.len()];
        for index in 0..over_variable.len() {
            let node = dag.node(NodeId(index as u32));
            over_variable[index] = matches!(node, Node::Variable(_))
                || !term::is_given(node) && node.children().any(|child| over_variable[child.index()]);
        }
        let mut guarded = vec![true; dag.variables.len()];
        let mut sides: Vec<Sides> = vec![Sides::default(); dag.len()];
        for id in program.reachable(roots) {
            let node = dag.node(id);
            let mut unguarded = |variable: u32| guarded[variable as usize] = false;
            match node {
                Node::Forall(variable, body) if !sides[body.index()].no.contains(&variable) => {
                    unguarded(variable);
                }
                Node::Exists(variable, body) if !sides[body.index()].yes.contains(&variable) => {
                    unguarded(variable);
                }
                Node::Tally(_, _, _, body) => {
                    let bound = dag.binds(node).iter().copied();
                    bound.filter(|variable| !sides[body.index()].yes.contains(variable)).for_each(unguarded);
                }
                _ => {}
            }
            sides[id.index()] = sides_of(program, node, &sides, &over_variable);
        }
        Self { guarded, over_variable }
    }

    pub(crate) fn over_variable(&self) -> &[bool] {
        &self.over_variable
    }

    pub(crate) fn is_guarded(&self, variable: u32) -> bool {
        // What no quantifier binds is the parameter of a map, whose value is known.
        self.guarded.get(variable as usize).copied().unwrap_or(true)
    }

    /// What unseen values cannot stand for, and which part asks for it: arithmetic makes new values, an expression may match
    /// some texts that nobody has seen and not others, and an aggregate is a number that may be none of those seen.
    pub(crate) fn refused(&self, program: &Program, id: NodeId) -> Option<(NodeId, String, String)> {
        let dag = &program.dag;
        let node = dag.node(id);
        let (term, own) = match node {
            _ if term::is_predicate(node) => (id, true),
            Node::Tally(_, _, value, formula) if value != formula => (value, false),
            _ => return None,
        };
        let parts = term::parts(program, term);
        let variable = |part: &NodeId| match dag.node(*part) {
            Node::Variable(variable) if !self.is_guarded(variable) => Some(variable),
            _ => None,
        };
        let name = &dag.variables[parts.iter().find_map(variable)? as usize];
        let over = |part: NodeId| self.over_variable[part.index()];
        let computed = |part: &NodeId| match dag.node(*part) {
            Node::Arithmetic(..) | Node::Negate(_) | Node::Abs(_) if over(*part) => {
                Some((*part, "arithmetic on quantified variables"))
            }
            Node::Matches(text, _) if over(text) => {
                Some((*part, "a regular expression over a quantified variable"))
            }
            Node::Has(term) if over(term) => Some((*part, "`has` of a quantified variable")),
            Node::Tally(..) => Some((*part, "an aggregate compared with a quantified variable")),
            _ => None,
        };
        let found = match own {
            true => parts.iter().find_map(computed)?,
            false => (id, "an aggregate of the values of a quantified variable"),
        };
        let help = format!(
            "let an event pattern, or an equality with a term of the position, bind `{name}` beside it: it has infinitely many values here"
        );
        Some((found.0, format!("{} that nothing guards", found.1), help))
    }
}

fn sides_of(program: &Program, node: Node, sides: &[Sides], over: &[bool]) -> Sides {
    let dag = &program.dag;
    let of = |id: NodeId| &sides[id.index()];
    let both =
        |a: &BTreeSet<u32>, b: &BTreeSet<u32>| -> BTreeSet<u32> { a.intersection(b).copied().collect() };
    let either = |a: &BTreeSet<u32>, b: &BTreeSet<u32>| -> BTreeSet<u32> { a.union(b).copied().collect() };
    match node {
        Node::Pattern(index) => {
            Sides { yes: dag.patterns[index as usize].variables().collect(), no: BTreeSet::new() }
        }
        Node::Compare(op @ (CompareOp::Eq | CompareOp::Ne), a, b) => {
            let seen = [(a, b), (b, a)].into_iter().filter_map(|(a, b)| match dag.node(a) {
                // `x != null` fails whatever x is.
                Node::Variable(_) if op == CompareOp::Ne && !matches!(dag.node(b), Node::Constant(_)) => None,
                Node::Variable(variable) if is_seen(program, b, over) => Some(variable),
                _ => None,
            });
            let seen: BTreeSet<u32> = seen.collect();
            match op {
                CompareOp::Eq => Sides { yes: seen, no: BTreeSet::new() },
                _ => Sides { yes: BTreeSet::new(), no: seen },
            }
        }
        Node::In(a, set) => {
            let values = dag.sets[set as usize].iter().all(|item| matches!(item, SetItem::Value(_)));
            match dag.node(a) {
                Node::Variable(variable) if values => Sides { yes: [variable].into(), no: BTreeSet::new() },
                _ => Sides::default(),
            }
        }
        Node::Not(a) => Sides { yes: of(a).no.clone(), no: of(a).yes.clone() },
        Node::And(a, b) => Sides { yes: either(&of(a).yes, &of(b).yes), no: both(&of(a).no, &of(b).no) },
        Node::Or(a, b) => Sides { yes: both(&of(a).yes, &of(b).yes), no: either(&of(a).no, &of(b).no) },
        Node::Implies(a, b) => Sides { yes: both(&of(a).no, &of(b).yes), no: either(&of(a).yes, &of(b).no) },
        Node::Forall(variable, a) | Node::Exists(variable, a) => {
            let mut sides = of(a).clone();
            sides.yes.remove(&variable);
            sides.no.remove(&variable);
            sides
        }
        _ => node.temporal().map_or_else(Sides::default, |applied| temporal(applied, sides)),
    }
}

/// Whether a term's values, at all positions, are among those that count as seen: it reads them, or computes them from such.
pub(crate) fn is_seen(program: &Program, id: NodeId, over: &[bool]) -> bool {
    let given = |part: &NodeId| term::is_given(program.dag.node(*part));
    !over[id.index()] && !term::parts(program, id).iter().any(given)
}

fn temporal(applied: Applied, sides: &[Sides]) -> Sides {
    let Applied { form, weak, interval, left, right, .. } = applied;
    let right = &sides[right.index()];
    let none = BTreeSet::new;
    // Without an interval, what is said of some or of all positions is said of this one too.
    let here = interval.is_none();
    match form {
        Form::Step if weak => Sides { yes: none(), no: right.no.clone() },
        Form::Step => Sides { yes: right.yes.clone(), no: none() },
        Form::Until => {
            // True, a strong one has its goal somewhere; false, no goal is here.
            let no = if here { right.no.clone() } else { none() };
            let yes = match (weak, left) {
                (false, _) => right.yes.clone(),
                (true, Some(left)) if here => {
                    sides[left.index()].yes.intersection(&right.yes).copied().collect()
                }
                _ => none(),
            };
            Sides { yes, no }
        }
        Form::Release => {
            // False, a weak one fails to hold its right side somewhere; true, that holds here.
            let yes = if here || !weak { right.yes.clone() } else { none() };
            Sides { yes, no: if weak { right.no.clone() } else { none() } }
        }
    }
}

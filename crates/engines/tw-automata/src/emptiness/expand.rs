//! The transitions of a configuration, one at a time.
//!
//! A backtracking search for ways to meet all obligations at one position. What is certain is taken at once (both
//! sides of a conjunction, a disjunction with one side ruled out); the remaining disjunctions are tried left operand
//! first, which meets an eventuality before it puts it off. An expansion is suspended while the search is deeper in the
//! graph: it then holds its trail and its open choices, and the dense tables belong to another one.

use super::graph::Configuration;
use super::scratch::{Context, Mark, Reader, Scratch};
use super::transition::Transition;
use crate::alternating::{Direction, Expr, ExprId, Label, NodeIndex};

/// Disjunctions looked at for what has become certain, before one is tried.
const LOOK_AHEAD: usize = 256;
const NONE: u32 = u32::MAX;

/// What an expansion came to.
pub(crate) enum Next {
    Transition(Transition),
    End,
    Exhausted,
}

/// The other side of a choice, and what to go back to for it.
#[derive(Clone, Debug)]
struct Choice {
    expr: Option<ExprId>,
    /// A literal that the first side had the opposite of.
    literal: Option<(u32, bool)>,
    open: u32,
    cells: usize,
    trail: usize,
}

/// A suspended enumeration of transitions.
#[derive(Clone, Debug)]
pub(crate) struct Expansion {
    pub configuration: Configuration,
    obligations: Vec<ExprId>,
    pub memory: Vec<bool>,
    /// The rejecting loops among the obligations, each with its obligation.
    pub rejecting: Vec<(NodeIndex, ExprId)>,
    pub trail: Vec<(Mark, bool)>,
    choices: Vec<Choice>,
    /// Disjunctions still to be met: linked lists that share their tails, so that going back is cheap.
    cells: Vec<(ExprId, u32)>,
    open: u32,
    /// Transitions made so far.
    pub found: Vec<Transition>,
    /// Whether each letter counts, so that transitions are told apart by their literals, too. To the question whether
    /// some word is accepted they are alike.
    pub letters: bool,
    started: bool,
}

impl Expansion {
    pub fn new(
        reader: Reader<'_>,
        configuration: Configuration,
        obligations: Vec<ExprId>,
        memory: Vec<bool>,
    ) -> Self {
        let rejecting = |&id: &ExprId| reader.tables.rejecting(reader.automaton, id).map(|node| (node, id));
        Self {
            configuration,
            rejecting: obligations.iter().filter_map(rejecting).collect(),
            obligations,
            memory,
            trail: Vec::new(),
            choices: Vec::new(),
            cells: Vec::new(),
            open: NONE,
            found: Vec::new(),
            letters: false,
            started: false,
        }
    }

    /// As [`Expansion::new`], where each letter counts: together the transitions read every letter that can be read.
    pub fn of_letters(
        reader: Reader<'_>,
        configuration: Configuration,
        obligations: Vec<ExprId>,
        memory: Vec<bool>,
    ) -> Self {
        Self { letters: true, ..Self::new(reader, configuration, obligations, memory) }
    }

    /// Takes the tables over, or leaves them as they were.
    pub fn resume(&self, scratch: &mut Scratch) {
        self.trail.iter().for_each(|&(mark, value)| scratch.set(mark, Some(value)));
    }

    pub fn suspend(&self, scratch: &mut Scratch) {
        self.trail.iter().for_each(|&(mark, _)| scratch.set(mark, None));
    }

    /// The next transition that none of those before makes superfluous.
    pub fn next(&mut self, context: &mut Context<'_>, scratch: &mut Scratch) -> Next {
        let mut consistent = if std::mem::replace(&mut self.started, true) {
            false
        } else {
            let obligations = std::mem::take(&mut self.obligations);
            obligations.iter().all(|&id| self.require(context, scratch, id))
        };
        loop {
            if *context.work == 0 {
                return Next::Exhausted;
            }
            if !consistent {
                match self.choices.pop() {
                    None => return Next::End,
                    Some(choice) => consistent = self.take_back(context, scratch, choice),
                }
                continue;
            }
            consistent =
                self.propagate(context, scratch) && (self.letters || !self.superfluous(context, scratch));
            if !consistent {
                continue;
            }
            if self.open != NONE {
                consistent = self.choose(context, scratch);
                continue;
            }
            match self.complete(context, scratch) {
                Ok(Some(transition)) => return Next::Transition(transition),
                Ok(None) => consistent = false,
                // Memory hinges on an atom that nothing has decided: both values.
                Err(atom) => {
                    self.push_choice(None, Some((atom, true)));
                    consistent = self.assign(scratch, atom, false);
                }
            }
        }
    }

    fn mark(&mut self, scratch: &mut Scratch, mark: Mark, value: bool) {
        scratch.set(mark, Some(value));
        self.trail.push((mark, value));
    }

    fn assign(&mut self, scratch: &mut Scratch, atom: u32, value: bool) -> bool {
        match scratch.atoms[atom as usize] {
            Some(known) => known == value,
            None => {
                self.mark(scratch, Mark::Atom(atom), value);
                true
            }
        }
    }

    /// Sets out to meet an expression: false if it cannot be met.
    fn require(&mut self, context: &mut Context<'_>, scratch: &mut Scratch, root: ExprId) -> bool {
        let mut todo = vec![root];
        while let Some(id) = todo.pop() {
            context.spend(1);
            match context.reader.automaton.expr(id) {
                Expr::True => {}
                Expr::False => return false,
                // What is required twice is met in one way.
                Expr::And(..) | Expr::Or(..) if scratch.required[id.index()] => {}
                Expr::And(a, b) => {
                    self.mark(scratch, Mark::Required(id), true);
                    todo.extend([b, a]);
                }
                Expr::Or(..) => {
                    self.mark(scratch, Mark::Required(id), true);
                    self.cells.push((id, self.open));
                    self.open = (self.cells.len() - 1) as u32;
                }
                Expr::Node(index) => {
                    let node = context.reader.automaton.node(index);
                    if context.reader.certain(scratch, &self.memory, index) == Some(false) {
                        return false;
                    }
                    if let Label::Atom(atom, value) = node.label {
                        self.assign(scratch, atom, value);
                    }
                    if node.direction == Direction::Future && !scratch.owed[index.index()] {
                        self.mark(scratch, Mark::Owed(index), true);
                    }
                }
            }
        }
        true
    }

    /// Settles disjunctions of which one side is certain: false if one cannot be met.
    fn propagate(&mut self, context: &mut Context<'_>, scratch: &mut Scratch) -> bool {
        loop {
            let (mut kept, mut forced) = (Vec::new(), Vec::new());
            let (mut at, mut dropped) = (self.open, false);
            scratch.forget();
            while at != NONE && kept.len() < LOOK_AHEAD {
                context.spend(1);
                let (id, rest) = self.cells[at as usize];
                at = rest;
                let Expr::Or(a, b) = context.reader.automaton.expr(id) else { continue };
                match (self.side(context, scratch, a), self.side(context, scratch, b)) {
                    (Some(true), _) | (_, Some(true)) => dropped = true,
                    (Some(false), Some(false)) => return false,
                    (Some(false), None) => forced.push(b),
                    (None, Some(false)) => forced.push(a),
                    (None, None) => kept.push(id),
                }
            }
            if forced.is_empty() && !dropped {
                return true;
            }
            self.open = at;
            for id in kept.into_iter().rev() {
                self.cells.push((id, self.open));
                self.open = (self.cells.len() - 1) as u32;
            }
            if forced.is_empty() {
                return true;
            }
            if !forced.into_iter().all(|id| self.require(context, scratch, id)) {
                return false;
            }
        }
    }

    /// What is certain about one side of a disjunction.
    fn side(&self, context: &mut Context<'_>, scratch: &mut Scratch, id: ExprId) -> Option<bool> {
        let reader = context.reader;
        scratch.evaluate(context, id, |scratch, node| reader.certain(scratch, &self.memory, node))
    }

    /// Tries the left side of the first open disjunction.
    fn choose(&mut self, context: &mut Context<'_>, scratch: &mut Scratch) -> bool {
        let (id, rest) = self.cells[self.open as usize];
        self.open = rest;
        let Expr::Or(a, b) = context.reader.automaton.expr(id) else { return true };
        // Where a literal on the left holds, the right side is never needed: it is tried where the literal fails.
        let literal = match context.reader.automaton.expr(a) {
            Expr::Node(index) => match context.reader.automaton.node(index) {
                node if node.direction != Direction::State => None,
                node => match node.label {
                    Label::Atom(atom, value) => Some((atom, !value)),
                    Label::True | Label::Last(_) => None,
                },
            },
            _ => None,
        };
        self.push_choice(Some(b), literal);
        self.require(context, scratch, a)
    }

    fn push_choice(&mut self, expr: Option<ExprId>, literal: Option<(u32, bool)>) {
        let (open, cells, trail) = (self.open, self.cells.len(), self.trail.len());
        self.choices.push(Choice { expr, literal, open, cells, trail });
    }

    /// Goes back to a choice and takes its other side.
    fn take_back(&mut self, context: &mut Context<'_>, scratch: &mut Scratch, choice: Choice) -> bool {
        for (mark, _) in self.trail.drain(choice.trail..) {
            scratch.set(mark, None);
        }
        self.cells.truncate(choice.cells);
        self.open = choice.open;
        choice.literal.is_none_or(|(atom, value)| self.assign(scratch, atom, value))
            && choice.expr.is_none_or(|id| self.require(context, scratch, id))
    }
}

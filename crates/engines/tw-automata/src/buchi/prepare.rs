//! What is translated: the formula over letters, without intervals, with no future formula inside a past one.

use super::Obstacle;
use super::window::{reach, write_out};
use crate::alternating::{Refused, refusal};
use rustc_hash::FxHashMap;
use tw_core::TimeUnit;
use tw_ir::{Clock, Division, Node, NodeId, Program, Root, RootKind, Temporal};

/// A formula ready to be translated.
pub(crate) struct Prepared {
    /// A program of its own. Its atom `i` stands for letter `i`; those after the last letter are guessed.
    pub program: Program,
    pub formula: NodeId,
    /// What the letters stand for, in the program that the formula came from.
    pub letters: Vec<NodeId>,
    /// How many letters are guessed.
    pub guessed: usize,
}

/// The copy in progress.
struct Copy {
    program: Program,
    /// Whether a node holds a future operator, as far as nodes were looked at.
    future: Vec<bool>,
    /// The letters that stand for future formulas inside past operators.
    guessed: FxHashMap<NodeId, NodeId>,
    /// `G (letter <-> formula)` for each of them.
    bound: Vec<NodeId>,
    letters: usize,
    /// Operators that intervals may be written out to, and how many are left.
    budget: usize,
    steps: usize,
}

pub(crate) fn prepare(
    program: &Program,
    root: NodeId,
    negated: bool,
    literal: impl Fn(NodeId) -> bool,
    steps: usize,
) -> Result<Prepared, Obstacle> {
    let (letters, operators) = parts(program, root, literal);
    let mut copy = Copy {
        program: Program::default(),
        future: Vec::new(),
        guessed: FxHashMap::default(),
        bound: Vec::new(),
        letters: 0,
        budget: steps,
        steps,
    };
    let mut copied: FxHashMap<NodeId, NodeId> =
        letters.iter().map(|&letter| (letter, copy.letter())).collect();
    for id in operators {
        let made = copy.operator(id, program.dag.node(id), &copied)?;
        copied.insert(id, made);
    }
    let mut formula = copied[&root];
    if negated {
        formula = copy.program.dag.add(Node::Not(formula));
    }
    for bound in std::mem::take(&mut copy.bound) {
        formula = copy.program.dag.add(Node::And(formula, bound));
    }
    copy.root(formula);
    Ok(Prepared { guessed: copy.letters - letters.len(), program: copy.program, formula, letters })
}

/// The letters of a formula and its operators, each ascending.
fn parts(program: &Program, root: NodeId, literal: impl Fn(NodeId) -> bool) -> (Vec<NodeId>, Vec<NodeId>) {
    let (mut letters, mut operators) = (Vec::new(), Vec::new());
    let mut seen = vec![false; root.index() + 1];
    seen[root.index()] = true;
    for id in (0..=root.0).rev().map(NodeId) {
        if !seen[id.index()] {
            continue;
        }
        if literal(id) {
            letters.push(id);
        } else {
            operators.push(id);
            program.dag.node(id).children().for_each(|child| seen[child.index()] = true);
        }
    }
    letters.reverse();
    operators.reverse();
    (letters, operators)
}

impl Copy {
    /// A new letter. Letters are roots, so that all of them are atoms, in the order in which they are made.
    fn letter(&mut self) -> NodeId {
        let letter = self.program.dag.add(Node::Truth(self.letters as u32));
        self.letters += 1;
        self.root(letter);
        letter
    }

    fn root(&mut self, node: NodeId) {
        let (kind, division) = (RootKind::Property, Division::default());
        let (name, span) = (String::new(), Default::default());
        self.program.roots.push(Root { name, title: None, division, kind, node, span });
    }

    fn operator(
        &mut self,
        id: NodeId,
        node: Node,
        copied: &FxHashMap<NodeId, NodeId>,
    ) -> Result<NodeId, Obstacle> {
        let temporal = node.is_future() || node.is_past();
        let refused = match node {
            _ if temporal => None,
            Node::AllPaths(_) | Node::SomePath(_) => Some("path quantifiers in a formula of linear time"),
            _ => refusal(node),
        };
        if let Some(what) = refused {
            return Err(Obstacle::Construct(Refused { node: id, what }));
        }
        // There is always a next position.
        if node == Node::Last {
            return Ok(self.program.dag.add(Node::Bool(false)));
        }
        let mut operands: Vec<NodeId> = node.children().map(|child| copied[&child]).collect();
        if node.is_past() {
            operands.iter_mut().for_each(|operand| *operand = self.without_future(*operand));
        }
        let mut operands = operands.into_iter();
        let node = node.with_children(|child| operands.next().unwrap_or(child));
        let Some(interval) = node.interval() else { return Ok(self.program.dag.add(node)) };
        let ticks =
            interval.ticks(Clock::Index, TimeUnit::Seconds).map_err(|error| Obstacle::Interval(id, error))?;
        let room = usize::try_from(reach(ticks)).ok().and_then(|reach| self.steps.checked_sub(reach));
        self.steps = room.ok_or(Obstacle::Window(id, self.budget))?;
        Ok(write_out(&mut self.program.dag, node, ticks))
    }

    /// The formula, or a letter that is guessed to hold where the formula does.
    fn without_future(&mut self, formula: NodeId) -> NodeId {
        let known = self.future.len();
        for &node in &self.program.dag.nodes()[known..] {
            let future = node.is_future() || node.children().any(|child| self.future[child.index()]);
            self.future.push(future);
        }
        if !self.future[formula.index()] {
            return formula;
        }
        if let Some(&letter) = self.guessed.get(&formula) {
            return letter;
        }
        let letter = self.letter();
        let same = self.program.dag.add(Node::Iff(letter, formula));
        let always = self.program.dag.add(Node::Unary(Temporal::Globally, None, same));
        self.bound.push(always);
        self.guessed.insert(formula, letter);
        letter
    }
}

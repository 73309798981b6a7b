//! What a verdict on an imprecise trace says about the executions that may be behind it.
//!
//! Basin, Klaedtke, Marinovic, Zălinescu: On Real-Time Monitoring with Imprecise Timestamps (RV 2014), the labels A and
//! E on negation normal form. Negation is never pushed in here: each node has a label and its negation has one, from
//! those of its operands and their negations.
//!
//! One printed rule is not sound and is left out: that `φ R[I] ψ` and `φ T[I] ψ` have the label E if ψ has. Release
//! and trigger ask for ψ at many instants, each of which may hold in an execution of its own: `G[0,1] q` is true of
//! every relaxed trace where q happens at 0.5 ± 1, but q happens at one instant of each execution.

use tw_ir::{Applied, Node, NodeId, Program, Way};

/// What a true verdict guarantees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// A: the formula holds on all executions.
    All,
    /// E: it holds on some execution.
    Some,
}

/// Why there is no label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The innermost subformula that prevents a guarantee.
    pub node: NodeId,
    /// Whether it is its negation that does.
    pub negated: bool,
    /// What is wrong with it.
    pub why: Why,
}

/// The rule that is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Both sides of a conjunction hold on some execution, perhaps never on the same.
    Conjunction,
    /// A formula that holds on some execution at each instant is asked for at many.
    Throughout,
    /// The operator has no meaning in continuous time.
    Meaning,
    /// An event happens at no certain instant: what holds on some execution need not on all.
    Uncertain,
}

impl Why {
    /// A sentence about the subformula.
    pub fn text(self) -> &'static str {
        match self {
            Why::Conjunction => {
                "each side holds on some possible execution, but perhaps never both on the same one"
            }
            Why::Throughout => {
                "an operand must hold at many instants, and perhaps holds at each on another possible execution"
            }
            Why::Meaning => "it has no meaning in continuous time",
            Why::Uncertain => {
                "it happens at no certain instant, only somewhere within the clock error of its timestamp"
            }
        }
    }
}

/// A label, or what prevents it.
pub type Labelled = Result<Label, Blocked>;

/// The label of the formula at `node`, or of its negation. O(nodes).
pub fn label(program: &Program, node: NodeId, negated: bool) -> Labelled {
    let atoms = program.atoms();
    // For each node its own label and that of its negation.
    let mut labels: Vec<[Labelled; 2]> = Vec::with_capacity(node.index() + 1);
    for (index, &at) in program.dag.nodes()[..=node.index()].iter().enumerate() {
        let id = NodeId(index as u32);
        labels.push(if atoms.binary_search(&id).is_ok() {
            [Ok(Label::Some), Ok(Label::All)]
        } else {
            [false, true].map(|negated| Rules { id, negated, labels: &labels }.node(at))
        });
    }
    labels[node.index()][usize::from(negated)]
}

/// What keeps a formula (or its negation) with the label E from A: an atom that is asked for, not against. O(nodes).
pub(crate) fn uncertain(program: &Program, node: NodeId, negated: bool) -> Option<Blocked> {
    let atoms = program.atoms();
    let mut seen = vec![[false; 2]; node.index() + 1];
    seen[node.index()][usize::from(negated)] = true;
    // Parents come after children, so going down all of a node's signs are known when it is met.
    for index in (0..=node.index()).rev() {
        let id = NodeId(index as u32);
        let [plain, flipped] = seen[index];
        if atoms.binary_search(&id).is_ok() {
            if plain {
                return Some(Blocked { node: id, negated: false, why: Why::Uncertain });
            }
            continue;
        }
        if !(plain || flipped) {
            continue;
        }
        let at = program.dag.node(id);
        let both = matches!(at, Node::Xor(..) | Node::Iff(..));
        for (place, child) in at.children().enumerate() {
            let turns = matches!(at, Node::Not(_)) || matches!(at, Node::Implies(..)) && place == 0;
            let mark = &mut seen[child.index()];
            mark[0] |= if turns { flipped } else { plain } || both;
            mark[1] |= if turns { plain } else { flipped } || both;
        }
    }
    None
}

/// The rules for one node or its negation.
struct Rules<'l> {
    id: NodeId,
    negated: bool,
    labels: &'l [[Labelled; 2]],
}

impl Rules<'_> {
    fn blocked(&self, why: Why) -> Labelled {
        Err(Blocked { node: self.id, negated: self.negated, why })
    }

    /// The label of an operand, if `flip` of its negation, in a formula that is itself negated or not.
    fn of(&self, id: NodeId, flip: bool) -> Labelled {
        self.labels[id.index()][usize::from(flip ^ self.negated)]
    }

    fn node(&self, node: Node) -> Labelled {
        use Node::*;
        // A negated disjunction is the conjunction of the negations, a negated until the release of the negations, ….
        let (plain, flipped) = (|a| self.of(a, false), |a| self.of(a, true));
        let dual = |this: Labelled, other: Labelled| if self.negated { other } else { this };
        if let Some(way) = node.temporal().and_then(Applied::way) {
            return self.way(way);
        }
        match node {
            // They do not depend on the events.
            Bool(_) | First | Last => Ok(Label::All),
            Not(a) => flipped(a),
            And(a, b) => dual(self.both(plain(a), plain(b)), self.either(plain(a), plain(b))),
            Or(a, b) => dual(self.either(plain(a), plain(b)), self.both(plain(a), plain(b))),
            Implies(a, b) => dual(self.either(flipped(a), plain(b)), self.both(flipped(a), plain(b))),
            Xor(a, b) | Iff(a, b) => {
                // (a & b) | (!a & !b), or with one side negated.
                let other = matches!(node, Xor(..)) ^ self.negated;
                let side = |id: NodeId, negated: bool| self.labels[id.index()][usize::from(negated)];
                self.either(
                    self.both(side(a, false), side(b, other)),
                    self.both(side(a, true), side(b, !other)),
                )
            }
            _ => self.blocked(Why::Meaning),
        }
    }

    /// Negated, an until is the release of the negations.
    fn way(&self, Way { dual, hold, goal: (goal, beside) }: Way) -> Labelled {
        let of = |id| self.of(id, false);
        let until = dual == self.negated;
        let goal = match beside.map(of) {
            Some(beside) if until => self.both(of(goal), beside),
            Some(beside) => self.either(of(goal), beside),
            None => of(goal),
        };
        let hold = hold.map_or(Ok(Label::All), of);
        if until { self.until(hold, goal) } else { self.release(hold, goal) }
    }

    fn both(&self, a: Labelled, b: Labelled) -> Labelled {
        match (a?, b?) {
            (Label::All, Label::All) => Ok(Label::All),
            (Label::Some, Label::Some) => self.blocked(Why::Conjunction),
            _ => Ok(Label::Some),
        }
    }

    fn either(&self, a: Labelled, b: Labelled) -> Labelled {
        match (a?, b?) {
            (Label::All, Label::All) => Ok(Label::All),
            _ => Ok(Label::Some),
        }
    }

    /// Asked for at many instants.
    fn throughout(&self, a: Labelled) -> Labelled {
        match a? {
            Label::All => Ok(Label::All),
            Label::Some => self.blocked(Why::Throughout),
        }
    }

    /// The right side at one instant, the left one at many.
    fn until(&self, a: Labelled, b: Labelled) -> Labelled {
        self.throughout(a)?;
        b
    }

    fn release(&self, a: Labelled, b: Labelled) -> Labelled {
        self.throughout(a)?;
        self.throughout(b)
    }
}

//! Holograms straight from the definition: the whole tree is made, then each rule is a function from trees to trees. Slow, and
//! nothing of it is shared with the crate.

use std::collections::HashMap;
use tw_classify::{Kleene, Rules, Truth};
use tw_core::{Position, Value};
use tw_ir::{Applied, Clock, CompareOp, Form, Node, NodeId, Program, display, display_with};

/// One trace, and what is needed to evaluate on it.
pub struct World<'a> {
    pub program: &'a Program,
    pub len: usize,
    pub times: Option<Vec<i64>>,
    pub until: Option<i64>,
    pub unit: tw_core::TimeUnit,
    /// The truth of a leaf without variables.
    pub leaf: &'a dyn Fn(NodeId, Position) -> bool,
    /// The values of a slot.
    pub values: &'a dyn Fn(u32, Position) -> Vec<Value>,
    known: HashMap<(NodeId, String, Position), Truth>,
}

#[derive(Clone, Debug)]
pub struct Tree {
    pub label: String,
    pub plain: String,
    pub truth: Truth,
    pub edge: Option<String>,
    kind: Kind,
    children: Vec<(Position, Tree)>,
    /// For a temporal operator, the position that settles its value.
    settles: Option<Position>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Leaf,
    Not,
    And,
    Or,
    Implies,
    Both,
    Step,
    Walk,
    Forall,
    Exists,
}

type Env = Vec<(u32, Value)>;
use Truth::{False, True, Unknown};

impl<'a> World<'a> {
    pub fn new(
        program: &'a Program,
        len: usize,
        leaf: &'a dyn Fn(NodeId, Position) -> bool,
        values: &'a dyn Fn(u32, Position) -> Vec<Value>,
    ) -> Self {
        let unit = tw_core::TimeUnit::Seconds;
        World { program, len, times: None, until: None, unit, leaf, values, known: HashMap::new() }
    }

    fn distance(&self, a: Position, b: Position) -> i64 {
        match &self.times {
            Some(times) => (times[b] - times[a]).abs(),
            None => a.abs_diff(b) as i64,
        }
    }

    fn ticks(&self, applied: &Applied) -> (i64, i64) {
        let clock = if self.times.is_some() { Clock::Stamps } else { Clock::Index };
        match applied.interval {
            Some(interval) => {
                let ticks = interval.ticks(clock, self.unit).expect("an interval");
                (ticks.low, ticks.high)
            }
            None => (0, i64::MAX),
        }
    }

    /// Positions from here on in the operator's direction.
    fn path(&self, applied: &Applied, at: Position) -> Vec<Position> {
        if applied.past { (0..=at).rev().collect() } else { (at..self.len).collect() }
    }

    /// Whether a longer trace adds no position to the interval.
    fn closed(&self, applied: &Applied, at: Position) -> bool {
        let (_, high) = self.ticks(applied);
        if applied.past {
            return true;
        }
        if high == i64::MAX {
            return false;
        }
        match &self.times {
            Some(times) => self.until.unwrap_or(times[self.len - 1]) - times[at] > high,
            None => (self.len - 1 - at) as i64 >= high,
        }
    }

    fn inside(&self, applied: &Applied, at: Position, there: Position) -> bool {
        let (low, high) = self.ticks(applied);
        let distance = self.distance(at, there);
        low <= distance && distance <= high
    }

    fn range(&self, node: Node) -> (u32, u32, NodeId) {
        let (variable, body) = match node {
            Node::Forall(variable, body) | Node::Exists(variable, body) => (variable, body),
            _ => unreachable!(),
        };
        let (Node::Implies(guard, body) | Node::And(guard, body)) = self.program.dag.node(body) else {
            unreachable!()
        };
        let Node::Compare(CompareOp::Eq, _, path) = self.program.dag.node(guard) else { unreachable!() };
        let Node::Slot(slot) = self.program.dag.node(path) else { unreachable!() };
        (variable, slot, body)
    }

    fn term(&self, node: NodeId, env: &Env) -> Value {
        match self.program.dag.node(node) {
            Node::Variable(own) => {
                env.iter().rev().find(|(variable, _)| *variable == own).expect("bound").1.clone()
            }
            Node::Constant(constant) => self.program.dag.constants[constant as usize].clone(),
            _ => panic!("the definition knows variables and constants"),
        }
    }

    /// The truth of a formula at a position.
    pub fn truth(&mut self, node: NodeId, env: &Env, at: Position) -> Truth {
        let key = (node, format!("{env:?}"), at);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let dag = &self.program.dag;
        let truth = match dag.node(node) {
            Node::Bool(holds) => Truth::from(holds),
            Node::First => Truth::from(at == 0),
            Node::Last => Truth::from(at + 1 == self.len),
            Node::Not(a) => self.truth(a, env, at).not(),
            Node::And(a, b) => self.truth(a, env, at).and(self.truth(b, env, at)),
            Node::Or(a, b) => self.truth(a, env, at).or(self.truth(b, env, at)),
            Node::Implies(a, b) => self.truth(a, env, at).not().or(self.truth(b, env, at)),
            Node::Xor(a, b) | Node::Iff(a, b) => match (self.truth(a, env, at), self.truth(b, env, at)) {
                (Unknown, _) | (_, Unknown) => Unknown,
                (a, b) => Truth::from((a == b) == matches!(dag.node(node), Node::Iff(..))),
            },
            own @ (Node::Forall(..) | Node::Exists(..)) => {
                let (variable, slot, body) = self.range(own);
                let forall = matches!(own, Node::Forall(..));
                let mut truth = Truth::from(forall);
                for value in tw_classify::domain((self.values)(slot, at).into_iter()) {
                    let mut inner = env.clone();
                    inner.push((variable, value));
                    let below = self.truth(body, &inner, at);
                    truth = if forall { truth.and(below) } else { truth.or(below) };
                }
                truth
            }
            own if own.is_temporal() => {
                let applied = own.temporal().expect("temporal");
                let end = self.path(&applied, at).len();
                self.operator(&applied, env, at, end)
            }
            Node::Compare(op, a, b) if !env.is_empty() && self.mentions(node) => {
                let (a, b) = (self.term(a, env), self.term(b, env));
                let order = tw_monitor::order(&a, &b);
                Truth::from(match op {
                    CompareOp::Eq => order.is_some_and(|order| order.is_eq()),
                    CompareOp::Ne => !order.is_some_and(|order| order.is_eq()),
                    CompareOp::Lt => order.is_some_and(|order| order.is_lt()),
                    CompareOp::Le => order.is_some_and(|order| order.is_le()),
                    CompareOp::Gt => order.is_some_and(|order| order.is_gt()),
                    CompareOp::Ge => order.is_some_and(|order| order.is_ge()),
                })
            }
            _ => Truth::from((self.leaf)(node, at)),
        };
        self.known.insert(key, truth);
        truth
    }

    fn mentions(&self, node: NodeId) -> bool {
        self.program
            .reachable(&[node])
            .iter()
            .any(|&id| matches!(self.program.dag.node(id), Node::Variable(_)))
    }

    /// An operator of which the first `seen` positions in its direction are known, the others not.
    fn operator(&mut self, applied: &Applied, env: &Env, at: Position, seen: usize) -> Truth {
        let path = self.path(applied, at);
        let all = seen == path.len();
        if applied.is_step() {
            let Some(&next) = path.get(1) else {
                return if self.closed(applied, at) { Truth::from(applied.weak) } else { Unknown };
            };
            return match self.inside(applied, at, next) {
                true => self.truth(applied.right, env, next),
                false => Truth::from(applied.weak),
            };
        }
        let (left, right) = (applied.left, applied.right);
        // Everything is an until, or the dual of one.
        let dual = applied.weak;
        let flip = |truth: Truth| if dual { truth.not() } else { truth };
        let mut parts: Vec<(Truth, Truth, bool)> = Vec::new();
        for &there in &path[..seen] {
            let own = |world: &mut Self, node: NodeId| world.truth(node, env, there);
            let (hold, goal) = match (applied.form, left) {
                (Form::Until, Some(left)) if dual => (own(self, right), own(self, left).or(own(self, right))),
                (Form::Release, Some(left)) if !dual => {
                    (own(self, right), own(self, left).and(own(self, right)))
                }
                (_, Some(left)) => (own(self, left), own(self, right)),
                (_, None) => (Truth::from(!dual), own(self, right)),
            };
            parts.push((flip(hold), flip(goal), self.inside(applied, at, there)));
        }
        // Now an until: true if a goal inside is true and all before it holds; false if there can be none.
        let mut truth = False;
        for k in 0..parts.len() {
            let before = parts[..k].iter().fold(True, |truth, part| truth.and(part.0));
            truth = truth.or(if parts[k].2 { parts[k].1.and(before) } else { False });
        }
        let inside_later = path[seen..].iter().any(|&there| self.inside(applied, at, there));
        // What is not seen may come as long as all has held.
        if (!all && inside_later) || !self.closed(applied, at) {
            let before = parts.iter().fold(True, |truth, part| truth.and(part.0));
            truth = truth.or(before.and(Unknown));
        }
        flip(truth)
    }

    /// The whole hologram.
    pub fn hologram(&mut self, node: NodeId, env: &Env, at: Position) -> Tree {
        let truth = self.truth(node, env, at);
        let own = self.program.dag.node(node);
        let (mut children, mut settles) = (Vec::new(), None);
        let mut label = own.operator().to_string();
        if let Some(interval) = own.interval() {
            label.push_str(&interval.to_string());
        }
        let mut plain = label.clone();
        let kind = match own {
            Node::Not(a) => {
                children.push((at, self.hologram(a, env, at)));
                Kind::Not
            }
            Node::And(a, b) | Node::Or(a, b) | Node::Implies(a, b) | Node::Xor(a, b) | Node::Iff(a, b) => {
                children.extend([a, b].map(|child| (at, self.hologram(child, env, at))));
                match own {
                    Node::And(..) => Kind::And,
                    Node::Or(..) => Kind::Or,
                    Node::Implies(..) => Kind::Implies,
                    _ => Kind::Both,
                }
            }
            Node::Forall(..) | Node::Exists(..) => {
                let (variable, slot, body) = self.range(own);
                for value in tw_classify::domain((self.values)(slot, at).into_iter()) {
                    let mut inner = env.clone();
                    inner.push((variable, value.clone()));
                    let mut child = self.hologram(body, &inner, at);
                    let text = |value: &Value| match value {
                        Value::Str(text) => format!("\"{text}\""),
                        other => other.to_string(),
                    };
                    child.edge = Some(text(&value));
                    children.push((at, child));
                }
                if matches!(own, Node::Forall(..)) { Kind::Forall } else { Kind::Exists }
            }
            _ if own.is_temporal() => {
                let applied = own.temporal().expect("temporal");
                let path = self.path(&applied, at);
                if applied.is_step() {
                    let next = path.get(1).copied().filter(|&next| self.inside(&applied, at, next));
                    children.extend(next.map(|next| (next, self.hologram(applied.right, env, next))));
                    Kind::Step
                } else {
                    for &there in &path {
                        if !self.inside(&applied, at, there) {
                            continue;
                        }
                        children.push((there, self.hologram(applied.right, env, there)));
                        if let Some(left) = applied.left {
                            children.push((there, self.hologram(left, env, there)));
                        }
                    }
                    if truth != Unknown {
                        let seen =
                            (1..=path.len()).find(|&seen| self.operator(&applied, env, at, seen) == truth);
                        settles = seen.map(|seen| path[seen - 1]);
                    }
                    Kind::Walk
                }
            }
            _ => {
                label = display_with(self.program, node, env);
                plain = display(self.program, node);
                Kind::Leaf
            }
        };
        Tree { label, plain, truth, edge: None, kind, children, settles }
    }
}

impl Tree {
    /// The rules, one after the other.
    pub fn pruned(&self, rules: &Rules) -> Tree {
        let mut tree = self.clone();
        if rules.fail_fast {
            tree.fail_fast();
        }
        if rules.polarity {
            tree.polarity();
        }
        if rules.quantifiers || rules.equalities {
            tree.erase(rules.quantifiers, rules.equalities);
        }
        if let Some(depth) = rules.truncate {
            tree.truncate(depth);
        }
        tree
    }

    fn fail_fast(&mut self) {
        if self.kind == Kind::Walk
            && self.truth != Unknown
            && let Some(settles) = self.settles
        {
            let past = self.children.windows(2).any(|pair| pair[0].0 > pair[1].0);
            let single =
                self.children.len() == 1 || self.children.iter().all(|(at, _)| *at == self.children[0].0);
            // Of one position alone the direction cannot be seen; nor does it matter unless it comes too late.
            let backwards =
                past || (single && matches!(self.label.chars().next(), Some('O' | 'H' | 'S' | 'B' | 'T')));
            self.children.retain(|(at, _)| if backwards { *at >= settles } else { *at <= settles });
        }
        self.children.iter_mut().for_each(|(_, child)| child.fail_fast());
    }

    fn polarity(&mut self) {
        let own = self.truth;
        let keep = |nth: usize, child: Truth| match (self.kind, own) {
            (Kind::Not | Kind::Step | Kind::Both | Kind::Leaf, _) => true,
            (_, Unknown) | (Kind::Walk, _) => child == own,
            (Kind::And | Kind::Forall, False) | (Kind::Or | Kind::Exists, True) => child == own,
            (Kind::Implies, True) => (nth == 0 && child == False) || (nth == 1 && child == True),
            _ => true,
        };
        let kept = self.children.drain(..).enumerate().filter(|(nth, (_, child))| keep(*nth, child.truth));
        self.children = kept.map(|(_, child)| child).collect();
        self.children.iter_mut().for_each(|(_, child)| child.polarity());
    }

    fn erase(&mut self, quantifiers: bool, equalities: bool) {
        if quantifiers {
            self.edge = None;
        }
        if equalities {
            self.label = self.plain.clone();
        }
        self.children.iter_mut().for_each(|(_, child)| child.erase(quantifiers, equalities));
    }

    fn truncate(&mut self, depth: u32) {
        if depth == 1 {
            self.children.clear();
        }
        self.children.iter_mut().for_each(|(_, child)| child.truncate(depth - 1));
    }

    /// In one line. With values left out, the children of quantifiers have no order; they are written by their texts.
    pub fn line(&self, unordered: bool) -> String {
        let mut children: Vec<String> =
            self.children.iter().map(|(_, child)| child.line(unordered)).collect();
        if unordered && matches!(self.kind, Kind::Forall | Kind::Exists) {
            children.sort();
        }
        let edge = self.edge.as_ref().map_or(String::new(), |edge| format!("{edge}:"));
        let below = if children.is_empty() { String::new() } else { format!("({})", children.join(" ")) };
        format!("{edge}{}{}{below}", self.label, self.truth.sign())
    }
}

//! Checking explanations by the definitions alone.
//!
//! Each claim is compared with the reference, and each inner claim is derived again from what its children claim and
//! nothing else: the definition of the operator is evaluated in Kleene's three-valued logic, where everything that no
//! child speaks of is unknown. If that yields the claim, the children justify it.
//!
//! A claim about a formula with free variables says what they are. The reference is then asked a closed formula: that there
//! are such values (`exists x. x == 3 & …`), and that they make the formula true, or false.

use tw_core::{Bits, Position};
use tw_engine_reference::Reference;
use tw_ir::{Applied, Clock, CompareOp, Node, NodeId, Program, Semantics, Ticks, Way, display};
use tw_monitor::{Claim, Engine, EvaluateOptions, Explanation, Rule, Trace};

/// Whether the explanation is right, and if not, which claim is wrong and why.
pub fn check_explanation(
    program: &Program,
    trace: &Trace,
    options: &EvaluateOptions,
    explanation: &Explanation,
) -> Result<(), String> {
    let claims = &explanation.claims;
    let truths = truths(program, trace, options, claims)?;
    let mut parents = vec![0usize; claims.len()];
    for (index, claim) in claims.iter().enumerate() {
        let fail = |why: String| {
            let truth = if claim.holds { "true" } else { "false" };
            let (formula, bound) = (display(program, claim.node), claim.bindings.pairs());
            Err(format!(
                "claim {index}, {formula} with {bound:?} is {truth} on {:?} by {:?}: {why}",
                claim.range, claim.rule
            ))
        };
        let (first, last) = claim.range;
        if first > last || last >= trace.len || trace.segment_of(first) != trace.segment_of(last) {
            return fail("no such positions".into());
        }
        if let Some(at) = (first..=last).find(|&at| !truths[index].get(at)) {
            return fail(format!("the reference says otherwise at {at}"));
        }
        for &child in &claim.children {
            if child <= index || child >= claims.len() {
                return fail(format!("child {child} is out of order"));
            }
            parents[child] += 1;
        }
        if let Err(why) = check_rule(program, trace, options, claims, claim) {
            return fail(why);
        }
    }
    if let Some(index) = (0..claims.len()).find(|&index| parents[index] != usize::from(index > 0)) {
        return Err(format!("claim {index} has {} parents", parents[index]));
    }
    for &(node, since) in &explanation.pending {
        let open = |claim: &Claim| claim.node == node && claim.range.0 == since && !claim.holds;
        if claims[0].holds || !claims.iter().any(open) {
            return Err(format!("{} is not an obligation open since {since}", display(program, node)));
        }
    }
    Ok(())
}

/// Of each claim where the reference agrees with it.
fn truths(
    program: &Program,
    trace: &Trace,
    options: &EvaluateOptions,
    claims: &[Claim],
) -> Result<Vec<Bits>, String> {
    let mut program = program.clone();
    let nodes: Vec<NodeId> = claims.iter().map(|claim| closed(&mut program, claim)).collect();
    let mut reference = Reference.plan(&program, options).map_err(|refusal| refusal.what)?;
    reference.columns(trace, &nodes).map_err(|refusal| refusal.what)
}

/// What a claim says, as a formula without free variables. That values are what they are is asked for whether the claim is
/// that something holds or that it does not: a value that its variable cannot have decides nothing.
fn closed(program: &mut Program, claim: &Claim) -> NodeId {
    let dag = &mut program.dag;
    let mut said = if claim.holds { claim.node } else { dag.add(Node::Not(claim.node)) };
    // The first is bound outermost, as in the formula that the claim is about a part of.
    for (variable, value) in claim.bindings.pairs().iter().rev() {
        let (own, value) = (dag.add(Node::Variable(*variable)), dag.constant(value.clone()));
        let equal = dag.add(Node::Compare(CompareOp::Eq, own, value));
        let both = dag.add(Node::And(equal, said));
        said = dag.add(Node::Exists(*variable, both));
    }
    said
}

fn is_inner(node: Node) -> bool {
    node.is_temporal()
        || matches!(
            node,
            Node::Not(_) | Node::And(..) | Node::Or(..) | Node::Xor(..) | Node::Implies(..) | Node::Iff(..)
        )
}

/// Whether the rule is one for such a claim, its position is right, and the children justify the claim.
fn check_rule(
    program: &Program,
    trace: &Trace,
    options: &EvaluateOptions,
    claims: &[Claim],
    claim: &Claim,
) -> Result<(), String> {
    let node = program.dag.node(claim.node);
    let (at, last) = claim.range;
    let leaf = if claim.children.is_empty() { Ok(()) } else { Err("a leaf with children".to_owned()) };
    if at < last {
        return if claim.rule == Rule::Throughout {
            leaf
        } else {
            Err("a stretch is read off the trace".into())
        };
    }
    let children: Vec<&Claim> = claim.children.iter().map(|&child| &claims[child]).collect();
    if let Node::Exists(variable, body) | Node::Forall(variable, body) = node
        && claim.rule != Rule::Truncated
    {
        let some = matches!(node, Node::Exists(..));
        return check_quantifier(claim, &children, variable, body, some == claim.holds);
    }
    match claim.rule {
        Rule::Throughout => return Err("a single position is no stretch".into()),
        Rule::Instance | Rule::Unnamed | Rule::Nobody => return Err("not a quantifier".into()),
        Rule::Truncated => return leaf,
        Rule::Atom if is_inner(node) => return Err("not an atom".into()),
        Rule::Atom => return leaf,
        _ if !is_inner(node) => return Err("an atom needs no reason".into()),
        _ => {}
    }
    if children.iter().any(|child| child.bindings != claim.bindings) {
        return Err("a child is about other values".into());
    }
    let (start, end) = trace.segment_of(at);
    let decided_at = |k: Position| children.iter().any(|child| child.range == (k, k));
    let right_place = match claim.rule {
        Rule::Witness { at: k }
        | Rule::FailsAt { at: k }
        | Rule::BrokenAt { at: k }
        | Rule::ReleasedAt { at: k } => decided_at(k),
        Rule::Neighbour => !decided_at(at) && !children.is_empty(),
        Rule::RepeatsLast => at + 1 == end && options.semantics == Semantics::RepeatLast,
        Rule::NoNext => at + 1 == end && children.is_empty(),
        Rule::NoPrevious => at == start && children.is_empty(),
        Rule::OutsideInterval | Rule::NoPosition { .. } => node.interval().is_some() && children.is_empty(),
        Rule::Missed { at: k } => {
            (start..end).contains(&k) && if node.is_future() { k >= at } else { k <= at }
        }
        // A deadline that the trace itself has passed is missed, not pending.
        Rule::Never { pending: true } => {
            node.is_future() && children.iter().any(|child| child.range.1 + 1 == end)
        }
        Rule::Left | Rule::Right | Rule::Negation => children.len() == 1,
        Rule::Both => children.len() == 2,
        _ => true,
    };
    if !right_place {
        return Err("the rule does not fit the place".into());
    }
    let interval = match node.interval() {
        Some(interval) => {
            Some(interval.ticks(options.clock, options.unit).map_err(|error| error.to_string())?)
        }
        None => None,
    };
    let known = |part: NodeId, k: Position| {
        let speaks = |child: &&&Claim| child.node == part && (child.range.0..=child.range.1).contains(&k);
        children.iter().find(speaks).map(|child| child.holds)
    };
    let view = View { at, start, end, trace, interval, clock: options.clock };
    if let Rule::Missed { at: k } = claim.rule
        && view.within(k)
    {
        return Err("what was missed lies inside the interval".into());
    }
    match view.holds(node, options.semantics == Semantics::RepeatLast, known) {
        Some(value) if value == claim.holds => Ok(()),
        Some(_) => Err("the children imply the opposite".into()),
        None => Err("the children do not imply it".into()),
    }
}

/// Whether a quantifier's claim follows: `one` if one value is enough, which then is the child's, about the same position and
/// with the same truth. Otherwise all values are meant, and those that the trace does not have are the reference's to check.
fn check_quantifier(
    claim: &Claim,
    children: &[&Claim],
    variable: u32,
    body: NodeId,
    one: bool,
) -> Result<(), String> {
    match (claim.rule, children) {
        (Rule::Nobody, []) if !one => Ok(()),
        (Rule::Unnamed, []) if one => Ok(()),
        (Rule::Instance, [child]) if one => {
            let value = child.bindings.pairs().iter().find(|(own, _)| *own == variable);
            let bound = value.map(|(_, value)| claim.bindings.with(variable, value.clone()));
            match bound {
                Some(bound) if bound != child.bindings => Err("the child is about other values".into()),
                Some(_) if (child.node, child.range, child.holds) == (body, claim.range, claim.holds) => {
                    Ok(())
                }
                Some(_) => Err("the child is about something else".into()),
                None => Err("the child has no value for the variable".into()),
            }
        }
        _ => Err("the rule does not fit the quantifier".into()),
    }
}

/// Kleene's conjunction.
fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn not(a: Option<bool>) -> Option<bool> {
    a.map(|a| !a)
}

fn or(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    not(and(not(a), not(b)))
}

struct View<'t> {
    at: Position,
    start: Position,
    end: Position,
    trace: &'t Trace,
    interval: Option<Ticks>,
    clock: Clock,
}

impl View<'_> {
    fn within(&self, k: Position) -> bool {
        let distance = match (&self.trace.times, self.clock) {
            (Some(times), Clock::Stamps) => (times[k] - times[self.at]).abs(),
            _ => k.abs_diff(self.at) as i64,
        };
        self.interval.is_none_or(|interval| interval.contains(distance))
    }

    fn holds(&self, node: Node, repeat: bool, t: impl Fn(NodeId, Position) -> Option<bool>) -> Option<bool> {
        let i = self.at;
        if let Some(operator) = node.temporal() {
            return self.temporal(operator, repeat, t);
        }
        match node {
            Node::Not(a) => not(t(a, i)),
            Node::And(a, b) => and(t(a, i), t(b, i)),
            Node::Or(a, b) => or(t(a, i), t(b, i)),
            Node::Implies(a, b) => or(not(t(a, i)), t(b, i)),
            Node::Xor(a, b) => Some(t(a, i)? != t(b, i)?),
            Node::Iff(a, b) => Some(t(a, i)? == t(b, i)?),
            _ => None,
        }
    }

    /// Every operator by its definition: there is a neighbour and it has the body, or some place has the goal and those
    /// before it hold, or the dual of that.
    fn temporal(
        &self,
        operator: Applied,
        repeat: bool,
        t: impl Fn(NodeId, Position) -> Option<bool>,
    ) -> Option<bool> {
        let i = self.at;
        let Some(Way { dual, hold, goal: (goal, beside) }) = operator.way() else {
            let next = match operator.past {
                true => (i > self.start).then(|| i - 1),
                false if i + 1 < self.end => Some(i + 1),
                false => repeat.then_some(i),
            };
            return next.filter(|&k| self.within(k)).map_or(Some(operator.weak), |k| t(operator.right, k));
        };
        let turned = |known| if dual { not(known) } else { known };
        let hold = |k| hold.map_or(Some(true), |hold| turned(t(hold, k)));
        let beside = |k| beside.map_or(Some(true), |beside| turned(t(beside, k)));
        let goal = |k| and(turned(t(goal, k)), beside(k));
        turned(match operator.past {
            true => self.until((self.start..=i).rev(), hold, goal),
            false => self.until(i..self.end, hold, goal),
        })
    }

    /// Some place inside the interval has the goal, and every place before it holds.
    fn until(
        &self,
        places: impl Iterator<Item = Position>,
        hold: impl Fn(Position) -> Option<bool>,
        goal: impl Fn(Position) -> Option<bool>,
    ) -> Option<bool> {
        let (mut found, mut held) = (Some(false), Some(true));
        for k in places {
            if self.within(k) {
                found = or(found, and(goal(k), held));
            }
            held = and(held, hold(k));
        }
        found
    }
}

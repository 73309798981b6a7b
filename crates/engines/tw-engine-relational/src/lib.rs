//! First-order specifications: which user, request or file.
//!
//! Most properties are begun by an event and decided by what is remembered of its values; they become *rules* (`rules`), which
//! cost a few hashed look-ups per event: some 100 to 300 ns, and some 60 bytes for each row in a window. The others are run by
//! what follows.
//!
//! At every position each subformula stands for the set of valuations of its free variables that make it true, and the set is
//! exact over infinitely many values: a trie says what the values that were seen make of it, and what all the others
//! do. Negation, quantifiers and temporal operators in any nesting are operations on tries.
//!
//! * A temporal operator keeps a state per valuation (`state`): the times at which its goal held. An event changes the states
//!   of the valuations that it names; what it says of all others at once (nothing, mostly) costs one step.
//! * Conjunctions are read from their smallest set on: `publish(r) & !O approve(r)` looks up the few `r` of the event, whatever
//!   was ever approved.
//! * Comparisons filter the valuations that events bind. On variables that nothing binds they become conditions, solved when
//!   the variable is quantified away, or refused by name.
//! * Formulas that look ahead wait, position by position, until their intervals have passed (`machine`).
//!
//! Cost per event: a few look-ups per operator and value, O(log₃₂ n) each, for formulas whose variables events bind; as much as
//! there are valuations in a state for those that ask of all (`O p(x) & O q(x)` by itself). Memory: some 100 bytes per valuation
//! and stamp in a window.

mod answers;
mod columns;
mod gate;
mod key;
mod live;
mod machine;
mod map;
mod predicate;
mod rules;
mod save;
mod sets;
mod state;
mod tally;
mod trie;
mod truth;

use gate::Plan;
use live::Live;
use machine::{Fails, Found, Machine};
use std::sync::Arc;
use trie::{Set, Trie};
use truth::{Refused, Truth, Truths};
use tw_core::{Bits, Position, Time, Value};
use tw_ir::{NodeId, Program, Semantics};
use tw_monitor::{
    Answer, Bindings, Engine, EvaluateOptions, Evaluator, PlannedEvaluator, PlannedMonitor, Positions, Sink,
    Telling, Trace, Unsupported, Wanted,
};

/// The engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Relational;

impl Engine for Relational {
    fn name(&self) -> &'static str {
        "relational"
    }

    fn about(&self) -> &'static str {
        "quantifiers and bindings, exact over all values: one set of valuations per subformula, kept up event by event"
    }

    fn plan<'p>(&self, program: &'p Program, options: &EvaluateOptions) -> PlannedEvaluator<'p> {
        let plan = Arc::new(plan(program, options, false)?);
        Ok(Box::new(Relations { program, options: options.clone(), plan }))
    }

    fn reads_forward(&self) -> bool {
        true
    }

    fn monitor(&self, program: &Program, options: &EvaluateOptions, telling: Telling) -> PlannedMonitor {
        let plan = plan(program, options, telling == Telling::Positions)?;
        Ok(Box::new(Live::new(Arc::new(plan), telling)))
    }
}

fn plan(program: &Program, options: &EvaluateOptions, each: bool) -> Result<Plan, Unsupported> {
    options.pointwise()?;
    // Beside quantified formulas, others would be run one position after the other.
    let quantified =
        |node: NodeId| program.reachable(&[node]).iter().any(|&id| program.dag.node(id).is_first_order());
    if let Some(root) = program.roots.iter().find(|root| !quantified(root.node)) {
        return Err(Unsupported::construct(root.node, "a formula without quantified variables")
            .help("⟨engine: auto⟩ takes one that is made for it"));
    }
    Plan::new(program, options, each)
}

/// Ready for stored traces.
struct Relations<'p> {
    program: &'p Program,
    options: EvaluateOptions,
    plan: Arc<Plan>,
}

fn truths(plan: &Plan) -> Truths {
    let whole = plan.variables.iter().map(|&variable| plan.program.dag.is_whole(variable)).collect();
    Truths::new(plan.program.clone(), plan.predicates.clone(), whole)
}

impl Plan {
    /// The refusal of what turned up while running.
    fn refusal(&self, refused: Refused) -> Unsupported {
        let variable = |level: u32| {
            let name = self
                .variables
                .get(level as usize)
                .and_then(|&own| self.program.dag.variables.get(own as usize));
            name.map_or("a variable", String::as_str).to_string()
        };
        match refused {
            Refused::Unguarded(level, predicate) => {
                let (name, node) = (variable(level), self.predicates[predicate as usize].node);
                Unsupported::construct(node, format!("`{name}` in this comparison: no event binds it there"))
                    .help(format!("bind `{name}` by an event beside the comparison, e.g. `seen({name}) & …`"))
            }
            Refused::Infinite(level) => {
                let name = variable(level);
                let own = self.tallies.iter().find(|tally| tally.bound.contains(&level));
                Unsupported {
                    node: own.map(|tally| tally.node),
                    what: format!("an aggregate over infinitely many values of `{name}`"),
                    help: Some(format!("bind `{name}` by an event inside the aggregate")),
                    exhausted: false,
                }
            }
            Refused::Value(message) => {
                Unsupported { node: None, what: format!("a value: {message}"), help: None, exhausted: false }
            }
            Refused::Conditions => Unsupported::budget("too many conditions on variables that nothing binds"),
            Refused::Memory(held) => {
                let (held, most) = (held >> 20, self.budget >> 20);
                Unsupported::budget(format!("{held} MiB of values in windows, and {most} may be held"))
            }
        }
    }
}

/// The violations of roots while a trace is read.
struct Collect<'c> {
    plan: &'c Plan,
    answers: Vec<Answer>,
    limit: usize,
}

impl Collect<'_> {
    /// Takes what was found out.
    fn take(&mut self, machine: &mut Machine, found: &mut Vec<Found>) -> Result<(), Unsupported> {
        for Found { asked: root, about, fails, .. } in found.drain(..) {
            let answer = &mut self.answers[root];
            let last = answer.holds.len() - 1;
            let fails = match fails {
                Fails::Set(Trie::Leaf(Truth::NO)) => continue,
                Fails::Set(set) => set,
                Fails::More(count) => {
                    answer.holds.set(last, false);
                    answer.violation_count += count;
                    continue;
                }
                Fails::Rows(rows) => {
                    answer.holds.set(last, rows.is_empty() && answer.holds.get(last));
                    answer.violation_count += rows.len();
                    for row in rows.iter().take(self.limit - answer.violations.len().min(self.limit)) {
                        answer.violations.push(about);
                        answer.bindings.push(row_bindings(self.plan, root, row));
                    }
                    continue;
                }
            };
            match &self.plan.asked[root].outer {
                Some(outer) => {
                    let listed = answers::list(&mut machine.truths, &fails, outer);
                    let listed = listed.map_err(|refused| self.plan.refusal(refused))?;
                    if !listed.entries.is_empty() {
                        answer.holds.set(last, false);
                    }
                    for entry in listed.entries {
                        answer.violation_count += 1;
                        if answer.violations.len() < self.limit {
                            answer.violations.push(about);
                            answer.bindings.push(bindings(self.plan, &entry, listed.infinite));
                        }
                    }
                }
                None => match closed(&fails) {
                    Some(fails) => answer.holds.set(last, !fails),
                    None => return Err(undecided(self.plan, machine, &fails)),
                },
            }
        }
        Ok(())
    }
}

fn undecided(plan: &Plan, machine: &Machine, set: &Set) -> Unsupported {
    let truth = match set {
        Trie::Leaf(leaf) => *leaf,
        Trie::Split(_) => Truth::NO,
    };
    plan.refusal(machine.truths.reason(truth))
}

/// The truth of a closed formula.
fn closed(set: &Set) -> Option<bool> {
    match set {
        Trie::Leaf(leaf) => leaf.known(),
        Trie::Split(_) => None,
    }
}

fn bindings(plan: &Plan, entry: &[(u32, key::Key)], infinite: bool) -> Bindings {
    let pairs = entry.iter().map(|(level, key)| (plan.variables[*level as usize], key.value())).collect();
    if infinite { Bindings::infinitely(pairs) } else { Bindings::new(pairs) }
}

/// The values of the outer variables, in their order.
fn row_bindings(plan: &Plan, asked: usize, row: &[key::Key]) -> Bindings {
    let outer = plan.asked[asked].outer.iter().flatten();
    Bindings::new(outer.zip(row).map(|(level, key)| (plan.variables[*level as usize], key.value())).collect())
}

impl Relations<'_> {
    /// What is asked now and then: whether somebody still waits.
    fn go_on(&self, place: Position) -> Result<(), Unsupported> {
        match place.is_multiple_of(LOOK) && self.options.stopped() {
            true => Err(Unsupported::budget("nobody waits for the answer")),
            false => Ok(()),
        }
    }

    /// Runs all segments; every root's violations at most `limit`.
    fn answers(&self, plan: &Arc<Plan>, trace: &Trace, limit: usize) -> Result<Vec<Answer>, Unsupported> {
        let mut collect = Collect { plan, answers: vec![Answer::default(); plan.asked.len()], limit };
        let positions = trace.positions();
        for segment in 0..trace.starts().len() {
            let (start, end) = (trace.starts()[segment], trace.segment_end(segment));
            collect.answers.iter_mut().for_each(|answer| answer.holds.push(true));
            let tell: &mut Tell<'_> = &mut |machine, found| collect.take(machine, found);
            let go_on: &GoOn<'_> = &|place| self.go_on(place);
            if self.options.semantics != Semantics::Ltl3 {
                run(plan, &positions, (start, end), (Ending::Ends, limit), (tell, go_on))?;
                continue;
            }
            // What time alone decides is decided; the rest is open, also where nothing could violate it.
            let decided =
                run(plan, &positions, (start, end), (Ending::Open(trace.until), limit), (tell, go_on))?;
            for (root, (answer, question)) in collect.answers.iter_mut().zip(&plan.asked).enumerate() {
                let open = answer.open.get_or_insert_with(Bits::new);
                let last = answer.holds.len() - 1;
                let violated = !answer.holds.get(last);
                let known = violated || (question.outer.is_none() && decided[root]);
                open.push(!known);
                if !known {
                    answer.holds.set(last, false);
                }
            }
        }
        Ok(collect.answers)
    }
}

/// Who is told what was found out.
type Tell<'t> = dyn FnMut(&mut Machine, &mut Vec<Found>) -> Result<(), Unsupported> + 't;

/// Refuses to go on from a position.
type GoOn<'g> = dyn Fn(Position) -> Result<(), Unsupported> + 'g;

/// How many positions pass before it is asked whether to go on.
const LOOK: usize = 256;

/// What comes after the last position.
#[derive(Clone, Copy)]
enum Ending {
    /// Nothing.
    Ends,
    /// Perhaps something, but not before this time.
    Open(Option<Time>),
}

/// Runs a segment, and says of which roots the first position was decided. Beyond so many violations of each it is told how
/// many there are.
fn run(
    plan: &Arc<Plan>,
    positions: &Positions<'_>,
    (start, end): (Position, Position),
    (ending, limit): (Ending, usize),
    (tell, go_on): (&mut Tell<'_>, &GoOn<'_>),
) -> Result<Vec<bool>, Unsupported> {
    let mut decided = vec![false; plan.asked.len()];
    let mut tell = |machine: &mut Machine, found: &mut Vec<Found>| {
        found.iter().filter(|found| found.first).for_each(|found| decided[found.asked] = true);
        tell(machine, found)
    };
    let mut machine = Machine::new(plan.clone(), truths(plan));
    if let Some(runner) = &mut machine.runner {
        runner.limit = limit;
    }
    let mut found = Vec::new();
    machine.begin();
    for place in start..end {
        go_on(place)?;
        machine.step(positions, place, place, &mut found);
        if !found.is_empty() {
            tell(&mut machine, &mut found)?;
        }
        if let Some(refused) = machine.truths.refused.take() {
            return Err(plan.refusal(refused));
        }
    }
    match ending {
        Ending::Ends => machine.end(&mut found),
        Ending::Open(until) => {
            if let Some(until) = until {
                machine.pass(until.saturating_sub(1), &mut found);
            }
            machine.known(&mut found);
        }
    }
    tell(&mut machine, &mut found)?;
    Ok(decided)
}

impl Evaluator for Relations<'_> {
    fn wanted(&self) -> Wanted {
        Wanted { terms: true, relations: true, ..Wanted::ATOMS }
    }

    fn run(&mut self, trace: &Trace, sink: &mut Sink) -> Result<(), Unsupported> {
        sink.answers(self.answers(&self.plan, trace, sink.limit)?);
        Ok(())
    }

    fn columns(&mut self, trace: &Trace, nodes: &[NodeId]) -> Result<Vec<Bits>, Unsupported> {
        let nodes: Vec<_> = nodes.iter().map(|&node| (node, Bindings::default())).collect();
        self.columns_bound(trace, &nodes)
    }

    fn columns_bound(
        &mut self,
        trace: &Trace,
        nodes: &[(NodeId, Bindings)],
    ) -> Result<Vec<Bits>, Unsupported> {
        self.truth_of(trace, nodes)
    }

    fn witness(
        &mut self,
        trace: &Trace,
        node: NodeId,
        bindings: &Bindings,
        at: Position,
    ) -> Result<Option<Value>, Unsupported> {
        self.deciding(trace, node, bindings, at)
    }
}

/// A set where variables are these.
fn restricted(plan: &Plan, machine: &mut Machine, mut set: Set, bindings: &Bindings) -> Set {
    for (variable, value) in bindings.pairs() {
        let level = plan.variables.iter().position(|own| own == variable);
        if let (Some(level), Some(key)) = (level, key::Key::new(value.clone())) {
            set = trie::restrict(&mut machine.truths, &set, level as u32, &key);
        }
    }
    set
}

#[cfg(test)]
mod tests;

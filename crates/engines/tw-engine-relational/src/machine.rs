//! Positions in, violations out: the whole run of a program over one trace.
//!
//! Gates that nothing later decides are read at their position. Those that look ahead are *delayed*: what is known at a
//! position waits in queues until the rest is, position after position. A conjunction waits with what its other operands
//! leave of the set, which is mostly nothing.

use crate::gate::{Edge, Gate, Plan, operands};
use crate::rules::{Row, Runner};
use crate::save::{Saved, load_option, save_option};
use crate::sets::{Filter, Here, Operand, Sets, State};
use crate::state::{From, Since, Until};
use crate::tally::tally;
use crate::trie::{Op, Plain, Set, Trie, copy};
use crate::truth::{Refused, Truth, Truths};
use std::collections::VecDeque;
use std::sync::Arc;
use tw_core::codec::{Corrupt, put, take, take_len};
use tw_core::{Position, Time, Value};
use tw_ir::{NodeId, Ticks};
use tw_monitor::Positions;

/// What is known of a root at a position.
pub(crate) struct Found {
    /// By its place in `Plan::asked`.
    pub(crate) asked: usize,
    /// The position, by the number that it was given.
    pub(crate) about: Position,
    /// Whether it is the first of the trace.
    pub(crate) first: bool,
    pub(crate) fails: Fails,
}

/// The valuations for which something does not hold.
pub(crate) enum Fails {
    Set(Set),
    /// Of the outer variables, in order.
    Rows(Arc<Vec<Row>>),
    /// So many, beyond those that are asked for.
    More(usize),
}

/// Positions before what is held is counted first.
const COUNT: Position = 1 << 12;

/// A delayed gate at work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    /// What has arrived of each operand, from `next` on (of an until: from what it has taken in).
    queues: Vec<VecDeque<Set>>,
    /// Which operand stands in which queue; of a conjunction one queue more, the first, for all that is known at once.
    ports: Vec<Port>,
    /// The next position that is put out.
    next: Position,
    /// Of an until: positions taken in.
    taken: Position,
    /// Of a predicate over tallies: the columns that it and they read.
    columns: VecDeque<Columns>,
}

impl Line {
    pub(crate) fn save(&self, out: &mut Vec<u8>) {
        put(self.next as u64, out);
        put(self.taken as u64, out);
        for queue in &self.queues {
            put(queue.len() as u64, out);
            queue.iter().for_each(|set| set.save(out));
        }
        put(self.columns.len() as u64, out);
        for columns in &self.columns {
            match columns {
                Err(poison) => {
                    put(0, out);
                    poison.save(out);
                }
                Ok((own, tallies)) => {
                    put(1 + tallies.len() as u64, out);
                    for values in [own].into_iter().chain(tallies) {
                        put(values.len() as u64, out);
                        values.iter().for_each(|value| save_option(value, out));
                    }
                }
            }
        }
    }

    pub(crate) fn load(&mut self, from: &mut &[u8], len: Position) -> Result<(), Corrupt> {
        self.next = take(from)? as Position;
        self.taken = take(from)? as Position;
        if self.next > len || self.taken > len {
            return Err(Corrupt("the saved state is ahead of itself".into()));
        }
        for queue in &mut self.queues {
            for _ in 0..take_len(from)? {
                queue.push_back(Set::load(from)?);
            }
        }
        for _ in 0..take_len(from)? {
            let Some(tallies) = take(from)?.checked_sub(1) else {
                self.columns.push_back(Err(Truth::load(from)?));
                continue;
            };
            let values = |from: &mut &[u8]| -> Result<Vec<Option<Value>>, Corrupt> {
                (0..take_len(from)?).map(|_| load_option(from)).collect()
            };
            let own = values(from)?;
            let tallies: Result<Vec<_>, Corrupt> = (0..tallies).map(|_| values(from)).collect();
            self.columns.push_back(Ok((own, tallies?)));
        }
        Ok(())
    }

    /// Whether all that waits is about positions between these.
    pub(crate) fn within(&self, oldest: Position, len: Position) -> bool {
        let most = self.queues.iter().map(VecDeque::len).max().unwrap_or(0);
        self.next >= oldest && self.next.checked_add(most).is_some_and(|end| end <= len)
    }

    /// Points of sets in queues, and the sets.
    pub(crate) fn entries(&self) -> usize {
        self.queues.iter().flatten().map(|set| set.entries()).sum::<usize>()
            + self.queues.iter().map(VecDeque::len).sum::<usize>() / 4
    }
}

/// The columns of a predicate at a position and those of its tallies, or what stands for a value that is none.
type Columns = Result<(Vec<Option<Value>>, Vec<Vec<Option<Value>>>), Truth>;

/// What a root waits for at a position.
pub(crate) struct Waiting {
    pub(crate) asked: usize,
    pub(crate) since: Position,
    pub(crate) deadline: Option<Time>,
    /// The valuations that violate unless something happens.
    pub(crate) fails: Fails,
    /// What would have to happen: formulas, or their negations.
    pub(crate) owed: Vec<(NodeId, bool)>,
}

#[derive(Clone, Copy, Debug)]
enum Port {
    /// Known at its position: put into the queue then.
    Now(Edge),
    /// Delayed: put into the queue by its gate.
    Later(Edge),
    /// An until that a conjunction reads itself.
    Read(Edge),
    /// All operands of a conjunction that are known at once.
    Early,
}

#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) plan: Arc<Plan>,
    pub(crate) truths: Truths,
    pub(crate) states: Vec<State>,
    memo: Vec<Option<Set>>,
    pub(crate) lines: Vec<Option<Line>>,
    /// Of each delayed gate, which queues it fills.
    fills: Vec<Vec<(usize, usize)>>,
    /// Of each delayed gate, which roots ask for it.
    roots: Vec<Vec<usize>>,
    /// Conjunctions that read an until.
    readers: Vec<Vec<usize>>,
    /// When the positions were that are still waited for, from `oldest` on, and their numbers.
    pub(crate) times: VecDeque<Time>,
    pub(crate) numbers: VecDeque<Position>,
    pub(crate) oldest: Position,
    /// Positions seen.
    pub(crate) len: Position,
    /// Later positions lie beyond.
    pub(crate) passed: Time,
    ended: bool,
    /// What rules answer.
    pub(crate) runner: Option<Runner>,
    /// Whether tries have something to answer.
    tries: bool,
    /// How many positions there are when what is held is counted next.
    count: Position,
}

impl Machine {
    pub(crate) fn new(plan: Arc<Plan>, truths: Truths) -> Self {
        let count = plan.gates.len();
        let (mut states, mut lines) = (vec![State::None; count], vec![None; count]);
        let (mut fills, mut readers) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for (at, gate) in plan.gates.iter().enumerate() {
            states[at] = match gate {
                Gate::Step { past: true, .. } => State::Before(None),
                Gate::Until { past: true, ticks, .. } => State::Since(Since::new(*ticks)),
                Gate::Until { past: false, ticks, .. } => State::Until(Until::new(*ticks)),
                _ => State::None,
            };
            if !plan.delayed[at] {
                continue;
            }
            let conjunction = matches!(gate, Gate::And(_));
            let mut ports = Vec::new();
            if conjunction {
                ports.push(Port::Early);
            }
            for edge in operands(gate, &plan.predicates, &plan.tallies) {
                let delayed = plan.delayed[edge.index()];
                let ahead = matches!(plan.gates[edge.index()], Gate::Until { past: false, .. });
                match (conjunction, delayed, ahead) {
                    (true, false, _) => {}
                    (true, true, true) => {
                        readers[edge.index()].push(at);
                        ports.push(Port::Read(edge));
                    }
                    (_, true, _) => {
                        fills[edge.index()].push((at, ports.len()));
                        ports.push(Port::Later(edge));
                    }
                    (false, false, _) => ports.push(Port::Now(edge)),
                }
            }
            let queues = vec![VecDeque::new(); ports.len()];
            lines[at] = Some(Line { queues, ports, ..Line::default() });
        }
        let mut roots = vec![Vec::new(); count];
        let ruled = &plan.rules.answers;
        for (root, asked) in plan.asked.iter().enumerate().filter(|(root, _)| !ruled[*root]) {
            roots[asked.edge.index()].push(root);
        }
        let tries = ruled.contains(&false);
        let runner = ruled.contains(&true).then(|| Runner::new(&plan));
        let memo = vec![None; count];
        let (times, numbers, oldest, len, ended) = Default::default();
        Self {
            plan,
            truths,
            states,
            memo,
            lines,
            fills,
            roots,
            readers,
            times,
            numbers,
            oldest,
            len,
            passed: i64::MIN,
            ended,
            runner,
            tries,
            count: COUNT,
        }
    }

    /// Other positions follow than those of the last step.
    pub(crate) fn begin(&mut self) {
        if let Some(runner) = &mut self.runner {
            runner.begin();
        }
    }

    /// Takes the next position, which has this number.
    pub(crate) fn step(
        &mut self,
        positions: &Positions<'_>,
        place: usize,
        number: Position,
        out: &mut Vec<Found>,
    ) {
        let at = self.len;
        let now = match positions.times.filter(|_| !self.plan.index) {
            Some(times) => times[place],
            None => at as Time,
        };
        self.len += 1;
        self.passed = now;
        if let Some(runner) = &mut self.runner {
            runner.step(&self.plan, positions, (place, number), now, out, &mut self.truths.refused);
        }
        if self.len >= self.count {
            self.count_bytes();
        }
        if !self.tries {
            self.oldest = self.len;
            return;
        }
        let plan = self.plan.clone();
        let here = Here { positions, place, at, now };
        if plan.waits {
            self.times.push_back(now);
            self.numbers.push_back(number);
        } else {
            self.oldest = self.len;
        }
        self.memo.fill(None);
        // In the order of gates: what they read of each other is there.
        for &gate in &plan.stateful {
            let kind = &plan.gates[gate];
            if plan.delayed[gate] {
                self.feed(gate, kind, here);
            } else {
                self.remember(gate, kind, here);
            }
        }
        for (question, asked) in plan.asked.iter().enumerate() {
            let ruled = plan.rules.answers[question];
            if !ruled && !plan.delayed[asked.edge.index()] && (asked.each || at == 0) {
                let fails = Fails::Set(self.set(here, asked.edge.not()));
                out.push(Found { asked: question, about: number, first: at == 0, fails });
            }
        }
        if plan.waits {
            self.flow(out);
        }
    }

    fn operand<'s>(&'s mut self, here: Here<'_>, edge: Edge) -> (Operand<'s>, &'s mut Truths) {
        let Self { plan, truths, states, memo, .. } = self;
        let operand = Sets { plan, truths, states, memo, here }.operand(edge);
        (operand, truths)
    }

    /// More than may be held ends in a message. Counting costs as much as there is, so it is done ever more rarely.
    fn count_bytes(&mut self) {
        self.count = self.len + self.len / 4;
        let held = self.heap_bytes();
        if held > self.plan.budget {
            self.truths.refused.get_or_insert(Refused::Memory(held));
        }
    }

    /// The set of an edge that is known here.
    fn set(&mut self, here: Here<'_>, edge: Edge) -> Set {
        let (operand, truths) = self.operand(here, edge);
        operand.copy(truths)
    }

    /// Brings a gate that looks back to this position.
    fn remember(&mut self, gate: usize, kind: &Gate, here: Here<'_>) {
        let mut state = std::mem::replace(&mut self.states[gate], State::None);
        match (&mut state, kind) {
            (State::Since(since), Gate::Until { hold, goal, .. }) => {
                since.turn(here.now);
                for (edge, is_hold) in hold.iter().map(|edge| (*edge, true)).chain([(*goal, false)]) {
                    let (operand, truths) = self.operand(here, edge);
                    take_in(truths, since, &operand, is_hold);
                }
            }
            (State::Before(before), Gate::Step { ticks, of, .. }) => {
                let set = self.set(here, *of);
                self.memo[gate] = Some(stepped(before.take(), *ticks, here.now));
                *before = Some((set, here.now));
            }
            _ => {}
        }
        self.states[gate] = state;
    }

    /// Puts into the queues of a delayed gate what is known at this position.
    fn feed(&mut self, gate: usize, kind: &Gate, here: Here<'_>) {
        let Some(mut line) = self.lines[gate].take() else { return };
        for (port, queue) in line.ports.iter().zip(&mut line.queues) {
            match port {
                Port::Now(edge) => {
                    // The sign of the edge is for who takes it out.
                    let set = self.set(here, Edge { negated: false, ..*edge });
                    queue.push_back(set);
                }
                Port::Early => {
                    let Gate::And(edges) = kind else { continue };
                    let Self { plan, truths, states, memo, .. } = &mut *self;
                    let known = |edge: &Edge| !plan.delayed[edge.index()];
                    let early: Vec<Edge> = edges.iter().copied().filter(known).collect();
                    queue.push_back(Sets { plan, truths, states, memo, here }.and(&early));
                }
                Port::Later(_) | Port::Read(_) => {}
            }
        }
        if let Gate::Predicate(number) = kind {
            let Self { plan, truths, states, memo, .. } = &mut *self;
            let mut sets = Sets { plan, truths, states, memo, here };
            let own = sets.columns(&plan.predicates[*number as usize]);
            let tallies = plan.tallied(*number).map(|(_, tallied)| match &tallied.value {
                Some(value) => sets.columns(value),
                None => Ok(Vec::new()),
            });
            let tallies: Result<Vec<_>, Truth> = tallies.collect();
            line.columns.push_back(own.and_then(|own| Ok((own, tallies?))));
        }
        self.lines[gate] = Some(line);
    }

    fn time(&self, at: Position) -> Time {
        self.times[at - self.oldest]
    }

    /// Whether all has happened that an until at a position may hang on.
    fn ready(&self, gate: usize, at: Position) -> bool {
        let (Some(line), Gate::Until { ticks, .. }) = (&self.lines[gate], &self.plan.gates[gate]) else {
            return false;
        };
        if line.taken <= at {
            return false;
        }
        if self.ended && line.taken == self.len {
            return true;
        }
        let Some(end) = self.time(at).checked_add(ticks.high) else { return false };
        let last = if line.taken == self.len { self.passed } else { self.time(line.taken - 1) };
        last > end
    }

    /// Lets everything that is known flow on.
    pub(crate) fn flow(&mut self, out: &mut Vec<Found>) {
        for gate in 0..self.lines.len() {
            if self.lines[gate].is_some() {
                self.run(gate, out);
            }
        }
        self.trim();
    }

    fn run(&mut self, gate: usize, out: &mut Vec<Found>) {
        let plan = self.plan.clone();
        match &plan.gates[gate] {
            Gate::And(_) => while self.conjunction(gate, out) {},
            Gate::Exists(level, of) => {
                while let Some(set) = self.arrived(gate) {
                    let operand = Operand::Set(set, Plain { negated: of.negated });
                    let set = operand.exists(&mut self.truths, *level);
                    self.put(gate, set, out);
                }
            }
            Gate::Step { past: true, ticks, of } => {
                while let Some(set) = self.arrived(gate) {
                    let (State::Before(before), Some(line)) = (&mut self.states[gate], &self.lines[gate])
                    else {
                        return;
                    };
                    let now = self.times[line.next - self.oldest];
                    let set = Operand::Set(set, Plain { negated: of.negated }).copy(&mut self.truths);
                    let stepped = stepped(before.replace((set, now)), *ticks, now);
                    self.put(gate, stepped, out);
                }
            }
            Gate::Step { past: false, ticks, of } => self.next(gate, *ticks, *of, out),
            Gate::Until { past: true, hold, goal, .. } => {
                while let Some(sets) = self.all_arrived(gate) {
                    let Some(line) = &self.lines[gate] else { return };
                    let now = self.times[line.next - self.oldest];
                    let State::Since(since) = &mut self.states[gate] else { return };
                    since.turn(now);
                    let edges = hold.iter().map(|edge| (*edge, true)).chain([(*goal, false)]);
                    for ((edge, is_hold), set) in edges.zip(sets) {
                        let operand = Operand::Set(set, Plain { negated: edge.negated });
                        take_in(&mut self.truths, since, &operand, is_hold);
                    }
                    let set = copy(&mut self.truths, since.window(false), &since.state);
                    self.put(gate, set, out);
                }
            }
            Gate::Until { past: false, hold, goal, .. } => self.until(gate, *hold, *goal, out),
            Gate::Predicate(number) => {
                while let Some(sets) = self.all_arrived(gate) {
                    let Some(columns) = self.lines[gate].as_mut().and_then(|line| line.columns.pop_front())
                    else {
                        return;
                    };
                    let set = self.tallied(*number, columns, sets);
                    self.put(gate, set, out);
                }
            }
            _ => {}
        }
    }

    /// A predicate over tallies of sets that were waited for.
    fn tallied(&mut self, number: u32, columns: Columns, sets: Vec<Set>) -> Set {
        let (mut values, terms) = match columns {
            Ok(columns) => columns,
            Err(poison) => return Trie::Leaf(poison),
        };
        let mut tallies = Vec::new();
        for (((place, tallied), set), terms) in self.plan.tallied(number).zip(sets).zip(&terms) {
            let set = copy(&mut self.truths, Plain { negated: tallied.of.negated }, &set);
            tallies.push((place, tally(&mut self.truths, tallied, &set, terms)));
        }
        Filter { truths: &mut self.truths, predicate: number, negated: false }.run(
            &Set::YES,
            &tallies,
            &mut values,
            None,
        )
    }

    /// The next set in the only queue.
    fn arrived(&mut self, gate: usize) -> Option<Set> {
        self.lines[gate].as_mut()?.queues[0].pop_front()
    }

    /// The next of every queue, if all have one.
    fn all_arrived(&mut self, gate: usize) -> Option<Vec<Set>> {
        let line = self.lines[gate].as_mut()?;
        if line.queues.iter().any(VecDeque::is_empty) {
            return None;
        }
        line.queues.iter_mut().map(VecDeque::pop_front).collect()
    }

    /// A gate is known at its next position.
    fn put(&mut self, gate: usize, set: Set, out: &mut Vec<Found>) {
        let Some(line) = &mut self.lines[gate] else { return };
        let about = line.next;
        line.next += 1;
        for at in 0..self.fills[gate].len() {
            let (other, port) = self.fills[gate][at];
            if let Some(line) = &mut self.lines[other] {
                line.queues[port].push_back(set.clone());
            }
        }
        let (number, first) = (self.numbers[about - self.oldest], about == 0);
        for at in 0..self.roots[gate].len() {
            let question = self.roots[gate][at];
            let asked = &self.plan.asked[question];
            if asked.each || first {
                let read = Plain { negated: !asked.edge.negated };
                let fails = copy(&mut self.truths, read, &set);
                out.push(Found { asked: question, about: number, first, fails: Fails::Set(fails) });
            }
        }
    }

    /// Puts out the next position of a conjunction, if it is known.
    fn conjunction(&mut self, gate: usize, out: &mut Vec<Found>) -> bool {
        let Some(line) = &self.lines[gate] else { return false };
        let at = line.next;
        let Some(early) = line.queues[0].front() else { return false };
        let nothing = matches!(early, Trie::Leaf(Truth::NO));
        for (port, queue) in line.ports.iter().zip(&line.queues) {
            let known = match port {
                Port::Later(_) => !queue.is_empty(),
                Port::Read(edge) => nothing || self.ready(edge.index(), at),
                _ => true,
            };
            if !known {
                return false;
            }
        }
        let Some(mut line) = self.lines[gate].take() else { return false };
        let mut all = line.queues[0].pop_front().unwrap_or(Set::NO);
        for (port, queue) in line.ports.iter().zip(&mut line.queues) {
            let operand = match port {
                Port::Later(edge) => {
                    Operand::Set(queue.pop_front().unwrap_or(Set::NO), Plain { negated: edge.negated })
                }
                Port::Read(_) if matches!(all, Trie::Leaf(Truth::NO)) => continue,
                Port::Read(edge) => {
                    let State::Until(until) = &self.states[edge.index()] else { continue };
                    let time = self.times[at - self.oldest];
                    Operand::Until(&until.state, From { at, time, ticks: until.ticks, negated: edge.negated })
                }
                _ => continue,
            };
            all = operand.join(&mut self.truths, Op::And, &all);
        }
        self.lines[gate] = Some(line);
        self.put(gate, all, out);
        true
    }

    /// What holds at the position after. At the end there is none, or it is the last itself.
    fn next(&mut self, gate: usize, ticks: Ticks, of: Edge, out: &mut Vec<Found>) {
        loop {
            let Some(line) = &mut self.lines[gate] else { return };
            // The first in the queue belongs to the position that is put out next, the second to the one after.
            let at = line.next;
            let queue = &mut line.queues[0];
            let (set, distance) = if queue.len() >= 2 {
                queue.pop_front();
                let distance = self.times[at + 1 - self.oldest].saturating_sub(self.times[at - self.oldest]);
                (queue.front().cloned(), distance)
            } else if self.ended && queue.len() == 1 && at + 1 == self.len {
                let last = queue.pop_front();
                (last.filter(|_| self.plan.repeat), 0)
            } else {
                return;
            };
            let set = match set {
                Some(set) if ticks.contains(distance) => {
                    copy(&mut self.truths, Plain { negated: of.negated }, &set)
                }
                _ => Set::NO,
            };
            self.put(gate, set, out);
        }
    }

    fn until(&mut self, gate: usize, hold: Option<Edge>, goal: Edge, out: &mut Vec<Found>) {
        while let Some(sets) = self.all_arrived(gate) {
            let Some(line) = &mut self.lines[gate] else { return };
            let at = line.taken;
            line.taken += 1;
            let time = self.times[at - self.oldest];
            let State::Until(until) = &mut self.states[gate] else { return };
            let edges = hold.iter().map(|edge| (*edge, true)).chain([(goal, false)]);
            for ((edge, is_hold), set) in edges.zip(sets) {
                match is_hold {
                    true => until.hold(&mut self.truths, at, time, &set, edge.negated),
                    false => until.goal(&mut self.truths, at, time, &set, edge.negated),
                }
            }
        }
        if self.fills[gate].is_empty() && self.roots[gate].is_empty() {
            return;
        }
        while let Some(line) = &self.lines[gate]
            && self.ready(gate, line.next)
        {
            let at = line.next;
            let State::Until(until) = &self.states[gate] else { return };
            let read = From { at, time: self.times[at - self.oldest], ticks: until.ticks, negated: false };
            let set = copy(&mut self.truths, read, &until.state);
            self.put(gate, set, out);
        }
    }

    /// Forgets what nobody waits for.
    fn trim(&mut self) {
        let mut oldest = self.len;
        for gate in 0..self.lines.len() {
            let Some(line) = &self.lines[gate] else { continue };
            let State::Until(_) = &self.states[gate] else {
                oldest = oldest.min(line.next);
                continue;
            };
            let own = !self.fills[gate].is_empty() || !self.roots[gate].is_empty();
            let mut asked = if own { line.next } else { self.len };
            for &reader in &self.readers[gate] {
                asked = asked.min(self.lines[reader].as_ref().map_or(self.len, |line| line.next));
            }
            oldest = oldest.min(asked).min(line.taken);
            if let State::Until(until) = &mut self.states[gate] {
                until.trim(asked);
            }
        }
        while self.oldest < oldest {
            self.times.pop_front();
            self.numbers.pop_front();
            self.oldest += 1;
        }
    }

    /// Time has passed strictly beyond `time`.
    pub(crate) fn pass(&mut self, time: Time, out: &mut Vec<Found>) {
        // Ready means that the last time seen lies beyond: what comes next lies after this.
        self.passed = self.passed.max(time.saturating_add(1));
        if let Some(runner) = &mut self.runner {
            runner.advance(&self.plan, time.saturating_add(1), out);
        }
        self.flow(out);
    }

    /// Tells what is known of violations, though more may become known.
    pub(crate) fn known(&mut self, out: &mut Vec<Found>) {
        if let Some(runner) = &mut self.runner {
            runner.known(out);
        }
    }

    /// There are no further positions.
    pub(crate) fn end(&mut self, out: &mut Vec<Found>) {
        self.ended = true;
        if let Some(runner) = &mut self.runner {
            runner.end(&self.plan, out);
        }
        self.flow(out);
    }

    /// The earliest time whose passing may decide something.
    pub(crate) fn deadline(&self) -> Option<Time> {
        let mut earliest = self.runner.as_ref().and_then(|runner| runner.deadline(&self.plan));
        for gate in 0..self.lines.len() {
            let Gate::Until { past: false, ticks, .. } = &self.plan.gates[gate] else { continue };
            let waiting = self.readers[gate].iter().copied().chain([gate]);
            for other in waiting {
                let Some(line) = self.lines[other].as_ref() else { continue };
                if line.next < self.len && line.next >= self.oldest {
                    let end = self.time(line.next).checked_add(ticks.high);
                    earliest = end.into_iter().chain(earliest).min();
                }
            }
        }
        earliest
    }

    /// What roots wait for that ask for a conjunction.
    pub(crate) fn waiting(&mut self) -> Vec<Waiting> {
        let plan = self.plan.clone();
        let mut found = self.runner.as_ref().map_or_else(Vec::new, |runner| runner.owed(&plan));
        for (asked, question) in plan.asked.iter().enumerate() {
            let gate = question.edge.index();
            let (true, Some(line)) = (question.edge.negated && question.each, self.lines[gate].clone())
            else {
                continue;
            };
            if !matches!(line.ports.first(), Some(Port::Early)) {
                continue;
            }
            let edge = |port: &Port| match port {
                Port::Later(edge) | Port::Read(edge) => Some(*edge),
                _ => None,
            };
            let owed: Vec<(NodeId, bool)> = line
                .ports
                .iter()
                .filter_map(edge)
                .map(|edge| (plan.origin[edge.index()], !edge.negated))
                .collect();
            for (offset, early) in line.queues[0].iter().enumerate() {
                let at = line.next + offset;
                let (mut fails, mut deadline) = (early.clone(), None);
                for port in &line.ports {
                    let Port::Read(edge) = port else { continue };
                    let State::Until(until) = &self.states[edge.index()] else { continue };
                    let time = self.times[at - self.oldest];
                    let end = time.checked_add(until.ticks.high).filter(|_| until.ticks.high < i64::MAX);
                    deadline = end.into_iter().chain(deadline).max();
                    // What has not happened yet may still happen.
                    if edge.negated {
                        let read = From { at, time, ticks: until.ticks, negated: true };
                        fails = Operand::Until(&until.state, read).join(&mut self.truths, Op::And, &fails);
                    }
                }
                if !matches!(fails, Trie::Leaf(Truth::NO)) {
                    let since = self.numbers[at - self.oldest];
                    let fails = Fails::Set(fails);
                    found.push(Waiting { asked, since, deadline, fails, owed: owed.clone() });
                }
            }
        }
        found
    }
}

/// A set from the position before.
fn stepped(before: Option<(Set, Time)>, ticks: Ticks, now: Time) -> Set {
    match before {
        Some((set, time)) if ticks.contains(now.saturating_sub(time)) => set,
        _ => Set::NO,
    }
}

fn take_in(truths: &mut Truths, since: &mut Since, operand: &Operand<'_>, hold: bool) {
    match (operand, hold) {
        (Operand::Set(set, read), true) => since.hold(truths, *read, set),
        (Operand::Set(set, read), false) => since.goal(truths, *read, set),
        (Operand::Since(state, read), true) => since.hold(truths, *read, state),
        (Operand::Since(state, read), false) => since.goal(truths, *read, state),
        (Operand::Until(state, read), true) => since.hold(truths, *read, state),
        (Operand::Until(state, read), false) => since.goal(truths, *read, state),
    }
}

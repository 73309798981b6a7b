//! What temporal operators remember of each valuation: tries whose leaves are states, changed in place where an event touches
//! them.

use crate::key::Key;
use crate::map::Map;
use crate::predicate::Level;
use crate::trie::{Plain, Set};
use crate::trie::{Read, Split, Trie, at, copy};
use crate::truth::{Truth, Truths};
use std::collections::VecDeque;
use std::sync::Arc;
use tw_core::{Position, Time, Value};
use tw_ir::Ticks;

/// What a valuation's state is.
pub(crate) trait Hold: Clone + PartialEq + Default {
    /// The same where a variable has this value: in conditions.
    fn put(&mut self, truths: &mut Truths, level: Level, value: &Value);
}

/// How a truth value of an operand changes a state.
pub(crate) struct Change<'f, L> {
    /// What changes nothing.
    pub(crate) idle: Truth,
    /// What makes states new again.
    pub(crate) wipe: Option<Truth>,
    pub(crate) apply: &'f mut dyn FnMut(&mut Truths, &mut L, Truth),
}

fn put_all<L: Hold>(truths: &mut Truths, mut trie: Trie<L>, level: Level, key: &Key) -> Trie<L> {
    if truths.any() {
        let value = key.value();
        each_leaf(&mut trie, &mut |leaf| leaf.put(truths, level, &value));
    }
    trie
}

fn each_leaf<L: Hold>(trie: &mut Trie<L>, f: &mut dyn FnMut(&mut L)) {
    match trie {
        Trie::Leaf(leaf) => f(leaf),
        Trie::Split(split) => {
            let split = Arc::make_mut(split);
            each_leaf(&mut split.rest, f);
            split.points.each_mut(&mut |_, child| each_leaf(child, f));
        }
    }
}

/// Applies an operand to the states of all valuations. Costs what the operand has of points, where its rest changes nothing
/// or makes all new.
pub(crate) fn touch<L: Hold, R: Read>(
    truths: &mut Truths,
    state: &mut Trie<L>,
    read: R,
    input: &Trie<R::Leaf>,
    change: &mut Change<'_, L>,
) {
    let split = match input {
        Trie::Leaf(leaf) => {
            let truth = read.read(truths, leaf);
            if truth == change.idle {
            } else if change.wipe == Some(truth) {
                *state = Trie::Leaf(L::default());
            } else {
                everywhere(truths, state, truth, change);
            }
            return;
        }
        Trie::Split(split) => split,
    };
    match state {
        Trie::Split(own) if own.level < split.level => {
            let own = Arc::make_mut(own);
            let level = own.level;
            touch(truths, &mut own.rest, read, input, change);
            own.points.each_mut(&mut |key, child| touch_at(truths, child, read, input, (level, key), change));
            return;
        }
        Trie::Split(own) if own.level == split.level => {}
        _ => {
            let rest = std::mem::replace(state, Trie::Leaf(L::default()));
            *state = Trie::Split(Arc::new(Split { level: split.level, rest, points: Map::default() }));
        }
    }
    let Trie::Split(own) = state else { return };
    let own = Arc::make_mut(own);
    let level = own.level;
    let rest = match &split.rest {
        Trie::Leaf(leaf) => Some(read.read(truths, leaf)),
        Trie::Split(_) => None,
    };
    if rest.is_some() && rest == change.wipe {
        let (old, before) = (std::mem::take(&mut own.points), own.rest.clone());
        own.rest = Trie::Leaf(L::default());
        split.points.each(&mut |key, input| {
            let known = old.get(key).cloned();
            let mut child = known.unwrap_or_else(|| put_all(truths, before.clone(), level, key));
            touch(truths, &mut child, read, input, change);
            if !child.same(&own.rest) {
                own.points.insert(key, child);
            }
            true
        });
    } else {
        let before = own.rest.clone();
        if rest != Some(change.idle) {
            own.points.each_mut(&mut |key, child| {
                if split.points.get(key).is_none() {
                    touch_at(truths, child, read, &split.rest, (level, key), change);
                }
            });
            touch(truths, &mut own.rest, read, &split.rest, change);
        }
        split.points.each(&mut |key, input| {
            let child = own.points.entry(key, || put_all(truths, before.clone(), level, key));
            touch(truths, child, read, input, change);
            if child.same(&own.rest) {
                own.points.remove(key);
            }
            true
        });
    }
    if own.points.is_empty() {
        *state = own.rest.clone();
    }
}

/// [`touch`] by an operand that says the same of all values of a variable, where that has a value.
fn touch_at<L: Hold, R: Read>(
    truths: &mut Truths,
    state: &mut Trie<L>,
    read: R,
    input: &Trie<R::Leaf>,
    (level, key): (Level, &Key),
    change: &mut Change<'_, L>,
) {
    if !truths.any() {
        return touch(truths, state, read, input, change);
    }
    let set = copy(truths, read, input);
    let set = at(truths, &set, level, key);
    touch(truths, state, Plain { negated: false }, &set, change);
}

fn everywhere<L: Hold>(truths: &mut Truths, state: &mut Trie<L>, truth: Truth, change: &mut Change<'_, L>) {
    match state {
        Trie::Leaf(leaf) => (change.apply)(truths, leaf, truth),
        Trie::Split(split) => {
            let split = Arc::make_mut(split);
            let level = split.level;
            everywhere(truths, &mut split.rest, truth, change);
            split.points.each_mut(&mut |key, child| {
                let truth = if truths.any() { truths.put(truth, level, &key.value()) } else { truth };
                if truth != change.idle {
                    everywhere(truths, child, truth, change);
                }
            });
        }
    }
}

/// Changes the state of one valuation, if it has one of its own, and forgets it where it is that of all others.
pub(crate) fn sweep<L: Hold>(state: &mut Trie<L>, keys: &[Key], f: &mut dyn FnMut(&mut L)) {
    match (state, keys) {
        (Trie::Leaf(leaf), []) => f(leaf),
        (Trie::Split(split), [key, keys @ ..]) => {
            if split.points.get(key).is_none() {
                return;
            }
            let own = Arc::make_mut(split);
            let child = own.points.entry(key, || own.rest.clone());
            sweep(child, keys, f);
            if child.same(&own.rest) {
                own.points.remove(key);
            }
        }
        _ => {}
    }
}

/// The paths of points to leaves that are not `NO`, of a set without other such leaves at hand.
pub(crate) fn paths<R: Read>(
    truths: &mut Truths,
    read: R,
    input: &Trie<R::Leaf>,
    see: &mut dyn FnMut(&[Key]),
) {
    fn walk<R: Read>(
        truths: &mut Truths,
        read: R,
        trie: &Trie<R::Leaf>,
        path: &mut Vec<Key>,
        see: &mut dyn FnMut(&[Key]),
    ) {
        match trie {
            Trie::Leaf(leaf) => {
                if !path.is_empty() && read.read(truths, leaf) != Truth::NO {
                    see(path);
                }
            }
            Trie::Split(split) => {
                split.points.each(&mut |key, child| {
                    path.push(key.clone());
                    walk(truths, read, child, path, see);
                    path.pop();
                    true
                });
            }
        }
    }
    walk(truths, read, input, &mut Vec::new(), see);
}

/// When the goal of a since held, as far as that still counts: by time, ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Stamps {
    #[default]
    None,
    One(Time, Truth),
    Many(Vec<(Time, Truth)>),
}

impl Stamps {
    pub(crate) fn of(mut all: Vec<(Time, Truth)>) -> Self {
        match all.len() {
            0 => Stamps::None,
            1 => all.pop().map_or(Stamps::None, |(time, truth)| Stamps::One(time, truth)),
            _ => Stamps::Many(all),
        }
    }

    fn change(&mut self, mut f: impl FnMut(Truth) -> Truth) {
        match self {
            Stamps::None => {}
            Stamps::One(_, truth) => {
                *truth = f(*truth);
                if *truth == Truth::NO {
                    *self = Stamps::None;
                }
            }
            Stamps::Many(all) => {
                let changed = all.iter().map(|(time, truth)| (*time, f(*truth)));
                *self = Stamps::of(changed.filter(|(_, truth)| *truth != Truth::NO).collect());
            }
        }
    }

    /// All of them.
    pub(crate) fn entries(&self) -> Vec<(Time, Truth)> {
        match self {
            Stamps::One(time, truth) => vec![(*time, *truth)],
            _ => self.each().to_vec(),
        }
    }

    fn each(&self) -> &[(Time, Truth)] {
        match self {
            Stamps::Many(all) => all,
            _ => &[],
        }
    }

    /// The goal holds now, so far as `truth` says.
    fn add(&mut self, truths: &mut Truths, now: Time, ticks: Ticks, truth: Truth) {
        let unbounded = ticks.high == i64::MAX;
        if let Stamps::None = self {
            *self = Stamps::One(if unbounded && ticks.low == 0 { 0 } else { now }, truth);
            return;
        }
        if let Stamps::One(time, own) = self {
            if unbounded && ticks.low == 0 {
                *own = truths.or(*own, truth);
                return;
            }
            // The earliest counts where there is no end, the latest where there is no beginning.
            if unbounded && *own == Truth::YES {
                return;
            }
            if ticks.low == 0 && truth == Truth::YES {
                *time = now;
                *own = truth;
                return;
            }
            if *time == now {
                *own = truths.or(*own, truth);
                return;
            }
            *self = Stamps::Many(vec![(*time, *own), (now, truth)]);
            return;
        }
        let Stamps::Many(all) = self else { return };
        if unbounded && all.iter().any(|(_, own)| *own == Truth::YES) {
            return;
        }
        if ticks.low == 0 && truth == Truth::YES {
            *self = Stamps::One(now, truth);
            return;
        }
        let old = all.iter().take_while(|(time, _)| now.saturating_sub(*time) > ticks.high).count();
        all.drain(..old);
        match all.last_mut() {
            Some((time, own)) if *time == now => *own = truths.or(*own, truth),
            _ => all.push((now, truth)),
        }
    }

    /// Forgets what lies before.
    fn trim(&mut self, before: Time) {
        match self {
            Stamps::None => {}
            Stamps::One(time, _) if *time < before => *self = Stamps::None,
            Stamps::One(..) => {}
            Stamps::Many(all) => {
                let kept = all.iter().copied().filter(|(time, _)| *time >= before).collect();
                *self = Stamps::of(kept);
            }
        }
    }
}

impl Hold for Stamps {
    fn put(&mut self, truths: &mut Truths, level: Level, value: &Value) {
        self.change(|truth| truths.put(truth, level, value));
    }
}

/// A since as a set, at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) now: Time,
    pub(crate) ticks: Ticks,
    pub(crate) negated: bool,
}

impl Read for Window {
    type Leaf = Stamps;
    fn read(self, truths: &mut Truths, leaf: &Stamps) -> Truth {
        let endless = self.ticks.low == 0 && self.ticks.high == i64::MAX;
        let inside = |time: Time| endless || self.ticks.contains(self.now.saturating_sub(time));
        let truth = match leaf {
            Stamps::None => Truth::NO,
            Stamps::One(time, truth) if inside(*time) => *truth,
            Stamps::One(..) => Truth::NO,
            Stamps::Many(_) => {
                let all = leaf.each().iter().filter(|(time, _)| inside(*time));
                all.fold(Truth::NO, |found, (_, truth)| truths.or(found, *truth))
            }
        };
        if self.negated { truths.not(truth) } else { truth }
    }
}

/// `hold S goal`: one state per valuation.
#[derive(Clone, Debug)]
pub(crate) struct Since {
    pub(crate) ticks: Ticks,
    pub(crate) state: Trie<Stamps>,
    /// Valuations by the time of their stamps, to be forgotten when that is too long ago.
    pub(crate) queue: VecDeque<(Time, Vec<Key>)>,
    pub(crate) now: Time,
}

impl Since {
    pub(crate) fn new(ticks: Ticks) -> Self {
        Self { ticks, state: Trie::Leaf(Stamps::None), queue: VecDeque::new(), now: 0 }
    }

    pub(crate) fn window(&self, negated: bool) -> Window {
        Window { now: self.now, ticks: self.ticks, negated }
    }

    /// Time is now: what is too old is forgotten.
    pub(crate) fn turn(&mut self, now: Time) {
        self.now = now;
        let before = now.saturating_sub(self.ticks.high);
        while let Some((time, _)) = self.queue.front()
            && *time < before
        {
            if let Some((_, keys)) = self.queue.pop_front() {
                sweep(&mut self.state, &keys, &mut |leaf| leaf.trim(before));
            }
        }
    }

    pub(crate) fn hold<R: Read>(&mut self, truths: &mut Truths, read: R, input: &Trie<R::Leaf>) {
        let apply = &mut |truths: &mut Truths, leaf: &mut Stamps, truth| {
            leaf.change(|own| truths.and(own, truth));
        };
        let mut change = Change { idle: Truth::YES, wipe: Some(Truth::NO), apply };
        touch(truths, &mut self.state, read, input, &mut change);
    }

    pub(crate) fn goal<R: Read>(&mut self, truths: &mut Truths, read: R, input: &Trie<R::Leaf>) {
        let (now, ticks) = (self.now, self.ticks);
        let apply = &mut |truths: &mut Truths, leaf: &mut Stamps, truth| leaf.add(truths, now, ticks, truth);
        let mut change = Change { idle: Truth::NO, wipe: None, apply };
        touch(truths, &mut self.state, read, input, &mut change);
        if ticks.high < i64::MAX {
            let queue = &mut self.queue;
            paths(truths, read, input, &mut |path| queue.push_back((now, path.to_vec())));
        }
    }
}

/// What happened at a position to a valuation that an until waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) at: Position,
    pub(crate) time: Time,
    pub(crate) hold: Truth,
    pub(crate) goal: Truth,
}

/// The positions where an operand of an until is not what it is by itself (it holds, the goal does not), ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Events(pub(crate) Vec<Event>);

impl Events {
    fn at(&mut self, at: Position, time: Time) -> &mut Event {
        if self.0.last().is_none_or(|event| event.at != at) {
            self.0.push(Event { at, time, hold: Truth::YES, goal: Truth::NO });
        }
        let last = self.0.len() - 1;
        &mut self.0[last]
    }
}

impl Events {
    /// Whether something lies before.
    fn old(&self, oldest: Position) -> bool {
        self.0.first().is_some_and(|event| event.at < oldest)
    }
}

impl Split<Events> {
    fn old(&self, oldest: Position) -> bool {
        match &self.rest {
            Trie::Leaf(leaf) => leaf.old(oldest),
            Trie::Split(split) => split.old(oldest),
        }
    }
}

impl Hold for Events {
    fn put(&mut self, truths: &mut Truths, level: Level, value: &Value) {
        for event in &mut self.0 {
            event.hold = truths.put(event.hold, level, value);
            event.goal = truths.put(event.goal, level, value);
        }
    }
}

/// An until as a set, at a position, once all that it may hang on has happened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct From {
    pub(crate) at: Position,
    pub(crate) time: Time,
    pub(crate) ticks: Ticks,
    pub(crate) negated: bool,
}

impl Read for From {
    type Leaf = Events;
    fn read(self, truths: &mut Truths, leaf: &Events) -> Truth {
        let (mut found, mut alive) = (Truth::NO, Truth::YES);
        let first = leaf.0.partition_point(|event| event.at < self.at);
        for event in &leaf.0[first..] {
            let distance = event.time.saturating_sub(self.time);
            if distance > self.ticks.high {
                break;
            }
            if event.goal != Truth::NO && distance >= self.ticks.low {
                let reached = truths.and(alive, event.goal);
                found = truths.or(found, reached);
                if found == Truth::YES {
                    break;
                }
            }
            alive = truths.and(alive, event.hold);
            if alive == Truth::NO {
                break;
            }
        }
        if self.negated { truths.not(found) } else { found }
    }
}

/// `hold U goal`: the events of each valuation in the positions that are still asked for.
#[derive(Clone, Debug)]
pub(crate) struct Until {
    pub(crate) ticks: Ticks,
    pub(crate) state: Trie<Events>,
    pub(crate) queue: VecDeque<(Position, Vec<Key>)>,
}

impl Until {
    pub(crate) fn new(ticks: Ticks) -> Self {
        Self { ticks, state: Trie::Leaf(Events::default()), queue: VecDeque::new() }
    }

    /// Positions before this one are not asked for any more.
    pub(crate) fn trim(&mut self, oldest: Position) {
        while let Some((at, _)) = self.queue.front()
            && *at < oldest
        {
            if let Some((_, keys)) = self.queue.pop_front() {
                sweep(&mut self.state, &keys, &mut |leaf: &mut Events| {
                    leaf.0.retain(|event| event.at >= oldest)
                });
            }
        }
        // What happened to all valuations together stands in no queue.
        let mut rest = &mut self.state;
        loop {
            match rest {
                Trie::Split(split) if split.old(oldest) => rest = &mut Arc::make_mut(split).rest,
                Trie::Leaf(leaf) if leaf.old(oldest) => return leaf.0.retain(|event| event.at >= oldest),
                _ => return,
            }
        }
    }

    pub(crate) fn hold(&mut self, truths: &mut Truths, at: Position, time: Time, input: &Set, negated: bool) {
        let apply = &mut |truths: &mut Truths, leaf: &mut Events, truth: Truth| {
            let event = leaf.at(at, time);
            event.hold = truths.and(event.hold, truth);
        };
        let mut change = Change { idle: Truth::YES, wipe: None, apply };
        touch(truths, &mut self.state, Plain { negated }, input, &mut change);
        // Paths lead to what does not hold.
        let queue = &mut self.queue;
        paths(truths, Plain { negated: !negated }, input, &mut |path| queue.push_back((at, path.to_vec())));
    }

    pub(crate) fn goal(&mut self, truths: &mut Truths, at: Position, time: Time, input: &Set, negated: bool) {
        // Of a goal that may be reached at any time the last time is enough.
        let last = self.ticks.low == 0 && self.ticks.high == i64::MAX;
        let apply = &mut |truths: &mut Truths, leaf: &mut Events, truth: Truth| {
            if last
                && truth == Truth::YES
                && let [only] = leaf.0.as_mut_slice()
                && only.hold == Truth::YES
            {
                *only = Event { at, time, hold: Truth::YES, goal: Truth::YES };
                return;
            }
            let event = leaf.at(at, time);
            event.goal = truths.or(event.goal, truth);
        };
        let mut change = Change { idle: Truth::NO, wipe: None, apply };
        touch(truths, &mut self.state, Plain { negated }, input, &mut change);
        let queue = &mut self.queue;
        paths(truths, Plain { negated }, input, &mut |path| queue.push_back((at, path.to_vec())));
    }
}

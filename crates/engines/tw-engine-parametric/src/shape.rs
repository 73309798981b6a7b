//! What is known of a monitor before any event: which domains bindings can have, what each event looks up, steps and joins.

use crate::values::NONE;
use tw_automata::deterministic::Stop;
use tw_automata::formalism::{Enables, EventAutomaton};
use tw_ir::monitor::{Category, Monitor};

/// A monitor made ready.
#[derive(Clone, Debug)]
pub struct Shape {
    /// As written.
    pub monitor: Monitor,
    /// Its automaton.
    pub automaton: EventAutomaton,
    /// Its sets.
    pub enables: Enables,
    pub(crate) events: Vec<EventShape>,
    pub(crate) domains: Vec<DomainShape>,
    /// The sets of parameters of which it is noted when events about them happened.
    pub(crate) stamps: Vec<Vec<u32>>,
    /// Whether values of a parameter end.
    pub(crate) ended: Vec<bool>,
    /// Of a parameter: whether a binding in which its thing is dead may still decide what another one, with the same thing,
    /// becomes.
    pub(crate) rejoin: Vec<bool>,
    /// Whether bindings are joined, so that it matters when they were created.
    pub(crate) timed: bool,
    /// Whether some bindings are not allowed.
    pub(crate) checked: bool,
    pub(crate) injective: bool,
    /// A parameter that every event has, by whose value bindings can be told apart.
    pub(crate) shard: Option<u32>,
    /// Of each state and told categories: what is to be reported after a step.
    pub(crate) outputs: Vec<StateShape>,
}

/// What a state says of a binding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StateShape {
    /// Reported when a step leads here.
    pub report: Option<Category>,
    /// The bit of a category that is told once.
    pub once: u32,
    pub violated_at_end: bool,
}

/// Bit of a category in a record.
pub(crate) fn once(category: Category) -> u32 {
    match category {
        Category::Fail => 1 << 16,
        Category::Violation => 1 << 17,
        Category::Validation => 1 << 18,
        Category::Match | Category::State(_) => 0,
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct EventShape {
    /// The parameters, ascending, and for each the column that it is read from.
    pub parameters: Vec<(u32, usize)>,
    /// The domain with exactly these parameters.
    pub own: Option<usize>,
    /// Larger domains with their index by these parameters.
    pub steps: Vec<(usize, usize)>,
    pub joins: Vec<Join>,
    /// Where bindings are created, and what must not be there.
    pub new: Option<(usize, Vec<Part>)>,
    pub stamp: Option<usize>,
    /// The parameters, as bits.
    pub set: u32,
    /// Whether values of some of them end.
    pub ended: bool,
    /// Whether it makes or notes something where its own binding is not there.
    pub defines: bool,
}

/// Bindings of a domain become larger by an event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Join {
    pub source: usize,
    /// How the compatible ones are found.
    pub index: usize,
    pub target: usize,
    /// What decides whether events were missed.
    pub parts: Vec<Part>,
}

/// A part of a binding: the instances and the stamps of its parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    pub domain: Option<usize>,
    pub stamp: Option<usize>,
}

/// Bindings of one set of parameters.
#[derive(Clone, Debug)]
pub(crate) struct DomainShape {
    pub set: u32,
    pub parameters: Vec<u32>,
    /// Whether records are found by the number of their only value.
    pub direct: bool,
    pub indexes: Vec<IndexShape>,
    /// The index by all parameters, unless direct.
    pub exact: usize,
    /// Whether it is a source of joins.
    pub source: bool,
    // Places in a record.
    pub time: usize,
    pub dead: usize,
    pub on: usize,
    pub values: usize,
    pub links: usize,
    pub stride: usize,
}

/// Bindings of a domain by some of their values.
#[derive(Clone, Debug)]
pub(crate) struct IndexShape {
    pub set: u32,
    /// Which of the domain's values.
    pub places: Vec<usize>,
    /// Whether every binding is in it.
    pub fixed: bool,
    /// Whether bindings in a state have to be in it: some event that goes this way changes or tells something.
    pub needs: Vec<bool>,
    /// Whether it has one binding per key.
    pub exact: bool,
}

impl DomainShape {
    /// Whether the same bindings are found in the same ways, whatever their states.
    pub fn is_like(&self, other: &Self) -> bool {
        let index = |own: &IndexShape| (own.set, own.fixed, own.exact);
        (self.set, self.direct, self.source) == (other.set, other.direct, other.source)
            && self.indexes.iter().map(index).eq(other.indexes.iter().map(index))
    }
}

fn bits(parameters: impl IntoIterator<Item = u32>) -> u32 {
    parameters.into_iter().fold(0, |set, parameter| set | 1 << parameter)
}

fn members(set: u32) -> Vec<u32> {
    (0..32).filter(|parameter| set >> parameter & 1 == 1).collect()
}

impl Shape {
    /// Of a monitor, or why its automaton cannot be built.
    pub fn new(monitor: &Monitor) -> Result<Self, Stop> {
        let automaton = EventAutomaton::new(monitor)?;
        let enables = Enables::new(monitor, &automaton)?;
        let sets: Vec<u32> = monitor.events.iter().map(|event| bits(event.source.parameters())).collect();
        let states = automaton.len() as u32;
        let outputs = (0..states).map(|state| {
            let output = automaton.output(state);
            let report = output.category.filter(|category| monitor.reports(*category));
            StateShape {
                report,
                once: report.map_or(0, once),
                violated_at_end: output.violated_at_end && monitor.reports(Category::Violation),
            }
        });
        let creates =
            |event: usize| enables.creation[event] || monitor.strict && enables.enable[event].contains(&0);
        let creates: Vec<bool> = (0..sets.len()).map(creates).collect();
        let mut shape = Self {
            outputs: outputs.collect(),
            events: vec![EventShape::default(); sets.len()],
            domains: Vec::new(),
            stamps: Vec::new(),
            ended: (0..monitor.parameters.len() as u32)
                .map(|own| monitor.ends.iter().any(|end| end.parameters.contains(&own)))
                .collect(),
            rejoin: vec![false; monitor.parameters.len()],
            timed: false,
            checked: monitor.injective() || monitor.constraint.is_some(),
            injective: monitor.injective(),
            shard: shard(monitor),
            monitor: monitor.clone(),
            automaton,
            enables,
        };
        shape.find_domains(&sets, &creates);
        let domain = |set: u32, shape: &Self| shape.domains.iter().position(|domain| domain.set == set);
        for (event, &set) in sets.iter().enumerate() {
            let columns = &shape.monitor.events[event].source.columns;
            let place = |own: u32| columns.iter().position(|&column| column == own).unwrap_or(0);
            let parameters = members(set).into_iter().map(|own| (own, place(own))).collect();
            let ended = members(set).iter().any(|&own| shape.ended[own as usize]);
            let own = domain(set, &shape);
            let mut own = EventShape { parameters, own, set, ended, ..EventShape::default() };
            for number in 0..shape.domains.len() {
                let whole = shape.domains[number].set;
                if whole & set == set && whole != set {
                    let index = shape.index(number, set);
                    shape.mark(number, index, event);
                    own.steps.push((number, index));
                }
            }
            for &bound in shape.enables.enable[event].clone().iter().filter(|&&bound| set & !bound != 0) {
                let Some((source, target)) = domain(bound, &shape).zip(domain(bound | set, &shape)) else {
                    continue;
                };
                let index = match shape.domains[source].direct && bound & set == bound {
                    true => NONE as usize,
                    false => shape.index(source, bound & set),
                };
                if index != NONE as usize {
                    shape.domains[source].indexes[index].fixed = true;
                }
                shape.domains[source].source = true;
                shape.timed = true;
                own.joins.push(Join { source, index, target, parts: Vec::new() });
            }
            own.new =
                creates[event].then(|| domain(set, &shape)).flatten().map(|target| (target, Vec::new()));
            shape.events[event] = own;
        }
        shape.find_parts(&sets);
        for parameter in 0..shape.ended.len() {
            for number in 0..shape.domains.len() {
                if shape.ended[parameter] && shape.domains[number].set >> parameter & 1 == 1 {
                    let index = shape.index(number, 1 << parameter);
                    shape.domains[number].indexes[index].fixed = true;
                }
            }
        }
        shape.lay_out(1);
        Ok(shape)
    }

    /// The sets of parameters that bindings can have: those of creation events, made larger by what ENABLE allows.
    fn find_domains(&mut self, sets: &[u32], creates: &[bool]) {
        let mut found: Vec<u32> = Vec::new();
        let add = |set: u32, found: &mut Vec<u32>| {
            let fresh = !found.contains(&set);
            if fresh {
                found.push(set);
            }
            fresh
        };
        for event in (0..sets.len()).filter(|&event| creates[event]) {
            add(sets[event], &mut found);
        }
        loop {
            let mut changed = false;
            for (event, &set) in sets.iter().enumerate() {
                for &bound in &self.enables.enable[event] {
                    if set & !bound != 0 && found.contains(&bound) {
                        changed |= add(bound | set, &mut found);
                    }
                }
            }
            if !changed {
                break;
            }
        }
        for set in found {
            let parameters = members(set);
            // Two things of one value and different lives need two records.
            let direct = parameters.len() < 2 && !parameters.iter().any(|&own| self.ended[own as usize]);
            let mut domain = DomainShape {
                set,
                direct,
                indexes: Vec::new(),
                exact: NONE as usize,
                source: false,
                parameters,
                time: 0,
                dead: 0,
                on: 0,
                values: 0,
                links: 0,
                stride: 0,
            };
            if !direct {
                domain.exact = 0;
                let places = (0..domain.parameters.len()).collect();
                domain.indexes.push(IndexShape { set, places, fixed: true, needs: Vec::new(), exact: true });
            }
            self.domains.push(domain);
        }
    }

    /// The index of a domain by some parameters.
    fn index(&mut self, domain: usize, set: u32) -> usize {
        let states = self.automaton.len();
        let domain = &mut self.domains[domain];
        if let Some(known) = domain.indexes.iter().position(|index| index.set == set) {
            return known;
        }
        let places = domain.parameters.iter().enumerate().filter(|(_, own)| set >> **own & 1 == 1);
        let places = places.map(|(place, _)| place).collect();
        domain.indexes.push(IndexShape {
            set,
            places,
            fixed: false,
            needs: vec![false; states],
            exact: false,
        });
        domain.indexes.len() - 1
    }

    /// Notes in which states an event that goes by an index does something.
    fn mark(&mut self, domain: usize, index: usize, event: usize) {
        for state in 0..self.automaton.len() as u32 {
            let next = self.automaton.step(state, event);
            let output = self.outputs[next as usize];
            let does = next != state || output.report.is_some() && output.once == 0;
            let index = &mut self.domains[domain].indexes[index];
            if let Some(needs) = index.needs.get_mut(state as usize) {
                *needs |= does;
            }
        }
    }

    /// What joins and creation have to look at, and which stamps that needs.
    fn find_parts(&mut self, sets: &[u32]) {
        let mut distinct: Vec<u32> = sets.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let mut stamps: Vec<u32> = Vec::new();
        let mut stamp = |set: u32| {
            stamps.iter().position(|&own| own == set).unwrap_or_else(|| {
                stamps.push(set);
                stamps.len() - 1
            })
        };
        let domains: Vec<u32> = self.domains.iter().map(|domain| domain.set).collect();
        let known = |set: u32| domains.iter().position(|&own| own == set);
        let mut all: Vec<u32> = distinct.iter().chain(&domains).copied().collect();
        all.sort_unstable();
        all.dedup();
        let joined: Vec<usize> =
            self.events.iter().flat_map(|event| event.joins.iter().map(|join| join.target)).collect();
        for (event, &set) in sets.iter().enumerate() {
            let mut own = std::mem::take(&mut self.events[event]);
            for join in &mut own.joins {
                let (source, target) = (domains[join.source], domains[join.target]);
                for &part in all.iter().filter(|&&part| part & !target == 0 && part & !source != 0) {
                    let happens = distinct.contains(&part);
                    // An event about just this, after the source came to be, has made the join or was refused it, and would be
                    // again. Sources that were joined themselves are younger than the time of their creation says.
                    let again =
                        |other: usize| sets[other] != part || self.enables.enable[other].contains(&source);
                    let implied = !self.monitor.strict
                        && part == set
                        && !joined.contains(&join.source)
                        && (0..sets.len()).all(again);
                    // The target itself is looked up before.
                    let domain = known(part).filter(|_| part != target);
                    let stamp = (happens && !implied).then(|| stamp(part));
                    if domain.is_some() || stamp.is_some() {
                        join.parts.push(Part { domain, stamp });
                    }
                    members(source & !set).iter().for_each(|&parameter| {
                        self.rejoin[parameter as usize] |= part >> parameter & 1 == 1;
                    });
                }
            }
            if let Some((_, parts)) = &mut own.new {
                for &part in all.iter().filter(|&&part| part & !set == 0) {
                    let domain = known(part).filter(|_| part != set);
                    let stamp = (self.monitor.strict && distinct.contains(&part)).then(|| stamp(part));
                    if domain.is_some() || stamp.is_some() {
                        parts.push(Part { domain, stamp });
                    }
                }
            }
            self.events[event] = own;
        }
        for (event, &set) in sets.iter().enumerate() {
            let own = &mut self.events[event];
            own.stamp = stamps.iter().position(|&own| own == set);
            own.defines = !own.joins.is_empty() || own.new.is_some() || own.stamp.is_some();
        }
        self.stamps = stamps.into_iter().map(members).collect();
    }

    /// Places in records that so many monitors share.
    pub(crate) fn lay_out(&mut self, lanes: usize) {
        let ends = self.ended.iter().any(|&ended| ended);
        for domain in &mut self.domains {
            let mut next = lanes;
            let mut words = |count: usize| {
                next += count;
                next - count
            };
            domain.time = words(usize::from(self.timed));
            domain.dead = words(usize::from(ends));
            domain.on = words(domain.indexes.iter().filter(|index| !index.exact).count().div_ceil(32));
            domain.values = words(if domain.direct { 0 } else { domain.parameters.len() });
            domain.links = words(domain.indexes.iter().filter(|index| !index.exact).count());
            domain.stride = next;
        }
    }

    /// The trees of the paper: by which parameters bindings are found.
    pub fn trees(&self) -> Vec<(Vec<u32>, Vec<Vec<u32>>)> {
        let tree = |domain: &DomainShape| {
            let mut keys: Vec<Vec<u32>> = domain.indexes.iter().map(|index| members(index.set)).collect();
            if domain.direct {
                keys.push(domain.parameters.clone());
            }
            keys.sort_by_key(|key| (std::cmp::Reverse(key.len()), key.clone()));
            (domain.parameters.clone(), keys)
        };
        self.domains.iter().map(tree).collect()
    }

    /// Bytes of the record of a binding of the largest domain.
    pub fn record_bytes(&self) -> usize {
        self.domains.iter().map(|domain| domain.stride * 4).max().unwrap_or(0)
    }

    /// The parameter by whose values bindings can be divided among threads.
    pub fn shard_parameter(&self) -> Option<&str> {
        self.shard.map(|parameter| self.monitor.parameters[parameter as usize].as_str())
    }
}

/// A parameter in every event and every end.
fn shard(monitor: &Monitor) -> Option<u32> {
    let mut common = u32::MAX;
    monitor.events.iter().for_each(|event| common &= bits(event.source.parameters()));
    monitor.ends.iter().for_each(|end| common &= bits(end.parameters.iter().copied()));
    members(common).into_iter().find(|&parameter| (parameter as usize) < monitor.parameters.len())
}

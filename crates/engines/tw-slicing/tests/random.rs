//! The definition against algorithm D on random monitors and logs.
//!
//! Algorithm D (as the RV-Monitor spec has it, with its strict variant) keeps a state per binding and never looks back, so it and
//! the slices of the definition have nothing in common but the automaton and its ENABLE sets.

use std::collections::{BTreeMap, BTreeSet};
use tw_automata::formalism::{Enables, EventAutomaton};
use tw_core::Value;
use tw_ir::monitor::{Category, Monitor};
use tw_slicing::monitor::{What, occurrences, reports};
use tw_testkit::cases;
use tw_testkit::parametric::{Case, case};

/// Parameters and their values.
type Binding = BTreeMap<u32, i64>;

/// Position, binding and category.
type Told = BTreeSet<(usize, Binding, Category)>;

fn below(binding: &Binding) -> Vec<Binding> {
    let pairs: Vec<_> = binding.iter().collect();
    let part = |bits: u32| {
        let kept = pairs.iter().enumerate().filter(move |(at, _)| bits >> at & 1 == 1);
        kept.map(|(_, (parameter, value))| (**parameter, **value)).collect()
    };
    (0..1u32 << pairs.len()).map(part).collect()
}

fn leq(a: &Binding, b: &Binding) -> bool {
    a.iter().all(|(parameter, value)| b.get(parameter) == Some(value))
}

fn domain(binding: &Binding) -> u32 {
    binding.keys().fold(0, |set, parameter| set | 1 << parameter)
}

/// The state of algorithm D.
struct D<'a> {
    monitor: &'a Monitor,
    automaton: &'a EventAutomaton,
    enables: &'a Enables,
    /// States of bindings, with the time of their creation.
    delta: BTreeMap<Binding, (u32, u64)>,
    disable: BTreeMap<Binding, u64>,
    time: u64,
    out: Told,
}

impl D<'_> {
    fn tick(&mut self) -> u64 {
        self.time += 1;
        self.time
    }

    fn define_new(&mut self, binding: &Binding) {
        let strict = self.monitor.strict;
        let known = |part: &Binding| {
            self.delta.contains_key(part) && (strict || part != binding)
                || strict && self.disable.contains_key(part)
        };
        if !below(binding).iter().any(known) {
            let time = self.tick();
            self.delta.insert(binding.clone(), (0, time));
        }
    }

    fn define_to(&mut self, binding: &Binding, old: &Binding) {
        let (state, created) = self.delta[old];
        let missed = |part: &Binding| {
            let disabled = self.disable.get(part);
            let other = self.delta.get(part);
            match self.monitor.strict {
                true => disabled.is_some() || other.is_some(),
                false => {
                    disabled.is_some_and(|&at| at > created) || other.is_some_and(|(_, at)| *at < created)
                }
            }
        };
        if !below(binding).iter().any(|part| !leq(part, old) && missed(part)) {
            self.delta.insert(binding.clone(), (state, created));
        }
    }

    fn event(&mut self, position: usize, event: usize, about: &Binding) {
        if !self.delta.contains_key(about) {
            for &bound in &self.enables.enable[event] {
                if domain(about) & !bound == 0 {
                    continue;
                }
                let larger: Vec<Binding> =
                    self.delta.keys().filter(|other| domain(other) == bound).cloned().collect();
                for old in larger {
                    let agrees = about
                        .iter()
                        .all(|(parameter, value)| old.get(parameter).is_none_or(|own| own == value));
                    let union: Binding = old.iter().chain(about).map(|(p, v)| (*p, *v)).collect();
                    if agrees && !self.delta.contains_key(&union) {
                        self.define_to(&union, &old);
                    }
                }
            }
            let creates = self.monitor.strict && self.enables.enable[event].contains(&0)
                || self.enables.creation[event];
            if !self.delta.contains_key(about) && creates {
                self.define_new(about);
            }
            let time = self.tick();
            self.disable.insert(about.clone(), time);
        }
        let concerned: Vec<Binding> =
            self.delta.keys().filter(|binding| leq(about, binding)).cloned().collect();
        for binding in concerned {
            let (state, _) = self.delta.get_mut(&binding).expect("a state");
            *state = self.automaton.step(*state, event);
            let category = self.automaton.output(*state).category;
            let Some(category) = category.filter(|category| self.monitor.reports(*category)) else {
                continue;
            };
            let told = self.out.iter().any(|(_, other, before)| *other == binding && *before == category);
            if !category.once() || !told {
                self.out.insert((position, binding, category));
            }
        }
    }
}

/// What algorithm D reports, and what the definition does. `None` where the case is not one that algorithm D is for: it knows no
/// ends, neither of things nor of traces, no constraints and no pairs.
fn both(case: &Case) -> Option<[Told; 2]> {
    let monitor = &case.program.monitors[0];
    let plain = monitor.ends.is_empty() && monitor.constraint.is_none() && !monitor.pairs();
    if !plain || monitor.reports(Category::Violation) {
        return None;
    }
    let automaton = EventAutomaton::new(monitor).ok()?;
    let enables = Enables::new(monitor, &automaton).ok()?;
    let batch = case.log.batch(&case.program);
    let mut d = D {
        monitor,
        automaton: &automaton,
        enables: &enables,
        delta: BTreeMap::new(),
        disable: BTreeMap::new(),
        time: 0,
        out: Told::new(),
    };
    let int = |value: &Value| match value {
        Value::Int(int) => *int,
        other => panic!("{other}"),
    };
    for found in occurrences(&case.program, monitor, &batch) {
        let What::Event(event) = found.what else { continue };
        let about = found.values.iter().map(|(parameter, value)| (*parameter, int(value))).collect();
        d.event(found.position, event, &about);
    }
    let defined = reports(&case.program, monitor, &batch).ok()?.into_iter().map(|found| {
        let pairs = found.bindings.iter().enumerate();
        let binding = pairs.filter_map(|(at, value)| Some((at as u32, int(value.as_ref()?)))).collect();
        (found.position.expect("no end"), binding, found.category)
    });
    Some([d.out, defined.collect()])
}

#[test]
fn algorithm_d_reports_what_the_definition_does() {
    let (mut compared, mut reported) = (0u64, [0u64; 2]);
    for seed in 0..cases(20_000) {
        let case = case(seed);
        let Some([found, defined]) = both(&case) else { continue };
        assert_eq!(found, defined, "seed {seed}\n{case}");
        compared += 1;
        reported[usize::from(case.program.monitors[0].strict)] += u64::from(!defined.is_empty());
    }
    assert!(
        compared * 10 > cases(20_000) && reported.iter().all(|&count| count > 5),
        "{compared} {reported:?}"
    );
}

#[test]
fn every_case_has_reports_in_order() {
    let mut kinds = BTreeMap::new();
    for seed in 0..cases(5_000) {
        let case = case(seed);
        let monitor = &case.program.monitors[0];
        let found = reports(&case.program, monitor, &case.log.batch(&case.program)).expect("an automaton");
        let places: Vec<usize> = found.iter().map(|found| found.position.unwrap_or(usize::MAX)).collect();
        assert!(places.is_sorted(), "seed {seed}\n{case}");
        for (number, one) in found.iter().enumerate() {
            let report = monitor.reports.iter().find(|report| report.category == one.category);
            assert!(report.is_some(), "seed {seed}\n{case}");
            // Things of one name may be told apart by their ends alone.
            let again = found[..number]
                .iter()
                .any(|other| other.category == one.category && other.bindings == one.bindings);
            assert!(!again || !one.category.once() || !monitor.ends.is_empty(), "seed {seed}\n{case}");
            *kinds.entry(report.map(|report| report.name[..1].to_owned())).or_insert(0) += 1;
        }
    }
    // match, fail, violation and validation, states.
    assert!(kinds.len() >= 4 && kinds.values().all(|&count| count > 10), "{kinds:?}");
}

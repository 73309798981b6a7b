//! The engine against the reference on random formulas and traces, with whole automata and with states on demand.

use tw_engine_automaton::Automaton;
use tw_ir::Program;
use tw_monitor::{Engine, EvaluateOptions, Monitor, PlannedEvaluator, Unsupported};
use tw_testkit::online::compare_online;
use tw_testkit::{Shape, conformance};

/// The engine with few states, so that most automata do not fit.
struct Cramped(usize);

impl Cramped {
    fn options(&self, options: &EvaluateOptions) -> EvaluateOptions {
        EvaluateOptions { state_budget: self.0, ..options.clone() }
    }
}

impl Engine for Cramped {
    fn name(&self) -> &'static str {
        "automaton with states on demand"
    }

    fn about(&self) -> &'static str {
        Automaton.about()
    }

    fn plan<'p>(&self, program: &'p Program, options: &EvaluateOptions) -> PlannedEvaluator<'p> {
        Automaton.plan(program, &self.options(options))
    }

    fn monitor(
        &self,
        program: &Program,
        options: &EvaluateOptions,
        telling: tw_monitor::Telling,
    ) -> Result<Box<dyn Monitor>, Unsupported> {
        Automaton.monitor(program, &self.options(options), telling)
    }
}

/// Long enough for states on demand to be forgotten and made again.
const LONGER: Shape = Shape { lengths: &[200, 500], depth: 6, ..Shape::ONLINE };

#[test]
fn agrees_with_the_reference() {
    let cases = conformance::cases(100_000);
    let summary = conformance::compare(&Automaton, &Shape::ONLINE, 0..cases);
    assert_eq!(summary.refused, 0);
    assert_eq!(summary.compared, cases);
}

#[test]
fn states_on_demand_agree_with_the_reference() {
    let cases = conformance::cases(100_000) / 10;
    for budget in [1, 3] {
        let summary = conformance::compare(&Cramped(budget), &Shape::ONLINE, 0..cases);
        assert_eq!(summary.refused, 0);
    }
    // Where nearly every step makes its state anew, a stored trace is left to other engines.
    let summary = conformance::compare(&Cramped(1), &LONGER, 0..cases / 10);
    assert!(summary.refused * 3 <= summary.compared, "{summary:?}");
}

#[test]
fn monitors_agree_with_the_reference() {
    let cases = conformance::cases(100_000) / 5;
    let summary = compare_online(&Automaton, 0..cases);
    assert_eq!(summary.refused, 0);
    for budget in [1, 4] {
        let summary = compare_online(&Cramped(budget), 0..cases / 10);
        assert_eq!(summary.refused, 0);
    }
}

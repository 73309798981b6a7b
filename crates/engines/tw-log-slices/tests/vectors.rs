//! The worked examples of the paper's slicers.

use tw_core::{TimeUnit, Value};
use tw_engine_relational::Relational;
use tw_ir::Program;
use tw_log_slices::{
    Analysis, Division, Piece, Reach, Sliced, bucket, cut, labels, merge, needed, periods, reach,
};
use tw_monitor::{Engine, EvaluateOptions, Trace};
use tw_testkit::first_order::Log;
use tw_testkit::texts::specification;

fn options() -> EvaluateOptions {
    EvaluateOptions { unit: TimeUnit::Nanoseconds, threads: 1, ..EvaluateOptions::default() }
}

fn trace(program: &Program, log: &str) -> Trace {
    Trace { slots: None, ..Log::from_text(log).trace(program).unwrap() }
}

/// The number of an outer variable.
fn variable(program: &Program, name: &str) -> u32 {
    program.dag.variables.iter().position(|own| own == name).unwrap() as u32
}

/// A way of dividing in which the values 1, 2 are in one bucket and 3, 4 in the other, and the number of the first.
fn halves(variable: u32) -> (Division, usize) {
    for salt in 0..10_000 {
        let own: Vec<u32> = (1..=4).map(|int| bucket(&Value::Int(int), salt, 2)).collect();
        if own[0] == own[1] && own[2] == own[3] && own[0] != own[2] {
            return (Division { variable, salt, of: 2 }, own[0] as usize);
        }
    }
    panic!("no salt divides 1, 2 from 3, 4");
}

/// The tuples of a pattern at the first position of a piece.
fn tuples(piece: &Piece, pattern: usize) -> Vec<Vec<Value>> {
    let relation = &piece.trace.relations[pattern];
    relation.tuples(0).map(|number| relation.tuple(number)).collect()
}

fn whole(numbers: &[&[i64]]) -> Vec<Vec<Value>> {
    numbers.iter().map(|own| own.iter().map(|int| Value::Int(*int)).collect()).collect()
}

#[test]
fn example_8_events_without_the_variable_are_in_every_slice() {
    let program = specification("property a : G forall c, s. login(c, s) -> F[0,6) notify(0, s);");
    let log =
        "@0 login(1,1) login(1,2) login(3,3) login(4,4) notify(0,1) notify(0,2) notify(0,3) notify(0,4)";
    let trace = trace(&program, log);
    let named = |name: &str| {
        let patterns = program.patterns();
        let of = |id: &tw_ir::NodeId| tw_ir::display(&program, *id).starts_with(name);
        patterns.iter().position(of).unwrap()
    };
    let (login, notify) = (named("login"), named("notify"));
    for (name, shown) in [
        ("c", [(); 2].map(|()| whole(&[&[1], &[2], &[3], &[4]]))),
        ("s", [whole(&[&[1], &[2]]), whole(&[&[3], &[4]])]),
    ] {
        let (division, first) = halves(variable(&program, name));
        let pieces = cut(&program, &trace, (0, 1), &[division], true);
        assert_eq!(tuples(&pieces[first], login), whole(&[&[1, 1], &[1, 2]]), "{name}");
        assert_eq!(tuples(&pieces[1 - first], login), whole(&[&[3, 3], &[4, 4]]), "{name}");
        assert_eq!([&pieces[first], &pieces[1 - first]].map(|own| tuples(own, notify)), shown, "{name}");
    }
    // The variable that costs nothing is chosen.
    let analysis = Analysis::new(&program, program.roots[0].node, &options()).unwrap();
    let chosen = analysis.choose(&program, Some(&trace)).unwrap();
    assert_eq!((chosen.variable, chosen.duplicated.len()), (variable(&program, "s"), 0));
    assert_eq!(analysis.variables[0].duplicated.len(), 1);
}

const P0: &str = "property p0 : G forall c, s. login(c, s) -> F[0,25) logout(c, s);";

#[test]
fn p0_a_day_is_in_time_and_25_hours_are_not() {
    let program = specification(P0);
    for (log, found) in
        [("@0 login(7,1) @24 logout(7,1)", vec![]), ("@0 login(7,2) @25 logout(7,2)", vec![0usize])]
    {
        let trace = trace(&program, log);
        for name in ["c", "s"] {
            let division = Division { variable: variable(&program, name), salt: 0, of: 3 };
            let sliced = cut(&program, &trace, (0, trace.len), &[division], true).into_iter().map(|piece| {
                let mut answers = Relational.plan(&program, &options()).unwrap();
                let answer = answers.evaluate(&piece.trace, usize::MAX).unwrap().remove(0);
                Sliced { shard: piece.shard, order: piece.order, answer, exact: true }
            });
            let sliced: Vec<Sliced> = sliced.filter(|own| !own.order.is_empty()).collect();
            assert_eq!(merge(sliced, usize::MAX).violations, found, "{log}");
        }
    }
}

#[test]
fn example_11_days_are_monitored_twice_and_weeks_a_seventh_of_them() {
    let program = specification(P0);
    let (_, body) = program.invariant(program.roots[0].node).unwrap();
    let found = reach(&program, body, &options());
    assert_eq!(found, Reach { back: Some(0), ahead: Some(24), neighbours: false });
    // A point each hour of four weeks.
    let log: String = (0..24 * 28).map(|hour| format!("@{hour} login(1,{hour}) ")).collect();
    let trace = trace(&program, &log);
    for (length, days) in [(24, 1), (24 * 7, 7)] {
        let own = periods(&trace, options().clock, length);
        assert_eq!(own.len(), 28 / days);
        let mut times = vec![0; trace.len];
        for &period in &own {
            let (from, to) = needed(&program, body, &trace, &options(), period);
            // One position more shows that time has passed.
            assert_eq!(to - from, (length as usize + 24 + 1).min(trace.len - from), "{length}");
            (from..to - 1).for_each(|at| times[at] += 1);
        }
        // In the middle of the log, where there are periods before.
        let inside = &times[24 * 7..24 * 21];
        let twice = inside.iter().filter(|times| **times == 2).count();
        assert!(inside.iter().all(|times| (1..=2).contains(times)));
        assert_eq!(twice, inside.len() / days, "{length}");
    }
}

#[test]
fn what_a_slice_says_of_others_is_dropped() {
    // Violated by x of which r(x) holds and s(x) does not, if some r is big.
    let text = "property a : G forall x. !(r(x) & !s(x) & (exists y. r(y) & big(y)));";
    let program = specification(text);
    let trace = trace(&program, "@0 r(1) r(2) s(2) big(1)");
    let x = variable(&program, "x");
    let analysis = Analysis::new(&program, program.roots[0].node, &options()).unwrap();
    assert!(analysis.variables[0].guard.is_some() && !analysis.variables[0].exact);
    let salt = (0..).find(|&salt| [1, 2].map(|int| bucket(&Value::Int(int), salt, 2)) == [0, 1]).unwrap();
    let pieces = cut(&program, &trace, (0, 1), &[Division { variable: x, salt, of: 2 }], true);
    let evaluate = |piece: &Piece| {
        let mut engine = Relational.plan(&program, &options()).unwrap();
        engine.evaluate(&piece.trace, usize::MAX).unwrap().remove(0)
    };
    // The slice of 1 has all of r, because of y, and none of s: it finds 2, too.
    assert_eq!(evaluate(&pieces[0]).violation_count, 2);
    let sliced = pieces.into_iter().map(|piece| {
        let answer = evaluate(&piece);
        Sliced { shard: piece.shard, order: piece.order, answer, exact: false }
    });
    let merged = merge(sliced.collect(), usize::MAX);
    assert_eq!((merged.violation_count, merged.bindings[0].pairs()), (1, &[(x, Value::Int(1))][..]));
}

/// Of a property `G forall …. φ`, whether empty positions may go.
fn filterable(text: &str) -> bool {
    let program = specification(&format!("property a : {text};"));
    let (_, body) = program.invariant(program.roots[0].node).unwrap();
    let own = labels(&program, body, &options());
    own.always && own.kept
}

#[test]
fn empty_positions_go_where_nobody_can_tell() {
    assert!(!filterable("G forall x. p(x) -> O[0,1) !q(x)"));
    // Why: the empty position is what satisfies it.
    let program = specification("property a : G forall x. p(x) -> O[0,1) !q(x);");
    let log = trace(&program, "@5 @5 p(1) q(1)");
    let answer =
        |trace: &Trace| Relational.plan(&program, &options()).unwrap().evaluate(trace, 9).unwrap().remove(0);
    assert_eq!(answer(&log).violation_count, 0);
    let filtered = cut(&program, &log, (0, 2), &[], true).remove(0);
    assert_eq!((filtered.order.as_slice(), answer(&filtered.trace).violation_count), (&[1][..], 1));
    // The policies of the paper, in minutes and days.
    for policy in [
        "G forall c, s. ssh_login(c, s) -> F[0,25) ssh_logout(c, s)",
        "G forall c, t. auth(c, t) -> 1000 < t",
        "G forall c, t. auth(c, t) -> O[0,3d] F[0,0] upd_success(c)",
        "G forall c, s. ssh_login(c, s) & (F[1m,20m] net(c)) & (G[0,1d] H[0,0] (net(c) -> F[1m,20m] net(c))) -> F[0,1d] O[0,0] ssh_logout(c, s)",
        "G forall c. net(c) & (F[10m,20m] net(c)) & (O[1d,2d] alive(c)) & !(O[0,3d] F[0,0] upd_success(c)) -> F[0,20m] O[0,0] upd_connect(c)",
        "G forall c. upd_connect(c) & (F[5m,20m] alive(c)) -> F[0,30m] O[0,0] (upd_success(c) | upd_skip(c))",
        "G forall c. upd_skip(c) -> O[0,1d] F[0,0] upd_success(c)",
    ] {
        assert!(filterable(policy), "{policy}");
    }
    for other in [
        "G forall x. p(x) -> X q(x)",
        "G forall x. q(x) | !p(x) & Z q(x)",
        "G (p(1) | q(1))",
        "G (p -> first)",
    ] {
        assert!(!filterable(other), "{other}");
    }
}

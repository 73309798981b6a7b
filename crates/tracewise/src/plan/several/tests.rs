use crate::plan::choose_monitor;
use crate::{Session, Specification};
use tw_core::{Bits, Time};
use tw_ir::Semantics;
use tw_monitor::{Monitor, Positions, Settled, Sink, Telling, Term, TraceId};
use tw_testkit::Rng;

/// Feeds a monitor; column `at` of `trace` is the proposition called so.
fn run(spec: &Specification, trace: &[(Time, [bool; 3])], chunk: usize, each: bool) -> Vec<Settled> {
    let session = Session::new().semantics(Semantics::Ltl3);
    let telling = if each { Telling::Positions } else { Telling::Verdicts };
    let fresh = || choose_monitor(&session, spec, telling, &mut |_| {}).unwrap().1;
    let names: Vec<String> =
        spec.program.atoms().iter().map(|&id| tw_ir::display(&spec.program, id)).collect();
    let (mut monitor, mut out) = (fresh(), Sink::default());
    for part in trace.chunks(chunk) {
        // Another process goes on.
        let mut saved = Vec::new();
        monitor.save(&mut saved);
        monitor = fresh();
        monitor.restore(&saved).unwrap();
        let place = |name: &String| ["a", "b", "c"].iter().position(|known| known == name).unwrap();
        let column = |name: &String| part.iter().map(|row| row.1[place(name)]).collect::<Bits>();
        let atoms: Vec<Bits> = names.iter().map(column).collect();
        let times: Vec<Time> = part.iter().map(|row| row.0).collect();
        let chunk = Positions { len: part.len(), atoms: &atoms, times: Some(&times), ..Positions::default() };
        monitor.feed(&chunk, &mut out).unwrap();
    }
    monitor.finish(&mut out).unwrap();
    out.settled
}

#[test]
fn side_by_side_as_each_alone() {
    let texts = ["G (a -> F[0,2s] b)", "F (b & F c)", "G (c -> O[1s,3s] a)", "F last", "a U b"];
    let spec = |texts: &[&str]| {
        let named = texts.iter().enumerate().map(|(at, text)| format!("property p{at} : {text};"));
        Specification::from_text("t", &named.collect::<String>()).unwrap()
    };
    let mut rng = Rng::new(7);
    let mut settled = 0;
    for case in 0..60 {
        let mut now = 0;
        let mut row = || {
            now += 500_000_000 * rng.below(4) as Time;
            (now, [(); 3].map(|()| rng.below(3) == 0))
        };
        let trace: Vec<_> = (0..20).map(|_| row()).collect();
        let (chunk, each) = (1 + rng.below(20), case % 2 == 0);
        let together = run(&spec(&texts), &trace, chunk, each);
        for (root, text) in texts.iter().enumerate() {
            let mine: Vec<Settled> = together
                .iter()
                .filter(|found| found.root == root)
                .map(|found| Settled { root: 0, ..found.clone() })
                .collect();
            assert_eq!(mine, run(&spec(&[text]), &trace, chunk, each), "{text} in case {case}");
            settled += mine.len();
        }
    }
    assert!(settled > 1000);
}

/// One of several traces through a monitor of a mixed specification.
struct Followed {
    trace: TraceId,
    /// A monitor for each root, of that root alone.
    alone: Vec<(Specification, Box<dyn Monitor>)>,
    now: Time,
}

/// Positions at random, as a specification reads them.
fn batch(spec: &Specification, rows: &[(bool, bool, i64)], times: &[Time]) -> (Vec<Bits>, Vec<Term>) {
    let column = |slot: &tw_ir::Slot| match tw_trace::describe(&slot.what).as_str() {
        "a" => tw_core::Column::Truth(rows.iter().map(|row| row.0).collect()),
        "b" => tw_core::Column::Truth(rows.iter().map(|row| row.1).collect()),
        _ => tw_core::Column::of_values(rows.iter().map(|row| tw_core::Value::Int(row.2)).collect()),
    };
    let slots = spec.program.slots.iter().map(column).collect();
    let batch = tw_core::Batch { len: rows.len(), slots, times: Some(times.to_vec()) };
    let atoms = tw_monitor::Predicates::new(&spec.program).evaluate(&batch).unwrap();
    (atoms, tw_monitor::Terms::new(&spec.program).evaluate(&batch))
}

#[test]
fn properties_and_queries_on_many_traces() {
    let roots = [
        "property p : G (a -> F[0,2s] b);",
        "query n : count[a];",
        "property q : F (b & F a);",
        "query m : max[b : x + 1];",
        "property r : G (x < 9);",
        "query s : sum[x > 2 : x];",
    ];
    let session = Session::new().semantics(Semantics::Ltl3);
    let spec = |text: &str| Specification::from_text("t", text).unwrap();
    let fresh =
        |spec: &Specification| choose_monitor(&session, spec, Telling::Verdicts, &mut |_| {}).unwrap().1;
    let whole = spec(&roots.concat());
    let (mut rng, mut settled) = (Rng::new(11), 0);
    for _ in 0..20 {
        let mut monitor = fresh(&whole);
        let mut traces: Vec<Followed> = Vec::new();
        for number in 0..4 {
            let trace = if number == 0 { TraceId(0) } else { monitor.open() };
            let alone = roots.iter().map(|text| spec(text)).map(|spec| (spec.clone(), fresh(&spec)));
            traces.push(Followed { trace, alone: alone.collect(), now: 0 });
        }
        for _ in 0..30 {
            let followed = &mut traces[rng.below(4)];
            let mut times = Vec::new();
            let mut row = || {
                followed.now += 500_000_000 * rng.below(4) as Time;
                times.push(followed.now);
                (rng.one_in(3), rng.one_in(3), rng.below(10) as i64)
            };
            let rows: Vec<_> = (0..4).map(|_| row()).collect();
            let (mut together, mut apart) = (Sink::default(), Vec::new());
            let (atoms, terms) = batch(&whole, &rows, &times);
            let positions =
                Positions { len: 4, atoms: &atoms, terms: &terms, times: Some(&times), ..Default::default() };
            monitor.select(followed.trace);
            monitor.feed(&positions, &mut together).unwrap();
            let known = monitor.finish(&mut Sink::default()).unwrap().unwrap();
            let mut ends = Vec::new();
            for (root, (spec, alone)) in followed.alone.iter_mut().enumerate() {
                let (atoms, terms) = batch(spec, &rows, &times);
                let mut sink = Sink::default();
                let positions = Positions { atoms: &atoms, terms: &terms, ..positions };
                alone.feed(&positions, &mut sink).unwrap();
                apart.extend(sink.settled.into_iter().map(|found| Settled { root, ..found }));
                ends.extend(alone.finish(&mut Sink::default()).unwrap().unwrap());
            }
            apart.sort_by_key(|found| (found.at, found.root));
            assert_eq!((&together.settled, known), (&apart, ends));
            let deadlines = followed.alone.iter().filter_map(|(_, alone)| alone.next_deadline());
            assert_eq!(monitor.next_deadline(), deadlines.min());
            settled += apart.len();
            if rng.one_in(5) {
                // To another place.
                let mut saved = Vec::new();
                monitor.save(&mut saved);
                monitor.close(followed.trace);
                followed.trace = monitor.open();
                monitor.select(followed.trace);
                monitor.restore(&saved).unwrap();
            }
        }
    }
    assert!(settled > 100, "{settled}");
}

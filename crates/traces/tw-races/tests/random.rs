//! Random programs against the definitions, computed by trying everything.

use std::collections::BTreeSet;
use tw_races::{Access, Action, Analysis, Limits, Place};
use tw_testkit::Rng;

const THREADS: [&str; 5] = ["t0", "t1", "t2", "t3", "t4"];
const LOCKS: [&str; 4] = ["a", "b", "c", "d"];
const VARIABLES: [&str; 3] = ["x", "y", "z"];

/// A run of a program whose locks are used properly: got by one thread at a time, given back by who holds them.
fn program(rng: &mut Rng) -> Vec<Access<'static>> {
    let forks = rng.one_in(2);
    let mut running: Vec<usize> = if forks { vec![0] } else { (0..1 + rng.below(THREADS.len())).collect() };
    let mut next = running.len();
    let mut held: Vec<Vec<&str>> = vec![Vec::new(); THREADS.len()];
    let mut run = Vec::new();
    // Half of the programs are about locks alone.
    let kinds = if rng.one_in(2) { 7 } else { 10 };
    for _ in 0..4 + rng.below(96) {
        let thread = rng.pick(&running);
        let name = THREADS[thread];
        // Who has nested locks lets go soon, or nobody else gets any.
        let kind = if held[thread].len() > 1 && rng.one_in(2) { 4 } else { rng.below(kinds + 2) };
        match if kind >= kinds { 10 + kind - kinds } else { kind } {
            0..4 => {
                let lock = rng.pick(&LOCKS);
                if (0..THREADS.len()).all(|other| other == thread || !held[other].contains(&lock)) {
                    held[thread].push(lock);
                    run.push(Access::lock(name, lock));
                }
            }
            4..7 if !held[thread].is_empty() => {
                let at = rng.below(held[thread].len());
                run.push(Access::unlock(name, held[thread].remove(at)));
            }
            7 | 8 => run.push(Access::read(name, rng.pick(&VARIABLES))),
            9 => run.push(Access::write(name, rng.pick(&VARIABLES))),
            10 if forks && next < THREADS.len() => {
                run.push(Access::fork(name, THREADS[next]));
                running.push(next);
                next += 1;
            }
            11 if forks => {
                let child = rng.pick(&running);
                if child != thread && held[child].is_empty() {
                    run.push(Access::join(name, THREADS[child]));
                    running.retain(|&other| other != child);
                }
            }
            _ => {}
        }
    }
    run
}

/// Which events come before which: own earlier ones, those of whoever started one, those of whoever one waited for.
fn before(run: &[Access<'_>]) -> Vec<Vec<bool>> {
    let mut before = vec![vec![false; run.len()]; run.len()];
    for j in 0..run.len() {
        for i in 0..j {
            let own = run[i].thread == run[j].thread;
            let started = run[i].action == Action::Fork && run[i].object == run[j].thread;
            // A thread that does nothing is started and ends all the same.
            let idle = run[i].action == Action::Fork && run[i].object == run[j].object;
            let waited = run[j].action == Action::Join && (run[j].object == run[i].thread || idle);
            if own || started || waited {
                before[i][j] = true;
                for row in before.iter_mut().take(i) {
                    row[j] |= row[i];
                }
            }
        }
    }
    before
}

/// The locks each event's thread holds just before it.
fn held(run: &[Access<'_>]) -> Vec<BTreeSet<String>> {
    let mut all = Vec::new();
    for (at, access) in run.iter().enumerate() {
        let mut held: Vec<&str> = Vec::new();
        for earlier in run[..at].iter().filter(|earlier| earlier.thread == access.thread) {
            match earlier.action {
                Action::Lock => held.push(earlier.object),
                Action::Unlock => {
                    let last = held.iter().rposition(|lock| *lock == earlier.object).unwrap();
                    held.remove(last);
                }
                _ => {}
            }
        }
        all.push(held.into_iter().map(str::to_string).collect());
    }
    all
}

/// The access after which each unprotected variable has no candidate lock, by definition.
fn races(run: &[Access<'_>]) -> BTreeSet<(String, u64)> {
    let (before, held) = (before(run), held(run));
    let mut found = BTreeSet::new();
    for variable in VARIABLES {
        // The accesses since the last one that came after all before it.
        let mut phase: Vec<usize> = Vec::new();
        let uses = |at: &usize| {
            matches!(run[*at].action, Action::Read | Action::Write) && run[*at].object == variable
        };
        for at in (0..run.len()).filter(uses) {
            if phase.iter().all(|&earlier| before[earlier][at]) {
                phase.clear();
            }
            phase.push(at);
            let second = phase.iter().position(|&one| run[one].thread != run[phase[0]].thread);
            let Some(shared) = second.map(|second| &phase[second..]) else { continue };
            let common = shared.iter().map(|&one| held[one].clone()).reduce(|a, b| &a & &b);
            let written = shared.iter().any(|&one| run[one].action == Action::Write);
            if written && common.is_some_and(|common| common.is_empty()) {
                found.insert((variable.to_string(), at as u64));
                break;
            }
        }
    }
    found
}

/// The locks of each cycle, from the least on, by trying every sequence of `lock` events.
fn cycles(run: &[Access<'_>]) -> BTreeSet<Vec<String>> {
    let (before, held) = (before(run), held(run));
    let nested: Vec<usize> = (0..run.len())
        .filter(|&at| {
            run[at].action == Action::Lock && !held[at].is_empty() && !held[at].contains(run[at].object)
        })
        .collect();
    let mut found = BTreeSet::new();
    let mut paths: Vec<Vec<usize>> = nested.iter().map(|&at| vec![at]).collect();
    while let Some(path) = paths.pop() {
        let wanted = run[path[path.len() - 1]].object;
        if path.len() > 1 && held[path[0]].contains(wanted) {
            let mut locks: Vec<String> = path.iter().map(|&at| run[at].object.to_string()).collect();
            let least = (0..locks.len()).min_by_key(|&at| locks[at].clone()).unwrap();
            locks.rotate_left(least);
            found.insert(locks);
        }
        for &next in nested.iter().filter(|&&next| held[next].contains(wanted)) {
            let fits = |&at: &usize| {
                run[at].thread != run[next].thread
                    && !before[at][next]
                    && !before[next][at]
                    && held[at].is_disjoint(&held[next])
            };
            if path.iter().all(fits) {
                paths.push(path.iter().copied().chain([next]).collect());
            }
        }
    }
    found
}

#[test]
fn equals_the_definitions() {
    let cases = tw_testkit::conformance::cases(20_000);
    let (mut deadlocked, mut raced, mut clean) = (0, 0, 0);
    for seed in 0..cases {
        let run = program(&mut Rng::new(seed));
        let mut analysis = Analysis::new().limits(Limits { cycles: usize::MAX, ..Limits::default() });
        for (position, access) in (0..).zip(&run) {
            analysis.event(access, Place { position, line: position + 1 }).unwrap();
        }
        let report = analysis.finish();
        assert_eq!(report.oddities, [], "seed {seed}");
        assert_eq!(report.search.incomplete, None, "seed {seed}");

        let races = races(&run);
        let found: BTreeSet<(String, u64)> =
            report.races.iter().map(|race| (race.variable.clone(), race.access.at.position)).collect();
        assert_eq!(found, races, "seed {seed}: {run:#?}");
        let held = held(&run);
        for race in &report.races {
            let (earlier, access) = (&race.earlier, &race.access);
            assert!(earlier.at < access.at && earlier.thread != access.thread, "seed {seed}");
            for usage in [earlier, access] {
                let locks: BTreeSet<String> = usage.locks.iter().cloned().collect();
                assert_eq!(locks, held[usage.at.position as usize], "seed {seed}");
            }
        }

        let cycles = cycles(&run);
        let mut found: Vec<Vec<String>> = Vec::new();
        for deadlock in &report.deadlocks {
            let mut locks: Vec<String> = deadlock.turns.iter().map(|turn| turn.wants.clone()).collect();
            let least = (0..locks.len()).min_by_key(|&at| locks[at].clone()).unwrap();
            locks.rotate_left(least);
            found.push(locks);
        }
        found.sort();
        assert_eq!(found, cycles.iter().cloned().collect::<Vec<_>>(), "seed {seed}: {run:#?}");

        deadlocked += u64::from(!cycles.is_empty());
        raced += u64::from(!races.is_empty());
        clean += u64::from(cycles.is_empty() && races.is_empty());
    }
    // Each kind of program occurs often enough for the comparison to mean something.
    for (kind, count) in [("deadlocks", deadlocked), ("races", raced), ("nothing", clean)] {
        assert!(count * 50 > cases, "{kind}: {count} of {cases}");
    }
}

/// Traces that no program leaves: locks given back by anyone, threads that start themselves and wait for their parents.
#[test]
fn anything_goes() {
    for seed in 0..2_000 {
        let mut rng = Rng::new(seed);
        let mut analysis = Analysis::new();
        for position in 0..rng.below(200) as u64 {
            let (thread, other) = (rng.pick(&THREADS), rng.pick(&THREADS));
            let access = match rng.below(6) {
                0 => Access::lock(thread, rng.pick(&LOCKS)),
                1 => Access::unlock(thread, rng.pick(&LOCKS)),
                2 => Access::read(thread, rng.pick(&VARIABLES)),
                3 => Access::write(thread, rng.pick(&VARIABLES)),
                4 => Access::fork(thread, other),
                _ => Access::join(thread, other),
            };
            analysis.event(&access, Place { position, line: position + 1 }).unwrap();
        }
        let report = analysis.finish();
        for deadlock in &report.deadlocks {
            let turns = &deadlock.turns;
            for (at, turn) in turns.iter().enumerate() {
                assert_eq!(turn.wants, turns[(at + 1) % turns.len()].holds, "seed {seed}");
                assert!(turn.held.contains(&turn.holds) && turn.held_at < turn.at, "seed {seed}");
            }
            let threads: BTreeSet<&String> = turns.iter().map(|turn| &turn.thread).collect();
            assert_eq!(threads.len(), turns.len(), "seed {seed}");
        }
        for race in &report.races {
            assert!(
                race.earlier.thread != race.access.thread && race.earlier.at < race.access.at,
                "seed {seed}"
            );
            assert!(race.access.write || race.earlier.write || race.write.is_some(), "seed {seed}");
        }
    }
}

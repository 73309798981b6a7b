//! The two programs of the paper, state by state, against numbers that a separate simulator gave. The statistics are
//! computed here from the recorded states, by the definitions of the operators.

use tw_core::Value;
use tw_spl::{Program, Simulator};

const MUX: &str = include_str!("../../../../examples/spl/mux-sem.spl");
const ABP: &str = include_str!("../../../../examples/spl/abp.spl");

fn program(text: &str) -> Program {
    let (program, findings) = tw_spl::parse("test.spl", text);
    assert!(findings.is_empty(), "{}", tw_diag::render(&findings, program.sources(), false));
    program
}

/// The recorded states, by column.
struct Trace {
    names: Vec<String>,
    rows: Vec<Vec<Value>>,
}

impl Trace {
    fn of(program: &Program, steps: usize, seed: u64, loss: u8) -> Self {
        let mut run = Simulator::new(program, seed, loss).unwrap();
        let names = run.columns().iter().map(|column| column.name.to_string()).collect();
        let mut rows = Vec::new();
        for _ in 0..steps {
            rows.push(run.state().values().collect());
            run.step().unwrap();
        }
        Self { names, rows }
    }

    fn value(&self, name: &str, row: usize) -> &Value {
        let at = self.names.iter().position(|other| other == name).unwrap_or_else(|| panic!("no {name}"));
        &self.rows[row][at]
    }

    fn int(&self, name: &str, row: usize) -> i64 {
        match self.value(name, row) {
            Value::Int(value) => *value,
            other => panic!("{name} is {other}"),
        }
    }

    fn truth(&self, name: &str, row: usize) -> bool {
        match self.value(name, row) {
            Value::Bool(value) => *value,
            other => panic!("{name} is {other}"),
        }
    }

    /// `l0` → 0: the first label of these that control is at.
    fn location(&self, letter: char, row: usize) -> usize {
        let at = |number: &usize| {
            let name = format!("at_{letter}{number}");
            self.names.contains(&name) && self.truth(&name, row)
        };
        (0..8).find(at).expect("control is at a label")
    }

    fn locations(&self, letter: char) -> Vec<usize> {
        (0..self.rows.len()).map(|row| self.location(letter, row)).collect()
    }
}

/// Positions where control is at `location` and leaves it: `count[at_x & X !at_x]`.
fn visits(locations: &[usize], location: usize) -> usize {
    locations.windows(2).filter(|pair| pair[0] == location && pair[1] != location).count()
}

/// `count[value while during]` at every position; `None` where it has none.
fn count_while(
    value: impl Fn(usize) -> bool,
    during: impl Fn(usize) -> bool,
    length: usize,
) -> Vec<Option<u64>> {
    let mut counts: Vec<Option<u64>> = vec![None; length];
    for at in (0..length).rev() {
        if during(at) {
            let rest = counts.get(at + 1).copied().flatten();
            counts[at] = if value(at) { Some(rest.unwrap_or(0) + 1) } else { rest };
        }
    }
    counts
}

#[test]
fn mux_sem_state_by_state() {
    let trace = Trace::of(&program(MUX), 20, 1, 0);
    let states: Vec<(usize, usize, i64)> = (0..20)
        .map(|row| (trace.location('l', row), trace.location('m', row), trace.int("r", row)))
        .collect();
    let expected = [
        (0, 0, 1),
        (1, 0, 1),
        (1, 1, 1),
        (2, 1, 1),
        (3, 1, 0),
        (4, 1, 0),
        (4, 2, 0),
        (1, 2, 1),
        (2, 2, 1),
        (2, 3, 0),
        (2, 4, 0),
        (2, 1, 1),
        (3, 1, 0),
        (4, 1, 0),
        (1, 1, 1),
        (2, 1, 1),
        (3, 1, 0),
        (4, 1, 0),
        (4, 2, 0),
        (1, 2, 1),
    ];
    assert_eq!(states, expected);
}

#[test]
fn mux_sem_statistics() {
    let program = program(MUX);
    for (length, seed, visited, bias, overtaking) in [
        (20, 1, (3, 1), 3.0, 1),
        (100, 1, (13, 11), 1.1818, 2),
        (1_000, 1, (126, 123), 1.0244, 4),
        (1_000, 42, (130, 119), 1.0924, 2),
        (100_000, 1, (12_490, 12_509), 0.99848, 6),
    ] {
        let trace = Trace::of(&program, length, seed, 0);
        let (l, m) = (trace.locations('l'), trace.locations('m'));
        let semaphore = (0..length).map(|row| trace.int("r", row)).max();
        assert_eq!(semaphore, Some(1));
        let inside = (0..length).map(|row| u32::from(l[row] == 3) + u32::from(m[row] == 3)).max();
        assert_eq!(inside, Some(1));
        assert_eq!((visits(&l, 3), visits(&m, 3)), visited, "{length} {seed}");
        let ratio = visits(&l, 3) as f64 / visits(&m, 3) as f64;
        assert!((ratio - bias).abs() < 5e-5, "{length} {seed}: {ratio}");
        let enters = |row: usize| m[row] != 3 && m.get(row + 1) == Some(&3);
        let overtaken = count_while(enters, |row| l[row] == 2, length).into_iter().flatten().max();
        assert_eq!(overtaken, Some(overtaking), "{length} {seed}");
    }
}

#[test]
fn abp_location_by_location() {
    let trace = Trace::of(&program(ABP), 30, 1, 20);
    let seen: Vec<String> =
        (0..30).map(|row| format!("{}{}", trace.location('l', row), trace.location('m', row))).collect();
    let expected =
        "00 10 11 21 22 23 24 21 51 61 71 11 21 22 23 24 21 51 61 71 11 21 22 23 24 21 21 51 71 11";
    assert_eq!(seen.join(" "), expected);
    for row in 0..30 {
        // A selection and its alternatives are one location.
        assert_eq!(trace.truth("at_l2", row), trace.truth("at_l3", row));
        assert_eq!(trace.truth("at_l2", row), trace.truth("at_l4", row));
    }
}

#[test]
fn abp_statistics() {
    let program = program(ABP);
    for (length, loss, throughput, sent_received, most, average) in [
        (100, 20, 8, (11, 9), 3, 1.375),
        (1_000, 0, 110, (111, 111), 1, 1.0),
        (1_000, 20, 66, (113, 83), 4, 1.6865671641791045),
        (1_000, 50, 26, (113, 58), 21, 4.185185185185185),
        (100_000, 20, 7_131, (11_276, 9_008), 9, 1.581043185642176),
    ] {
        let trace = Trace::of(&program, length, 1, loss);
        let (l, m) = (trace.locations('l'), trace.locations('m'));
        assert_eq!(visits(&l, 6), throughput, "{length} {loss}");
        assert_eq!((visits(&l, 1), visits(&m, 1)), sent_received, "{length} {loss}");
        let sends = |row: usize| l[row] == 1 && l.get(row + 1).is_some_and(|next| *next != 1);
        let counts = count_while(sends, |row| [1, 2, 3, 4, 5, 7].contains(&l[row]), length);
        assert_eq!(counts.iter().flatten().max(), Some(&most), "{length} {loss}");
        let items: Vec<u64> = (0..length - 1)
            .filter(|row| [0, 6].contains(&l[*row]))
            .filter_map(|row| counts[row + 1])
            .collect();
        assert_eq!(items.iter().sum::<u64>() as f64 / items.len() as f64, average, "{length} {loss}");
        // Every item that was accepted and acknowledged is one that was sent.
        assert!((0..length).all(|row| trace.int("i", row) <= trace.int("j", row)));
        assert!((0..length).all(|row| trace.int("j", row) <= trace.int("i", row) + 1));
    }
}

/// What the receiver accepts is 1, 2, 3, … without gaps: the same program with a variable that shows the item.
#[test]
fn abp_delivers_everything_in_order() {
    let shown = ABP
        .replace("local j :", "local item : integer where item = 0\n    local j :")
        .replace("(j, ack) := (j + 1, !ack)", "(j, ack, item) := (j + 1, !ack, recvd[j])");
    assert!(shown.contains("local item") && shown.contains("recvd[j])"));
    let program = program(&shown);
    for (length, loss) in [(1_000, 0), (1_000, 20), (1_000, 50), (100_000, 20)] {
        let trace = Trace::of(&program, length, 1, loss);
        let mut accepted = 0;
        for row in 1..length {
            if trace.location('m', row - 1) == 3 && trace.location('m', row) != 3 {
                accepted += 1;
                assert_eq!(trace.int("item", row), accepted, "{length} {loss} at {row}");
            }
        }
        assert!(accepted > 20, "{length} {loss}: {accepted}");
    }
}

#[test]
fn columns_are_variables_then_labels() {
    let names = |text: &str| -> String {
        program(text).columns().iter().map(|column| column.name.to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(MUX), "r at_l0 at_l1 at_l2 at_l3 at_l4 at_m0 at_m1 at_m2 at_m3 at_m4");
    assert_eq!(
        names(ABP),
        "dchan achan i Sender.seq Sender.ack timeout j Receiver.seq Receiver.ack \
         at_l0 at_l1 at_l2 at_l3 at_l4 at_l5 at_l6 at_l7 at_m0 at_m1 at_m2 at_m3 at_m4"
    );
    assert_eq!(program(ABP).hidden().collect::<Vec<_>>(), ["data", "recvd"]);
    assert_eq!(program(ABP).name(), Some("ABP"));
    assert_eq!(program(MUX).processes().collect::<Vec<_>>(), ["P1", "P2"]);
}

use super::*;
use tw_testkit::Rng;

/// A function of the first variables, from a truth table: bit `i` is its value where variable `v` is bit `v` of `i`.
fn from_table(diagrams: &mut Diagrams, table: u64, variables: u32) -> Diagram {
    let mut rows: Vec<Diagram> =
        (0..1u64 << variables).map(|row| Diagram::constant(table >> row & 1 == 1)).collect();
    for variable in (0..variables).rev() {
        let half = 1 << variable;
        rows = (0..half).map(|row| diagrams.node(variable, rows[row], rows[row + half]).unwrap()).collect();
    }
    rows[0]
}

fn table_of(diagrams: &Diagrams, diagram: Diagram, variables: u32) -> u64 {
    (0..1u64 << variables)
        .filter(|&row| diagrams.evaluate(diagram, |v| row >> v & 1 == 1))
        .fold(0, |t, row| t | 1 << row)
}

#[test]
fn connectives_are_those_of_truth_tables() {
    let (mut diagrams, mut rng) = (Diagrams::new(100_000), Rng::new(1));
    for _ in 0..300 {
        let (s, t, u) = (rng.bits(), rng.bits(), rng.bits());
        let (f, g, h) = (
            from_table(&mut diagrams, s, 6),
            from_table(&mut diagrams, t, 6),
            from_table(&mut diagrams, u, 6),
        );
        for (result, expected) in [
            (diagrams.not(f), !s),
            (diagrams.and(f, g), s & t),
            (diagrams.or(f, g), s | t),
            (diagrams.xor(f, g), s ^ t),
            (diagrams.choose(f, g, h), s & t | !s & u),
        ] {
            let result = result.unwrap();
            assert_eq!(table_of(&diagrams, result, 6), expected);
            // Equal functions are equal numbers.
            assert_eq!(from_table(&mut diagrams, expected, 6), result);
        }
    }
}

#[test]
fn composition_replaces_all_variables_at_once() {
    let (mut diagrams, mut rng) = (Diagrams::new(100_000), Rng::new(5));
    for _ in 0..100 {
        let table = rng.bits();
        let f = from_table(&mut diagrams, table, 4);
        let tables: Vec<u64> = (0..4).map(|_| rng.bits()).collect();
        let parts: Vec<Diagram> = tables.iter().map(|&table| from_table(&mut diagrams, table, 6)).collect();
        let result = diagrams.compose(f, &|v| parts[v as usize], &mut FxHashMap::default()).unwrap();
        for row in 0..64 {
            let index =
                tables.iter().enumerate().fold(0, |index, (v, table)| index | (table >> row & 1) << v);
            assert_eq!(diagrams.evaluate(result, |v| row >> v & 1 == 1), table >> index & 1 == 1);
        }
    }
}

#[test]
fn covers_are_exact_prime_and_irredundant() {
    let (mut diagrams, mut rng) = (Diagrams::new(1_000_000), Rng::new(9));
    for round in 0..200 {
        let table = rng.bits() & if round % 2 == 0 { u64::MAX } else { rng.bits() };
        let f = from_table(&mut diagrams, table, 6);
        let cubes = diagrams.cover(f, 1000).unwrap().unwrap();
        let rows = |cube: &Cube| -> u64 {
            (0..64)
                .filter(|row| cube.iter().all(|&(v, value)| (row >> v & 1 == 1) == value))
                .fold(0, |t, r: u64| t | 1 << r)
        };
        assert_eq!(cubes.iter().map(rows).fold(0, |a, b| a | b), table);
        for (index, cube) in cubes.iter().enumerate() {
            let others = cubes.iter().enumerate().filter(|(other, _)| *other != index);
            let rest = others.map(|(_, cube)| rows(cube)).fold(0, |a, b| a | b);
            assert_ne!(rest, table, "a cube is redundant");
            for left_out in 0..cube.len() {
                let mut shorter = cube.clone();
                shorter.remove(left_out);
                assert_ne!(rows(&shorter) & !table, 0, "a literal is redundant");
            }
        }
    }
    let parity = (1..8).fold(Diagram::FALSE, |f, v| {
        let v = diagrams.variable(v).unwrap();
        diagrams.xor(f, v).unwrap()
    });
    assert_eq!(diagrams.cover(parity, 63).unwrap(), None);
    assert_eq!(diagrams.cover(parity, 64).unwrap().unwrap().len(), 64);
}

#[test]
fn wide_disjunctions_are_linear_and_the_limit_holds() {
    let mut diagrams = Diagrams::new(5_000);
    let mut any = Diagram::FALSE;
    for variable in (0..1000).rev() {
        let v = diagrams.variable(variable).unwrap();
        any = diagrams.or(any, v).unwrap();
    }
    assert_eq!(diagrams.size(any), 1000);
    // Pairs that stand far apart in the order are exponential: the limit ends it.
    let mut pairs = Diagram::TRUE;
    let mut outcome = Ok(());
    for variable in 0..100 {
        let mut pair = || {
            let (a, b) = (diagrams.variable(variable)?, diagrams.variable(variable + 100)?);
            let both = diagrams.or(a, b)?;
            diagrams.and(pairs, both)
        };
        match pair() {
            Ok(more) => pairs = more,
            Err(full) => outcome = Err(full),
        }
    }
    assert_eq!(outcome, Err(Full(5_000)));
    assert!(diagrams.len() <= 5_000);
}

#[test]
fn compacting_keeps_functions() {
    let (mut diagrams, mut rng) = (Diagrams::new(100_000), Rng::new(3));
    let tables: Vec<u64> = (0..50).map(|_| rng.bits()).collect();
    let mut all: Vec<Diagram> = tables.iter().map(|&table| from_table(&mut diagrams, table, 6)).collect();
    let before = diagrams.len();
    let mut keep = all.split_off(40);
    diagrams.compact(&mut keep);
    assert!(diagrams.len() < before / 2, "{} of {before}", diagrams.len());
    for (diagram, &table) in keep.iter().zip(&tables[40..]) {
        assert_eq!(table_of(&diagrams, *diagram, 6), table);
        assert_eq!(from_table(&mut diagrams, table, 6), *diagram);
    }
}

#[test]
fn recursion_is_as_deep_as_there_are_variables() {
    let run = || {
        let mut diagrams = Diagrams::new(1_000_000);
        let mut parity = [Diagram::FALSE; 2];
        for offset in 0..2 {
            for variable in (offset..VARIABLES as u32).step_by(2).rev() {
                let v = diagrams.variable(variable).unwrap();
                parity[offset as usize] = diagrams.xor(v, parity[offset as usize]).unwrap();
            }
        }
        diagrams.xor(parity[0], parity[1]).map(|all| diagrams.size(all))
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap();
    assert_eq!(thread.join().unwrap(), Ok(2 * VARIABLES - 1));
}

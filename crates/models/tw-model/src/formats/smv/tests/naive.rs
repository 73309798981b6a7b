//! Random programs, against the definition: all valuations are tried.

use super::*;

const NAMES: [&str; 4] = ["x", "p", "e", "y"];
const SIZES: [i64; 4] = [3, 2, 2, 3];
const SYMBOLS: [&str; 2] = ["red", "blue"];

/// An expression over numbers; truth values and symbols are numbers too.
#[derive(Clone, Debug)]
enum Expr {
    Const(i64),
    Symbol(usize),
    Var(usize, bool),
    Op(&'static str, Box<[Expr; 2]>),
    Not(Box<Expr>),
    If(&'static str, Box<[Expr; 3]>),
    In(Box<Expr>, Vec<i64>),
}

fn number(random: &mut Rng, next: bool, depth: usize) -> Expr {
    match random.below(if depth == 0 { 2 } else { 5 }) {
        0 => Expr::Const(random.below(4) as i64),
        1 => Expr::Var(random.pick(&[0, 3]), next && random.one_in(2)),
        2 | 3 => {
            let op = random.pick(&["+", "-", "*"]);
            Expr::Op(op, Box::new([number(random, next, depth - 1), number(random, next, depth - 1)]))
        }
        _ => {
            let form = random.pick(&["?", "case"]);
            let condition = truth(random, next, depth - 1);
            Expr::If(
                form,
                Box::new([condition, number(random, next, depth - 1), number(random, next, depth - 1)]),
            )
        }
    }
}

fn truth(random: &mut Rng, next: bool, depth: usize) -> Expr {
    let later = next && random.one_in(2);
    match random.below(if depth == 0 { 3 } else { 8 }) {
        0 => Expr::Var(1, later),
        1 => Expr::Op("=", Box::new([Expr::Var(2, later), Expr::Symbol(random.below(2))])),
        2 => {
            let variable = random.pick(&[0, 3]);
            Expr::Op("=", Box::new([Expr::Var(variable, later), number(random, next, depth.min(1))]))
        }
        3 => Expr::Not(Box::new(truth(random, next, depth - 1))),
        4 => {
            let op = random.pick(&["=", "!=", "<", "<=", ">", ">="]);
            Expr::Op(op, Box::new([number(random, next, depth - 1), number(random, next, depth - 1)]))
        }
        5 => Expr::In(
            Box::new(number(random, next, depth - 1)),
            vec![random.below(3) as i64, random.below(4) as i64],
        ),
        _ => {
            let op = random.pick(&["&", "&", "|", "|", "|", "->", "<->", "xor", "xnor"]);
            Expr::Op(op, Box::new([truth(random, next, depth - 1), truth(random, next, depth - 1)]))
        }
    }
}

fn power(expr: &Expr) -> u8 {
    match expr {
        Expr::Const(_) | Expr::Symbol(_) | Expr::Var(..) | Expr::If("case", _) => 20,
        Expr::Not(_) => 13,
        Expr::If(..) => 3,
        Expr::In(..) => 7,
        Expr::Op(op, _) => match *op {
            "->" => 1,
            "<->" => 2,
            "|" | "xor" | "xnor" => 4,
            "&" => 5,
            "+" | "-" => 10,
            "*" => 11,
            _ => 6,
        },
    }
}

/// With the parentheses that NuSMV's precedence needs, and no more.
fn print(expr: &Expr) -> String {
    let within = |part: &Expr, least: u8| {
        if power(part) < least { format!("({})", print(part)) } else { print(part) }
    };
    match expr {
        Expr::Const(number) => number.to_string(),
        Expr::Symbol(symbol) => SYMBOLS[*symbol].to_owned(),
        Expr::Var(variable, false) => NAMES[*variable].to_owned(),
        Expr::Var(variable, true) => format!("next({})", NAMES[*variable]),
        Expr::Not(part) => format!("!{}", within(part, 13)),
        Expr::In(part, set) => {
            let set: Vec<String> = set.iter().map(i64::to_string).collect();
            format!("{} in {{{}}}", within(part, 7), set.join(", "))
        }
        Expr::If("case", parts) => {
            format!("case {} : {}; TRUE : {}; esac", print(&parts[0]), print(&parts[1]), print(&parts[2]))
        }
        Expr::If(_, parts) => {
            format!("{} ? {} : {}", within(&parts[0], 4), within(&parts[1], 4), within(&parts[2], 3))
        }
        Expr::Op(op, parts) => {
            let power = power(expr);
            let (left, right) = if *op == "->" { (power + 1, power) } else { (power, power + 1) };
            format!("{} {op} {}", within(&parts[0], left), within(&parts[1], right))
        }
    }
}

fn value(expr: &Expr, now: &[i64; 4], then: &[i64; 4]) -> i64 {
    match expr {
        Expr::Const(number) => *number,
        Expr::Symbol(symbol) => *symbol as i64,
        Expr::Var(variable, later) => (if *later { then } else { now })[*variable],
        Expr::Not(part) => 1 - value(part, now, then),
        Expr::In(part, set) => i64::from(set.contains(&value(part, now, then))),
        Expr::If(_, parts) => value(&parts[if value(&parts[0], now, then) == 1 { 1 } else { 2 }], now, then),
        Expr::Op(op, parts) => {
            let (a, b) = (value(&parts[0], now, then), value(&parts[1], now, then));
            match *op {
                "+" => return a + b,
                "-" => return a - b,
                "*" => return a * b,
                _ => {}
            }
            i64::from(match *op {
                "=" | "<->" | "xnor" => a == b,
                "!=" | "xor" => a != b,
                "<" => a < b,
                "<=" => a <= b,
                ">" => a > b,
                ">=" => a >= b,
                "&" => a == 1 && b == 1,
                "|" => a == 1 || b == 1,
                _ => a == 0 || b == 1,
            })
        }
    }
}

fn all() -> Vec<[i64; 4]> {
    let mut all = Vec::new();
    for x in 0..SIZES[0] {
        for p in 0..SIZES[1] {
            for e in 0..SIZES[2] {
                all.extend((0..SIZES[3]).map(|y| [x, p, e, y]));
            }
        }
    }
    all
}

fn label(state: &[i64; 4]) -> String {
    format!("x = {}, p = {}, e = {}, y = {}", state[0], state[1] == 1, SYMBOLS[state[2] as usize], state[3])
}

#[test]
fn random_programs_have_the_states_of_the_definition() {
    let mut random = Rng::new(2026);
    let all = all();
    let (mut answered, mut told) = (0, 0);
    for case in 0..cases(3_000).min(20_000) {
        let init: Vec<Expr> = (0..1 + random.below(2)).map(|_| truth(&mut random, false, 2)).collect();
        let trans: Vec<Expr> = (0..random.below(3)).map(|_| truth(&mut random, true, 3)).collect();
        let invar: Vec<Expr> = (0..random.below(4) / 3).map(|_| truth(&mut random, false, 2)).collect();
        let mut text = "MODULE main VAR x: 0..2; p: boolean; e: {red, blue}; y: 0..2;\n".to_owned();
        // Assignments whose values lie in the type: a choice of two constants by a condition.
        let mut assigns: Vec<(usize, bool, Expr, [i64; 2])> = Vec::new();
        if random.one_in(3) {
            assigns.push((
                0,
                false,
                truth(&mut random, false, 1),
                [random.below(3) as i64, random.below(3) as i64],
            ));
        }
        if random.one_in(2) {
            assigns.push((
                3,
                true,
                truth(&mut random, false, 2),
                [random.below(3) as i64, random.below(3) as i64],
            ));
        }
        for (variable, next, condition, [a, b]) in &assigns {
            let (word, name) = (if *next { "next" } else { "init" }, NAMES[*variable]);
            let clause = format!("case {} : {{{a}, {b}}}; TRUE : {b}; esac", print(condition));
            text += &format!("ASSIGN {word}({name}) := {clause};\n");
        }
        init.iter().for_each(|expr| text += &format!("INIT {}\n", print(expr)));
        trans.iter().for_each(|expr| text += &format!("TRANS {};\n", print(expr)));
        invar.iter().for_each(|expr| text += &format!("INVAR {}\n", print(expr)));

        let allowed = |next: bool, now: &[i64; 4], to: &[i64; 4]| {
            assigns.iter().filter(|assign| assign.1 == next).all(|(variable, _, condition, [a, b])| {
                to[*variable] == *b || value(condition, now, now) == 1 && to[*variable] == *a
            })
        };
        let holds = |exprs: &[Expr], now: &[i64; 4], then: &[i64; 4]| {
            exprs.iter().all(|expr| value(expr, now, then) == 1)
        };
        let inits: Vec<&[i64; 4]> = all
            .iter()
            .filter(|s| holds(&init, s, s) && holds(&invar, s, s) && allowed(false, s, s))
            .collect();
        let mut expected = Meaning::default();
        let mut stack = inits.clone();
        expected.initial = inits.iter().map(|state| label(state)).collect();
        while let Some(now) = stack.pop() {
            if !expected.states.insert(label(now)) {
                continue;
            }
            for then in &all {
                if holds(&trans, now, then) && holds(&invar, then, then) && allowed(true, now, then) {
                    expected.edges.insert((label(now), label(then)));
                    stack.push(then);
                }
            }
        }
        let model = match read("m.smv", text.as_bytes()) {
            Err(ModelError::Unfit(message)) if inits.is_empty() => {
                assert_eq!(message, "no state satisfies INIT");
                continue;
            }
            model => model.unwrap_or_else(|error| panic!("case {case}: {error}\n{text}")),
        };
        answered += 1;
        let found = Meaning {
            states: (0..model.states() as State).map(|state| model.label(state)).collect(),
            initial: model.initial.iter().map(|&state| model.label(state)).collect(),
            edges: model.graph.iter().map(|(a, b)| (model.label(a), model.label(b))).collect(),
        };
        assert_eq!(found, expected, "case {case}\n{text}");
        told += usize::from(sets_are_the_same(&text, &model));
    }
    assert!(answered > 0 && 2 * told > answered, "{told} of {answered}");
}

/// Whether the program is told as sets; they are those of the states that were listed.
fn sets_are_the_same(text: &str, model: &Model) -> bool {
    let (program, _) = Implicit::read("m.smv", text.as_bytes(), &Limits::default(), &|_| true).unwrap();
    let mut space = match program.symbolic() {
        Ok(space) => space,
        Err(Unsuited::Sets(_)) => return false,
        Err(other) => panic!("{other:?}\n{text}"),
    };
    let own =
        model.variables.iter().filter(|variable| matches!(variable.cells, Cells::Own(_))).count().min(4);
    let states: Vec<Vec<u32>> = (0..model.states() as State)
        .map(|state| (0..own).map(|variable| model.code(variable, state)).collect())
        .collect();
    assert_eq!(space.count(space.states), states.len() as u64, "{text}");
    assert_eq!(space.count(space.initial), model.initial.len() as u64, "{text}");
    assert_eq!(space.transitions(), Some(model.graph.edges() as u64), "{text}");
    let dead = (0..states.len() as State).filter(|&state| model.graph.successors(state).is_empty());
    assert_eq!(space.count(space.dead), dead.count() as u64, "{text}");
    for (at, state) in states.iter().enumerate() {
        assert!(space.has(space.states, state), "{text}");
        let single = space.single(state).unwrap();
        assert_eq!(space.pick(single).as_ref(), Some(state));
        let after = space.after(single).unwrap();
        let expected = model.graph.successors(at as State);
        let expected: Vec<State> = if expected.is_empty() { vec![at as State] } else { expected.to_vec() };
        assert_eq!(space.count(after), expected.len() as u64, "{text}");
        assert!(expected.iter().all(|&to| space.has(after, &states[to as usize])), "{text}");
        let before = space.before(single).unwrap();
        let leads = |from: usize| space.has(before, &states[from]);
        let edge = |from: usize| {
            let to = model.graph.successors(from as State);
            to.contains(&(at as State)) || to.is_empty() && from == at
        };
        assert!((0..states.len()).all(|from| leads(from) == edge(from)), "{text}");
    }
    let listed = space.listed(&states);
    assert!((0..states.len() as State).all(|state| listed.label(state) == model.label(state)), "{text}");
    true
}

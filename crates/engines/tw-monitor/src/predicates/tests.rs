use super::*;
use tw_core::{Dictionary, Value};
use tw_ir::{ArithmeticOp, CompareOp, Expect, Path, PathStep, Root, SetItem, Slot, What};

/// x: ints with a null, y: reals with a null, name: text with a null, any: mixed, tags: lists, p: truth.
fn batch() -> Batch {
    let valid = |bits: [bool; 6]| bits.into_iter().collect::<Bits>();
    let dictionary = Dictionary { entries: ["bob", "eve", "ann"].map(Into::into).to_vec() };
    let list = |items: &[Value]| Value::List(items.to_vec());
    Batch {
        len: 6,
        times: None,
        slots: vec![
            Column::Int {
                values: vec![1, 2, 3, i64::MAX, 77, -4],
                valid: valid([true, true, true, true, false, true]),
            },
            Column::Real {
                values: vec![0.5, 2.0, -1.5, 1e300, 0.0, f64::NAN],
                valid: valid([true, true, true, true, true, false]),
            },
            Column::Text {
                ids: vec![0, 1, 2, 0, 9, 1],
                dictionary,
                valid: valid([true, true, true, true, false, true]),
            },
            Column::Any(vec![
                Value::Int(1),
                Value::Real(2.0),
                Value::text("ann"),
                Value::Null,
                Value::Bool(true),
                list(&[Value::Int(1), Value::Int(2)]),
            ]),
            Column::Any(vec![
                list(&[Value::Int(1), Value::Int(5)]),
                list(&[]),
                Value::Null,
                list(&[Value::text("a"), Value::Null]),
                list(&[Value::Int(5)]),
                list(&[Value::Int(-5), Value::Int(3)]),
            ]),
            Column::Truth([true, false, true, false, true, false].into_iter().collect()),
        ],
    }
}

struct Build {
    program: Program,
}

impl Build {
    fn new() -> Self {
        let mut program = Program::default();
        let each = Path { steps: vec![PathStep::Field("tags".into()), PathStep::Each] };
        for what in [
            What::Variable(Path::field("x"), Expect::Number),
            What::Variable(Path::field("y"), Expect::Number),
            What::Variable(Path::field("name"), Expect::Text),
            What::Variable(Path::field("any"), Expect::Any),
            What::Variable(each, Expect::Any),
            What::Proposition(Path::field("p")),
        ] {
            program.slots.push(Slot { what, declared: false, span: Default::default() });
        }
        Build { program }
    }

    fn slot(&mut self, name: &str) -> NodeId {
        let index = ["x", "y", "name", "any", "tags"].iter().position(|n| *n == name).unwrap();
        self.program.dag.add(Node::Slot(index as u32))
    }

    fn int(&mut self, value: i64) -> NodeId {
        self.program.dag.constant(Value::Int(value))
    }

    fn add(&mut self, node: Node) -> NodeId {
        self.program.dag.add(node)
    }

    fn root(&mut self, node: NodeId) {
        let root = Root::property("", node);
        self.program.roots = vec![root];
    }

    /// The bits of the predicate, or the position and message of its error.
    fn run(&mut self, node: NodeId) -> Result<String, (Position, String)> {
        self.root(node);
        let predicates = Predicates::new(&self.program);
        assert_eq!(predicates.atoms().collect::<Vec<_>>(), [node]);
        let result = predicates.evaluate(&batch());
        assert_eq!(result, predicates.evaluate_owned(batch()));
        result
            .map(|columns| (0..6).map(|i| if columns[0].get(i) { '1' } else { '.' }).collect())
            .map_err(|e| (e.position, e.message))
    }

    fn compare(&mut self, op: CompareOp, a: NodeId, b: NodeId) -> Result<String, (Position, String)> {
        let node = self.add(Node::Compare(op, a, b));
        self.run(node)
    }
}

fn check(build: impl Fn(&mut Build) -> Result<String, (Position, String)>, expected: &str) {
    match build(&mut Build::new()) {
        Ok(bits) => assert_eq!(bits, expected),
        Err((position, message)) => assert_eq!(format!("{position}: {message}"), expected),
    }
}

use ArithmeticOp::*;
use CompareOp::*;

#[test]
fn one_slot_and_a_constant() {
    for (op, expected) in
        [(Eq, ".1...."), (Ne, "1.11.1"), (Lt, "1....1"), (Le, "11...1"), (Gt, "..11.."), (Ge, ".111..")]
    {
        check(
            |b| {
                let (x, k) = (b.slot("x"), b.int(2));
                b.compare(op, x, k)
            },
            expected,
        );
        check(
            |b| {
                let (x, k) = (b.slot("x"), b.program.dag.constant(Value::Real(2.0)));
                b.compare(op, x, k)
            },
            expected,
        );
    }
    check(
        |b| {
            let (k, y) = (b.int(0), b.slot("y"));
            b.compare(Lt, k, y)
        },
        "11.1..",
    );
    check(
        |b| {
            let (x, k) = (b.slot("x"), b.program.dag.constant(Value::Null));
            b.compare(Ne, x, k)
        },
        "......",
    );
    for (op, expected) in [(Eq, "1..1.."), (Ne, ".11..1"), (Lt, "..1..."), (Ge, "11.1.1")] {
        check(
            |b| {
                let (n, k) = (b.slot("name"), b.program.dag.constant(Value::text("bob")));
                b.compare(op, n, k)
            },
            expected,
        );
    }
    check(
        |b| {
            let (n, k) = (b.slot("name"), b.program.dag.constant(Value::text("zoe")));
            b.compare(Ne, n, k)
        },
        "1111.1",
    );
    check(
        |b| {
            let (n, k) = (b.slot("name"), b.int(1));
            b.compare(Ne, n, k)
        },
        "1111.1",
    );
    check(
        |b| {
            let node = b.add(Node::Truth(5));
            b.run(node)
        },
        "1.1.1.",
    );
}

#[test]
fn sets_and_expressions() {
    let set =
        vec![SetItem::Range(2, 3), SetItem::Value(Value::text("eve")), SetItem::Value(Value::Real(1.0))];
    for (slot, expected) in
        [("x", "111..."), ("y", ".1...."), ("name", ".1...1"), ("any", "11...."), ("tags", "1....1")]
    {
        check(
            |b| {
                b.program.dag.sets.push(set.clone());
                let slot = b.slot(slot);
                let node = b.add(Node::In(slot, 0));
                b.run(node)
            },
            expected,
        );
    }
    for (slot, expected) in [("x", "......"), ("name", "1111.1"), ("any", "..1..."), ("tags", "...1..")] {
        check(
            |b| {
                b.program
                    .dag
                    .regexes
                    .push(regex::Regex::new(if slot == "name" { "^.*[env]$|^bo" } else { "^a" }).unwrap());
                let slot = b.slot(slot);
                let node = b.add(Node::Matches(slot, 0));
                b.run(node)
            },
            expected,
        );
    }
}

#[test]
fn values_of_any_kind() {
    for (op, expected) in [(Eq, "1....."), (Ne, ".11.11"), (Lt, "......"), (Ge, "11....")] {
        check(
            |b| {
                let (a, k) = (b.slot("any"), b.int(1));
                b.compare(op, a, k)
            },
            expected,
        );
    }
    check(
        |b| {
            let (a, x) = (b.slot("any"), b.slot("x"));
            b.compare(Eq, a, x)
        },
        "11....",
    );
    check(
        |b| {
            let (a, n) = (b.slot("any"), b.slot("name"));
            b.compare(Eq, a, n)
        },
        "..1...",
    );
    check(
        |b| {
            let (one, two, a) = (b.int(1), b.int(2), b.slot("any"));
            let pair = b.add(Node::Tuple(one, two));
            b.compare(Eq, a, pair)
        },
        ".....1",
    );
}

#[test]
fn lists_hold_when_some_element_does() {
    for (op, expected) in [(Eq, "1...1."), (Ne, "1..1.1"), (Lt, "1....1")] {
        check(
            |b| {
                let (t, k) = (b.slot("tags"), b.int(5));
                b.compare(op, t, k)
            },
            expected,
        );
    }
    check(
        |b| {
            let (t, x) = (b.slot("tags"), b.slot("x"));
            b.compare(Eq, t, x)
        },
        "1.....",
    );
    check(
        |b| {
            let t = b.slot("tags");
            b.compare(Ne, t, t)
        },
        "1....1",
    );
    check(
        |b| {
            let t = b.slot("tags");
            let n = b.add(Node::Negate(t));
            let k = b.int(5);
            b.compare(Eq, n, k)
        },
        "3: `-` needs a number, found text",
    );
}

#[test]
fn arithmetic_and_its_errors() {
    // x + 1: overflow at 3, unless the branch is not taken.
    check(
        |b| {
            let (x, one) = (b.slot("x"), b.int(1));
            let sum = b.add(Node::Arithmetic(Add, x, one));
            let k = b.int(3);
            b.compare(Ge, sum, k)
        },
        "3: 9223372036854775807 + 1 overflows a 64-bit integer",
    );
    let guarded = |b: &mut Build, limit: i64| {
        let (x, one, limit) = (b.slot("x"), b.int(1), b.int(limit));
        let small = b.add(Node::Compare(Lt, x, limit));
        let sum = b.add(Node::Arithmetic(Add, x, one));
        let term = b.add(Node::IfThenElse(small, sum, one));
        let k = b.int(3);
        b.compare(Ge, term, k)
    };
    check(|b| guarded(b, 100), ".11...");
    check(
        |b| {
            let (x, y, two) = (b.slot("x"), b.slot("y"), b.int(2));
            let product = b.add(Node::Arithmetic(Mul, two, y));
            let sum = b.add(Node::Arithmetic(Add, x, product));
            let k = b.int(3);
            b.compare(Le, sum, k)
        },
        "1.1...",
    );
    // Division by zero is null; 1e300 * 1e300 too.
    check(
        |b| {
            let (x, y) = (b.slot("x"), b.slot("y"));
            let q = b.add(Node::Arithmetic(Div, x, y));
            let k = b.int(-100);
            b.compare(Ge, q, k)
        },
        "1111..",
    );
    check(
        |b| {
            let y = b.slot("y");
            let q = b.add(Node::Arithmetic(Mul, y, y));
            let k = b.int(0);
            b.compare(Ge, q, k)
        },
        "111.1.",
    );
    check(
        |b| {
            let (x, k) = (b.slot("x"), b.int(3));
            let r = b.add(Node::Arithmetic(Rem, x, k));
            let one = b.int(-1);
            b.compare(Eq, r, one)
        },
        ".....1",
    );
    check(
        |b| {
            let (x, k) = (b.slot("x"), b.int(0));
            let r = b.add(Node::Arithmetic(Rem, x, k));
            b.compare(Eq, r, r)
        },
        "......",
    );
    // min keeps the kind of the side it takes: mixed goes one by one.
    check(
        |b| {
            let (x, y) = (b.slot("x"), b.slot("y"));
            let m = b.add(Node::Arithmetic(Min, x, y));
            b.compare(Eq, m, x)
        },
        ".1.1..",
    );
    check(
        |b| {
            let (x, y) = (b.slot("x"), b.slot("y"));
            b.compare(Gt, x, y)
        },
        "1.1...",
    );
    check(
        |b| {
            let x = b.slot("x");
            let a = b.add(Node::Abs(x));
            let k = b.int(4);
            b.compare(Eq, a, k)
        },
        ".....1",
    );
    check(
        |b| {
            let (x, k) = (b.slot("x"), b.program.dag.constant(Value::Real(0.5)));
            let p = b.add(Node::Truth(5));
            let q = b.add(Node::Not(p));
            let scaled = b.add(Node::Arithmetic(Mul, x, k));
            let y = b.slot("y");
            let term = b.add(Node::IfThenElse(q, scaled, y));
            let one = b.int(1);
            b.compare(Le, term, one)
        },
        "111.11",
    );
    check(
        |b| {
            let (n, one) = (b.slot("name"), b.int(1));
            let s = b.add(Node::Arithmetic(Add, n, one));
            b.compare(Eq, s, one)
        },
        "0: `+` needs numbers, found text",
    );
}

/// The three ways agree: every fast path against one position at a time.
#[test]
fn fast_paths_agree_with_the_slow_one() {
    let len = 200;
    let mix = |i: usize, salt: u64| ((i as u64 + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as i64;
    let valid: Bits = (0..len).map(|i| mix(i, 9) % 5 != 0).collect();
    let column =
        |salt| Column::Int { values: (0..len).map(|i| mix(i, salt) % 7 - 3).collect(), valid: valid.clone() };
    let reals = Column::Real {
        values: (0..len).map(|i| (mix(i, 3) % 9 - 4) as f64 / 2.0).collect(),
        valid: valid.clone(),
    };
    let batch = Batch { len, times: None, slots: vec![column(1), reals, column(2)] };
    for op in [Add, Sub, Mul, Div, Rem, Min, Max] {
        for compare in [Eq, Ne, Lt, Le, Gt, Ge] {
            for (left, right, than) in [(0, 2, 1), (0, 1, 2), (1, 0, 0), (1, 1, 0), (2, 2, 2)] {
                let mut build = Build::new();
                build.program.slots[2].what = What::Variable(Path::field("z"), Expect::Number);
                let [a, b, c] = [left, right, than].map(|slot| build.add(Node::Slot(slot)));
                let term = build.add(Node::Arithmetic(op, a, b));
                let node = build.add(Node::Compare(compare, term, c));
                build.root(node);
                let atom = Atom { node, order: parts(&build.program, node) };
                let mut slow = scalar::Scalar::new(&build.program, &batch, &atom.order);
                let slow: Bits = (0..len).map(|i| slow.at(i).unwrap()).collect();
                let fast = Predicates::new(&build.program).evaluate(&batch).unwrap();
                assert_eq!(fast[0], slow, "{op:?} {compare:?} {left} {right} {than}");
            }
        }
    }
}

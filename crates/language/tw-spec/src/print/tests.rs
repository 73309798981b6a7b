use super::{print, print_expr};
use crate::ast::{
    Argument, Column, Declaration, DeclarationKind, Division, Expr, ExprId, ExprKind, Ident, Infix, Map, Tree,
};
use crate::parser::dump::{body, dump};
use crate::parser::tests::deep;
use crate::parser::{parse, parse_formula};
use tw_core::{TimeUnit, Value};
use tw_diag::Span;
use tw_ir::{
    Aggregate, ArithmeticOp, Bound, CompareOp, Function, Interval, Path, PathStep, SetItem, Tally, Temporal,
};
use tw_testkit::Rng;

/// Formulas and their canonical form.
#[test]
fn only_needed_parentheses_are_printed() {
    let cases = [
        ("((a) & ((b & c)))", "a & (b & c)"),
        ("(a & b) & c", "a & b & c"),
        ("a -> (b -> c)", "a -> b -> c"),
        ("(a -> b) -> c", "(a -> b) -> c"),
        ("(a U b) U c", "(a U b) U c"),
        ("(G a) U b", "G a U b"),
        ("G (a U b)", "G (a U b)"),
        ("not (x < 2)", "!(x < 2)"),
        ("! a == b", "!(a == b)"),
        ("(! a) == b", "(!a) == b"),
        ("always (x > 3)", "G (x > 3)"),
        ("(forall x. a) & b", "(forall x. a) & b"),
        ("a & (forall x. b & c)", "a & forall x. b & c"),
        ("(a & (forall x. b)) | c", "a & (forall x. b) | c"),
        ("G (forall x, y. p(x))", "G forall x, y. p(x)"),
        ("exists x in items[*].id.  p(x)", "exists x in items[*].id. p(x)"),
        ("(exists x in a . p(x)) & b", "(exists x in a. p(x)) & b"),
        ("count( x,y:p(x,y) )>=5", "count(x, y : p(x, y)) >= 5"),
        ("G (sum((x + y) for x, y : (p(x, y))) < 3)", "G (sum(x + y for x, y : p(x, y)) < 3)"),
        (
            "avg(if a then x else 1 for x : forall y. q(x, y)) > 1",
            "avg(if a then x else 1 for x : forall y. q(x, y)) > 1",
        ),
        ("`count`(user: 1) & event sum(a: 2)", "`count`(user: 1) & event sum(a: 2)"),
        ("forall x. (p : 1)", "forall x. (p : 1)"),
        ("(forall x. p) : 1", "forall x. p : 1"),
        ("(p : x) &{+} (q : y)", "(p : x) &{+} (q : y)"),
        ("(p : x) ?? (q : y)", "p : x ?? q : y"),
        ("f((p : x))", "f((p : x))"),
        ("(a + b) * c - (d - e) = 1", "(a + b) * c - (d - e) == 1"),
        ("(if a then b else c) + 1 > 2", "(if a then b else c) + 1 > 2"),
        ("1 + (if a then b else c) > 2", "1 + if a then b else c > 2"),
        ("-(3) - (-3) == -(x)", "-(3) - -3 == -x"),
        ("F ((2, 3)) == x", "F ((2, 3) == x)"),
        ("F[<=5s] ((2, 3)) == x", "F[0,5s] ((2, 3) == x)"),
        ("a U ((2, inf)) == x", "a U ((2, inf)) == x"),
        ("G[0,1.50h)<>p", "G[0,1.5h) F p"),
        ("`T`.`x y`.in > `abc`", "`T`.`x y`.in > `abc`"),
        ("`min`(1)", "`min`(1)"),
        ("a=\"\\u{7}\\\"\\\\\"", "a == \"\\u{7}\\\"\\\\\""),
        ("event login() & event `log in`(_)", "event login & event `log in`(_)"),
        ("min(a,b,c)>1e300", "min(min(a, b), c) > 1e300"),
        ("quantile(0.50)[x]", "quantile(0.5)[x]"),
        ("x in{1..2,\"a\"}", "x in {1..2, \"a\"}"),
        ("X[0,1]{v=>v}p&!{0}q", "X[0,1]{v => v} p & !{0} q"),
    ];
    for (text, expected) in cases {
        let checked = parse_formula(text, 0);
        assert!(checked.diagnostics.is_empty(), "{text}: {:?}", checked.diagnostics);
        assert_eq!(print_expr(&checked.value, body(&checked.value)), expected, "{text}");
    }
}

/// Builds random trees, bottom up.
struct Builder {
    random: Rng,
    tree: Tree,
}

const NAMES: &[&str] = &["by", "every", "a", "b", "x", "count", "min", "inf", "var", "s", "é", "_x"];
const ODD_NAMES: &[&str] = &["T", "a b", "first", "in", "min", "", "x`y", "1", "_"];

impl Builder {
    fn add(&mut self, kind: ExprKind) -> ExprId {
        self.tree.exprs.push(Expr { kind, span: Span::default() });
        ExprId((self.tree.exprs.len() - 1) as u32)
    }

    fn ident(&mut self) -> Ident {
        let odd = self.random.below(6) == 0;
        let name = if odd { "odd name" } else { self.random.pick(NAMES) };
        Ident { name: name.into(), span: Span::default() }
    }

    fn path(&mut self) -> ExprKind {
        let quoted = self.random.below(4) == 0;
        let first = if quoted { self.random.pick(ODD_NAMES) } else { self.random.pick(NAMES) };
        let first = if first.is_empty() { "q" } else { first };
        let mut steps = vec![PathStep::Field(first.into())];
        while self.random.below(4) == 0 {
            let name = self.random.pick(&["b", "first", "G", "x y", "0"]);
            steps.push(if self.random.below(3) == 0 { PathStep::Each } else { PathStep::Field(name.into()) });
        }
        ExprKind::Path { path: Path { steps }, quoted }
    }

    fn interval(&mut self) -> Option<Interval> {
        if self.random.below(3) > 0 {
            return None;
        }
        let units = [None, Some(TimeUnit::Seconds), Some(TimeUnit::Milliseconds), Some(TimeUnit::Days)];
        let unit = units[self.random.below(4)];
        let low = Bound {
            billionths: self.random.below(5) as i128 * 500_000_000,
            unit,
            open: self.random.below(3) == 0,
        };
        let high = Bound {
            billionths: 3_000_000_000 + self.random.below(9) as i128,
            open: self.random.below(2) == 0,
            unit,
        };
        Some(Interval { low, high: (self.random.below(3) > 0).then_some(high) })
    }

    fn map(&mut self, depth: usize, function: bool) -> Option<Map> {
        if self.random.below(4) > 0 {
            return None;
        }
        let parameter = (function && self.random.below(2) == 0).then(|| self.ident());
        Some(Map { parameter, result: self.expr(depth) })
    }

    fn leaf(&mut self) -> ExprKind {
        match self.random.below(10) {
            0 => ExprKind::Bool(self.random.below(2) == 0),
            1 => ExprKind::First,
            2 => ExprKind::Null,
            3 => ExprKind::Int(self.random.below(7) as i64 - 3),
            4 => ExprKind::Real([0.5, -0.5, 1e300, -1e-9, 2.0, -0.0][self.random.below(6)]),
            5 => ExprKind::Text(self.random.pick(&["", "a\"b", "\\d\n\t", "é\u{1}"]).into()),
            6 => ExprKind::Int([i64::MIN, i64::MAX][self.random.below(2)]),
            _ => self.path(),
        }
    }

    fn expr(&mut self, depth: usize) -> ExprId {
        if depth == 0 || self.random.below(8) == 0 {
            let leaf = self.leaf();
            return self.add(leaf);
        }
        let depth = depth - 1;
        let kind = match self.random.below(25) {
            0 => ExprKind::Negate(self.expr(depth)),
            1 => ExprKind::Abs(self.expr(depth)),
            2..=4 => {
                use ArithmeticOp::*;
                let op = [Add, Sub, Mul, Div, Rem, Min, Max][self.random.below(7)];
                ExprKind::Arithmetic(op, self.expr(depth), self.expr(depth))
            }
            5 => ExprKind::If(self.expr(depth), self.expr(depth), self.expr(depth)),
            6 => {
                let count = 2 + self.random.below(2);
                ExprKind::Tuple((0..count).map(|_| self.expr(depth)).collect())
            }
            7 | 8 => {
                use CompareOp::*;
                let op = [Eq, Ne, Lt, Le, Gt, Ge][self.random.below(6)];
                ExprKind::Compare(op, self.expr(depth), self.expr(depth))
            }
            9 => {
                let items = vec![
                    SetItem::Value(Value::Int(-3)),
                    SetItem::Range(-2, 4),
                    SetItem::Value(Value::text("}")),
                ];
                ExprKind::In(self.expr(depth), items)
            }
            10 => ExprKind::Matches(self.expr(depth), "a\\.b".into(), Span::default()),
            11 => ExprKind::Not(self.map(depth, false), self.expr(depth)),
            12..=14 => {
                let operators: Vec<Temporal> = Temporal::all().filter(|op| op.row().prefix).collect();
                let operator = operators[self.random.below(operators.len())];
                let map = if operator == Temporal::Next { self.map(depth, true) } else { None };
                let op = operator.into();
                ExprKind::Prefix { op, interval: self.interval(), map, body: self.expr(depth) }
            }
            15..=18 => {
                use Infix::{And, Iff, Implies, Or, Xor};
                let operators = Temporal::all().filter(|op| !op.row().prefix).map(Infix::from);
                let all: Vec<Infix> = [Iff, Implies, Xor, Or, And].into_iter().chain(operators).collect();
                let op = all[self.random.below(all.len())];
                let interval = if matches!(op, Infix::Temporal(_)) { self.interval() } else { None };
                let functions = [Function::Pair, Function::Second, Function::Arithmetic(ArithmeticOp::Sub)];
                let decorated = matches!(op, And | Or) && self.random.below(3) == 0;
                let function = decorated.then(|| functions[self.random.below(3)]);
                let map = if op == Temporal::Until.into() { self.map(depth, true) } else { None };
                ExprKind::Infix {
                    op,
                    interval,
                    function,
                    map,
                    left: self.expr(depth),
                    right: self.expr(depth),
                }
            }
            19 => {
                let variables: Vec<Ident> = (0..1 + self.random.below(2)).map(|_| self.ident()).collect();
                let ranged = variables.len() == 1 && self.random.below(2) == 0;
                let range = ranged.then(|| {
                    let path = self.path();
                    self.add(path)
                });
                let forall = self.random.below(2) == 0;
                ExprKind::Quantifier { forall, variables, range, body: self.expr(depth) }
            }
            24 => {
                let (_, tally) = Tally::ALL[self.random.below(5)];
                let value = (tally != Tally::Count).then(|| self.expr(depth));
                let variables = (0..1 + self.random.below(2)).map(|_| self.ident()).collect();
                ExprKind::Tally { tally, value, variables, body: self.expr(depth) }
            }
            20 => ExprKind::Emit(self.expr(depth), self.expr(depth)),
            21 => ExprKind::Default(self.expr(depth), self.expr(depth)),
            22 => {
                let event = self.random.below(2) == 0;
                let arguments = (0..self.random.below(4))
                    .map(|_| Argument {
                        name: (self.random.below(3) == 0).then(|| self.ident()),
                        value: (self.random.below(4) > 0).then(|| self.expr(depth)),
                        span: Span::default(),
                    })
                    .collect();
                ExprKind::Call { name: self.ident(), arguments, event }
            }
            _ => {
                use Aggregate::*;
                let aggregate =
                    [Count, First, Var, Quantile(50_000_000), Quantile(1_000_000_000), Histogram(7), Corr]
                        [self.random.below(7)];
                let second = (aggregate == Corr).then(|| self.expr(depth));
                let during = (self.random.below(2) == 0).then(|| self.expr(depth));
                ExprKind::Aggregate { aggregate, body: self.expr(depth), second, during }
            }
        };
        self.add(kind)
    }
}

#[test]
fn reading_what_was_printed_gives_the_same_tree() {
    let mut parentheses = 0;
    for seed in 0..24_000 {
        let mut builder = Builder { random: Rng::new(seed), tree: Tree::default() };
        builder.random.below(2);
        let id = builder.expr(1 + seed as usize % 6);
        let text = print_expr(&builder.tree, id);
        parentheses += usize::from(text.contains('('));
        let checked = parse_formula(&text, 0);
        assert!(checked.diagnostics.is_empty(), "{seed}: {text}\n{:#?}", checked.diagnostics);
        let again = body(&checked.value);
        assert_eq!(dump(&checked.value, again), dump(&builder.tree, id), "{seed}: {text}");
        assert_eq!(print_expr(&checked.value, again), text);
    }
    assert!(parentheses > 8_000);
}

impl Builder {
    /// A query with any division.
    fn query(&mut self, depth: usize) -> Declaration {
        let body = self.expr(depth);
        let by = match self.path() {
            ExprKind::Path { mut path, quoted } if self.random.below(3) > 0 => {
                path.steps.retain(|step| *step != PathStep::Each);
                Some(Column { path, quoted, span: Span::default() })
            }
            _ => None,
        };
        let units = [None, Some(TimeUnit::Seconds), Some(TimeUnit::Minutes), Some(TimeUnit::Days)];
        let billionths = 500_000_000 * (1 + self.random.below(9) as i128);
        let length = Bound { billionths, unit: units[self.random.below(4)], open: false };
        let every = (self.random.below(3) > 0).then_some((length, Span::default()));
        let (name, division) = (self.ident(), Division { by, every });
        Declaration {
            kind: DeclarationKind::Query { name, title: None, body, division },
            span: Span::default(),
            comments: Vec::new(),
            trailing: None,
            blank_before: false,
        }
    }
}

/// Column, whether in backquotes, and length.
type Divided = (Option<(Path, bool)>, Option<Bound>);

fn divided(tree: &Tree) -> (ExprId, Divided) {
    match &tree.declarations[0].kind {
        DeclarationKind::Query { body, division, .. } => {
            let by = division.by.as_ref().map(|column| (column.path.clone(), column.quoted));
            (*body, (by, division.every.map(|(length, _)| length)))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn reading_printed_queries_gives_the_same_divisions() {
    let mut kinds = [0; 4];
    for seed in 0..8_000 {
        let mut builder = Builder { random: Rng::new(seed + 77), tree: Tree::default() };
        let query = builder.query(seed as usize % 5);
        builder.tree.declarations.push(query);
        let text = print(&builder.tree);
        let checked = parse(&text, 0);
        assert!(checked.diagnostics.is_empty(), "{seed}: {text}\n{:#?}", checked.diagnostics);
        let ((made, before), (read, after)) = (divided(&builder.tree), divided(&checked.value));
        assert_eq!(after, before, "{seed}: {text}");
        assert_eq!(dump(&checked.value, read), dump(&builder.tree, made), "{seed}: {text}");
        assert_eq!(print(&checked.value), text);
        kinds[usize::from(after.0.is_some()) + 2 * usize::from(after.1.is_some())] += 1;
    }
    assert!(kinds.iter().all(|seen| *seen > 500), "{kinds:?}");
}

#[test]
fn divisions_are_printed_in_one_order() {
    for (text, printed) in [
        ("query q : count[p] every 60s by user;", "query q : count[p] by user every 60s;\n"),
        ("query q:max[x]by `T`.first every 1.50 h;", "query q : max[x] by `T`.first every 1.5h;\n"),
        ("query q : count[p] by event every 5;", "query q : count[p] by `event` every 5;\n"),
        ("query by : by by by;", "query by : by by by;\n"),
        ("query every : every every 1 every /* e */;", ""),
        (
            "query let : let by let every 3s; query q : var by var;",
            "query let : let by let every 3s;\nquery q : var by var;\n",
        ),
        (
            "query q : count[p] // of all
                by user // each
                every 1m; // minute",
            "// of all\n// each\nquery q : count[p] by user every 1m; // minute\n",
        ),
        (
            "query long_one : max[count[request_received & queue_length > 10 while the_system_is_busy]] ?? 0 \
                by customer.identifier every 15m;",
            "query long_one :\n    max[count[request_received & queue_length > 10 while the_system_is_busy]] ?? 0\n    \
             by customer.identifier every 15m;\n",
        ),
    ] {
        let checked = parse(text, 0);
        assert_eq!(checked.diagnostics.is_empty(), !printed.is_empty(), "{text}: {:?}", checked.diagnostics);
        if !printed.is_empty() {
            assert_eq!(print(&checked.value), printed);
            assert_eq!(print(&parse(printed, 0).value), printed);
        }
    }
}

/// Every pair of parentheses that only groups is needed: without it the tree is another one, or none.
#[test]
fn no_parenthesis_can_be_left_out() {
    let mut tried = 0;
    for seed in 0..12_000 {
        let mut builder = Builder { random: Rng::new(seed + 1_000_000), tree: Tree::default() };
        let id = builder.expr(1 + seed as usize % 4);
        let text = print_expr(&builder.tree, id);
        let expected = dump(&builder.tree, id);
        // A bracket of an interval may close with one of another kind.
        let balanced = text.matches('(').count() == text.matches(')').count();
        if text.contains(['"', '`', '!']) || !balanced {
            continue;
        }
        let bytes = text.as_bytes();
        for open in 0..bytes.len() {
            if bytes[open] != b'(' || open > 0 && !b" (-[{".contains(&bytes[open - 1]) {
                continue;
            }
            let mut depth = 0;
            let close = (open..bytes.len()).find(|at| {
                depth += i32::from(bytes[*at] == b'(') - i32::from(bytes[*at] == b')');
                depth == 0
            });
            let Some(close) = close else { continue };
            // Values given by `:` or `??` always have parentheses as arguments, also where the first word is no name.
            if text[open..close].contains(" : ") || text[open..close].contains(" ?? ") {
                continue;
            }
            // The operand of a prefix operator has them, if it is a comparison or arithmetic, for the reader's sake.
            let before = text[..open].trim_end();
            let prefixed = before.ends_with(['X', 'N', 'F', 'G', 'Y', 'Z', 'O', 'H', ']', ')', '}']);
            let inner = parse_formula(&text[open + 1..close], 0).value;
            let comparison = inner.exprs.get(body(&inner).index()).is_some_and(|expr| {
                matches!(
                    expr.kind,
                    ExprKind::Compare(..)
                        | ExprKind::In(..)
                        | ExprKind::Matches(..)
                        | ExprKind::Arithmetic(..)
                )
            });
            if prefixed && comparison {
                continue;
            }
            let without = format!("{} {} {}", &text[..open], &text[open + 1..close], &text[close + 1..]);
            let checked = parse_formula(&without, 0);
            let same =
                checked.diagnostics.is_empty() && dump(&checked.value, body(&checked.value)) == expected;
            assert!(!same, "{seed}: {text} could be {without}");
            tried += 1;
        }
    }
    assert!(tried > 600, "{tried}");
}

#[test]
fn depth_costs_no_stack() {
    for (_, text) in deep(100_000) {
        let tree = parse_formula(&text, 0).value;
        assert!(print(&tree).len() >= text.len());
    }
    for (what, text) in deep(10_000) {
        let tree = parse_formula(&text, 0).value;
        let printed = print_expr(&tree, body(&tree));
        let again = parse_formula(&printed, 0);
        assert!(again.diagnostics.is_empty(), "{what}");
        assert_eq!(again.value.exprs.len(), tree.exprs.len(), "{what}");
    }
}

const FILE: &str = "\u{feff}

// Head of the file.

/* about
   queue   \r
*/
var   queue : int ;  // trailing


event login(user:string,ip) ;event tick();
let busy=queue>10; /* same line */ // another
property answered \"every \\\"request\\\"\" : // inside
   G (req
   -> F ack) // before the semicolon
;
let waiting(u) = (requested(u)) S !(served(u));
  // about the query
query `worst one` : max[ count[ retry while busy ] ] ;;
// last

// words
";

const PRINTED: &str = "\
// Head of the file.

/* about
   queue
*/
var queue: int; // trailing

event login(user: string, ip);
event tick;
let busy = queue > 10; /* same line */
// another
// inside
// before the semicolon
property answered \"every \\\"request\\\"\" : G (req -> F ack);
let waiting(u) = requested(u) S !served(u);
// about the query
query `worst one` : max[count[retry while busy]];
// last

// words
";

#[test]
fn files_keep_comments_and_blank_lines() {
    let checked = parse(FILE, 0);
    assert!(checked.diagnostics.is_empty(), "{:?}", checked.diagnostics);
    let printed = print(&checked.value);
    assert_eq!(printed, PRINTED);
    assert_eq!(print(&parse(&printed, 0).value), printed);
}

/// Comments and line breaks anywhere between tokens: none is lost, and printing twice changes nothing.
#[test]
fn comments_anywhere_survive() {
    let declarations = [
        "var a.b : int ;",
        "event login ( user : string , ip ) ;",
        "let f ( u ) = p ( u ) S ! q ;",
        "property p \"t\" : G ( a -> F[0,5s] b ) ;",
        "query q : count [ a while b ] ?? 0 ;",
        "query r : max [ x ] every 1 m by a . b ;",
    ];
    let between =
        [" ", " ", " ", "\n", "\n\n\n", " /* c */ ", " // c\n", "\n\n// c\n\n", "\r\n/* c\r\n d */\r\n"];
    let mut random = Rng::new(7);
    for _ in 0..4_000 {
        let mut text = String::new();
        for _ in 0..1 + random.below(4) {
            for token in random.pick(&declarations).split(' ') {
                text.push_str(if random.below(3) == 0 { random.pick(&between) } else { " " });
                text.push_str(token);
            }
        }
        text.push_str(random.pick(&between));
        let checked = parse(&text, 0);
        assert!(checked.diagnostics.is_empty(), "{text:?}: {:?}", checked.diagnostics);
        let printed = print(&checked.value);
        let count =
            |text: &str| (text.matches("//").count(), text.matches("/*").count(), text.matches(';').count());
        assert_eq!(count(&printed), count(&text), "{text:?}\n{printed}");
        let again = parse(&printed, 0);
        assert!(again.diagnostics.is_empty(), "{text:?}\n{printed}");
        assert_eq!(print(&again.value), printed, "{text:?}");
        assert!(
            !printed.contains("\n\n\n") && !printed.starts_with('\n') && !printed.contains('\r'),
            "{printed:?}"
        );
    }
}

#[test]
fn long_formulas_are_broken_before_their_loosest_operators() {
    let text = "property long_one : G (request_received & queue_length > 10 -> F[0,5s] (response_sent | request_cancelled)) \
        & G (login -> !logout U activity_seen) & first_condition_holds;";
    let expected = "\
property long_one :
    G (request_received & queue_length > 10 -> F[0,5s] (response_sent | request_cancelled))
    & G (login -> !logout U activity_seen)
    & first_condition_holds;
";
    let checked = parse(text, 0);
    assert!(checked.diagnostics.is_empty(), "{:?}", checked.diagnostics);
    let printed = print(&checked.value);
    assert_eq!(printed, expected);
    let again = parse(&printed, 0).value;
    assert_eq!(print(&again), printed);
    match (&again.declarations[0].kind, &checked.value.declarations[0].kind) {
        (DeclarationKind::Property { body: a, .. }, DeclarationKind::Property { body: b, .. }) => {
            assert_eq!(dump(&again, *a), dump(&checked.value, *b));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_trace_block_is_printed_line_by_line() {
    let text = "// how\ntrace{time:\"@timestamp\";// when\n\n// who\nby:http.`odd name`;format:csrv-csv\n// no more\n}property p:G a;";
    let printed = print(&parse(text, 0).value);
    let expected = "// how\ntrace {\n    time: \"@timestamp\"; // when\n\n    // who\n    by: http.`odd name`;\n    \
                    format: csrv-csv;\n    // no more\n}\nproperty p : G a;\n";
    assert_eq!(printed, expected);
    assert_eq!(print(&parse(&printed, 0).value), printed);
    assert_eq!(print(&parse("trace { } property p : a;", 0).value), "trace {}\nproperty p : a;\n");
}

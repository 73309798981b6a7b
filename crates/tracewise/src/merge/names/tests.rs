use super::*;

fn valuations(style: Style, rows: &[&[(&str, Value)]]) -> (Valuations, Vec<u32>) {
    let mut valuations = Valuations::new(style, &[]);
    let codes = rows
        .iter()
        .map(|row| {
            for (at, (name, value)) in row.iter().enumerate() {
                let column = valuations.column(name, at);
                valuations.set(column, value);
            }
            valuations.next()
        })
        .collect();
    (valuations, codes)
}

#[test]
fn equal_valuations_are_one_state_in_whatever_order_they_are_written() {
    let (x, y) = (("x", Value::Int(1)), ("y", Value::text("a")));
    let rows: [&[(&str, Value)]; 5] = [
        &[x.clone(), y.clone()],
        &[y.clone(), x.clone()],
        std::slice::from_ref(&x),
        &[("x", Value::Real(1.0)), ("y", Value::Null)],
        &[],
    ];
    let (valuations, codes) = valuations(Style::Valuation, &rows);
    assert_eq!(codes, [0, 0, 1, 1, 2]);
    let names = valuations.finish();
    let texts: Vec<String> = names.values.iter().map(Value::to_string).collect();
    assert_eq!(texts, ["x=1,y=a", "x=1,y=null", "x=null,y=null"]);
    assert_eq!(names.variables[0].1, Domain::Values(vec![Value::Null, Value::Int(1)]));
    assert_eq!(names.variables[1].2, vec![1, 0, 0].into());
}

#[test]
fn different_valuations_have_different_names() {
    let text = Value::text;
    let object = |value: Value| Value::Object(vec![("k".into(), value)]);
    let columns: [&[Value]; 2] = [
        &[
            Value::Null,
            text("null"),
            Value::Int(1),
            text("1"),
            text("1.5"),
            Value::Real(1.5),
            Value::Bool(true),
            text("true"),
            text(""),
            text("a"),
            text("\"a\""),
            text("\\\"a"),
            text("a,y=2"),
            text("a,y=null"),
            Value::List(vec![Value::Int(1)]),
            Value::List(vec![text("1")]),
            Value::List(vec![text("a"), text("b")]),
            Value::List(vec![text("a, b")]),
            text("[1]"),
            object(Value::Null),
            object(text("null")),
            text("{k: null}"),
        ],
        &[Value::Null, Value::Int(2), text("2"), text("b\"")],
    ];
    for style in [Style::Valuation, Style::Predicates] {
        let mut valuations = Valuations::new(style, &["x".into(), "y".into()]);
        for x in columns[0] {
            for y in columns[1] {
                valuations.set(0, x);
                valuations.set(1, y);
                valuations.next();
            }
        }
        assert_eq!(valuations.len(), columns[0].len() * columns[1].len());
        let names: Vec<Value> = valuations.names(0);
        let find = codes_by_name(&names);
        for (code, name) in names.iter().enumerate() {
            assert_eq!(find(name), Some(code as u32), "{name}");
        }
    }
    let (valuations, _) = valuations(
        Style::Valuation,
        &[&[("x", text("1"))], &[("x", text("plain text"))], &[("x", Value::Real(2.0))]],
    );
    let names: Vec<String> = valuations.finish().values.iter().map(Value::to_string).collect();
    assert_eq!(names, ["x=\"1\"", "x=plain text", "x=2"]);
}

#[test]
fn events_and_their_absence_are_told_apart() {
    let happens = |name: &'static str| (name, Value::Bool(true));
    let rows: [&[(&str, Value)]; 4] =
        [&[happens("a"), happens("b")], &[happens("a+b")], &[happens("none")], &[]];
    let (valuations, codes) = valuations(Style::Events, &rows);
    assert_eq!(codes, [0, 1, 2, 3]);
    let names: Vec<String> = valuations.finish().values.iter().map(Value::to_string).collect();
    assert_eq!(names, ["a+b", "\"a+b\"", "\"none\"", "none"]);
}

#[test]
fn names_do_not_depend_on_who_read_what() {
    let read = |traces: &[u32]| {
        let mut all = Valuations::new(Style::Valuation, &[]);
        for &trace in traces {
            all.begin(trace);
            let cells = [("x", Value::Int(1)), ("y", Value::Real(2.0)), ("y", Value::Int(2))];
            // The first trace has `x` and a real `y`, the second a whole `y` alone.
            let own = if trace == 0 { &cells[..2] } else { &cells[2..] };
            for (at, (name, value)) in own.iter().enumerate() {
                let column = all.column(name, at);
                all.set(column, value);
            }
            all.next();
        }
        all
    };
    let told = |valuations: Valuations| {
        let names = valuations.finish();
        let mut values: Vec<String> = names.values.iter().map(Value::to_string).collect();
        values.sort();
        (values, names.variables.iter().map(|(name, domain, _)| (name.clone(), domain.clone())).collect())
    };
    let alone: (Vec<String>, Vec<(String, Domain)>) = told(read(&[0, 1]));
    assert_eq!(alone.0, ["x=1,y=2", "x=null,y=2"]);
    let mut second = read(&[1]);
    second.absorb(&read(&[0]));
    assert_eq!(told(second), alone);
}

#[test]
fn predicates_name_what_holds() {
    let (t, f) = (Value::Bool(true), Value::Bool(false));
    let rows: [&[(&str, Value)]; 3] = [
        &[("busy", t.clone()), ("full", t.clone())],
        &[("busy", f.clone()), ("full", t)],
        &[("busy", f.clone()), ("full", f)],
    ];
    let (valuations, codes) = valuations(Style::Predicates, &rows);
    assert_eq!(codes, [0, 1, 2]);
    let names = valuations.finish();
    assert_eq!(names.values, ["busy+full", "full", "other"].map(Value::text));
    assert_eq!(names.variables[0], ("busy".into(), Domain::Boolean, vec![1, 0, 0].into()));
}

#[test]
fn codes_of_others_are_found_or_made() {
    let one = |name: &str, value: i64| vec![(name.to_string(), Value::Int(value))];
    let build = |rows: &[Vec<(String, Value)>]| {
        let rows: Vec<Vec<(&str, Value)>> =
            rows.iter().map(|row| row.iter().map(|(n, v)| (n.as_str(), v.clone())).collect()).collect();
        let rows: Vec<&[(&str, Value)]> = rows.iter().map(Vec::as_slice).collect();
        valuations(Style::Valuation, &rows).0
    };
    let mut a = build(&[one("x", 1), one("x", 2)]);
    let b = build(&[one("y", 9), one("x", 2), one("x", 3)]);
    assert_eq!(a.absorb(&b), [2, 1, 3]);
    assert_eq!(a.names(2)[0], Value::text("x=null,y=9"));
    assert_eq!(a.absorb(&a.clone()), [0, 1, 2, 3]);
    let values: Vec<Value> = a.names(0);
    let find = codes_by_name(&values);
    assert_eq!(find(&Value::text("x=3,y=null")), Some(3));
    assert_eq!(find(&Value::text("x=4")), None);
}

/// Of many events each position has few: what is kept of a position is what happened there.
#[test]
fn many_columns_take_no_room_where_they_are_null() {
    const EVENTS: usize = 20_000;
    let mut valuations = Valuations::new(Style::Events, &[]);
    for at in 0..EVENTS {
        let column = valuations.column(&format!("e{at}"), usize::MAX);
        valuations.set(column, &Value::Bool(true));
        valuations.next();
    }
    let kept: usize = valuations.valuations.iter().map(|valuation| valuation.len()).sum();
    assert_eq!((valuations.len(), kept), (EVENTS, EVENTS));
    assert_eq!(valuations.names(EVENTS as u32 - 1)[0], Value::text("e19999"));
    // So it is with the model, which says how much it takes before it is made.
    assert!(valuations.model_bytes() < EVENTS * 1_000, "{}", valuations.model_bytes());
    let mut session = crate::Session::new();
    session.evaluate.memory_budget = 1 << 20;
    let refused = crate::merge::refuse_large(&session, &valuations).unwrap_err();
    assert!(refused.to_string().contains("20000 variables"), "{refused}");
    let names = valuations.finish();
    assert!(names.variables.iter().zip(0..).all(|((name, domain, codes), at)| {
        let others = codes.others().map(|(common, others)| (common, others.to_vec()));
        *name == format!("e{at}") && *domain == Domain::Boolean && others == Some((0, vec![(at, 1)]))
    }));
    // Where half of the states have them, each has a number in each.
    let mut dense = Valuations::new(Style::Events, &[]);
    for at in 0..5_000u32 {
        for event in 0..8 {
            let column = dense.column(&format!("e{event}"), usize::MAX);
            dense.set(column, &Value::Int(i64::from(at >> event & 1)));
        }
        let column = dense.column("at", usize::MAX);
        dense.set(column, &Value::Int(i64::from(at)));
        dense.next();
    }
    assert!(dense.model_bytes() >= 9 * 5_000 * 8);
}

//! Random parametric monitors and logs: every formalism, shared events, conditions, constraints, ends, both readings.
//!
//! What a monitor reports is defined by `tw-slicing`; an engine is compared with that on the case of every seed.

use crate::first_order::Log;
use crate::{Rng, texts};
use std::fmt;
use tw_core::Value;
use tw_ir::Program;

/// A specification of a monitor or several, and what happened.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it was made from.
    pub seed: u64,
    /// The monitors as text.
    pub text: String,
    /// The program with these monitors alone.
    pub program: Program,
    /// What happened: few values, so that bindings meet.
    pub log: Log,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.text, self.log)
    }
}

const PARAMETERS: [&str; 3] = ["x", "y", "z"];

/// An event of a monitor: its parameters, and the event of the log that it is.
struct Event {
    parameters: Vec<usize>,
    source: usize,
}

/// The case of a seed.
pub fn case(seed: u64) -> Case {
    several(seed, 1)
}

/// A case of so many monitors over the same events, which differ in what those may do, and the last of them perhaps in more.
pub fn several(seed: u64, monitors: usize) -> Case {
    let mut rng = Rng::new(seed ^ 0x706172616d657472);
    let rng = &mut rng;
    let parameters = 1 + rng.below(3);
    let events = events(rng, parameters);
    let mut head = head(rng, parameters, &events);
    let mut text = String::new();
    for number in 0..monitors {
        if number > 0 && number + 1 == monitors && rng.one_in(3) {
            head = self::head(rng, parameters, &events);
        }
        let name = if number == 0 { "Random".to_owned() } else { format!("Random{number}") };
        text.push_str(&format!("monitor {name}({}) {head}", PARAMETERS[..parameters].join(", ")));
        formalism(rng, events.len(), &mut text);
        text.push_str("}\n");
    }
    let program = texts::specification(&text);
    Case { seed, program, log: log(rng, &events), text }
}

/// The words, events, constraint and ends of a monitor.
fn head(rng: &mut Rng, parameters: usize, events: &[Event]) -> String {
    let lines: Vec<String> =
        events.iter().enumerate().map(|(number, event)| line(rng, number, event)).collect();
    let words = [("strict", 3), ("equal", 3)];
    let words: Vec<&str> =
        words.iter().filter(|(_, times)| rng.one_in(*times)).map(|(word, _)| *word).collect();
    let mut text = format!("{} {{\n  {}\n", words.join(" "), lines.join("\n  "));
    if parameters > 1 && rng.one_in(4) {
        text.push_str(&format!(
            "  where {};\n",
            rng.pick(&["x != y", "x > y", "x <= y & x != 2", "x + y > 1 | x == 0"])
        ));
    }
    if rng.one_in(3) {
        let parameter = rng.below(parameters);
        match events.iter().position(|event| event.parameters.contains(&parameter)).filter(|_| rng.one_in(3))
        {
            // An event of the monitor itself.
            Some(own) => text.push_str(&format!("  end e{own}({});\n", PARAMETERS[parameter])),
            None => text.push_str(&format!("  end free({});\n", PARAMETERS[parameter])),
        }
    }
    text
}

/// Events that bind every parameter, some of them one event of the log.
fn events(rng: &mut Rng, parameters: usize) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    let mut sources = 0;
    for number in 0..2 + rng.below(3) {
        let mut bound: Vec<usize> = (0..parameters).filter(|_| rng.one_in(2)).collect();
        let same = events.iter().position(|event| event.parameters.len() == bound.len());
        let source = match same.filter(|_| number > 0 && rng.one_in(4)) {
            Some(same) => events[same].source,
            None => {
                sources += 1;
                sources - 1
            }
        };
        if bound.len() == 2 && rng.one_in(4) {
            bound.reverse();
        }
        events.push(Event { parameters: bound, source });
    }
    for parameter in 0..parameters {
        if !events.iter().any(|event| event.parameters.contains(&parameter)) {
            events.push(Event { parameters: vec![parameter], source: sources });
            sources += 1;
        }
    }
    events
}

fn line(rng: &mut Rng, number: usize, event: &Event) -> String {
    let names: Vec<&str> = event.parameters.iter().map(|&parameter| PARAMETERS[parameter]).collect();
    let list = if names.is_empty() { String::new() } else { format!("({})", names.join(", ")) };
    let creation = if rng.one_in(6) { "creation " } else { "" };
    let when = match names.first() {
        _ if !rng.one_in(6) => String::new(),
        Some(name) if rng.one_in(2) => format!(" when {name} != 1"),
        _ => " when c > 1".to_owned(),
    };
    format!("{creation}event e{number}{list} = s{}{list}{when};", event.source)
}

fn formalism(rng: &mut Rng, events: usize, text: &mut String) {
    let mut say = |line: String| text.push_str(&format!("  {line};\n"));
    match rng.below(8) {
        0..=3 => {
            say(format!("ere : {}", expression(rng, events, 3)));
            match rng.below(4) {
                0 => say("on fail".into()),
                1 => {
                    say("on match \"{x}\"".into());
                    say("on fail".into());
                }
                _ => {}
            }
        }
        4 | 5 => {
            let states = 1 + rng.below(3);
            let state = |rng: &mut Rng, own: usize| {
                let moves: Vec<String> = (0..events)
                    .filter_map(|event| {
                        let target = rng.below(states);
                        (!rng.one_in(3)).then(|| format!("e{event} -> q{target}"))
                    })
                    .collect();
                format!("q{own} [ {} ]", moves.join(", "))
            };
            let machine: Vec<String> = (0..states).map(|own| state(rng, own)).collect();
            say(format!("fsm : {}", machine.join(" ")));
            match rng.below(3) {
                0 => say(format!("on q{}", rng.below(states))),
                1 => {
                    say("on fail \"failed\"".into());
                    say(format!("on q{}", rng.below(states)));
                }
                _ => {}
            }
        }
        6 => {
            say(format!("ltl : {}", formula(rng, events, 3)));
            if rng.one_in(3) {
                say("on validation".into());
                say("on violation".into());
            }
        }
        _ => {}
    }
}

fn expression(rng: &mut Rng, events: usize, depth: usize) -> String {
    let below = |rng: &mut Rng| expression(rng, events, depth - 1);
    match if depth == 0 { 0 } else { rng.below(12) } {
        0 | 1 => format!("e{}", rng.below(events)),
        2..=5 => format!("({} {})", below(rng), below(rng)),
        6 | 7 => format!("({} | {})", below(rng), below(rng)),
        8 => format!("({} & {})", below(rng), below(rng)),
        9 => format!("(~{})", below(rng)),
        _ => format!("({}){}", below(rng), rng.pick(&["*", "+", "?"])),
    }
}

fn formula(rng: &mut Rng, events: usize, depth: usize) -> String {
    let below = |rng: &mut Rng| formula(rng, events, depth - 1);
    match if depth == 0 { 0 } else { rng.below(9) } {
        0 | 1 => format!("e{}", rng.below(events)),
        2 => format!("(!{})", below(rng)),
        3 => format!("({} & {})", below(rng), below(rng)),
        4 => format!("({} -> {})", below(rng), below(rng)),
        5 | 6 => format!("({} {})", rng.pick(&["X", "F", "G"]), below(rng)),
        7 => format!("({} {} {})", below(rng), rng.pick(&["U", "W", "R"]), below(rng)),
        _ => format!("({} e{})", rng.pick(&["Y", "O", "H"]), rng.below(events)),
    }
}

fn log(rng: &mut Rng, events: &[Event]) -> Log {
    let mut log = Log::default();
    let len = 1 + rng.below(12);
    let values = 1 + rng.below(3);
    for at in 0..len {
        let happened = (0..rng.pick(&[0, 1, 1, 1, 1, 2])).map(|_| {
            let value = |rng: &mut Rng| Value::Int(rng.below(values) as i64);
            if rng.one_in(8) {
                return ("free".to_owned(), vec![value(rng)]);
            }
            let event = &events[rng.below(events.len())];
            (format!("s{}", event.source), event.parameters.iter().map(|_| value(rng)).collect())
        });
        log.times.push(at as i64);
        log.events.push(happened.collect());
    }
    log.columns = vec![("c".to_owned(), (0..len).map(|_| Value::Int(rng.below(4) as i64)).collect())];
    log
}

//! Automata as JSON: `{"inputs": ["x"], "states": 2, "initial": [0], "accepting": [1],
//! "edges": [{"from": 0, "to": 1, "when": {"x": true}}]}`. An input that is not named in `when` may have either value.

use super::{Automaton, Cube, Edge, MOST_INPUTS, MOST_STATES, ReadError};
use serde_json::{Map, Value, json};

impl Automaton {
    /// As JSON.
    pub fn to_json(&self) -> Value {
        let accepting = (0..self.accepting.len()).filter(|&state| self.accepting[state]);
        let edges = self.edges.iter().map(|edge| {
            let named = (0..self.inputs.len()).filter(|input| edge.when.mask >> input & 1 == 1);
            let when: Map<String, Value> = named
                .map(|input| (self.inputs[input].clone(), (edge.when.value >> input & 1 == 1).into()))
                .collect();
            json!({"from": edge.from, "to": edge.to, "when": when})
        });
        json!({
            "inputs": self.inputs,
            "states": self.accepting.len(),
            "initial": self.initial,
            "accepting": accepting.collect::<Vec<_>>(),
            "edges": edges.collect::<Vec<_>>(),
        })
    }

    /// From JSON.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        let value: Value = serde_json::from_str(text).map_err(|error| ReadError {
            line: error.line(),
            column: error.column(),
            message: format!("no JSON: {error}"),
        })?;
        read(&value).map_err(|message| ReadError { line: 1, column: 1, message })
    }
}

fn read(value: &Value) -> Result<Automaton, String> {
    let fields =
        value.as_object().ok_or("expected an object with inputs, states, initial, accepting and edges")?;
    let field = |name: &str| fields.get(name).ok_or_else(|| format!("the field `{name}` is missing"));
    let list = |name: &str| field(name)?.as_array().ok_or_else(|| format!("`{name}` is no list"));
    let mut inputs: Vec<String> = Vec::new();
    for input in list("inputs")? {
        let name = input.as_str().ok_or("an input that is no text")?;
        if inputs.iter().any(|known| known == name) {
            return Err(format!("the input `{name}` comes twice"));
        }
        inputs.push(name.to_string());
    }
    if inputs.len() > MOST_INPUTS {
        return Err(format!("{} inputs, expected at most {MOST_INPUTS}", inputs.len()));
    }
    let states = field("states")?.as_u64().filter(|states| *states <= MOST_STATES as u64);
    let states = states.ok_or_else(|| format!("`states` is no number up to {MOST_STATES}"))?;
    let state = |value: &Value, place: &str| {
        let number = value.as_u64().filter(|number| *number < states);
        number.ok_or_else(|| format!("{place}: found {value}, expected a state below {states}"))
    };
    let mut automaton = Automaton { accepting: vec![false; states as usize], inputs, ..Default::default() };
    for value in list("initial")? {
        automaton.initial.push(state(value, "initial")? as u32);
    }
    for value in list("accepting")? {
        automaton.accepting[state(value, "accepting")? as usize] = true;
    }
    for (nth, edge) in list("edges")?.iter().enumerate() {
        let place = format!("edge {nth}");
        let part = |name: &str| edge.get(name).ok_or_else(|| format!("{place}: `{name}` is missing"));
        let (from, to) = (state(part("from")?, &place)? as u32, state(part("to")?, &place)? as u32);
        let mut when = Cube::ALL;
        let named = part("when")?.as_object().ok_or_else(|| format!("{place}: `when` is no object"))?;
        for (name, value) in named {
            let input = automaton.inputs.iter().position(|input| input == name);
            let input = input.ok_or_else(|| format!("{place}: `{name}` is no input"))?;
            let value =
                value.as_bool().ok_or_else(|| format!("{place}: `{name}` is neither true nor false"))?;
            when.mask |= 1 << input;
            when.value |= u64::from(value) << input;
        }
        automaton.edges.push(Edge { from, to, when });
    }
    Ok(automaton)
}

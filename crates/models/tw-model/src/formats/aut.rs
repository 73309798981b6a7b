//! Aldebaran's format of labelled transition systems, for tools that compare and minimise them.
//!
//! A transition is labelled with the state that it leads to. Where there are several initial states, a state 0 before
//! them leads to each, and the model's states are numbered from 1.

use super::Digits;
use crate::{Model, ModelError, State};
use std::io::Write;

/// Writes a model.
pub(super) fn write(model: &Model, to: &mut dyn Write) -> Result<(), ModelError> {
    let (first, start) = match model.initial.as_slice() {
        [] => return Err(ModelError::Unfit("a model without initial states has no `.aut` form".to_owned())),
        [only] => (0, *only),
        _ => (1, 0),
    };
    let added = if first > 0 { model.initial.len() } else { 0 };
    let (edges, states) = (model.graph.edges() + added, model.states() + first);
    let labels: Vec<String> = (0..model.states() as State).map(|state| quoted(&model.label(state))).collect();
    let mut out = Vec::with_capacity(1 << 17);
    out.extend_from_slice(format!("des ({start}, {edges}, {states})\n").as_bytes());
    let mut edge = |from: usize, into: State| {
        out.push(b'(');
        out.number(from as i64);
        out.push(b',');
        out.extend_from_slice(labels[into as usize].as_bytes());
        out.push(b',');
        out.number(i64::from(into) + first as i64);
        out.extend_from_slice(b")\n");
        if out.len() < 1 << 16 {
            return Ok(());
        }
        let written = to.write_all(&out);
        out.clear();
        written
    };
    for &state in model.initial.iter().take(added) {
        edge(0, state)?;
    }
    for (from, into) in model.graph.iter() {
        edge(from as usize + first, into)?;
    }
    to.write_all(&out)?;
    Ok(())
}

/// A label in double quotes. Within it there are none, and no line breaks, as readers look for them.
fn quoted(label: &str) -> String {
    let mut text = String::with_capacity(label.len() + 2);
    text.push('"');
    for c in label.chars() {
        match c {
            '"' => text.push('\''),
            '\\' => text.push_str("\\\\"),
            c if c.is_control() => text.extend(c.escape_default()),
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    fn written(model: &Model) -> String {
        let mut out = Vec::new();
        write(model, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_start_stands_before_several_initial_states() {
        let mut figure = testing::figure();
        let expected = "des (0, 8, 6)
(0,\"state = s1, time = 1\",1)
(0,\"state = s2, time = 1\",2)
(1,\"state = s1, time = 2\",3)
(1,\"state = s2, time = 2\",4)
(2,\"state = s2, time = 2\",4)
(3,\"state = s1, time = 3\",5)
(4,\"state = s1, time = 3\",5)
(5,\"state = s1, time = 3\",5)
";
        assert_eq!(written(&figure), expected);
        figure.initial = vec![1];
        assert!(written(&figure).starts_with("des (1, 6, 5)\n(0,"));
        figure.initial.clear();
        assert!(write(&figure, &mut Vec::new()).is_err());
    }

    #[test]
    fn labels_stay_on_their_line() {
        assert_eq!(quoted("a \"b\"\n\\ é"), "\"a 'b'\\n\\\\ é\"");
    }
}

//! PRISM's language: the Markov chain that the counts of a merged model say, with probabilities as exact fractions.
//!
//! A state's transitions have the shares in which they were seen; those that were never seen have none, unless nothing
//! else leaves the state, and where nothing was counted all are as likely. Where there are several initial states, a
//! state 0 before them leads to each as often as traces began there, and the model's states are numbered from 1.

use super::Digits;
use super::names::Names;
use crate::{Cells, Domain, Model, ModelError, State};
use std::io::Write;

/// Words that cannot be names.
#[rustfmt::skip]
const RESERVED: &[&str] = &[
    "A", "bool", "clock", "const", "ctmc", "C", "double", "dtmc", "E", "endinit", "endinvariant",
    "endmodule", "endobservables", "endrewards", "endsystem", "false", "formula", "filter", "func", "F",
    "global", "G", "init", "invariant", "I", "int", "label", "max", "mdp", "min", "module", "X",
    "nondeterministic", "observable", "observables", "of", "Pmax", "Pmin", "P", "pomdp", "popta",
    "probabilistic", "prob", "pta", "rate", "rewards", "Rmax", "Rmin", "R", "S", "stochastic", "system",
    "true", "U", "W",
];

/// Numbers beyond this are written as real ones: whole ones have 32 bits.
const MOST: u64 = i32::MAX as u64;

/// Writes a model.
pub(super) fn write(model: &Model, to: &mut dyn Write) -> Result<(), ModelError> {
    if model.initial.is_empty() {
        return Err(ModelError::Unfit("a model without initial states has no PRISM form".to_owned()));
    }
    let several = model.initial.len() > 1;
    let first = i64::from(several);
    let most = model.states() as i64 - 1 + first;
    if most > i64::from(i32::MAX) {
        return Err(ModelError::Unfit(format!("PRISM numbers at most {} states", i32::MAX)));
    }
    let mut names = Names::new(|word| RESERVED.contains(&word));
    let state = names.fresh("s");
    let mut out = Vec::with_capacity(1 << 17);
    out.extend_from_slice(b"dtmc\n\nmodule traces\n");
    let begin = if several { 0 } else { i64::from(model.initial[0]) };
    writeln!(out, "  {state} : [0..{most}] init {begin};")?;
    // What is a number or a truth value is a variable; names are labels.
    let mut columns = Vec::new();
    for (at, variable) in model.variables.iter().enumerate() {
        if !matches!(variable.cells, Cells::Own(_)) {
            continue;
        }
        let name = names.fresh(&variable.name);
        match &variable.domain {
            Domain::Range(low, high) if i32::try_from(*low).is_ok() && i32::try_from(*high).is_ok() => {
                let begin =
                    if several { low.to_string() } else { model.value(at, model.initial[0]).to_string() };
                writeln!(out, "  {name} : [{low}..{}] init {begin};", low.max(high))?;
            }
            Domain::Boolean => {
                let begin = !several && model.code(at, model.initial[0]) != 0;
                writeln!(out, "  {name} : bool init {begin};")?;
            }
            _ => continue,
        }
        columns.push((name, at));
    }
    let moves = |from: i64, shares: &[(State, u64)], out: &mut Vec<u8>| {
        out.extend_from_slice(b"  [] ");
        out.extend_from_slice(state.as_bytes());
        out.push(b'=');
        out.number(from);
        out.extend_from_slice(b" -> ");
        let total: u128 = shares.iter().map(|share| u128::from(share.1)).sum();
        for (at, &(into, share)) in shares.iter().enumerate() {
            out.extend_from_slice(if at > 0 { b" + " } else { b"" });
            fraction(share, total, out);
            out.extend_from_slice(b":(");
            out.extend_from_slice(state.as_bytes());
            out.extend_from_slice(b"'=");
            out.number(i64::from(into) + first);
            out.push(b')');
            for (name, variable) in &columns {
                out.extend_from_slice(format!("&({name}'={})", model.value(*variable, into)).as_bytes());
            }
        }
        out.extend_from_slice(b";\n");
    };
    if several {
        let starts = model.record.as_ref().map_or(&[][..], |record| &record.starts);
        moves(0, &shares(&model.initial, starts.iter().copied()), &mut out);
    }
    for from in 0..model.states() as State {
        let edges = model.graph.row(from);
        let counts = model
            .record
            .as_ref()
            .map_or(&[][..], |record| &record.edges[edges.start as usize..edges.end as usize]);
        let mut shares = shares(model.graph.successors(from), counts.iter().map(|seen| seen.count));
        if shares.is_empty() {
            shares.push((from, 1));
        }
        moves(i64::from(from) + first, &shares, &mut out);
        if out.len() >= 1 << 16 {
            to.write_all(&out)?;
            out.clear();
        }
    }
    out.extend_from_slice(b"endmodule\n");
    labels(model, &state, first, &mut names, &mut out)?;
    to.write_all(&out)?;
    Ok(())
}

/// Targets with the shares in which they were counted; equal ones where nothing was.
fn shares(targets: &[State], counts: impl Iterator<Item = u64> + Clone) -> Vec<(State, u64)> {
    if counts.clone().all(|count| count == 0) {
        return targets.iter().map(|&into| (into, 1)).collect();
    }
    targets.iter().copied().zip(counts).filter(|share| share.1 > 0).collect()
}

fn fraction(share: u64, total: u128, out: &mut Vec<u8>) {
    let (mut a, mut b) = (u128::from(share), total);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    let (share, total) = (u128::from(share) / a.max(1), total / a.max(1));
    if total == 1 {
        out.push(b'1');
    } else {
        let point = if total > u128::from(MOST) { ".0" } else { "" };
        out.extend_from_slice(format!("{share}{point}/{total}{point}").as_bytes());
    }
}

/// One label for each value of each variable with named values: where it has that value.
fn labels(
    model: &Model,
    state: &str,
    first: i64,
    names: &mut Names,
    out: &mut Vec<u8>,
) -> Result<(), ModelError> {
    for (at, variable) in model.variables.iter().enumerate() {
        let count = match &variable.domain {
            Domain::Values(values) => values.len(),
            _ if matches!(variable.cells, Cells::Of(..)) => variable.domain.size().min(1 << 16) as usize,
            _ => continue,
        };
        // Runs of states, by value.
        let mut runs: Vec<Vec<(i64, i64)>> = vec![Vec::new(); count];
        for (number, code) in model.codes(at).into_iter().enumerate() {
            let number = number as i64 + first;
            let Some(runs) = runs.get_mut(code as usize) else { continue };
            match runs.last_mut().filter(|run| run.1 + 1 == number) {
                Some(run) => run.1 = number,
                None => runs.push((number, number)),
            }
        }
        for (code, runs) in runs.into_iter().enumerate() {
            let value = variable.domain.value(code as u32);
            let wanted = format!("{}_{value}", variable.name);
            let name = names.fresh(&wanted);
            if name != wanted {
                writeln!(out, "// {name}: {} = {}", variable.name.escape_debug(), super::json::text(&value))?;
            }
            write!(out, "label \"{name}\" = ")?;
            for (at, (low, high)) in runs.iter().enumerate() {
                out.extend_from_slice(if at > 0 { b" | " } else { b"" });
                if low == high {
                    write!(out, "{state}={low}")?;
                } else {
                    write!(out, "({state}>={low}&{state}<={high})")?;
                }
            }
            out.extend_from_slice(if runs.is_empty() { b"false;\n" } else { b";\n" });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;
    use crate::{Record, Seen};

    fn written(model: &Model) -> String {
        let mut out = Vec::new();
        write(model, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn counted(counts: [u64; 6], starts: [u64; 2]) -> Model {
        let mut figure = testing::figure();
        figure.record = Some(Record {
            traces: vec!["t".to_owned()],
            states: vec![Seen::default(); 5],
            edges: counts.map(|count| Seen { count, ..Seen::default() }).to_vec(),
            starts: starts.to_vec(),
            ends: vec![0; 5],
        });
        figure
    }

    #[test]
    fn counts_are_probabilities() {
        let expected = "dtmc

module traces
  s : [0..5] init 0;
  time : [1..3] init 1;
  [] s=0 -> 2/3:(s'=1)&(time'=1) + 1/3:(s'=2)&(time'=1);
  [] s=1 -> 3/7:(s'=3)&(time'=2) + 4/7:(s'=4)&(time'=2);
  [] s=2 -> 1:(s'=4)&(time'=2);
  [] s=3 -> 1:(s'=5)&(time'=3);
  [] s=4 -> 1:(s'=5)&(time'=3);
  [] s=5 -> 1:(s'=5)&(time'=3);
endmodule
label \"state_s1\" = s=1 | s=3 | s=5;
label \"state_s2\" = s=2 | s=4;
";
        assert_eq!(written(&counted([6, 8, 2, 1, 1, 0], [4, 2])), expected);
    }

    #[test]
    fn what_was_never_seen_has_no_share_unless_it_is_all() {
        let text = written(&counted([0, 8, 2, 1, 1, 0], [0, 2]));
        assert!(text.contains("s=0 -> 1:(s'=2)") && text.contains("s=1 -> 1:(s'=4)"), "{text}");
        let text = written(&counted([0; 6], [0; 2]));
        assert!(text.contains("s=0 -> 1/2:(s'=1)&(time'=1) + 1/2:(s'=2)"), "{text}");
        let huge = written(&counted([u64::MAX, u64::MAX - 1, 2, 1, 1, 0], [0; 2]));
        assert!(huge.contains("18446744073709551615.0/36893488147419103229.0:(s'=3)"), "{huge}");
    }

    #[test]
    fn dead_ends_loop_and_names_are_legal() {
        let mut figure = testing::figure();
        figure.initial = vec![4];
        figure.graph = crate::Graph::from_edges(5, std::iter::empty());
        figure.variables[0].domain = Domain::Values(
            vec!["a b".into(), "a_b".into()].into_iter().map(|t: String| tw_core::Value::text(&t)).collect(),
        );
        let text = written(&figure);
        assert!(text.contains("s : [0..4] init 4;\n  time : [1..3] init 3;\n  [] s=0 -> 1:(s'=0)"), "{text}");
        assert!(
            text.contains(
                "// state_a_b: state = \"a b\"\nlabel \"state_a_b\" = s=0 | s=2 | s=4;\n// state_a_b_2: "
            ),
            "{text}"
        );
        assert!(text.contains("label \"state_a_b_2\" = s=1 | s=3;"), "{text}");
    }
}

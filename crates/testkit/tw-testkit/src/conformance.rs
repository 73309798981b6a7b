//! An engine against the reference.

use crate::{Case, Shape, shrink};
use std::fmt::Write;
use std::ops::Range;
use tw_core::Bits;
use tw_engine_reference::Reference;
use tw_ir::display;
use tw_monitor::{Answer, Engine, Unsupported, Wanted};

/// How many cases were run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Cases on which both engines answered, and alike.
    pub compared: u64,
    /// Cases that the engine refused.
    pub refused: u64,
}

/// The number of cases that the environment variable `TRACEWISE_CASES` asks for, else `default`.
pub fn cases(default: u64) -> u64 {
    std::env::var("TRACEWISE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Compares `engine` with the reference on the case of every seed: verdicts, violations and the truth of every
/// subformula at every position. Panics on the first difference, with the case made small.
pub fn compare(engine: &dyn Engine, shape: &Shape, seeds: Range<u64>) -> Summary {
    each(seeds, |seed| {
        let case = Case::new(seed, shape);
        let differs = |case: &Case| matches!(difference(engine, case), Ok(Some(_)));
        let told = |small: Case| (describe(&small), difference(engine, &small).ok().flatten());
        difference(engine, &case).map(|found| found.map(|_| (engine.name(), told(shrink(case, differs)))))
    })
}

/// A difference: the engine's name, the small case, and what is wrong.
pub(crate) type Difference = (&'static str, (String, Option<String>));

/// Counts the cases of all seeds; panics on the first that differs from the reference.
pub(crate) fn each(
    seeds: Range<u64>,
    mut difference: impl FnMut(u64) -> Result<Option<Difference>, Unsupported>,
) -> Summary {
    let mut summary = Summary::default();
    for seed in seeds {
        match difference(seed) {
            Ok(None) => summary.compared += 1,
            Ok(Some((engine, (case, what)))) => {
                panic!("{engine} differs from the reference, seed {seed}\n{case}{}", what.unwrap_or_default())
            }
            Err(_) => summary.refused += 1,
        }
    }
    summary
}

/// What the engine answers differently, or its refusal. A panic inside the engine is left to the caller.
pub fn difference(engine: &dyn Engine, case: &Case) -> Result<Option<String>, Unsupported> {
    let mut evaluator = engine.plan(&case.program, &case.options)?;
    let mut reference = Reference.plan(&case.program, &case.options)?;
    let refused = |what: String| Unsupported { node: None, what, help: None, exhausted: false };
    // The reference reads values where there are any to read, so that predicates are compared as well.
    let defined = case.trace(case.has_values()).map_err(|error| refused(error.to_string()))?;
    let mut trace = defined.clone();
    if evaluator.wanted() == Wanted::ATOMS {
        trace.slots = None;
    }

    let limit = case.seed as usize % 7;
    let (expected, answers) = (reference.evaluate(&defined, limit)?, evaluator.evaluate(&trace, limit)?);
    for (root, (expected, answer)) in case.program.roots.iter().zip(expected.iter().zip(&answers)) {
        if expected != answer {
            return Ok(Some(answer_difference(&display(&case.program, root.node), expected, answer)));
        }
    }
    let formulas = case.formulas();
    let (expected, columns) =
        (reference.columns(&defined, &formulas)?, evaluator.columns(&trace, &formulas)?);
    for (id, (expected, column)) in formulas.iter().zip(expected.iter().zip(&columns)) {
        if expected != column {
            return Ok(Some(format!(
                "column of {}\n  reference {}\n  engine    {}\n",
                display(&case.program, *id),
                bits(expected),
                bits(column)
            )));
        }
    }
    Ok(None)
}

fn answer_difference(formula: &str, expected: &Answer, answer: &Answer) -> String {
    format!("answer of {formula}\n  reference {expected:?}\n  engine    {answer:?}\n")
}

/// The case as text: formulas, what the trace says about each atom, options.
pub fn describe(case: &Case) -> String {
    let mut out = String::new();
    for root in &case.program.roots {
        let _ = writeln!(out, "  {}: {}", root.name, display(&case.program, root.node));
    }
    if let Ok(trace) = case.trace(false) {
        for (atom, column) in case.program.atoms().into_iter().zip(&trace.atoms) {
            let _ = writeln!(out, "  {} {}", bits(column), display(&case.program, atom));
        }
    }
    let o = &case.options;
    let _ = writeln!(
        out,
        "  {} positions, segments at {:?}, {:?}, clock {:?}, {} threads, block {:?}",
        case.len(),
        case.starts,
        o.semantics,
        o.clock,
        o.threads,
        o.block
    );
    out
}

fn bits(bits: &Bits) -> String {
    (0..bits.len()).map(|at| if bits.get(at) { '1' } else { '.' }).collect()
}

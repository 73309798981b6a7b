//! The rewriting system itself, for Maude: a second opinion on residuals and verdicts.
//!
//! The equations are those of "Monitoring Programs using Rewriting", with two repairs: an atom is looked for in all of
//! an event (as printed, only in its first atom), and satisfaction binds weaker than the connectives. `W`, `R`, `M` and
//! `last` are added by equations of the same kind where a formula uses them. `o` is the paper's next, so verdicts are
//! those of `--semantics repeat-last`.

mod names;

use crate::goal::untranslatable;
use names::Atoms;
use std::fmt::Write;
use tw_automata::past::Past;
use tw_automata::residual::{Limits, Syntax, Terms};
use tw_ir::{Node, NodeId, Program, Temporal, display};
use tw_monitor::{Trace, Unsupported};

/// Longest trace that is written out, in positions.
const SHORT: usize = 1_000;

const SYSTEM: &str = r"fmod ATOM is
  sort Atom .
endfm

fmod TRACE is protecting ATOM .
  sorts Event Event* Trace .
  subsorts Atom < Event < Event* Trace .
  op nil : -> Event .
  op __ : Atom Event -> Event [prec 23] .
  op _* : Event -> Event* .
  op _,_ : Event Trace -> Trace [prec 25] .
endfm

fmod LOGICS-BASIC is protecting TRACE .
  sort Formula .
  subsort Atom < Formula .
  ops true false : -> Formula .
  op [_] : Formula -> Bool [strat (1 0)] .
  eq [true] = true .
  eq [false] = false .
  vars A A' : Atom .
  var T : Trace .
  var E : Event .
  var E* : Event* .
  op _{_} : Formula Event* -> Formula [prec 10] .
  eq true{E*} = true .
  eq false{E*} = false .
  eq A{nil} = false .
  eq A{A'} = if A == A' then true else false fi .
  eq A{A' E} = if A == A' then true else A{E} fi .
  eq A{E *} = A{E} .
  op _|=_ : Trace Formula -> Bool [prec 30] .
  eq T |= true = true .
  eq T |= false = false .
  eq E |= A = [A{E}] .
  eq E,T |= A = E |= A .
endfm

fmod PROP-CALC is extending LOGICS-BASIC .
  op _/\_ : Formula Formula -> Formula [assoc comm prec 15] .
  op _++_ : Formula Formula -> Formula [assoc comm prec 17] .
  vars X Y Z : Formula .
  eq true /\ X = X .
  eq false /\ X = false .
  eq X /\ X = X .
  eq false ++ X = X .
  eq X ++ X = false .
  eq X /\ (Y ++ Z) = (X /\ Y) ++ (X /\ Z) .
  op _\/_ : Formula Formula -> Formula [assoc prec 19] .
  op !_ : Formula -> Formula [prec 13] .
  op _->_ : Formula Formula -> Formula [prec 21] .
  op _<->_ : Formula Formula -> Formula [prec 23] .
  eq X \/ Y = (X /\ Y) ++ X ++ Y .
  eq ! X = true ++ X .
  eq X -> Y = true ++ X ++ (X /\ Y) .
  eq X <-> Y = true ++ X ++ Y .
  var T : Trace .
  var E* : Event* .
  eq T |= X /\ Y = (T |= X) and (T |= Y) .
  eq T |= X ++ Y = (T |= X) xor (T |= Y) .
  eq (X /\ Y){E*} = X{E*} /\ Y{E*} .
  eq (X ++ Y){E*} = X{E*} ++ Y{E*} .
  eq [X /\ Y] = [X] and [Y] .
  eq [X ++ Y] = [X] xor [Y] .
endfm

fmod LTL is extending PROP-CALC .
  op []_ : Formula -> Formula [prec 11] .
  op <>_ : Formula -> Formula [prec 11] .
  op _U_ : Formula Formula -> Formula [prec 14] .
  op o_ : Formula -> Formula [prec 11] .
  vars X Y : Formula .
  var E : Event .
  var T : Trace .
  eq E |= [] X = E |= X .
  eq E,T |= [] X = (E,T |= X) and (T |= [] X) .
  eq E |= <> X = E |= X .
  eq E,T |= <> X = (E,T |= X) or (T |= <> X) .
  eq E |= X U Y = E |= Y .
  eq E,T |= X U Y = (E,T |= Y) or ((E,T |= X) and (T |= X U Y)) .
  eq E |= o X = E |= X .
  eq E,T |= o X = T |= X .
endfm

fmod LTL-REVISED is protecting LTL .
  vars X Y : Formula .
  var E : Event .
  var T : Trace .
  eq ([] X){E} = ([] X) /\ X{E} .
  eq ([] X){E *} = X{E *} .
  eq (<> X){E} = (<> X) \/ X{E} .
  eq (<> X){E *} = X{E *} .
  eq (o X){E} = X .
  eq (o X){E *} = X{E *} .
  eq (X U Y){E} = Y{E} \/ (X{E} /\ (X U Y)) .
  eq (X U Y){E *} = Y{E *} .
  op _|-_ : Trace Formula -> Bool [strat (2 0) prec 30] .
  eq E |- X = [X{E *}] .
  eq E,T |- X = T |- X{E} .
endfm
";

/// Operators that the paper does not have.
const WEAK_UNTIL: &str = r"  op _W_ : Formula Formula -> Formula [prec 14] .
  eq (X W Y){E} = Y{E} \/ (X{E} /\ (X W Y)) .
  eq (X W Y){E *} = Y{E *} \/ X{E *} .
  eq E |= X W Y = (E |= Y) or (E |= X) .
  eq E,T |= X W Y = (E,T |= Y) or ((E,T |= X) and (T |= X W Y)) .
";
const RELEASE: &str = r"  op _R_ : Formula Formula -> Formula [prec 14] .
  eq (X R Y){E} = Y{E} /\ (X{E} \/ (X R Y)) .
  eq (X R Y){E *} = Y{E *} .
  eq E |= X R Y = E |= Y .
  eq E,T |= X R Y = (E,T |= Y) and ((E,T |= X) or (T |= X R Y)) .
";
const STRONG_RELEASE: &str = r"  op _M_ : Formula Formula -> Formula [prec 14] .
  eq (X M Y){E} = Y{E} /\ (X{E} \/ (X M Y)) .
  eq (X M Y){E *} = Y{E *} /\ X{E *} .
  eq E |= X M Y = (E |= Y) and (E |= X) .
  eq E,T |= X M Y = (E,T |= Y) and ((E,T |= X) or (T |= X M Y)) .
";
const LAST: &str = r"  op last : -> Formula .
  eq last{E} = false .
  eq last{E *} = true .
  eq E |= last = true .
  eq E,T |= last = false .
";

/// A complete Maude file: the rewriting system, the atoms of the given formulas, and goals whose expected results
/// stand beside them: the normal form of each formula and, on a short trace, its verdict. Refuses past operators.
pub fn maude(program: &Program, formulas: &[NodeId], trace: Option<&Trace>) -> Result<String, Unsupported> {
    let reachable = program.reachable(formulas);
    let is_past = |id: &&NodeId| program.dag.node(**id).is_past() || program.dag.node(**id) == Node::First;
    if let Some(&past) = reachable.iter().find(is_past) {
        let what = format!(
            "past operators in the rewriting system, which is about the future: `{}`",
            display(program, past)
        );
        return Err(Unsupported::construct(past, what));
    }
    let atoms = Atoms::new(program, &reachable);
    let mut out = String::from(
        "*** \"Monitoring Programs using Rewriting\" for Maude. Next is the paper's `o`: at the last position it\n\
         *** refers to that position, so verdicts are those of `⟨semantics: repeat-last⟩`.\n\n",
    );
    out.push_str(SYSTEM);
    out.push_str("\nfmod PROPERTIES is extending LTL-REVISED .\n  vars X Y : Formula .\n  var E : Event .\n");
    out.push_str("  var T : Trace .\n");
    for (used, equations) in [
        (weak_until as fn(Node) -> bool, WEAK_UNTIL),
        (|node| matches!(node, Node::Binary(Temporal::Release, ..)), RELEASE),
        (|node| matches!(node, Node::Binary(Temporal::StrongRelease, ..)), STRONG_RELEASE),
        (|node| node == Node::Last, LAST),
    ] {
        if reachable.iter().any(|&id| used(program.dag.node(id))) {
            out.push_str(equations);
        }
    }
    atoms.declare(program, &mut out);
    out.push_str("endfm\n");
    let written = trace.filter(|trace| trace.segment_end(0) <= SHORT).map(|trace| atoms.trace(trace));
    for &formula in formulas {
        let past = Past::default();
        let mut terms = Terms::new(true, Limits::default());
        let normal = terms.translate(program, &past, formula).map_err(untranslatable)?;
        let text = atoms.formula(program, formula)?;
        let _ = writeln!(out, "\n*** {}", one_line(&display(program, formula)));
        let _ = writeln!(out, "red {text} .");
        let _ = writeln!(out, "*** expected: {}", terms.print(normal, &atoms.naming(program), Syntax::Maude));
        if let Some(events) = &written {
            let _ = writeln!(out, "red {events} |- {text} .");
        }
    }
    if let (None, Some(trace)) = (&written, trace) {
        let _ = writeln!(
            out,
            "\n*** The trace has {} positions and is not written out; up to {SHORT} are.",
            trace.segment_end(0)
        );
    }
    Ok(out)
}

fn weak_until(node: Node) -> bool {
    matches!(node, Node::Binary(Temporal::WeakUntil, ..))
}

/// Text that stays within a comment.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

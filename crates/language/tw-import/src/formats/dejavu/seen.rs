//! Which values a variable has had: `exists x . φ` is about those alone, and comparisons hold of no others.
//!
//! Of each formula is known which variables must have had their value where it is true, and where it is false. What
//! an event pattern matches has been seen from then on, so that the answer goes up through operators of the past. Where a
//! quantifier's formula settles that by itself (`exists m . @ [open(f,m),close(f))`), nothing has to be added.
//!
//! A comparison is false of values that were not seen yet. That is of no account where they decide nothing: in the formula of a
//! quantifier over seen values, and in a formula that is settled, at the time that it is about.

use super::DejaVu;
use crate::build::{Sort, Value};
use crate::cursor::refuse;
use std::rc::Rc;
use tw_diag::{Diagnostic, Span};
use tw_ir::Temporal;
use tw_spec::ast::{ExprKind, Infix, Prefix};

/// Variables by number, in order.
type Set = Rc<[u32]>;

/// Variables that have been seen where a formula is true, and where it is false.
#[derive(Clone)]
pub(super) struct Facts {
    pub holds: Set,
    pub fails: Set,
    /// Variables that are compared at the time that the formula is about.
    pub compared: Set,
}

/// An argument of a pattern.
#[derive(Clone)]
pub(super) enum Term {
    Variable(u32),
    Constant(ExprKind),
}

/// A pattern of an event.
#[derive(Clone)]
pub(super) struct Pattern {
    pub event: String,
    pub terms: Vec<Term>,
}

fn union(a: &Set, b: &Set) -> Set {
    if b.is_empty() || a == b {
        return a.clone();
    }
    if a.is_empty() {
        return b.clone();
    }
    let mut all: Vec<u32> = a.iter().chain(b.iter()).copied().collect();
    all.sort_unstable();
    all.dedup();
    all.into()
}

fn both(a: &Set, b: &Set) -> Set {
    if a == b { a.clone() } else { a.iter().copied().filter(|x| b.binary_search(x).is_ok()).collect() }
}

fn without(set: &Set, number: u32) -> Set {
    if set.binary_search(&number).is_err() {
        return set.clone();
    }
    set.iter().copied().filter(|other| *other != number).collect()
}

impl Facts {
    pub fn none() -> Facts {
        Facts { holds: Rc::from([]), fails: Rc::from([]), compared: Rc::from([]) }
    }

    /// Of a pattern: where it matches, its variables are seen.
    pub fn pattern(terms: &[Term]) -> Facts {
        let mut holds: Vec<u32> = terms
            .iter()
            .filter_map(|term| match term {
                Term::Variable(number) => Some(*number),
                Term::Constant(_) => None,
            })
            .collect();
        holds.sort_unstable();
        holds.dedup();
        Facts { holds: holds.into(), ..Facts::none() }
    }

    pub fn not(self) -> Facts {
        Facts { holds: self.fails, fails: self.holds, ..self }
    }

    /// Of `&`, `|`, `->`, `<->`.
    pub fn connective(op: Infix, a: &Facts, b: &Facts) -> Facts {
        let (holds, fails) = match op {
            Infix::And => (union(&a.holds, &b.holds), both(&a.fails, &b.fails)),
            Infix::Or => (both(&a.holds, &b.holds), union(&a.fails, &b.fails)),
            Infix::Implies => (both(&a.fails, &b.holds), union(&a.holds, &b.fails)),
            _ => (
                both(&union(&a.holds, &b.holds), &union(&a.fails, &b.fails)),
                both(&union(&a.holds, &b.fails), &union(&a.fails, &b.holds)),
            ),
        };
        Facts { holds, fails, compared: union(&a.compared, &b.compared) }
    }

    /// Of an operator of the past; `now` where its interval includes the present.
    pub fn past(op: Prefix, body: &Facts, now: bool) -> Facts {
        let at = |set: &Set, holds: bool| if holds { set.clone() } else { Rc::from([]) };
        let (holds, fails) = match op {
            Prefix::Temporal(Temporal::Once) => (body.holds.clone(), at(&body.fails, now)),
            Prefix::Temporal(Temporal::Historically) => (at(&body.holds, now), body.fails.clone()),
            // The step back: false at the first event, whatever its operand.
            _ => (body.holds.clone(), Rc::from([])),
        };
        Facts { holds, fails, ..Facts::none() }
    }
}

impl DejaVu<'_> {
    pub(super) fn know(&mut self, value: Value, facts: Facts) -> Value {
        self.facts.insert(value.id.0, facts);
        value
    }

    pub(super) fn known(&self, value: Value) -> Facts {
        self.facts.get(&value.id.0).cloned().unwrap_or_else(Facts::none)
    }

    /// An error if an operand, which is about another time, compares a value that need not have been seen then.
    pub(super) fn timely(&self, operand: Value) -> Result<(), Diagnostic> {
        let Facts { holds, fails, compared } = self.known(operand);
        let settled =
            |number: &u32| holds.binary_search(number).is_ok() || fails.binary_search(number).is_ok();
        let Some(number) = compared.iter().find(|number| !settled(number)) else { return Ok(()) };
        let variable = self.variables.iter().find(|variable| variable.number == *number);
        let name = variable.map_or("a value", |variable| variable.name.as_str());
        let message = format!("`{name}` is compared at a time when no event need have brought its value");
        let why = "DejaVu compares values that were seen alone: compare outside of `@`, `P`, `H` and `S`, or beside an event";
        Err(refuse(operand.span, message, why))
    }

    /// Ends the quantifier begun last.
    pub(super) fn quantified(
        &mut self,
        forall: bool,
        seen: bool,
        body: Value,
        span: Span,
    ) -> Result<Value, Diagnostic> {
        let Some(variable) = self.variables.pop() else { return Ok(body) };
        let (number, word) = (variable.number, variable.word);
        let facts = self.known(body);
        let deciding = if forall { &facts.fails } else { &facts.holds };
        let settled = deciding.binary_search(&number).is_ok();
        if !settled && !seen && facts.compared.binary_search(&number).is_ok() {
            let why = "DejaVu compares values that were seen alone: say first where the value comes from, or write \
                       `forall` or `exists`";
            let message = format!("`{}` is compared where no event brings its value", variable.name);
            return Err(refuse(span, message, why));
        }
        let mut inner = body;
        if !settled && seen {
            let guard = self.guard(number, &word, span)?;
            let op = if forall { Infix::Implies } else { Infix::And };
            inner = self.builder.infix(op, None, [guard, body], span);
        }
        let value = self.builder.quantify(forall, &[word], inner, span);
        // Of no values at all, `exists` is false and `forall` true.
        let mut facts = Facts {
            holds: without(&facts.holds, number),
            fails: without(&facts.fails, number),
            compared: without(&facts.compared, number),
        };
        if seen && forall {
            facts.holds = Rc::from([]);
        } else if seen {
            facts.fails = Rc::from([]);
        }
        Ok(self.know(value, facts))
    }

    /// The value of the variable was in an event that a pattern with it matches.
    fn guard(&mut self, number: u32, word: &str, span: Span) -> Result<Value, Diagnostic> {
        let is = |term: &Term| matches!(term, Term::Variable(other) if *other == number);
        let patterns: Vec<Pattern> =
            self.patterns.iter().filter(|pattern| pattern.terms.iter().any(is)).cloned().collect();
        let mut made: Vec<(String, Value)> = Vec::new();
        for pattern in patterns {
            let mut arguments = Vec::new();
            // Other variables stand for any value; one that stands twice, for any value that is twice there.
            let mut others: Vec<(u32, String)> = Vec::new();
            for term in &pattern.terms {
                arguments.push(match term {
                    Term::Constant(kind) => Some(self.builder.push(kind.clone(), Sort::Number, span, &[])),
                    term if is(term) => Some(self.builder.variable(word, span)),
                    Term::Variable(other) => {
                        let often = |term: &&Term| matches!(term, Term::Variable(number) if number == other);
                        if pattern.terms.iter().filter(often).count() == 1 {
                            None
                        } else {
                            let known = others.iter().find(|(number, _)| number == other).cloned();
                            let (_, word) = known.unwrap_or_else(|| {
                                others.push((*other, self.builder.fresh_word("any")));
                                others[others.len() - 1].clone()
                            });
                            Some(self.builder.variable(&word, span))
                        }
                    }
                });
            }
            let text = format!("{}{:?}", pattern.event, shape(&pattern, number));
            if made.iter().any(|(other, _)| *other == text) {
                continue;
            }
            let value = self.builder.pattern(&pattern.event, &arguments, span);
            let words: Vec<String> = others.into_iter().map(|(_, word)| word).collect();
            made.push((text, self.builder.quantify(false, &words, value, span)));
        }
        let mut made = made.into_iter().map(|(_, value)| value);
        let Some(first) = made.next() else {
            let message = format!("`{word}` occurs in no event, so that it has no value");
            return Err(refuse(span, message, "use the variable in an event, or leave the quantifier out"));
        };
        let any = made.fold(first, |all, next| self.builder.infix(Infix::Or, None, [all, next], span));
        Ok(self.builder.prefix(Prefix::Temporal(Temporal::Once), None, any, span))
    }
}

/// What tells guards of one variable apart: constants, and which places are equal.
fn shape(pattern: &Pattern, number: u32) -> Vec<String> {
    let place = |number: u32| {
        pattern.terms.iter().position(|term| matches!(term, Term::Variable(other) if *other == number))
    };
    let terms = pattern.terms.iter().map(|term| match term {
        Term::Constant(kind) => format!("{kind:?}"),
        Term::Variable(other) if *other == number => "x".to_owned(),
        Term::Variable(other) => format!("{:?}", place(*other)),
    });
    terms.collect()
}

//! The type rules of queries: which experiment an item is, where its parts are read as formulas and where as values.
//!
//! A formula is an experiment with the value `true`, and a bare name may be either a formula or a value. So each place
//! says what it is after: a condition, a value of any kind, or numbers; in the last two a term `e` stands for
//! `true : e`.

use super::expanded::{ItemId, Kind, NONE, Nature};
use super::types::{Make, Rule, Rules, Ruling, Sort, one, refuse, two};
use crate::ast::{Infix, Prefix};
use tw_diag::Diagnostic;
use tw_ir::{Aggregate, Function, Path, PathStep, Temporal};

impl Rules<'_> {
    /// What the item means where an experiment is expected.
    pub(super) fn experiment(&self) -> Ruling {
        let sort = self.sort;
        match self.expanded.nature(self.id) {
            Nature::Experiment => {}
            Nature::Name if matches!(sort, Sort::Values | Sort::Statistic) => return self.lifted(),
            Nature::Name if matches!(self.kind(), Kind::Window(..)) && sort != Sort::Condition => {
                return self.lifted();
            }
            Nature::Name if sort == Sort::Experiment && self.measures() => return self.lifted(),
            Nature::Formula | Nature::Literal | Nature::Flag | Nature::Name if sort != Sort::Statistic => {
                return self.formula();
            }
            Nature::Number | Nature::Text | Nature::Tuple | Nature::Variable if sort != Sort::Condition => {
                return self.lifted();
            }
            _ => return self.not_an_experiment(),
        }
        // A condition is only asked whether it has a value; its parts may have any.
        let pass = if sort == Sort::Condition { Sort::Experiment } else { sort };
        let value = if sort == Sort::Statistic { Sort::Number } else { Sort::Value };
        let (condition, any) = (Sort::Condition, Sort::Experiment);
        if let Kind::Emit(_, term) | Kind::Default(_, term) | Kind::Fails(term, _) = self.kind()
            && self.is_tally(term)
        {
            return self.tally_collected(term);
        }
        match self.kind() {
            Kind::Emit(a, b) => {
                if self.expanded.nature(b) == Nature::Experiment {
                    return self.experiment_emitted(b);
                }
                if sort == Sort::Statistic
                    && let Some(path) = self.list(b)
                {
                    return self.list_of_numbers(b, path);
                }
                two(Make::Plain, (a, Sort::Formula), (b, value))
            }
            Kind::Default(a, b) => {
                if self.expanded.nature(b) == Nature::Experiment {
                    return refuse(
                        Diagnostic::error("type-mismatch", "the right side of `??` is a constant or a term")
                            .at(self.expanded.span(b), "this is an experiment")
                            .help(
                                "write `ψ1 |{first} ψ2` for the value of ψ1, or that of ψ2 where it has none",
                            ),
                    );
                }
                two(Make::Plain, (a, pass), (b, value))
            }
            Kind::Collect(aggregate, a, during) => self.collection(aggregate, a, during),
            Kind::Combine { both, function, left, right } => {
                let (l, r) = match (function, both) {
                    (Function::Arithmetic(_), _) => (Sort::Statistic, Sort::Statistic),
                    (Function::First, true) => (pass, condition),
                    (Function::Second, true) => (condition, pass),
                    (Function::First | Function::Second, false) => (pass, pass),
                    (Function::Pair, _) if self.for_correlation() => (Sort::Statistic, Sort::Statistic),
                    (Function::Pair | Function::True, _) if sort != Sort::Statistic => (any, any),
                    (Function::Pair, _) => return self.no_number("a pair"),
                    (Function::True, _) => return self.no_number("`true`"),
                };
                two(Make::Experiment, (left, l), (right, r))
            }
            Kind::Infix(Infix::And | Infix::Or, NONE, ..) | Kind::Not(_) if sort == Sort::Statistic => {
                self.no_number("`true`")
            }
            Kind::Infix(Infix::And | Infix::Or, NONE, a, b) => {
                two(Make::Experiment, (a, condition), (b, condition))
            }
            Kind::Infix(Infix::Temporal(Temporal::Until), NONE, a, b) => {
                two(Make::Experiment, (a, condition), (b, pass))
            }
            Kind::Not(a) => one(Make::Experiment, a, condition),
            Kind::Fails(c, a) => two(Make::Experiment, (a, condition), (c, value)),
            Kind::Prefix(Prefix::Temporal(Temporal::Next) | Prefix::Temporal(Temporal::Finally), NONE, a) => {
                one(Make::Experiment, a, pass)
            }
            Kind::NextMap { result, body, .. } => two(Make::Experiment, (body, any), (result, value)),
            Kind::UntilMap { result, left, right, .. } => Ok(Rule {
                make: Make::Experiment,
                parts: [Some((left, condition)), Some((right, any)), Some((result, value))],
            }),
            Kind::Negate(a) | Kind::Abs(a) => one(Make::Experiment, a, Sort::Statistic),
            Kind::Arithmetic(_, a, b) => two(Make::Experiment, (a, Sort::Statistic), (b, Sort::Statistic)),
            Kind::Tuple(..) if sort == Sort::Statistic => self.no_number("a pair"),
            Kind::Tuple(a, b) => two(Make::Experiment, (a, Sort::Values), (b, Sort::Values)),
            Kind::If(..) => refuse(
                Diagnostic::error("value-in-formula", "`if` chooses between terms, not between experiments")
                    .at(self.expanded.span(self.id), "its parts have values")
                    .help("write `(φ &{second} ψ1) |{first} (!φ &{second} ψ2)`"),
            ),
            Kind::Prefix(_, interval, _) | Kind::Infix(_, interval, ..) if interval != NONE => refuse(
                Diagnostic::error("value-in-formula", "an operator with an interval takes formulas only")
                    .at(self.expanded.span(self.id), "its parts have values")
                    .help("leave the interval out, or put it into the formula: `F[0,5] p : x`"),
            ),
            _ => refuse(
                Diagnostic::error(
                    "value-in-formula",
                    "this operator is defined on formulas only, not on values",
                )
                .at(self.expanded.span(self.id), "its parts have values")
                .help("experiments are combined with `&{g}`, `|{g}`, `!{c}`, `X{f}`, `U{f}` and arithmetic"),
            ),
        }
    }

    /// Whether this is `time` or `elapsed`.
    fn measures(&self) -> bool {
        let path = |path: u32| self.expanded.paths[path as usize].measure();
        matches!(self.kind(), Kind::Path(index) if path(index).is_some())
    }

    fn collection(&self, aggregate: Aggregate, a: ItemId, during: ItemId) -> Ruling {
        use Aggregate::*;
        let number = self.sort == Sort::Statistic;
        let body = match aggregate {
            Sum | Min | Max | Avg | Var | Stddev | Median | Quantile(_) | Histogram(_) => Sort::Statistic,
            Count => Sort::Condition,
            // A formula has one value only: whoever asks for the most frequent one means the name's values.
            Distinct => Sort::Values,
            Mode | First | Last if number => Sort::Statistic,
            Mode => Sort::Values,
            First | Last | Corr => Sort::Experiment,
        };
        if number && matches!(aggregate, Histogram(_)) {
            return self.no_number("a list of bins");
        }
        let during = (during != NONE).then_some((during, Sort::Condition));
        Ok(Rule { make: Make::Experiment, parts: [Some((a, body)), during, None] })
    }

    /// Whether the next item is the `corr` made together with this pair.
    fn for_correlation(&self) -> bool {
        let next = self.expanded.items.get(self.id as usize + 1).map(|item| item.kind);
        matches!(next, Some(Kind::Collect(Aggregate::Corr, pair, _)) if pair == self.id)
    }

    /// A term at each position: `true : e`.
    fn lifted(&self) -> Ruling {
        if self.is_tally(self.id) {
            return self.tally_collected(self.id);
        }
        match self.list(self.id) {
            Some(path) if is_starred_aggregate(path) => self.starred_aggregate(path),
            Some(path) if self.sort == Sort::Statistic => self.list_of_numbers(self.id, path),
            _ => {
                let sort = if self.sort == Sort::Statistic { Sort::Number } else { Sort::Value };
                one(Make::Lifted, self.id, sort)
            }
        }
    }

    /// Whether a term counts valuations somewhere: nothing else in a term reads more than the current position.
    fn is_tally(&self, id: ItemId) -> bool {
        let item = self.expanded.item(id);
        !item.local && item.nature != Nature::Experiment
    }

    /// Queries read the values of their terms at each position, where no variables are bound.
    fn tally_collected(&self, id: ItemId) -> Ruling {
        refuse(
            Diagnostic::error(
                "value-in-formula",
                "an aggregate over valuations belongs into a formula, not into the value of a query",
            )
            .at(self.expanded.span(id), "this counts valuations")
            .help("compare it with a number: `count[count(x : φ) >= 5]`"),
        )
    }

    /// The path, if the item is one that reaches into a list.
    fn list(&self, id: ItemId) -> Option<&Path> {
        match self.expanded.item(id).kind {
            Kind::Path(path) => Some(&self.expanded.paths[path as usize].path).filter(|path| path.has_each()),
            _ => None,
        }
    }

    /// A list where a truth value is expected.
    pub(super) fn list_as_formula(&self, path: &Path, quoted: bool) -> Ruling {
        if self.query && !quoted && is_starred_aggregate(path) {
            return self.starred_aggregate(path);
        }
        refuse(
            Diagnostic::error("type-mismatch", format!("`{path}` is a list, not a truth value"))
                .at(self.expanded.span(self.id), "a truth value is expected here")
                .help(format!("compare its elements: `{path} == …`")),
        )
    }

    fn list_of_numbers(&self, id: ItemId, path: &Path) -> Ruling {
        refuse(
            Diagnostic::error("type-mismatch", format!("`{path}` is a list, where a number is expected"))
                .at(self.expanded.span(id), "this has several values at one position")
                .help("statistics collect one number from each position"),
        )
    }

    /// `count[*]`, which reads as a list called `count`.
    fn starred_aggregate(&self, path: &Path) -> Ruling {
        let name = match path.steps.first() {
            Some(PathStep::Field(name)) => name.as_str(),
            _ => "",
        };
        let meant = match name {
            "count" => "write `count[true]` to count positions".to_owned(),
            _ => format!("say of what: `{name}[x]`"),
        };
        refuse(
            Diagnostic::error("bad-aggregate", format!("`{path}` reads as the elements of a list `{name}`"))
                .at(self.expanded.span(self.id), "")
                .help(format!("{meant}; a list of that name is written `` `{name}`[*] ``")),
        )
    }

    /// `count(p)`, which reads as an event called `count`.
    pub(super) fn called_aggregate(&self, id: ItemId, name: &str) -> Ruling {
        let inside = if name == "count" { "true" } else { "x" };
        let form = match name {
            "quantile" => "quantile(0.95)[x]".to_owned(),
            "histogram" => "histogram(10)[x]".to_owned(),
            _ => format!("{name}[{inside}]"),
        };
        refuse(
            Diagnostic::error("bad-aggregate", format!("`{name}(…)` reads as an event called `{name}`"))
                .at(self.expanded.span(id), "aggregates have square brackets")
                .help(format!("did you mean `{form}`? The event is written `event {name}(…)`")),
        )
    }

    /// An experiment that has values, but not numbers.
    fn no_number(&self, has: &str) -> Ruling {
        refuse(
            Diagnostic::error("type-mismatch", format!("{has} where a number is expected"))
                .at(self.expanded.span(self.id), format!("the value of this is {has}"))
                .help("write `φ : e` for the number e where φ holds, or `count[…]` to count"),
        )
    }

    fn experiment_emitted(&self, id: ItemId) -> Ruling {
        refuse(
            Diagnostic::error("value-in-formula", "the value after `:` is a term, not an experiment")
                .at(self.expanded.span(id), "this collects or combines values")
                .help("write `φ &{second} ψ` for the value of ψ where φ holds"),
        )
    }

    /// An experiment where a formula is expected.
    pub(super) fn value_in_formula(&self, id: ItemId) -> Ruling {
        let span = self.expanded.span(id);
        let compared =
            matches!(self.kind(), Kind::Compare(..) | Kind::In(..) | Kind::Matches(..) | Kind::Has(_));
        refuse(if !self.query {
            Diagnostic::error("value-in-formula", "this returns a value, but a formula is true or false")
                .at(span, "this has a value")
                .help("use `query` to ask for values: `query name : count[…];`")
        } else if compared {
            Diagnostic::error("value-in-formula", "the value of an experiment is not compared with anything")
                .at(span, "this has a value")
                .help(
                    "ask for the value itself and compare what is printed; \
                     single values are compared inside, as in `count[x > 3]`",
                )
        } else {
            Diagnostic::error("value-in-formula", "this returns a value, where a formula is expected")
                .at(span, "this has a value")
                .help("write `ψ1 &{second} ψ2` for the value of ψ2 where ψ1 has one")
        })
    }

    fn not_an_experiment(&self) -> Ruling {
        let span = self.expanded.span(self.id);
        let is = self.is(self.id);
        match self.expanded.nature(self.id) {
            Nature::Flag => self.wrong_part(self.id, "a number"),
            Nature::Formula | Nature::Literal => {
                let finding = Diagnostic::error(
                    "type-mismatch",
                    "a formula has the value `true`, where a number is expected",
                );
                refuse(finding.at(span, "this is a formula").help(match self.kind() {
                    Kind::Prefix(Prefix::Temporal(Temporal::Next), ..) => NEXT_VALUE,
                    _ => "write `φ : e` for the number e where φ holds, or `count[…]` to count",
                }))
            }
            Nature::Null => refuse(
                Diagnostic::error("type-mismatch", "null where an experiment is expected")
                    .at(span, "this never has a value")
                    .help("write what to collect, for example `φ : e`"),
            ),
            _ if matches!(self.kind(), Kind::Path(_)) => self.wrong_part(self.id, "a condition"),
            _ => refuse(
                Diagnostic::error("type-mismatch", format!("{is} where a condition is expected"))
                    .at(span, format!("this is {is}"))
                    .help("write a comparison, such as `x > 0`; `x == x` asks whether x has a value"),
            ),
        }
    }
}

/// For whoever writes `X x` and means a number.
pub(super) const NEXT_VALUE: &str =
    "the value of x at the next position is `(X (true : x))`, with these parentheses";

/// Whether a path is written like an aggregate of everything.
fn is_starred_aggregate(path: &Path) -> bool {
    match path.steps.as_slice() {
        [PathStep::Field(name), PathStep::Each] => crate::parser::is_aggregate(name),
        _ => false,
    }
}

//! The type rules: what an item means where a certain sort is expected, and which sorts that asks of its parts.
//!
//! A bare name has no type of its own; the surroundings give it one. So sorts flow from parents to children (one
//! loop), and nodes are built from children to parents (another); both ask [`rule`], which is the whole type system;
//! its part about queries is in `experiments`.

use super::events::type_name;
use super::expanded::{Expanded, ItemId, Kind, NONE, Nature};
use super::experiments::NEXT_VALUE;
use crate::ast::{Prefix, Type};
use tw_core::Value;
use tw_diag::Diagnostic;
use tw_ir::{Aggregate, CompareOp, Expect, SetItem, Tally, Temporal};

/// What is expected of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// A truth value.
    Formula,
    Number,
    Text,
    /// A value of any type.
    Value,
    /// A value or none, where only that matters: names are formulas, terms are mistakes.
    Condition,
    /// A value or none: names are formulas, other terms are lifted.
    Experiment,
    /// A value or none, where the values matter: names and terms are lifted.
    Values,
    /// Numbers or none: names and terms are lifted.
    Statistic,
}

impl Sort {
    pub const COUNT: usize = 8;
    /// In the order in which nodes are made: a lifted term is made of the term.
    pub const ALL: [Sort; Sort::COUNT] = [
        Sort::Formula,
        Sort::Number,
        Sort::Text,
        Sort::Value,
        Sort::Condition,
        Sort::Experiment,
        Sort::Values,
        Sort::Statistic,
    ];
}

/// How to make the node from the nodes of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Make {
    /// The formula or term the item spells out.
    Plain,
    /// A name as a proposition.
    Proposition,
    /// A name as a variable.
    Variable(Expect),
    /// A name as what the timestamps say.
    Timing,
    /// A constant or a boolean as a value.
    Constant,
    /// A formula as a value: `true` or `false`.
    Indicator,
    /// `if` between formulas.
    Choice,
    /// The first part itself: `p == true`.
    Same,
    /// The first part is false and the second, a comparison with itself, is not null: `p == false`.
    FalseNotNull,
    /// The experiment the item spells out.
    Experiment,
    /// A term as an experiment: `true : 100`.
    Lifted,
    /// What the first part, a name, is at another position.
    Shift,
    /// A rolling window over the first part, where the second holds.
    Window,
    /// The first part, or the second where it has no value: `x ?? 0` as a term.
    Coalesce,
}

/// How to make a node, and of what.
pub(super) struct Rule {
    pub make: Make,
    pub parts: [Option<(ItemId, Sort)>; 3],
}

/// `Err(None)`: already reported.
pub(super) type Ruling = Result<Rule, Option<Box<Diagnostic>>>;

fn leaf(make: Make) -> Ruling {
    Ok(Rule { make, parts: [None; 3] })
}

pub(super) fn one(make: Make, a: ItemId, sort: Sort) -> Ruling {
    Ok(Rule { make, parts: [Some((a, sort)), None, None] })
}

pub(super) fn two(make: Make, a: (ItemId, Sort), b: (ItemId, Sort)) -> Ruling {
    Ok(Rule { make, parts: [Some(a), Some(b), None] })
}

pub(super) fn refuse(finding: Diagnostic) -> Ruling {
    Err(Some(Box::new(finding)))
}

/// What `id` means where `sort` is expected; `query` if only queries ask.
pub(super) fn rule(expanded: &Expanded, id: ItemId, sort: Sort, query: bool) -> Ruling {
    if expanded.nature(id) == Nature::Error {
        return Err(None);
    }
    let rules = Rules { expanded, id, sort, query };
    match sort {
        Sort::Formula => rules.formula(),
        Sort::Number | Sort::Text | Sort::Value => rules.term(),
        Sort::Condition | Sort::Experiment | Sort::Values | Sort::Statistic => rules.experiment(),
    }
}

/// An item and what is asked of it.
pub(super) struct Rules<'e> {
    pub(super) expanded: &'e Expanded,
    pub(super) id: ItemId,
    pub(super) sort: Sort,
    /// Messages speak of queries.
    pub(super) query: bool,
}

impl Rules<'_> {
    pub(super) fn kind(&self) -> Kind {
        self.expanded.item(self.id).kind
    }

    pub(super) fn formula(&self) -> Ruling {
        let f = Sort::Formula;
        match self.kind() {
            Kind::Event(event) => {
                let event = &self.expanded.events[event as usize];
                if event.suspect && self.query {
                    self.called_aggregate(self.id, &event.name)
                } else {
                    leaf(Make::Plain)
                }
            }
            Kind::Bool(_) | Kind::First | Kind::Last => leaf(Make::Plain),
            Kind::Shift(of, ..) => match self.expanded.nature(self.id) {
                Nature::Formula | Nature::Name => one(Make::Shift, of, f),
                _ => self.mismatch(),
            },
            Kind::Path(path) => {
                let path = &self.expanded.paths[path as usize];
                match path.declared {
                    _ if path.path.has_each() => self.list_as_formula(&path.path, path.quoted),
                    None if path.quoted => leaf(Make::Variable(Expect::Bool)),
                    None => leaf(Make::Proposition),
                    Some((Type::Bool, _)) => leaf(Make::Variable(Expect::Bool)),
                    Some(_) => self.mismatch(),
                }
            }
            Kind::If(c, a, b) => {
                Ok(Rule { make: Make::Choice, parts: [Some((c, f)), Some((a, f)), Some((b, f))] })
            }
            Kind::Compare(op, a, b) => self.comparison(op, a, b),
            Kind::In(a, set) => self.membership(a, &self.expanded.sets[set as usize]),
            Kind::Matches(a, _) => match self.expanded.item(a).in_term {
                Nature::Experiment => self.value_in_formula(a),
                Nature::Null | Nature::Tuple => self.wrong_part(a, "a text"),
                _ => one(Make::Plain, a, Sort::Text),
            },
            Kind::Has(a) => match self.expanded.item(a).in_term {
                Nature::Experiment => self.value_in_formula(a),
                Nature::Formula if !matches!(self.expanded.item(a).kind, Kind::Path(_)) => {
                    self.wrong_part(a, "a name or a term")
                }
                _ => one(Make::Plain, a, Sort::Value),
            },
            Kind::Not(a) | Kind::Prefix(_, _, a) | Kind::Quantifier { body: a, .. } => one(Make::Plain, a, f),
            Kind::Infix(_, _, a, b) => two(Make::Plain, (a, f), (b, f)),
            _ => self.mismatch(),
        }
    }

    fn term(&self) -> Ruling {
        let (sort, nature) = (self.sort, self.expanded.item(self.id).in_term);
        let allowed = match nature {
            Nature::Number => sort != Sort::Text,
            Nature::Text => sort != Sort::Number,
            Nature::Name | Nature::Variable | Nature::Null => true,
            Nature::Experiment => false,
            _ => sort == Sort::Value,
        };
        if !allowed {
            return self.mismatch();
        }
        match self.kind() {
            Kind::Constant(_) | Kind::Length(_) | Kind::Bool(_) | Kind::Null => leaf(Make::Constant),
            Kind::Variable(_) => leaf(Make::Plain),
            Kind::Shift(of, ..) if nature != Nature::Formula => {
                let own = match nature {
                    Nature::Number => Sort::Number,
                    Nature::Text => Sort::Text,
                    _ => sort,
                };
                one(Make::Shift, of, own)
            }
            Kind::Window(aggregate, a, guard, _) => {
                let body = match aggregate {
                    Aggregate::Count => Sort::Formula,
                    Aggregate::Distinct => Sort::Value,
                    Aggregate::First | Aggregate::Last | Aggregate::Mode => match nature {
                        Nature::Number => Sort::Number,
                        Nature::Text => Sort::Text,
                        _ => sort,
                    },
                    _ => Sort::Number,
                };
                let guard = (guard != NONE).then_some((guard, Sort::Formula));
                Ok(Rule { make: Make::Window, parts: [Some((a, body)), guard, None] })
            }
            Kind::Default(a, b) => two(Make::Coalesce, (a, sort), (b, sort)),
            Kind::Timing(_) => leaf(Make::Timing),
            Kind::Path(path) if self.expanded.paths[path as usize].measure().is_some() => match sort {
                Sort::Text => refuse(
                    Diagnostic::error("type-mismatch", "time is a number, not a text")
                        .at(self.expanded.span(self.id), "compared with a text")
                        .help("write a number or a length such as `200ms`; a column of that name is written in backquotes"),
                ),
                _ => leaf(Make::Timing),
            },
            Kind::Tally(Tally::Count, _, _, body) => {
                two(Make::Plain, (body, Sort::Formula), (body, Sort::Formula))
            }
            Kind::Tally(_, _, value, body) => two(Make::Plain, (value, Sort::Number), (body, Sort::Formula)),
            Kind::Path(path) => {
                leaf(Make::Variable(match (self.expanded.paths[path as usize].declared, sort) {
                    (Some((Type::Int, _)), _) => Expect::Int,
                    (Some((Type::Real, _)), _) => Expect::Real,
                    (None, Sort::Number) => Expect::Number,
                    (Some((Type::Text, _)), _) | (None, Sort::Text) => Expect::Text,
                    (Some((Type::Bool, _)), _) => Expect::Bool,
                    (None, _) => Expect::Any,
                }))
            }
            Kind::Negate(a) | Kind::Abs(a) => one(Make::Plain, a, Sort::Number),
            Kind::Arithmetic(_, a, b) => two(Make::Plain, (a, Sort::Number), (b, Sort::Number)),
            Kind::Tuple(a, b) => two(Make::Plain, (a, Sort::Value), (b, Sort::Value)),
            Kind::If(c, a, b) => {
                if !self.expanded.item(c).local {
                    return self.not_local(c);
                }
                Ok(Rule {
                    make: Make::Plain,
                    parts: [Some((c, Sort::Formula)), Some((a, sort)), Some((b, sort))],
                })
            }
            _ if !self.expanded.item(self.id).local => self.not_local(self.id),
            _ => one(Make::Indicator, self.id, Sort::Formula),
        }
    }

    fn comparison(&self, op: CompareOp, a: ItemId, b: ItemId) -> Ruling {
        use Nature::*;
        let (left, right) = (self.expanded.item(a).in_term, self.expanded.item(b).in_term);
        let both = |sort| two(Make::Plain, (a, sort), (b, sort));
        let equality = matches!(op, CompareOp::Eq | CompareOp::Ne);
        match (left, right) {
            (Error, _) | (_, Error) => Err(None),
            (Experiment, _) => self.value_in_formula(a),
            (_, Experiment) => self.value_in_formula(b),
            (Tuple, Tuple | Name | Variable) | (Name | Variable, Tuple) if equality => both(Sort::Value),
            (Tuple, Tuple | Name | Variable) | (Name | Variable, Tuple) => refuse(
                Diagnostic::error("type-mismatch", "tuples have no order")
                    .at(self.expanded.span(self.id), "compared here")
                    .help("compare the parts one by one: `a < c & b < d`"),
            ),
            (Formula, _) => self.formula_compared(a, b),
            (_, Formula) => self.formula_compared(b, a),
            (Null, _) | (_, Null) if equality => both(Sort::Value),
            (Null, _) | (_, Null) => refuse(
                Diagnostic::error("null-comparison", "`null` has no order")
                    .at(self.expanded.span(self.id), "compared here")
                    .help("a comparison with an absent value is false by itself; no test for null is needed"),
            ),
            (Literal, Name | Flag) if equality => self.boolean(op, b, a),
            (Name | Flag, Literal) if equality => self.boolean(op, a, b),
            (Literal, Variable) | (Variable, Literal) if equality => both(Sort::Value),
            (Literal, Name | Variable) | (Name | Variable, Literal) => refuse(
                Diagnostic::error("type-mismatch", "truth values have no order")
                    .at(self.expanded.span(self.id), "compared here")
                    .help("`p` alone asks whether it is true, `!p` whether it is false"),
            ),
            (Flag, Flag | Name | Variable | Literal) => self.formula_compared(a, b),
            (Name | Variable | Literal, Flag) => self.formula_compared(b, a),
            (Number, Number | Name | Variable) | (Name | Variable, Number) => both(Sort::Number),
            (Text, Text | Name | Variable) | (Name | Variable, Text) => both(Sort::Text),
            (Name | Variable, Name | Variable) => both(Sort::Value),
            _ => self.incomparable(a, b),
        }
    }

    /// `p == true` is p; `p == false` is "p is false", which an absent value is not.
    fn boolean(&self, op: CompareOp, name: ItemId, literal: ItemId) -> Ruling {
        let literal = self.expanded.item(literal).kind == Kind::Bool(true);
        if literal == (op == CompareOp::Eq) {
            one(Make::Same, name, Sort::Formula)
        } else {
            two(Make::FalseNotNull, (name, Sort::Formula), (name, Sort::Value))
        }
    }

    fn membership(&self, a: ItemId, set: &[SetItem]) -> Ruling {
        let span = self.expanded.span(self.id);
        let text = |item: &SetItem| matches!(item, SetItem::Value(Value::Str(_)));
        let number = |item: &SetItem| {
            matches!(item, SetItem::Range(..) | SetItem::Value(Value::Int(_) | Value::Real(_)))
        };
        for item in set {
            if let SetItem::Range(low, high) = item
                && low > high
            {
                return refuse(
                    Diagnostic::error("empty-range", format!("the range `{low}..{high}` is empty"))
                        .at(span, "in this set")
                        .help(format!("write `{high}..{low}`")),
                );
            }
        }
        let sort = if set.iter().all(number) {
            Sort::Number
        } else if set.iter().all(text) {
            Sort::Text
        } else if set.iter().all(|item| !number(item) && !text(item)) {
            return refuse(
                Diagnostic::error("mixed-set", "a set holds numbers or texts")
                    .at(span, "neither in this set")
                    .help("`p` alone asks whether p is true"),
            );
        } else {
            return refuse(
                Diagnostic::error("mixed-set", "a set holds either numbers or texts, not both")
                    .at(span, "mixed in this set")
                    .help("write two sets: `x in {1, 2} | x in {\"a\"}`"),
            );
        };
        match (self.expanded.item(a).in_term, sort) {
            (Nature::Experiment, _) => self.value_in_formula(a),
            (Nature::Text, Sort::Number) => self.wrong_part(a, "a number (as in the set)"),
            (Nature::Number, Sort::Text) => self.wrong_part(a, "a text (as in the set)"),
            (Nature::Null | Nature::Tuple, _) => self.wrong_part(a, "a number or a text"),
            _ => one(Make::Plain, a, sort),
        }
    }

    /// What the item is, in words.
    pub(super) fn is(&self, id: ItemId) -> &'static str {
        match self.expanded.nature(id) {
            Nature::Error => "an error",
            Nature::Number => "a number",
            Nature::Text => "a text",
            Nature::Null => "null",
            Nature::Literal | Nature::Flag | Nature::Formula => "a truth value",
            Nature::Name | Nature::Variable => "a value",
            Nature::Tuple => "a tuple",
            Nature::Experiment => "the value of an experiment",
        }
    }

    /// The general type error: what is here, what is expected.
    fn mismatch(&self) -> Ruling {
        let wanted = match self.sort {
            Sort::Formula => "a truth value",
            Sort::Number | Sort::Statistic => "a number",
            Sort::Text => "a text",
            _ => "a value",
        };
        self.wrong_part(self.id, wanted)
    }

    pub(super) fn wrong_part(&self, id: ItemId, wanted: &str) -> Ruling {
        let (item, nature) = (self.expanded.item(id), self.expanded.nature(id));
        if nature == Nature::Error {
            return Err(None);
        }
        if let Kind::Event(event) = item.kind
            && self.query
            && self.expanded.events[event as usize].suspect
        {
            return self.called_aggregate(id, &self.expanded.events[event as usize].name);
        }
        if let Kind::Path(path) = item.kind {
            let path = &self.expanded.paths[path as usize];
            if let Some((ty, declared)) = path.declared {
                let ty = type_name(ty);
                return refuse(
                    Diagnostic::error(
                        "type-mismatch",
                        format!("`{}` is declared `{ty}`, but {wanted} is expected", path.path),
                    )
                    .at(item.span, format!("{wanted} is expected here"))
                    .at(declared, format!("declared `{ty}` here"))
                    .help(match (self.sort, nature) {
                        (Sort::Formula, Nature::Number) => {
                            format!("did you mean a comparison, such as `{} > 0`?", path.path)
                        }
                        (Sort::Formula, Nature::Text) => {
                            format!("did you mean a comparison, such as `{} == \"…\"`?", path.path)
                        }
                        (Sort::Number, Nature::Flag) => format!("write `if {} then 1 else 0`", path.path),
                        (Sort::Statistic, Nature::Flag) => format!(
                            "`count[{0}]` counts where it holds; `if {0} then 1 else 0` is a number",
                            path.path
                        ),
                        (Sort::Condition, _) => format!(
                            "write a comparison, such as `{0} == …`; `has({0})` asks whether it has a value",
                            path.path
                        ),
                        (Sort::Number | Sort::Statistic, Nature::Text) if self.query => {
                            "texts have `count`, `distinct`, `mode`, `first` and `last`, but no arithmetic"
                                .to_owned()
                        }
                        _ => "change the declaration or the use".to_owned(),
                    }),
                );
            }
        }
        if nature == Nature::Experiment
            && matches!(self.sort, Sort::Formula | Sort::Number | Sort::Text | Sort::Value)
        {
            return self.value_in_formula(id);
        }
        if let Kind::Variable(number) = item.kind {
            let name = &self.expanded.variables[number as usize];
            return refuse(
                Diagnostic::error(
                    "type-mismatch",
                    format!("the variable `{name}` is a value, where {wanted} is expected"),
                )
                .at(item.span, format!("{wanted} is expected here"))
                .help(format!("compare it, as in `{name} == …`, or use it in an event pattern")),
            );
        }
        let is = self.is(id);
        let finding = Diagnostic::error("type-mismatch", format!("{is} where {wanted} is expected"))
            .at(item.span, format!("this is {is}"));
        refuse(match (nature, self.sort) {
            (Nature::Number, Sort::Formula) => finding.help("did you mean a comparison, such as `… > 0`?"),
            (Nature::Text, Sort::Formula) => {
                finding.help("did you mean a comparison, such as `name == \"…\"`?")
            }
            (Nature::Null, Sort::Formula) => finding.help("did you mean a comparison?"),
            (Nature::Formula, Sort::Number)
                if matches!(item.kind, Kind::Prefix(Prefix::Temporal(Temporal::Next), ..)) =>
            {
                finding.help(NEXT_VALUE)
            }
            (Nature::Formula | Nature::Literal, Sort::Number) => {
                finding.help("write `if … then 1 else 0` to count it")
            }
            (Nature::Text, Sort::Number) => {
                finding.help("there is no arithmetic on texts; write a number without quotes")
            }
            (Nature::Number, Sort::Text) => finding.help("put it in quotes if you mean the text"),
            (Nature::Tuple, Sort::Number) => finding.help("choose one of its parts"),
            _ => finding.help("change this part"),
        })
    }

    fn not_local(&self, id: ItemId) -> Ruling {
        refuse(
            Diagnostic::error(
                "temporal-in-term",
                "a formula inside a term may only read the current position",
            )
            .at(self.expanded.span(id), "this needs more than the current position")
            .help("take it out of the term: `(φ & x > 1) | (!φ & x > 2)`"),
        )
    }

    fn formula_compared(&self, formula: ItemId, other: ItemId) -> Ruling {
        let finding =
            Diagnostic::error("formula-compared", "truth values are not compared with `==`, `<`, …")
                .at(self.expanded.span(formula), "this is a truth value");
        let chained = matches!(self.expanded.item(formula).kind, Kind::Compare(..))
            && !matches!(self.expanded.nature(other), Nature::Formula | Nature::Literal | Nature::Flag);
        refuse(if chained {
            finding.help("comparisons do not chain; write `a < b & b < c`")
        } else {
            finding.help("write `<->` for \"both or neither\", `^` for \"one of the two\"")
        })
    }

    fn incomparable(&self, a: ItemId, b: ItemId) -> Ruling {
        let (left, right) = (self.is(a), self.is(b));
        let mut finding =
            Diagnostic::error("type-mismatch", format!("{left} cannot be compared with {right}"))
                .at(self.expanded.span(self.id), "compared here")
                .at(self.expanded.span(a), format!("this is {left}"))
                .at(self.expanded.span(b), format!("this is {right}"));
        for side in [a, b] {
            if let Kind::Path(path) = self.expanded.item(side).kind
                && let Some((ty, declared)) = self.expanded.paths[path as usize].declared
            {
                finding = finding.at(declared, format!("declared `{}` here", type_name(ty)));
            }
        }
        let text = |id: ItemId| self.expanded.nature(id) == Nature::Text;
        refuse(if text(a) || text(b) {
            finding
                .help("put the number in quotes to compare texts, or take the quotes away to compare numbers")
        } else {
            finding.help("compare values of the same type")
        })
    }
}

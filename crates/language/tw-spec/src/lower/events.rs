//! Event patterns and intervals: what an argument may be, which argument is meant, which intervals hold nothing.

use super::declarations::Declared;
use super::expand::Expander;
use super::expanded::{EventUse, ItemId, Kind, NONE};
use crate::ast::{Argument, Infix, Type};
use crate::parser::is_aggregate;
use crate::patterns;
use tw_core::{TimeUnit, Value, suggest};
use tw_diag::{Diagnostic, Span};
use tw_ir::{ArgumentKey, Bound, Clock, CompareOp, Interval, IntervalError, PathStep, PatternArgument};

impl<'f> Expander<'_, 'f> {
    /// A use of the event that declaration `index` declares.
    pub(super) fn declared_event(
        &mut self,
        index: usize,
        arguments: &[Argument],
        values: &[Option<ItemId>],
        span: Span,
    ) -> ItemId {
        let declared = &self.declarations.events[index];
        let (name, parameters) = (&declared.name.name, &*declared.parameters);
        let positional = arguments.iter().filter(|a| a.name.is_none()).count();
        let mut sound = true;
        if positional > 0 && positional == arguments.len() && positional != parameters.len() {
            let signature = signature(name, parameters.iter().map(|(p, _)| p.name.as_str()));
            let plural = if parameters.len() == 1 { "" } else { "s" };
            self.findings.add(
                Diagnostic::error(
                    "event-arity",
                    format!("the event `{name}` has {} argument{plural}, but {positional} {} given", parameters.len(), if positional == 1 { "is" } else { "are" }),
                )
                .at(span, "used here")
                .at(declared.name.span, "declared here")
                .help(format!("write `{signature}`, with `_` for an argument that may be anything, or name the ones you mean")),
            );
            return self.out.error(span);
        }
        let mut constraints: Vec<(ArgumentKey, PatternArgument)> = Vec::new();
        let mut columns: Vec<(u32, ItemId)> = Vec::new();
        let mut taken = vec![false; parameters.len()];
        for (position, (argument, value)) in arguments.iter().zip(values).enumerate() {
            let at = match &argument.name {
                None => position,
                Some(ident) => match parameters.iter().position(|(p, _)| p.name == ident.name) {
                    Some(at) => at,
                    None => {
                        let names = || parameters.iter().map(|(p, _)| p.name.as_str());
                        let help = match suggest(&ident.name, names()) {
                            Some(near) => format!("did you mean `{near}`?"),
                            None => format!("it is declared as `{}`", signature(name, names())),
                        };
                        self.findings.add(
                            Diagnostic::error(
                                "unknown-argument",
                                format!("the event `{name}` has no argument `{}`", ident.name),
                            )
                            .at(ident.span, "not one of its arguments")
                            .at(declared.name.span, "declared here")
                            .help(help),
                        );
                        sound = false;
                        continue;
                    }
                },
            };
            if at >= parameters.len() || std::mem::replace(&mut taken[at], true) {
                self.argument_twice(name, argument);
                sound = false;
                continue;
            }
            let Some(value) = value else { continue };
            let (parameter, ty) = &parameters[at];
            match self.argument(name, true, *value, &mut columns) {
                Some(PatternArgument::Constant(value)) if ty.is_some_and(|ty| !fits(&value, ty)) => {
                    let ty = ty.map_or("", type_name);
                    let finding = Diagnostic::error(
                        "type-mismatch",
                        format!(
                            "the argument `{}` of `{name}` is declared `{ty}`, not {}",
                            parameter.name,
                            value.kind()
                        ),
                    )
                    .at(argument.span, value.kind())
                    .at(parameter.span, format!("declared `{ty}` here"));
                    self.findings.add(match (&value, ty) {
                        (Value::Int(_) | Value::Real(_) | Value::Bool(_), "string") => {
                            finding.help(format!("if you mean the text, quote it: \"{value}\""))
                        }
                        _ => finding.help("change the value or the declaration"),
                    });
                    sound = false;
                }
                Some(value) => {
                    constraints.push((declared.key(at), value));
                }
                None => sound = false,
            }
        }
        if !sound {
            return self.out.error(span);
        }
        // One order for one meaning, however the arguments were written.
        constraints.sort_by_key(|(key, _)| match key {
            ArgumentKey::Declared { index, .. } => *index,
            _ => 0,
        });
        let event = EventUse {
            name: name.clone(),
            arguments: constraints,
            arity: None,
            declared: true,
            suspect: false,
        };
        self.event(event, values, &columns, span)
    }

    /// A use of an event that nothing declares; `prefixed` with the word `event`.
    pub(super) fn undeclared_event(
        &mut self,
        name: &str,
        prefixed: bool,
        arguments: &[Argument],
        values: &[Option<ItemId>],
        span: Span,
    ) -> ItemId {
        let positional = arguments.iter().filter(|a| a.name.is_none()).count();
        if positional > 0 && positional < arguments.len() {
            self.findings.add(
                Diagnostic::error(
                    "mixed-arguments",
                    format!("the arguments of `{name}` are given partly by name and partly by position"),
                )
                .at(span, "used here")
                .help(format!(
                    "give all by name or all by position, or declare the event: `event {name}(…);`"
                )),
            );
            return self.out.error(span);
        }
        let mut constraints: Vec<(ArgumentKey, PatternArgument)> = Vec::new();
        let mut columns: Vec<(u32, ItemId)> = Vec::new();
        let mut sound = true;
        for (position, (argument, value)) in arguments.iter().zip(values).enumerate() {
            let key = match &argument.name {
                None => ArgumentKey::Index(position),
                Some(ident) => ArgumentKey::Name(ident.name.clone()),
            };
            if constraints.iter().any(|(other, _)| *other == key) {
                self.argument_twice(name, argument);
                sound = false;
                continue;
            }
            let Some(value) = value else { continue };
            match self.argument(name, prefixed, *value, &mut columns) {
                Some(value) => constraints.push((key, value)),
                None => sound = false,
            }
        }
        if !sound {
            return self.out.error(span);
        }
        self.warn_similar(name, arguments.len(), !prefixed && !columns.is_empty(), span);
        if positional == 0 {
            constraints.sort_by(|(a, _), (b, _)| match (a, b) {
                (ArgumentKey::Name(a), ArgumentKey::Name(b)) => a.cmp(b),
                _ => std::cmp::Ordering::Equal,
            });
        }
        let arity = (positional > 0).then_some(positional);
        let event = EventUse {
            name: name.to_owned(),
            arguments: constraints,
            arity,
            declared: false,
            suspect: !prefixed && is_aggregate(name),
        };
        self.event(event, values, &columns, span)
    }

    /// The use of an event. Arguments that are columns, each with the variable that stands for it, are compared with what the
    /// event has there: `login(host)` is `exists v. login(v) & v == host`.
    fn event(
        &mut self,
        event: EventUse,
        values: &[Option<ItemId>],
        columns: &[(u32, ItemId)],
        span: Span,
    ) -> ItemId {
        let event = self.out.event(event);
        let inside = |item: &ItemId| {
            self.out.item(*item).said.is_some_and(|s| span.start <= s.start && s.end <= span.end)
        };
        let said = values.iter().flatten().all(inside).then_some(span);
        let outermost = if columns.is_empty() { said } else { None };
        let mut item = self.out.add(Kind::Event(event), span, outermost);
        for &(variable, column) in columns {
            let variable = self.out.add(Kind::Variable(variable), span, None);
            let equal = self.out.add(Kind::Compare(CompareOp::Eq, variable, column), span, None);
            item = self.out.add(Kind::Infix(Infix::And, NONE, item, equal), span, None);
        }
        for (place, &(variable, _)) in columns.iter().enumerate().rev() {
            let kind = Kind::Quantifier { forall: false, variable, body: item };
            item = self.out.add(kind, span, if place == 0 { said } else { None });
        }
        item
    }

    /// A name that nothing declares is an event of the trace; if a declared one is near, it may be a slip.
    /// One that is given columns may also be meant for a pattern of the library.
    fn warn_similar(&mut self, name: &str, arguments: usize, library: bool, span: Span) {
        if name.chars().count() <= 2 {
            return;
        }
        let key = (name.to_owned(), arguments, library);
        let near = match self.similar.get(&key) {
            Some(known) => *known,
            None => {
                let near = self.similar(name, arguments, library);
                self.similar.insert(key, near);
                near
            }
        };
        if let Some(near) = near {
            self.findings.add(
                Diagnostic::warning(
                    "similar-name",
                    format!("`{name}` is not declared and is read as an event of the trace"),
                )
                .at(span, "read as an event")
                .help(format!("did you mean `{near}`?")),
            );
        }
    }

    /// What is declared under a name like this one.
    fn similar(&self, name: &str, arguments: usize, library: bool) -> Option<&'f str> {
        let declarations = self.declarations;
        let candidates = declarations.names.iter().filter_map(|(other, (what, _))| match what {
            Declared::Macro(m) if declarations.macros[*m].parameters.len() == arguments && arguments > 0 => {
                Some(*other)
            }
            Declared::Event(_) => Some(*other),
            _ => None,
        });
        let fitting = |pattern: &&patterns::PatternDoc| library && pattern.parameters.len() == arguments;
        suggest(name, candidates.chain(patterns::PATTERNS.iter().filter(fitting).map(|pattern| pattern.name)))
    }

    fn argument_twice(&mut self, event: &str, argument: &Argument) {
        self.findings.add(
            Diagnostic::error("duplicate-argument", format!("an argument of `{event}` is given twice"))
                .at(argument.span, "given again here")
                .help("keep one of the two"),
        );
    }

    /// An argument of a pattern: a constant, a quantified variable, or a column, for which a variable is made. A call that looks
    /// like that of an aggregate is not taken for an event with columns unless it is `certain`.
    fn argument(
        &mut self,
        event: &str,
        certain: bool,
        value: ItemId,
        columns: &mut Vec<(u32, ItemId)>,
    ) -> Option<PatternArgument> {
        let span = self.out.span(value);
        let finding = match self.out.item(value).kind {
            Kind::Error => return None,
            Kind::Constant(constant) => {
                return Some(PatternArgument::Constant(self.out.constants[constant as usize].clone()));
            }
            Kind::Bool(b) => return Some(PatternArgument::Constant(Value::Bool(b))),
            Kind::Variable(number) => return Some(PatternArgument::Variable(number)),
            Kind::Path(path) if certain || !is_aggregate(event) => {
                let used = &self.out.paths[path as usize];
                if used.declared.is_none() && !used.quoted && used.path.as_name().is_some() {
                    self.out.arguments.insert(path);
                }
                let last = used.path.steps.iter().rev().find_map(|step| match step {
                    PathStep::Field(name) => Some(format!("{name}_value")),
                    PathStep::Each => None,
                });
                // No user's variable is nested so deeply.
                let depth = u32::MAX - 1 - columns.len() as u32;
                let variable = self.numbers.number(0, &last.unwrap_or_default(), depth, false);
                columns.push((variable, value));
                return Some(PatternArgument::Variable(variable));
            }
            Kind::Path(path) => {
                let path = &self.out.paths[path as usize].path;
                Diagnostic::error("unbound-variable", format!("`{path}` is not bound"))
                    .at(span, "not bound by a quantifier around it")
                    .help(aggregate_form(event, &path.to_string()))
            }
            Kind::Null => Diagnostic::error("bad-argument", "`null` cannot be an argument of a pattern")
                .at(span, "null equals nothing, not even null")
                .help("write `_` for an argument that may be anything"),
            _ if is_aggregate(event) => {
                Diagnostic::error("bad-argument", "an argument is a constant, a bound variable or `_`")
                    .at(span, "this is computed")
                    .help(aggregate_form(event, "…"))
            }
            _ => Diagnostic::error("bad-argument", "an argument is a constant, a bound variable or `_`")
                .at(span, "this is computed")
                .help(format!("bind a variable and compare it: `exists v. {event}(v) & v == …`")),
        };
        self.findings.add(finding);
        None
    }

    /// Reports an interval that is empty whatever the clock.
    pub(super) fn interval(&mut self, interval: Option<Interval>, span: Span) {
        let Some(interval) = interval else { return };
        let Some(error) = decidable(interval) else { return };
        let help = match (error, interval.high) {
            (IntervalError::Empty, Some(high)) if interval.low.billionths != high.billionths => {
                format!("write the lower bound first: `[{high},{}]`", interval.low)
            }
            (IntervalError::Empty, _) => "make both ends closed: `[` and `]`".to_owned(),
            (IntervalError::TooFine, _) => "time is exact to one nanosecond".to_owned(),
            _ => "time reaches about 292 years; write `inf` for no bound".to_owned(),
        };
        let code = if error == IntervalError::Empty { "empty-interval" } else { "bad-interval" };
        let message = match error {
            IntervalError::Empty => format!("the interval `{interval}` is empty"),
            other => format!("the interval `{interval}` cannot be used: {other}"),
        };
        self.findings.add(Diagnostic::error(code, message).at(span, "on this operator").help(help));
    }
}

/// What to write instead of `avg(x)`.
fn aggregate_form(name: &str, body: &str) -> String {
    let form = match name {
        "quantile" => format!("quantile(0.95)[{body}]"),
        "histogram" => format!("histogram(10)[{body}]"),
        _ => format!("{name}[{body}]"),
    };
    format!("`{name}(…)` reads as an event; did you mean `{form}`?")
}

/// What is wrong with an interval for every clock and unit a trace may have.
fn decidable(interval: Interval) -> Option<IntervalError> {
    let high = interval.high?;
    let low = interval.low;
    let known = |bound: Bound| bound.unit.is_some() || bound.billionths == 0;
    if known(low) && known(high) && (low.unit.is_some() || high.unit.is_some()) {
        // Zero is the same in every unit. `(0,1ns)` holds no whole nanosecond, but is not empty in continuous time: that
        // is for who knows the clock to judge.
        return closed(interval).ticks(Clock::Stamps, TimeUnit::Seconds).err();
    }
    let comparable = low.unit == high.unit || low.billionths == 0 || high.billionths == 0;
    let empty =
        low.billionths > high.billionths || low.billionths == high.billionths && (low.open || high.open);
    (comparable && empty).then_some(IntervalError::Empty)
}

/// With both ends inside.
fn closed(mut interval: Interval) -> Interval {
    interval.low.open = false;
    if let Some(high) = &mut interval.high {
        high.open = false;
    }
    interval
}

fn signature<'a>(name: &str, parameters: impl Iterator<Item = &'a str>) -> String {
    format!("{name}({})", parameters.collect::<Vec<_>>().join(", "))
}

/// The word for a type.
pub(super) fn type_name(ty: Type) -> &'static str {
    Type::ALL.iter().find(|(_, t)| *t == ty).map_or("", |(name, _)| name)
}

fn fits(value: &Value, ty: Type) -> bool {
    matches!(
        (value, ty),
        (Value::Bool(_), Type::Bool)
            | (Value::Int(_), Type::Int | Type::Real)
            | (Value::Real(_), Type::Real)
            | (Value::Str(_), Type::Text)
    )
}

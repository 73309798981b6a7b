//! Values of other positions: offsets, the latest value, windows.

use super::operators::Operator;
use super::{Lola, Made, Named, Output, What};
use crate::build::{Builder, Leaf, Value};
use crate::climb::Suffix;
use crate::cursor::{Cursor, Tok, refuse};
use crate::decimal::Decimal;
use tw_core::TimeUnit;
use tw_diag::{Diagnostic, Span};
use tw_ir::{Aggregate, Bound, CompareOp, Over, PathStep};
use tw_spec::ast::{ExprKind, Ident};

/// A lookup that waits for its default.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lookup {
    /// So many positions ahead.
    Offset(i32),
    /// The latest value.
    Hold,
    /// The value, if there is one.
    Get,
    /// What stands before it, or the default where that is nothing.
    Otherwise,
}

impl<'t> Lola<'_, 't> {
    /// `[-1, 0]`, `[-1|0]`, `[-1]`, `[-1] ? 0`, `[10s, avg]`.
    pub(super) fn older_offset(
        &mut self,
        cursor: &mut Cursor<'t>,
        of: Value,
    ) -> Result<Suffix<Operator>, Diagnostic> {
        let open = cursor.expect("[")?;
        if is_length(cursor) {
            let over = Over::Time(length(cursor)?);
            cursor.expect(",")?;
            let window = self.window(cursor, of, over, "]")?;
            return Ok(Suffix::Complete(match cursor.accept("?") {
                Some(mark) => {
                    let default = self.constant_here(cursor)?;
                    self.look(Lookup::Otherwise, window, default, window.span.to(mark))?
                }
                None => window,
            }));
        }
        let by = self.distance(cursor)?;
        if cursor.is("]") {
            let close = cursor.advance();
            if cursor.accept("?").is_some() {
                self.check(of, "an offset")?;
                let default = self.default_here(cursor)?;
                if by == 0 {
                    return Err(refuse(open, "an offset of 0", "write the name alone"));
                }
                let span = of.span.to(close);
                return Ok(Suffix::Complete(self.look(Lookup::Offset(by), of, default, span)?));
            }
            return self.defaults(cursor, Lookup::Offset(by), open.to(cursor.span()));
        }
        if cursor.accept(",").is_none() && cursor.accept("|").is_none() {
            return Err(cursor.found("`,` and a default"));
        }
        self.check(of, "an offset")?;
        match by {
            0 => Err(refuse(open, "an offset of 0", "write the name alone")),
            by => Ok(Suffix::Call(Operator::Lookup(Lookup::Offset(by)), "]")),
        }
    }

    /// `.offset(by: -1).defaults(to: 0)` and its like.
    pub(super) fn method(
        &mut self,
        cursor: &mut Cursor<'t>,
        of: Value,
    ) -> Result<Suffix<Operator>, Diagnostic> {
        let dot = cursor.expect(".")?;
        let (name, span) = cursor.word("the name of a lookup")?;
        cursor.expect("(")?;
        let span = dot.to(span);
        let lookup = match name {
            "abs" => {
                let close = cursor.expect(")")?;
                let kind = ExprKind::Abs(of.id);
                return Ok(Suffix::Complete(self.reading.builder.push(
                    kind,
                    of.sort,
                    of.span.to(close),
                    &[of],
                )));
            }
            "defaults" => {
                label(cursor, &["to"])?;
                return Ok(Suffix::Call(Operator::Lookup(Lookup::Otherwise), ")"));
            }
            "is_fresh" => {
                let close = cursor.expect(")")?;
                return Ok(Suffix::Complete(self.reading.builder.has(of, of.span.to(close))));
            }
            "aggregate" => return self.aggregate(cursor, of),
            "offset" => {
                label(cursor, &["by"])?;
                match self.distance(cursor)? {
                    0 => return Err(refuse(span, "an offset of 0", "write the name alone")),
                    by => Lookup::Offset(by),
                }
            }
            "last" | "prev" => {
                label(cursor, &["or"])?;
                self.check(of, "an offset")?;
                return Ok(Suffix::Call(Operator::Lookup(Lookup::Offset(-1)), ")"));
            }
            "hold" => Lookup::Hold,
            "get" => Lookup::Get,
            "sum" | "count" | "avg" | "integral" => {
                let why = "write `aggregate(over: 10s, using: …)`";
                return Err(refuse(span, format!("an aggregate over instances (`{name}`)"), why));
            }
            _ => return Err(refuse(span, format!("the function `{name}`"), "compute it into a column")),
        };
        self.check(of, if matches!(lookup, Lookup::Offset(_)) { "an offset" } else { "a lookup" })?;
        // The default may stand in the same parentheses.
        let comma = cursor.accept(",").is_some();
        if comma || cursor.is_word("or") {
            label(cursor, &["or"])?;
            return Ok(Suffix::Call(Operator::Lookup(lookup), ")"));
        }
        let close = cursor.expect(")")?;
        self.defaults(cursor, lookup, span.to(close))
    }

    /// `.defaults(to:`, which has to follow.
    fn defaults(
        &mut self,
        cursor: &mut Cursor<'t>,
        lookup: Lookup,
        span: Span,
    ) -> Result<Suffix<Operator>, Diagnostic> {
        let place = cursor.place();
        if cursor.accept(".").is_some() && cursor.is_word("defaults") {
            cursor.advance();
            cursor.expect("(")?;
            label(cursor, &["to"])?;
            return Ok(Suffix::Call(Operator::Lookup(lookup), ")"));
        }
        cursor.go(place);
        let why = "append `.defaults(to: …)`: what it is where there is no such value";
        Err(refuse(span, "a lookup without a default", why))
    }

    /// `-1`: a number of positions.
    fn distance(&mut self, cursor: &mut Cursor<'t>) -> Result<i32, Diagnostic> {
        let span = cursor.span();
        let back = cursor.accept("-").is_some();
        if !back {
            cursor.accept("+");
        }
        if cursor.kind() != Tok::Number {
            return Err(cursor.found("a number of positions"));
        }
        let number = cursor.advance();
        if cursor.kind() == Tok::Word && cursor.span().start == number.end {
            let why = "an offset counts events; a length of time is for streams that a clock evaluates";
            return Err(refuse(span.to(cursor.span()), "an offset by a length of time", why));
        }
        match cursor.slice(number).parse::<i32>() {
            Ok(by) if by <= 1_000_000 => Ok(if back { -by } else { by }),
            _ => {
                Err(refuse(span.to(number), "this offset", "an offset is a whole number, a million at most"))
            }
        }
    }

    /// An error unless this is a name whose positions are those that are counted here.
    pub(super) fn check(&self, of: Value, what: &str) -> Result<(), Diagnostic> {
        let leaf = self.reading.builder.leaf(of.id);
        let Some(leaf) = leaf else {
            let why = "define an output for it, and look that up";
            return Err(refuse(of.span, format!("{what} of something that is no stream"), why));
        };
        let key = match leaf {
            Leaf::Stream(number) => self.outputs[number].key.as_ref(),
            Leaf::Known(_) => None,
        };
        match (&self.instance, key) {
            (None, None) => Ok(()),
            (Some((_, own)), Some((_, column))) if own == column => Ok(()),
            (Some(_), _) => {
                let why = "offsets count the events of the instance there; define an output without parameters for it";
                Err(refuse(of.span, format!("{what} of another stream inside of instances"), why))
            }
            (None, Some(_)) => {
                let why = "define an output with the same parameter for it";
                Err(refuse(of.span, format!("{what} of an instance from outside"), why))
            }
        }
    }

    /// A constant: a number, a text, `true`, or the name of one.
    pub(super) fn constant_here(&mut self, cursor: &mut Cursor<'t>) -> Result<Value, Diagnostic> {
        let span = cursor.span();
        let minus = cursor.accept("-").is_some();
        let value = match cursor.kind() {
            Tok::Number => {
                let text = cursor.here();
                self.reading.builder.number(text, span)?
            }
            Tok::Word if matches!(cursor.here(), "true" | "false") && !minus => {
                let value = cursor.is_word("true");
                self.reading.builder.constant(value, span)
            }
            Tok::Word if self.constants.contains_key(cursor.here()) && !minus => {
                let name = cursor.here();
                self.name(name, span)?
            }
            _ => return Err(cursor.found("a constant")),
        };
        cursor.advance();
        Ok(if minus { self.reading.builder.negate(value, span) } else { value })
    }

    /// A constant or a name: what stands behind `?`.
    fn default_here(&mut self, cursor: &mut Cursor<'t>) -> Result<Value, Diagnostic> {
        let name = cursor.here();
        let named = cursor.kind() == Tok::Word
            && !matches!(name, "true" | "false")
            && !self.constants.contains_key(name);
        if !named {
            return self.constant_here(cursor);
        }
        let span = cursor.advance();
        self.name(name, span)
    }

    /// The value of a constant expression.
    fn literal(&self, value: Value) -> Option<ExprKind> {
        match &self.reading.builder.exprs()[value.id.index()].kind {
            kind @ (ExprKind::Bool(_) | ExprKind::Int(_) | ExprKind::Real(_) | ExprKind::Text(_)) => {
                Some(kind.clone())
            }
            ExprKind::Path { .. } if self.reading.builder.leaf(value.id).is_some() => {
                let name = self.reading.builder.exprs()[value.id.index()].span;
                self.constants.get(&self.reading.text[name.start as usize..name.end as usize]).cloned()
            }
            _ => None,
        }
    }

    /// The same name once more.
    pub(super) fn copy(&mut self, of: Value, span: Span) -> Value {
        let builder = &mut self.reading.builder;
        let name = name_of(builder, of);
        match builder.leaf(of.id) {
            Some(leaf) => builder.column(&name, leaf, span),
            None => of,
        }
    }

    /// A lookup with its default.
    pub(super) fn look(
        &mut self,
        lookup: Lookup,
        of: Value,
        default: Value,
        span: Span,
    ) -> Result<Value, Diagnostic> {
        let constant = self.literal(default);
        let builder = &mut self.reading.builder;
        match (lookup, constant) {
            (Lookup::Offset(by), Some(kind)) => {
                let default = builder.push(kind, default.sort, default.span, &[]);
                Ok(builder.shift(of, by, default, span))
            }
            (Lookup::Offset(by), None) => {
                // Defaults are constants: what is computed takes its place where there is no such position.
                let unused = builder.push(ExprKind::Int(0), default.sort, default.span, &[]);
                self.unused.insert(unused.id, of.id);
                let there = builder.shift(of, by, unused, span);
                if by == -1 || by == 1 {
                    let end = if by < 0 { ExprKind::First } else { ExprKind::Last };
                    let end = builder.push(end, default.sort, span, &[]);
                    return Ok(builder.choice([end, default, there], span));
                }
                let (yes, no) = (builder.constant(true, span), builder.constant(false, span));
                let exists = builder.shift(yes, by, no, span);
                Ok(builder.choice([exists, there, default], span))
            }
            (Lookup::Hold, Some(kind)) => self.hold(of, kind, span),
            (Lookup::Hold, None) => {
                Err(refuse(default.span, "a default of `hold` that is computed", "write a constant"))
            }
            (Lookup::Get, _) => {
                let has = builder.has(of, span);
                let of = self.copy(of, span);
                Ok(self.reading.builder.choice([has, of, default], span))
            }
            (Lookup::Otherwise, _) => {
                let kind = ExprKind::Default(of.id, default.id);
                Ok(builder.push(kind, of.sort, span, &[of, default]))
            }
        }
    }

    /// The latest value: a stream of its own that keeps it.
    fn hold(&mut self, of: Value, default: ExprKind, span: Span) -> Result<Value, Diagnostic> {
        if self.instance.is_some() {
            return Err(refuse(
                span,
                "`hold` inside of instances",
                "define an output without parameters for it",
            ));
        }
        let builder = &mut self.reading.builder;
        let written = name_of(builder, of);
        let id = (written.clone(), format!("{default:?}"));
        let name = match self.held.get(&id) {
            Some(name) => name.clone(),
            None => {
                let mut name = format!("{written}_held");
                while self.names.contains_key(&name) {
                    name.push('_');
                }
                let number = self.outputs.len();
                let own = builder.column(&name, Leaf::Stream(number), span);
                let default = builder.push(default, of.sort, span, &[]);
                let before = builder.shift(own, -1, default, span);
                let has = builder.has(of, span);
                let of = self.copy(of, span);
                let body = self.reading.builder.choice([has, of, before], span);
                self.outputs.push(Output { body: Some((body.id, span)), ..Output::default() });
                self.names.insert(name.clone(), Named::Output(number));
                let ident = Ident { name: name.clone(), span };
                let what = What::Stream(number);
                self.made.push(Made { name: ident, line: self.line, body: body.id, what });
                self.held.insert(id, name.clone());
                name
            }
        };
        self.name(&name, span)
    }

    /// `(over: 10s, using: avg)`, from behind its parenthesis.
    fn aggregate(&mut self, cursor: &mut Cursor<'t>, of: Value) -> Result<Suffix<Operator>, Diagnostic> {
        let (kind, place) = cursor.word("`over`")?;
        cursor.expect(":")?;
        let over = match kind {
            "over" => Over::Time(length(cursor)?),
            "over_discrete" => {
                let number = cursor.advance();
                match cursor.slice(number).parse::<u64>() {
                    Ok(count @ 1..) => Over::Positions(count),
                    _ => return Err(refuse(number, "this window", "a window has a whole number of events")),
                }
            }
            "over_exactly" | "over_exactly_discrete" => {
                let why = "write `over` or `over_discrete`: the window is then told while it fills";
                return Err(refuse(place, format!("`{kind}`: a window that waits until it is full"), why));
            }
            "over_instances" => {
                return Err(refuse(place, "an aggregate over instances", "write a query with `by`"));
            }
            _ => return Err(refuse(place, format!("`{kind}`"), "write `over: 10s` or `over_discrete: 10`")),
        };
        cursor.expect(",")?;
        label(cursor, &["using"])?;
        self.window(cursor, of, over, ")").map(Suffix::Complete)
    }

    /// `avg)`: the function of a window, and what closes it.
    fn window(
        &mut self,
        cursor: &mut Cursor<'t>,
        of: Value,
        over: Over,
        close: &str,
    ) -> Result<Value, Diagnostic> {
        let (function, place) = (cursor.here(), cursor.advance());
        let close = cursor.expect(close)?;
        let span = of.span.to(close);
        self.check(of, "a window")?;
        let builder = &mut self.reading.builder;
        let (aggregate, body) = match function {
            "sum" | "Σ" => (Aggregate::Sum, of),
            "avg" | "average" => (Aggregate::Avg, of),
            "min" => (Aggregate::Min, of),
            "max" => (Aggregate::Max, of),
            "last" => (Aggregate::Last, of),
            "variance" | "var" | "σ²" => (Aggregate::Var, of),
            "standard_deviation" | "sd" | "σ" => (Aggregate::Stddev, of),
            "count" | "#" => (Aggregate::Count, builder.has(of, of.span)),
            "∃" | "disjunction" | "∨" | "exists" => (Aggregate::Count, of),
            "∀" | "conjunction" | "∧" | "forall" => (Aggregate::Count, builder.not(of, of.span)),
            other => {
                let why = "windows have sum, count, avg, min, max, last, var, sd, exists and forall";
                return Err(refuse(place, format!("a window of `{other}`"), why));
            }
        };
        let value = builder.window(aggregate, body, over, span);
        let against = match function {
            "∃" | "disjunction" | "∨" | "exists" => CompareOp::Gt,
            "∀" | "conjunction" | "∧" | "forall" => CompareOp::Eq,
            _ => return Ok(value),
        };
        let zero = builder.number("0", span)?;
        Ok(builder.compare(against, value, zero, span))
    }
}

/// The name that an expression is.
fn name_of(builder: &Builder, of: Value) -> String {
    match &builder.exprs()[of.id.index()].kind {
        ExprKind::Path { path, .. } => match path.steps.first() {
            Some(PathStep::Field(name)) => name.clone(),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

/// `to:`.
fn label(cursor: &mut Cursor<'_>, words: &[&str]) -> Result<(), Diagnostic> {
    if cursor.kind() == Tok::Word && words.contains(&cursor.here()) && cursor.peek(1) == Tok::Symbol(":") {
        cursor.advance();
        cursor.advance();
        return Ok(());
    }
    Err(cursor.found(&format!("`{}:`", words[0])))
}

/// Whether a length of time and a comma stand here: `1s,`.
fn is_length(cursor: &Cursor<'_>) -> bool {
    cursor.kind() == Tok::Number && cursor.peek(1) == Tok::Word && cursor.peek(2) == Tok::Symbol(",")
}

/// `10s`, `0.5 s`, `2min`.
fn length(cursor: &mut Cursor<'_>) -> Result<Bound, Diagnostic> {
    if cursor.kind() != Tok::Number {
        return Err(cursor.found("a length of time"));
    }
    let number = cursor.advance();
    let (unit, place) = cursor.word("a unit of time")?;
    let unit = match unit {
        "min" => Some(TimeUnit::Minutes),
        "h" | "s" | "ms" | "us" | "ns" | "d" => TimeUnit::parse(unit),
        "μs" | "µs" => TimeUnit::parse("us"),
        _ => None,
    };
    let Some(unit) = unit else { return Err(refuse(place, "this unit", "write ns, us, ms, s, min, h or d")) };
    let billionths = Decimal::parse(cursor.slice(number)).and_then(Decimal::billionths);
    match billionths {
        Some(billionths) => Ok(Bound { billionths, unit: Some(unit), open: false }),
        None => Err(refuse(number, "this length", "lengths are exact to nine decimals")),
    }
}

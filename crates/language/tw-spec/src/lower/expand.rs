//! Names resolved and macros expanded, without recursion: a stack of frames, one per macro being expanded, each
//! looping over the expressions of its body.
//!
//! Arguments are expanded before the macro that receives them, and an expansion is remembered under the macro and
//! the structure of its arguments. So a chain of macros that each use the one before twice costs one expansion per
//! macro, not 2ⁿ.

use super::declarations::{Declarations, Declared};
use super::expanded::{Expanded, ItemId, Kind};
use super::findings::Findings;
use super::scopes::{Body, Numbers, Prepared};
use crate::ast::{Expr, ExprId, ExprKind, Infix, Map, Prefix, Tree};
use rustc_hash::{FxHashMap, FxHashSet};
use tw_core::{TimeUnit, Value};
use tw_diag::{Diagnostic, Span};
use tw_ir::{Aggregate, Bound, CompareOp, Function, Path, PathStep, Temporal};

/// The share of the budget that one use of a macro with parameters may take, and all that it uses in turn: a macro that
/// doubles what it is given is told of before it has grown to all that a long specification may have.
const MACRO_SHARE: usize = 10;

/// Expands bodies into items.
pub(super) struct Expander<'t, 'f> {
    pub(super) declarations: &'f Declarations<'t>,
    pub(super) findings: &'f mut Findings,
    pub(super) out: Expanded,
    pub(super) regexes: Vec<regex::Regex>,
    regex_index: FxHashMap<String, Option<u32>>,
    budget: usize,
    exhausted: bool,
    /// The user's tree first, then one per library pattern in use.
    pub(super) prepared: Vec<Prepared<'t>>,
    /// Macros as in `declarations`, then roots, then library patterns, each with its index into `prepared`.
    pub(super) bodies: Vec<(Body<'t>, usize)>,
    pub(super) library: FxHashMap<usize, usize>,
    pub(super) instances: FxHashMap<(usize, Vec<u32>), ItemId>,
    /// Bodies being expanded, outermost first.
    pub(super) trail: Vec<usize>,
    pub(super) active: Vec<bool>,
    pub(super) numbers: Numbers,
    used: FxHashSet<u32>,
    /// Of undeclared events, with the number of their arguments, the declared name that may be meant.
    pub(super) similar: FxHashMap<(String, usize, bool), Option<&'f str>>,
}

/// What the expander leaves behind.
pub(super) struct Expansion {
    pub items: Expanded,
    pub regexes: Vec<regex::Regex>,
    /// The parameter of maps that the user did not write.
    pub identity: u32,
}

/// A body being expanded.
pub(super) struct Frame {
    pub(super) body: usize,
    pub(super) arguments: Vec<ItemId>,
    values: Vec<ItemId>,
    /// Where the macro was called.
    site: Span,
    /// Items of library patterns stand at the call: their own text is not the user's.
    pub(super) library: bool,
}

/// What expanding one expression gives: an item, or a macro to expand first.
pub(super) type Step = Result<ItemId, Frame>;

impl<'t, 'f> Expander<'t, 'f> {
    /// Prepares `tree`; the bodies of `roots` follow those of the macros.
    pub fn new(
        tree: &'t Tree,
        roots: &[ExprId],
        declarations: &'f Declarations<'t>,
        budget: usize,
        findings: &'f mut Findings,
    ) -> Self {
        let mut numbers = Numbers::default();
        let macros = declarations.macros.iter().enumerate().map(|(index, m)| Body {
            root: m.body,
            exprs: Vec::new(),
            parameters: m.parameters.iter().map(|p| p.name.as_str()).collect(),
            class: index as u32 + 1,
        });
        let roots =
            roots.iter().map(|&root| Body { root, exprs: Vec::new(), parameters: Vec::new(), class: 0 });
        let mut bodies: Vec<Body> = macros.chain(roots).collect();
        let prepared = Prepared::new(&tree.exprs, &mut bodies, declarations, &mut numbers, findings);
        Self {
            declarations,
            findings,
            out: Expanded::default(),
            regexes: Vec::new(),
            regex_index: FxHashMap::default(),
            budget,
            exhausted: false,
            prepared: vec![prepared],
            active: vec![false; bodies.len()],
            bodies: bodies.into_iter().map(|body| (body, 0)).collect(),
            library: FxHashMap::default(),
            instances: FxHashMap::default(),
            trail: Vec::new(),
            numbers,
            used: FxHashSet::default(),
            similar: FxHashMap::default(),
        }
    }

    /// Expands root number `root`.
    pub fn root(&mut self, root: usize) -> ItemId {
        let body = self.declarations.macros.len() + root;
        let frame = self.enter(body, Vec::new(), Span::default(), false);
        self.run(frame)
    }

    /// Expands macros that nothing used, so that their mistakes are found too, reports unused variables, and hands
    /// over the result.
    pub fn finish(mut self) -> Expansion {
        let used: FxHashSet<usize> = self.instances.keys().map(|(body, _)| *body).collect();
        for index in 0..self.declarations.macros.len() {
            let declared = &self.declarations.macros[index];
            if used.contains(&index) || self.exhausted {
                continue;
            }
            let unknown = self.out.error(declared.name.span);
            let arguments = vec![unknown; declared.parameters.len()];
            let frame = self.enter(index, arguments, declared.name.span, false);
            self.run(frame);
        }
        if !self.exhausted {
            for (index, scope) in self.prepared[0].scopes.iter().enumerate() {
                if scope.quantified && !self.used.contains(&(index as u32)) {
                    self.findings.add(
                        Diagnostic::warning(
                            "unused-variable",
                            format!("`{}` is bound but never used", scope.name),
                        )
                        .at(scope.span, "bound here")
                        .help("remove it, or use it in an event pattern or a comparison"),
                    );
                }
            }
        }
        let identity = self.identity();
        self.out.variables = self.numbers.names;
        self.out.whole = self.numbers.whole;
        Expansion { items: self.out, regexes: self.regexes, identity }
    }

    pub(super) fn enter(&mut self, body: usize, arguments: Vec<ItemId>, site: Span, library: bool) -> Frame {
        let values = Vec::with_capacity(self.bodies[body].0.exprs.len());
        Frame { body, arguments, values, site, library }
    }

    fn run(&mut self, first: Frame) -> ItemId {
        let mut stack: Vec<Frame> = Vec::new();
        let mut pending = Some(first);
        // The outermost macro with parameters: its place on the stack, and how many items there were before it.
        let mut outermost: Option<(usize, usize)> = None;
        loop {
            if let Some(frame) = pending.take() {
                if !frame.arguments.is_empty() {
                    outermost.get_or_insert((stack.len(), self.out.items.len()));
                }
                self.active[frame.body] = true;
                self.trail.push(frame.body);
                stack.push(frame);
            }
            let Some(frame) = stack.last_mut() else { return self.out.error(Span::default()) };
            let (body, prepared) = &self.bodies[frame.body];
            if let Some(&id) = body.exprs.get(frame.values.len()) {
                let exprs: &'t [Expr] = self.prepared[*prepared].exprs;
                let items = self.out.items.len();
                let grown = outermost.filter(|&(_, before)| items - before >= self.budget / MACRO_SHARE);
                if items >= self.budget || grown.is_some() {
                    let (span, library) = (exprs[id as usize].span, frame.library);
                    let place = if library { frame.site } else { span };
                    let body = grown.map(|(place, _)| stack[place].body);
                    self.too_large(place, body);
                    return self.out.error(Span::default());
                }
                match self.step(frame, ExprId(id), &exprs[id as usize]) {
                    Ok(item) => frame.values.push(item),
                    Err(call) => pending = Some(call),
                }
                continue;
            }
            let result = frame.values.last().copied().unwrap_or_default();
            // What the call stands for is said by the call.
            if self.out.item(result).said.is_none() && frame.site != Span::default() {
                self.out.items[result as usize].said = Some(frame.site);
            }
            let key = (frame.body, self.structures(&frame.arguments));
            self.active[key.0] = false;
            self.trail.pop();
            stack.pop();
            outermost = outermost.filter(|&(place, _)| place < stack.len());
            self.instances.insert(key, result);
            if stack.is_empty() {
                return result;
            }
        }
    }

    pub(super) fn structures(&self, items: &[ItemId]) -> Vec<u32> {
        items.iter().map(|&item| self.out.item(item).structure).collect()
    }

    /// Too many nodes: in all, or in one use of a macro with parameters.
    fn too_large(&mut self, place: Span, body: Option<usize>) {
        self.exhausted = true;
        let message = match body.map(|body| self.declarations.macros.get(body)) {
            None => {
                format!("the specification grows beyond {} nodes when its macros are expanded", self.budget)
            }
            Some(declared) => {
                let name =
                    declared.map_or("a pattern".into(), |declared| format!("`{}`", declared.name.name));
                let most = self.budget / MACRO_SHARE;
                format!("one use of {name} grows beyond {most} nodes when it is expanded")
            }
        };
        self.findings
            .add(Diagnostic::error("too-large", message).at(place, "the limit was reached here").help(
            "a macro that passes growing arguments to another one doubles at every step; use fewer levels",
        ));
    }

    /// The item of an expression, or the macro that has to be expanded first.
    fn step(&mut self, frame: &Frame, id: ExprId, expr: &'t Expr) -> Step {
        let place = &self.prepared[self.bodies[frame.body].1].place;
        let value = |child: ExprId| frame.values[place[child.index()] as usize];
        let span = if frame.library { frame.site } else { expr.span };
        let kind = match &expr.kind {
            ExprKind::Error => Kind::Error,
            ExprKind::Bool(b) => Kind::Bool(*b),
            ExprKind::First => Kind::First,
            ExprKind::Last => Kind::Last,
            ExprKind::Null => Kind::Null,
            ExprKind::Int(i) => Kind::Constant(self.out.constant(Value::Int(*i))),
            ExprKind::Real(r) => Kind::Constant(self.out.constant(Value::Real(*r))),
            ExprKind::Text(text) => Kind::Constant(self.out.constant(Value::Str(text.clone()))),
            ExprKind::Length(bound) => match nanoseconds(bound) {
                Some(length) => Kind::Length(length),
                None => {
                    self.findings.add(
                        Diagnostic::error("number-out-of-range", "this length of time cannot be held")
                            .at(span, "not a whole number of nanoseconds, or too many")
                            .help("lengths have 64 bits of nanoseconds, about 292 years"),
                    );
                    Kind::Error
                }
            },
            ExprKind::Path { path, quoted } => return self.name(frame, id, path, *quoted, span),
            ExprKind::Shift { of, by, default } => {
                let of = value(*of);
                let prepared = self.bodies[frame.body].1;
                let default = &self.prepared[prepared].exprs[default.index()];
                self.shift(of, *by, default, span)
            }
            ExprKind::Call { name, arguments, event } => {
                let values: Vec<Option<ItemId>> = arguments.iter().map(|a| a.value.map(value)).collect();
                return self.call(frame, id, name, arguments, &values, *event, span);
            }
            ExprKind::Negate(a) => self.negate(value(*a)),
            ExprKind::Abs(a) => Kind::Abs(value(*a)),
            ExprKind::Arithmetic(op, a, b) => Kind::Arithmetic(*op, value(*a), value(*b)),
            ExprKind::If(a, b, c) => Kind::If(value(*a), value(*b), value(*c)),
            ExprKind::Tuple(items) => {
                let mut items: Vec<ItemId> = items.iter().map(|item| value(*item)).collect();
                let mut tuple = items.pop().unwrap_or_default();
                while items.len() > 1 {
                    let Some(item) = items.pop() else { break };
                    tuple = self.out.add(Kind::Tuple(item, tuple), span, None);
                }
                items.first().map_or(Kind::Error, |first| Kind::Tuple(*first, tuple))
            }
            ExprKind::Compare(op, a, b) => Kind::Compare(*op, value(*a), value(*b)),
            ExprKind::In(a, set) => Kind::In(value(*a), self.out.set(set)),
            ExprKind::Matches(a, regex, place) => {
                let a = value(*a);
                self.regex(regex, *place).map_or(Kind::Error, |regex| Kind::Matches(a, regex))
            }
            ExprKind::Not(None, a) => Kind::Not(value(*a)),
            ExprKind::Not(Some(map), a) => {
                let (result, body) = (value(map.result), value(*a));
                if let Some(parameter) = &map.parameter {
                    self.misplaced("`!{…}` takes a constant, not a function", parameter.span, "`!{0} ψ`");
                }
                self.pure(result);
                Kind::Fails(result, body)
            }
            ExprKind::Prefix { op, interval, map, body } => {
                let (body, map) = (value(*body), map.as_ref().map(|map| (map, value(map.result))));
                self.interval(*interval, span);
                match map {
                    None => Kind::Prefix(*op, self.out.interval(*interval), body),
                    Some((map, result)) => {
                        if *op != Prefix::Temporal(Temporal::Next) {
                            self.misplaced(
                                "only `X`, `U`, `!`, `&` and `|` take `{…}`",
                                span,
                                "`X{v => v + 1} ψ`",
                            );
                        } else if interval.is_some() {
                            self.misplaced("`X{…}` takes no interval", span, "`X{v => v + 1} ψ`");
                        }
                        self.pure(result);
                        Kind::NextMap { parameter: self.parameter(frame, map), result, body }
                    }
                }
            }
            ExprKind::Infix { op, interval, function, map, left, right } => {
                let (left, right) = (value(*left), value(*right));
                let map = map.as_ref().map(|map| (map, value(map.result)));
                self.interval(*interval, span);
                match (op, function, map) {
                    (_, None, None) => Kind::Infix(*op, self.out.interval(*interval), left, right),
                    (Infix::And | Infix::Or, Some(function), None) => {
                        Kind::Combine { both: *op == Infix::And, function: *function, left, right }
                    }
                    (Infix::Temporal(Temporal::Until), None, Some((map, result))) => {
                        if interval.is_some() {
                            self.misplaced("`U{…}` takes no interval", span, "`ψ1 U{v => v + 1} ψ2`");
                        }
                        self.pure(result);
                        Kind::UntilMap { parameter: self.parameter(frame, map), result, left, right }
                    }
                    _ => {
                        let rule = "`&` and `|` take a function such as `{+}`, `X` and `U` a map such as `{v => v + 1}`";
                        self.misplaced(rule, span, "`ψ1 &{+} ψ2`");
                        Kind::Error
                    }
                }
            }
            ExprKind::Quantifier { forall, variables, range, body } => {
                let mut body = value(*body);
                let range = range.map(value);
                let mut numbers = self.bound_by(frame, id, variables.len());
                if let (Some(range), Some(&variable)) = (range, numbers.first()) {
                    body = self.ranged(*forall, variable, range, body);
                }
                let Some(outermost) = numbers.pop() else { return Ok(body) };
                for variable in numbers {
                    body = self.out.add(Kind::Quantifier { forall: *forall, variable, body }, span, None);
                }
                Kind::Quantifier { forall: *forall, variable: outermost, body }
            }
            ExprKind::Tally { tally, value: term, variables, body } => {
                let body = value(*body);
                let term = term.map_or(body, value);
                let mut numbers = self.bound_by(frame, id, variables.len());
                numbers.reverse();
                Kind::Tally(*tally, self.out.bound(numbers), term, body)
            }
            ExprKind::Emit(a, b) => Kind::Emit(value(*a), value(*b)),
            ExprKind::Default(a, b) => Kind::Default(value(*a), value(*b)),
            ExprKind::Aggregate { aggregate, body, second, during } => {
                let mut body = value(*body);
                let during = during.map_or(super::expanded::NONE, value);
                match (aggregate, second) {
                    (Aggregate::Corr, Some(second)) => {
                        let pair = Kind::Combine {
                            both: true,
                            function: Function::Pair,
                            left: body,
                            right: value(*second),
                        };
                        body = self.out.add(pair, span, None);
                    }
                    (Aggregate::Corr, None) => {
                        self.misplaced("`corr` relates two experiments", span, "`corr[true : x, true : y]`");
                        return Ok(self.out.error(span));
                    }
                    (_, Some(second)) => {
                        let place = self.out.span(value(*second));
                        self.misplaced(
                            "only `corr` takes two experiments",
                            place,
                            "`corr[true : x, true : y]`",
                        );
                    }
                    (_, None) => {}
                }
                Kind::Collect(*aggregate, body, during)
            }
            ExprKind::Window { aggregate, body, over } => self.window(*aggregate, value(*body), *over, span),
        };
        let said = !frame.library && (frame.arguments.is_empty() || self.out.closed(kind, span));
        Ok(self.out.add(kind, span, said.then_some(span)))
    }

    /// The numbers of the variables that an expression binds, innermost first.
    fn bound_by(&self, frame: &Frame, id: ExprId, count: usize) -> Vec<u32> {
        let prepared = &self.prepared[self.bodies[frame.body].1];
        let mut at = prepared.opened.get(&id.0).copied().unwrap_or_default();
        let mut numbers = Vec::with_capacity(count);
        for _ in 0..count {
            numbers.push(prepared.scopes[at as usize].number);
            at = prepared.scopes[at as usize].parent;
        }
        numbers
    }

    /// The body of `forall x in PATH. φ` is `x == PATH -> φ`, that of `exists` a conjunction. A path offers the values that it
    /// finds here, and none where it finds null: a comparison with null is false.
    fn ranged(&mut self, forall: bool, variable: u32, range: ItemId, body: ItemId) -> ItemId {
        let place = self.out.span(range);
        let variable = self.out.add(Kind::Variable(variable), place, None);
        let found = self.out.add(Kind::Compare(CompareOp::Eq, variable, range), place, None);
        let operator = if forall { Infix::Implies } else { Infix::And };
        let span = place.to(self.out.span(body));
        self.out.add(Kind::Infix(operator, super::expanded::NONE, found, body), span, None)
    }

    /// `-3` is a constant, so that it can stand where only constants may.
    fn negate(&mut self, a: ItemId) -> Kind {
        let Kind::Constant(constant) = self.out.item(a).kind else { return Kind::Negate(a) };
        let negated = match &self.out.constants[constant as usize] {
            Value::Int(i) => i.checked_neg().map(Value::Int),
            Value::Real(r) => Some(Value::Real(-r)),
            _ => None,
        };
        negated.map_or(Kind::Negate(a), |value| Kind::Constant(self.out.constant(value)))
    }

    /// Number of the parameter of a map; a constant map gets one that nothing mentions.
    fn parameter(&mut self, frame: &Frame, map: &Map) -> u32 {
        let prepared = &self.prepared[self.bodies[frame.body].1];
        match map.parameter {
            Some(_) => prepared.scopes[prepared.scope[map.result.index()] as usize].number,
            None => self.identity(),
        }
    }

    /// The parameter of maps that the user did not write.
    fn identity(&mut self) -> u32 {
        self.numbers.number(0, "v", u32::MAX, false)
    }

    /// A map computes from its parameter alone: it has no position to read from.
    fn pure(&mut self, result: ItemId) {
        if self.out.item(result).reads {
            self.findings.add(
                Diagnostic::error(
                    "map-reads-trace",
                    "a function in `{…}` may use its parameter and constants only",
                )
                .at(self.out.span(result), "this reads the trace")
                .help("move what has to be read into the experiment: `φ : e`"),
            );
        }
    }

    fn misplaced(&mut self, message: &str, span: Span, example: &str) {
        self.findings.add(
            Diagnostic::error("misplaced-decoration", message)
                .at(span, "not possible here")
                .help(format!("for example {example}")),
        );
    }

    /// What a name stands for: parameter, bound variable, macro, declared event or variable, column.
    fn name(&mut self, frame: &Frame, id: ExprId, path: &Path, quoted: bool, span: Span) -> Step {
        let first = match path.steps.first() {
            Some(PathStep::Field(name)) if !quoted => name.as_str(),
            _ => return Ok(self.column(path, quoted, span)),
        };
        let (body, prepared) = &self.bodies[frame.body];
        if let Some(index) = body.parameters.iter().position(|p| *p == first) {
            let argument = frame.arguments[index];
            return Ok(self.extend(argument, path, span));
        }
        let prepared = &self.prepared[*prepared];
        if let Some(scope) = prepared.lookup(prepared.scope[id.index()], first) {
            let number = prepared.scopes[scope as usize].number;
            if !frame.library {
                self.used.insert(scope);
            }
            let variable = self.out.add(Kind::Variable(number), span, (!frame.library).then_some(span));
            return Ok(self.extend(variable, path, span));
        }
        if self.declarations.var(path).is_some() {
            return Ok(self.column(path, false, span));
        }
        match self.declarations.names.get(first) {
            Some((Declared::Macro(index), declared)) => {
                let parameters = self.declarations.macros[*index].parameters;
                if !parameters.is_empty() {
                    return Ok(self.arity_mismatch(first, parameters.len(), 0, span, Some(*declared)));
                }
                let item = self.instance(*index, Vec::new(), span, false)?;
                Ok(self.extend(item, path, span))
            }
            Some((Declared::Event(index), _)) if path.as_name().is_some() => {
                Ok(self.declared_event(*index, &[], &[], span))
            }
            _ => Ok(self.column(path, false, span)),
        }
    }

    fn column(&mut self, path: &Path, quoted: bool, span: Span) -> ItemId {
        let declarations = self.declarations;
        let index = self.out.path(path, quoted, || declarations.column(path));
        self.out.add(Kind::Path(index), span, Some(span))
    }

    /// `item` followed by the steps of `path` after the first.
    fn extend(&mut self, item: ItemId, path: &Path, span: Span) -> ItemId {
        if path.steps.len() == 1 {
            return item;
        }
        match self.out.item(item).kind {
            Kind::Error => item,
            Kind::Path(prefix) => {
                let mut whole = self.out.paths[prefix as usize].path.clone();
                whole.steps.extend_from_slice(&path.steps[1..]);
                self.column(&whole, false, span)
            }
            _ => {
                let first = Path { steps: path.steps[..1].to_vec() };
                self.findings.add(
                    Diagnostic::error(
                        "no-fields",
                        format!("`{first}` is not a column here and has no fields"),
                    )
                    .at(span, "a field of it is asked for")
                    .help(format!("a column of that name is written in backquotes: `` `{first}` ``")),
                );
                self.out.error(span)
            }
        }
    }

    fn regex(&mut self, pattern: &str, span: Span) -> Option<u32> {
        if let Some(known) = self.regex_index.get(pattern) {
            return *known;
        }
        let compiled = regex::RegexBuilder::new(pattern).size_limit(1 << 22).dfa_size_limit(1 << 22).build();
        let index = match compiled {
            Ok(regex) => {
                self.regexes.push(regex);
                Some((self.regexes.len() - 1) as u32)
            }
            Err(error) => {
                let reason = match &error {
                    regex::Error::CompiledTooBig(limit) => {
                        format!("it needs more than {limit} bytes when compiled")
                    }
                    // The crate draws the pattern with a caret; the last line says what is wrong.
                    other => {
                        let text = other.to_string();
                        text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
                    }
                };
                self.findings.add(
                    Diagnostic::error("bad-regex", format!("this is not a regular expression: {reason}"))
                        .at(span, "in this pattern")
                        .help("a backslash before a special character takes it literally: `\\.`, `\\(`"),
                );
                None
            }
        };
        self.regex_index.insert(pattern.to_owned(), index);
        index
    }
}

/// A length of time, exactly.
fn nanoseconds(length: &Bound) -> Option<i64> {
    let unit = length.unit.unwrap_or(TimeUnit::Seconds).nanoseconds();
    let scaled = length.billionths.checked_mul(i128::from(unit))?;
    (scaled % 1_000_000_000 == 0).then(|| i64::try_from(scaled / 1_000_000_000).ok()).flatten()
}

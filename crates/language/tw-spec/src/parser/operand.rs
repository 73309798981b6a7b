//! Where an operand begins: atoms, names, calls, aggregates, prefix operators, brackets.

use super::expression::{Last, Machine, Step};
use super::frame::{CallFrame, Frame, Part, Stage};
use super::{Operand, Parser};
use crate::ast::{Argument, ExprKind, Ident, Prefix};
use crate::lexer::Tok;
use tw_diag::{Diagnostic, Span};
use tw_ir::{Aggregate, ArithmeticOp, Path, PathStep, Temporal};

/// Whether a name is that of an aggregate.
pub(crate) fn is_aggregate(name: &str) -> bool {
    matches!(name, "quantile" | "histogram") || Aggregate::PLAIN.iter().any(|(known, _)| *known == name)
}

/// The share that `p95`, `P99` or `p999` means.
fn percentile(word: &str) -> Option<String> {
    let digits = word.strip_prefix(['p', 'P'])?;
    match digits.len() {
        _ if !digits.bytes().all(|digit| digit.is_ascii_digit()) => None,
        1 => Some(format!("0.0{digits}")),
        2 | 3 if digits != "100" => Some(format!("0.{}", digits.trim_end_matches('0'))),
        _ => None,
    }
}

impl Parser<'_> {
    pub(super) fn operand(&mut self, m: &mut Machine) -> Step {
        m.last = Last::Closed;
        let span = self.span();
        match self.kind() {
            Tok::True | Tok::False if self.starts_shift(1) => {
                let constant = ExprKind::Bool(self.kind() == Tok::True);
                let place = self.advance();
                let of = self.add(constant, place);
                let (id, extent) = self.shift(of, place);
                Step::Operator(Operand { id, extent })
            }
            Tok::True => self.atom(ExprKind::Bool(true)),
            Tok::False => self.atom(ExprKind::Bool(false)),
            Tok::Null => self.atom(ExprKind::Null),
            Tok::First | Tok::Last if self.peek(1) == Tok::OpenBracket => self.word_operand(m),
            Tok::First | Tok::Last if self.window_in_parentheses(1) => {
                let (word, start) = (self.word(0).to_owned(), self.advance());
                self.open_call(m, Ident { name: word, span: start }, false, false, start)
            }
            Tok::First => self.atom(ExprKind::First),
            Tok::Last => self.atom(ExprKind::Last),
            Tok::Number | Tok::Text => self.literal(false, span),
            Tok::Minus if self.peek(1) == Tok::Number => {
                self.advance();
                self.literal(true, span)
            }
            Tok::Minus => self.push(m, Frame::Negate { start: span }),
            Tok::Plus if matches!(self.peek(1), Tok::Number | Tok::Word | Tok::OpenParen) => {
                let found = Diagnostic::error("missing-operand", "`+` has nothing on its left").at(span, "");
                self.report(found.help("remove it: numbers are positive as they stand"));
                self.advance();
                Step::Operand
            }
            Tok::Not => {
                self.advance();
                let frame = Frame::Not { map: None, start: span };
                if self.kind() == Tok::OpenBrace {
                    return self.open_map(m, frame);
                }
                m.frames.push(frame);
                Step::Operand
            }
            Tok::Prefix(op) => self.prefix(m, op),
            Tok::Forall | Tok::Exists => self.quantifier(m),
            Tok::If => self.push(m, Frame::If { stage: Stage::Condition, start: span }),
            Tok::OpenParen if self.peek(1) != Tok::CloseParen => {
                self.advance();
                m.open(Frame::Paren { open: span, items: Vec::new() });
                Step::Operand
            }
            Tok::OpenParen => {
                self.advance();
                let step = self.missing_operand(m);
                self.advance();
                step
            }
            Tok::Event if self.is_name(1) => {
                self.advance();
                let name = self.ident();
                if self.kind() == Tok::OpenParen {
                    return self.open_call(m, name, false, true, span);
                }
                let extent = span.to(name.span);
                let call = ExprKind::Call { name, arguments: Vec::new(), event: true };
                Step::Operator(Operand { id: self.add(call, extent), extent })
            }
            Tok::Word if self.starts_declaration() => self.missing_operand(m),
            Tok::Word if self.branching && self.path_quantifier().is_some() => self.paths(m),
            Tok::Word | Tok::Quoted => self.word_operand(m),
            _ => self.missing_operand(m),
        }
    }

    fn push(&mut self, m: &mut Machine, frame: Frame) -> Step {
        self.advance();
        m.frames.push(frame);
        Step::Operand
    }

    fn atom(&mut self, kind: ExprKind) -> Step {
        let extent = self.advance();
        Step::Operator(Operand { id: self.add(kind, extent), extent })
    }

    /// A number or text, with the minus sign at `start` if there is one.
    fn literal(&mut self, negative: bool, start: Span) -> Step {
        let kind = self.literal_kind(negative);
        let extent = start.to(self.gap());
        Step::Operator(Operand { id: self.add(kind, extent), extent })
    }

    fn prefix(&mut self, m: &mut Machine, op: Prefix) -> Step {
        let start = self.advance();
        let interval = self.interval();
        let frame = Frame::Prefix { op, interval, map: None, start };
        if self.kind() == Tok::OpenBrace {
            if op == Prefix::Temporal(Temporal::Next) {
                return self.open_map(m, frame);
            }
            self.useless_braces(start);
        }
        m.frames.push(frame);
        Step::Operand
    }

    /// `{…}` after an operator that takes none.
    pub(super) fn useless_braces(&mut self, op: Span) {
        let message = format!("`{}` takes no function", self.slice(op));
        let found = Diagnostic::error("bad-function", message).at(self.span(), "");
        self.report(found.help("`{…}` follows `&`, `|`, `!`, `X` and `U`"));
        self.skip_braces();
    }

    /// Skips from `{` to its `}`.
    pub(super) fn skip_braces(&mut self) {
        let mut depth = 0u32;
        loop {
            match self.kind() {
                Tok::OpenBrace => depth += 1,
                Tok::CloseBrace if depth <= 1 => {
                    self.advance();
                    return;
                }
                Tok::CloseBrace => depth -= 1,
                Tok::End | Tok::Semicolon => return,
                _ => {}
            }
            self.advance();
        }
    }

    /// A word or name in backquotes: aggregate, call or path.
    fn word_operand(&mut self, m: &mut Machine) -> Step {
        let start = self.span();
        let word = self.word(0);
        if self.kind() != Tok::Quoted && !self.starts_shift(1) {
            if let Some(step) = self.aggregate(m, word, start) {
                return step;
            }
            if let Some(tally) = self.starts_tally() {
                if let Some(step) = self.guarded_window(m) {
                    return step;
                }
                return self.open_tally(m, tally);
            }
            if word == "_" {
                let found =
                    Diagnostic::error("misplaced-wildcard", "`_` stands for any argument of an event");
                self.report(found.at(start, "").help("write it inside a pattern: `login(u, _)`"));
                return self.atom(ExprKind::Error);
            }
            if word == "NaN" || word == "nan" {
                let found = Diagnostic::error("number-out-of-range", "there is no value NaN").at(start, "");
                self.report(
                    found.help(format!("compare with `null`; a column of this name is written `{word}`")),
                );
                return self.atom(ExprKind::Error);
            }
        }
        let quoted = self.kind() == Tok::Quoted;
        if self.peek(1) == Tok::OpenParen {
            let name = self.ident();
            return self.open_call(m, name, quoted, false, start);
        }
        let (path, mut extent) = self.path();
        let mut id = self.add(ExprKind::Path { path, quoted }, extent);
        if self.starts_shift(0) {
            (id, extent) = self.shift(id, extent);
        }
        Step::Operator(Operand { id, extent })
    }

    /// `count[`, `quantile(0.9)[`; `None` when the word is an ordinary name.
    fn aggregate(&mut self, m: &mut Machine, word: &str, start: Span) -> Option<Step> {
        let aggregate = if matches!(word, "quantile" | "histogram") && self.peek(1) == Tok::OpenParen {
            if !(self.peek(2) == Tok::Number
                && self.peek(3) == Tok::CloseParen
                && (self.peek(4) == Tok::OpenBracket || self.window_in_parentheses(4)))
            {
                return None;
            }
            self.at += 2;
            let aggregate = self.parameter(word);
            self.at += 2;
            aggregate
        } else if self.peek(1) == Tok::OpenBracket && self.peek(2) != Tok::Star {
            let known =
                Aggregate::PLAIN.iter().find(|(name, _)| *name == word).map(|(_, aggregate)| *aggregate);
            if known.is_none() {
                self.unknown_aggregate(word);
            }
            self.advance();
            known.unwrap_or(Aggregate::Count)
        } else if self.peek(1) == Tok::Prefix(Prefix::Temporal(Temporal::Globally))
            && self.word(1) == "[]"
            && Aggregate::PLAIN.iter().any(|(name, _)| *name == word)
        {
            // `count[]` ends with the token that is also "always".
            let empty = start.to(self.span_at(self.at + 1));
            let found = Diagnostic::error("missing-operand", "these brackets are empty").at(empty, "");
            self.report(found.help(format!("write what to collect: `{word}[p]`")));
            self.advance();
            return Some(self.atom(ExprKind::Error));
        } else {
            return None;
        };
        let round = self.kind() == Tok::OpenParen;
        let open = self.advance();
        m.open(Frame::Aggregate {
            aggregate,
            body: None,
            second: None,
            part: Part::Body,
            start,
            open,
            round,
        });
        Some(Step::Operand)
    }

    fn unknown_aggregate(&mut self, word: &str) {
        let found = Diagnostic::error("bad-aggregate", format!("`{word}` is not an aggregate"));
        let names = Aggregate::PLAIN.iter().map(|(name, _)| *name).chain(["quantile", "histogram"]);
        let meant = match word.to_ascii_lowercase().as_str() {
            "mean" | "average" => Some("avg"),
            "variance" => Some("var"),
            "std" | "stdev" | "sd" => Some("stddev"),
            "maximum" => Some("max"),
            "minimum" => Some("min"),
            "total" => Some("sum"),
            "number" | "len" | "size" => Some("count"),
            "unique" | "nunique" | "cardinality" => Some("distinct"),
            "correlation" | "correlate" => Some("corr"),
            lower => names
                .clone()
                .find(|name| *name == lower && lower != word)
                .or_else(|| tw_core::suggest(lower, names.clone())),
        };
        let help = match (word, meant) {
            ("quantile", _) => "write the share first: `quantile(0.95)[x]`".to_owned(),
            ("histogram", _) => "write the number of bins first: `histogram(10)[x]`".to_owned(),
            ("percentile", _) => "did you mean `quantile(0.95)[x]`?".to_owned(),
            _ if self.peek(2) == Tok::Number && self.peek(3) == Tok::CloseBracket => {
                format!("elements of a list are reached by `{word}[*]`")
            }
            _ if percentile(word).is_some() => {
                format!("did you mean `quantile({})[…]`?", percentile(word).unwrap_or_default())
            }
            (_, Some(meant)) => format!("did you mean `{meant}`?"),
            _ => format!("aggregates are {}", names.collect::<Vec<_>>().join(", ")),
        };
        let span = self.span();
        self.report(found.at(span, "").help(help));
    }

    fn open_call(&mut self, m: &mut Machine, name: Ident, quoted: bool, event: bool, start: Span) -> Step {
        let open = self.advance();
        let frame = CallFrame { name, quoted, event, arguments: Vec::new(), label: None, start, open };
        if self.kind() == Tok::CloseParen {
            let end = self.advance();
            return Step::Operator(self.call(frame, end));
        }
        m.open(Frame::Call(frame));
        self.argument(m)
    }

    /// The beginning of an argument of the call on top: `user:`, `_`.
    pub(super) fn argument(&mut self, m: &mut Machine) -> Step {
        loop {
            let Some(Frame::Call(call)) = m.frames.last_mut() else { return Step::Operand };
            let constant = matches!(self.kind(), Tok::True | Tok::False | Tok::Null);
            if self.peek(1) == Tok::Colon && (self.is_name(0) || self.is_reserved(self.at) && !constant) {
                call.label = Some(self.ident());
                self.advance();
            }
            let wildcard = self.kind() == Tok::Word && self.word(0) == "_";
            if !wildcard || !matches!(self.peek(1), Tok::Comma | Tok::CloseParen) {
                return Step::Operand;
            }
            let span = self.advance();
            let span = call.label.as_ref().map_or(span, |label| label.span.to(span));
            call.arguments.push(Argument { name: call.label.take(), value: None, span });
            if self.accept(Tok::Comma).is_some() {
                continue;
            }
            let end = self.advance();
            m.last = Last::Closed;
            if let Some(Frame::Call(call)) = m.frames.pop() {
                m.open[super::frame::Bracket::Round as usize] -= 1;
                return Step::Operator(self.call(call, end));
            }
        }
    }

    /// A finished call. `min`, `max` and `abs` are terms of the language.
    pub(super) fn call(&mut self, call: CallFrame, end: Span) -> Operand {
        let extent = call.start.to(end);
        let builtin = !call.quoted && !call.event && matches!(call.name.name.as_str(), "min" | "max" | "abs");
        let kind = if builtin {
            self.builtin(&call, extent)
        } else {
            ExprKind::Call { name: call.name, arguments: call.arguments, event: call.event }
        };
        Operand { id: self.add(kind, extent), extent }
    }

    fn builtin(&mut self, call: &CallFrame, extent: Span) -> ExprKind {
        let word = call.name.name.as_str();
        let values: Vec<_> = call
            .arguments
            .iter()
            .filter(|a| a.name.is_none())
            .filter_map(|argument| argument.value)
            .collect();
        let plain = values.len() == call.arguments.len();
        match (word, values.as_slice()) {
            ("abs", [value]) if plain => ExprKind::Abs(*value),
            ("min" | "max", [first, middle @ .., last]) if plain => {
                let op = if word == "min" { ArithmeticOp::Min } else { ArithmeticOp::Max };
                let mut left = *first;
                for value in middle {
                    left = self.add(ExprKind::Arithmetic(op, left, *value), extent);
                }
                ExprKind::Arithmetic(op, left, *last)
            }
            _ => {
                let (count, example) =
                    if word == "abs" { ("one term", "x") } else { ("two terms or more", "a, b") };
                let found = Diagnostic::error("bad-call", format!("`{word}` takes {count}")).at(extent, "");
                self.report(match word {
                    "abs" => found.help("write `abs(x)`"),
                    _ if plain && values.len() == 1 => {
                        let body = self.brief(self.expr(values[0]).span);
                        found.help(format!("did you mean `{word}[{body}]`, over the rest of the trace?"))
                    }
                    _ => found.help(format!(
                        "write `{word}({example})`; over the rest of the trace it is `{word}[x]`"
                    )),
                });
                ExprKind::Error
            }
        }
    }

    /// Whether the token `ahead` is a name.
    pub(super) fn is_name(&self, ahead: usize) -> bool {
        matches!(self.peek(ahead), Tok::Word | Tok::Quoted)
    }

    /// The current token as a name, whatever word it is.
    pub(super) fn ident(&mut self) -> Ident {
        let quoted = self.kind() == Tok::Quoted;
        let span = self.advance();
        let text = self.slice(span);
        let name = if quoted { text[1..text.len() - 1].replace("``", "`") } else { text.to_owned() };
        Ident { name, span }
    }

    /// A path: the current token is its first name.
    pub(super) fn path(&mut self) -> (Path, Span) {
        self.path_until(|_| false)
    }

    /// The same, where a dot for which `ends` holds is none of the path's.
    pub(super) fn path_until(&mut self, ends: impl Fn(&Self) -> bool) -> (Path, Span) {
        let first = self.ident();
        let mut span = first.span;
        let mut steps = vec![PathStep::Field(first.name)];
        loop {
            if self.kind() == Tok::Dot && !ends(self) && (self.is_name(1) || self.is_reserved(self.at + 1)) {
                self.advance();
                let field = self.ident();
                span = span.to(field.span);
                steps.push(PathStep::Field(field.name));
            } else if self.kind() == Tok::OpenBracket
                && self.peek(1) == Tok::Star
                && self.peek(2) == Tok::CloseBracket
            {
                self.at += 2;
                span = span.to(self.advance());
                steps.push(PathStep::Each);
            } else {
                return (Path { steps }, span);
            }
        }
    }

    pub(super) fn argument_span(&self, label: &Option<Ident>, value: Span) -> Span {
        label.as_ref().map_or(value, |label| label.span.to(value))
    }
}

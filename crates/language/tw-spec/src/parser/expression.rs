//! The precedence machine: operands and operators in turn, unfinished constructs on a stack.

use super::frame::{Binary, Bracket, Frame, InfixFrame, Part, Stage, is_temporal};
use super::{Operand, Parser};
use crate::ast::{Argument, ExprId, ExprKind, Infix, Map};
use crate::lexer::Tok;
use tw_diag::{Diagnostic, Span};
use tw_ir::binding::{COMPARE, EMIT};
use tw_ir::{Aggregate, ArithmeticOp, CompareOp, Temporal};

/// What comes next.
pub(super) enum Step {
    /// An operand has to begin here.
    Operand,
    /// An operand has been read; an operator or an end follows.
    Operator(Operand),
    /// The expression has been read.
    Done(Operand),
}

/// What the operand just read ends with, where that restricts the next operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Last {
    Closed,
    Comparison,
    Emit,
}

/// The stack.
pub(super) struct Machine {
    pub frames: Vec<Frame>,
    /// How many brackets of each kind are open.
    pub open: [u32; 3],
    pub last: Last,
}

impl Machine {
    /// Pushes a frame that a bracket opened.
    pub(super) fn open(&mut self, frame: Frame) {
        if let Some((bracket, _)) = frame.bracket() {
            self.open[bracket as usize] += 1;
        }
        self.frames.push(frame);
    }

    pub(super) fn top_bracket(&self) -> Option<(Bracket, Span)> {
        self.frames.last().and_then(Frame::bracket)
    }
}

impl Parser<'_> {
    /// Reads one expression up to the `;`, the end, or the word that begins the next declaration.
    pub(super) fn expression(&mut self) -> Operand {
        let mut machine = Machine { frames: Vec::new(), open: [0; 3], last: Last::Closed };
        let mut step = Step::Operand;
        loop {
            step = match step {
                Step::Operand => self.operand(&mut machine),
                Step::Operator(value) => self.operator(&mut machine, value),
                Step::Done(value) => return value,
            };
        }
    }

    /// The binary operator that a token is.
    pub(super) fn binary_operator(kind: Tok) -> Option<Binary> {
        Some(match kind {
            Tok::Default => Binary::Default,
            Tok::Colon => Binary::Emit,
            Tok::Infix(op) => Binary::Logic(op),
            Tok::Compare(op) => Binary::Compare(op),
            Tok::Plus => Binary::Arithmetic(ArithmeticOp::Add),
            Tok::Minus => Binary::Arithmetic(ArithmeticOp::Sub),
            Tok::Star => Binary::Arithmetic(ArithmeticOp::Mul),
            Tok::Slash => Binary::Arithmetic(ArithmeticOp::Div),
            Tok::Percent => Binary::Arithmetic(ArithmeticOp::Rem),
            _ => return None,
        })
    }

    fn operator(&mut self, m: &mut Machine, value: Operand) -> Step {
        if self.ends_tally_value(m) {
            return self.tally_variables(m, value);
        }
        if self.ends_window(m) {
            return self.rolling(m, value);
        }
        if let Some(op) = Self::binary_operator(self.kind()) {
            return self.binary(m, value, op);
        }
        match self.kind() {
            Tok::In | Tok::Matches => {
                let value = self.left_operand(m, value, COMPARE).0;
                let value = if self.kind() == Tok::In { self.in_set(value) } else { self.matches(value) };
                m.last = Last::Comparison;
                Step::Operator(value)
            }
            Tok::Prefix(_) if self.word(0) == "<>" => {
                let found =
                    Diagnostic::error("unknown-operator", "`<>` between two terms is not a comparison");
                self.report(found.at(self.span(), "").help("write `!=` for \"differs from\""));
                self.binary(m, value, Binary::Compare(CompareOp::Ne))
            }
            Tok::Comma => self.comma(m, value),
            Tok::CloseParen => self.close(m, value, Bracket::Round),
            Tok::CloseBracket => self.close(m, value, Bracket::Square),
            Tok::CloseBrace if self.block && m.open[Bracket::Curly as usize] == 0 => self.conclude(m, value),
            Tok::CloseBrace => self.close(m, value, Bracket::Curly),
            Tok::Then => self.then(m, value),
            Tok::Else => self.otherwise(m, value),
            Tok::While => self.during(m, value),
            Tok::Semicolon | Tok::End => self.conclude(m, value),
            _ if self.starts_declaration() => self.conclude(m, value),
            _ if self.block && self.starts_item() => self.conclude(m, value),
            Tok::Word if m.open == [0; 3] && self.starts_division() => self.conclude(m, value),
            _ => self.missing_operator(value),
        }
    }

    /// Finishes what binds tighter than `power`, so that `value` is the operator's left side. The second
    /// result is the comparison that this one wrongly continues.
    fn left_operand(&mut self, m: &mut Machine, mut value: Operand, power: u8) -> (Operand, Option<ExprId>) {
        while m.frames.last().is_some_and(|top| top.floor() > power) {
            value = self.reduce(m, value);
        }
        if m.last == Last::Emit && power >= EMIT {
            self.operator_after_emit(value);
            value.id = self.add(ExprKind::Error, value.extent);
        } else if m.last == Last::Comparison && power == COMPARE {
            let left = value.id;
            value.id = self.add(ExprKind::Error, value.extent);
            return (value, Some(left));
        }
        (value, None)
    }

    fn binary(&mut self, m: &mut Machine, value: Operand, op: Binary) -> Step {
        let (left, chained) = self.left_operand(m, value, op.power().0);
        let op_span = self.advance();
        let mut frame = InfixFrame { op, op_span, left, interval: None, function: None, map: None, chained };
        if let Binary::Logic(infix) = op {
            if is_temporal(infix) {
                frame.interval = self.interval();
            }
            if self.kind() == Tok::OpenBrace {
                match infix {
                    Infix::And | Infix::Or => frame.function = self.function(),
                    Infix::Temporal(Temporal::Until) => return self.open_map(m, Frame::Infix(frame)),
                    _ => self.useless_braces(op_span),
                }
            }
        }
        m.frames.push(Frame::Infix(frame));
        Step::Operand
    }

    /// Opens `{v => …}` or `{c}` after the operator that `target` is.
    pub(super) fn open_map(&mut self, m: &mut Machine, target: Frame) -> Step {
        let open = self.advance();
        let arrow =
            matches!(self.kind(), Tok::Word | Tok::Quoted) && self.peek(1) == Tok::Infix(Infix::Implies);
        let parameter = (arrow && self.word(1) == "=>").then(|| {
            let parameter = self.ident();
            self.advance();
            parameter
        });
        m.open(Frame::Map { parameter, target: Box::new(target), open });
        Step::Operand
    }

    /// Finishes the topmost frame, which no bracket opened.
    fn reduce(&mut self, m: &mut Machine, value: Operand) -> Operand {
        let Some(frame) = m.frames.pop() else { return value };
        m.last = Last::Closed;
        let body = value.id;
        let (kind, start) = match frame {
            Frame::Infix(infix) => return self.reduce_infix(m, infix, value),
            Frame::Prefix { op, interval, map, start } => {
                (ExprKind::Prefix { op, interval, map, body }, start)
            }
            Frame::Not { map, start } => (ExprKind::Not(map, body), start),
            Frame::Negate { start } => (ExprKind::Negate(body), start),
            Frame::Quantifier { forall, variables, range, start } => {
                (ExprKind::Quantifier { forall, variables, range, body }, start)
            }
            Frame::If { stage: Stage::Else(condition, then), start } => {
                (ExprKind::If(condition, then, body), start)
            }
            Frame::If { stage, start } => {
                self.incomplete_if(stage, start);
                (ExprKind::Error, start)
            }
            bracket => {
                m.frames.push(bracket);
                return value;
            }
        };
        let extent = start.to(value.extent);
        Operand { id: self.add(kind, extent), extent }
    }

    fn reduce_infix(&mut self, m: &mut Machine, frame: InfixFrame, value: Operand) -> Operand {
        let (left, right) = (frame.left.id, value.id);
        let extent = frame.left.extent.to(value.extent);
        if let Some(comparison) = frame.chained {
            self.chained_comparison(comparison, frame.op_span, value);
        }
        let kind = match frame.op {
            Binary::Default => ExprKind::Default(left, right),
            Binary::Emit => {
                m.last = Last::Emit;
                ExprKind::Emit(left, right)
            }
            Binary::Compare(op) => {
                m.last = Last::Comparison;
                ExprKind::Compare(op, left, right)
            }
            Binary::Arithmetic(op) => ExprKind::Arithmetic(op, left, right),
            Binary::Logic(op) => {
                self.check_arrow(op, frame.op_span, right);
                let InfixFrame { interval, function, map, .. } = frame;
                ExprKind::Infix { op, interval, function, map, left, right }
            }
        };
        Operand { id: self.add(kind, extent), extent }
    }

    /// Finishes operators up to a bracket or an unfinished `if`.
    fn reduce_operators(&mut self, m: &mut Machine, mut value: Operand) -> Operand {
        while let Some(top) = m.frames.last() {
            let unfinished = matches!(top, Frame::If { stage: Stage::Condition | Stage::Then(_), .. });
            if unfinished || top.bracket().is_some() {
                break;
            }
            value = self.reduce(m, value);
        }
        value
    }

    /// Finishes everything up to a bracket.
    pub(super) fn reduce_to_bracket(&mut self, m: &mut Machine, mut value: Operand) -> Operand {
        while m.frames.last().is_some_and(|top| top.bracket().is_none()) {
            value = self.reduce(m, value);
        }
        value
    }

    fn close(&mut self, m: &mut Machine, value: Operand, bracket: Bracket) -> Step {
        let value = self.reduce_to_bracket(m, value);
        match m.top_bracket() {
            Some((top, _)) if top == bracket => {
                let end = self.advance();
                self.close_top(m, value, end)
            }
            Some((_, open)) if m.open[bracket as usize] > 0 => {
                self.unclosed(open, 1);
                Step::Operator(self.close_missing(m, value))
            }
            // `(a]`: one slip of the pen, unless the right bracket follows.
            Some((top, open)) if self.peek(1) != top.closing() => {
                let (wrong, opened) = (self.word(0), self.slice(open));
                let found = format!("`{wrong}` does not close this `{opened}`");
                let found = Diagnostic::error("unmatched-bracket", found)
                    .at(self.span(), "another bracket is expected");
                self.report(found.at(open, "opened here").help("close it with the bracket of the same kind"));
                let end = self.advance();
                self.close_top(m, value, end)
            }
            _ => {
                let found = format!("`{}` closes nothing", self.word(0));
                let found =
                    Diagnostic::error("unmatched-bracket", found).at(self.span(), "no bracket is open here");
                self.report(found.help("remove it, or open the bracket where it should begin"));
                self.advance();
                Step::Operator(value)
            }
        }
    }

    /// Finishes the bracket on top, whose closing partner is at `end`.
    pub(super) fn close_top(&mut self, m: &mut Machine, value: Operand, end: Span) -> Step {
        let Some(frame) = m.frames.pop() else { return Step::Operator(value) };
        if let Some((bracket, _)) = frame.bracket() {
            m.open[bracket as usize] -= 1;
        }
        m.last = Last::Closed;
        let operand = match frame {
            Frame::Paren { open, items } if items.is_empty() => {
                Operand { id: value.id, extent: open.to(end) }
            }
            Frame::Paren { open, mut items } => {
                items.push(value.id);
                let extent = open.to(end);
                Operand { id: self.add(ExprKind::Tuple(items), extent), extent }
            }
            Frame::Call(mut call) => {
                let span = self.argument_span(&call.label, value.extent);
                call.arguments.push(Argument { name: call.label.take(), value: Some(value.id), span });
                self.call(call, end)
            }
            Frame::Aggregate { aggregate, body, second, part, start, .. } => {
                let extent = start.to(end);
                let (body, second, during) = match part {
                    Part::Body => (value.id, None, None),
                    Part::Second => (body.unwrap_or(value.id), Some(value.id), None),
                    Part::During => (body.unwrap_or(value.id), second, Some(value.id)),
                };
                if aggregate == Aggregate::Corr && second.is_none() {
                    self.lone_corr(extent);
                }
                Operand {
                    id: self.add(ExprKind::Aggregate { aggregate, body, second, during }, extent),
                    extent,
                }
            }
            Frame::Tally(frame) => self.tally(frame, value, end),
            Frame::Paths { op, start, .. } => {
                let extent = start.to(end);
                let kind = ExprKind::Prefix { op, interval: None, map: None, body: value.id };
                Operand { id: self.add(kind, extent), extent }
            }
            Frame::Map { parameter, mut target, .. } => {
                let function = Some(Map { parameter, result: value.id });
                match &mut *target {
                    Frame::Infix(InfixFrame { map, .. })
                    | Frame::Prefix { map, .. }
                    | Frame::Not { map, .. } => {
                        *map = function;
                    }
                    _ => {}
                }
                m.frames.push(*target);
                return Step::Operand;
            }
            other => {
                m.frames.push(other);
                value
            }
        };
        Step::Operator(operand)
    }

    /// Finishes the bracket on top as if its partner stood here; that it does not is already reported. What stands inside was
    /// written, and is understood as what it would be with the partner.
    fn close_missing(&mut self, m: &mut Machine, value: Operand) -> Operand {
        // Behind `{…}` an operand would have to follow.
        if matches!(m.frames.last(), None | Some(Frame::Map { .. })) {
            return self.abandon(m, value);
        }
        let end = self.gap();
        match self.close_top(m, value, end) {
            Step::Operator(value) | Step::Done(value) => value,
            Step::Operand => value,
        }
    }

    /// Drops the bracket on top, which is never closed; already reported.
    fn abandon(&mut self, m: &mut Machine, value: Operand) -> Operand {
        let Some(frame) = m.frames.pop() else { return value };
        let Some((bracket, open)) = frame.bracket() else { return value };
        m.open[bracket as usize] -= 1;
        m.last = Last::Closed;
        let extent = open.to(value.extent);
        Operand { id: self.add(ExprKind::Error, extent), extent }
    }

    /// The end of the expression: nothing may be open any more.
    fn conclude(&mut self, m: &mut Machine, value: Operand) -> Step {
        let mut value = self.reduce_to_bracket(m, value);
        if let Some((_, open)) = m.top_bracket() {
            // One finding for all: where the first one is closed, the others may fit again.
            let unclosed: u32 = m.open.iter().sum();
            self.unclosed(open, unclosed);
            while !m.frames.is_empty() {
                value = self.close_missing(m, value);
                value = self.reduce_to_bracket(m, value);
            }
        }
        Step::Done(value)
    }

    fn comma(&mut self, m: &mut Machine, value: Operand) -> Step {
        let value = self.reduce_to_bracket(m, value);
        let comma = self.span();
        let extra = match m.frames.last_mut() {
            Some(Frame::Paren { items, .. }) => {
                items.push(value.id);
                None
            }
            Some(Frame::Call(call)) => {
                let label = call.label.take();
                let span = label.as_ref().map_or(value.extent, |label| label.span.to(value.extent));
                call.arguments.push(Argument { name: label, value: Some(value.id), span });
                self.advance();
                return self.argument(m);
            }
            Some(Frame::Aggregate { aggregate, body, part: part @ Part::Body, .. }) => {
                *body = Some(value.id);
                *part = Part::Second;
                (*aggregate != Aggregate::Corr)
                    .then_some("this aggregate takes one experiment, only `corr[a, b]` takes two")
            }
            _ => {
                let found =
                    Diagnostic::error("unexpected-comma", "a comma has no meaning here").at(comma, "");
                self.report(found.help("join formulas with `&`; a pair of values is written `(a, b)`"));
                return self.skip_operand(value);
            }
        };
        if let Some(extra) = extra {
            self.report(Diagnostic::error("bad-aggregate", extra).at(comma, "the second one begins here"));
        }
        self.advance();
        Step::Operand
    }

    fn then(&mut self, m: &mut Machine, value: Operand) -> Step {
        let value = self.reduce_operators(m, value);
        if let Some(Frame::If { stage: stage @ Stage::Condition, .. }) = m.frames.last_mut() {
            *stage = Stage::Then(value.id);
            self.advance();
            return Step::Operand;
        }
        self.stray_word("`then` belongs to an `if` before it", "write `if c then a else b`");
        self.skip_operand(value)
    }

    fn otherwise(&mut self, m: &mut Machine, value: Operand) -> Step {
        let value = self.reduce_operators(m, value);
        if let Some(Frame::If { stage, .. }) = m.frames.last_mut()
            && let Stage::Then(condition) = *stage
        {
            *stage = Stage::Else(condition, value.id);
            self.advance();
            return Step::Operand;
        }
        self.stray_word("`else` belongs to an `if … then …` before it", "write `if c then a else b`");
        self.skip_operand(value)
    }

    fn during(&mut self, m: &mut Machine, value: Operand) -> Step {
        let value = self.reduce_to_bracket(m, value);
        if let Some(Frame::Aggregate { body, second, part, .. }) = m.frames.last_mut()
            && *part != Part::During
        {
            if *part == Part::Body {
                *body = Some(value.id);
            } else {
                *second = Some(value.id);
            }
            *part = Part::During;
            self.advance();
            return Step::Operand;
        }
        self.stray_word("`while` belongs inside an aggregate", "write `count[a while b]`");
        self.skip_operand(value)
    }
}

//! `r <- SUM x; g, h φ`: r is the sum of x over the valuations of φ's other variables, for each value of g and h that φ has.
//!
//! A group that φ does not have is not there, so that the formula says that φ has it. Without groups there is always a
//! result, which is 0 for an empty φ.

use super::MonPoly;
use crate::build::{Sort, Value};
use crate::cursor::{Cursor, Tok, refuse};
use tw_diag::{Diagnostic, Span};
use tw_ir::{CompareOp, Tally};
use tw_spec::ast::{ExprKind, Infix, Type};

/// An aggregate whose formula is being read.
pub(super) struct Aggregate {
    tally: Tally,
    result: (String, Span),
    over: (String, Span),
    groups: Vec<(String, Span)>,
    line: usize,
}

impl<'t> MonPoly<'_, 't> {
    /// Reads `r <- SUM x; g, h`.
    pub(super) fn aggregate(&mut self, cursor: &mut Cursor<'t>) -> Result<Aggregate, Diagnostic> {
        let (result, span) = cursor.word("the name of a variable")?;
        self.plain(result, span)?;
        let line = cursor.line(span);
        cursor.expect("<-")?;
        let (operator, place) = cursor.word("`CNT`, `SUM`, `MIN`, `MAX` or `AVG`")?;
        let tally = match operator {
            "CNT" => Tally::Count,
            "SUM" => Tally::Sum,
            "MIN" => Tally::Min,
            "MAX" => Tally::Max,
            "AVG" => Tally::Avg,
            "MED" => {
                return Err(refuse(place, "`MED` has no counterpart", "there is no median of valuations"));
            }
            _ => {
                let message = format!("found `{operator}`, expected `CNT`, `SUM`, `MIN`, `MAX` or `AVG`");
                return Err(Diagnostic::error("import-syntax", message).at(place, "expected an aggregate"));
            }
        };
        let (over, over_span) = cursor.word("the variable that is aggregated")?;
        self.plain(over, over_span)?;
        let mut groups: Vec<(&str, Span)> = Vec::new();
        if cursor.accept(";").is_some() && cursor.kind() == Tok::Word {
            loop {
                let (group, span) = cursor.word("a variable to group by")?;
                self.plain(group, span)?;
                groups.push((group, span));
                if cursor.accept(",").is_none() {
                    break;
                }
            }
        }
        self.scopes.aggregate(&groups);
        let own = |(name, span): (&str, Span)| (name.to_owned(), span);
        let (result, over) = (own((result, span)), own((over, over_span)));
        Ok(Aggregate { tally, result, over, groups: groups.into_iter().map(own).collect(), line })
    }

    /// The aggregate of a formula, which was read.
    pub(super) fn aggregated(
        &mut self,
        aggregate: Aggregate,
        body: Value,
        span: Span,
    ) -> Result<Value, Diagnostic> {
        let Aggregate { tally, result, over, groups, line } = aggregate;
        let body = crate::formats::formula(body)?;
        if let Some(group) = self.scopes.unused_group() {
            let message = format!("`{group}` does not occur in the aggregated formula");
            let place = groups.iter().find(|(name, _)| name == group).map_or(span, |(_, span)| *span);
            return Err(
                Diagnostic::error("import-syntax", message).at(place, "expected one of its variables")
            );
        }
        let locals = self.scopes.close();
        let Some(valued) = locals.iter().find(|local| local.name == over.0).cloned() else {
            let grouped = groups.iter().any(|(name, _)| *name == over.0);
            let what = if grouped { "is grouped by" } else { "does not occur in the aggregated formula" };
            let message = format!("`{}` {what}", over.0);
            let found = Diagnostic::error("import-syntax", message);
            return Err(found.at(over.1, "expected another of its variables"));
        };
        // The formula has no end of its own: what was meant to stand beside the aggregate is easily inside.
        if locals.iter().any(|local| local.name == result.0) {
            let message = format!("`{}` is the result and occurs in the aggregated formula", result.0);
            let why = "that formula reaches as far right as it can: put the aggregate in parentheses, `(r <- SUM x; g φ) IMPLIES …`";
            return Err(refuse(result.1, message, why));
        }
        let words: Vec<String> = locals.iter().map(|local| local.word.clone()).collect();
        let mut grouped = Vec::new();
        for (name, span) in &groups {
            grouped.push(self.scopes.find(name, *span, &mut self.types)?.word);
        }
        // Who groups or asks for emptiness reads the formula twice.
        let single = groups.is_empty() && matches!(tally, Tally::Count | Tally::Sum);
        let parameters: Vec<String> = grouped.iter().chain(&words).cloned().collect();
        let body = if single { body } else { self.builder.twice_of(body, &parameters, line) };
        let outer = self.scopes.find(&result.0, result.1, &mut self.types)?;
        let ty = match tally {
            Tally::Count => self.types.cell(Some(Type::Int)),
            Tally::Avg => self.types.cell(Some(Type::Real)),
            _ => valued.cell,
        };
        if tally != Tally::Count {
            self.types.number(valued.cell, (over.0.as_str(), over.1))?;
        }
        self.types.unify(outer.cell, ty, (result.0.as_str(), result.1))?;
        let value = (tally != Tally::Count).then(|| self.builder.variable(&valued.word, over.1));
        let term = self.builder.tally(tally, value, &words, body, span);
        let name = self.builder.variable(&outer.word, result.1);
        let equal = self.builder.compare(CompareOp::Eq, name, term, span);
        if single {
            return Ok(equal);
        }
        let some = self.builder.quantify(false, &words, body, body.span);
        if !groups.is_empty() {
            return Ok(self.builder.infix(Infix::And, None, [some, equal], span));
        }
        let zero = self.builder.push(ExprKind::Int(0), Sort::Int, span, &[]);
        let name = self.builder.variable(&outer.word, result.1);
        let zero = self.builder.compare(CompareOp::Eq, name, zero, span);
        let none = self.builder.not(some, body.span);
        let empty = self.builder.infix(Infix::And, None, [none, zero], span);
        Ok(self.builder.infix(Infix::Or, None, [equal, empty], span))
    }
}

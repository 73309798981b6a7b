//! Rolling windows.

use super::{Builder, Sort, Value};
use tw_diag::Span;
use tw_ir::{Aggregate, Over};
use tw_spec::ast::ExprKind;

impl Builder {
    /// `aggregate[body over length]`: the body is a formula for a count, otherwise a term.
    pub fn window(&mut self, aggregate: Aggregate, body: Value, over: Over, span: Span) -> Value {
        let kind = ExprKind::Window { aggregate, body: body.id, over: Some(over) };
        self.push(kind, Sort::Number, span, &[body])
    }
}

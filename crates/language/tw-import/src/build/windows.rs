//! Rolling windows.

use super::{Builder, Value};
use crate::cursor::refuse;
use tw_diag::{Diagnostic, Span};
use tw_ir::{Aggregate, Bound};

/// `aggregate[body over length]`: the latest positions.
pub(crate) struct Window {
    pub aggregate: Aggregate,
    /// Of a count a formula, otherwise a term.
    pub body: Value,
    pub over: Over,
}

/// How far back a window reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// So many positions, this one included.
    Positions(u64),
    /// So long.
    Time(Bound),
}

impl Builder {
    /// The term that a window is.
    pub fn window(&mut self, window: Window, span: Span) -> Result<Value, Diagnostic> {
        let Window { aggregate, body, over } = window;
        let body = tw_spec::print_expr(&self.tree, body.id);
        let over = match over {
            Over::Positions(count) => count.to_string(),
            Over::Time(bound) => bound.to_string(),
        };
        let what =
            format!("equations hold no rolling window: this would be `{aggregate}[{body} over {over}]`");
        Err(refuse(span, what, "compute it by a query, or into a column"))
    }
}

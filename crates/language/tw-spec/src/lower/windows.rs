//! Rolling windows: what they may aggregate, and their slots.

use super::build::{ABSENT, Builder};
use super::expand::Expander;
use super::expanded::{Item, ItemId, Kind, NONE};
use tw_diag::{Diagnostic, Span};
use tw_ir::{Aggregate, Node, NodeId, Over, Slot, SlotId, What, Window, display};

/// Characters of a window in messages.
const LONGEST: usize = 4000;

impl Expander<'_, '_> {
    /// `agg[e over L]`.
    pub(super) fn window(
        &mut self,
        aggregate: Aggregate,
        body: ItemId,
        over: Option<Over>,
        span: Span,
    ) -> Kind {
        let Some(over) = over else { return Kind::Error };
        if let Aggregate::Histogram(_) | Aggregate::Corr = aggregate {
            let name = if aggregate == Aggregate::Corr { "corr" } else { "histogram" };
            let found = Diagnostic::error("bad-window", format!("`{name}` has no rolling window"));
            let help =
                "windows have `count sum min max avg first last var stddev median quantile(q) mode distinct`";
            self.findings.add(found.at(span, "").help(help));
            return Kind::Error;
        }
        let (body, guard) = match self.out.item(body).kind {
            Kind::Emit(guard, body) if aggregate != Aggregate::Count => (body, guard),
            Kind::Emit(guard, _) => {
                let found = Diagnostic::error("bad-window", "a window counts where a formula holds");
                let found =
                    found.at(self.out.span(body), "this has a value").at(self.out.span(guard), "a formula");
                self.findings.add(found.help(format!("write `count[φ over {over}]`")));
                return Kind::Error;
            }
            _ => (body, NONE),
        };
        Kind::Window(aggregate, body, guard, self.out.over(over))
    }
}

impl Builder<'_, '_> {
    /// The slot of a window over these parts.
    pub(super) fn window(&mut self, item: Item, [body, guard, _]: [NodeId; 3]) -> SlotId {
        let Kind::Window(aggregate, .., over) = item.kind else { return 0 };
        let guard = (guard != ABSENT).then_some(guard);
        let over = self.items.overs[over as usize];
        self.refuse_in_window(item.span, body, guard);
        let what = display(&self.program, body);
        let mut text = match guard {
            Some(guard) => format!("{aggregate}[{} : {what} over {over}]", display(&self.program, guard)),
            None => format!("{aggregate}[{what} over {over}]"),
        };
        // Windows in windows repeat the text of those that they hold.
        if let Some((end, _)) = text.char_indices().nth(LONGEST) {
            text.truncate(end);
            text.push('…');
        }
        let what = What::Window(Window { aggregate, body, guard, over, text, per: None });
        self.tuples(Slot { what, declared: true, span: item.span })
    }

    /// A window knows its own past alone.
    fn refuse_in_window(&mut self, span: Span, body: NodeId, guard: Option<NodeId>) {
        let parts: Vec<NodeId> = std::iter::once(body).chain(guard).collect();
        let bad = self.program.reachable(&parts).into_iter().find(|&id| {
            let node = self.program.dag.node(id);
            node.is_future() || node.is_first_order() || node.is_branching() || node == Node::Last
        });
        let Some(bad) = bad else { return };
        let node = self.program.dag.node(bad);
        let operator = node.operator();
        let place = self.program.spans[bad.index()].unwrap_or(span);
        let found = match node.is_first_order() {
            true => Diagnostic::error("bad-window", format!("a rolling window holds no {operator}"))
                .at(place, "the window would be one for every value")
                .help("ask per key: `by` a column; or count valuations: `count(x : O[<=10s] p(x))`"),
            false => Diagnostic::error("bad-window", format!("a rolling window holds no `{operator}`"))
                .at(place, "this looks ahead, and a window looks back")
                .help("past operators are `Y Z O H S B T`"),
        };
        self.findings.add(found);
    }
}

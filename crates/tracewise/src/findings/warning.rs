//! Warnings, resolved in the texts they point into, and the items they concern.

use super::Item;
use crate::Specification;
use serde_json::Value as Json;
use std::collections::HashMap;
use std::sync::Arc;
use tw_diag::{Diagnostic, Sources, Span};
use tw_ir::RootKind;

/// A finding that did not stop the run.
#[derive(Clone, Debug)]
pub struct Warning {
    /// Code, message, hint.
    pub diagnostic: Diagnostic,
    /// The same with its places in files and lines, as programs read it.
    pub object: Json,
    /// The texts that it points into.
    pub sources: Arc<Sources>,
}

/// The same finding at the same places.
impl PartialEq for Warning {
    fn eq(&self, other: &Self) -> bool {
        self.diagnostic == other.diagnostic && self.object == other.object
    }
}

impl Warning {
    /// Resolves its places.
    pub fn new(diagnostic: Diagnostic, sources: &Arc<Sources>) -> Self {
        let object = tw_diag::to_json(&diagnostic, sources);
        Self { diagnostic, object, sources: Arc::clone(sources) }
    }

    /// File and line of its first place.
    pub fn place(&self) -> Option<(&str, u64)> {
        Some((self.object["file"].as_str()?, self.object["line"].as_u64()?))
    }
}

/// Each root of one kind, with the text that is its own: the declaration or, with `-e`, the formula.
pub(super) fn owned(spec: &Specification, kind: RootKind) -> Vec<(&str, Span)> {
    let declarations = Places::new(spec.tree.declarations.iter().map(|declaration| declaration.span));
    let own = |span: Span| declarations.around(span).next().map_or(span, |at| declarations.spans[at]);
    let roots = spec.program.roots.iter().filter(|root| root.kind == kind);
    roots.map(|root| (root.name.as_str(), own(root.span))).collect()
}

/// Items per root: with `by` there is one for each value of the column.
pub(super) fn parts(items: usize, roots: usize) -> usize {
    match roots {
        0 => 1,
        roots => (items / roots).max(1),
    }
}

fn within(inner: Span, outer: Span) -> bool {
    inner.source == outer.source && inner.start >= outer.start && inner.end <= outer.end
}

/// Texts of their own, to be found by a place in them: what that costs does not grow with how many there are, unless they
/// lie inside one another.
struct Places {
    spans: Vec<Span>,
    /// In the order of their beginnings, each with the furthest end up to it.
    order: Vec<(usize, u32)>,
}

impl Places {
    fn new(spans: impl Iterator<Item = Span>) -> Self {
        let spans: Vec<Span> = spans.collect();
        let mut order: Vec<(usize, u32)> = (0..spans.len()).map(|at| (at, 0)).collect();
        order.sort_by_key(|&(at, _)| (spans[at].source, spans[at].start));
        let mut before = (u32::MAX, 0);
        for (at, furthest) in &mut order {
            let Span { source, end, .. } = spans[*at];
            before = (source, if before.0 == source { end.max(before.1) } else { end });
            *furthest = before.1;
        }
        Self { spans, order }
    }

    /// The numbers of the texts that a place lies in, ascending.
    fn around(&self, place: Span) -> impl Iterator<Item = usize> {
        let key = |at: usize| (self.spans[at].source, self.spans[at].start);
        let last = self.order.partition_point(|&(at, _)| key(at) <= (place.source, place.start));
        let before = self.order[..last].iter().rev();
        let near = before
            .take_while(|&&(at, furthest)| self.spans[at].source == place.source && furthest >= place.end);
        let mut found: Vec<usize> =
            near.map(|&(at, _)| at).filter(|&at| within(place, self.spans[at])).collect();
        found.sort_unstable();
        found.into_iter()
    }
}

/// Gives each warning to the items whose own text it points into; what is left concerns the run.
pub(super) fn divide(
    warnings: Vec<Diagnostic>,
    spec: &Specification,
    kind: RootKind,
    items: &mut [Item],
) -> Vec<Warning> {
    if warnings.is_empty() {
        return Vec::new();
    }
    let owned = owned(spec, kind);
    let each = parts(items.len(), owned.len());
    let places = Places::new(owned.iter().map(|(_, own)| *own));
    let sources = Arc::new(spec.sources.clone());
    let mut rest: Vec<Warning> = Vec::new();
    let mut said: HashMap<String, Vec<usize>> = HashMap::new();
    for diagnostic in warnings {
        let place = diagnostic.labels.first().map(|(span, _)| *span);
        let warning = Warning::new(diagnostic, &sources);
        let mut concerned = false;
        for root in place.iter().flat_map(|place| places.around(*place)) {
            let own = items.iter_mut().skip(root * each).take(each);
            for item in own.filter(|item| item.name == owned[root].0) {
                item.warnings.push(warning.clone());
                concerned = true;
            }
        }
        if !concerned {
            let alike = said.entry(warning.diagnostic.message.clone()).or_default();
            if alike.iter().all(|&at| rest[at] != warning) {
                alike.push(rest.len());
                rest.push(warning);
            }
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_goes_to_the_text_it_points_into() {
        let text = "property a : G p;\nproperty b : G q;\nlet r = p;\n";
        let spec = Specification::from_text("s.tw", text).unwrap();
        let mut items: Vec<Item> =
            ["a", "b"].map(|name| Item { name: name.into(), ..Item::default() }).into();
        let at = |word: &str, code| {
            let start = text.find(word).unwrap() as u32;
            let span = Span { source: 0, start, end: start + 1 };
            Diagnostic::warning(code, "look").at(span, "here")
        };
        let warnings = vec![at("q", "own"), at("r = p", "shared"), Diagnostic::warning("nowhere", "look")];
        let rest = divide(warnings, &spec, RootKind::Property, &mut items);
        let codes = |list: &[Warning]| list.iter().map(|w| w.diagnostic.code).collect::<Vec<_>>();
        assert_eq!((codes(&items[0].warnings), codes(&items[1].warnings)), (vec![], vec!["own"]));
        assert_eq!(codes(&rest), ["shared", "nowhere"]);
        assert_eq!(rest[0].place(), Some(("s.tw", 3)));
    }
}

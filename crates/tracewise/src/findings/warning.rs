//! Warnings, resolved in the texts they point into, and the items they concern.

use super::Item;
use crate::Specification;
use serde_json::Value as Json;
use std::iter::repeat_n;
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
    let declarations = &spec.tree.declarations;
    let own = |span: Span| {
        let around = declarations.iter().find(|declaration| within(span, declaration.span));
        around.map_or(span, |declaration| declaration.span)
    };
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
    let sources = Arc::new(spec.sources.clone());
    let mut rest = Vec::new();
    for diagnostic in warnings {
        let place = diagnostic.labels.first().map(|(span, _)| *span);
        let warning = Warning::new(diagnostic, &sources);
        let mut concerned = false;
        for (item, (name, own)) in items.iter_mut().zip(owned.iter().flat_map(|own| repeat_n(own, each))) {
            if item.name == *name && place.is_some_and(|place| within(place, *own)) {
                item.warnings.push(warning.clone());
                concerned = true;
            }
        }
        if !concerned && !rest.contains(&warning) {
            rest.push(warning);
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

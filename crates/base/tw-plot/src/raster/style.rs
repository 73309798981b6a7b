//! How text is set: what its element, those around it and the style sheets say.

use resvg::usvg::roxmltree::{Document, Node};
use simplecss::{AttributeOperator, Declaration, DeclarationTokenizer, Element, PseudoClass, StyleSheet};
use std::collections::BTreeMap;

/// How text is set.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Style {
    pub size: f64,
    pub bold: bool,
    pub anchor: Anchor,
    /// Attributes of fill and stroke.
    pub paint: BTreeMap<String, String>,
}

/// Where a line of text is relative to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Style {
    /// Of an element: from the outermost to itself, each by its attributes, then the style sheets, then its own style.
    pub fn of(node: Node, sheets: &StyleSheet) -> Style {
        let mut style = Style { size: 16.0, bold: false, anchor: Anchor::Start, paint: BTreeMap::new() };
        let mut path: Vec<_> = node.ancestors().filter(Node::is_element).collect();
        path.reverse();
        for node in path {
            for attribute in node.attributes() {
                style.set(attribute.name(), attribute.value());
            }
            for rule in sheets.rules.iter().filter(|rule| rule.selector.matches(&Matched(node))) {
                rule.declarations.iter().for_each(|Declaration { name, value, .. }| style.set(name, value));
            }
            let own = DeclarationTokenizer::from(node.attribute("style").unwrap_or(""));
            own.into_iter().for_each(|Declaration { name, value, .. }| style.set(name, value));
        }
        style
    }

    fn set(&mut self, name: &str, value: &str) {
        let value = value.trim();
        match name {
            "font-size" => self.size = pixels(value).unwrap_or(self.size),
            "font-weight" => self.bold = heavy(value),
            "font" => {
                self.bold = value.split_whitespace().any(heavy);
                self.size = value.split([' ', '/']).find_map(pixels).unwrap_or(self.size);
            }
            "text-anchor" => match value {
                "start" => self.anchor = Anchor::Start,
                "middle" => self.anchor = Anchor::Middle,
                "end" => self.anchor = Anchor::End,
                _ => {}
            },
            "fill" | "fill-opacity" | "stroke" | "stroke-width" | "paint-order" if value != "inherit" => {
                self.paint.insert(name.into(), value.into());
            }
            _ => {}
        }
    }
}

fn heavy(value: &str) -> bool {
    matches!(value, "bold" | "bolder" | "600" | "700" | "800" | "900")
}

/// A size in pixels; other units are not known.
fn pixels(value: &str) -> Option<f64> {
    let size: f64 = value.strip_suffix("px").unwrap_or(value).parse().ok()?;
    (size.is_finite() && size > 0.0).then_some(size)
}

/// All style sheets of a picture.
pub(super) fn sheets<'a>(document: &'a Document) -> StyleSheet<'a> {
    let mut sheets = StyleSheet::new();
    for node in document.descendants().filter(|node| node.has_tag_name("style") || is(*node, "style")) {
        sheets.parse_more(node.text().unwrap_or(""));
    }
    sheets
}

/// Whether an element has this name, in whatever namespace.
pub(super) fn is(node: Node, name: &str) -> bool {
    node.is_element() && node.tag_name().name() == name
}

/// An element, for selectors.
struct Matched<'a, 'input>(Node<'a, 'input>);

impl Element for Matched<'_, '_> {
    fn parent_element(&self) -> Option<Self> {
        self.0.parent_element().map(Matched)
    }

    fn prev_sibling_element(&self) -> Option<Self> {
        self.0.prev_sibling_element().map(Matched)
    }

    fn has_local_name(&self, name: &str) -> bool {
        self.0.tag_name().name() == name
    }

    fn attribute_matches(&self, name: &str, operator: AttributeOperator<'_>) -> bool {
        self.0.attribute(name).is_some_and(|value| operator.matches(value))
    }

    fn pseudo_class_matches(&self, class: PseudoClass<'_>) -> bool {
        matches!(class, PseudoClass::FirstChild) && self.0.prev_sibling_element().is_none()
    }
}

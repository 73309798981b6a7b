//! Classes as a picture.

use crate::context::{Failure, usage};
use crate::words;
use tracewise::Error;
use tracewise::classify::Classes;
use tracewise::classify::draw::{Card, dot, svg};

/// Classes that a picture shows, the most frequent of each property first.
const DRAWN: usize = 40;

/// Refuses what is no picture.
pub fn check(path: &str) -> Result<(), Failure> {
    match path.ends_with(".svg") || path.ends_with(".dot") {
        true => Ok(()),
        false => Err(usage(format!("--draw: found `{path}`, expected a file that ends in `.svg` or `.dot`"))),
    }
}

/// Writes the classes by the last set of rules.
pub fn write(classes: &Classes, path: &str) -> Result<(), Failure> {
    let cards: Vec<Card<'_>> = classes
        .last()
        .take(DRAWN)
        .map(|class| Card {
            title: format!(
                "{} · {} · {} · {}",
                words::counted(class.traces, "trace"),
                class.verdict.as_str(),
                class.property,
                &class.class[..8]
            ),
            note: format!(
                "{} — for example {}",
                class.why,
                class.examples[..class.examples.len().min(3)].join(", ")
            ),
            tree: &class.tree,
        })
        .collect();
    let text = if path.ends_with(".svg") { svg(&cards) } else { dot(&cards) };
    std::fs::write(path, text)
        .map_err(|error| Failure::Error(Error::io(format!("cannot write the picture `{path}`"), error)))
}

//! Violations as one table: a column per variable that one of them binds.

use crate::table::{Builder, Table};
use arrow::array::{ArrayRef, Int64Array, StringBuilder};
use pyo3::prelude::*;
use std::sync::Arc;
use tracewise::Value;
use tracewise::check::Listing;
use tracewise::findings::{Item, Violation};
use tracewise::trace::Stamp;

/// What an item tells: columns, or objects.
enum Told<'r> {
    Columns(&'r Listing),
    Objects(&'r [Violation]),
}

impl Told<'_> {
    fn of(item: &Item) -> Told<'_> {
        match &item.listing {
            Some(listing) => Told::Columns(listing),
            None => Told::Objects(&item.violations),
        }
    }

    fn len(&self) -> usize {
        match self {
            Told::Columns(listing) => listing.len(),
            Told::Objects(violations) => violations.len(),
        }
    }

    fn positions(&self) -> Box<dyn Iterator<Item = Option<i64>> + '_> {
        match self {
            Told::Columns(listing) => {
                Box::new(listing.positions.iter().map(|&position| Some(position as i64)))
            }
            Told::Objects(own) => {
                Box::new(own.iter().map(|own| own.position.map(|position| position as i64)))
            }
        }
    }

    fn times(&self) -> Box<dyn Iterator<Item = Option<Stamp>> + '_> {
        match self {
            Told::Columns(Listing { times: Some((times, style)), .. }) => {
                Box::new(times.iter().map(|&time| Some(Stamp { time, style: *style })))
            }
            Told::Columns(listing) => Box::new((0..listing.len()).map(|_| None)),
            Told::Objects(own) => Box::new(own.iter().map(|own| own.time)),
        }
    }

    /// The names of what is bound.
    fn names(&self, names: &mut Vec<String>) {
        let mut add = |name: &str| {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_string());
            }
        };
        match self {
            Told::Columns(listing) => {
                let mut seen = vec![false; listing.variables.len()];
                for (variable, _) in listing.bindings.iter().flat_map(|own| own.pairs()) {
                    if let Some(seen) = seen.get_mut(*variable as usize).filter(|seen| !**seen) {
                        *seen = true;
                        add(&listing.variables[*variable as usize]);
                    }
                }
                if let Some((by, ..)) = listing.keys.as_ref().filter(|_| !listing.is_empty()) {
                    add(by);
                }
            }
            Told::Objects(own) => own.iter().flat_map(|own| &own.bindings).for_each(|(name, _)| add(name)),
        }
    }

    /// What a name is in each.
    fn bound(&self, name: &str) -> Box<dyn Iterator<Item = Value> + '_> {
        let of_pairs = |pairs: &[(String, Value)], name: &str| {
            pairs.iter().find(|(own, _)| own == name).map_or(Value::Null, |(_, value)| value.clone())
        };
        let name = name.to_string();
        match self {
            Told::Columns(listing) => {
                let variable = listing.variables.iter().position(|own| *own == name).map(|at| at as u32);
                let keys = listing.keys.as_ref().filter(|(by, ..)| *by == name);
                Box::new((0..listing.len()).map(move |at| {
                    let bound = listing.bindings.get(at).zip(variable);
                    let own = bound
                        .and_then(|(own, variable)| own.pairs().iter().find(|(own, _)| *own == variable));
                    match (own, keys) {
                        (Some((_, value)), _) => value.clone(),
                        (None, Some((_, of, keys))) => keys[of[at] as usize].clone(),
                        (None, None) => Value::Null,
                    }
                }))
            }
            Told::Objects(violations) => {
                Box::new(violations.iter().map(move |own| of_pairs(&own.bindings, &name)))
            }
        }
    }
}

/// One text, so often.
fn repeated<'t>(texts: impl Iterator<Item = (&'t str, usize)> + Clone) -> ArrayRef {
    let (mut rows, mut bytes) = (0, 0);
    texts.clone().for_each(|(text, count)| (rows, bytes) = (rows + count, bytes + count * text.len()));
    let mut column = StringBuilder::with_capacity(rows, bytes);
    texts.for_each(|(text, count)| (0..count).for_each(|_| column.append_value(text)));
    Arc::new(column.finish())
}

/// The violations of items, each with its trace, as a table.
pub fn violations<'r>(items: impl Iterator<Item = (&'r str, &'r Item)>) -> PyResult<Table> {
    let all: Vec<(&str, &Item, Told<'_>)> =
        items.map(|(trace, item)| (trace, item, Told::of(item))).collect();
    let mut names = Vec::new();
    all.iter().for_each(|(_, _, told)| told.names(&mut names));
    let mut table = Builder::default();
    table.add("property", repeated(all.iter().map(|(_, item, told)| (item.name.as_str(), told.len()))));
    table.add("trace", repeated(all.iter().map(|(trace, _, told)| (*trace, told.len()))));
    let positions = all.iter().flat_map(|(_, _, told)| told.positions());
    table.add("position", Arc::new(positions.collect::<Int64Array>()));
    table.times("time", &all.iter().flat_map(|(_, _, told)| told.times()).collect::<Vec<_>>());
    for name in names {
        let values: Vec<Value> = all.iter().flat_map(|(_, _, told)| told.bound(&name)).collect();
        table.values(&name, &values);
    }
    // What monitors say of each.
    let said = |of: fn(&Violation) -> Option<&str>| -> Vec<Option<&str>> {
        let own = |(_, _, told): &(&str, &'r Item, Told<'r>)| match *told {
            Told::Columns(listing) => vec![None; listing.len()],
            Told::Objects(own) => own.iter().map(of).collect(),
        };
        all.iter().flat_map(own).collect()
    };
    let categories = said(|own| own.category.as_deref());
    if categories.iter().any(Option::is_some) {
        table.texts("category", categories.into_iter());
        let severities =
            all.iter().flat_map(|(_, item, told)| (0..told.len()).map(|_| Some(item.severity.name())));
        table.texts("severity", severities);
        table.texts("text", said(|own| own.text.as_deref()).into_iter());
    }
    Ok(table.finish())
}

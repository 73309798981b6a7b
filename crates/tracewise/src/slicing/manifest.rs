//! Verdicts from slices that lie in files, by the manifest that says what each may report.

use super::partial::{Restriction, evaluate, together};
use super::plan::properties;
use super::split::KIND;
use crate::check::{CheckOptions, CheckReport};
use crate::{Error, Session, Specification};
use serde_json::Value as Json;
use std::io::Read;
use std::path::Path;
use tw_ir::{Program, Root};
use tw_log_slices::{Bucket, Division, Shard};

/// The manifest that a file is, if it is one.
pub(crate) fn of(files: &[String]) -> Option<Json> {
    let [file] = files else { return None };
    if Path::new(file).extension().is_none_or(|own| own != "json") {
        return None;
    }
    // A trace may be called so, too, and be large.
    let mut head = Vec::new();
    std::fs::File::open(file).ok()?.take(200).read_to_end(&mut head).ok()?;
    let text = String::from_utf8_lossy(&head);
    if !text.contains("\"tracewise\"") || !text.contains(KIND) {
        return None;
    }
    let read = std::fs::read(file).ok()?;
    serde_json::from_slice::<Json>(&read).ok().filter(|own| own["tracewise"] == KIND)
}

/// The restriction of a property in a slice.
fn restriction(program: &Program, slice: &Json, root: &Root) -> Option<Restriction> {
    let own = slice["restrictions"].as_array()?.iter().find(|own| own["property"] == root.name.as_str())?;
    let (outer, _) = program.invariant(root.node)?;
    let number = |json: &Json| json.as_u64().and_then(|number| u32::try_from(number).ok());
    let one = |json: &Json| {
        let named = |own: &&u32| json["variable"] == program.dag.variables[**own as usize].as_str();
        let variable = *outer.iter().find(named)?;
        let division = Division { variable, salt: number(&json["salt"])?, of: number(&json["of"])? };
        Some(Bucket { division, is: number(&json["is"])? })
    };
    let buckets = own["buckets"].as_array()?.iter().map(one).collect::<Option<_>>()?;
    let positions = match own["positions"].as_array() {
        Some(pair) => Some((pair.first()?.as_u64()? as usize, pair.get(1)?.as_u64()? as usize)),
        None => None,
    };
    Some((Shard { buckets, positions }, own["as_one"] == true))
}

/// The names of the properties that slices are made for.
fn made(slices: &[Json]) -> String {
    let mut names: Vec<String> = Vec::new();
    for own in slices.iter().filter_map(|slice| slice["restrictions"].as_array()).flatten() {
        let name = format!("`{}`", own["property"].as_str().unwrap_or_default());
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() { "no property".into() } else { names.join(", ") }
}

/// The verdicts of every property from the slices of a manifest.
pub(crate) fn check(
    session: &Session,
    spec: &Specification,
    (file, manifest): (&str, &Json),
    options: &CheckOptions,
) -> Result<CheckReport, Error> {
    let spec = &*properties(spec)?;
    let directory = Path::new(file).parent().unwrap_or(Path::new(""));
    let bad = |what: &str| Error::refused(format!("`{file}` is no manifest of slices: {what}"));
    let slices = manifest["slices"].as_array().ok_or_else(|| bad("it has no slices"))?;
    let mut partials = Vec::new();
    for (number, slice) in slices.iter().enumerate() {
        let name = slice["file"].as_str().ok_or_else(|| bad("a slice has no file"))?;
        let path = directory.join(name).display().to_string();
        let list = format!("{path}.positions");
        let text = std::fs::read_to_string(&list)
            .map_err(|error| Error::io(format!("cannot read `{list}`"), error))?;
        let order: Option<Vec<u64>> = text.lines().map(|line| line.parse().ok()).collect();
        let order = order.ok_or_else(|| bad(&format!("`{list}` does not list positions")))?;
        let own = |root: &Root| match restriction(&spec.program, slice, root) {
            None if !slices.iter().any(|slice| restriction(&spec.program, slice, root).is_some()) => {
                let made = made(slices);
                Err(Error::refused(format!(
                    "the slices of `{file}` are not made for `{}`, but for {made}: split the log for it, too",
                    root.name
                )))
            }
            found => Ok(found),
        };
        let slice = (number as u32, std::slice::from_ref(&path));
        partials.push(evaluate(session, spec, slice, (&order, None), &own, options)?);
    }
    let trace = manifest["trace"].as_str().unwrap_or(file).to_string();
    together(session, spec, partials, (trace, manifest["positions"].as_u64().unwrap_or(0)), options)
}

//! `tracewise schema`: what the JSON of a command looks like, as a JSON Schema.
//!
//! The objects stand in `schemas/objects.json`; which of them a command writes is a row of [`OUTPUTS`]. Nothing beside what a
//! schema names may be in an object, and every run of a test that writes JSON is held to its schema.

use super::Runnable;
use crate::context::{Context, Outcome, usage};
use crate::exit::Exit;
use clap::Args;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write;

const OBJECTS: &str = include_str!("../../schemas/objects.json");

/// The objects that a command writes with `--output json`, one a line; beside them, every command may write an error.
pub const OUTPUTS: &[(&str, &[&str])] = &[
    ("check", &["property"]),
    ("query", &["query", "query_at", "total", "property"]),
    ("eval", &["truth"]),
    ("classify", &["class"]),
    ("watch", &["watch", "watch_value", "pending", "note", "truth"]),
    #[cfg(target_os = "linux")]
    ("record", &["watch", "watch_value", "pending", "note", "property"]),
    ("robust", &["robust", "robust_live", "note"]),
    ("stream", &["streams", "stream_analysis", "stream_answer", "note"]),
    ("chart", &["property", "chart_formula"]),
    ("explain", &["root", "monitor", "specification", "automaton", "residual"]),
    ("fmt", &["formatted"]),
    ("lint", &["linted"]),
    ("import", &["imported"]),
    ("test", &["test"]),
    ("inspect", &["inspection"]),
    ("init", &["draft"]),
    ("convert", &["converted"]),
    ("slice", &["slice"]),
    ("split", &["split"]),
    ("templates", &["template", "template_at"]),
    ("simulate", &["simulated"]),
    ("merge", &["merged", "answer"]),
    ("model-check", &["answer"]),
    ("coverage", &["coverage"]),
    ("races", &["deadlock", "race"]),
];

/// The JSON Schema of a command's JSON
///
/// With `--output json`, a command writes one object per line; each is valid under this schema.
#[derive(Args, Debug)]
pub struct Schema {
    /// The command
    #[arg(value_name = "COMMAND", value_parser = clap::builder::PossibleValuesParser::new(OUTPUTS.iter().map(|(name, _)| *name)))]
    command: String,
}

impl Runnable for Schema {
    fn run(self, context: &mut Context) -> Outcome {
        let schema = schema(&self.command)
            .ok_or_else(|| usage(format!("`{}` writes no JSON of its own", self.command)))?;
        context.out.data();
        writeln!(context.out, "{schema:#}")?;
        Ok(Exit::Holds)
    }
}

/// The schema of a command's lines, with all that it refers to.
fn schema(command: &str) -> Option<Value> {
    let (_, own) = OUTPUTS.iter().find(|(name, _)| *name == command)?;
    let all: Value = serde_json::from_str(OBJECTS).ok()?;
    let mut names: Vec<&str> = own.to_vec();
    names.extend(["error", "warning"]);
    let first: Vec<Value> = names.iter().map(|name| json!({"$ref": format!("#/$defs/{name}")})).collect();
    let mut needed: BTreeSet<String> = BTreeSet::new();
    let mut open: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    while let Some(name) = open.pop() {
        if needed.insert(name.clone()) {
            references(&all["$defs"][&name], &mut open);
        }
    }
    let defs: serde_json::Map<String, Value> =
        needed.into_iter().map(|name| (name.clone(), all["$defs"][&name].clone())).collect();
    Some(json!({
        "$schema": all["$schema"],
        "title": format!("tracewise {command} --output json"),
        "description": "One of these objects stands on each line.",
        "anyOf": first,
        "$defs": defs,
    }))
}

/// The definitions that a schema refers to.
fn references(schema: &Value, into: &mut Vec<String>) {
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value.as_str().filter(|_| key == "$ref").and_then(|text| text.strip_prefix("#/$defs/"))
                {
                    Some(name) => into.push(name.to_owned()),
                    None => references(value, into),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, into)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_whole() {
        let all: Value = serde_json::from_str(OBJECTS).expect("JSON");
        let mut named = Vec::new();
        references(&all, &mut named);
        named.extend(OUTPUTS.iter().flat_map(|(_, names)| names.iter().map(|name| (*name).to_owned())));
        named.extend(["error".to_owned(), "warning".to_owned()]);
        let known: BTreeSet<&String> = all["$defs"].as_object().expect("definitions").keys().collect();
        assert_eq!(named.iter().collect::<BTreeSet<_>>(), known, "each is there, and is used");
    }

    #[test]
    fn every_command_that_writes_json_has_one() {
        for command in crate::commands::program().get_subcommands() {
            let json = |command: &clap::Command| {
                command.get_arguments().any(|own| {
                    own.get_id() == "output"
                        && own.get_possible_values().iter().any(|value| value.get_name() == "json")
                })
            };
            let writes = json(command) || command.get_subcommands().any(json);
            let listed = OUTPUTS.iter().any(|(name, _)| *name == command.get_name());
            assert_eq!(writes, listed, "{}", command.get_name());
        }
    }
}

//! JSON Schema, as far as the schemas of the command use it: whatever else one would say is an error here.

use super::root;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

/// What a command writes with `--output json` is valid under its schema.
pub fn hold<'a>(arguments: impl Iterator<Item = &'a str>, written: &str) {
    let words: Vec<&str> = arguments.collect();
    let json = words.windows(2).any(|pair| pair == ["--output", "json"]) || words.contains(&"--output=json");
    // Some write a trace, a model or a specification to standard output instead.
    let document = words.windows(2).any(|pair| matches!(pair[0], "-o" | "--out") && pair[1] == "-");
    if !json || document || words.iter().any(|word| matches!(*word, "--help" | "-h")) {
        return;
    }
    let name = words
        .iter()
        .skip_while(|word| word.starts_with('-') || matches!(**word, "always" | "never" | "warnings"));
    let Some(name) = name.clone().next() else { return };
    let Some(schema) = schema(name) else { return };
    for line in written.lines() {
        let value: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{words:?}: {error}: {line}"));
        if let Err(why) = valid(&schema, &schema, &value) {
            let why: String = why.chars().take(3000).collect();
            panic!("{words:?} writes what its schema forbids: {why}\n{line}");
        }
    }
}

/// The schema of a command, from the documentation.
pub fn schema(command: &str) -> Option<Arc<Value>> {
    static KNOWN: LazyLock<Mutex<HashMap<String, Option<Arc<Value>>>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let read = || {
        let text = std::fs::read_to_string(root().join(format!("docs/schemas/{command}.json"))).ok()?;
        Some(Arc::new(serde_json::from_str(&text).expect("a schema is JSON")))
    };
    known.entry(command.to_owned()).or_insert_with(read).clone()
}

/// Whether a value is valid; why not, if not.
pub fn valid(whole: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    let Some(rules) = schema.as_object() else { return Err(format!("no schema: {schema}")) };
    for (key, rule) in rules {
        let fits = match key.as_str() {
            "$schema" | "title" | "description" | "$defs" | "required" => true,
            "$ref" => {
                let name =
                    rule.as_str().and_then(|text| text.strip_prefix("#/$defs/")).expect("a definition");
                let Some(target) = whole["$defs"].get(name) else { return Err(format!("no `{name}`")) };
                valid(whole, target, value).map_err(|why| format!("{name}: {why}"))?;
                true
            }
            "anyOf" => {
                let all = rule.as_array().expect("a list");
                let tried: Vec<String> = all.iter().map_while(|one| valid(whole, one, value).err()).collect();
                if tried.len() == all.len() {
                    return Err(format!("none of: {}", tried.join(" / ")));
                }
                true
            }
            "type" => match rule {
                Value::Array(types) => types.iter().any(|one| is(value, one)),
                one => is(value, one),
            },
            "enum" => rule.as_array().expect("a list").contains(value),
            "const" => rule == value,
            "minimum" => value.as_f64().is_none_or(|number| number >= rule.as_f64().expect("a number")),
            "pattern" => {
                assert_eq!(rule, "^[0-9a-f]{32}$", "the one pattern that is known here");
                value.as_str().is_none_or(|text| {
                    text.len() == 32
                        && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
                })
            }
            "items" => {
                for item in value.as_array().into_iter().flatten() {
                    valid(whole, rule, item)?;
                }
                true
            }
            "minItems" => {
                value.as_array().is_none_or(|items| items.len() as u64 >= rule.as_u64().expect("a number"))
            }
            "maxItems" => {
                value.as_array().is_none_or(|items| items.len() as u64 <= rule.as_u64().expect("a number"))
            }
            "minProperties" => {
                value.as_object().is_none_or(|own| own.len() as u64 >= rule.as_u64().expect("a number"))
            }
            "maxProperties" => {
                value.as_object().is_none_or(|own| own.len() as u64 <= rule.as_u64().expect("a number"))
            }
            "properties" | "additionalProperties" => true,
            other => return Err(format!("`{other}` is not known here")),
        };
        if !fits {
            return Err(format!("{value} against {key}: {rule}"));
        }
    }
    let Some(fields) = value.as_object() else { return Ok(()) };
    for name in rules.get("required").and_then(Value::as_array).into_iter().flatten() {
        let name = name.as_str().expect("a name");
        if !fields.contains_key(name) {
            return Err(format!("`{name}` is missing"));
        }
    }
    for (name, own) in fields {
        let known = rules.get("properties").and_then(|known| known.get(name));
        match known.or(rules.get("additionalProperties")) {
            Some(Value::Bool(false)) => return Err(format!("`{name}` is not expected")),
            Some(rule) => valid(whole, rule, own).map_err(|why| format!("{name}: {why}"))?,
            None => {}
        }
    }
    Ok(())
}

fn is(value: &Value, name: &Value) -> bool {
    match name.as_str().expect("a type") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|own| own.fract() == 0.0),
        other => panic!("no type: {other}"),
    }
}

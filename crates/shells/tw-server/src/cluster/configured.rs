//! `[cluster]` of the settings.

use crate::config::file::time;
use crate::names;
use crate::sources::wire::Address;
use std::time::Duration;
use toml::{Table, Value};

/// How a server shares a stream with others. All of them say the same, but for their own names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterConfig {
    /// This server's name among them.
    pub member: String,
    /// Where NATS is.
    pub address: Address,
    /// The stream of JetStream that has the events.
    pub stream: String,
    /// Where all events are published, each once.
    pub subject: String,
    /// What specifications call the stream.
    pub into: String,
    /// How long a member may be silent.
    pub patience: Duration,
    /// Fields by which events are partitioned.
    pub keys: Vec<Key>,
}

/// A field by whose values events are partitioned: all events of a value are in one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The field.
    pub field: String,
    /// Where partitions are published, with `{partition}` for their numbers from 0.
    pub subject: String,
    /// How many there are.
    pub partitions: u32,
}

/// The most partitions of a field.
const MOST: i64 = 1024;

fn check(table: &Table, known: &[&str]) -> Result<(), String> {
    match table.keys().find(|key| !known.contains(&key.as_str())) {
        Some(other) => Err(format!("found the setting `{other}`, expected one of {}", known.join(", "))),
        None => Ok(()),
    }
}

fn text(table: &Table, name: &str) -> Result<String, String> {
    match table.get(name) {
        Some(Value::String(text)) if !text.is_empty() && !text.contains(char::is_whitespace) => {
            Ok(text.clone())
        }
        Some(other) => Err(format!("{name}: found {other}, expected a text in quotes, without spaces")),
        None => Err(format!("`{name}` is missing")),
    }
}

/// Reads `[cluster]`.
pub fn configured(value: &Value) -> Result<ClusterConfig, String> {
    let table = value.as_table().ok_or("`cluster` is a section: write [cluster]")?;
    let inner = || -> Result<ClusterConfig, String> {
        check(table, &["member", "url", "stream", "subject", "into", "patience", "key"])?;
        let member = text(table, "member")?;
        names::check("member", &member).map_err(|why| format!("member: {why}"))?;
        let into = text(table, "into")?;
        names::check("stream", &into).map_err(|why| format!("into: {why}"))?;
        let address =
            Address::parse(&text(table, "url")?, "nats", 4222).map_err(|why| format!("url: {why}"))?;
        let patience = table.get("patience").map_or(Ok(Duration::from_secs(5)), time);
        let patience = patience.map_err(|why| format!("patience: {why}"))?;
        let keys = match table.get("key") {
            None => Vec::new(),
            Some(Value::Array(all)) => all.iter().map(|value| key(value, &into)).collect::<Result<_, _>>()?,
            Some(_) => return Err("`key` is a list: write [[cluster.key]] before each".into()),
        };
        let (stream, subject) = (text(table, "stream")?, text(table, "subject")?);
        Ok(ClusterConfig { member, address, stream, subject, into, patience, keys })
    };
    inner().map_err(|why| format!("[cluster]: {why}"))
}

fn key(value: &Value, into: &str) -> Result<Key, String> {
    let table = value.as_table().ok_or("`key` is a list: write [[cluster.key]] before each")?;
    check(table, &["field", "subject", "partitions"])?;
    let (field, subject) = (text(table, "field")?, text(table, "subject")?);
    names::check("stream", &format!("{into}.{field}")).map_err(|why| format!("field: {why}"))?;
    if !subject.contains("{partition}") {
        return Err(format!("subject: found {subject:?}, expected one with {{partition}} in it"));
    }
    let partitions =
        table.get("partitions").and_then(Value::as_integer).filter(|count| (1..=MOST).contains(count));
    let partitions = partitions.ok_or_else(|| format!("partitions: expected a number from 1 to {MOST}"))?;
    Ok(Key { field, subject, partitions: partitions as u32 })
}

#[cfg(test)]
mod tests {
    use super::configured;

    #[test]
    fn what_is_wrong_is_named() {
        let good = "member = \"a\"\nurl = \"nats://h\"\nstream = \"S\"\nsubject = \"e.>\"\ninto = \"web\"\n";
        let read =
            |text: &str| configured(&format!("[cluster]\n{text}").parse::<toml::Table>().unwrap()["cluster"]);
        assert!(read(good).unwrap().keys.is_empty());
        let key = "[[cluster.key]]\nfield = \"u\"\nsubject = \"e.{partition}\"\npartitions = 3\n";
        assert_eq!(read(&format!("{good}{key}")).unwrap().keys[0].partitions, 3);
        for (text, expected) in [
            (good.replace("member = \"a\"\n", ""), "`member` is missing"),
            (good.replace("\"web\"", "\"a/b\""), "into: found"),
            (good.replace("nats://", "http://"), "url: found a URL that begins with http://"),
            (format!("{good}patience = 3\n"), "patience: found 3"),
            (format!("{good}other = 3\n"), "found the setting `other`"),
            (format!("{good}{}", key.replace("{partition}", "0")), "expected one with {partition}"),
            (format!("{good}{}", key.replace("= 3", "= 0")), "partitions: expected a number from 1"),
        ] {
            let why = read(&text).unwrap_err();
            assert!(why.starts_with("[cluster]: ") && why.contains(expected), "{text}: {why}");
        }
    }
}

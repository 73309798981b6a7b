//! `[[source]]` of the settings.

use super::wire::Address;
use crate::names;
use std::sync::Arc;
use toml::Value;

/// A kind of broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// NATS JetStream.
    Nats,
    /// A Redis stream.
    Redis,
    /// MQTT 3.1.1.
    Mqtt,
    /// Kafka.
    #[cfg(feature = "kafka")]
    Kafka,
}

/// What is read of a broker: its setting, and whether it has to be there.
type Setting = (&'static str, bool);

/// Name, scheme, port, what is read.
const KINDS: &[(&str, Kind, &str, u16, &[Setting])] = &[
    ("nats", Kind::Nats, "nats", 4222, &[("stream", true), ("subject", false), ("consumer", false)]),
    ("redis", Kind::Redis, "redis", 6379, &[("key", true), ("field", false)]),
    ("mqtt", Kind::Mqtt, "mqtt", 1883, &[("topic", true), ("client", false)]),
    #[cfg(feature = "kafka")]
    ("kafka", Kind::Kafka, "kafka", 9092, &[("topic", true)]),
];

/// How a source is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceConfig {
    /// Its name, by which its position is kept.
    pub name: Arc<str>,
    /// What it reads from.
    pub kind: Kind,
    /// Where that is.
    pub address: Address,
    /// The stream of this server that the events go to.
    pub into: String,
    /// What is read there: the stream, key or topic …
    pub from: String,
    /// … and what else is said of it: the subject, the field, the name of a consumer or client.
    pub rest: Vec<(&'static str, String)>,
}

impl Kind {
    /// Its name.
    pub fn name(self) -> &'static str {
        KINDS.iter().find(|(_, kind, ..)| *kind == self).map_or("", |(name, ..)| name)
    }
}

impl SourceConfig {
    /// A setting that need not be there.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.rest.iter().find(|(own, _)| *own == name).map(|(_, value)| value.as_str())
    }
}

/// Reads `[[source]]`.
pub fn configured(value: &Value) -> Result<Vec<SourceConfig>, String> {
    let Some(all) = value.as_array() else {
        return Err("`source` is a list: write [[source]] before each".into());
    };
    let mut sources: Vec<SourceConfig> = Vec::new();
    for (number, value) in all.iter().enumerate() {
        let source = one(value).map_err(|why| format!("[[source]] {}: {why}", number + 1))?;
        if let Some(same) = sources.iter().find(|own| own.name == source.name) {
            return Err(format!("two sources are named `{}`; give one another `name`", same.name));
        }
        sources.push(source);
    }
    Ok(sources)
}

fn one(value: &Value) -> Result<SourceConfig, String> {
    let table = value.as_table().ok_or("found a value, expected settings")?;
    let text = |name: &str| match table.get(name) {
        None => Ok(None),
        Some(Value::String(text)) if !text.is_empty() && !text.contains(char::is_control) => {
            Ok(Some(text.clone()))
        }
        Some(other) => Err(format!("{name}: found {other}, expected a text in quotes")),
    };
    let kinds = || KINDS.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", ");
    let kind = text("kind")?.ok_or_else(|| format!("`kind` is missing: one of {}", kinds()))?;
    let known = KINDS.iter().find(|(name, ..)| *name == kind);
    if known.is_none() && kind == "kafka" {
        return Err("kind: this build does not know Kafka; build one with `--features kafka`".into());
    }
    let Some((_, kind, scheme, port, own)) = known else {
        return Err(format!("kind: found `{kind}`, expected one of {}", kinds()));
    };
    let common = ["kind", "name", "url", "into"];
    if let Some(other) =
        table.keys().find(|key| !common.contains(&key.as_str()) && !own.iter().any(|(name, _)| name == key))
    {
        let expected: Vec<&str> = common.iter().copied().chain(own.iter().map(|(name, _)| *name)).collect();
        return Err(format!("found the setting `{other}`, expected one of {}", expected.join(", ")));
    }
    let mut values = Vec::new();
    for (name, needed) in *own {
        match text(name)? {
            Some(value) => values.push((*name, value)),
            None if *needed => return Err(format!("`{name}` is missing")),
            None => {}
        }
    }
    let (_, from) = values.remove(0);
    let name = text("name")?.unwrap_or_else(|| kind.name().into());
    names::check("source", &name)?;
    let into = text("into")?.unwrap_or_else(|| name.clone());
    names::check("stream", &into).map_err(|why| format!("into: {why}"))?;
    let url = text("url")?.ok_or("`url` is missing")?;
    let address = Address::parse(&url, scheme, *port).map_err(|why| format!("url: {why}"))?;
    Ok(SourceConfig { name: name.into(), kind: *kind, address, into, from, rest: values })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<SourceConfig>, String> {
        configured(&text.parse::<toml::Table>().unwrap()["source"])
    }

    #[test]
    fn sources_are_read() {
        let text = "[[source]]\nkind = \"nats\"\nurl = \"nats://h\"\nstream = \"S\"\nsubject = \"a.*\"\ninto = \"web\"\n\
                    [[source]]\nkind = \"mqtt\"\nurl = \"mqtt://h:1\"\ntopic = \"t/#\"\n";
        let all = read(text).unwrap();
        assert_eq!((&*all[0].name, all[0].into.as_str(), all[0].from.as_str()), ("nats", "web", "S"));
        assert_eq!((all[0].setting("subject"), all[0].setting("consumer")), (Some("a.*"), None));
        assert_eq!((all[1].into.as_str(), all[1].address.host.as_str()), ("mqtt", "h:1"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, expected) in [
            ("kind = \"nats\"\nurl = \"nats://h\"", "`stream` is missing"),
            ("kind = \"rabbit\"", "found `rabbit`, expected one of nats, redis, mqtt"),
            ("url = \"x\"", "`kind` is missing"),
            ("kind = \"redis\"\nkey = \"k\"", "`url` is missing"),
            (
                "kind = \"redis\"\nkey = \"k\"\nurl = \"nats://h\"",
                "url: found a URL that begins with nats://",
            ),
            ("kind = \"redis\"\nkey = 3\nurl = \"redis://h\"", "key: found 3"),
            (
                "kind = \"redis\"\nkey = \"k\"\ntopic = \"t\"\nurl = \"redis://h\"",
                "found the setting `topic`",
            ),
            ("kind = \"redis\"\nkey = \"k\"\nurl = \"redis://h\"\ninto = \"../x\"", "into: found"),
            ("kind = \"redis\"\nkey = \"k\"\nurl = \"redis://h\"\nname = \"a b\"", "found \"a b\""),
        ] {
            let why = read(&format!("[[source]]\n{text}\n")).unwrap_err();
            assert!(why.contains(expected) && why.contains("[[source]] 1: "), "{text}: {why}");
        }
        let twice = "[[source]]\nkind = \"redis\"\nkey = \"k\"\nurl = \"redis://h\"\n";
        assert!(read(&twice.repeat(2)).unwrap_err().contains("two sources are named `redis`"));
        assert!(read("source = 3").unwrap_err().contains("[[source]]"));
    }
}

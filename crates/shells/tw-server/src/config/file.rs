//! Settings from a TOML file.

use super::{Config, listening};
use crate::webhooks;
use std::path::PathBuf;
use std::time::Duration;
use toml::{Table, Value};
use tracewise::TimeUnit;

/// What a value is given to.
type Set = fn(&mut Config, &Value) -> Result<(), String>;

/// Section, name, what becomes of the value.
const SETTINGS: &[(&str, &str, Set)] = &[
    ("server", "listen", |config, value| text(value).map(|text| config.listen = text)),
    ("server", "specs", |config, value| text(value).map(|text| config.specs = Some(PathBuf::from(text)))),
    ("server", "tokens", |config, value| text(value).map(|text| config.tokens = Some(PathBuf::from(text)))),
    ("server", "tls_cert", |config, value| {
        text(value).map(|text| config.tls.cert = Some(PathBuf::from(text)))
    }),
    ("server", "tls_key", |config, value| text(value).map(|text| config.tls.key = Some(PathBuf::from(text)))),
    ("server", "memory", |config, value| bytes(value).map(|bytes| config.memory = bytes as usize)),
    ("server", "checkpoint", |config, value| time(value).map(|time| config.checkpoint = time)),
    ("server", "late", |config, value| time(value).map(|time| config.late = Some(time))),
    ("server", "reload", |config, value| time(value).map(|time| config.reload = time)),
    ("log", "segment", |config, value| bytes(value).map(|bytes| config.log.segment = bytes)),
    ("log", "size", |config, value| bytes(value).map(|bytes| config.log.size = Some(bytes))),
    ("log", "age", |config, value| time(value).map(|time| config.log.age = Some(time))),
    ("log", "recent", |config, value| bytes(value).map(|bytes| config.log.recent = bytes as usize)),
    ("violations", "segment", |config, value| bytes(value).map(|bytes| config.verdicts.segment = bytes)),
    ("violations", "size", |config, value| bytes(value).map(|bytes| config.verdicts.size = Some(bytes))),
    ("violations", "age", |config, value| time(value).map(|time| config.verdicts.age = Some(time))),
    ("limits", "body", |config, value| bytes(value).map(|bytes| config.limits.body = bytes as usize)),
    ("limits", "unpacked", |config, value| bytes(value).map(|bytes| config.limits.unpacked = bytes as usize)),
    ("limits", "line", |config, value| bytes(value).map(|bytes| config.limits.line = bytes as usize)),
    ("limits", "connections", |config, value| {
        count(value).map(|count| config.limits.connections = count as usize)
    }),
    ("limits", "streams", |config, value| count(value).map(|count| config.limits.streams = count as usize)),
    ("limits", "patience", |config, value| time(value).map(|time| config.limits.patience = time)),
    ("limits", "idle", |config, value| time(value).map(|time| config.limits.idle = time)),
    ("limits", "behind", |config, value| count(value).map(|count| config.limits.behind = count)),
    ("listen", "tcp", listening::tcp),
    ("listen", "unix", listening::unix),
    ("listen", "syslog", listening::syslog),
    ("otlp", "stream", listening::otlp),
    ("limits", "address", |config, value| count(value).map(|count| config.limits.address = count as usize)),
    ("limits", "bodies", |config, value| bytes(value).map(|bytes| config.limits.bodies = bytes as usize)),
    ("limits", "requests", |config, value| count(value).map(|count| config.limits.requests = Some(count))),
    ("limits", "rate", |config, value| bytes(value).map(|bytes| config.limits.rate = Some(bytes))),
    ("limits", "guesses", |config, value| count(value).map(|count| config.limits.guesses = count)),
];

impl Config {
    /// Takes the settings of a file's text.
    pub fn set(&mut self, text: &str) -> Result<(), String> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
        for (section, values) in &table {
            if let Some(done) = self.set_list(section, values) {
                done?;
                continue;
            }
            if section == "source" {
                self.sources = crate::sources::configured(values)?;
                continue;
            }
            if section == "cluster" {
                self.cluster = Some(crate::cluster::configured(values)?);
                continue;
            }
            let known = || SETTINGS.iter().filter(|(own, ..)| own == section);
            if known().next().is_none() {
                let mut sections: Vec<&str> = SETTINGS.iter().map(|(own, ..)| *own).collect();
                sections.dedup();
                sections.extend(["webhook", "silence", "source", "cluster"]);
                return Err(format!(
                    "found the section `{section}`, expected one of {}",
                    sections.join(", ")
                ));
            }
            let Some(values) = values.as_table() else {
                return Err(format!("`{section}` is a section: write [{section}]"));
            };
            for (name, value) in values {
                let Some((_, _, set)) = known().find(|(_, own, _)| own == name) else {
                    let names: Vec<&str> = known().map(|(_, own, _)| *own).collect();
                    let expected = names.join(", ");
                    return Err(format!(
                        "[{section}]: found the setting `{name}`, expected one of {expected}"
                    ));
                };
                set(self, value).map_err(|why| format!("[{section}] {name}: {why}"))?;
            }
        }
        Ok(())
    }

    /// What there may be several of, by `[[name]]`.
    fn set_list(&mut self, name: &str, values: &Value) -> Option<Result<(), String>> {
        let entries = values.as_array();
        let expected = || Err(format!("write [[{name}]], with two brackets"));
        let numbered = |number: usize, why: String| format!("[[{name}]] {}: {why}", number + 1);
        let done = match name {
            "webhook" => entries.map_or_else(expected, |entries| {
                for (number, entry) in entries.iter().enumerate() {
                    let own = webhooks::read_webhook(entry).map_err(|why| numbered(number, why))?;
                    if self.webhooks.iter().any(|known| known.name == own.name) {
                        return Err(numbered(number, format!("there are two of the name `{}`", own.name)));
                    }
                    self.webhooks.push(own);
                }
                Ok(())
            }),
            "silence" => entries.map_or_else(expected, |entries| {
                for (number, entry) in entries.iter().enumerate() {
                    self.windows.push(webhooks::read_window(entry).map_err(|why| numbered(number, why))?);
                }
                Ok(())
            }),
            _ => return None,
        };
        Some(done)
    }
}

/// A text.
pub fn text(value: &Value) -> Result<String, String> {
    value.as_str().map(str::to_string).ok_or_else(|| format!("found {value}, expected a text in quotes"))
}

fn count(value: &Value) -> Result<u64, String> {
    let count = value.as_integer().and_then(|count| u64::try_from(count).ok()).filter(|count| *count > 0);
    count.ok_or_else(|| format!("found {value}, expected a number, 1 or more"))
}

/// A number and its unit.
fn with_unit(value: &Value) -> Option<(&str, &str)> {
    let text = value.as_str()?.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    Some((text[..split].trim(), &text[split..]))
}

/// A time.
pub fn time(value: &Value) -> Result<Duration, String> {
    let read = with_unit(value).and_then(|(number, unit)| TimeUnit::parse(unit)?.parse_number(number).ok());
    let nanos = read.and_then(|nanos| u64::try_from(nanos).ok()).filter(|nanos| *nanos > 0);
    nanos
        .map(Duration::from_nanos)
        .ok_or_else(|| format!("found {value}, expected a time such as \"10s\" or \"7d\""))
}

fn bytes(value: &Value) -> Result<u64, String> {
    let read = with_unit(value).and_then(|(number, unit)| {
        let factor = match unit {
            "B" => 1.0,
            "KB" => 1e3,
            "MB" => 1e6,
            "GB" => 1e9,
            "TB" => 1e12,
            _ => return None,
        };
        number.parse::<f64>().ok().map(|number| number * factor)
    });
    let read = read.filter(|bytes| (1.0..1e15).contains(bytes));
    read.map(|bytes| bytes as u64).ok_or_else(|| format!("found {value}, expected a size such as \"64MB\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        Config::new("data".into())
    }

    #[test]
    fn settings_are_taken() {
        let mut config = config();
        config.set("[server]\ncheckpoint = \"20ms\"\n[log]\nsize = \"1.5GB\"\nage = \"7d\"\n[limits]\nstreams = 3\n").unwrap();
        assert_eq!(config.checkpoint, Duration::from_millis(20));
        assert_eq!(
            (config.log.size, config.log.age),
            (Some(1_500_000_000), Some(Duration::from_secs(7 * 86_400)))
        );
        assert_eq!(config.limits.streams, 3);
    }

    #[test]
    fn the_settings_of_the_documents_are_taken() {
        let document = include_str!("../../../../../docs/server.md");
        let mut blocks = document.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
        let block = blocks.find(|block| block.contains("[limits]")).unwrap();
        config().set(block).unwrap();
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, expected) in [
            ("[srever]\n", "found the section `srever`"),
            ("[log]\nsiez = 1\n", "[log]: found the setting `siez`"),
            ("[log]\nsize = 1\n", "[log] size: found 1, expected a size"),
            ("[log]\nage = \"7 weeks\"\n", "[log] age: found \"7 weeks\", expected a time"),
            ("[limits]\nstreams = 0\n", "[limits] streams: found 0"),
            ("server = 1\n", "`server` is a section"),
            ("[log\n", "line 1"),
        ] {
            let why = config().set(text).unwrap_err();
            assert!(why.contains(expected), "{text}: {why}");
        }
    }
}

//! What listens beside HTTP: `[[listen.tcp]]`, `[[listen.unix]]` and `[[listen.syslog]]`, or the same on the command line.

use super::Config;
use crate::listen::Place;
use crate::names;
use std::net::{IpAddr, ToSocketAddrs};
use toml::{Table, Value};

/// A source that listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listening {
    /// Lines of a format.
    Lines {
        /// Where.
        place: Place,
        /// The stream that they go to.
        stream: String,
        /// How they are written.
        format: String,
        /// Other machines may write, whoever they are.
        open: bool,
    },
    /// syslog.
    Syslog {
        /// Where.
        address: String,
        /// Over UDP.
        udp: bool,
        /// Over TCP.
        tcp: bool,
        /// The stream that messages go to.
        stream: String,
        /// Other machines may write, whoever they are.
        open: bool,
    },
}

impl Listening {
    /// Lines over TCP, from `ADDRESS=STREAM`.
    pub fn tcp(text: &str) -> Result<Self, String> {
        let (address, stream) = divided(text, "HOST:PORT")?;
        Ok(Self::Lines { place: Place::Tcp(address), stream, format: "jsonl".into(), open: false })
    }

    /// Lines over a Unix socket, from `PATH=STREAM`.
    pub fn unix(text: &str) -> Result<Self, String> {
        let (path, stream) = divided(text, "PATH")?;
        Ok(Self::Lines { place: Place::Unix(path.into()), stream, format: "jsonl".into(), open: false })
    }

    /// syslog over UDP and TCP, from `ADDRESS=STREAM`.
    pub fn syslog(text: &str) -> Result<Self, String> {
        let (address, stream) = divided(text, "HOST:PORT")?;
        Ok(Self::Syslog { address, udp: true, tcp: true, stream, open: false })
    }

    /// Nobody is asked for a token here, so other machines are let in only where that is said.
    pub fn refuse_open(&self) -> Result<(), String> {
        let (address, open) = match self {
            Listening::Lines { place: Place::Tcp(address), open, .. } => (address, *open),
            Listening::Syslog { address, open, .. } => (address, *open),
            Listening::Lines { place: Place::Unix(_), .. } => return Ok(()),
        };
        let resolved =
            address.to_socket_addrs().map_err(|error| format!("cannot listen on {address}: {error}"))?;
        let far = resolved.map(|address| address.ip()).find(|ip: &IpAddr| !ip.is_loopback());
        match far {
            Some(_) if !open => Err(format!(
                "{address} can be reached from other machines, and whoever reaches it may write; listen on 127.0.0.1, or say \
                 `open = true` in its [[listen.…]]"
            )),
            _ => Ok(()),
        }
    }
}

fn divided(text: &str, what: &str) -> Result<(String, String), String> {
    let expected = || format!("found `{text}`, expected {what}=STREAM");
    let (place, stream) = text.rsplit_once('=').ok_or_else(expected)?;
    if place.is_empty() {
        return Err(expected());
    }
    names::check("stream", stream)?;
    Ok((place.to_string(), stream.to_string()))
}

/// The settings of one source, of which each has to be known.
struct Settings<'t> {
    table: &'t Table,
    known: Vec<&'static str>,
}

impl Settings<'_> {
    fn value(&mut self, name: &'static str) -> Option<&Value> {
        self.known.push(name);
        self.table.get(name)
    }

    fn text(&mut self, name: &'static str) -> Result<Option<String>, String> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let text =
            value.as_str().ok_or_else(|| format!("{name}: found {value}, expected a text in quotes"))?;
        Ok(Some(text.to_string()))
    }

    fn needed(&mut self, name: &'static str) -> Result<String, String> {
        self.text(name)?.ok_or_else(|| format!("found no `{name}`, which it needs"))
    }

    fn truth(&mut self, name: &'static str) -> Result<bool, String> {
        let Some(value) = self.value(name) else { return Ok(false) };
        value.as_bool().ok_or_else(|| format!("{name}: found {value}, expected true or false"))
    }

    fn stream(&mut self) -> Result<String, String> {
        let stream = self.needed("stream")?;
        names::check("stream", &stream)?;
        Ok(stream)
    }

    fn no_others(self) -> Result<(), String> {
        match self.table.keys().find(|name| !self.known.contains(&name.as_str())) {
            None => Ok(()),
            Some(other) => {
                Err(format!("found the setting `{other}`, expected one of {}", self.known.join(", ")))
            }
        }
    }
}

fn each(
    config: &mut Config,
    value: &Value,
    read: impl Fn(&mut Settings<'_>) -> Result<Listening, String>,
) -> Result<(), String> {
    let Some(tables) = value.as_array() else {
        return Err("it is a list of tables: write [[listen.…]], with two brackets".into());
    };
    for table in tables {
        let table = table.as_table().ok_or("it is a list of tables: write [[listen.…]]")?;
        let mut settings = Settings { table, known: Vec::new() };
        let listening = read(&mut settings)?;
        settings.no_others()?;
        config.listening.push(listening);
    }
    Ok(())
}

fn format(settings: &mut Settings<'_>) -> Result<String, String> {
    let format = settings.text("format")?.unwrap_or_else(|| "jsonl".into());
    crate::listen::Lines::of(&format, &[], 1)?;
    Ok(format)
}

/// `[[listen.tcp]]`
pub(super) fn tcp(config: &mut Config, value: &Value) -> Result<(), String> {
    each(config, value, |settings| {
        let place = Place::Tcp(settings.needed("address")?);
        let (stream, format, open) = (settings.stream()?, format(settings)?, settings.truth("open")?);
        Ok(Listening::Lines { place, stream, format, open })
    })
}

/// `[[listen.unix]]`
pub(super) fn unix(config: &mut Config, value: &Value) -> Result<(), String> {
    each(config, value, |settings| {
        let place = Place::Unix(settings.needed("path")?.into());
        let (stream, format) = (settings.stream()?, format(settings)?);
        Ok(Listening::Lines { place, stream, format, open: false })
    })
}

/// `[[listen.syslog]]`
pub(super) fn syslog(config: &mut Config, value: &Value) -> Result<(), String> {
    each(config, value, |settings| {
        let (address, stream) = (settings.needed("address")?, settings.stream()?);
        let (udp, tcp) = match settings.text("protocol")?.as_deref() {
            None => (true, true),
            Some("udp") => (true, false),
            Some("tcp") => (false, true),
            Some(other) => return Err(format!("protocol: found `{other}`, expected udp or tcp")),
        };
        Ok(Listening::Syslog { address, udp, tcp, stream, open: settings.truth("open")? })
    })
}

/// `[otlp] stream`
pub(super) fn otlp(config: &mut Config, value: &Value) -> Result<(), String> {
    let stream = value.as_str().ok_or_else(|| format!("found {value}, expected a text in quotes"))?;
    names::check("stream", &stream.replace(crate::otlp::SERVICE, "service"))?;
    config.otlp = stream.into();
    Ok(())
}

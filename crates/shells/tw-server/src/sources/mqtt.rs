//! MQTT 3.1.1, messages of quality of service 1.
//!
//! A broker of MQTT counts nothing that outlives a connection: it keeps a session for our client, sends each message until that is
//! acknowledged, and forgets it then. So we acknowledge a message once it is on disk. Who dies in between gets it again, and it is
//! there twice: at least once, not exactly once. What is published while there is no session, or with quality 0, may be lost.

use super::wire::{LOOK, PATIENCE, Wire};
use super::{BATCH, Batch, Client, SourceConfig};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Seconds of silence after which the broker may end the connection.
const KEEP_ALIVE: u16 = 30;
/// After how long something is sent.
const ALIVE: Duration = Duration::from_secs(10);

/// Kinds of packets, with the flags that they have.
const CONNECT: u8 = 0x10;
const CONNACK: u8 = 0x20;
const PUBLISH: u8 = 0x30;
const PUBACK: u8 = 0x40;
const SUBSCRIBE: u8 = 0x82;
const SUBACK: u8 = 0x90;
const PINGREQ: u8 = 0xC0;
const DISCONNECT: u8 = 0xE0;

/// Reads a topic.
pub struct Reader {
    config: SourceConfig,
    wire: Option<Wire>,
    /// Packets that came while something else was waited for.
    early: VecDeque<(u8, Vec<u8>)>,
    /// Messages to be acknowledged.
    acknowledge: Vec<[u8; 2]>,
    /// When something was sent, and when something was heard.
    last: (Instant, Instant),
}

impl Reader {
    pub(super) fn new(config: &SourceConfig) -> Self {
        let now = Instant::now();
        let (early, acknowledge) = Default::default();
        Self { config: config.clone(), wire: None, early, acknowledge, last: (now, now) }
    }
}

/// A packet: its kind, the length of the rest, the rest.
fn packet(kind: u8, rest: &[u8]) -> Vec<u8> {
    let (mut out, mut length) = (vec![kind], rest.len());
    loop {
        let digit = (length % 128) as u8;
        length /= 128;
        out.push(if length > 0 { digit | 128 } else { digit });
        if length == 0 {
            break;
        }
    }
    out.extend_from_slice(rest);
    out
}

fn text(text: &str) -> Result<Vec<u8>, String> {
    let length = u16::try_from(text.len()).map_err(|_| "a name is too long for MQTT")?;
    Ok([&length.to_be_bytes()[..], text.as_bytes()].concat())
}

/// Reads a packet.
fn read(wire: &mut Wire) -> Result<(u8, Vec<u8>), String> {
    let kind = wire.bytes(1)?[0];
    let (mut length, mut shift) = (0usize, 0);
    loop {
        let digit = wire.bytes(1)?[0];
        length |= usize::from(digit & 127) << shift;
        shift += 7;
        if digit & 128 == 0 {
            break;
        }
        if shift > 21 {
            return Err("found a packet whose length is none, expected MQTT".into());
        }
    }
    Ok((kind, wire.bytes(length)?))
}

/// What a message says, and its number if it is to be acknowledged.
fn published(kind: u8, rest: &[u8]) -> Option<(&[u8], Option<[u8; 2]>)> {
    let (length, rest) = rest.split_first_chunk()?;
    let (_, rest) = rest.split_at_checked(u16::from_be_bytes(*length).into())?;
    match kind >> 1 & 3 {
        0 => Some((rest, None)),
        1 => rest.split_first_chunk().map(|(number, rest)| (rest, Some(*number))),
        _ => None,
    }
}

impl Client for Reader {
    fn connect(&mut self, _: Option<&str>, told: &dyn Fn(String)) -> Result<(), String> {
        self.acknowledge.clear();
        self.early.clear();
        let again = self.wire.is_some();
        let address = &self.config.address;
        let wire = self.wire.insert(Wire::connect(&address.host)?);
        let name =
            self.config.setting("client").map_or(format!("tracewise-{}", self.config.name), str::to_string);
        let mut flags = 0;
        let mut payload = text(&name)?;
        if let Some(user) = &address.user {
            flags |= 0x80;
            payload.extend(text(user)?);
            if let Some(password) = &address.password {
                flags |= 0x40;
                payload.extend(text(password)?);
            }
        }
        let mut rest = text("MQTT")?;
        // Level 4 is 3.1.1; the session is to be kept.
        rest.extend([4, flags]);
        rest.extend(KEEP_ALIVE.to_be_bytes());
        rest.extend(payload);
        wire.send(&packet(CONNECT, &rest))?;
        let (kind, rest) = read(wire)?;
        let (CONNACK, [kept, code]) = (kind, rest.as_slice()) else {
            return Err(format!("{} is no MQTT broker", address.host));
        };
        if *code != 0 {
            let whys = ["another protocol", "our name", "nobody now", "this user or password", "us"];
            let why = whys.get(usize::from(*code) - 1).copied().unwrap_or("us");
            return Err(format!("{} does not let in: it refuses {why}", address.host));
        }
        if *kept == 0 && again {
            told("the broker kept no session: what was published meanwhile is lost".into());
        }
        let mut rest = vec![0, 1];
        rest.extend(text(&self.config.from)?);
        rest.push(1);
        wire.send(&packet(SUBSCRIBE, &rest))?;
        self.last = (Instant::now(), Instant::now());
        loop {
            let (kind, rest) = read(wire)?;
            match kind & 0xF0 {
                SUBACK if rest.get(2).is_some_and(|quality| *quality == 1) => return Ok(()),
                SUBACK => {
                    return Err(format!("the broker does not give {} with quality 1", self.config.from));
                }
                // What the session has kept may come first.
                _ => self.early.push_back((kind, rest)),
            }
        }
    }

    fn next(&mut self) -> Result<Batch, String> {
        let mut batch = Batch::default();
        let Some(wire) = &mut self.wire else { return Ok(batch) };
        while batch.lines.len() < BATCH {
            let (kind, rest) = match self.early.pop_front() {
                Some(packet) => packet,
                None if batch.messages > 0 && !wire.has_more() => break,
                None if !wire.wait(LOOK)? => break,
                None => read(wire)?,
            };
            self.last.1 = Instant::now();
            if kind & 0xF0 != PUBLISH {
                continue;
            }
            let Some((message, number)) = published(kind, &rest) else {
                return Err("found a message that is none, expected MQTT".into());
            };
            batch.add(message);
            self.acknowledge.extend(number);
        }
        if self.last.0.elapsed() > ALIVE {
            wire.send(&packet(PINGREQ, &[]))?;
            self.last.0 = Instant::now();
        }
        if self.last.1.elapsed() > 2 * ALIVE + PATIENCE {
            return Err("the broker does not answer".into());
        }
        Ok(batch)
    }

    fn kept(&mut self) -> Result<(), String> {
        let Some(wire) = &mut self.wire else { return Ok(()) };
        let numbers = std::mem::take(&mut self.acknowledge);
        let all: Vec<u8> = numbers.iter().flat_map(|number| packet(PUBACK, number)).collect();
        wire.send(&all)
    }

    fn end(&mut self) {
        // A connection that is closed while messages come takes with it what was not read of our acknowledgements: they would come again.
        if let Some(mut wire) = self.wire.take()
            && wire.send(&packet(DISCONNECT, &[])).is_ok()
        {
            wire.drain(PATIENCE / 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{packet, published};

    #[test]
    fn lengths_are_written_in_digits_of_128() {
        assert_eq!(packet(1, &[0; 127])[..2], [1, 127]);
        assert_eq!(packet(1, &[0; 321])[..3], [1, 193, 2]);
    }

    #[test]
    fn messages_are_taken_apart() {
        assert_eq!(published(0x30, b"\0\x01tabc"), Some((&b"abc"[..], None)));
        assert_eq!(published(0x32, b"\0\x01t\0\x07abc"), Some((&b"abc"[..], Some([0, 7]))));
        for (kind, cut) in
            [(0x32, &b"\0\x01t\0"[..]), (0x30, b"\0\x09t"), (0x30, b"\0"), (0x34, b"\0\x01t\0\x07abc")]
        {
            assert_eq!(published(kind, cut), None, "{cut:?}");
        }
    }
}

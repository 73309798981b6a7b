//! What members keep in the broker: checkpoints of units, and violations.

use super::ClusterConfig;
use crate::pack::{Packer, Unpacker};
use crate::sources::nats::{Connection, answer};
use crate::sources::wire::{Address, PATIENCE};
use serde_json::{Value as Json, json};
use std::time::{Duration, Instant};

const MAGIC: &str = "tracewise checkpoint of a unit 1";
/// Bytes that a checkpoint may unpack to.
const LARGEST: usize = 1 << 30;

/// How far a unit is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// Who has it; nobody after it was given up.
    pub owner: String,
    /// Lines before the next one to be judged.
    pub line: u64,
    /// The position in the broker of the last of them.
    pub position: Option<String>,
    /// Which specifications judge it: the file of that name of its stream.
    pub plan: Vec<u8>,
    /// What they have come to: likewise.
    pub state: Vec<u8>,
}

impl Checkpoint {
    fn save(&self) -> Result<Vec<u8>, String> {
        let mut pack = Packer::default();
        pack.bytes(self.owner.as_bytes());
        pack.number(self.line);
        pack.maybe(self.position.as_deref());
        pack.bytes(&self.plan);
        pack.bytes(&self.state);
        zstd::bulk::compress(&pack.whole(MAGIC), 1).map_err(|error| error.to_string())
    }

    fn load(bytes: &[u8]) -> Result<Self, String> {
        let read = || -> std::io::Result<Self> {
            use std::io::Read;
            let mut whole = Vec::new();
            zstd::stream::read::Decoder::new(bytes)?.take(LARGEST as u64).read_to_end(&mut whole)?;
            let mut from = Unpacker::new(&whole, MAGIC)?;
            Ok(Self {
                owner: from.text()?.to_string(),
                line: from.number()?,
                position: from.maybe()?,
                plan: from.bytes()?.to_vec(),
                state: from.bytes()?.to_vec(),
            })
        };
        read().map_err(|error| format!("a checkpoint cannot be read: {error}"))
    }
}

/// A member, and the units that it says it has; none of that if it leaves.
pub type Heard = (String, Option<Vec<String>>);

/// Why a checkpoint was not kept.
#[derive(Debug, PartialEq, Eq)]
pub enum NotKept {
    /// Somebody else has the unit now.
    Lost,
    /// It is larger than the broker takes.
    TooLarge(String),
    /// The broker is not there.
    Failed(String),
}

/// A connection to what members share.
pub struct Store {
    connection: Connection,
    /// What subjects begin with.
    prefix: String,
    stream: String,
}

/// A name as part of a subject.
fn token(name: &str) -> String {
    name.replace('.', "_")
}

impl Store {
    /// Connects, and makes what is not there yet.
    pub fn connect(config: &ClusterConfig) -> Result<Self, String> {
        let mut connection = Connection::connect(&config.address as &Address)?;
        let name = token(&config.into);
        let prefix = format!("tracewise.{name}");
        let stream = format!("TRACEWISE_{name}");
        // Of each subject the last message alone is kept: of a unit its checkpoint, of a violation what was told first or again.
        for (stream, subject) in [(stream.clone(), "unit"), (format!("{stream}_FOUND"), "found")] {
            let settings = json!({
                "name": stream, "subjects": [format!("{prefix}.{subject}.*")], "max_msgs_per_subject": 1, "allow_direct": true,
                "storage": "file",
            });
            let made = connection
                .request(&format!("$JS.API.STREAM.CREATE.{stream}"), settings.to_string().as_bytes())?;
            // One that is there with other settings (copies, an age) is as somebody wants it.
            if let Err(why) = answer(&made)
                && !why.contains("already in use")
            {
                return Err(format!("stream {stream}: {why}"));
            }
        }
        connection.subscribe(&format!("{prefix}.member"))?;
        Ok(Self { connection, prefix, stream })
    }

    /// Tells the others that a member is there, and which units it has.
    pub fn tell(&mut self, member: &str, units: &[String], leaving: bool) -> Result<(), String> {
        let text = json!({"member": member, "units": units, "leaving": leaving}).to_string();
        self.connection.publish(&format!("{}.member", self.prefix), None, "", text.as_bytes())
    }

    /// What members told: their names, their units unless they leave.
    pub fn heard(&mut self) -> Result<Vec<Heard>, String> {
        let mut all = Vec::new();
        while let Some(message) = self.connection.next(Duration::from_millis(1))? {
            let Ok(told) = serde_json::from_slice::<Json>(&message.payload) else { continue };
            let Some(member) = told["member"].as_str() else { continue };
            let units = told["units"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|unit| unit.as_str().map(str::to_string));
            all.push((member.to_string(), (told["leaving"] != true).then(|| units.collect())));
        }
        Ok(all)
    }

    /// The checkpoint of a unit, and its number, 0 if there is none.
    pub fn get(&mut self, unit: &str) -> Result<(u64, Checkpoint), String> {
        let subject = format!("$JS.API.DIRECT.GET.{}.{}.unit.{}", self.stream, self.prefix, token(unit));
        let message = self.connection.request(&subject, b"")?;
        match (message.status, message.header("Nats-Sequence").and_then(|number| number.parse().ok())) {
            (Some(404), _) => Ok((0, Checkpoint::default())),
            (None, Some(number)) => Checkpoint::load(&message.payload).map(|own| (number, own)),
            _ => Err(format!("the checkpoint of {unit}: {}", message.said())),
        }
    }

    /// Keeps a checkpoint in place of the one of this number; says its own.
    pub fn put(&mut self, unit: &str, before: u64, checkpoint: &Checkpoint) -> Result<u64, NotKept> {
        let bytes = checkpoint.save().map_err(NotKept::Failed)?;
        if bytes.len() + 1024 > self.connection.largest {
            let why = format!(
                "its state takes {} bytes, more than the {} that the NATS server takes (max_payload)",
                bytes.len(),
                self.connection.largest
            );
            return Err(NotKept::TooLarge(why));
        }
        let subject = format!("{}.unit.{}", self.prefix, token(unit));
        let headers = format!("Nats-Expected-Last-Subject-Sequence: {before}\r\n");
        let message = self.connection.request_with(&subject, &headers, &bytes).map_err(NotKept::Failed)?;
        match answer(&message) {
            Ok(json) => {
                json["seq"].as_u64().ok_or_else(|| NotKept::Failed("an answer without a number".into()))
            }
            Err(why) if why.contains("wrong last sequence") => Err(NotKept::Lost),
            Err(why) => Err(NotKept::Failed(why)),
        }
    }

    /// Keeps violations, each under its id; all are there when this returns.
    pub fn found(&mut self, violations: &[(String, String)]) -> Result<(), String> {
        let inbox = self.connection.inbox("found");
        for (id, json) in violations {
            self.connection.publish(
                &format!("{}.found.{id}", self.prefix),
                Some(&inbox),
                "",
                json.as_bytes(),
            )?;
        }
        let (mut left, until) = (violations.len(), Instant::now() + PATIENCE);
        while left > 0 {
            if Instant::now() > until {
                return Err("the NATS server does not answer".into());
            }
            // What members tell meanwhile is told again.
            let Some(message) = self.connection.next(Duration::from_millis(100))? else { continue };
            if message.subject == inbox {
                answer(&message)?;
                left -= 1;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Checkpoint;

    #[test]
    fn checkpoints_are_read_back() {
        let own = Checkpoint {
            owner: "a".into(),
            line: 17,
            position: Some("3@4@x".into()),
            plan: vec![1, 2],
            state: vec![0; 100_000],
        };
        let mut bytes = own.save().unwrap();
        assert!(bytes.len() < 1000);
        assert_eq!(Checkpoint::load(&bytes), Ok(own));
        let last = bytes.len() - 1;
        bytes.truncate(last);
        assert!(Checkpoint::load(&bytes).is_err());
    }
}

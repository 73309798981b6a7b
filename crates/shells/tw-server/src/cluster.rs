//! Servers that share a stream of events.
//!
//! The events are in a stream of NATS JetStream. A part of them, a *unit*, is what one server reads and judges: a partition of a field (all
//! events of some of its values, in their order), or the whole. What can be judged on the partitions of a field is judged there
//! (`Session::divisible_by`); the rest is judged on the whole, by one server at a time.
//!
//! ```text
//! who is there        every member says so several times a second; who is silent for `patience` is taken to be gone
//! who has which unit  follows from who is there: no vote, no master ([`wanted`])
//! how far a unit is   one message per unit, its checkpoint ([`store`]): replaced only by who knows the one before, so that a server that
//!                     was taken to be gone and comes back finds out, and gives its units up
//! what was found      one message per violation under its id, before the checkpoint that is behind it
//! ```
//!
//! A server that takes a unit over goes on from its checkpoint: state, line and position in the broker belong together. What it finds again
//! has the id that it had, and is there once.

mod configured;
mod member;
mod store;

pub use configured::{ClusterConfig, configured};

use crate::server::Shared;
use crate::sources::{Kind, Source, SourceConfig};
use crate::specs::Spec;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// A part of the events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its name, also that of its stream here.
    pub name: String,
    /// The field whose values it has some of; the whole has none.
    pub key: Option<String>,
    /// Where its events are published.
    pub subject: String,
}

/// Who is there, and who has what, as far as this server knows.
#[derive(Clone, Default)]
pub struct View {
    /// Members that are heard, and the units that each says it has.
    pub members: BTreeMap<String, Vec<String>>,
    /// Why this server is not among them, if that is so.
    pub why: Option<String>,
    /// Where this server reads its units from.
    pub sources: BTreeMap<String, Arc<Source>>,
    /// Of units of this server, why their checkpoints are older than they might be.
    pub behind: BTreeMap<String, String>,
}

/// What a server knows of those that it shares a stream with.
pub struct Cluster {
    /// How it is set up.
    pub config: ClusterConfig,
    /// All units.
    pub units: Vec<Unit>,
    view: Mutex<View>,
}

impl Cluster {
    /// Nothing is known yet.
    pub fn new(config: ClusterConfig) -> Self {
        let whole = Unit { name: config.into.clone(), key: None, subject: config.subject.clone() };
        let mut units = vec![whole];
        for key in &config.keys {
            units.extend((0..key.partitions).map(|number| Unit {
                name: format!("{}.{}.{number}", config.into, key.field),
                key: Some(key.field.clone()),
                subject: key.subject.replace("{partition}", &number.to_string()),
            }));
        }
        Self { config, units, view: Mutex::default() }
    }

    /// Who is there, and who has what.
    pub fn view(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unit(&self, stream: &str) -> Option<&Unit> {
        self.units.iter().find(|unit| unit.name == stream)
    }

    /// The stream that specifications name, of which this one is a part.
    pub fn about<'s>(&'s self, stream: &'s str) -> &'s str {
        if self.unit(stream).is_some() { &self.config.into } else { stream }
    }

    /// What is judged of a specification on a stream.
    pub fn part_of(&self, stream: &str, spec: Arc<Spec>) -> Option<Arc<Spec>> {
        let Some(unit) = self.unit(stream) else { return Some(spec) };
        let shared = self.shared_out(&spec);
        let own = shared.iter().filter(|own| own.key == unit.key);
        let names: Vec<String> = own.map(|own| own.name.clone()).collect();
        spec.only(&names, shared.len())
    }

    /// Where each property of a specification is judged: on the partitions of the first field that it can be, or on the whole.
    pub fn shared_out(&self, spec: &Spec) -> Vec<Judged> {
        let mut found: Vec<Judged> = Vec::new();
        for (number, key) in self.config.keys.iter().enumerate() {
            for (index, (name, verdict)) in spec.divisible_by(&key.field).into_iter().enumerate() {
                if number == 0 {
                    found.push(Judged { name, key: None, whys: Vec::new() });
                }
                let Some(own) = found.get_mut(index).filter(|own| own.key.is_none()) else { continue };
                match verdict {
                    Ok(()) => own.key = Some(key.field.clone()),
                    Err(why) => own.whys.push((key.field.clone(), why)),
                }
            }
        }
        found
    }

    /// How a unit is read.
    fn source(&self, unit: &Unit) -> SourceConfig {
        let plain = |text: &str| text.replace('.', "_");
        let consumer = format!("tracewise-{}-{}", plain(&unit.name), plain(&self.config.member));
        SourceConfig {
            name: unit.name.as_str().into(),
            kind: Kind::Nats,
            address: self.config.address.clone(),
            into: unit.name.clone(),
            from: self.config.stream.clone(),
            rest: vec![
                ("subject", unit.subject.clone()),
                ("consumer", consumer),
                ("member", self.config.member.clone()),
            ],
        }
    }
}

/// Where a property is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The property.
    pub name: String,
    /// The field on whose partitions; none for the whole.
    pub key: Option<String>,
    /// Why not on those of other fields.
    pub whys: Vec<(String, String)>,
}

/// The member that is to have a unit: the one that is highest under a hash of both, so that little moves when one comes or goes.
fn wanted<'m>(unit: &str, members: impl Iterator<Item = &'m String>) -> Option<&'m String> {
    let height = |member: &&String| {
        let mut hash = blake3::Hasher::new();
        hash.update(unit.as_bytes()).update(b"\n").update(member.as_bytes());
        *hash.finalize().as_bytes()
    };
    members.max_by_key(height)
}

/// Begins to take part.
pub fn start(shared: &Arc<Shared>) -> io::Result<Option<JoinHandle<()>>> {
    if shared.cluster.is_none() {
        return Ok(None);
    }
    let folder = shared.config.data.join("cluster");
    // What is there is from before: units go on from their checkpoints.
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => std::fs::create_dir_all(&folder)?,
    }
    let shared = shared.clone();
    std::thread::Builder::new().name("cluster".into()).spawn(move || member::run(&shared)).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_moves_when_one_goes() {
        let three: Vec<String> = ["a", "b", "c"].map(String::from).to_vec();
        let two = &three[..2];
        let units: Vec<String> = (0..60).map(|number| format!("web.user.{number}")).collect();
        for unit in &units {
            let before = wanted(unit, three.iter()).unwrap();
            let after = wanted(unit, two.iter()).unwrap();
            assert!(before == "c" || before == after, "{unit}");
        }
        for member in &three {
            let own = units.iter().filter(|unit| wanted(unit, three.iter()) == Some(member)).count();
            assert!((8..=35).contains(&own), "{member} has {own} of 60");
        }
        assert_eq!(wanted("web", [].iter()), None);
    }

    #[test]
    fn properties_are_shared_out() {
        let text = "[cluster]\nmember = \"a\"\nurl = \"nats://h\"\nstream = \"S\"\nsubject = \"e.>\"\ninto = \"web\"\n\
                    [[cluster.key]]\nfield = \"user\"\nsubject = \"e.user.{partition}\"\npartitions = 2\n\
                    [[cluster.key]]\nfield = \"order\"\nsubject = \"e.order.{partition}\"\npartitions = 1\n";
        let cluster = Cluster::new(configured(&text.parse::<toml::Table>().unwrap()["cluster"]).unwrap());
        let names: Vec<&str> = cluster.units.iter().map(|unit| unit.name.as_str()).collect();
        assert_eq!(names, ["web", "web.user.0", "web.user.1", "web.order.0"]);
        assert_eq!(cluster.units[2].subject, "e.user.1");
        let text = "event req(user: string, order: string); event ack(user: string, order: string);
            property known : G forall u. ack(user: u) -> O req(user: u);
            property orders : G forall o. ack(order: o) -> O req(order: o);
            property after : G (req -> X ack);";
        let spec = Arc::new(Spec::read("s", text).unwrap());
        let of = |stream: &str| {
            let part = cluster.part_of(stream, spec.clone()).unwrap();
            part.specification.program.roots.iter().map(|root| root.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(
            (of("web"), of("web.user.0"), of("web.order.0")),
            (vec!["after".into()], vec!["known".into()], vec!["orders".into()])
        );
        assert_eq!(of("another").len(), 3);
        assert_eq!((cluster.about("web.user.1"), cluster.about("another")), ("web", "another"));
        let whys = &cluster.shared_out(&spec)[2].whys;
        assert_eq!(whys.len(), 2, "{whys:?}");
    }
}

//! What a member does: it says that it is there, takes the units that are to be its own, keeps their checkpoints, and gives them up.

use super::store::{Checkpoint, NotKept, Store};
use super::{Cluster, Unit, wanted};
use crate::judge::State;
use crate::log::Log;
use crate::server::Shared;
use crate::sources::{self, Source};
use crate::stream::Stream;
use crate::verdicts::{Filter, ID};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often a member says that it is there, of its patience.
const OFTEN: u32 = 6;
/// Violations that are kept at once.
const AT_ONCE: usize = 1000;
/// How long after a failure it is tried again.
const AGAIN: Duration = Duration::from_millis(500);

/// A unit that this server has.
struct Held {
    stream: Arc<Stream>,
    source: Arc<Source>,
    thread: Option<JoinHandle<()>>,
    /// The number of its checkpoint, …
    number: u64,
    /// … the checkpoint, …
    checkpoint: Checkpoint,
    /// … and when it was kept.
    kept: Instant,
    /// Violations of all streams up to which its own are kept.
    found: u64,
}

struct Member<'s> {
    shared: &'s Arc<Shared>,
    cluster: &'s Cluster,
    held: BTreeMap<String, Held>,
    /// When each was heard.
    heard: BTreeMap<String, (Instant, Vec<String>)>,
    /// Since when all that are there were heard.
    listening: Option<Instant>,
}

/// Takes part until the server ends.
pub fn run(shared: &Arc<Shared>) {
    let Some(cluster) = &shared.cluster else { return };
    let mut member =
        Member { shared, cluster, held: BTreeMap::new(), heard: BTreeMap::new(), listening: None };
    let mut store = None;
    let mut told = None;
    while !shared.ending.load(Ordering::SeqCst) {
        let worked = member.turn(&mut store);
        let wait = match &worked {
            Ok(()) => cluster.config.patience / OFTEN,
            Err(_) => AGAIN,
        };
        if let Err(why) = worked {
            (store, member.listening) = (None, None);
            cluster.view().why = Some(why.clone());
            if told.as_ref() != Some(&why) {
                shared.say(format!("cluster: {why}; trying again"));
                told = Some(why);
            }
        } else {
            cluster.view().why = None;
            if told.take().is_some() {
                shared.say("cluster: connected again".into());
            }
        }
        let until = Instant::now() + wait;
        while Instant::now() < until && !shared.ending.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    let units: Vec<String> = member.held.keys().cloned().collect();
    for unit in units {
        member.give_up(&unit, store.as_mut());
    }
    if let Some(store) = &mut store {
        // Whoever is not told hears our silence.
        let _ = store.tell(&cluster.config.member, &[], true);
    }
}

impl Member<'_> {
    /// One turn: what is due.
    fn turn(&mut self, store: &mut Option<Store>) -> Result<(), String> {
        let store = match store {
            Some(store) => store,
            None => store.insert(Store::connect(&self.cluster.config)?),
        };
        let (own, patience) = (&self.cluster.config.member, self.cluster.config.patience);
        // Who has just come hears first who is there, then says that it is there, and then takes its share of what others give up.
        let listening = self.listening.get_or_insert_with(Instant::now).elapsed();
        for (member, units) in store.heard()? {
            match units {
                Some(units) => self.heard.insert(member, (Instant::now(), units)),
                None => self.heard.remove(&member),
            };
        }
        if listening >= patience * 2 / 3 {
            let units: Vec<String> = self.held.keys().cloned().collect();
            store.tell(own, &units, false)?;
            self.heard.insert(own.clone(), (Instant::now(), units));
        }
        self.heard.retain(|_, (at, _)| at.elapsed() < patience);
        self.cluster.view().members =
            self.heard.iter().map(|(member, (_, units))| (member.clone(), units.clone())).collect();
        for unit in &self.cluster.units {
            if self.held.contains_key(&unit.name) {
                self.keep(store, &unit.name)?;
            }
            if listening < patience {
                continue;
            }
            let mine = wanted(&unit.name, self.heard.keys()) == Some(own);
            match (mine, self.held.contains_key(&unit.name)) {
                (true, false) => self.take(store, unit)?,
                (false, true) => self.give_up(&unit.name, Some(store)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes a unit, if nobody has it who is there.
    fn take(&mut self, store: &mut Store, unit: &Unit) -> Result<(), String> {
        let (number, mut checkpoint) = store.get(&unit.name)?;
        let own = &self.cluster.config.member;
        if checkpoint.owner != *own && self.heard.contains_key(&checkpoint.owner) {
            return Ok(());
        }
        let from = std::mem::replace(&mut checkpoint.owner, own.clone());
        let number = match store.put(&unit.name, number, &checkpoint) {
            Ok(number) => number,
            // Another was faster.
            Err(NotKept::Lost) => return Ok(()),
            Err(NotKept::TooLarge(why) | NotKept::Failed(why)) => return Err(why),
        };
        // What this server found before is kept, or found again behind the checkpoint.
        let found = if checkpoint.state.is_empty() { 0 } else { self.shared.verdicts.end() };
        let stream =
            self.open(unit, &checkpoint, found).map_err(|error| format!("unit {}: {error}", unit.name))?;
        let begun = sources::begin(self.cluster.source(unit), checkpoint.position.clone(), self.shared);
        let (source, thread) = begun.map_err(|error| format!("unit {}: {error}", unit.name))?;
        let after = match from.as_str() {
            "" => String::new(),
            from => format!(", which {from} had"),
        };
        self.shared.say(format!("cluster: takes {} after line {}{after}", unit.name, checkpoint.line));
        self.cluster.view().sources.insert(unit.name.clone(), source.clone());
        let thread = Some(thread);
        let held = Held { stream, source, thread, number, checkpoint, kept: Instant::now(), found };
        self.held.insert(unit.name.clone(), held);
        Ok(())
    }

    /// The stream of a unit, as its checkpoint has it; so many violations were told here before.
    fn open(&self, unit: &Unit, checkpoint: &Checkpoint, told: u64) -> io::Result<Arc<Stream>> {
        let all = self.shared.config.data.join("cluster");
        let folder = all.join(&unit.name);
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => std::fs::create_dir_all(&folder)?,
        }
        if !checkpoint.state.is_empty() {
            Log::begin(&folder.join("log"), checkpoint.line)?;
            std::fs::write(folder.join("plan"), &checkpoint.plan)?;
            std::fs::write(folder.join("state"), &checkpoint.state)?;
            // Violations have other numbers here.
            if let Some(state) = State::load(&folder)? {
                State { told, ..state }.save(&folder)?;
            }
        }
        self.shared.open_in(&unit.name, &all)
    }

    /// Keeps what a unit found and how far it is, if that is due.
    fn keep(&mut self, store: &mut Store, unit: &str) -> Result<(), String> {
        let Some(held) = self.held.get_mut(unit) else { return Ok(()) };
        let due = held.kept.elapsed() >= self.shared.config.checkpoint;
        let next = if due { held.next().map_err(|error| format!("unit {unit}: {error}"))? } else { None };
        held.tell(self.shared, store, unit)?;
        let Some(mut next) = next else { return Ok(()) };
        next.owner = self.cluster.config.member.clone();
        held.kept = Instant::now();
        match store.put(unit, held.number, &next) {
            Ok(number) => {
                (held.number, held.checkpoint) = (number, next);
                self.cluster.view().behind.remove(unit);
                Ok(())
            }
            Err(NotKept::Lost) => {
                self.shared.say(format!("cluster: {unit} is with another member now"));
                self.drop_unit(unit);
                Ok(())
            }
            // The unit goes on; who takes it over judges more of it again.
            Err(NotKept::TooLarge(why)) => {
                if self.cluster.view().behind.insert(unit.to_string(), why.clone()).is_none() {
                    self.shared.say(format!("cluster: the checkpoint of {unit} cannot be kept: {why}"));
                }
                Ok(())
            }
            Err(NotKept::Failed(why)) => Err(why),
        }
    }

    /// Ends a unit, and leaves what it has come to for the next.
    fn give_up(&mut self, unit: &str, store: Option<&mut Store>) {
        let Some(mut held) = self.drop_unit(unit) else { return };
        let Some(store) = store else { return };
        // What cannot be kept now is found again by the next, from the checkpoint before.
        let last = held.next().map_err(|error| error.to_string()).and_then(|next| {
            held.tell(self.shared, store, unit)?;
            let next = Checkpoint { owner: String::new(), ..next.unwrap_or(held.checkpoint) };
            store.put(unit, held.number, &next).map_err(|why| format!("{why:?}"))
        });
        match last {
            Ok(_) => self.shared.say(format!("cluster: gives up {unit}")),
            Err(why) => self
                .shared
                .say(format!("cluster: gives up {unit}, the next goes on from an older state: {why}")),
        }
    }

    /// Ends the reading and judging of a unit.
    fn drop_unit(&mut self, unit: &str) -> Option<Held> {
        let mut held = self.held.remove(unit)?;
        {
            let mut view = self.cluster.view();
            view.behind.remove(unit);
            view.sources.remove(unit);
        }
        held.source.stop();
        self.shared.close(unit);
        // A thread that panicked has said so.
        held.thread.take().into_iter().for_each(|thread| drop(thread.join()));
        Some(held)
    }
}

impl Held {
    /// How far it is, if that is further than its checkpoint.
    fn next(&self) -> io::Result<Option<Checkpoint>> {
        let folder = &self.stream.judge.folder;
        let Some(bytes) = crate::pack::read(&folder.join("state"))? else { return Ok(None) };
        let Some(plan) = crate::pack::read(&folder.join("plan"))? else { return Ok(None) };
        let line = State::line(&bytes)?;
        if (line, &plan) == (self.checkpoint.line, &self.checkpoint.plan) && !self.checkpoint.state.is_empty()
        {
            return Ok(None);
        }
        let position = match line {
            line if line == self.checkpoint.line => self.checkpoint.position.clone(),
            _ => {
                let last = self.stream.log.read_from(line - 1).next()?;
                // A record that is judged in part has no position in between: the next time, then.
                let Some(last) = last.filter(|last| last.after() == line) else { return Ok(None) };
                let Some(position) = last.marks.get(&self.source.config.name) else { return Ok(None) };
                Some(position.to_string())
            }
        };
        Ok(Some(Checkpoint { owner: String::new(), line, position, plan, state: bytes }))
    }

    /// Keeps the violations that were found since.
    fn tell(&mut self, shared: &Shared, store: &mut Store, unit: &str) -> Result<(), String> {
        let filter = Filter { stream: Some(unit.to_string()), property: None, rights: None };
        loop {
            let (found, next) = shared
                .verdicts
                .list(&filter, self.found, AT_ONCE)
                .map_err(|error| format!("violations: {error}"))?;
            let one =
                |told: &Arc<crate::verdicts::Told>| Some((told.json.get(ID)?.to_string(), told.json.clone()));
            let all: Vec<(String, String)> = found.iter().filter_map(one).collect();
            store.found(&all)?;
            self.found = next;
            if found.len() < AT_ONCE {
                return Ok(());
            }
        }
    }
}

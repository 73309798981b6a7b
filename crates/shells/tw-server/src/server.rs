//! The server: streams, specifications and violations, and what listens.

use crate::config::Config;
use crate::http;
use crate::judge::{Assigned, Change, load_plan};
use crate::limits::Budget;
use crate::listen::{self, Source};
use crate::names;
use crate::specs::{Spec, Specs, Unread};
use crate::stream::{Opening, Stream};
use crate::tls::Tls;
use crate::tokens::Tokens;
use crate::verdicts::Verdicts;
use crate::webhooks::{self, Silences};
use crate::words;
use std::collections::{BTreeMap, VecDeque};
use std::fs::{File, TryLockError};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tracewise::Error;

/// What every part of a server knows.
pub struct Shared {
    /// How it is set up.
    pub config: Config,
    /// The violations.
    pub verdicts: Arc<Verdicts>,
    /// The specifications.
    pub specs: Specs,
    streams: Mutex<BTreeMap<Arc<str>, Arc<Stream>>>,
    /// Held while specifications change, or streams are opened: each stream has all.
    changing: Mutex<()>,
    /// It is about to end.
    pub ending: AtomicBool,
    said: Arc<dyn Fn(String) + Send + Sync>,
    /// Figures of requests.
    pub figures: crate::metrics::Figures,
    /// The servers that share a stream, if this is one of them.
    pub cluster: Option<crate::cluster::Cluster>,
    /// Brokers that events are read from.
    pub sources: Vec<Arc<crate::sources::Source>>,
    /// What happened each second.
    pub history: crate::history::History,
    /// What brings lines by itself.
    pub listening: Mutex<Vec<Arc<Source>>>,
    /// Who is let in.
    pub gatekeeper: http::Gatekeeper,
    /// What connections are secured with.
    pub tls: Option<Tls>,
    /// What large bodies and answers may hold together.
    pub budget: Budget,
    /// What webhooks do not tell.
    pub silences: Arc<Silences>,
    /// The webhooks.
    pub hooks: OnceLock<Vec<Hook>>,
}

/// A webhook's name, where it sends to, and how it is doing.
pub type Hook = (String, String, Arc<webhooks::Status>);

/// Why a stream cannot be had.
#[derive(Debug)]
pub enum NoStream {
    /// There is none, or none can have that name.
    Name(String),
    /// There are too many.
    TooMany(usize),
    /// It cannot be opened.
    Io(io::Error),
}

impl Shared {
    fn streams_locked(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, Arc<Stream>>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The webhooks.
    pub fn hooks(&self) -> &[Hook] {
        self.hooks.get().map_or(&[], Vec::as_slice)
    }

    /// Looks again at the files that say who is let in, and how.
    fn look_again(&self) {
        match self.gatekeeper.tokens.as_ref().and_then(Tokens::reload) {
            Some(Ok(count)) => self.say(format!("tokens were read again: there are {count}")),
            Some(Err(why)) => self.say(format!("tokens cannot be read, those of before are good: {why}")),
            None => {}
        }
        match self.tls.as_ref().and_then(Tls::reload) {
            Some(Ok(())) => self.say("the certificate was read again".into()),
            Some(Err(why)) => self.say(format!("the certificate cannot be used, that of before is: {why}")),
            None => {}
        }
    }

    /// All streams, by name.
    pub fn streams(&self) -> Vec<Arc<Stream>> {
        self.streams_locked().values().cloned().collect()
    }

    /// A stream that is there.
    pub fn known(&self, name: &str) -> Option<Arc<Stream>> {
        self.streams_locked().get(name).cloned()
    }

    /// A stream, made if it is not there.
    pub fn stream(&self, name: &str) -> Result<Arc<Stream>, NoStream> {
        if let Some(stream) = self.known(name) {
            return Ok(stream);
        }
        names::check("stream", name).map_err(NoStream::Name)?;
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stream) = self.known(name) {
            return Ok(stream);
        }
        let limit = self.config.limits.streams;
        if self.streams_locked().len() >= limit {
            return Err(NoStream::TooMany(limit));
        }
        let stream = self.open(name, &self.config.data.join("streams")).map_err(NoStream::Io)?;
        self.streams_locked().insert(stream.name.clone(), stream.clone());
        Ok(stream)
    }

    /// Opens a stream in a folder of such, and has it known.
    pub fn open_in(&self, name: &str, folder: &Path) -> io::Result<Arc<Stream>> {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let stream = self.open(name, folder)?;
        self.streams_locked().insert(stream.name.clone(), stream.clone());
        Ok(stream)
    }

    /// Writes what waits of a stream, keeps its state, and knows it no more.
    pub fn close(&self, name: &str) {
        let stream = self.streams_locked().remove(name);
        stream.into_iter().for_each(|stream| stream.close());
    }

    fn open(&self, name: &str, folder: &Path) -> io::Result<Arc<Stream>> {
        let opening = Opening {
            folder,
            limits: self.config.log,
            line: self.config.limits.line,
            memory: self.config.memory,
            checkpoint: self.config.checkpoint,
            late: self.config.late,
            verdicts: &self.verdicts,
            said: &self.said,
        };
        Stream::open(name, &opening, |folder, end| self.changes(name, folder, end))
    }

    /// Which specifications judge a stream: those of its plan, then those that there are now.
    fn changes(&self, name: &str, folder: &Path, end: u64) -> io::Result<VecDeque<Change>> {
        let specs = self.specs_of(name);
        let own = |spec| self.part_of(name, spec);
        let mut changes = load_plan(folder, &specs, &own)?;
        // What the plan says of lines that were lost.
        changes.iter_mut().for_each(|change| change.at = change.at.min(end));
        let before = changes.last().map_or(&[][..], |change| &change.specs);
        let now = assigned(&specs, before, end);
        if changes.is_empty() || !same(before, &now) {
            changes.push(Change { at: end, specs: now });
            crate::judge::save_plan(folder, &changes)?;
        }
        Ok(changes.into())
    }

    /// Has every stream judged by the specifications that there are now, from its next line on.
    pub fn apply(&self) -> io::Result<()> {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        for stream in self.streams() {
            let specs = self.specs_of(&stream.name);
            stream.judge.change(|latest| {
                let before = latest.map_or(&[][..], |change| &change.specs);
                let at = stream.commit.end();
                let now = assigned(&specs, before, at);
                (!same(before, &now)).then_some(Change { at, specs: now })
            })?;
        }
        Ok(())
    }

    /// Whatever is read from a broker now.
    pub fn sources(&self) -> Vec<Arc<crate::sources::Source>> {
        let shared = self
            .cluster
            .iter()
            .flat_map(|cluster| cluster.view().sources.values().cloned().collect::<Vec<_>>());
        self.sources.iter().cloned().chain(shared).collect()
    }

    /// The specifications about a stream, or what is judged there of them.
    fn specs_of(&self, stream: &str) -> Vec<Arc<Spec>> {
        let about = self.cluster.as_ref().map_or(stream, |cluster| cluster.about(stream));
        let all = self.specs.all();
        let all = all.into_iter().filter(|spec| spec.is_about(about));
        all.filter_map(|spec| self.part_of(stream, spec)).collect()
    }

    /// What is judged of a specification on a stream: all, where servers do not share it.
    fn part_of(&self, stream: &str, spec: Arc<Spec>) -> Option<Arc<Spec>> {
        match &self.cluster {
            Some(cluster) => cluster.part_of(stream, spec),
            None => Some(spec),
        }
    }

    /// Tells people something.
    pub fn say(&self, what: String) {
        (self.said)(what);
    }

    /// Says which specifications cannot be read, and gives back what was said.
    fn say_unread(&self, unread: &[Unread], told: &[String]) -> Vec<String> {
        let lines = unread.iter().flat_map(|unread| words::lines(&unread.error, &unread.name));
        let now: Vec<String> = lines.map(|line| format!("specification {line}")).collect();
        if now != told {
            now.iter().for_each(|line| self.say(line.clone()));
        }
        now
    }

    /// Looks at the folder of specifications again and again.
    fn watch_folder(&self, told: Vec<String>) {
        // What could not be read at first was told then.
        let mut told = told;
        let mut tidied = Instant::now();
        while !self.ending.load(Ordering::SeqCst) {
            std::thread::sleep(self.config.reload);
            self.look_again();
            if self.verdicts.tidies().is_some_and(|often| tidied.elapsed() >= often) {
                match self.verdicts.tidy() {
                    Ok(deleted) => {
                        deleted.into_iter().for_each(|what| self.say(format!("violations: {what}")))
                    }
                    Err(error) => self.say(format!("old violations cannot be deleted: {error}")),
                }
                tidied = Instant::now();
            }
            match self.specs.reload() {
                Ok((changed, unread)) => {
                    told = self.say_unread(&unread, &told);
                    if changed && let Err(error) = self.apply() {
                        self.say(format!("a change of specifications cannot be kept: {error}"));
                    }
                }
                Err(error) => self.say(format!("the folder of specifications cannot be read: {error}")),
            }
        }
    }
}

/// Specifications of a stream; those that judged before go on, others begin at a line.
fn assigned(specs: &[Arc<Spec>], before: &[Assigned], at: u64) -> Vec<Assigned> {
    let since = |spec: &Spec| {
        let known = before.iter().find(|own| own.spec.name == spec.name && own.spec.text == spec.text);
        known.map_or(at, |own| own.since)
    };
    specs.iter().map(|spec| Assigned { spec: spec.clone(), since: since(spec) }).collect()
}

fn same(before: &[Assigned], now: &[Assigned]) -> bool {
    let equal = |(a, b): (&Assigned, &Assigned)| a.spec.name == b.spec.name && a.spec.text == b.spec.text;
    before.len() == now.len() && before.iter().zip(now).all(equal)
}

/// A server that listens.
pub struct Server {
    shared: Arc<Shared>,
    runtime: Runtime,
    address: SocketAddr,
    listening: Vec<listen::Open>,
    threads: Vec<std::thread::JoinHandle<()>>,
    /// What holds this server's share of a stream.
    sharing: Option<std::thread::JoinHandle<()>>,
    /// The folder is its own as long as this is open; last, so that all is written before.
    _lock: File,
}

/// What serves connections. Half of the processors: what is taken in is written and judged by threads of its own, and what takes
/// long is done aside.
fn runtime() -> io::Result<Runtime> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    tokio::runtime::Builder::new_multi_thread().worker_threads((processors / 2).max(1)).enable_all().build()
}

/// Has a folder to itself, until the file is closed, however that comes about: two servers would write over what the other keeps.
fn lock(data: &Path) -> Result<File, Error> {
    let failed = |error| Error::Io { what: format!("cannot lock the folder {}", data.display()), error };
    let path = data.join("lock");
    let file = File::options().write(true).create(true).truncate(false).open(path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(Error::refused(format!("the folder {} is in use by another server", data.display())))
        }
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

impl Server {
    /// Opens what is kept and begins to listen. `said` is told what people should know.
    pub fn start(mut config: Config, said: impl Fn(String) + Send + Sync + 'static) -> Result<Self, Error> {
        let io = |what: &str| {
            let what = what.to_string();
            move |error| Error::Io { what, error }
        };
        let runtime = runtime().map_err(io("cannot start threads"))?;
        let listener = runtime.block_on(TcpListener::bind(&config.listen));
        let listener = listener.map_err(io(&format!("cannot listen on {}", config.listen)))?;
        let address = listener.local_addr().map_err(io("cannot listen"))?;
        config.refuse_open(address).map_err(Error::refused)?;
        let tokens = config.tokens.as_deref().map(Tokens::open).transpose().map_err(Error::refused)?;
        let tls = config.tls.both().map_err(Error::refused)?;
        let tls = tls.map(|(cert, key)| Tls::open(cert, key)).transpose().map_err(Error::refused)?;
        let said: Arc<dyn Fn(String) + Send + Sync> = Arc::new(said);
        let data = config.data.clone();
        let kept = || format!("cannot use the folder {}", data.display());
        std::fs::create_dir_all(data.join("streams")).map_err(io(&kept()))?;
        let lock = lock(&data)?;
        let verdicts = Verdicts::open(&data.join("verdicts"), config.verdicts);
        let (verdicts, found) = verdicts.map_err(io(&kept()))?;
        if let Some(cut) = found.cut {
            said(format!("violations: {cut}"));
        }
        let folder: PathBuf = config.specs.clone().unwrap_or_else(|| data.join("specs"));
        if config.demo {
            let written = crate::demo::write_spec(&folder);
            written.map_err(io(&format!("cannot write to {}", folder.display())))?;
        }
        let (specs, unread) =
            Specs::open(&folder).map_err(io(&format!("cannot read {}", folder.display())))?;
        // Every connection is a file; logs that cannot be opened any more would refuse events.
        if let Some(files) = crate::limits::files().filter(|files| files / 2 < config.limits.connections) {
            config.limits.connections = files / 2;
            said(format!(
                "at most {} connections are served at once: the system lets this process open {files} files (`ulimit -n`)",
                files / 2
            ));
        }
        let silences = Silences::open(&data, config.windows.clone()).map_err(io(&kept()))?;
        if tls.is_none() && !address.ip().is_loopback() {
            said("tokens and events are sent as they are: anybody on their way can read them; `--tls-cert` and `--tls-key` secure them".into());
        }
        let sources = crate::sources::all(&config.sources);
        let cluster = config.cluster.clone().map(crate::cluster::Cluster::new);
        let shared = Arc::new(Shared {
            gatekeeper: http::Gatekeeper::new(tokens, &config.limits),
            tls,
            budget: Budget::new(config.limits.bodies),
            silences: Arc::new(silences),
            hooks: OnceLock::new(),
            config,
            sources,
            cluster,
            verdicts: Arc::new(verdicts),
            specs,
            streams: Mutex::default(),
            changing: Mutex::default(),
            ending: AtomicBool::new(false),
            said,
            figures: crate::metrics::Figures::default(),
            history: crate::history::History::default(),
            listening: Mutex::default(),
        });
        let unread = shared.say_unread(&unread, &[]);
        for entry in std::fs::read_dir(data.join("streams")).map_err(io(&kept()))? {
            let name = entry.map_err(io(&kept()))?.file_name();
            let Some(name) = name.to_str().filter(|name| names::check("stream", name).is_ok()) else {
                continue;
            };
            let folder = data.join("streams");
            let stream = shared.open(name, &folder).map_err(io(&format!("cannot open the stream {name}")))?;
            shared.streams_locked().insert(stream.name.clone(), stream);
        }
        let mut listening = Vec::new();
        for source in &shared.config.listening {
            source.refuse_open().map_err(Error::refused)?;
            let opened = runtime.block_on(listen::open(&shared, source));
            listening.extend(opened.map_err(Error::refused)?);
        }
        let mut threads = webhooks::begin(&shared).map_err(io("cannot start the webhooks"))?;
        runtime.spawn(http::serve(listener, shared.clone()));
        runtime.spawn(crate::history::keep(shared.clone()));
        if shared.config.demo {
            let shared = shared.clone();
            let demo = std::thread::Builder::new().name("demo".into());
            threads.push(
                demo.spawn(move || crate::demo::generate(&shared)).map_err(io("cannot start a thread"))?,
            );
        }
        threads.extend(crate::sources::start(&shared).map_err(io("cannot start a thread"))?);
        let sharing = crate::cluster::start(&shared).map_err(io("cannot share a stream"))?;
        let watcher = shared.clone();
        let watching =
            std::thread::Builder::new().name("specs".into()).spawn(move || watcher.watch_folder(unread));
        threads.push(watching.map_err(io("cannot start a thread"))?);
        Ok(Self { shared, runtime, address, threads, listening, sharing, _lock: lock })
    }

    /// Where it listens, as an address for browsers.
    pub fn url(&self) -> String {
        let scheme = if self.shared.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What listens beside HTTP, and where.
    pub fn listening(&self) -> &[listen::Open] {
        &self.listening
    }

    /// Waits for an interrupt (INT or TERM).
    pub fn wait(&self) -> io::Result<()> {
        self.runtime.block_on(async {
            let mut term = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
            let mut int = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())?;
            let (term, int) = (Box::pin(term.recv()), Box::pin(int.recv()));
            futures_util::future::select(term, int).await;
            Ok(())
        })
    }

    /// Takes nothing more, writes what waits, keeps the states, and ends.
    pub fn stop(self) {
        self.shared.ending.store(true, Ordering::SeqCst);
        // Others go on with its share, from what it has come to.
        if let Some(sharing) = self.sharing {
            let _ = sharing.join();
        }
        for stream in self.shared.streams() {
            stream.close();
        }
        self.runtime.shutdown_timeout(Duration::from_secs(1));
        for thread in self.threads {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}

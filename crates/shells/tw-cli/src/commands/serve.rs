//! `tracewise serve`: requirements watched where the events are.

use super::Runnable;
use crate::context::{Context, Outcome, usage};
use crate::options::FILES;
use clap::Args;
use std::path::PathBuf;

const LISTEN: &str = "\
Where to listen; port 0 takes one that is free. Other machines are let in with tokens alone [default: 127.0.0.1:7474]";

/// A server: events in by HTTP, every requirement kept judged, violations out
#[derive(Args, Debug)]
#[command(after_help = "\
Events come by POST to /v1/streams/NAME/events, from OpenTelemetry's exporters and by sockets, specifications from the folder \
or by PUT to /v1/specs/NAME; / shows states and violations, /openapi.json what else there is. The first line on standard output says where it listens.
INT and TERM end the server; what it took is kept, and it goes on there.
Exit codes: 0 it was ended, 2 bad usage, or a folder or address that cannot be used.")]
pub struct Serve {
    #[arg(long, value_name = "HOST:PORT", help = LISTEN)]
    listen: Option<String>,

    /// Folder of specifications (*.tw), looked at again when they change [default: `specs` in the folder of data]
    #[arg(long, value_name = "DIR", value_hint = FILES)]
    specs: Option<PathBuf>,

    /// Folder where events, violations and states are kept [default: a new one, named on standard error]
    #[arg(long, value_name = "DIR", value_hint = FILES)]
    data: Option<PathBuf>,

    /// File of settings: [server], [log], [violations], [limits], [otlp], [cluster], and lists of [[listen.tcp]], [[source]],
    /// [[webhook]] and [[silence]]; what is given here goes first
    #[arg(long, value_name = "FILE.toml", value_hint = FILES)]
    config: Option<PathBuf>,

    /// Take lines of JSON over TCP, for a stream; again for more
    #[arg(long, value_name = "HOST:PORT=STREAM")]
    tcp: Vec<String>,

    /// Take lines of JSON over a Unix socket, for a stream; again for more
    #[arg(long, value_name = "PATH=STREAM")]
    unix: Vec<String>,

    /// Take syslog messages over UDP and TCP, for a stream; again for more
    #[arg(long, value_name = "HOST:PORT=STREAM")]
    syslog: Vec<String>,
    /// File of tokens: who may do what; needed where other machines are let in
    #[arg(long, value_name = "FILE", value_hint = FILES)]
    tokens: Option<PathBuf>,

    /// Make a token of this name, add its hash to the file of --tokens, print it once, and end
    #[arg(long, value_name = "NAME", requires = "tokens", requires = "rights")]
    new_token: Option<String>,

    /// What the new token allows: `write`, `read`, `administer`, each for all streams or, after a colon, for some (`write:web-*`)
    #[arg(long, value_name = "RIGHTS", requires = "new_token", value_delimiter = ',')]
    rights: Vec<String>,

    /// Certificate, and those that lead to a trusted one, as PEM: connections are secured by TLS
    #[arg(long, value_name = "FILE", requires = "tls_key", value_hint = FILES)]
    tls_cert: Option<PathBuf>,

    /// Key of the certificate, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert", value_hint = FILES)]
    tls_key: Option<PathBuf>,

    /// Show the page in the browser
    #[arg(long)]
    open: bool,

    /// Add an example specification and a generator of example events
    #[arg(long)]
    demo: bool,
}

#[cfg(not(feature = "serve"))]
impl Runnable for Serve {
    fn run(self, _: &mut Context) -> Outcome {
        let _ = (self.listen, self.specs, self.data, self.config, self.open, self.demo);
        let _ = (self.tcp, self.unix, self.syslog);
        let _ = (self.tokens, self.new_token, self.rights, self.tls_cert, self.tls_key);
        Err(usage("this build has no server; build one with `cargo build --release --features serve`"))
    }
}

#[cfg(feature = "serve")]
impl Runnable for Serve {
    fn run(self, context: &mut Context) -> Outcome {
        use crate::context::Failure;
        use crate::exit::Exit;
        use std::io::Write;
        use tw_server::{Config, Listening, Server};
        if let (Some(name), Some(file)) = (&self.new_token, &self.tokens) {
            let token = tw_server::new_token(file, name, &self.rights).map_err(usage)?;
            writeln!(context.out, "{token}")?;
            return Ok(Exit::Holds);
        }
        few_arenas();
        let data = match self.data {
            Some(data) => data,
            None => new_folder().map_err(|error| usage(format!("cannot make a folder for data: {error}")))?,
        };
        if !context.quiet {
            context.tell(&format!("data is kept in {}", data.display()));
        }
        let mut config = Config::new(data);
        if let Some(file) = &self.config {
            let read = std::fs::read_to_string(file).map_err(|error| error.to_string());
            let set = read.and_then(|text| config.set(&text));
            set.map_err(|why| usage(format!("{}: {}", file.display(), why.trim_end())))?;
        }
        config.listen = self.listen.unwrap_or(config.listen);
        config.specs = self.specs.or(config.specs);
        config.demo = self.demo;
        type Read = fn(&str) -> Result<Listening, String>;
        let sources: [(&str, &[String], Read); 3] = [
            ("--tcp", &self.tcp, Listening::tcp),
            ("--unix", &self.unix, Listening::unix),
            ("--syslog", &self.syslog, Listening::syslog),
        ];
        for (flag, texts, read) in sources {
            for text in texts {
                config.listening.push(read(text).map_err(|why| usage(format!("{flag}: {why}")))?);
            }
        }
        config.tokens = self.tokens.or(config.tokens);
        config.tls.cert = self.tls_cert.or(config.tls.cert);
        config.tls.key = self.tls_key.or(config.tls.key);
        let quiet = context.quiet;
        let server = Server::start(config, move |what| {
            if !quiet {
                eprintln!("{}", crate::words::printable(&what));
            }
        })?;
        writeln!(context.out, "listening on {}", server.url())?;
        context.out.flush()?;
        if self.open {
            show(&server.url(), context);
        }
        server.wait().map_err(Failure::Output)?;
        server.stop();
        Ok(Exit::Holds)
    }
}

/// Has threads share their memory. The allocator of glibc gives each of many threads an arena that keeps what was once
/// large: clients that send large bodies again and again would have the process grow to many times of what bodies may hold.
#[cfg(all(feature = "serve", target_os = "linux", target_env = "gnu"))]
fn few_arenas() {
    let cores = std::thread::available_parallelism().map_or(2, |cores| cores.get().clamp(2, 64));
    // SAFETY: `mallopt` takes two numbers, and no thread but this one runs yet. `bench/hostile.py --only bombs --rounds 6` shows
    // what it does: the same memory after each round, instead of a hundred megabytes more.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, cores as libc::c_int);
    }
}

#[cfg(all(feature = "serve", not(all(target_os = "linux", target_env = "gnu"))))]
fn few_arenas() {}

/// A folder that was not there before.
#[cfg(feature = "serve")]
fn new_folder() -> std::io::Result<PathBuf> {
    for number in 0.. {
        let folder = std::env::temp_dir().join(format!("tracewise-{}-{number}", std::process::id()));
        match std::fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(std::io::ErrorKind::AlreadyExists.into())
}

/// Shows a page in the browser, if there is one.
#[cfg(feature = "serve")]
fn show(page: &str, context: &mut Context) {
    use std::process::{Command, Stdio};
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quietly = Command::new(program).arg(page).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    match quietly {
        // It goes on by itself.
        Ok(mut child) => drop(std::thread::spawn(move || child.wait())),
        Err(error) => context.tell(&format!("cannot show {page}: `{program}`: {error}")),
    }
}

//! Who is let in, from outside: tokens, TLS, limits, and what is told to others.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, pem::PemObject};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use tw_server::{Config, Server, new_token};

const SPEC: &str = "trace { stream: \"web, other\"; }\nproperty ok : G (status < 500);\n";
const BAD: &str = "{\"status\": 503}\n";

/// A server on a folder of its own, which goes when the test is over.
struct House {
    folder: PathBuf,
    server: Option<Server>,
    said: Arc<Mutex<Vec<String>>>,
    settings: String,
}

impl House {
    fn new(name: &str, settings: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("tracewise-guarded-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("data/specs")).unwrap();
        std::fs::write(folder.join("data/specs/web.tw"), SPEC).unwrap();
        Self { folder, server: None, said: Arc::default(), settings: settings.to_string() }
    }

    fn token(&self, name: &str, rights: &str) -> String {
        new_token(&self.folder.join("tokens"), name, &[rights.to_string()]).unwrap()
    }

    fn start(&mut self, set: impl Fn(&mut Config)) {
        let mut config = Config::new(self.folder.join("data"));
        config.listen = "127.0.0.1:0".into();
        config.reload = Duration::from_millis(20);
        config.set(&self.settings.replace("FOLDER", self.folder.to_str().unwrap())).unwrap();
        let tokens = self.folder.join("tokens");
        config.tokens = tokens.exists().then_some(tokens);
        set(&mut config);
        let said = self.said.clone();
        self.server = Some(Server::start(config, move |what| said.lock().unwrap().push(what)).unwrap());
    }

    fn address(&self) -> SocketAddr {
        self.server.as_ref().unwrap().address()
    }

    fn ask(&self, method: &str, path: &str, token: &str, body: &str) -> (u16, String) {
        let bearer =
            if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
        ask(TcpStream::connect(self.address()).unwrap(), method, path, &bearer, body)
    }

    fn said(&self, what: &str) {
        until(what, || self.said.lock().unwrap().iter().any(|said| said.contains(what)));
    }
}

impl Drop for House {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            server.stop();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn until(what: &str, good: impl Fn() -> bool) {
    let late = Instant::now() + Duration::from_secs(30);
    while !good() {
        assert!(Instant::now() < late, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn ask_as(host: &str, port: u16, path: &str, token: &str) -> (u16, String) {
    let bearer = format!("Authorization: Bearer {token}");
    let mut connection = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{bearer}\r\n\r\n");
    connection.write_all(head.as_bytes()).unwrap();
    let mut text = String::new();
    connection.read_to_string(&mut text).unwrap();
    (text[9..12].parse().unwrap(), text)
}

fn ask(
    mut connection: impl Read + Write,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> (u16, String) {
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n"
    );
    connection.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut text = Vec::new();
    // Who is let go without a farewell over TLS has said all.
    let _ = connection.read_to_end(&mut text);
    let text = String::from_utf8(text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{method} {path}: {text:?}"));
    (head[9..12].parse().unwrap(), format!("{}\n{body}", head.to_lowercase()))
}

#[test]
fn tokens_have_rights_on_streams() {
    let mut house = House::new("tokens", "");
    let writer = house.token("writer", "write:web");
    let reader = house.token("reader", "read:web");
    let admin = house.token("admin", "administer:web,read");
    house.start(|config| config.listen = "0.0.0.0:0".into());
    let (port, listens) = (house.address().port(), house.server.as_ref().unwrap().url());
    assert!(listens.starts_with("http://0.0.0.0:"), "{listens}");
    let own = |method: &str, path: &str, token: &str, body: &str| {
        let bearer =
            if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
        ask(TcpStream::connect(("127.0.0.1", port)).unwrap(), method, path, &bearer, body)
    };
    house.said("--tls-cert");
    let named = own("GET", "/healthz", "", "");
    assert!(named.0 == 200 && ask_as("web.example", port, "/v1/streams", &reader).0 == 200);
    let events = |stream: &str| format!("/v1/streams/{stream}/events");
    for open in ["/", "/healthz", "/readyz", "/openapi.json", "/page/main.js"] {
        assert_eq!(own("GET", open, "", "").0, 200, "{open}");
    }
    for closed in
        ["/metrics", "/v1/streams", "/v1/violations", "/v1/feed", "/v1/specs", "/v1/history", "/v1/words"]
    {
        let (status, answer) = own("GET", closed, "", "");
        assert!(status == 401 && answer.contains("www-authenticate: bearer"), "{closed} {answer}");
    }
    assert_eq!(own("POST", &events("web"), &writer, BAD).0, 200);
    for (method, path, token, expected) in [
        ("POST", events("other"), &writer, 403),
        ("POST", events("%77eb"), &writer, 403),
        ("POST", events("web"), &reader, 403),
        ("GET", events("web"), &writer, 403),
        ("GET", events("web"), &reader, 200),
        ("GET", events("other"), &reader, 403),
        ("GET", "/v1/violations".into(), &writer, 403),
        ("GET", "/v1/words?stream=other".into(), &reader, 403),
        ("GET", "/v1/words?stream=web".into(), &reader, 200),
        ("PUT", "/v1/specs/new".into(), &reader, 403),
        ("DELETE", "/v1/specs/web".into(), &admin, 403),
        ("GET", "/v1/webhooks".into(), &admin, 403),
        ("PATCH", "/v1/specs".into(), &admin, 403),
        ("GET", "/v1/nowhere".into(), &reader, 404),
    ] {
        let (status, answer) = own(method, &path, token, BAD);
        assert_eq!(status, expected, "{method} {path}: {answer}");
    }
    // A specification is about what the token reaches, or it is not put.
    let about = |streams: &str| format!("trace {{ stream: \"{streams}\"; }}\nproperty p : G (status > 0);\n");
    assert_eq!(own("PUT", "/v1/specs/own", &admin, &about("web")).0, 200);
    assert_eq!(own("PUT", "/v1/specs/own", &admin, &about("web, other")).0, 403);
    assert_eq!(
        own("PUT", "/v1/specs/web", &admin, &about("web")).0,
        403,
        "the one before is about `other`, too"
    );
    assert_eq!(own("PUT", "/v1/specs/all", &admin, "property p : G (status > 0);\n").0, 403);
    assert_eq!(own("DELETE", "/v1/specs/own", &admin, "").0, 200);
    // What a token does not reach is not in lists.
    let more = house.token("more", "write,read:other");
    house.said("there are 4");
    assert_eq!(own("POST", &events("other"), &more, BAD).0, 200);
    until("both are violated", || own("GET", "/v1/violations", &admin, "").1.matches("\"id\"").count() == 2);
    for path in ["/v1/violations", "/v1/streams", "/v1/properties", "/metrics", "/v1/history"] {
        let (status, answer) = own("GET", path, &reader, "");
        assert!(status == 200 && !answer.contains("\"other\""), "{path}: {answer}");
    }
    assert!(own("GET", "/metrics", &more, "").1.contains("{stream=\"other\"}"));
    // No token and no hash of one was told to anybody.
    let said = house.said.lock().unwrap().join("\n");
    assert!(!said.contains("tw_"), "{said}");
}

#[test]
fn who_guesses_waits() {
    let mut house = House::new("guesses", "");
    let good = house.token("good", "read");
    house.start(|config| config.limits.guesses = 5);
    assert_eq!(house.ask("GET", "/v1/streams", &good, "").0, 200);
    // The same one again and again is one guess.
    (0..20).for_each(|_| assert_eq!(house.ask("GET", "/v1/streams", "tw_0", "").0, 401));
    (1..5).for_each(|number| assert_eq!(house.ask("GET", "/v1/streams", &format!("tw_{number}"), "").0, 401));
    for token in ["tw_6", &good] {
        let (status, answer) = house.ask("GET", "/v1/streams", token, "");
        assert!(status == 429 && answer.contains("retry-after: "), "{answer}");
    }
    assert_eq!(house.ask("GET", "/healthz", "", "").0, 200);
}

/// A feed ends with its token.
#[test]
fn a_token_that_goes_ends_what_it_began() {
    let mut house = House::new("goes", "");
    let goes = house.token("goes", "read");
    house.start(|_| {});
    let mut feed = TcpStream::connect(house.address()).unwrap();
    let head = format!(
        "GET /v1/feed HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {goes}\r\n\r\n"
    );
    feed.write_all(head.as_bytes()).unwrap();
    let mut piece = [0; 4096];
    assert!(feed.read(&mut piece).unwrap() > 0);
    std::fs::write(house.folder.join("tokens"), "# none\n").unwrap();
    house.said("there are 0");
    let writer = house.token("writer", "write");
    house.said("there are 1");
    assert_eq!(house.ask("GET", "/v1/streams", &goes, "").0, 401);
    assert_eq!(house.ask("POST", "/v1/streams/web/events", &writer, BAD).0, 200);
    feed.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut rest = Vec::new();
    feed.read_to_end(&mut rest).unwrap();
    assert!(!String::from_utf8_lossy(&rest).contains("\"id\""));
}

fn secured(address: SocketAddr, roots: &str) -> StreamOwned<ClientConnection, TcpStream> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/tls");
    let mut store = RootCertStore::empty();
    store.add(CertificateDer::from_pem_file(folder.join(roots)).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(store).with_no_client_auth();
    let name = "localhost".try_into().unwrap();
    let client = ClientConnection::new(Arc::new(config), name).unwrap();
    StreamOwned::new(client, TcpStream::connect(address).unwrap())
}

#[test]
fn connections_are_secured_and_certificates_renewed() {
    let mut house =
        House::new("tls", "[server]\ntls_cert = \"FOLDER/cert.pem\"\ntls_key = \"FOLDER/key.pem\"\n");
    let from = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/tls");
    for name in ["cert.pem", "key.pem"] {
        std::fs::copy(from.join(name), house.folder.join(name)).unwrap();
    }
    house.start(|_| {});
    assert!(house.server.as_ref().unwrap().url().starts_with("https://127.0.0.1:"));
    let asked = || ask(secured(house.address(), "ca.pem"), "POST", "/v1/streams/web/events", "", BAD).0;
    assert_eq!(asked(), 200);
    // What is no certificate changes nothing; one that is new is taken.
    std::fs::write(house.folder.join("cert.pem"), "none").unwrap();
    house.said("the certificate cannot be used");
    assert_eq!(asked(), 200);
    std::fs::copy(from.join("cert.pem"), house.folder.join("cert.pem")).unwrap();
    house.said("the certificate was read again");
    assert_eq!(asked(), 200);
    // Who speaks without TLS is not heard.
    let mut plain = TcpStream::connect(house.address()).unwrap();
    plain.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut text = Vec::new();
    let _ = plain.read_to_end(&mut text);
    assert!(!String::from_utf8_lossy(&text).contains("HTTP/1.1"));
}

#[test]
fn what_cannot_be_used_is_refused_at_once() {
    let house = House::new("refused", "");
    let refused = |set: &dyn Fn(&mut Config)| {
        let mut config = Config::new(house.folder.join("data"));
        config.listen = "127.0.0.1:0".into();
        set(&mut config);
        Server::start(config, |_| {}).err().map(|error| error.to_string()).unwrap()
    };
    let own = |name: &str| house.folder.join(name);
    assert!(refused(&|config| config.listen = "0.0.0.0:0".into()).contains("--tokens"));
    assert!(refused(&|config| config.tokens = Some(own("none"))).contains("none"));
    assert!(refused(&|config| config.tls.cert = Some(own("none"))).contains("--tls-key"));
    let both =
        |config: &mut Config| (config.tls.cert, config.tls.key) = (Some(own("none")), Some(own("none")));
    assert!(refused(&both).contains("none"));
}

#[test]
fn limits_are_answered_and_memory_is_bounded() {
    let mut house = House::new(
        "limits",
        "[limits]\nbodies = \"1MB\"\npatience = \"500ms\"\naddress = 8\nbody = \"4MB\"\nrequests = 20\n",
    );
    house.start(|_| {});
    let local = |method: &str, path: &str, body: &str| house.ask_plain(method, path, body).1;
    let lines = "{\"status\": 200}\n".repeat(100_000);
    let answer = local("POST", "/v1/streams/web/events", &lines);
    assert!(answer.contains("503") && answer.contains("retry-after: 1"), "{answer:.300}");
    assert!(local("POST", "/v1/streams/web/events", &lines[..160_000]).contains("{\"taken\":10000}"));
    // What a specification holds is bounded, too: each of the streams has machines for it.
    let wide: Vec<String> = (0..30_000).map(|number| format!("x > {number}")).collect();
    let answer = local("PUT", "/v1/specs/wide", &format!("property p : G ({});\n", wide.join(" & ")));
    assert!(answer.contains("422") && answer.contains("more than the 20000"), "{answer:.300}");
    // A head or a body that does not come, and an answer that nobody reads, end in time.
    let mut slow = TcpStream::connect(house.address()).unwrap();
    slow.write_all(b"GET /healthz HTTP/1.1\r\nHost").unwrap();
    let mut body = TcpStream::connect(house.address()).unwrap();
    body.write_all(b"POST /v1/streams/web/events HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
        .unwrap();
    let mut text = Vec::new();
    let _ = body.read_to_end(&mut text);
    assert!(String::from_utf8_lossy(&text).starts_with("HTTP/1.1 408"));
    let began = Instant::now();
    let _ = slow.read_to_end(&mut text);
    assert!(began.elapsed() < Duration::from_secs(10));
    // More connections than an address may have are told so; those that say nothing last half a second each.
    until("all places are taken", || {
        let _idle: Vec<TcpStream> = (0..8).map(|_| TcpStream::connect(house.address()).unwrap()).collect();
        std::thread::sleep(Duration::from_millis(100));
        let answer = local("GET", "/healthz", "");
        answer.contains("503") && answer.contains("no more places")
    });
    until("there is room again", || local("GET", "/healthz", "").contains("200 OK"));
    // More requests than a client may send wait.
    let many: Vec<String> = (0..40).map(|_| local("GET", "/v1/streams", "")).collect();
    assert!(many.iter().any(|answer| answer.contains("429") && answer.contains("retry-after")));
    assert!(many.iter().any(|answer| answer.contains("200 OK")));
}

/// Takes requests, refuses the first ones, and hands on what came.
fn receiver(refused: usize) -> (u16, Receiver<(String, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, received) = channel();
    std::thread::spawn(move || {
        for (number, connection) in listener.incoming().enumerate() {
            let mut connection = connection.unwrap();
            let (mut text, mut piece) = (Vec::new(), [0; 4096]);
            loop {
                let whole = String::from_utf8_lossy(&text).to_string();
                if let Some((head, body)) = whole.split_once("\r\n\r\n") {
                    let length = head.to_lowercase();
                    let length =
                        length.split("content-length: ").nth(1).unwrap().lines().next().unwrap().to_string();
                    if body.len() >= length.parse::<usize>().unwrap() {
                        let status = if number < refused { "500 No" } else { "204 Yes" };
                        let _ = write!(connection, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
                        if sender.send((head.to_lowercase(), body.to_string())).is_err() {
                            return;
                        }
                        break;
                    }
                }
                match connection.read(&mut piece) {
                    Ok(0) | Err(_) => break,
                    Ok(read) => text.extend_from_slice(&piece[..read]),
                }
            }
        }
    });
    (port, received)
}

fn delivery(head: &str) -> &str {
    head.split("x-tracewise-delivery: ").nth(1).unwrap().lines().next().unwrap()
}

#[test]
fn violations_are_told_until_somebody_takes_them() {
    let (port, received) = receiver(1);
    let mut house = House::new(
        "hooks",
        &format!(
            "[[webhook]]\nname = \"ops\"\nurl = \"http://127.0.0.1:{port}/secret/path\"\nsecret_file = \"FOLDER/secret\"\nmatch = [\"stream=web\"]\ngroup_wait = \"50ms\"\ngroup_interval = \"50ms\"\n"
        ),
    );
    std::fs::write(house.folder.join("secret"), "key\n").unwrap();
    house.start(|_| {});
    let local = |method: &str, path: &str, body: &str| house.ask_plain(method, path, body);
    let wait = Duration::from_secs(30);
    assert_eq!(local("POST", "/v1/streams/other/events", BAD).0, 200);
    assert_eq!(local("POST", "/v1/streams/web/events", BAD).0, 200);
    let (head, first) = received.recv_timeout(wait).unwrap();
    assert!(
        head.contains("post /secret/path http/1.1") && head.contains("x-tracewise-signature: t="),
        "{head}"
    );
    assert!(
        first.contains("\"group\":{\"stream\":\"web\",\"property\":\"ok\"},\"repeated\":false,\"count\":1,"),
        "{first}"
    );
    let (again, second) = received.recv_timeout(wait).unwrap();
    assert_eq!((delivery(&head), &first), (delivery(&again), &second), "the same, until it is taken");
    house.said("answers 500");
    house.said("taken again");
    // A silence, which outlives the server.
    let (status, answer) = local(
        "POST",
        "/v1/silences",
        "{\"match\": [\"property=o*\"], \"duration\": \"1h\", \"comment\": \"work\"}",
    );
    assert_eq!(status, 201, "{answer}");
    let id = answer.split("\"id\":\"").nth(1).unwrap()[..16].to_string();
    assert_eq!(local("POST", "/v1/streams/web/events", BAD).0, 200);
    until("it is silenced", || local("GET", "/v1/webhooks", "").1.contains("\"silenced\":1"));
    let hooks = local("GET", "/v1/webhooks", "").1;
    assert!(hooks.contains("\"taken\":1,\"failed\":1,\"waiting\":0") && !hooks.contains("secret"), "{hooks}");
    assert!(!house.said.lock().unwrap().join("\n").contains("secret"));
    house.server.take().unwrap().stop();
    house.start(|_| {});
    let local = |method: &str, path: &str, body: &str| house.ask_plain(method, path, body);
    assert!(local("GET", "/v1/silences", "").1.contains("\"comment\":\"work\""));
    assert_eq!(local("DELETE", &format!("/v1/silences/{id}"), "").0, 200);
    assert_eq!(local("DELETE", &format!("/v1/silences/{id}"), "").0, 404);
    assert_eq!(local("POST", "/v1/streams/web/events", BAD).0, 200);
    let (_, third) = received.recv_timeout(wait).unwrap();
    assert!(third.contains("\"count\":1") && third.contains("\"position\":2"), "{third}");
    assert!(local("GET", "/metrics", "").1.contains("tracewise_webhook_taken_total{webhook=\"ops\"} "));
}

impl House {
    fn ask_plain(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let mut connection = TcpStream::connect(self.address()).unwrap();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
        );
        let _ = connection.write_all(format!("{head}{body}").as_bytes());
        let mut text = Vec::new();
        let _ = connection.read_to_end(&mut text);
        let text = String::from_utf8_lossy(&text).into_owned();
        (text.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0), text)
    }
}

//! Events over sockets, as `tracewise watch --listen` takes them.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use tracing::info;
use tracing_subscriber::prelude::*;
use tw_tracing::{Builder, builder};

fn log(builder: Builder, count: u64) -> Result<Vec<tw_tracing::Outcome>, tracewise::Error> {
    let (layer, guard) = builder.build();
    tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
        (0..count).for_each(|n| info!(n, "tick"));
    });
    guard.finish()
}

fn check(stream: impl Read, count: u64) {
    let mut next = 0;
    for line in BufReader::new(stream).lines() {
        let object: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        assert_eq!((object["event"].as_str(), object["n"].as_u64()), (Some("tick"), Some(next)));
        next += 1;
    }
    assert_eq!(next, count);
}

#[test]
fn over_tcp() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // More than the queue and the socket's buffers hold: the program waits for the reader.
    let count = 60_000;
    let reader = std::thread::spawn(move || check(listener.accept().unwrap().0, count));
    assert_eq!(log(builder().send_tcp(address).unwrap(), count).unwrap(), []);
    reader.join().unwrap();
}

#[test]
#[cfg(unix)]
fn over_a_unix_socket() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("events.socket");
    let _ = std::fs::remove_file(&path);
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let reader = std::thread::spawn(move || check(listener.accept().unwrap().0, 100));
    log(builder().send_unix(&path).unwrap(), 100).unwrap();
    reader.join().unwrap();
}

#[test]
fn one_event_does_not_wait_for_the_next() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (layer, guard) = builder().send_tcp(listener.local_addr().unwrap()).unwrap().build();
    let mut lines = BufReader::new(listener.accept().unwrap().0).lines();
    tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
        info!("one");
        assert!(lines.next().unwrap().unwrap().contains("\"one\""));
        info!("two");
        assert!(lines.next().unwrap().unwrap().contains("\"two\""));
    });
    guard.finish().unwrap();
}

#[test]
fn a_broken_connection_is_told_and_the_program_goes_on() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let builder = builder().send_tcp(listener.local_addr().unwrap()).unwrap();
    drop(listener.accept().unwrap());
    drop(listener);
    let error = log(builder, 100_000).unwrap_err().to_string();
    assert!(error.contains("can no longer be sent"), "{error}");
}

#[test]
fn nobody_listens() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(builder().send_tcp(free).is_err());
}

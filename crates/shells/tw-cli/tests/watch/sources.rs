//! Where a live trace comes from.

use crate::process::{directory, file, run, watch};
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

#[test]
fn a_file_is_read_to_its_end() {
    let trace = file("file", "t.props", "p\nq\np");
    let end = run(&["-e", "F q", "-e", "G (q -> X p)", &trace, "--output", "json"], "");
    let settled: Vec<bool> = end.json().iter().map(|line| line["settled"].as_bool().unwrap()).collect();
    assert_eq!((end.code, settled), (Some(0), vec![true, false]));
    // Compressed ones too, by their content.
    let packed = format!("{trace}.gz");
    let gzip = std::process::Command::new("gzip").args(["-k", &trace]).status();
    if gzip.is_ok_and(|status| status.success()) {
        let again = run(&["-e", "F q", "-e", "G (q -> X p)", &packed, "--output", "json"], "");
        assert_eq!((again.code, again.out.len()), (Some(0), end.out.len()));
    }
}

#[test]
fn a_growing_file_is_followed() {
    let trace = file("follow", "t.props", "p\n");
    let watch = watch(&["-e", "G !bad", "-e", "F good", &trace, "--follow", "--output", "json"]);
    assert!(watch.is_silent());
    let path = trace.clone();
    let writer = std::thread::spawn(move || {
        let mut file = OpenOptions::new().append(true).open(path).unwrap();
        for part in ["p\np", "\np\ngo", "od", "\np\n", "bad", "\n"] {
            file.write_all(part.as_bytes()).unwrap();
            std::thread::sleep(Duration::from_millis(15));
        }
    });
    let (good, bad) = (watch.json(), watch.json());
    assert_eq!(
        (&good["verdict"], &good["position"], &good["line"]["line"]),
        (&"satisfied".into(), &4.into(), &5.into())
    );
    assert_eq!((&bad["verdict"], &bad["position"]), (&"violated".into(), &6.into()));
    writer.join().unwrap();
    watch.signal("TERM");
    assert_eq!(watch.end().code, Some(1));
}

#[test]
fn a_growing_text_log_is_followed() {
    let trace = file("follow-text", "t.log", "=== begins ===\nDec 10 06:55:46 host up\n");
    let watch = watch(&[
        "-e",
        "G !(text matches \"bad\")",
        &trace,
        "--format",
        "lines",
        "--follow",
        "--output",
        "json",
    ]);
    let mut file = OpenOptions::new().append(true).open(&trace).unwrap();
    for part in ["  at x\nDec 10 06:5", "5:47 host so bad\n", "  at y\n"] {
        file.write_all(part.as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(15));
    }
    // Nothing follows, so the line is complete after a second.
    let bad = watch.json();
    assert_eq!((&bad["verdict"], &bad["position"]), (&"violated".into(), &1.into()));
    file.write_all(b"  at z\nDec 10 06:55:48 host bad again\nDec 10 06:55:49 host up\n").unwrap();
    watch.error_line("line 6 continues one that was complete");
    assert_eq!(watch.json()["position"], 2);
    watch.signal("TERM");
    assert_eq!(watch.end().code, Some(1));
}

#[test]
fn a_file_that_is_emptied_or_replaced_is_read_on_and_reported() {
    let trace = file("rotate", "t.csv", "p,q\n0,0\n1,0\n");
    let watch = watch(&["-e", "F (q & X X (p & q))", &trace, "--follow", "--output", "json"]);
    std::thread::sleep(Duration::from_millis(100));
    std::fs::rename(&trace, format!("{trace}.1")).unwrap();
    std::fs::write(&trace, "p,q\n0,1\n").unwrap();
    watch.error_line("was replaced");
    std::thread::sleep(Duration::from_millis(300));
    OpenOptions::new().write(true).truncate(true).open(&trace).unwrap();
    watch.error_line("became shorter");
    // The header is no line of the trace, here either.
    std::fs::write(&trace, "p,q\n0,0\n1,1\n").unwrap();
    let verdict = watch.json();
    assert_eq!((&verdict["verdict"], &verdict["position"]), (&"satisfied".into(), &4.into()));
    assert_eq!(verdict["line"]["line"], 3);
    watch.signal("INT");
    assert_eq!(watch.end().code, Some(0));
}

/// What a file held when it was rotated is read before the file that took its name, the files in between too.
#[test]
fn a_rotated_file_is_read_to_its_end() {
    let trace = file("rotated", "t.props", "a\n");
    let state = directory("rotated-state").join("state").to_str().unwrap().to_string();
    let arguments = ["-e", "F (b & X (c & X (d & X e)))", "--format", "props", &trace, "--follow"];
    let arguments = [&arguments[..], &["--output", "json", "--checkpoint", &state, "--resume"]].concat();
    let append = |path: &str, text: &str| {
        let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(30));
    };
    let first = watch(&arguments);
    first.error_line("starting anew");
    std::thread::sleep(Duration::from_millis(100));
    // The new file is there, but the writer has not turned to it.
    std::fs::rename(&trace, format!("{trace}.1")).unwrap();
    append(&trace, "");
    append(&format!("{trace}.1"), "b\n");
    first.signal("TERM");
    assert_eq!(first.end().code, Some(1));
    // While nobody watches, it is rotated twice.
    std::fs::rename(format!("{trace}.1"), format!("{trace}.2")).unwrap();
    append(&trace, "c\n");
    std::fs::rename(&trace, format!("{trace}.1")).unwrap();
    append(&trace, "d\n");
    let second = watch(&arguments);
    second.error_line("was replaced more than once; reading");
    second.error_line("was replaced; reading the new file");
    append(&trace, "e\n");
    let verdict = second.json();
    assert_eq!((&verdict["verdict"], &verdict["position"]), (&"satisfied".into(), &4.into()));
    // A writer that has still not noticed.
    append(&format!("{trace}.1"), "late\n");
    second.error_line("5 bytes were written to the file that had the name");
    second.signal("TERM");
    assert_eq!(second.end().code, Some(0));
}

/// Emptied and written again beyond what had been read: the size alone does not tell.
#[test]
fn a_file_that_is_written_anew_is_noticed() {
    let trace = file("anew", "t.props", "a\n");
    let watch = watch(&["-e", "F (b & X c)", "--format", "props", &trace, "--follow", "--output", "json"]);
    std::thread::sleep(Duration::from_millis(200));
    watch.signal("STOP");
    std::fs::write(&trace, "b\nc\nd\n").unwrap();
    watch.signal("CONT");
    watch.error_line("was written anew; what it held last may be lost");
    let verdict = watch.json();
    assert_eq!((&verdict["verdict"], &verdict["position"]), (&"satisfied".into(), &2.into()));
    watch.signal("INT");
    assert_eq!(watch.end().code, Some(0));
}

/// Emptied and written again to the same size: neither the size nor a read tells.
#[test]
fn a_file_that_is_written_anew_to_its_old_size_is_noticed() {
    let trace = file("anew-same", "t.props", "a\na\n");
    let watch = watch(&["-e", "F (b & X c)", "--format", "props", &trace, "--follow", "--output", "json"]);
    std::thread::sleep(Duration::from_millis(200));
    watch.signal("STOP");
    std::fs::write(&trace, "b\nc\n").unwrap();
    watch.signal("CONT");
    watch.error_line("was written anew; what it held last may be lost");
    let verdict = watch.json();
    assert_eq!((&verdict["verdict"], &verdict["position"]), (&"satisfied".into(), &3.into()));
    watch.signal("INT");
    assert_eq!(watch.end().code, Some(0));
}

/// The address after `listening on `.
fn address(line: &str) -> String {
    let start = line.find("listening on ").unwrap() + "listening on ".len();
    line[start..].trim_end_matches(['"', '}']).to_string()
}

#[test]
fn a_socket_takes_several_connections() {
    for (scheme, last_line) in [("tcp:", true), ("", false)] {
        let place = format!("{scheme}127.0.0.1:0");
        let mut arguments = vec!["-e", "G !bad", "-e", "F (a & X b)", "--listen", &place];
        arguments.extend(["--format", "props", "--output", "json"]);
        arguments.extend(last_line.then_some("--last-line"));
        let watch = watch(&arguments);
        let address = address(&watch.error_line("listening on"));
        let address = address.strip_prefix("tcp:").unwrap();
        assert!(!address.ends_with(":0"), "{address}");
        let (mut one, mut two) = (TcpStream::connect(address).unwrap(), TcpStream::connect(address).unwrap());
        // Lines of one do not cut lines of the other.
        one.write_all(b"x\nba").unwrap();
        std::thread::sleep(Duration::from_millis(50));
        two.write_all(b"a\n").unwrap();
        std::thread::sleep(Duration::from_millis(50));
        one.write_all(b"r\nbad").unwrap();
        std::thread::sleep(Duration::from_millis(50));
        two.write_all(b"a\nb\n").unwrap();
        let verdict = watch.json();
        assert_eq!((&verdict["property"], &verdict["position"]), (&"F (a & X b)".into(), &4.into()));
        // A line that its connection leaves open is none, unless that is asked for.
        drop(one);
        if last_line {
            let verdict = watch.json();
            assert_eq!((&verdict["property"], &verdict["position"]), (&"G !bad".into(), &5.into()));
        } else {
            let note = watch.error_line("ended inside a line");
            assert!(note.contains("its 3 bytes are left out (`--last-line` reads them)"), "{note}");
        }
        watch.signal("INT");
        let end = watch.end();
        assert_eq!((end.code, end.out.len()), if last_line { (Some(1), 0) } else { (Some(0), 1) });
    }
}

/// One client's bad lines are not the end for all, even where they never end.
#[test]
fn a_bad_client_does_not_end_the_watch_of_others() {
    let arguments = ["-e", "G !bad", "--listen", "127.0.0.1:0", "--skip-bad-lines"];
    let watch = watch(&[&arguments[..], &["--format", "jsonl", "--output", "json"]].concat());
    let address = address(&watch.error_line("listening on"));
    let connect = || TcpStream::connect(address.strip_prefix("tcp:").unwrap()).unwrap();
    let (mut rude, mut kind) = (connect(), connect());
    rude.write_all(b"hello\n").unwrap();
    watch.error_line("found `hello`, expected a JSON object");
    let megabyte = vec![b'x'; 1 << 20];
    for _ in 0..65 {
        rude.write_all(&megabyte).unwrap();
    }
    watch.error_line("this record is longer than 67108864 bytes");
    kind.write_all(b"{\"bad\": false}\n").unwrap();
    rude.write_all(b"\n{\"bad\": true}\n").unwrap();
    let verdict = watch.json();
    assert_eq!((&verdict["property"], &verdict["verdict"]), (&"G !bad".into(), &"violated".into()));
    watch.signal("INT");
    assert_eq!(watch.end().code, Some(1));
}

#[test]
fn lines_that_never_end_are_bounded_over_all_clients() {
    let arguments = ["-e", "G !bad", "--listen", "127.0.0.1:0", "--skip-bad-lines", "--connections", "64"];
    let watch = watch(&[&arguments[..], &["--format", "props"]].concat());
    let address = address(&watch.error_line("listening on"));
    let megabyte = vec![b'x'; 1 << 20];
    let clients: Vec<TcpStream> = (0..7)
        .map(|_| {
            let mut client = TcpStream::connect(address.strip_prefix("tcp:").unwrap()).unwrap();
            (0..10).for_each(|_| client.write_all(&megabyte).unwrap());
            client
        })
        .collect();
    let note = watch.error_line("lines that have not ended hold");
    assert!(note.contains("and at most 67108864 are held"), "{note}");
    drop(clients);
    watch.signal("INT");
    watch.end();
}

#[test]
fn a_client_beyond_the_limit_is_told() {
    let watch =
        watch(&["-e", "G !bad", "--listen", "127.0.0.1:0", "--connections", "1", "--format", "props"]);
    let address = address(&watch.error_line("listening on"));
    let connect = || TcpStream::connect(address.strip_prefix("tcp:").unwrap()).unwrap();
    let first = connect();
    std::thread::sleep(Duration::from_millis(100));
    let mut told = String::new();
    BufReader::new(connect()).read_line(&mut told).unwrap();
    assert_eq!(told, "{\"error\":\"this watch serves 1 connections at once, and all are taken\"}\n");
    watch.error_line("is refused: 1 are served at once (`--connections`)");
    // Once a place is free, others are served.
    drop(first);
    std::thread::sleep(Duration::from_millis(100));
    connect().write_all(b"bad\n").unwrap();
    assert!(watch.line().contains("G !bad"));
    watch.signal("INT");
    assert_eq!(watch.end().code, Some(1));
}

#[test]
fn a_unix_socket_listens_and_is_removed() {
    let path = directory("unix").join("socket");
    let place = format!("unix:{}", path.display());
    let arguments = ["-e", "G !bad", "--listen", &place, "--format", "props", "--output", "json"];
    let first = watch(&arguments);
    first.error_line("listening on unix:");
    UnixStream::connect(&path).unwrap().write_all(b"x\nbad\n").unwrap();
    assert_eq!(first.json()["position"], 1);
    // One that lives keeps its place; what a crash leaves behind is replaced.
    let second = watch(&arguments);
    second.error_line("cannot listen on");
    assert_eq!(second.end().code, Some(2));
    first.kill();
    assert!(path.exists());
    let third = watch(&arguments);
    third.error_line("listening on unix:");
    UnixStream::connect(&path).unwrap().write_all(b"bad\n").unwrap();
    assert_eq!(third.json()["position"], 0);
    third.signal("INT");
    assert_eq!(third.end().code, Some(1));
    assert!(!path.exists());
}

#[test]
fn what_is_not_a_socket_is_never_replaced() {
    let path = directory("unix-file").join("precious");
    std::fs::write(&path, "precious").unwrap();
    let place = format!("unix:{}", path.display());
    let arguments = ["-e", "G !bad", "--listen", &place, "--format", "props"];
    let refused = watch(&arguments);
    refused.error_line("what is there is not a socket");
    assert_eq!(refused.end().code, Some(2));
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    // Nor is what came into the place of our own.
    std::fs::remove_file(&path).unwrap();
    let listening = watch(&arguments);
    listening.error_line("listening on unix:");
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "new").unwrap();
    listening.signal("INT");
    assert_eq!(listening.end().code, Some(3));
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
}

#[test]
fn a_client_is_told_where_to_go_on() {
    let state = directory("greeting").join("state").to_str().unwrap().to_string();
    let arguments = [
        "-e",
        "G !bad",
        "--listen",
        "127.0.0.1:0",
        "--format",
        "csv",
        "--output",
        "json",
        "--checkpoint",
        &state,
        "--resume",
    ];
    let connect = |watch: &crate::process::Watch| {
        let address = address(&watch.error_line("listening on"));
        let stream = TcpStream::connect(address.strip_prefix("tcp:").unwrap()).unwrap();
        let mut greeting = String::new();
        BufReader::new(&stream).read_line(&mut greeting).unwrap();
        (stream, greeting)
    };
    let first = watch(&arguments);
    let (mut stream, greeting) = connect(&first);
    assert_eq!(greeting, "{\"resume\":{\"position\":0,\"line\":0}}\n");
    stream.write_all(b"ok,bad\n1,0\n1,0\n").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    first.signal("TERM");
    assert_eq!(first.end().code, Some(0));
    // The header was sent before.
    let second = watch(&arguments);
    let (mut stream, greeting) = connect(&second);
    assert_eq!(greeting, "{\"resume\":{\"position\":2,\"line\":3}}\n");
    stream.write_all(b"0,1\n").unwrap();
    let verdict = second.json();
    assert_eq!((&verdict["position"], &verdict["line"]["line"]), (&2.into(), &4.into()));
    second.signal("TERM");
    assert_eq!(second.end().code, Some(1));
}

#[test]
fn a_file_that_does_not_exist_yet_is_waited_for() {
    let folder = directory("wait");
    let trace = folder.join("late.props").to_str().unwrap().to_string();
    let _ = std::fs::remove_file(&trace);
    let watch = watch(&["-e", "G !bad", &trace, "--follow", "--output", "json"]);
    watch.error_line("does not exist yet; waiting for it");
    std::fs::write(&trace, "p\nbad\n").unwrap();
    assert_eq!(watch.json()["position"], 1);
    watch.signal("INT");
    let end = watch.end();
    // Said once.
    assert!(end.err.iter().all(|line| !line.contains("waiting")), "{:?}", end.err);
}

#[test]
fn a_watch_may_begin_at_the_end_of_a_file() {
    for (name, before, after, line) in [
        ("t.props", "bad\nbad\n", "p\nbad\n", 4),
        ("t.csv", "a,bad\n1,1\n0,1\n", "1,0\n0,1\n", 5),
        ("t.jsonl", "{\"bad\":true}\n{\"bad\":tr", "ue}\n", 2),
        ("e.csv", "a,ba", "d\n0,1\n", 2),
    ] {
        let trace = file("from-end", name, before);
        let watch = watch(&["-e", "G !bad", &trace, "--follow", "--from-end", "--output", "json"]);
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert!(watch.is_silent(), "{name}");
        use std::io::Write;
        std::fs::OpenOptions::new().append(true).open(&trace).unwrap().write_all(after.as_bytes()).unwrap();
        let told = watch.json();
        assert_eq!(
            (&told["verdict"], &told["line"]["line"]),
            (&"violated".into(), &line.into()),
            "{name} {told}"
        );
        watch.signal("INT");
        watch.end();
    }
}

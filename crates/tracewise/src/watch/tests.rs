//! Watching from code, and what needs no process of its own.

mod memory;
mod sorted;

use super::*;
use crate::{Semantics, Session, Specification};
use std::sync::{Arc, Mutex};

/// Keeps what was said, and may ask for something in return.
#[derive(Clone, Default)]
struct Heard {
    said: Arc<Mutex<Vec<String>>>,
    stop_after: Option<(usize, Control)>,
}

impl Heard {
    fn say(&self, text: String) {
        let mut said = self.said.lock().unwrap();
        said.push(text);
        if let Some((count, control)) = &self.stop_after
            && said.len() == *count
        {
            control.stop();
        }
    }
}

impl LiveSink for Heard {
    fn bad_line(&mut self, error: &Error) {
        self.say(error.to_string());
    }

    fn note(&mut self, note: &str) {
        self.say(note.to_string());
    }

    fn warnings(&mut self, warnings: &[Diagnostic]) {
        warnings.iter().for_each(|warning| self.say(warning.message.clone()));
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl WatchSink for Heard {
    fn verdict(&mut self, verdict: &WatchVerdict<'_>) -> io::Result<()> {
        let settled = if verdict.settled { "" } else { " at the end" };
        let line = verdict.line.as_ref().map_or(String::new(), |line| format!(", line {}", line.line));
        let (name, word, at) = (verdict.property, verdict.verdict.as_str(), verdict.position);
        self.say(format!("{name} {word} by {at}{line}{settled}"));
        Ok(())
    }

    fn value(&mut self, value: &crate::watch::WatchValue) -> io::Result<()> {
        self.say(format!("{} = {}", value.query, value.value));
        Ok(())
    }

    fn pending(&mut self, positions: u64, pending: &[Pending<'_>]) -> io::Result<()> {
        self.say(format!("{} pending after {positions}", pending.len()));
        Ok(())
    }
}

fn trace(name: &str, text: &str) -> String {
    let path = std::env::temp_dir().join(format!("tracewise-watch-{}-{name}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_string()
}

fn watch(formula: &str, source: WatchSource, control: &Control, heard: &mut Heard) -> WatchReport {
    let spec = Specification::from_text("t.tw", formula).unwrap();
    let session = Session::new().semantics(Semantics::Ltl3);
    session.watch(&spec, &WatchOptions::new(source), control, heard).unwrap()
}

#[test]
fn a_file_is_watched_from_code() {
    let path = trace("code.props", "p\nq\np\n");
    let mut heard = Heard::default();
    let text = "property a : G (q -> X p); property b : F q; property c : G (p -> F q);";
    let report = watch(text, WatchSource::File(path.clone()), &Control::new(), &mut heard);
    assert_eq!((report.positions, report.bad_lines, report.verdicts), (3, 0, vec![true, true, false]));
    let said = heard.said.lock().unwrap();
    assert_eq!(
        *said,
        ["b satisfied by 1, line 2", "a satisfied by 2 at the end", "c violated by 2 at the end"]
    );
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_slip_of_the_pen_is_mentioned_early() {
    let path = trace("early.props", &"ack\n".repeat(2000));
    let control = Control::new();
    // The file does not end; the warning is what ends the watch.
    let mut heard = Heard { stop_after: Some((1, control.clone())), ..Heard::default() };
    let report = watch("property a : G F akc;", WatchSource::Follow(path.clone()), &control, &mut heard);
    assert!(report.positions >= 1000);
    let said = heard.said.lock().unwrap();
    assert!(said[0].starts_with("so far, event `akc` never occurs"), "{said:?}");
    assert!(said[0].contains("did you mean `ack`?"), "{said:?}");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn addresses() {
    let tcp = |text: &str| Ok(Address::Tcp(text.to_string()));
    assert_eq!(Address::parse("tcp:localhost:80"), tcp("localhost:80"));
    assert_eq!(Address::parse("[::1]:0"), tcp("[::1]:0"));
    assert_eq!(Address::parse("unix:/run/t.sock"), Ok(Address::Unix("/run/t.sock".into())));
    for bad in ["", "localhost", "localhost:", "localhost:http", "host:70000", "unix:"] {
        assert!(Address::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn bytes_are_pushed_from_code() {
    let (sender, source) = watch_channel("bus");
    let pushing = std::thread::spawn(move || {
        for piece in ["{\"event\":\"p\"}\n{\"eve", "nt\":\"q\"}\n", "{\"event\":\"p\"}"] {
            sender.send(piece).unwrap();
        }
        sender.restart("bus starts anew").unwrap();
        sender.send("{\"event\":\"q\"}\n{\"event\":\"bad").unwrap();
        sender.send(b"\"}".to_vec()).unwrap();
        sender.end();
    });
    let mut heard = Heard::default();
    let text = "property a : G !bad; property b : F q;";
    let report = watch(text, source.clone(), &Control::new(), &mut heard);
    pushing.join().unwrap();
    assert_eq!((report.positions, report.verdicts), (5, vec![false, true]));
    let said = heard.said.lock().unwrap();
    assert_eq!(*said, ["b satisfied by 1, line 2", "bus starts anew", "a violated by 4, line 2"]);
    // Its bytes are gone.
    let spec = Specification::from_text("t.tw", text).unwrap();
    let again =
        Session::new().watch(&spec, &WatchOptions::new(source), &Control::new(), &mut Heard::default());
    assert!(again.is_err_and(|error| error.to_string().contains("bus: these bytes are watched already")));
}

#[test]
fn who_pushes_waits_and_hears_when_nobody_listens() {
    let (sender, source) = watch_channel("bus");
    let pushing = std::thread::spawn(move || {
        let mut sent = 0;
        while sender.send(&b"{\"event\":\"bad\"}\n"[..]).is_ok() {
            sent += 1;
        }
        sent
    });
    let spec = Specification::from_text("t.tw", "property a : G !bad;").unwrap();
    let options = WatchOptions { stop_on_violation: true, ..WatchOptions::new(source) };
    let report = Session::new().semantics(Semantics::Ltl3);
    let report = report.watch(&spec, &options, &Control::new(), &mut Heard::default()).unwrap();
    assert_eq!(report.verdicts, [false]);
    drop(options);
    // As many as the channels hold, and what was read.
    assert!(pushing.join().unwrap() < 100);
}

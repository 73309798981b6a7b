use super::*;

fn draft(format: &str, trace: &str) -> String {
    let read = Reading { format: Some(format.into()), ..Reading::default() };
    let session = Session::new().reading(read).text("log", trace.as_bytes().to_vec());
    let draft = session.init(&["log".into()]).unwrap();
    // What is written is read again, and holds.
    let spec = Specification::from_text("draft.tw", &draft.text)
        .unwrap_or_else(|error| panic!("{}{error}", draft.text));
    assert!(spec.warnings.is_empty(), "{}", draft.text);
    if draft.properties > 0 {
        let read = Reading { time: spec.settings.time.clone(), ..session.read.clone() };
        let options = CheckOptions { by: spec.settings.by.clone(), ..CheckOptions::default() };
        let report = session.clone().reading(read).check(&spec, &["log".into()], &options).unwrap();
        let others = report.warnings.iter().filter(|warning| warning.code != "time-goes-back");
        let others: Vec<_> =
            others.filter(|warning| warning.severity == tw_diag::Severity::Warning).collect();
        assert!(others.is_empty(), "{others:?}\n{}", draft.text);
        assert!(
            report.properties.iter().all(|property| property.verdict == Verdict::Satisfied),
            "{}",
            draft.text
        );
        assert_eq!(report.properties.len(), draft.properties);
    }
    draft.text
}

#[test]
fn events_with_a_key() {
    let mut trace = String::new();
    for order in 0..6 {
        for (step, event) in ["placed", "paid", "sent"].iter().enumerate() {
            let time = order * 10 + step as i64;
            trace.push_str(&format!("{{\"@timestamp\": {time}, \"event\": \"{event}\", \"order_id\": \"o{order}\", \"total\": {}}}\n", order * 5 + 7));
        }
    }
    let text = draft("jsonl", &trace);
    assert!(text.contains("time: \"@timestamp\"") && text.contains("by: \"order_id\""), "{text}");
    assert!(text.contains("_then_") && text.contains("_before_"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("property")).count(), 3, "{text}");
    assert!(text.contains("var total: int;"), "{text}");
}

#[test]
fn signals_states_and_odd_names() {
    let text = draft("csv", "time,speed,Mode X,G\n0,1.5,on,1\n1,2.5,off,2\n2,0.5,on,3\n");
    assert!(
        text.contains("G (speed >= 0.5 & speed <= 2.5)") && text.contains("`Mode X` in {\"on\", \"off\"}"),
        "{text}"
    );
    let text = draft("props", "a\nb\na b\n");
    assert!(text.contains("property"), "{text}");
    draft("csv", "x\n1\n");
    draft("csv", "\"a\"\"b\",c\n\"x\"\"y\",\\n\n\"x\",z\n");
}

fn properties(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with("property")).collect()
}

/// Numbers that look random.
fn random(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 33) % below
}

/// Sessions of an identifier, interleaved: opened, used, closed.
fn sessions(line: impl Fn(u64, usize, u64) -> String) -> String {
    let (mut state, mut open, mut log, mut at) = (3, Vec::new(), String::new(), 0);
    for id in 0..40 {
        open.push((id, 0));
        for _ in 0..4 {
            let which = random(&mut state, open.len() as u64) as usize;
            let (id, step) = &mut open[which];
            log.push_str(&line(at, *step, *id));
            log.push('\n');
            (at, *step) = (at + 1, *step + 1);
            if *step == 3 {
                open.remove(which);
            }
            if open.is_empty() {
                break;
            }
        }
    }
    for (id, step) in open {
        (step..3).for_each(|step| log.push_str(&(line(at, step, id) + "\n")));
    }
    log
}

#[test]
fn a_text_log_with_identifiers() {
    let log = sessions(|at, step, id| {
        let said = match step {
            0 => format!("Receiving block blk_{id} src: /10.0.0.{} dest: /10.1.0.{}", at % 250, id % 250),
            1 => format!("Served block blk_{id} to /10.2.0.{}", at % 250),
            _ => format!("Deleting block blk_{id} of size {}", 1000 + at),
        };
        format!("2015-10-18 18:{:02}:{:02},{:03} INFO dfs.DataNode: {said}", at / 60, at % 60, at % 1000)
    });
    let text = draft("lines", &log);
    let written = properties(&text);
    assert_eq!(written.len(), 3, "{text}");
    assert!(written.iter().any(|one| one.contains("G forall x.") && one.contains("-> F")), "{text}");
    assert!(written.iter().any(|one| one.contains("G forall x.") && one.contains("-> O")), "{text}");
    assert!(written.iter().any(|one| one.contains("text matches")), "{text}");
    assert!(text.contains("(blk, ip") && text.contains("{size:int}"), "{text}");
}

#[test]
fn a_system_log_with_start_and_stop() {
    let log = sessions(|at, step, id| {
        let said = match step {
            0 => format!("session opened for user u{} by (uid=0)", id % 7),
            1 => format!("Accepted password for u{} from 10.0.0.{id} port {} ssh2", id % 7, 2000 + at),
            _ => format!("session closed for user u{}", id % 7),
        };
        format!("Dec 10 06:{:02}:{:02} host sshd[{}]: {said}", at / 60, at % 60, 24000 + id)
    });
    let text = draft("syslog", &log);
    assert_eq!(properties(&text).len(), 3, "{text}");
    assert!(text.contains("session_opened") && text.contains("session_closed"), "{text}");
}

#[test]
fn text_logs_of_any_kind() {
    let lines =
        |count: u64, line: &dyn Fn(u64) -> String| (0..count).map(|at| line(at) + "\n").collect::<String>();
    // Without timestamps; with one kind of line; errors everywhere; odd texts; time that goes back.
    for (log, least) in [
        (lines(30, &|at| format!("job {at} started")), 3),
        (lines(1, &|_| "alone".into()), 2),
        (lines(60, &|at| format!("17/06/09 20:10:{:02} ERROR fatal exception panic {at}", at % 60)), 2),
        (lines(40, &|at| format!("says {{\"n\": {at}}} \\ `x` /* {} */ é", "\"".repeat(at as usize % 3))), 1),
        (lines(50, &|at| format!("2015-10-18 18:01:{:02} worker {} done", 59 - at, at % 5)), 3),
        (lines(40, &|at| format!("{} {}", "x".repeat(1 + at as usize), at)), 1),
    ] {
        let text = draft("lines", &log);
        assert!(properties(&text).len() >= least, "{text}");
    }
}

use super::*;
use std::sync::mpsc::channel;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("tracewise-log-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

fn small() -> Limits {
    Limits { segment: 200, recent: 60, ..Limits::default() }
}

fn lines(log: &Log, from: u64) -> Vec<String> {
    let (mut reader, mut all) = (log.read_from(from), Vec::new());
    while let Some(record) = reader.next().unwrap() {
        let text = String::from_utf8(record.bytes.to_vec()).unwrap();
        all.extend(
            (record.before..)
                .zip(text.lines())
                .filter(|(at, _)| *at >= from)
                .map(|(_, line)| line.to_string()),
        );
    }
    all
}

fn fill(log: &Log, numbers: std::ops::Range<u64>) {
    for number in numbers {
        log.append(format!("line {number}\nand {number}\n").as_bytes(), 2, number % 3 == 0).unwrap();
    }
}

#[test]
fn what_is_written_is_read_from_any_line() {
    let folder = folder("read");
    let (log, found) = Log::open(&folder, small()).unwrap();
    assert_eq!((found, log.end()), (Found::default(), 0));
    fill(&log, 0..50);
    let all: Vec<String> =
        (0..50).flat_map(|number| [format!("line {number}"), format!("and {number}")]).collect();
    for from in 0..100 {
        assert_eq!(lines(&log, from), all[from as usize..], "from {from}");
    }
    let (again, found) = Log::open(&folder, small()).unwrap();
    assert_eq!((found, again.end(), lines(&again, 0)), (Found::default(), 100, all));
    std::fs::remove_dir_all(folder).unwrap();
}

/// Cut or damaged anywhere in its last segment, a log ends after its last good record, says so, and goes on from there.
#[test]
fn what_is_no_record_is_cut_off() {
    let folder = folder("cut");
    let (log, _) = Log::open(&folder, Limits::default()).unwrap();
    fill(&log, 0..3);
    let path = folder.join("00000000000000000000.log");
    let whole = std::fs::read(&path).unwrap();
    let record = record::HEADER + "line 0\nand 0\n".len();
    for at in segment::PREFIX as usize..whole.len() {
        for damage in [false, true] {
            let mut bytes = if damage { whole.clone() } else { whole[..at].to_vec() };
            if damage {
                bytes[at] ^= 1 << (at % 8);
            }
            std::fs::write(&path, bytes).unwrap();
            let (log, found) = Log::open(&folder, Limits::default()).unwrap();
            let good = (at - segment::PREFIX as usize) / record;
            let clean = !damage && (at - segment::PREFIX as usize).is_multiple_of(record);
            assert_eq!(
                (log.end(), found.cut.is_none()),
                (2 * good as u64, clean),
                "at {at}, {damage}: {found:?}"
            );
            fill(&log, 7..8);
            assert_eq!(lines(&log, 2 * good as u64), ["line 7", "and 7"]);
            let (again, found) = Log::open(&folder, Limits::default()).unwrap();
            assert_eq!((again.end(), found), (2 * good as u64 + 2, Found::default()));
        }
    }
    // What another version wrote is not damaged.
    std::fs::write(&path, [&b"tracewise log 1\n"[..], &whole[16..]].concat()).unwrap();
    let refused = Log::open(&folder, Limits::default()).err().unwrap();
    assert!(refused.to_string().contains("another version") && path.exists());
    // Not even its beginning.
    std::fs::write(&path, &whole[..5]).unwrap();
    let (log, found) = Log::open(&folder, Limits::default()).unwrap();
    assert!(log.end() == 0 && found.cut.is_some());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn old_segments_are_deleted_when_nobody_needs_them() {
    let folder = folder("old");
    let limits = Limits { size: Some(600), ..small() };
    let (log, _) = Log::open(&folder, limits).unwrap();
    fill(&log, 0..50);
    assert_eq!(log.start(), 0, "nobody has read them");
    log.may_delete(90);
    let mut deleted = Vec::new();
    for number in 50..60 {
        deleted.extend(log.append(format!("line {number}\nand {number}\n").as_bytes(), 2, false).unwrap());
    }
    assert!(log.start() > 0 && log.start() <= 90 && log.bytes() < 1000, "{} {}", log.start(), log.bytes());
    assert!(deleted[0].contains("lines 1 to"), "{deleted:?}");
    // What was needed when it was written goes when it is not, whether or not more comes.
    for number in 60..80 {
        log.append(format!("line {number}\nand {number}\n").as_bytes(), 2, false).unwrap();
    }
    assert!(log.bytes() > 1000, "{}", log.bytes());
    log.may_delete(160);
    assert!(!log.tidy().unwrap().is_empty() && log.bytes() < 1000 && log.tidies().is_some());
    // Who asks for what is gone gets what is left.
    assert_eq!(lines(&log, 0).len() as u64, log.end() - log.start());
    std::fs::remove_dir_all(folder).unwrap();
}

/// Many clients at once, each of which hears of its own lines: all are there, those of each in order.
#[test]
fn many_write_at_once() {
    let folder = folder("many");
    let (log, _) = Log::open(&folder, small()).unwrap();
    let commit = Commit::new(&log);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| commit.run(&log, &|_| {}));
        let clients: Vec<_> = (0..4)
            .map(|client| {
                let commit = commit.clone();
                scope.spawn(move || {
                    for number in 0..100 {
                        let (sender, receiver) = channel();
                        let durable = number % 2 == 0;
                        let receipt: Option<Receipt> = match durable {
                            true => Some(Box::new(move |written| sender.send(written).unwrap())),
                            false => None,
                        };
                        commit.take(format!("{client} {number}\n").as_bytes(), 1, None, receipt).unwrap();
                        if durable {
                            assert_eq!(receiver.recv().unwrap(), Ok(()));
                        }
                    }
                })
            })
            .collect();
        clients.into_iter().for_each(|client| client.join().unwrap());
        commit.close();
        writer.join().unwrap();
    });
    let all = lines(&log, 0);
    for client in 0..4 {
        let own: Vec<&String> = all.iter().filter(|line| line.starts_with(&format!("{client} "))).collect();
        let expected: Vec<String> = (0..100).map(|number| format!("{client} {number}")).collect();
        assert!(own.iter().copied().eq(&expected), "{own:?}");
    }
    assert_eq!(all.len(), 400);
    std::fs::remove_dir_all(folder).unwrap();
}

/// A log that cannot be written refuses who waits and keeps what it acknowledged; when it can again, all that is there.
#[test]
fn a_disk_that_fails_for_a_while() {
    let folder = folder("full");
    let (log, _) = Log::open(&folder, Limits::default()).unwrap();
    fill(&log, 0..1);
    let path = folder.join("00000000000000000000.log");
    // A handle that may not write stands for a full disk.
    log.state().segments[0].replace(std::fs::File::open(&path).unwrap());
    let commit = Commit::new(&log);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| commit.run(&log, &|_| {}));
        commit.take(b"kept\n", 1, None, None).unwrap();
        let (sender, receiver) = channel();
        let receipt: Receipt = Box::new(move |written| sender.send(written).unwrap());
        commit.take(b"refused\n", 1, None, Some(receipt)).unwrap();
        assert!(matches!(receiver.recv().unwrap(), Err(Refused::Disk(_))));
        assert!(commit.failing().is_some());
        assert!(matches!(commit.take(b"x\n", 1, None, None), Err(Refused::Disk(_))));
        let file = std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
        log.state().segments[0].replace(file);
        while commit.failing().is_some() {
            std::thread::sleep(Duration::from_millis(5));
        }
        commit.take(b"later\n", 1, None, None).unwrap();
        commit.close();
        writer.join().unwrap();
    });
    assert_eq!(lines(&log, 2), ["kept", "later"]);
    assert_eq!(Log::open(&folder, Limits::default()).unwrap().0.end(), 4);
    std::fs::remove_dir_all(folder).unwrap();
}

/// Marks are kept with the lines that they came with, over segments that are deleted and records that are cut off.
#[test]
fn marks_are_there_as_long_as_their_lines() {
    let folder = folder("marks");
    let limits = Limits { size: Some(500), ..small() };
    let (log, _) = Log::open(&folder, limits).unwrap();
    log.may_delete(u64::MAX);
    let marks = |a: &str| Marks::from([("a".into(), a.into())]);
    log.append_marked(b"from b\n", 1, Marks::from([("b".into(), "7-1".into())]), true).unwrap();
    for number in 0..50 {
        log.append_marked(format!("line {number}\n").as_bytes(), 1, marks(&number.to_string()), true)
            .unwrap();
        log.append(b"from nowhere\n", 1, true).unwrap();
        let seen =
            |log: &Log| (log.mark("a").unwrap().to_string(), log.mark("b").unwrap().to_string(), log.end());
        let expected = (number.to_string(), "7-1".to_string(), 3 + 2 * number);
        assert_eq!(seen(&log), expected);
        let (again, found) = Log::open(&folder, limits).unwrap();
        assert_eq!((seen(&again), found.cut), (expected, None));
    }
    assert!(log.start() > 0, "the record that had the mark of b is gone");
    let path = folder.join(format!("{:020}.log", log.state().segments.last().unwrap().start));
    let whole = std::fs::read(&path).unwrap();
    // Wherever the end is lost, lines and marks are lost together; in an empty segment they are those of the one before.
    for cut in segment::PREFIX as usize..whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let (again, _) = Log::open(&folder, limits).unwrap();
        let all = lines(&again, again.start());
        let last = all.iter().rfind(|line| line.starts_with("line ")).unwrap();
        assert_eq!(again.mark("a").unwrap().to_string(), last["line ".len()..], "cut at {cut}");
        assert_eq!(again.mark("b").as_deref(), Some("7-1"));
    }
    // A mark that was changed is no mark.
    let at = whole.windows(4).rposition(|four| four == b"7-1\n").unwrap();
    let mut damaged = whole.clone();
    damaged[at] = b'8';
    std::fs::write(&path, &damaged).unwrap();
    let (again, found) = Log::open(&folder, limits).unwrap();
    assert!(found.cut.unwrap().contains("checksum") && again.mark("b").as_deref() == Some("7-1"));
    std::fs::remove_dir_all(folder).unwrap();
}

/// What is older than is kept goes though nothing comes, and what comes slowly does not keep it; never what is still needed.
#[test]
fn lines_go_by_their_age_alone() {
    let folder = folder("age");
    let limits = Limits { age: Some(Duration::from_millis(200)), ..Limits::default() };
    let (log, _) = Log::open(&folder, limits).unwrap();
    assert_eq!(Log::open(&folder.join("kept"), Limits::default()).unwrap().0.tidies(), None);
    for number in 0..40 {
        log.append(format!("{number}\n").as_bytes(), 1, true).unwrap();
        log.tidy().unwrap();
        assert_eq!(log.start(), 0, "it was not judged");
        std::thread::sleep(Duration::from_millis(10));
    }
    log.may_delete(30);
    let said = log.tidy().unwrap();
    assert!(said[0].contains("older than is kept"), "{said:?}");
    assert!((1..=30).contains(&log.start()), "{}", log.start());
    assert_eq!(lines(&log, log.start()).last().unwrap(), "39");
    log.may_delete(40);
    std::thread::sleep(Duration::from_millis(300));
    log.tidy().unwrap();
    assert_eq!((log.start(), log.end()), (40, 40));
    // The numbers go on, here and after a restart.
    let (again, found) = Log::open(&folder, limits).unwrap();
    assert_eq!((again.end(), found.cut), (40, None));
    again.append(b"more\n", 1, true).unwrap();
    assert_eq!(lines(&again, 40), ["more"]);
    std::fs::remove_dir_all(folder).unwrap();
}

/// A log without lines still says how far sources were read.
#[test]
fn marks_outlive_the_age_of_their_lines() {
    let folder = folder("old-marks");
    let limits = Limits { age: Some(Duration::from_millis(20)), ..Limits::default() };
    let (log, _) = Log::open(&folder, limits).unwrap();
    log.append_marked(b"a\n", 1, Marks::from([("a".into(), "7".into())]), true).unwrap();
    log.may_delete(1);
    for _ in 0..4 {
        std::thread::sleep(Duration::from_millis(30));
        log.tidy().unwrap();
        assert_eq!(Log::open(&folder, limits).unwrap().0.mark("a").as_deref(), Some("7"));
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_line_is_found_wherever_it_is() {
    let folder = folder("line");
    let limits = Limits { segment: 2_000_000, recent: 10_000, size: Some(5_000_000), ..Limits::default() };
    let (log, _) = Log::open(&folder, limits).unwrap();
    let text = |number: u64| format!("{number:>0$}", 1 + number as usize * 7919 % 60_000);
    let lines = 150;
    for number in 0..lines / 2 {
        log.append(format!("{}\n{}\n", text(2 * number), text(2 * number + 1)).as_bytes(), 2, false).unwrap();
    }
    let shown = |number: u64| Some(text(number).chars().take(400).collect::<String>());
    for number in (0..lines).rev() {
        assert_eq!(log.line(number), shown(number), "line {number}");
    }
    assert_eq!(log.line(lines), None);
    let (again, _) = Log::open(&folder, limits).unwrap();
    assert_eq!([0, 70, lines - 1].map(|number| again.line(number)), [0, 70, lines - 1].map(shown));
    // What is deleted has no text.
    log.may_delete(lines);
    while log.start() == 0 {
        log.append(&[b"x".repeat(500_000), b"\n".to_vec()].concat(), 1, false).unwrap();
    }
    assert_eq!(log.line(0), None);
    assert_eq!(log.line(log.start()).map(|text| text.len()), shown(log.start()).map(|text| text.len()));
    std::fs::remove_dir_all(folder).unwrap();
}

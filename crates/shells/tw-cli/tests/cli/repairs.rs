//! The nine logs of `docs/first-contact.md` with a bad row, a wrong option and a misspelt name each: the message has the
//! repair, and what it says works.

use crate::common::{Run, command, directory, finish};

/// A log, and what is asked of it.
struct Log {
    files: &'static [&'static str],
    formula: &'static str,
    options: &'static [&'static str],
    /// Of the last file: a line, what stands there, and what is written instead.
    bad: (usize, &'static str, &'static str),
    /// An option and what is given instead of it; what repairs it.
    option: (&'static [&'static str], &'static [&'static str], &'static str),
    /// A name and how it is misspelt.
    name: (&'static str, &'static str),
}

const LOGS: [Log; 9] = [
    Log {
        files: &["nginx.jsonl"],
        formula: "G (http.status >= 500 -> F[0,30s] http.status < 500)",
        options: &["--time", "@timestamp", "--by", "http.path"],
        bad: (50, "\"duration_ms\"", "\"duration_ms"),
        option: (&["--time", "@timestamp"], &["--time", "timestamp"], "`--time @timestamp`"),
        name: ("http.status", "http.stauts"),
    },
    Log {
        files: &["kubernetes.jsonl"],
        formula: "G (Scheduled -> F[0,60s] Started)",
        options: &[
            "--event",
            "reason",
            "--time",
            "metadata.creationTimestamp",
            "--by",
            "involvedObject.name",
        ],
        bad: (50, "{\"metadata\": {", "{\"metadata\": {{"),
        option: (&["--by", "involvedObject.name"], &["--by", "involvedObject.nam"], "`involvedObject.name`"),
        name: ("Started", "Startd"),
    },
    Log {
        files: &["otel.json"],
        formula: "G (span_end & name == \"charge card\" -> duration < 0.5)",
        options: &["--format", "otlp-json", "--by", "trace_id"],
        bad: (25, "1772438400000000000", "soon"),
        option: (&["--format", "otlp-json"], &["--format", "otlp"], "`otlp-json`"),
        name: ("duration", "duraton"),
    },
    Log {
        files: &["heater.csv"],
        formula: "G !(temperature > setpoint + 1)",
        options: &["--null", "N/A"],
        bad: (50, ";", ";;"),
        option: (&["--null", "N/A"], &["--null", "NA"], "--null N/A"),
        name: ("temperature", "temprature"),
    },
    Log {
        files: &["locks.csv"],
        formula: "G forall t, l. acquire(thread: t, lock: l) -> F `release`(thread: t, lock: l)",
        options: &["--event", "event"],
        bad: (30, ",", ",,"),
        option: (&["--event", "event"], &["--event", "evnt"], "`event`"),
        name: ("acquire", "aquire"),
    },
    Log {
        files: &["orders.csv"],
        formula: "G (shipped -> O paid)",
        options: &["--by", "order"],
        bad: (30, ",", "x,"),
        option: (&["--by", "order"], &["--by", "ordr"], "`order`"),
        name: ("shipped", "shiped"),
    },
    Log {
        files: &["ssh.jsonl"],
        formula: "G forall a. accepted(ip: a) -> count(p : O[0,60s] failed(ip: a, port: p)) < 3",
        options: &["--time", "ts"],
        bad: (30, "\"ts\"", "\"t\""),
        option: (&["--time", "ts"], &[], "`--time ts`"),
        name: ("failed", "faild"),
    },
    Log {
        files: &["jobs.log.2.gz", "jobs.log.1.gz", "jobs.log"],
        formula: "G (started -> F[0,10m] (passed | failed))",
        options: &["--concat", "--by", "job"],
        bad: (5, "\"time\": \"", "\"time\": \"about "),
        option: (&["--by", "job"], &["--by", "jb"], "`job`"),
        name: ("started", "startd"),
    },
    Log {
        files: &["application.log"],
        formula: "G (opened -> F closed)",
        options: &["--by", "connection", "--skip-bad-lines"],
        bad: (2, "{", "<"),
        option: (&["--skip-bad-lines"], &[], "`--skip-bad-lines`"),
        name: ("opened", "opend"),
    },
];

fn stored(file: &str) -> String {
    format!("{}/../../../examples/first-contact/{file}", env!("CARGO_MANIFEST_DIR"))
}

fn check(formula: &str, options: &[&str], files: &[String]) -> Run {
    let mut command = command();
    command.args(["check", "--output", "json", "-e", formula]).args(options).args(files);
    finish(&mut command, "")
}

fn violations(run: &Run) -> u64 {
    let count = run.json().iter().filter_map(|object| object["violation_count"].as_u64()).sum();
    assert!(run.code <= 1, "{run:?}");
    count
}

impl Log {
    fn files(&self) -> Vec<String> {
        self.files.iter().map(|file| stored(file)).collect()
    }

    /// The files with another text in place of the last one's.
    fn with(&self, kind: &str, text: &str) -> Vec<String> {
        let name = self.files.last().expect("a file");
        let path = directory(&format!("repairs/{kind}")).join(name);
        std::fs::write(&path, text).expect("a file for the test");
        let mut files = self.files();
        files.pop();
        files.push(path.to_str().expect("UTF-8").into());
        files
    }
}

#[test]
fn a_bad_row_is_repaired_in_one_step() {
    for log in &LOGS {
        let whole = violations(&check(log.formula, log.options, &log.files()));
        assert!(whole > 0, "{}", log.formula);
        let last = stored(log.files.last().expect("a file"));
        let text = std::fs::read_to_string(last).expect("the log");
        let (line, from, to) = log.bad;
        let damaged: Vec<String> = text
            .lines()
            .enumerate()
            .map(|(at, own)| if at + 1 == line { own.replacen(from, to, 1) } else { own.into() })
            .collect();
        assert_ne!(damaged.join("\n"), text.trim_end(), "{from}");
        let files = log.with("row", &(damaged.join("\n") + "\n"));
        let strict: Vec<&str> =
            log.options.iter().copied().filter(|option| *option != "--skip-bad-lines").collect();
        let run = check(log.formula, &strict, &files);
        assert!(run.code == 2 && run.out.is_empty(), "{run:?}");
        let errors = run.errors();
        let error = errors.iter().find_map(|object| object.get("error")).expect("an error");
        assert_eq!(error["trace_line"], line as u64, "{run:?}");
        // An export is no trace of lines: there the place is told to the character.
        if log.files == ["otel.json"] {
            let column = error["trace_column"].as_u64().expect("a column") as usize;
            let mut repaired = damaged;
            let own = &mut repaired[line - 1];
            assert!(own[column - 1..].starts_with("\"soon\""), "{run:?}");
            own.replace_range(column - 1..column + 5, &format!("\"{from}\""));
            let run = check(log.formula, &strict, &log.with("mended", &repaired.join("\n")));
            assert_eq!(violations(&run), whole);
            continue;
        }
        assert!(run.err.contains("`--skip-bad-lines`"), "{run:?}");
        let run = check(log.formula, &[&strict[..], &["--skip-bad-lines"]].concat(), &files);
        assert!(violations(&run) > 0 && run.json()[0]["skipped"].as_u64() >= Some(1), "{run:?}");
    }
}

#[test]
fn a_wrong_option_is_repaired_in_one_step() {
    for log in &LOGS {
        let (right, wrong, repair) = log.option;
        let whole = violations(&check(log.formula, log.options, &log.files()));
        let at = log.options.windows(right.len()).position(|own| own == right).expect("the option");
        let (before, after) = (&log.options[..at], &log.options[at + right.len()..]);
        let run = check(log.formula, &[before, wrong, after].concat(), &log.files());
        assert!(run.code == 2 && run.out.is_empty() && run.err.contains(repair), "{run:?}");
        // The repair is what is pasted: an option with its value, or the value of the one that was given.
        let pasted: Vec<&str> = repair.trim_matches('`').split(' ').collect();
        let option = match (pasted.as_slice(), wrong) {
            ([value], [flag, _]) => vec![*flag, *value],
            (option, _) => option.to_vec(),
        };
        let run = check(log.formula, &[before, &option, after].concat(), &log.files());
        assert_eq!(violations(&run), whole, "{run:?}");
    }
}

#[test]
fn a_misspelt_name_is_repaired_in_one_step() {
    for log in &LOGS {
        let (right, wrong) = log.name;
        let run = check(&log.formula.replacen(right, wrong, 1), log.options, &log.files());
        // A name of an event may never occur; then it is a warning.
        assert!(run.code == 2 || run.err.contains("never-occurs"), "{run:?}");
        assert!(run.err.contains(&format!("did you mean `{right}`?")), "{run:?}");
    }
}

#[test]
fn other_mistakes_lead_further() {
    let cases: [(&str, &[&str], &str, &str); 7] = [
        ("nginx.jsonl", &["--time", "when"], "G[0,5s] http.status > 0", "`--time @timestamp`"),
        ("kubernetes.jsonl", &["--event", "reson"], "G !Failed", "did you mean `reason`?"),
        ("kubernetes.jsonl", &[], "G !Scheduled", "`--event reason` makes events of its values"),
        ("kubernetes.jsonl", &["--time", "metadata.creationTime"], "G true", "metadata.creationTimestamp`"),
        ("ssh.jsonl", &["--event", "evnt"], "G !event failed", "did you mean `event`?"),
        ("heater.csv", &["--delimiter", ","], "G temperature > 0", "leave out `--delimiter`"),
        ("otel.json", &[], "G span_end", "`--format otlp-json`"),
    ];
    for (file, options, formula, repair) in cases {
        let run = check(formula, options, &[stored(file)]);
        assert!(run.code == 2 && run.err.contains(repair), "{run:?}");
    }
    let order = ["jobs.log", "jobs.log.1.gz", "jobs.log.2.gz"].map(stored);
    let formula = "G (started -> F[0,10m] (passed | failed))";
    let run = check(formula, &["--concat", "--by", "job"], &order);
    let sort = run.err.split("`--sort ").nth(2).and_then(|rest| rest.split('`').next()).expect("a bound");
    let run = check(formula, &["--concat", "--by", "job", "--sort", sort], &order);
    assert!(run.code == 1 && violations(&run) > 0, "{run:?}");
}

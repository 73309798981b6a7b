//! Random projections, and random traces that mostly fit them.

use tw_core::Value;
use tw_ir::{ArgumentKey, Expect, Path, PathStep, Slot, What};
use tw_testkit::Rng;

pub(super) fn slot(what: What) -> Slot {
    Slot { what, declared: false, span: Default::default() }
}

pub(super) fn path(text: &str) -> Path {
    let steps = text
        .split('.')
        .flat_map(|step| match step.strip_suffix("[*]") {
            Some(name) => vec![PathStep::Field(name.to_string()), PathStep::Each],
            None => vec![PathStep::Field(step.to_string())],
        })
        .collect();
    Path { steps }
}

/// The slots to choose from: (what, kind of value that fits it).
fn slots() -> Vec<(What, char)> {
    let event = |name: &str, arguments: &[(&str, Value)]| What::Event {
        name: name.to_string(),
        arguments: arguments
            .iter()
            .map(|(name, value)| (ArgumentKey::Name(name.to_string()), value.clone()))
            .collect(),
        arity: None,
    };
    let tuples = |name: &str, arguments: &[&str]| What::Tuples {
        name: name.to_string(),
        constants: Vec::new(),
        arity: None,
        arguments: arguments.iter().map(|name| ArgumentKey::Name(name.to_string())).collect(),
    };
    let variable = |name: &str, expect| What::Variable(path(name), expect);
    vec![
        (What::Proposition(path("p")), 'b'),
        (What::Proposition(path("q")), 'b'),
        (What::Proposition(path("login")), 'b'),
        (What::Proposition(path("user.login")), 'b'),
        (What::Proposition(path("deep.flag")), 'b'),
        (variable("n", Expect::Number), 'n'),
        (variable("n", Expect::Any), 'n'),
        (variable("i", Expect::Int), 'i'),
        (variable("i", Expect::Bool), 'b'),
        (variable("s", Expect::Text), 's'),
        (variable("s", Expect::Any), 's'),
        (variable("é ü", Expect::Text), 's'),
        (variable("deep.x", Expect::Number), 'n'),
        (variable("deep.er.y", Expect::Text), 's'),
        (variable("tags[*]", Expect::Any), 'a'),
        (variable("deep.items[*].z", Expect::Any), 'a'),
        (variable("time", Expect::Number), 'n'),
        (event("login", &[]), 'e'),
        (event("login", &[("s", Value::text("one")), ("i", Value::Int(1))]), 'e'),
        (event("ev\"il", &[]), 'e'),
        (event("logout", &[("n", Value::Real(2.0))]), 'e'),
        (event("logout", &[("absent", Value::Null)]), 'e'),
        (tuples("login", &["s", "i"]), 'e'),
        (tuples("logout", &["n"]), 'e'),
    ]
}

/// How a file is written.
struct Writer {
    rng: Rng,
    blanks: bool,
    errors: bool,
    kinds: Vec<(String, char)>,
}

impl Writer {
    fn blank(&mut self) -> &'static str {
        if self.blanks && self.rng.one_in(3) {
            self.rng.pick(&[" ", "  ", "\t", " \r ", "   \t  "])
        } else {
            ""
        }
    }

    fn text(&mut self, plain: &str) -> String {
        let mut out = String::from("\"");
        for c in plain.chars() {
            match c {
                '"' | '\\' => out.extend(['\\', c]),
                _ if self.rng.one_in(20) => {
                    let mut units = [0; 2];
                    for unit in c.encode_utf16(&mut units) {
                        out.push_str(&format!("\\u{unit:04X}"));
                    }
                }
                _ => out.push(c),
            }
        }
        out + "\""
    }

    fn value(&mut self, kind: char, depth: usize) -> String {
        if self.rng.one_in(25) {
            return "null".to_string();
        }
        let kind = if self.errors && self.rng.one_in(60) {
            ['b', 'n', 's', 'a', 'o', 'x'][self.rng.below(6)]
        } else {
            kind
        };
        match kind {
            'b' => self.rng.pick(&["true", "false", "0", "1", "-0"]).to_string(),
            'i' => self
                .rng
                .pick(&[
                    "0",
                    "1",
                    "-1",
                    "42",
                    "9223372036854775807",
                    "-9223372036854775808",
                    "1234567890123456",
                ])
                .to_string(),
            'n' => match self.rng.below(4) {
                0 => format!("{}", self.rng.below(1000) as i64 - 500),
                1 => format!("{}", self.rng.bits() as i64),
                2 => format!("{:?}", self.rng.bits() as i32 as f64 / 1000.0),
                _ => self
                    .rng
                    .pick(&[
                        "0.1",
                        "-0.0",
                        "1e5",
                        "1E+05",
                        "2.5e-3",
                        "123456789.123456789",
                        "9007199254740993.5",
                        "0.30000000000000004",
                        "1234567890123456789012345678901234567890.5",
                        "1e-400",
                        "5e-324",
                        "2.0",
                        "0.000000000000000000000000000000001",
                    ])
                    .to_string(),
            },
            's' => {
                let plain = self.rng.pick(&[
                    "",
                    "one",
                    "two",
                    "one",
                    "a \"quoted\" word",
                    "back\\slash",
                    "ünï",
                    "日本語 😀",
                    "a text that is longer than thirty-two bytes, \\ with a twist at the end",
                ]);
                self.text(plain)
            }
            'a' if depth < 4 => {
                let items: Vec<String> = (0..self.rng.below(4))
                    .map(|_| {
                        let kind = ['b', 'n', 's', 'a', 'o'][self.rng.below(5)];
                        format!("{}{}{}", self.blank(), self.value(kind, depth + 1), self.blank())
                    })
                    .collect();
                if items.is_empty() {
                    format!("[{}]", self.blank())
                } else {
                    format!("[{}]", items.join(","))
                }
            }
            'o' if depth < 4 => {
                let mut items = Vec::new();
                for (name, kind) in [
                    ("x", 'n'),
                    ("flag", 'b'),
                    ("er", 'o'),
                    ("y", 's'),
                    ("items", 'a'),
                    ("z", 'i'),
                    ("x", 'n'),
                ] {
                    if self.rng.one_in(2)
                        && (name != "x" || items.is_empty() || self.errors && self.rng.one_in(8))
                    {
                        let key = self.text(name);
                        items.push(format!(
                            "{}{key}{}:{}{}{}",
                            self.blank(),
                            self.blank(),
                            self.blank(),
                            self.value(kind, depth + 1),
                            self.blank()
                        ));
                    }
                }
                if items.is_empty() {
                    format!("{{{}}}", self.blank())
                } else {
                    format!("{{{}}}", items.join(","))
                }
            }
            'x' => self
                .rng
                .pick(&[
                    "18446744073709551616",
                    "1e400",
                    "-1e999",
                    "NaN",
                    "Infinity",
                    "01",
                    "1.",
                    ".5",
                    "+1",
                    "\"\\ud800\"",
                    "\"\\x\"",
                    "\"\t\"",
                    "tru",
                    "nul",
                    "'a'",
                    "[1,]",
                    "{\"a\"}",
                    "[1 2]",
                    "",
                    "{\"a\":1,}",
                    "[}",
                    "\u{feff}1",
                ])
                .to_string(),
            _ => "7".to_string(),
        }
    }

    /// A file, its timestamps included.
    fn file(&mut self) -> String {
        let timed = self.rng.below(4);
        let rows = self.rng.below(12);
        let heterogeneous = self.rng.one_in(2);
        let newline = if self.rng.one_in(4) { "\r\n" } else { "\n" };
        let mut clock: i64 = self.rng.below(1000) as i64;
        let mut out = String::new();
        for _ in 0..rows {
            if self.rng.one_in(20) {
                out.push_str(self.rng.pick(&["\n", " \n", "\r\n", "\t \n"]));
            }
            clock += self.rng.below(3) as i64 - i64::from(self.errors && self.rng.one_in(40)) * 3;
            let mut fields: Vec<(String, String)> = Vec::new();
            let stamp = match timed {
                0 => None,
                1 => Some(format!("{clock}")),
                2 => Some(format!("{clock}.{:03}", 250)),
                _ => Some(format!(
                    "\"2024-02-2{}T00:{:02}:{:02}{}\"",
                    clock / 3600 + 1,
                    clock / 60 % 60,
                    clock % 60,
                    self.rng.pick(&["Z", ".0Z", "+00:00", ""])
                )),
            };
            if let Some(stamp) = stamp
                && !(self.errors && self.rng.one_in(60))
            {
                fields.push(("time".to_string(), stamp));
            } else if self.rng.one_in(40) {
                fields.push(("time".to_string(), "null".to_string()));
            }
            if self.rng.one_in(2) {
                let name = self.rng.pick(&["login", "logout", "ev\"il", "user.login", "other", "p"]);
                let name = if name == "p" && !self.rng.one_in(10) { "quit" } else { name };
                fields.push((
                    "event".to_string(),
                    if self.errors && self.rng.one_in(30) { "5".to_string() } else { self.text(name) },
                ));
            }
            for (name, kind) in self.kinds.clone() {
                if !heterogeneous || self.rng.one_in(2) {
                    fields.push((name, self.value(kind, 0)));
                }
            }
            if heterogeneous {
                for at in (1..fields.len()).rev() {
                    let other = self.rng.below(at + 1);
                    fields.swap(at, other);
                }
            }
            if self.errors && self.rng.one_in(30) && !fields.is_empty() {
                let again = fields[self.rng.below(fields.len())].clone();
                fields.push(again);
            }
            out.push_str(self.blank());
            out.push('{');
            out.push_str(self.blank());
            for (index, (name, value)) in fields.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                let key = self.text(&name);
                for part in [self.blank(), &key, self.blank(), ":", self.blank(), &value, self.blank()] {
                    out.push_str(part);
                }
            }
            out.push('}');
            out.push_str(self.blank());
            if self.errors && self.rng.one_in(100) {
                out.push_str(self.rng.pick(&["x", "{}", ",", "\"", "]"]));
            }
            out.push_str(newline);
        }
        if self.rng.one_in(3) {
            out.truncate(out.trim_end().len());
        }
        out
    }
}

/// Keys of `--by`, also inside objects that are read for something else, or for nothing.
const KEYS: &[&str] = &["s", "n", "i", "deep", "unneeded", "deep.x", "deep.er.y", "deep.flag"];

/// A random projection and file.
pub(super) fn case(seed: u64, errors: bool) -> (Vec<Slot>, Option<&'static str>, String) {
    let mut rng = Rng::new(seed);
    let all = slots();
    let chosen: Vec<(What, char)> = (0..rng.below(5)).map(|_| all[rng.below(all.len())].clone()).collect();
    let mut kinds: Vec<(String, char)> = Vec::new();
    let mut add = |name: &str, kind: char| {
        if kinds.iter().all(|(known, _)| known != name) {
            kinds.push((name.to_string(), kind));
        }
    };
    for (what, kind) in &chosen {
        match what {
            What::Proposition(path) | What::Variable(path, _) => match path.as_name() {
                Some("time") => {}
                Some("login") if rng.one_in(8) => add("login", 'b'),
                Some("login") => {}
                Some(name) => add(name, *kind),
                None if rng.one_in(6) => add(&path.to_string(), *kind),
                None => {
                    let PathStep::Field(first) = &path.steps[0] else { unreachable!() };
                    add(
                        first,
                        if first == "tags" {
                            'a'
                        } else if first == "user" {
                            's'
                        } else {
                            'o'
                        },
                    );
                }
            },
            What::Event { .. }
            | What::Tuples { .. }
            | What::Stream { .. }
            | What::Shift(_)
            | What::Window(_)
            | What::Timing(_) => {}
        }
    }
    for (name, kind) in [
        ("s", 's'),
        ("n", 'n'),
        ("i", 'i'),
        ("deep", 'o'),
        ("unneeded", 's'),
        ("a key that is rather long, longer than most keys are, by far", 'n'),
    ] {
        if rng.one_in(2) {
            add(name, kind);
        }
    }
    let key = rng.one_in(4).then(|| KEYS[rng.below(KEYS.len())]);
    let blanks = rng.one_in(2);
    let text = Writer { rng, blanks, errors, kinds }.file();
    (chosen.into_iter().map(|(what, _)| slot(what)).collect(), key, text)
}

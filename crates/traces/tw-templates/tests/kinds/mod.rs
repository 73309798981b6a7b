//! Kinds of logs: what stands in front of a line, and the texts a program fills.
//!
//! A text has gaps in angle brackets, by what fills them (`<ip>`); before it stands the level and the component that writes it. The
//! first is the most frequent, as in real logs.

mod known;
mod others;
#[allow(dead_code, reason = "not all who include this module ask for these")]
mod tails;

pub use known::KNOWN;
pub use others::OTHERS;
#[allow(unused_imports, reason = "not all who include this module ask for these")]
pub use tails::TAILS;

/// A kind of log.
pub struct Kind {
    pub name: &'static str,
    /// The header, with `<level>` and `<component>` beside other gaps.
    pub header: &'static str,
    /// `level|component|text`.
    pub texts: &'static [&'static str],
}

/// A small generator of numbers (splitmix).
pub struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u64) as usize]
    }
}

impl Kind {
    /// Lines, each with the number of its text.
    pub fn lines(&self, count: usize, seed: u64) -> Vec<(String, usize)> {
        let mut random = Random(seed ^ self.name.len() as u64);
        (0..count)
            .map(|at| {
                // Zipf-like: the square of an even number; where there are many texts, most occur a few times.
                let n = self.texts.len() as u64;
                let (a, b) = (random.below(n), random.below(n));
                let drawn = match n {
                    ..40 => a.min(b).min(random.below(n)) as usize,
                    _ => (0..24).map(|_| random.below(n)).min().unwrap_or(0) as usize,
                };
                let which = if at < self.texts.len() { at } else { drawn };
                let mut parts = self.texts[which].splitn(3, '|');
                let (level, component) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
                let header = self.header.replace("<level>", level).replace("<component>", component);
                let text = parts.next().unwrap_or("");
                (fill(&format!("{header}{text}"), at as u64, &mut random), which)
            })
            .collect()
    }

    /// A text, by its number.
    #[allow(dead_code, reason = "who includes this module need not show texts")]
    pub fn template(&self, number: usize) -> &'static str {
        self.texts[number]
    }
}

const USERS: &[&str] = &[
    "root",
    "admin",
    "test",
    "guest",
    "oracle",
    "ftpuser",
    "postgres",
    "webmaster",
    "nagios",
    "support",
    "pi",
    "git",
];
const HOSTS: &[&str] = &["combo", "LabSZ", "node-246", "dn228", "tbird-admin1", "calvisitor-10-105-160-95"];
const WORDS: &[&str] = &[
    "alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett", "kilo",
    "lima", "mike", "november", "oscar",
];
const CLASSES: &[&str] = &[
    "org.apache.hadoop.mapreduce.v2.app.job.event.JobEventType",
    "org.apache.hadoop.mapreduce.jobhistory.EventType",
    "org.apache.hadoop.yarn.Speculator",
    "org.apache.spark.storage.BlockManager",
    "com.example.cache.LruStore",
    "org.apache.hadoop.mapreduce.v2.app.speculate.DefaultSpeculator",
    "org.apache.zookeeper.server.PrepRequest",
    "javax.management.InstanceNotFound",
];
const DOMAINS: &[&str] = &[
    "ns.marryaldkfaczcz.com",
    "static.example.net",
    "host.pacific.org",
    "mail.example.co.uk",
    "proxy.cse.example.hk",
];
const MONTHS: &[&str] = &["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAYS: &[&str] = &["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// Fills the gaps of a text.
fn fill(text: &str, at: u64, random: &mut Random) -> String {
    let mut found = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        found.push_str(&rest[..open]);
        let Some(close) = rest[open..].find('>') else { break };
        let gap = &rest[open + 1..open + close];
        match value(gap, at, random) {
            Some(value) => found.push_str(&value),
            None => found.push_str(&rest[open..=open + close]),
        }
        rest = &rest[open + close + 1..];
    }
    found.push_str(rest);
    found
}

fn value(gap: &str, at: u64, random: &mut Random) -> Option<String> {
    let (hour, minute, second) = (at / 3600 % 24, at / 60 % 60, at % 60);
    let day = 1 + at / 86400 % 28;
    Some(match gap {
        "iso" => format!("2015-10-{:02} {hour:02}:{minute:02}:{second:02},{:03}", day, random.below(1000)),
        "iso.ms" => format!("2017-05-{:02} {hour:02}:{minute:02}:{second:02}.{:03}", day, random.below(1000)),
        "isoz" => {
            format!("2023-03-{:02}T{hour:02}:{minute:02}:{second:02}.{:06}Z", day, random.below(1000000))
        }
        "bsd" => format!("{} {:2} {hour:02}:{minute:02}:{second:02}", MONTHS[(day as usize) % 12], day),
        "win" => format!("2016-09-{day:02} {hour:02}:{minute:02}:{second:02}"),
        "short" => format!("17/06/{:02} {hour:02}:{minute:02}:{second:02}", day),
        "compact" => format!("0811{:02} {hour:02}{minute:02}{second:02}", day),
        "bars" => format!("201712{day:02}-{hour}:{minute}:{second}:{}", random.below(1000)),
        "android" => format!("03-{day:02} {hour:02}:{minute:02}:{second:02}.{:03}", random.below(1000)),
        "apache" => {
            format!("[{} Dec {:02} {hour:02}:{minute:02}:{second:02} 2005]", DAYS[day as usize % 7], day)
        }
        "proxifier" => format!("[10.{day:02} {hour:02}:{minute:02}:{second:02}]"),
        "bgl" => format!("2005-06-{day:02}-{hour:02}.{minute:02}.{second:02}.{:06}", random.below(1000000)),
        "epoch" => format!("{}", 1117838570 + at),
        "day" => format!("2005.06.{day:02}"),
        "date" => format!(
            "{} {} {:2} {hour:02}:{minute:02}:{second:02} 2005",
            DAYS[day as usize % 7],
            MONTHS[at as usize % 12],
            1 + random.below(28)
        ),
        "clock" => format!("{:02}:{:02}", random.below(60), random.below(60)),
        "int" => random.below(100_000).to_string(),
        "small" => random.below(9).to_string(),
        "neg" => format!("-{}", random.below(90)),
        "real" => format!("{}.{}", random.below(1000), random.below(1000)),
        "pid" => (1000 + random.below(30000)).to_string(),
        "ip" => format!(
            "{}.{}.{}.{}",
            10 + random.below(200),
            random.below(256),
            random.below(256),
            random.below(256)
        ),
        "port" => (1024 + random.below(60000)).to_string(),
        "blk" => format!("blk_{}{}", if random.below(2) == 0 { "-" } else { "" }, random.next() >> 4),
        "blks" => (0..1 + random.below(6))
            .map(|_| format!("blk_{}", random.next() >> 4))
            .collect::<Vec<_>>()
            .join(" "),
        "hex" => format!("0x{:08x}", random.next() as u32),
        "id" => format!("{:016x}", random.next()),
        "uuid" => format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            random.next() as u32,
            random.below(65536),
            random.below(65536),
            random.below(65536),
            random.next() >> 16
        ),
        "user" => random.of(USERS).to_owned(),
        "host" => random.of(HOSTS).to_owned(),
        "node" => format!(
            "R{:02}-M{}-N{}-C:J{:02}-U{:02}",
            random.below(64),
            random.below(2),
            random.below(16),
            random.below(18),
            random.below(12)
        ),
        "word" => format!("{}{}", random.of(WORDS), random.of(WORDS)),
        "class" => random.of(CLASSES).to_owned(),
        "domain" => random.of(DOMAINS).to_owned(),
        "path" => {
            format!("/{}/{}/{}{}", random.of(WORDS), random.of(WORDS), random.of(WORDS), random.below(100))
        }
        "plain" => format!("/{}/{}/{}.conf", random.of(WORDS), random.of(WORDS), random.of(WORDS)),
        "size" => match random.below(3) {
            0 => format!("{}.0 B", random.below(1000)),
            1 => format!("{}.{} KB", random.below(1000), random.below(10)),
            _ => format!("{}.{} MB", random.below(1000), random.below(10)),
        },
        "bytes" => match random.below(2) {
            0 => format!("{} bytes", random.below(1000)),
            _ => format!(
                "{} bytes ({}.{} KB)",
                1000 + random.below(90000),
                random.below(90),
                random.below(100)
            ),
        },
        "life" => match random.below(2) {
            0 => "<1 sec".to_owned(),
            _ => format!("{:02}:{:02}", random.below(60), random.below(60)),
        },
        "bool" => random.of(&["true", "false"]).to_owned(),
        "status" => random.of(&["200", "404", "500", "302"]).to_owned(),
        "app" => format!("application_{}_{:04}", 1445144423722u64 + random.below(1000), random.below(100)),
        "attempt" => format!(
            "attempt_1445144423722_{:04}_m_{:06}_{}",
            random.below(100),
            random.below(1000),
            random.below(4)
        ),
        "exe" => {
            random.of(&["chrome.exe", "chrome.exe", "chrome.exe", "Dropbox.exe", "chrome.exe *64"]).to_owned()
        }
        "thread" => random
            .of(&[
                "[main]",
                "[main]",
                "[RMCommunicator Allocator]",
                "[IPC Server handler 3 on 45454]",
                "[AsyncDispatcher event handler]",
            ])
            .to_owned(),
        "peer" => random
            .of(&[
                "[QuorumPeer[myid=1]/0:0:0:0:0:0:0:0:2181:FastLeaderElection@774]",
                "[/10.10.34.12:3888:QuorumCnxManager$Listener@493]",
                "[NIOServerCxn.Factory:0.0.0.0/0.0.0.0:2181:NIOServerCnxn@1001]",
            ])
            .to_owned(),
        "klog" => format!("I06{day:02} {hour:02}:{minute:02}:{second:02}.{:06}", random.below(1000000)),
        "redis" => format!("{:02} Nov 2023 {hour:02}:{minute:02}:{second:02}.{:03}", day, random.below(1000)),
        "slash" => format!("2023/03/{day:02} {hour:02}:{minute:02}:{second:02}"),
        "onoff" => random.of(&["on", "off"]).to_owned(),
        "fans" => (0..6)
            .map(|_| if random.below(6) == 0 { "****".to_owned() } else { random.below(4000).to_string() })
            .collect::<Vec<_>>()
            .join(" "),
        "mail" => format!("{}{}@{}", random.of(USERS), random.below(50), random.of(DOMAINS)),
        "sentence" => (0..2 + random.below(4)).map(|_| random.of(WORDS)).collect::<Vec<_>>().join(" "),
        "pod" => format!("{}-{}-{:05x}", random.of(WORDS), random.of(WORDS), random.below(0xfffff)),
        "table" => random.of(WORDS).to_owned(),
        "list" => {
            (0..1 + random.below(5)).map(|_| random.below(100).to_string()).collect::<Vec<_>>().join(", ")
        }
        _ => return None,
    })
}

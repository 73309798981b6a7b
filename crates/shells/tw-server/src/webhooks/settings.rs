//! `[[webhook]]` and `[[silence]]` of the file of settings.

use super::matching::{Labels, Matcher};
use crate::config::file as values;
use crate::names;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use toml::Value;

/// A text that is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret")
    }
}

/// A webhook.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Its name.
    pub name: String,
    /// Where requests go; often a secret in itself.
    pub url: Secret,
    /// What they are signed with.
    pub secret: Option<Secret>,
    /// Certificates that are trusted, if not those of the system.
    pub trust: Option<PathBuf>,
    /// Which violations are told; all, without any.
    pub matchers: Vec<Matcher>,
    /// Labels that are the same within a group.
    pub group_by: Vec<String>,
    /// How long the first of a group waits for others.
    pub group_wait: Duration,
    /// How long what comes later waits.
    pub group_interval: Duration,
    /// How long after a group was told of without anything new it is told of again.
    pub repeat: Option<Duration>,
    /// How long after its last violation a group is forgotten.
    pub quiet: Duration,
    /// How long a request may take.
    pub timeout: Duration,
}

impl Settings {
    fn new(name: String, url: String) -> Self {
        Self {
            name,
            url: Secret(url),
            secret: None,
            trust: None,
            matchers: Vec::new(),
            group_by: ["stream", "property"].map(String::from).into(),
            group_wait: Duration::from_secs(10),
            group_interval: Duration::from_secs(60),
            repeat: Some(Duration::from_secs(4 * 3600)),
            quiet: Duration::from_secs(24 * 3600),
            timeout: Duration::from_secs(10),
        }
    }
}

/// The secret in a file, without the end of its line.
fn from_file(value: &Value) -> Result<String, String> {
    let path = values::text(value)?;
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    match text.trim() {
        "" => Err(format!("{path}: it is empty")),
        text => Ok(text.to_string()),
    }
}

fn texts(value: &Value) -> Result<Vec<String>, String> {
    let list = value.as_array().ok_or_else(|| format!("found {value}, expected a list of texts"))?;
    list.iter().map(values::text).collect()
}

fn matchers(value: &Value) -> Result<Vec<Matcher>, String> {
    texts(value)?.iter().map(|text| Matcher::parse(text)).collect()
}

/// A table `[[webhook]]`.
pub fn read_webhook(value: &Value) -> Result<Settings, String> {
    let table = value.as_table().ok_or("write [[webhook]]")?;
    let name = values::text(table.get("name").ok_or("name: it has none")?)?;
    names::check("webhook", &name)?;
    let url = match (table.get("url"), table.get("url_file")) {
        (Some(url), None) => values::text(url),
        (None, Some(file)) => from_file(file),
        _ => Err("url: expected either `url` or `url_file`".to_string()),
    };
    let mut own = Settings::new(name, url.map_err(|why| format!("url: {why}"))?);
    for (key, value) in table {
        let set = match key.as_str() {
            "name" | "url" | "url_file" => Ok(()),
            "secret_file" => from_file(value).map(|secret| own.secret = Some(Secret(secret))),
            "trust" => values::text(value).map(|path| own.trust = Some(path.into())),
            "match" => matchers(value).map(|all| own.matchers = all),
            "group_by" => texts(value).and_then(|names| {
                // A name is good if something could be matched by it.
                names.iter().try_for_each(|name| Matcher::parse(&format!("{name}=*")).map(drop))?;
                own.group_by = names;
                Ok(())
            }),
            "group_wait" => delay(value).map(|time| own.group_wait = time),
            "group_interval" => delay(value).map(|time| own.group_interval = time),
            "repeat" if value.as_str() == Some("never") => {
                own.repeat = None;
                Ok(())
            }
            "repeat" => values::time(value).map(|time| own.repeat = Some(time)),
            "quiet" => values::time(value).map(|time| own.quiet = time),
            "timeout" => values::time(value).map(|time| own.timeout = time),
            _ => Err("there is no such setting".into()),
        };
        set.map_err(|why| format!("{key}: {why}"))?;
    }
    super::send::Target::parse(&own.url.0)?;
    Ok(own)
}

/// A time, which may be none.
fn delay(value: &Value) -> Result<Duration, String> {
    if value.as_str() == Some("0s") { Ok(Duration::ZERO) } else { values::time(value) }
}

/// Days from Monday on.
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
/// Seconds of a day.
const DAY: u64 = 86_400;

/// A time of the week in which some violations are not told.
#[derive(Clone, Debug)]
pub struct Window {
    matchers: Vec<Matcher>,
    /// Days on which it begins, from Monday on.
    days: [bool; 7],
    /// Seconds after midnight, UTC; where it ends before it begins, on the next day.
    from: u64,
    to: u64,
}

impl Window {
    /// Whether labels are not told at a time, in milliseconds since 1970.
    pub fn silences(&self, labels: &Labels, now: u64) -> bool {
        let (day, second) = (now / 1000 / DAY, now / 1000 % DAY);
        // 1970 began on a Thursday.
        let on = |day: u64| self.days[(day % 7 + 3) as usize % 7];
        let within = match self.from < self.to {
            true => on(day) && (self.from..self.to).contains(&second),
            false => on(day) && second >= self.from || on(day + 6) && second < self.to,
        };
        within && self.matchers.iter().all(|own| own.takes(labels))
    }
}

fn clock(value: &Value) -> Result<u64, String> {
    let text = values::text(value)?;
    let parts =
        text.split_once(':').and_then(|(hour, minute)| Some((hour.parse().ok()?, minute.parse().ok()?)));
    match parts {
        Some((hour @ 0..24, minute @ 0..60)) => Ok((hour * 60 + minute) * 60),
        Some((24, 0)) => Ok(DAY),
        _ => Err(format!("found \"{text}\", expected a time of the day such as \"22:30\", in UTC")),
    }
}

/// A table `[[silence]]`.
pub fn read_window(value: &Value) -> Result<Window, String> {
    let table = value.as_table().ok_or("write [[silence]]")?;
    let mut own = Window { matchers: Vec::new(), days: [true; 7], from: 0, to: DAY };
    for (key, value) in table {
        let set = match key.as_str() {
            "comment" => values::text(value).map(drop),
            "match" => matchers(value).map(|all| own.matchers = all),
            "from" => clock(value).map(|time| own.from = time),
            "to" => clock(value).map(|time| own.to = time),
            "days" => texts(value).and_then(|names| {
                own.days = [false; 7];
                for name in names {
                    let place = DAYS.iter().position(|day| *day == name);
                    let place = place
                        .ok_or_else(|| format!("found \"{name}\", expected one of {}", DAYS.join(", ")))?;
                    own.days[place] = true;
                }
                Ok(())
            }),
            _ => Err("there is no such setting".into()),
        };
        set.map_err(|why| format!("{key}: {why}"))?;
    }
    Ok(own)
}

#[cfg(test)]
mod tests {
    use super::{DAY, Labels, read_webhook, read_window};
    use crate::webhooks::matching::tests::told;
    use toml::{Table, Value};

    fn table(text: &str) -> Value {
        Value::Table(text.parse::<Table>().expect("TOML"))
    }

    #[test]
    fn windows_are_times_of_the_week() {
        let labels = Labels::of(&told(1, "web", "p"));
        let window = table("match = [\"stream=web\"]\ndays = [\"fri\"]\nfrom = \"22:00\"\nto = \"06:00\"\n");
        let window = read_window(&window).expect("a window");
        // 1970-01-02 was a Friday.
        let at = |day: u64, hour: u64| window.silences(&labels, (day * DAY + hour * 3600) * 1000);
        assert!(at(1, 22) && at(1, 23) && at(2, 0) && at(2, 5) && at(8, 22));
        assert!(!at(1, 21) && !at(2, 6) && !at(1, 5) && !at(2, 22) && !at(0, 23));
        assert!(!window.silences(&Labels::of(&told(1, "other", "p")), (DAY + 23 * 3600) * 1000));
        let always = read_window(&table("")).expect("a window");
        assert!(always.silences(&labels, 0) && always.silences(&labels, 12_345_678_901));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, expected) in [
            ("url = \"http://x/\"", "name: it has none"),
            ("name = \"a\"", "expected either"),
            ("name = \"a\"\nurl = \"http://x/\"\nrepeat = \"often\"", "repeat: found \"often\""),
            ("name = \"a\"\nurl = \"http://x/\"\ngruop_by = []", "gruop_by: there is no such setting"),
            ("name = \"a\"\nurl = \"http://x/\"\ngroup_by = [\"colour\"]", "group_by: found `colour=*`"),
            ("name = \"a\"\nurl = \"ftp://x/\"", "http"),
            ("name = \"../a\"\nurl = \"http://x/\"", "name of a webhook"),
            ("name = \"a\"\nurl = \"http://x/\"\nsecret_file = \"/nowhere/at/all\"", "secret_file: /nowhere"),
        ] {
            let why = read_webhook(&table(text)).expect_err(text);
            assert!(why.contains(expected), "{text}: {why}");
        }
        for (text, expected) in [
            ("from = \"25:00\"", "from: found"),
            ("days = [\"someday\"]", "days: found"),
            ("x = 1", "x: there"),
        ] {
            let why = read_window(&table(text)).expect_err(text);
            assert!(why.contains(expected), "{text}: {why}");
        }
        let own = read_webhook(&table(
            "name = \"a\"\nurl = \"https://x/secret\"\nrepeat = \"never\"\ngroup_wait = \"0s\"",
        ));
        let own = own.expect("a webhook");
        assert!(own.repeat.is_none() && own.group_wait.is_zero() && !format!("{own:?}").contains("secret\""));
    }
}

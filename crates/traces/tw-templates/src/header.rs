//! What stands in front of every line: time, host, process, level, component.
//!
//! The first lines are cut into *units*: words, and what stands in brackets. A unit is a *mark* of headers if nearly every line has a
//! time, a level, a number, brackets, a dash or a component with a colon there. The header reaches to the last mark that can be
//! got to from the start over few units that are none (a host, a facility). Colons and dashes may stand a little further right
//! in some lines, as the names before them have several words.

use std::ops::Range;

/// The header of a log's lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Parts that `|` ends.
    bars: usize,
    /// Units.
    units: usize,
    /// What ends the header, from the last unit on, if it may stand further right.
    until: Option<Floating>,
}

/// A mark that floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Floating {
    Colon,
    Dash,
}

/// How many units further right a floating mark may stand.
const REACH: usize = 3;
/// Units of a line that are looked at.
const DEPTH: usize = 16;
/// The share of lines that have a mark.
const NEARLY_ALL: f64 = 0.9;

const LEVELS: &[&str] = &[
    "info",
    "warn",
    "warning",
    "error",
    "err",
    "debug",
    "trace",
    "fatal",
    "notice",
    "severe",
    "critical",
    "crit",
    "alert",
    "emerg",
    "panic",
    "failure",
    "verbose",
    "fine",
    "finer",
    "finest",
    "config",
    "v",
    "d",
    "i",
    "w",
    "e",
    "f",
    "information",
];

/// The units of a line: words, and what stands in brackets, `None` where a bracket is never closed.
fn units(line: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < line.len() && line[at].is_ascii_whitespace() {
            at += 1;
        }
        if at == line.len() {
            return None;
        }
        let start = at;
        let mut depth = 0i32;
        let bracket = line[at] == b'[';
        while at < line.len() && (depth > 0 || !line[at].is_ascii_whitespace()) {
            depth += i32::from(line[at] == b'[') - i32::from(line[at] == b']');
            depth = depth.max(0);
            // Only a unit that begins with a bracket may hold blanks.
            if !bracket {
                depth = 0;
            }
            at += 1;
        }
        if depth > 0 {
            at = start + line[start..].iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
        }
        Some(start..at)
    })
}

/// What a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A time of day, a date with time, seconds since 1970.
    Time,
    /// Digits and signs, or a name of a day or month.
    Number,
    Level,
    Bracket,
    Dash,
    Colon,
    Word,
}

fn kind(unit: &[u8]) -> Kind {
    let trimmed = trim(unit);
    if unit == b"-" || unit == b"--" || unit == b"|" || unit == b":" {
        return Kind::Dash;
    }
    if unit[0] == b'[' && matches!(unit.last(), Some(b']' | b':')) && unit.len() > 2 {
        return Kind::Bracket;
    }
    let digits = trimmed.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = trimmed.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let colons = trimmed.iter().filter(|byte| **byte == b':').count();
    if digits >= 4
        && letters <= 2
        && (colons >= 2 || digits == 10 && letters == 0 && trimmed.len() == 10 || digits >= 14)
    {
        return Kind::Time;
    }
    if digits > 0 && letters == 0 {
        return Kind::Number;
    }
    if let Ok(text) = std::str::from_utf8(trimmed) {
        let lower = text.to_ascii_lowercase();
        // A letter alone is a level where it is a capital.
        if LEVELS.contains(&lower.as_str()) && (lower.len() > 1 || text != lower) {
            return Kind::Level;
        }
        const NAMES: &str = " mon tue wed thu fri sat sun jan feb mar apr may jun jul aug sep oct nov dec ";
        if lower.len() == 3 && NAMES.contains(&format!(" {lower} ")) {
            return Kind::Number;
        }
    }
    if unit.len() > 1 && unit.ends_with(b":") && letters > 0 {
        return Kind::Colon;
    }
    Kind::Word
}

fn trim(unit: &[u8]) -> &[u8] {
    let inside = |byte: &u8| !matches!(byte, b',' | b':' | b'[' | b']' | b'(' | b')' | b'<' | b'>');
    let start = unit.iter().position(inside).unwrap_or(unit.len());
    let end = unit.iter().rposition(inside).map_or(start, |last| last + 1);
    &unit[start..end]
}

impl Header {
    /// The header that these lines have.
    pub fn of(lines: &[&[u8]]) -> Self {
        let lines: Vec<&[u8]> = lines.iter().copied().filter(|line| !line.trim_ascii().is_empty()).collect();
        if lines.len() < 2 {
            return Self::default();
        }
        if let Some(bars) = bars(&lines) {
            return Self { bars, ..Self::default() };
        }
        let kinds: Vec<Vec<Kind>> = lines
            .iter()
            .map(|line| units(line).take(DEPTH).map(|unit| kind(&line[unit])).collect())
            .collect();
        // Lines that begin otherwise (stack traces) say nothing about headers.
        let first = most_common(kinds.iter().filter_map(|line| line.first().copied()));
        let kinds: Vec<&Vec<Kind>> = kinds.iter().filter(|line| line.first().copied() == first).collect();
        let needed = (kinds.len() as f64 * NEARLY_ALL).ceil() as usize;
        let count = |at: usize, which: &dyn Fn(Kind) -> bool| {
            kinds.iter().filter(|line| line.get(at).is_some_and(|kind| which(*kind))).count()
        };
        let fixed = |at: usize, which: &dyn Fn(Kind) -> bool| count(at, which) >= needed;
        let floats = |at: usize, wanted: Kind| {
            let within =
                |line: &&&Vec<Kind>| line.iter().skip(at).take(REACH + 1).any(|kind| *kind == wanted);
            kinds.iter().filter(within).count() >= needed && count(at, &|kind| kind == wanted) * 2 >= needed
        };
        let mut header = Self::default();
        let mut at = 0;
        let (mut timed, mut leveled) = (false, false);
        // As far as the time reaches.
        let mut least = Self::default();
        while at < DEPTH - REACH {
            let step = (at..=(at + REACH)).find_map(|next| {
                let near = next == at;
                // A second level is a word of the content (`ERROR fatal`).
                if fixed(next, &|kind| kind == Kind::Time || kind == Kind::Level && !leveled) {
                    return Some((next, None));
                }
                if near && fixed(next, &|kind| matches!(kind, Kind::Number | Kind::Time)) {
                    return Some((next, None));
                }
                // What stands in brackets or before a colon is a component after a time, and content elsewhere.
                if !timed {
                    let bracket = near && fixed(next, &|kind| kind == Kind::Bracket);
                    let dash = near && fixed(next, &|kind| kind == Kind::Dash);
                    return (bracket || dash).then_some((next, None));
                }
                if fixed(next, &|kind| kind == Kind::Bracket) && next <= at + 1 {
                    return Some((next, None));
                }
                if floats(next, Kind::Colon) {
                    return Some((next, Some(Floating::Colon)));
                }
                if next <= at + 1 && floats(next, Kind::Dash) {
                    return Some((next, Some(Floating::Dash)));
                }
                None
            });
            let Some((found, floating)) = step else { break };
            let time = |kind: Kind| matches!(kind, Kind::Time | Kind::Bracket | Kind::Number);
            timed |= fixed(found, &time);
            leveled |= fixed(found, &|kind| kind == Kind::Level);
            at = found + 1;
            header.units = at;
            header.until = floating;
            if fixed(found, &|kind| kind == Kind::Time) {
                least = header.clone();
            }
            // After a component with a colon comes the content.
            if floating == Some(Floating::Colon) {
                break;
            }
        }
        // What leaves nothing is no header.
        let bare = |line: &&&[u8]| line[header.end(line)..].trim_ascii().is_empty();
        if lines.iter().filter(bare).count() * 2 > lines.len() { least } else { header }
    }

    /// Where the content of a line begins.
    pub fn end(&self, line: &[u8]) -> usize {
        if self.bars > 0 {
            let mut bars = line.iter().enumerate().filter(|(_, byte)| **byte == b'|').map(|(at, _)| at);
            return bars.nth(self.bars - 1).map_or(0, |at| at + 1);
        }
        if self.units == 0 {
            return 0;
        }
        let mut end = 0;
        let mut units = units(line);
        for number in 1..=self.units {
            let Some(unit) = units.next() else { return if number == 1 { 0 } else { end } };
            if number == self.units
                && let Some(floating) = self.until
            {
                let ends = |unit: &Range<usize>| match floating {
                    Floating::Colon => line[unit.clone()].ends_with(b":"),
                    Floating::Dash => line[unit.clone()] == *b"-",
                };
                let mut next = Some(unit);
                for _ in 0..=REACH {
                    match next {
                        Some(unit) if ends(&unit) => return unit.end,
                        Some(_) => next = units.next(),
                        None => break,
                    }
                }
                return end;
            }
            end = unit.end;
        }
        end
    }
}

/// How many parts that `|` ends stand in front, if lines are so.
fn bars(lines: &[&[u8]]) -> Option<usize> {
    let timed = |line: &[u8]| {
        let first = line.split(|byte| *byte == b'|').next().unwrap_or(&[]);
        first.len() < line.len() && first.iter().filter(|byte| byte.is_ascii_digit()).count() >= 4
    };
    let with: Vec<usize> = lines
        .iter()
        .filter(|line| timed(line))
        .map(|line| line.iter().filter(|byte| **byte == b'|').count())
        .collect();
    if (with.len() as f64) < lines.len() as f64 * NEARLY_ALL {
        return None;
    }
    // Contents may have bars of their own, headers have no fewer.
    let mut sorted = with;
    sorted.sort_unstable();
    Some(sorted[sorted.len() / 20].max(1))
}

fn most_common(kinds: impl Iterator<Item = Kind>) -> Option<Kind> {
    let mut counts: Vec<(Kind, usize)> = Vec::new();
    for kind in kinds {
        match counts.iter_mut().find(|(own, _)| *own == kind) {
            Some((_, count)) => *count += 1,
            None => counts.push((kind, 1)),
        }
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(kind, _)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents<'a>(lines: &[&'a str]) -> Vec<&'a str> {
        let bytes: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
        let header = Header::of(&bytes);
        lines.iter().map(|line| line[header.end(line.as_bytes())..].trim_start()).collect()
    }

    #[test]
    fn headers_of_many_kinds() {
        let same = |lines: &[&str], expected: &[&str]| assert_eq!(contents(lines), expected, "{lines:?}");
        same(
            &[
                "Jun 14 15:16:01 combo sshd(pam_unix)[19939]: authentication failure",
                "Jun 14 15:16:02 combo kernel: up now",
            ],
            &["authentication failure", "up now"],
        );
        same(
            &[
                "081109 203615 148 INFO dfs.DataNode$PacketResponder: PacketResponder 1 for",
                "081109 203807 222 WARN dfs.FSNamesystem: BLOCK* x",
            ],
            &["PacketResponder 1 for", "BLOCK* x"],
        );
        same(
            &[
                "2015-07-29 17:41:44,747 - INFO  [QuorumPeer[myid=1]/0:0:2181:FastLeaderElection@774] - Notification time out: 3200",
                "2015-07-29 19:04:12,394 - WARN  [/10.10.34.11:3888:QuorumCnxManager$Listener@493] - Received connection",
            ],
            &["Notification time out: 3200", "Received connection"],
        );
        same(
            &[
                "[Sun Dec 04 04:47:44 2005] [notice] workerEnv.init() ok /etc/x",
                "[Sun Dec 04 04:47:45 2005] [error] mod_jk child",
            ],
            &["workerEnv.init() ok /etc/x", "mod_jk child"],
        );
        same(
            &[
                "20171223-22:15:29:606|Step_LSC|30002312|onStandStepChanged 3579",
                "20171223-22:15:30:1|Step|3|x|y",
            ],
            &["onStandStepChanged 3579", "x|y"],
        );
        same(
            &[
                "- 1117838570 2005.06.03 R02-M1-N0-C:J12-U11 2005-06-03-15.42.50.675872 R02-M1-N0-C:J12-U11 RAS KERNEL INFO instruction cache parity",
                "- 1117838571 2005.06.03 R02-M1-N0-C:J12-U11 2005-06-03-15.42.51.675872 R02-M1-N0-C:J12-U11 RAS APP FATAL ciod: failed",
            ],
            &["instruction cache parity", "ciod: failed"],
        );
        same(
            &[
                "[10.30 16:49:06] chrome.exe - proxy.x:5070 open",
                "[10.30 16:49:07] chrome.exe - proxy.x:5070 close",
                "[10.30 16:49:07] chrome.exe *64 - p:1 close",
            ],
            &["proxy.x:5070 open", "proxy.x:5070 close", "p:1 close"],
        );
        same(
            &[
                "134681 node-246 unix.hw state_change.unavailable 1077804742 1 Component State Change",
                "350766 node-109 unix.hw net.niff.up 1084680778 1 NIFF: node",
            ],
            &["Component State Change", "NIFF: node"],
        );
        same(
            &["17/06/09 20:10:40 ERROR fatal panic 1", "17/06/09 20:10:41 ERROR fatal panic 2"],
            &["fatal panic 1", "fatal panic 2"],
        );
        same(&["17/06/09 20:10:40 INFO 1", "17/06/09 20:10:41 INFO 2"], &["INFO 1", "INFO 2"]);
        same(&["no header here", "nor here: at all"], &["no header here", "nor here: at all"]);
    }
}

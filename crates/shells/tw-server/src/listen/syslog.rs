//! syslog: RFC 5424 and RFC 3164, over UDP and TCP.
//!
//! The reader of the format `syslog` says what a message holds. Before it a message becomes a line with a timestamp in RFC 3339 and
//! a host, which is what a relay does to messages without them (RFC 3164, 4.3): many libraries send neither.

use super::framing::Frames;
use super::lines::{Lines, accept, hand_over};
use super::socket::{Client, Listener, Place};
use super::{At, Kind, Open, Source};
use crate::server::Shared;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::io::AsyncReadExt;
use tokio::net::UdpSocket;
use tracewise::TimeUnit;
use tracewise::trace::{Stamp, TimeStyle, parse_stamp};

/// Columns that are texts, whatever a message says.
const TEXTS: &[&str] = &["text", "host", "app", "msgid", "message"];
/// Bytes that are read at once; no datagram has more.
const CHUNK: usize = 64 << 10;
/// Bytes of messages that are handed over together, if so many are there.
const TOGETHER: usize = 256 << 10;
/// How long datagrams wait for room: their senders cannot be held up.
const PATIENCE: Duration = Duration::from_millis(100);

/// Listens over UDP, TCP or both, at one address.
pub async fn open(
    shared: &Arc<Shared>,
    address: &str,
    (udp, tcp): (bool, bool),
    stream: &str,
) -> Result<Vec<Open>, String> {
    let longest = shared.config.limits.line;
    let lines = Lines::of("syslog", TEXTS, longest)?;
    let cannot = |error: io::Error| format!("cannot listen on {address}: {error}");
    let mut opened = Vec::new();
    if tcp {
        let (listener, at) = Listener::bind(&Place::Tcp(address.into())).await.map_err(cannot)?;
        let open = Open { kind: Kind::Syslog, at, stream: stream.into() };
        let source = Source::new(shared, open.clone());
        let lines = lines.clone();
        tokio::spawn(accept(source, listener, move |source, client| serve(source, lines.clone(), client)));
        opened.push(open);
    }
    if udp {
        let socket = UdpSocket::bind(address).await.map_err(cannot)?;
        let at = At::Address(socket.local_addr().map_err(cannot)?);
        let open = Open { kind: Kind::Datagrams, at, stream: stream.into() };
        let source = Source::new(shared, open.clone());
        tokio::spawn(receive(source, lines, socket));
        opened.push(open);
    }
    Ok(opened)
}

/// Messages that are handed over together, a line each.
#[derive(Default)]
struct Gathered {
    lines: Vec<u8>,
    count: u64,
}

impl Gathered {
    fn add(&mut self, message: &[u8], peer: Option<IpAddr>) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64);
        if let Some(line) = line(message, now, peer) {
            self.lines.extend_from_slice(line.as_bytes());
            self.lines.push(b'\n');
            self.count += 1;
        }
    }

    async fn hand_over(&mut self, source: &Source, lines: &Lines, patience: Duration) -> Result<(), String> {
        let Gathered { lines: bytes, count } = std::mem::take(self);
        source.figures.arrived.fetch_add(count, Ordering::Relaxed);
        match lines.json(&bytes) {
            Ok(Some((json, left_out))) => {
                if left_out > 0 {
                    source.lose(left_out, "messages that cannot be read");
                }
                hand_over(source, &json, patience).await
            }
            Ok(None) => Ok(()),
            Err(why) => {
                source.lose(count, &crate::words::error(&why));
                Ok(())
            }
        }
    }
}

/// Takes datagrams, a message each.
async fn receive(source: Arc<Source>, lines: Lines, socket: UdpSocket) {
    let mut buffer = vec![0; CHUNK];
    let longest = source.shared.config.limits.line;
    loop {
        let (count, peer) = match socket.recv_from(&mut buffer).await {
            Ok(received) => received,
            Err(error) => {
                source.lose(0, &format!("nothing can be received: {error}"));
                tokio::time::sleep(PATIENCE).await;
                continue;
            }
        };
        let mut gathered = Gathered::default();
        let mut add = |bytes: &[u8], peer: IpAddr| match bytes.len() <= longest {
            true => gathered.add(bytes, Some(peer)),
            false => source.lose(1, "a message longer than a line may be"),
        };
        add(&buffer[..count], peer.ip());
        let mut all = count;
        // Those that are there already go the same way.
        while all < TOGETHER
            && let Ok((count, peer)) = socket.try_recv_from(&mut buffer)
        {
            add(&buffer[..count], peer.ip());
            all += count.max(1);
        }
        if gathered.hand_over(&source, &lines, PATIENCE).await.is_err() {
            return;
        }
    }
}

/// Reads a connection to its end.
async fn serve(source: Arc<Source>, lines: Lines, client: Client) {
    let (mut connection, peer) = (client.connection, client.peer);
    let limits = source.shared.config.limits;
    let mut buffer = vec![0; CHUNK];
    let mut frames = Frames::new(limits.line);
    loop {
        let read = match tokio::time::timeout(limits.idle, connection.read(&mut buffer)).await {
            Ok(Ok(0)) | Err(_) => break,
            Ok(Ok(count)) => &buffer[..count],
            Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(Err(_)) => break,
        };
        let mut gathered = Gathered::default();
        let framed = frames.take(read, |message| gathered.add(message, peer));
        if gathered.hand_over(&source, &lines, Duration::MAX).await.is_err() {
            return;
        }
        if let Err(why) = framed {
            source.lose(1, &format!("{why}; the connection was closed"));
            return;
        }
    }
    let mut gathered = Gathered::default();
    frames.end(|message| gathered.add(message, peer));
    // Nobody is there to be told.
    let _ = gathered.hand_over(&source, &lines, Duration::MAX).await;
}

/// A message as the format `syslog` reads it, with a priority, a timestamp and a host; `None` if it says nothing.
fn line(message: &[u8], now: i64, peer: Option<IpAddr>) -> Option<String> {
    let text = String::from_utf8_lossy(message);
    let text = text.trim_end_matches(['\n', '\r', '\0']).trim_start_matches(['\n', '\r', '\0']);
    // A message is one line; what would begin another is written as daemons write it.
    let text = text.replace('\n', "#012").replace('\r', "#015").replace('\0', "#000");
    let (priority, rest) = priority(&text);
    if rest.trim().is_empty() {
        return None;
    }
    let host = || peer.map_or("-".to_string(), |peer| peer.to_string());
    if let Some((stamp, rest)) = rest.strip_prefix("1 ").and_then(|rest| rest.split_once(' ')) {
        let stamp = match stamp {
            "-" => Some(shown(now)),
            _ => is_time(stamp).then(|| stamp.to_string()),
        };
        if let Some(stamp) = stamp {
            return Some(match rest.strip_prefix("- ") {
                Some(rest) => format!("<{priority}>1 {stamp} {} {rest}", host()),
                None => format!("<{priority}>1 {stamp} {rest}"),
            });
        }
    }
    let (stamp, rest) = match rest.split_once(' ') {
        Some((stamp, rest)) if is_time(stamp) => (stamp.to_string(), rest),
        _ => match without_year(rest, now) {
            Some((time, rest)) => (shown(time), rest),
            None => return Some(format!("<{priority}>{} {} {rest}", shown(now), host())),
        },
    };
    // Programs of the same machine leave their host out: what follows the timestamp is their name.
    let rest = rest.trim_start();
    let first = rest.split(' ').next().unwrap_or_default();
    match first.ends_with(':') || first.contains('[') {
        true => Some(format!("<{priority}>{stamp} {} {rest}", host())),
        false => Some(format!("<{priority}>{stamp} {rest}")),
    }
}

/// The priority of a message, and what follows it; one without has that of a notice by a user's program (RFC 3164, 4.3.3).
fn priority(text: &str) -> (u16, &str) {
    let found = text.strip_prefix('<').and_then(|rest| rest.split_once('>'));
    let number = found.and_then(|(number, rest)| {
        let digits = (1..=3).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
        Some((number.parse().ok().filter(|number| digits && *number <= 191)?, rest))
    });
    number.unwrap_or((13, text))
}

fn is_time(text: &str) -> bool {
    // Numbers are times, too, but none that a message begins with.
    text.contains('T') && parse_stamp(text, TimeUnit::Seconds).is_ok()
}

fn shown(time: i64) -> String {
    Stamp { time, style: TimeStyle::Text }.format()
}

/// `Oct 11 22:14:15` at the start of a text, in the year in which it is nearest to now, and what follows it.
fn without_year(text: &str, now: i64) -> Option<(i64, &str)> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let (stamp, rest) = text.split_at_checked(15)?;
    let (month, rest_of_stamp) = stamp.split_at_checked(3)?;
    let month = MONTHS.find(month).filter(|at| at % 3 == 0)? / 3 + 1;
    let (day, time) = (rest_of_stamp.get(1..3)?.trim_start(), rest_of_stamp.get(4..)?);
    if !rest.is_empty() && !rest.starts_with(' ') {
        return None;
    }
    let year: i64 = shown(now).get(..4)?.parse().ok()?;
    let candidates = [year - 1, year, year + 1].into_iter().filter_map(|year| {
        let text = format!("{year:04}-{month:02}-{day:0>2}T{time}Z");
        parse_stamp(&text, TimeUnit::Seconds).ok().map(|stamp| stamp.time)
    });
    Some((candidates.min_by_key(|time| time.abs_diff(now))?, rest.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 19 November 2026, a little after four.
    const NOW: i64 = 1_795_061_106_000_000_000;

    fn read(message: &str) -> String {
        line(message.as_bytes(), NOW, "10.0.0.7".parse().ok()).unwrap_or_default()
    }

    #[test]
    fn messages_become_lines_with_a_time_and_a_host() {
        for (message, expected) in [
            (
                "<165>1 2003-08-24T05:14:15.000003-07:00 h app 12 ID [a@1 k=\"v\"] m",
                "<165>1 2003-08-24T05:14:15.000003-07:00 h app 12 ID [a@1 k=\"v\"] m",
            ),
            ("<165>1 - h app - - - m\n", "<165>1 2026-11-19T04:05:06Z h app - - - m"),
            ("<165>1 - - app - - - m", "<165>1 2026-11-19T04:05:06Z 10.0.0.7 app - - - m"),
            ("<34>Oct 11 22:14:15 host su[77]: failed", "<34>2026-10-11T22:14:15Z host su[77]: failed"),
            ("<34>Nov  1 22:14:15 host su: failed", "<34>2026-11-01T22:14:15Z host su: failed"),
            ("<34>Oct 11 22:14:15 su[77]: failed", "<34>2026-10-11T22:14:15Z 10.0.0.7 su[77]: failed"),
            (
                "<34>2026-10-11T22:14:15+02:00 host su: failed",
                "<34>2026-10-11T22:14:15+02:00 host su: failed",
            ),
            ("<14>just a message\0", "<14>2026-11-19T04:05:06Z 10.0.0.7 just a message"),
            ("nothing else", "<13>2026-11-19T04:05:06Z 10.0.0.7 nothing else"),
            ("<999>x", "<13>2026-11-19T04:05:06Z 10.0.0.7 <999>x"),
            ("<14>two\n<11>lines", "<14>2026-11-19T04:05:06Z 10.0.0.7 two#012<11>lines"),
            ("<14>Foo 11 22:14:15 host x", "<14>2026-11-19T04:05:06Z 10.0.0.7 Foo 11 22:14:15 host x"),
            ("<14>Oct 41 22:14:15 host x", "<14>2026-11-19T04:05:06Z 10.0.0.7 Oct 41 22:14:15 host x"),
            ("<14>", ""),
            ("\n", ""),
        ] {
            assert_eq!(read(message), expected, "{message}");
        }
    }

    #[test]
    fn the_year_is_the_nearest() {
        let at = |now: &str, text: &str| {
            let now = parse_stamp(now, TimeUnit::Seconds).unwrap().time;
            without_year(text, now).map(|(time, _)| shown(time))
        };
        for (now, text, expected) in [
            ("2027-01-01T00:00:05Z", "Dec 31 23:59:59 h", "2026-12-31T23:59:59Z"),
            ("2026-12-31T23:59:58Z", "Jan  1 00:00:01 h", "2027-01-01T00:00:01Z"),
            ("2028-03-01T00:00:00Z", "Feb 29 12:00:00 h", "2028-02-29T12:00:00Z"),
        ] {
            assert_eq!(at(now, text).as_deref(), Some(expected));
        }
        assert_eq!(at("2026-03-01T00:00:00Z", "Feb 29 12:00:00 h"), None, "there was none near");
    }

    /// The format's reader finds in these lines what was sent.
    #[test]
    fn what_is_read_is_what_was_sent() {
        let lines = Lines::of("syslog", TEXTS, 1 << 20).unwrap();
        let mut gathered = Gathered::default();
        let peer = "10.0.0.7".parse().ok();
        for message in [
            "<165>1 2003-08-24T05:14:15.000003-07:00 h app 12 ID [a@1 k=\"v\"] 42",
            "<34>Oct 11 22:14:15 host su[77]: failed",
            "<14>just a message\0",
            "<11>1 2026-08-24T05:14:15Z h - - - - x",
        ] {
            gathered.add(message.as_bytes(), peer);
        }
        let (json, left_out) = lines.json(&gathered.lines).unwrap().unwrap();
        assert_eq!(left_out, 0);
        let text = String::from_utf8(json).unwrap();
        let rows: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(rows.len(), 4, "{text}");
        assert_eq!(rows[0]["time"], "2003-08-24T12:14:15.000003Z");
        assert_eq!((&rows[0]["app"], &rows[0]["message"]), (&"app".into(), &"42".into()), "a text, always");
        assert_eq!((&rows[0]["facility"], &rows[0]["severity"]), (&20.into(), &5.into()));
        assert_eq!(
            (&rows[1]["host"], &rows[1]["app"], &rows[1]["pid"]),
            (&"host".into(), &"su".into(), &77.into())
        );
        assert_eq!((&rows[2]["host"], &rows[2]["message"]), (&"10.0.0.7".into(), &"just a message".into()));
        assert_eq!((&rows[3]["app"], &rows[3]["message"]), (&serde_json::Value::Null, &"x".into()));
    }
}

//! A record as a line of JSON: with a name for each argument.

use crate::calls::{CALLS, Call, Kind};
use crate::names;
use std::io::Write;

/// The words of a record, and whose it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'r> {
    pub words: &'r [u64],
    pub pid: u32,
    pub thread: u32,
    /// The number of its process is not one that this process knows.
    pub foreign: bool,
}

impl Record<'_> {
    pub(crate) fn call(&self) -> u16 {
        self.words[0] as u16
    }

    fn flags(&self) -> u8 {
        (self.words[0] >> 24) as u8
    }

    pub(crate) fn ticket(&self) -> u64 {
        self.words[1]
    }

    pub(crate) fn time(&self) -> u64 {
        self.words[2]
    }

    pub(crate) fn has_result(&self) -> bool {
        self.flags() & 1 != 0
    }

    pub(crate) fn result(&self) -> i64 {
        self.words[3] as i64
    }

    fn error(&self) -> Option<i32> {
        (self.flags() & 2 != 0).then_some(self.words[4] as u32 as i32)
    }

    fn count(&self) -> usize {
        (self.words[0] >> 16) as u8 as usize
    }

    /// Its process: of a child that runs in its parent's memory, the child.
    pub(crate) fn process(&self) -> u32 {
        match (self.words[4] >> 32) as u32 {
            0 => self.pid,
            own => own,
        }
    }

    pub(crate) fn argument(&self, index: usize) -> Option<u64> {
        (index < self.count()).then(|| self.words.get(5 + index).copied()).flatten()
    }

    /// The bytes of the text that is argument `index`, if nothing before it is one.
    pub(crate) fn first_text(&self) -> Option<String> {
        let length = self.argument(0).filter(|length| *length != u64::MAX)? as usize;
        let mut bytes = Vec::new();
        bytes_of(self.words.get(5 + self.count()..)?, length, &mut bytes);
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Writes the line; `time` is in nanoseconds since 1970.
pub(crate) fn write(record: Record<'_>, time: u64, to: &mut Vec<u8>) {
    let Some(call) = CALLS.get(usize::from(record.call())) else { return };
    head(time, call.name, record.process(), record.thread, to);
    arguments(record, call, to);
    if record.has_result() {
        key(call.result, to);
        match call.pointer {
            true => pointer(record.result() as u64, to),
            false => decimal(record.result(), to),
        }
    }
    if let Some(error) = record.error() {
        to.extend_from_slice(b",\"errno\":\"");
        names::error(error, to);
        to.push(b'"');
    }
    to.extend_from_slice(b"}\n");
}

/// `{"time":…,"event":…,"pid":…,"thread":…`
pub(crate) fn head(time: u64, event: &str, pid: u32, thread: u32, to: &mut Vec<u8>) {
    to.extend_from_slice(b"{\"time\":");
    unsigned(time / 1_000_000_000, to);
    to.push(b'.');
    let mut digits = [b'0'; 9];
    let mut rest = time % 1_000_000_000;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    to.extend_from_slice(&digits);
    to.extend_from_slice(b",\"event\":\"");
    to.extend_from_slice(event.as_bytes());
    to.extend_from_slice(b"\",\"pid\":");
    unsigned(pid.into(), to);
    to.extend_from_slice(b",\"thread\":");
    unsigned(thread.into(), to);
}

fn arguments(record: Record<'_>, call: &Call, to: &mut Vec<u8>) {
    let mut rest = record.words.get(5 + record.count()..).unwrap_or_default();
    for (index, (kind, name)) in call.arguments.iter().enumerate() {
        let Some(value) = record.argument(index) else { return };
        key(name, to);
        match kind {
            Kind::Int | Kind::Long => decimal(value as i64, to),
            // A size beyond is a negative number that was taken for one; a column keeps its type.
            Kind::Num => unsigned(value.min(i64::MAX as u64), to),
            // A block may be at any address, also where numbers are small.
            Kind::Ptr | Kind::Ref => pointer(value, to),
            Kind::Mode if value == 0 => to.extend_from_slice(b"\"0\""),
            Kind::Mode => drop(write!(to, "\"0{value:o}\"")),
            Kind::Flags => quoted(|to| names::open_flags(value, to), to),
            Kind::Command => quoted(|to| names::command(value, to), to),
            Kind::Family => quoted(|to| names::family(value, to), to),
            Kind::Type => quoted(|to| names::socket_type(value, to), to),
            Kind::Str | Kind::Addr if value == u64::MAX => to.extend_from_slice(b"null"),
            Kind::Str | Kind::Addr => {
                let words = value.div_ceil(8) as usize;
                let mut bytes = Vec::with_capacity(value as usize);
                bytes_of(rest, value as usize, &mut bytes);
                rest = rest.get(words..).unwrap_or_default();
                match kind {
                    Kind::Str => text(&bytes, to),
                    _ => {
                        let mut shown = Vec::new();
                        names::address(&bytes, &mut shown);
                        text(&shown, to);
                    }
                }
            }
            Kind::Skip => {}
        }
    }
}

fn bytes_of(words: &[u64], length: usize, to: &mut Vec<u8>) {
    for word in words.iter().take(length.div_ceil(8)) {
        to.extend_from_slice(&word.to_ne_bytes());
    }
    to.truncate(length);
}

fn quoted(write: impl FnOnce(&mut Vec<u8>), to: &mut Vec<u8>) {
    to.push(b'"');
    write(to);
    to.push(b'"');
}

/// `,"fd":`
fn key(name: &str, to: &mut Vec<u8>) {
    to.extend_from_slice(b",\"");
    to.extend_from_slice(name.as_bytes());
    to.extend_from_slice(b"\":");
}

/// A text in quotes; what is no UTF-8 is written as its replacement character.
pub(crate) fn text(bytes: &[u8], to: &mut Vec<u8>) {
    to.push(b'"');
    for character in String::from_utf8_lossy(bytes).chars() {
        match character {
            '"' => to.extend_from_slice(b"\\\""),
            '\\' => to.extend_from_slice(b"\\\\"),
            '\n' => to.extend_from_slice(b"\\n"),
            '\t' => to.extend_from_slice(b"\\t"),
            other if (other as u32) < 0x20 => drop(write!(to, "\\u{:04x}", other as u32)),
            other => to.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    to.push(b'"');
}

/// `"0x55d0"`; null is null.
fn pointer(value: u64, to: &mut Vec<u8>) {
    if value == 0 {
        to.extend_from_slice(b"null");
        return;
    }
    to.extend_from_slice(b"\"0x");
    let digits = (64 - value.leading_zeros()).div_ceil(4);
    for digit in (0..digits).rev() {
        to.push(b"0123456789abcdef"[(value >> (4 * digit) & 15) as usize]);
    }
    to.push(b'"');
}

fn decimal(value: i64, to: &mut Vec<u8>) {
    if value < 0 {
        to.push(b'-');
    }
    unsigned(value.unsigned_abs(), to);
}

pub(crate) fn unsigned(mut value: u64, to: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    to.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::number;

    fn line(words: &[u64]) -> String {
        let mut to = Vec::new();
        write(Record { words, pid: 7, thread: 8, foreign: false }, 1_700_000_000_000_000_005, &mut to);
        String::from_utf8(to).unwrap()
    }

    #[test]
    fn a_record_is_a_line() {
        let head = |call: &str, flags: u64, count: u64| flags << 24 | count << 16 | u64::from(number(call));
        let path = u64::from_ne_bytes(*b"/a\"\n\0\0\0\0");
        assert_eq!(
            line(&[head("open", 3, 3), 0, 0, u64::MAX, 2, 4, 0o100, 0o644, path]),
            "{\"time\":1700000000.000000005,\"event\":\"open\",\"pid\":7,\"thread\":8,\"path\":\"/a\\\"\\n\",\"flags\":\"O_RDONLY|O_CREAT\",\
             \"mode\":\"0644\",\"result\":-1,\"errno\":\"ENOENT\"}\n"
        );
        // A child of vfork has its own process number; null is null.
        assert_eq!(
            line(&[head("fgets", 1, 2), 0, 0, 0, 9 << 32, 80, 0xabc]),
            "{\"time\":1700000000.000000005,\"event\":\"fgets\",\"pid\":9,\"thread\":8,\"count\":80,\"stream\":\"0xabc\",\"entry\":null}\n"
        );
        assert_eq!(
            line(&[head("posix_memalign", 1, 3), 0, 0, 0, 0, 0x10, 8, 16]),
            "{\"time\":1700000000.000000005,\"event\":\"posix_memalign\",\"pid\":7,\"thread\":8,\"block\":\"0x10\",\"alignment\":8,\"size\":16,\"result\":0}\n"
        );
        assert_eq!(
            line(&[head("free", 0, 1), 0, 0, 0, 0, 0xf00]),
            "{\"time\":1700000000.000000005,\"event\":\"free\",\"pid\":7,\"thread\":8,\"block\":\"0xf00\"}\n"
        );
    }
}

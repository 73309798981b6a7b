//! Where lines and messages end in what arrives: whole ones are handed on, the last waits for its end within a budget.

use memchr::{memchr, memrchr};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A line that has not ended.
pub struct OpenLine<'h> {
    bytes: Vec<u8>,
    /// It has been given up; what comes up to its end is passed over.
    lost: bool,
    /// Bytes of such lines, of all connections.
    held: &'h AtomicUsize,
    /// Bytes that one line may have; all open ones together, beside a fair share for each.
    longest: usize,
    /// Connections that share them.
    sharers: usize,
}

impl<'h> OpenLine<'h> {
    /// Nothing has come.
    pub fn new(held: &'h AtomicUsize, longest: usize, sharers: usize) -> Self {
        Self { bytes: Vec::new(), lost: false, held, longest, sharers: sharers.max(1) }
    }

    /// Takes bytes and hands on the whole lines that there are now; the error is why a line was given up.
    pub fn take<'b>(&mut self, mut bytes: &'b [u8], hand: impl FnOnce(Whole<'b>)) -> Option<String> {
        if self.lost {
            let end = memchr(b'\n', bytes)?;
            bytes = &bytes[end + 1..];
            self.lost = false;
        }
        if let Some(end) = memrchr(b'\n', bytes) {
            let (whole, rest) = bytes.split_at(end + 1);
            match self.release() {
                open if open.is_empty() => hand(Whole::Here(whole)),
                mut open => {
                    open.extend_from_slice(whole);
                    hand(Whole::Joined(open));
                }
            }
            bytes = rest;
        }
        self.hold(bytes)
    }

    /// What has not ended.
    pub fn release(&mut self) -> Vec<u8> {
        self.held.fetch_sub(self.bytes.len(), Ordering::Relaxed);
        std::mem::take(&mut self.bytes)
    }

    fn hold(&mut self, more: &[u8]) -> Option<String> {
        if more.is_empty() {
            return None;
        }
        let held = self.held.fetch_add(more.len(), Ordering::Relaxed) + more.len();
        self.bytes.extend_from_slice(more);
        let (own, longest) = (self.bytes.len(), self.longest);
        let why = if own > longest {
            format!("a line is longer than {longest} bytes, the most that is accepted")
        } else if held > 16 * longest && own > 16 * longest / self.sharers {
            format!("lines that have not ended hold {held} bytes in all connections")
        } else {
            return None;
        };
        self.release();
        self.lost = true;
        Some(why)
    }
}

impl Drop for OpenLine<'_> {
    fn drop(&mut self) {
        self.release();
    }
}

/// Lines that have ended.
pub enum Whole<'b> {
    /// Where they arrived.
    Here(&'b [u8]),
    /// Together with what came before.
    Joined(Vec<u8>),
}

impl Whole<'_> {
    /// Their bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Whole::Here(bytes) => bytes,
            Whole::Joined(bytes) => bytes,
        }
    }
}

/// Messages of syslog over TCP, as RFC 6587 has them: each behind its length, or each with an end: a line feed, or the zero
/// that some libraries write, whose messages may hold line feeds.
pub struct Frames {
    rest: Vec<u8>,
    longest: usize,
    /// What messages end with, once that is known.
    end: Option<u8>,
}

impl Frames {
    /// Nothing has come.
    pub fn new(longest: usize) -> Self {
        Self { rest: Vec::new(), longest, end: None }
    }

    /// Takes bytes and hands on the messages that are whole. After an error it is not known where the next begins.
    pub fn take(&mut self, bytes: &[u8], mut hand: impl FnMut(&[u8])) -> Result<(), String> {
        self.rest.extend_from_slice(bytes);
        let mut at = 0;
        while let Some((message, after)) = next(&self.rest[at..], self.longest, &mut self.end)? {
            hand(&self.rest[at..][message]);
            at += after;
        }
        self.rest.drain(..at);
        Ok(())
    }

    /// The connection is over: a message without an end has it now.
    pub fn end(self, mut hand: impl FnMut(&[u8])) {
        // One behind its length that is not whole is none.
        if self.rest.first().is_some_and(|first| !first.is_ascii_digit()) {
            hand(&self.rest);
        }
    }
}

/// Where the next message stands, and where what follows it begins.
fn next(
    bytes: &[u8],
    longest: usize,
    end: &mut Option<u8>,
) -> Result<Option<(std::ops::Range<usize>, usize)>, String> {
    let Some(first) = bytes.first() else { return Ok(None) };
    if !first.is_ascii_digit() {
        if end.is_none() {
            // A zero stands in no text: if there is one, it is what ends them.
            *end = [0, b'\n'].into_iter().find(|end| memchr(*end, bytes).is_some());
        }
        return match end.and_then(|end| memchr(end, bytes)) {
            Some(end) if end <= longest => Ok(Some((0..end, end + 1))),
            None if bytes.len() <= longest => Ok(None),
            _ => Err(format!("a message is longer than {longest} bytes, the most that is accepted")),
        };
    }
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let length = std::str::from_utf8(&bytes[..digits]).ok().and_then(|digits| digits.parse::<usize>().ok());
    match (length, bytes.get(digits)) {
        (Some(length), _) if length > longest => {
            Err(format!("a message has {length} bytes, at most {longest} are accepted"))
        }
        (Some(length), Some(b' ')) => {
            let end = digits + 1 + length;
            Ok((end <= bytes.len()).then_some((digits + 1..end, end)))
        }
        (Some(_), None) => Ok(None),
        _ => Err("found digits without a blank behind them, expected the length of a message".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_however_they_come() {
        let text = b"one\ntwo\n\nthree and more\nrest";
        for size in 1..text.len() {
            let held = AtomicUsize::new(0);
            let mut open = OpenLine::new(&held, 100, 1);
            let mut whole = Vec::new();
            for piece in text.chunks(size) {
                assert_eq!(open.take(piece, |lines| whole.extend_from_slice(lines.bytes())), None);
            }
            assert_eq!(whole, b"one\ntwo\n\nthree and more\n", "{size}");
            assert_eq!(open.release(), b"rest");
            drop(open);
            assert_eq!(held.load(Ordering::Relaxed), 0);
        }
    }

    #[test]
    fn an_endless_line_is_left_out_alone() {
        let held = AtomicUsize::new(0);
        let mut open = OpenLine::new(&held, 10, 1);
        let mut whole = Vec::new();
        let mut take = |bytes: &[u8]| open.take(bytes, |lines| whole.extend_from_slice(lines.bytes()));
        assert_eq!(take(b"good\n01234567"), None);
        assert!(take(b"89012").is_some_and(|why| why.contains("longer than 10 bytes")));
        assert_eq!(take(b"345"), None);
        assert_eq!(take(b"end\nnext\n"), None);
        assert_eq!(whole, b"good\nnext\n");
    }

    fn framed(bytes: &[u8], size: usize) -> Vec<String> {
        let mut frames = Frames::new(20);
        let mut all = Vec::new();
        for piece in bytes.chunks(size) {
            frames.take(piece, |message| all.push(String::from_utf8_lossy(message).into_owned())).unwrap();
        }
        frames.end(|message| all.push(String::from_utf8_lossy(message).into_owned()));
        all
    }

    #[test]
    fn messages_are_framed_both_ways() {
        let bytes = b"<13>a\n5 <14>b7 <15>\nc!<16>d\n<17>e";
        let expected = ["<13>a", "<14>b", "<15>\nc!", "<16>d", "<17>e"];
        for size in 1..=bytes.len() {
            assert_eq!(framed(bytes, size), expected, "{size}");
        }
        assert_eq!(
            framed(b"<13>a\nb\0<14>c\0", 8),
            ["<13>a\nb", "<14>c"],
            "a zero ends them, if there is one"
        );
        for bad in [&b"12345 x"[..], b"12x", b"<13>012345678901234567890", b"99999999999999999999999 "] {
            assert!(Frames::new(20).take(bad, |_| {}).is_err(), "{bad:?}");
        }
    }
}

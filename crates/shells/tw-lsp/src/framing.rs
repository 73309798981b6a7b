//! Messages as the protocol frames them: `Content-Length: N`, an empty line, N bytes of JSON.

use serde_json::Value;
use std::io::{self, BufRead, Read, Write};

/// The longest message accepted.
const LONGEST: usize = 64 << 20;
/// The longest line of a header.
const LONGEST_LINE: u64 = 4096;

/// What came in.
#[derive(Debug)]
pub enum Incoming {
    /// A message.
    Message(Value),
    /// Something that is none, and why.
    Broken(String),
}

/// The next message; `None` at the end of the input.
pub fn read(input: &mut impl BufRead) -> io::Result<Option<Incoming>> {
    let mut length: Option<usize> = None;
    let mut started = false;
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        if text.is_empty() {
            // Blank lines between messages are passed over.
            match (length, started) {
                (Some(length), _) => return body(input, length).map(Some),
                (None, false) => continue,
                (None, true) => return Ok(Some(Incoming::Broken("the header has no Content-Length".into()))),
            }
        }
        started = true;
        if let Some((name, value)) = text.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        }
    }
}

fn body(input: &mut impl BufRead, length: usize) -> io::Result<Incoming> {
    if length > LONGEST {
        // Passed over, so that the next message is found.
        io::copy(&mut input.take(length as u64), &mut io::sink())?;
        return Ok(Incoming::Broken(format!("a message of {length} bytes; at most {LONGEST} are accepted")));
    }
    let mut bytes = Vec::new();
    let read = input.take(length as u64).read_to_end(&mut bytes)?;
    if read < length {
        return Ok(Incoming::Broken(format!("the input ended after {read} of {length} bytes")));
    }
    Ok(match serde_json::from_slice(&bytes) {
        Ok(message) => Incoming::Message(message),
        Err(error) => Incoming::Broken(format!("not JSON: {error}")),
    })
}

/// Writes one message.
pub fn write(output: &mut impl Write, message: &Value) -> io::Result<()> {
    let text = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut bytes: &[u8]) -> Vec<String> {
        let mut out = Vec::new();
        while let Some(incoming) = read(&mut bytes).expect("bytes in memory") {
            out.push(match incoming {
                Incoming::Message(message) => message.to_string(),
                Incoming::Broken(why) => format!("broken: {why}"),
            });
        }
        out
    }

    #[test]
    fn messages_are_found_again_behind_broken_ones() {
        let text = b"Content-Length: 2\r\n\r\n{}\r\ncontent-length: 1\nX: y\n\n7Content-Length: 3\r\n\r\n{x}Foo: 1\r\n\r\nContent-Length: 4\r\n\r\nnull";
        let found = all(text);
        assert_eq!(found[0], "{}");
        assert_eq!(found[1], "7");
        assert!(found[2].starts_with("broken: not JSON"), "{}", found[2]);
        assert_eq!(found[3], "broken: the header has no Content-Length");
        assert_eq!(found[4], "null");
        assert_eq!(found.len(), 5);
        assert_eq!(all(b"Content-Length: 10\r\n\r\n{}"), ["broken: the input ended after 2 of 10 bytes"]);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let message = serde_json::json!({"text": "ä\n"});
        let mut bytes = Vec::new();
        write(&mut bytes, &message).expect("memory");
        assert_eq!(all(&bytes), [message.to_string()]);
    }
}

//! A Redis stream, by the Redis protocol.
//!
//! An entry has a number that grows (`1699000000000-0`); the number of the last one that is in our log is the mark, and `XREAD` gives
//! what follows it. There is no group of consumers, nothing to acknowledge and nothing that Redis has to remember of us.

use super::wire::{LOOK, Wire};
use super::{BATCH, Batch, Client, SourceConfig};

/// Entries asked for at once, at most.
const MOST: usize = 2000;
/// Longest line of the protocol.
const LINE: usize = 64 << 10;
/// Bytes of one value.
const LARGEST: usize = 64 << 20;
/// The field of an entry that has the event, if nothing else is said.
const FIELD: &str = "data";

/// Reads a stream.
pub struct Reader {
    config: SourceConfig,
    wire: Option<Wire>,
    last: String,
    /// How many entries are asked for: as many as fit into a batch.
    count: usize,
}

/// A value of the protocol.
#[derive(Debug, PartialEq, Eq)]
enum Reply {
    Nothing,
    Text(Vec<u8>),
    Number(i64),
    List(Vec<Reply>),
}

impl Reply {
    fn text(&self) -> Option<&[u8]> {
        match self {
            Reply::Text(text) => Some(text),
            _ => None,
        }
    }

    fn list(self) -> Vec<Reply> {
        match self {
            Reply::List(list) => list,
            _ => Vec::new(),
        }
    }
}

/// Whether an entry comes after another.
fn later(one: &str, other: &str) -> bool {
    let parts = |id: &str| {
        let (time, number) = id.split_once('-')?;
        Some((time.parse::<u64>().ok()?, number.parse::<u64>().ok()?))
    };
    parts(one) > parts(other)
}

impl Reader {
    pub(super) fn new(config: &SourceConfig) -> Self {
        Self { config: config.clone(), wire: None, last: String::new(), count: 100 }
    }

    fn ask(&mut self, command: &[&str]) -> Result<Reply, String> {
        let Some(wire) = &mut self.wire else { return Ok(Reply::Nothing) };
        let mut text = format!("*{}\r\n", command.len());
        command.iter().for_each(|part| text += &format!("${}\r\n{part}\r\n", part.len()));
        wire.send(text.as_bytes())?;
        read(wire, 0)
    }
}

/// Reads a value.
fn read(wire: &mut Wire, depth: u32) -> Result<Reply, String> {
    let line =
        String::from_utf8(wire.line(LINE)?).map_err(|_| "found bytes that are no text, expected Redis")?;
    let wrong =
        || format!("found `{}`, expected an answer of Redis", line.chars().take(40).collect::<String>());
    let rest = line.get(1..).ok_or_else(wrong)?;
    let number = || rest.parse::<i64>().map_err(|_| wrong());
    match line.as_bytes()[0] {
        b'+' => Ok(Reply::Text(rest.into())),
        b'-' => Err(format!("Redis says {rest}")),
        b':' => number().map(Reply::Number),
        b'$' => match usize::try_from(number()?) {
            Err(_) => Ok(Reply::Nothing),
            Ok(length) if length > LARGEST => {
                wire.skip(length as u64 + 2)?;
                Ok(Reply::Nothing)
            }
            Ok(length) => {
                let mut bytes = wire.bytes(length + 2)?;
                bytes.truncate(length);
                Ok(Reply::Text(bytes))
            }
        },
        b'*' => match usize::try_from(number()?) {
            Err(_) => Ok(Reply::Nothing),
            Ok(_) if depth > 8 => Err(wrong()),
            Ok(length) => {
                (0..length).map(|_| read(wire, depth + 1)).collect::<Result<_, _>>().map(Reply::List)
            }
        },
        _ => Err(wrong()),
    }
}

impl Client for Reader {
    fn connect(&mut self, after: Option<&str>, told: &dyn Fn(String)) -> Result<(), String> {
        let address = self.config.address.clone();
        self.wire = Some(Wire::connect(&address.host)?);
        match (&address.user, &address.password) {
            (Some(user), Some(password)) => self.ask(&["AUTH", user, password])?,
            (None, Some(password)) => self.ask(&["AUTH", password])?,
            _ => Reply::Nothing,
        };
        if !address.path.is_empty() {
            self.ask(&["SELECT", &address.path])?;
        }
        self.last = after.unwrap_or("0-0").to_string();
        // A key that is not there yet will be; a server before 7.0 does not say what was deleted.
        if let (Some(after), Ok(info)) = (after, self.ask(&["XINFO", "STREAM", &self.config.from.clone()])) {
            let info = info.list();
            let deleted = info.windows(2).find(|pair| pair[0].text() == Some(b"max-deleted-entry-id"));
            let deleted = deleted.and_then(|pair| pair[1].text()).map(String::from_utf8_lossy);
            if let Some(deleted) = deleted.filter(|deleted| later(deleted, after)) {
                told(format!(
                    "{}: entries up to {deleted} were deleted before they were read",
                    self.config.from
                ));
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Result<Batch, String> {
        let (key, last, count) = (self.config.from.clone(), self.last.clone(), self.count.to_string());
        let block = LOOK.as_millis().to_string();
        let answer = self.ask(&["XREAD", "COUNT", &count, "BLOCK", &block, "STREAMS", &key, &last])?;
        let mut batch = Batch::default();
        let field = self.config.setting("field").unwrap_or(FIELD);
        let wrong = || "found an entry that is none".to_string();
        // The streams, of each its name and entries, of each its number and fields.
        let stream = answer.list().into_iter().next().map_or(Vec::new(), Reply::list);
        for entry in stream.into_iter().nth(1).map_or(Vec::new(), Reply::list) {
            let [Reply::Text(id), fields] = <[Reply; 2]>::try_from(entry.list()).map_err(|_| wrong())? else {
                return Err(wrong());
            };
            self.last = String::from_utf8(id).map_err(|_| wrong())?;
            let fields = fields.list();
            let found = fields.chunks_exact(2).find(|pair| pair[0].text() == Some(field.as_bytes()));
            match found.and_then(|pair| pair[1].text()) {
                Some(event) => batch.add(event),
                None => batch.leave_out(format!("entry {} has no field `{field}`", self.last)),
            }
        }
        // Large entries come a few at a time.
        self.count = match batch.lines.len() > BATCH {
            true => (self.count / 2).max(1),
            false => (self.count * 2).min(MOST),
        };
        batch.position = (batch.messages > 0).then(|| self.last.clone());
        Ok(batch)
    }

    fn kept(&mut self) -> Result<(), String> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::later;

    #[test]
    fn entries_are_compared_as_numbers() {
        assert!(later("10-0", "9-9") && later("9-10", "9-9"));
        assert!(!later("9-9", "9-9") && !later("x", "9-9"));
    }
}

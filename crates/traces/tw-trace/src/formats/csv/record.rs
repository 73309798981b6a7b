//! From bytes to cells: RFC 4180, said once. Everything else about CSV that looks at quotes or line ends is a faster
//! way to the same result.

use memchr::memchr;

/// Where a cell's text is; for a quoted cell, between the quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub start: usize,
    pub end: usize,
    /// Whether it holds doubled quotes, each of which means one.
    pub doubled: bool,
}

/// What stands at some place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A record; the next one starts at this byte.
    Record(usize),
    /// A line without anything; the next one starts at this byte.
    Blank(usize),
    /// A record whose last cell is still inside its quotes where the bytes end.
    Open,
    /// No more bytes.
    End,
}

/// What is wrong at a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A quote in a cell that does not start with one.
    StrayQuote(usize),
    /// Something other than a delimiter or a line end after the closing quote.
    AfterQuote(usize),
    /// The quote opened here is never closed.
    Unclosed(usize),
    /// A carriage return that is not followed by a line feed.
    BareReturn(usize),
    /// More cells than are accepted.
    TooMany(usize),
}

/// Splits records into cells, reusing its memory.
#[derive(Debug)]
pub(super) struct Splitter {
    /// What stands between cells.
    pub delimiter: u8,
    /// Cells of the record split last.
    pub cells: Vec<Cell>,
    /// Inside quotes when the bytes ended: opening quote, where to look on, doubled quotes seen.
    open: Option<(usize, usize, bool)>,
}

impl Splitter {
    /// Nothing was split yet.
    pub fn new(delimiter: u8) -> Self {
        Self { delimiter, cells: Vec::new(), open: None }
    }

    /// Forgets a record that was open.
    pub fn restart(&mut self) {
        self.open = None;
    }

    /// Splits the record that starts at `start`. Unless `complete`, more bytes may follow, and `bytes` ends with a line
    /// feed. After [`Step::Open`], call again with the same bytes and more.
    pub fn split(&mut self, bytes: &[u8], start: usize, complete: bool, limit: usize) -> Result<Step, Fault> {
        let delimiter = self.delimiter;
        let mut at = start;
        if self.open.is_none() {
            self.cells.clear();
            match bytes.get(start) {
                None => return Ok(Step::End),
                Some(b'\n') => return Ok(Step::Blank(start + 1)),
                Some(b'\r') if bytes.get(start + 1) == Some(&b'\n') => return Ok(Step::Blank(start + 2)),
                Some(b'\r') if start + 1 == bytes.len() => return Ok(Step::Blank(start + 1)),
                Some(_) => {}
            }
        }
        loop {
            let (cell, after) = if self.open.is_some() || bytes.get(at) == Some(&b'"') {
                let (opening, mut look, mut doubled) = self.open.take().unwrap_or((at, at + 1, false));
                let closing = loop {
                    let Some(found) = memchr(b'"', &bytes[look..]) else {
                        if complete {
                            return Err(Fault::Unclosed(opening));
                        }
                        self.open = Some((opening, bytes.len(), doubled));
                        return Ok(Step::Open);
                    };
                    if bytes.get(look + found + 1) != Some(&b'"') {
                        break look + found;
                    }
                    doubled = true;
                    look += found + 2;
                };
                if !bytes
                    .get(closing + 1)
                    .is_none_or(|&byte| byte == delimiter || matches!(byte, b'\n' | b'\r'))
                {
                    return Err(Fault::AfterQuote(closing + 1));
                }
                (Cell { start: opening + 1, end: closing, doubled }, closing + 1)
            } else {
                let special = |&byte: &u8| byte == delimiter || matches!(byte, b'\n' | b'\r' | b'"');
                let end = bytes[at..].iter().position(special).map_or(bytes.len(), |found| at + found);
                if bytes.get(end) == Some(&b'"') {
                    return Err(Fault::StrayQuote(end));
                }
                (Cell { start: at, end, doubled: false }, end)
            };
            if self.cells.len() == limit {
                return Err(Fault::TooMany(cell.start));
            }
            self.cells.push(cell);
            match bytes.get(after) {
                None => return Ok(Step::Record(after)),
                Some(b'\n') => return Ok(Step::Record(after + 1)),
                Some(b'\r') if bytes.get(after + 1) == Some(&b'\n') => return Ok(Step::Record(after + 2)),
                Some(b'\r') if after + 1 == bytes.len() => return Ok(Step::Record(after + 1)),
                Some(b'\r') => return Err(Fault::BareReturn(after)),
                _ => at = after + 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(text: &str) -> Result<Vec<Vec<String>>, Fault> {
        let (mut splitter, mut at, mut records) = (Splitter::new(b','), 0, Vec::new());
        loop {
            match splitter.split(text.as_bytes(), at, true, 100)? {
                Step::Record(next) => {
                    let read = |cell: &Cell| {
                        text[cell.start..cell.end].replace(if cell.doubled { "\"\"" } else { "\0" }, "\"")
                    };
                    records.push(splitter.cells.iter().map(read).collect());
                    at = next;
                }
                Step::Blank(next) => {
                    records.push(Vec::new());
                    at = next;
                }
                Step::Open => unreachable!("the text is complete"),
                Step::End => return Ok(records),
            }
        }
    }

    #[test]
    fn records_of_a_text() {
        let cases: &[(&str, &[&[&str]])] = &[
            ("", &[]),
            ("\n\r\n", &[&[], &[]]),
            ("a,b\n1,2", &[&["a", "b"], &["1", "2"]]),
            ("a\r\n,\r\n", &[&["a"], &["", ""]]),
            ("a\r", &[&["a"]]),
            ("\"a,\"\"b\"\"\n\",\"\"\n", &[&["a,\"b\"\n", ""]]),
            ("\"\"\"\"", &[&["\""]]),
            ("\"x\"\r\n\"y\"\r", &[&["x"], &["y"]]),
        ];
        for (text, expected) in cases {
            assert_eq!(cells(text).unwrap(), *expected, "{text:?}");
        }
    }

    #[test]
    fn faults_of_a_text() {
        let cases = [
            ("a,b\"c", Fault::StrayQuote(3)),
            ("\"a\"b", Fault::AfterQuote(3)),
            ("x,\"a\n\n", Fault::Unclosed(2)),
            ("\"a\"\"", Fault::Unclosed(0)),
            ("a\rb", Fault::BareReturn(1)),
            ("\"a\"\rb", Fault::BareReturn(3)),
        ];
        for (text, expected) in cases {
            assert_eq!(cells(text), Err(expected), "{text:?}");
        }
        assert_eq!(Splitter::new(b',').split(b"a,b,c", 0, true, 2), Err(Fault::TooMany(4)));
    }

    #[test]
    fn an_open_record_goes_on() {
        let text = b"1,\"a\nb\"\"\nc\"\nrest";
        let mut splitter = Splitter::new(b',');
        assert_eq!(splitter.split(&text[..5], 0, false, 9), Ok(Step::Open));
        assert_eq!(splitter.split(&text[..9], 0, false, 9), Ok(Step::Open));
        assert_eq!(splitter.split(&text[..12], 0, false, 9), Ok(Step::Record(12)));
        assert_eq!(splitter.cells[1], Cell { start: 3, end: 10, doubled: true });
    }
}

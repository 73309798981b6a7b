//! An open document: its text, what is understood of it, and places in it as the client counts them.

use serde_json::{Value, json};
use std::cell::OnceCell;
use std::path::PathBuf;
use tracewise::diag::Span;
use tracewise::language::{Look, Word, look, words};

/// What a client counts as a character of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// Units of UTF-16, which every client knows.
    Utf16,
    /// Characters.
    Utf32,
}

impl Encoding {
    /// Its name in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "utf-8",
            Encoding::Utf16 => "utf-16",
            Encoding::Utf32 => "utf-32",
        }
    }

    fn width(self, c: char) -> usize {
        match self {
            Encoding::Utf8 => c.len_utf8(),
            Encoding::Utf16 => c.len_utf16(),
            Encoding::Utf32 => 1,
        }
    }
}

/// An open document.
pub struct Document {
    /// As the client names it.
    pub uri: String,
    /// The client's number of this state.
    pub version: Value,
    /// Its text.
    pub text: String,
    /// Where lines begin.
    lines: Vec<usize>,
    look: OnceCell<Look>,
    words: OnceCell<Vec<Word>>,
}

impl Document {
    pub fn new(uri: String, version: Value, text: String) -> Self {
        let mut document =
            Document { uri, version, text, lines: Vec::new(), look: OnceCell::new(), words: OnceCell::new() };
        document.changed();
        document
    }

    fn changed(&mut self) {
        // A line ends with `\n`, `\r\n` or `\r`, as the protocol has it.
        let bytes = self.text.as_bytes();
        let ends =
            |&at: &usize| bytes[at] == b'\n' || bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n');
        self.lines = std::iter::once(0).chain((0..bytes.len()).filter(ends).map(|at| at + 1)).collect();
        self.look = OnceCell::new();
        self.words = OnceCell::new();
    }

    /// Takes over a change: all of the text, or a stretch of it. One whose stretch is none is left out: what it is about is
    /// not known, and taking it for the whole text would lose that.
    pub fn change(&mut self, change: &Value, encoding: Encoding) {
        let Some(new) = change["text"].as_str() else { return };
        let range = &change["range"];
        match self.span(range, encoding) {
            Some((start, end)) => self.text.replace_range(start..end, new),
            None if range.is_null() => self.text = new.to_owned(),
            None => return,
        }
        self.changed();
    }

    /// The file's name, for what depends on it.
    pub fn name(&self) -> String {
        match self.path() {
            Some(path) => path.to_string_lossy().into_owned(),
            None => self.uri.clone(),
        }
    }

    /// The file, if the document is one.
    pub fn path(&self) -> Option<PathBuf> {
        let rest = self.uri.strip_prefix("file://")?;
        // `file://host/path` is not looked for.
        let encoded = rest.find('/').map(|at| &rest[at..]).unwrap_or(rest);
        let mut bytes = Vec::with_capacity(encoded.len());
        let raw = encoded.as_bytes();
        let mut at = 0;
        while at < raw.len() {
            let hex = raw.get(at + 1..at + 3).and_then(|two| std::str::from_utf8(two).ok());
            match hex.filter(|_| raw[at] == b'%').and_then(|two| u8::from_str_radix(two, 16).ok()) {
                Some(byte) => {
                    bytes.push(byte);
                    at += 3;
                }
                None => {
                    bytes.push(raw[at]);
                    at += 1;
                }
            }
        }
        let path = String::from_utf8(bytes).ok()?;
        // `/c:/folder` of Windows.
        let drive = path.as_bytes().get(2) == Some(&b':') && path.as_bytes()[1].is_ascii_alphabetic();
        Some(PathBuf::from(if drive { &path[1..] } else { &path }))
    }

    /// What is understood of it.
    pub fn look(&self) -> &Look {
        self.look.get_or_init(|| look(&self.name(), &self.text))
    }

    /// Its words and signs.
    pub fn words(&self) -> &[Word] {
        self.words.get_or_init(|| words(&self.text, self.name().ends_with(".elsc")))
    }

    /// The text of a span.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    fn line(&self, number: usize) -> &str {
        let Some(&start) = self.lines.get(number) else { return "" };
        let end = self.lines.get(number + 1).copied().unwrap_or(self.text.len());
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }

    /// The offset of a place; what is beyond the end of a line or of the text is its end.
    pub fn offset(&self, position: &Value, encoding: Encoding) -> Option<usize> {
        let line = position["line"].as_u64()? as usize;
        let character = position["character"].as_u64()? as usize;
        let Some(&start) = self.lines.get(line) else { return Some(self.text.len()) };
        let mut seen = 0;
        for (at, c) in self.line(line).char_indices() {
            if seen >= character {
                return Some(start + at);
            }
            seen += encoding.width(c);
        }
        Some(start + self.line(line).len())
    }

    /// The offsets of a range.
    pub fn span(&self, range: &Value, encoding: Encoding) -> Option<(usize, usize)> {
        let (start, end) = (self.offset(&range["start"], encoding)?, self.offset(&range["end"], encoding)?);
        Some((start.min(end), start.max(end)))
    }

    /// The place of an offset.
    pub fn position(&self, offset: usize, encoding: Encoding) -> Value {
        let offset = offset.min(self.text.len());
        let line = self.lines.partition_point(|&start| start <= offset).saturating_sub(1);
        let start = self.lines[line];
        let before = self.text.get(start..offset).unwrap_or("");
        let character: usize = before.chars().map(|c| encoding.width(c)).sum();
        json!({"line": line, "character": character})
    }

    /// The range of a span.
    pub fn range(&self, span: Span, encoding: Encoding) -> Value {
        self.between(span.start as usize, span.end as usize, encoding)
    }

    /// The range of two offsets.
    pub fn between(&self, start: usize, end: usize, encoding: Encoding) -> Value {
        json!({"start": self.position(start, encoding), "end": self.position(end, encoding)})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_the_same_there_and_back() {
        let text = "a ∧ 𝒳b\r\nzwei\n";
        let document = Document::new("file:///tmp/a%20b.tw".into(), Value::Null, text.into());
        assert_eq!(document.path(), Some(PathBuf::from("/tmp/a b.tw")));
        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
            for (offset, c) in text.char_indices().chain([(text.len(), ' ')]) {
                if c == '\n' && text[..offset].ends_with('\r') {
                    continue;
                }
                let place = document.position(offset, encoding);
                assert_eq!(document.offset(&place, encoding), Some(offset), "{offset} {encoding:?} {place}");
            }
        }
        assert_eq!(document.position(10, Encoding::Utf16)["character"], 6);
        assert_eq!(document.offset(&json!({"line": 0, "character": 99}), Encoding::Utf16), Some(11));
        assert_eq!(document.offset(&json!({"line": 99, "character": 0}), Encoding::Utf16), Some(text.len()));
        assert_eq!(document.offset(&json!({"line": -1, "character": 0}), Encoding::Utf16), None);
    }

    #[test]
    fn lines_end_in_three_ways() {
        let document = Document::new("untitled:1".into(), Value::Null, "a\r\nb\rc\n\rd".into());
        let starts: Vec<usize> = (0..5)
            .filter_map(|line| document.offset(&json!({"line": line, "character": 0}), Encoding::Utf16))
            .collect();
        assert_eq!(starts, [0, 3, 5, 7, 8]);
        assert_eq!(document.position(5, Encoding::Utf8), json!({"line": 2, "character": 0}));
    }

    #[test]
    fn changes_are_taken_over() {
        let mut document = Document::new("untitled:1".into(), Value::Null, "let ä = 1;\nG p\n".into());
        let range = json!({"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 5}});
        document.change(&json!({"range": range, "text": "ab"}), Encoding::Utf16);
        assert_eq!(document.text, "let ab = 1;\nG p\n");
        document.change(&json!({"text": "x"}), Encoding::Utf16);
        assert_eq!(document.text, "x");
        document.change(&json!({"range": range}), Encoding::Utf16);
        document.change(&json!(7), Encoding::Utf16);
        for place in [json!({}), json!({"line": -1, "character": 0}), json!({"line": 0.5, "character": 0})] {
            let broken = json!({"start": place, "end": {"line": 0, "character": 1}});
            document.change(&json!({"range": broken, "text": "all of it"}), Encoding::Utf16);
        }
        assert_eq!(document.text, "x");
    }
}

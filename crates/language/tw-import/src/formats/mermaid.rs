//! Sequence diagrams of Mermaid: `sequenceDiagram`, `A->>B: request`, `rect … Note over A: prechart … end`.
//!
//! Mermaid has no `group`: the blocks that become parts of charts are `opt`, `critical` or `rect` with a label, and `rect` with a
//! colour whose first note is the label. An arrow with a cross is a message that is sent and not received.

use super::diagram::{Arrow, Sketches, clock, found, only, place, refused, tidy};
use crate::cursor::refuse;
use crate::{Format, Reading};
use tw_diag::Diagnostic;
use tw_ir::chart::Direction;
use tw_spec::ast::Ident;

pub(crate) const FORMAT: Format = Format {
    name: "mermaid",
    title: "Mermaid",
    about: "sequence diagrams: `A->>B: request`, with `opt prechart … end`; they become charts",
    extensions: &["mmd", "mermaid"],
    clock,
    read,
};

/// The arrows, longer ones before their beginnings.
const ARROWS: &[&str] =
    &["<<-->>", "<<->>", "-->>", "->>", "-->", "->", concat!("--", "x"), "-x", "--)", "-)"];

const IGNORED: &[&str] = &[
    "participant",
    "actor",
    "create",
    "destroy",
    "activate",
    "deactivate",
    "autonumber",
    "acctitle",
    "accdescr",
    "link",
    "links",
    "properties",
    "details",
];

const REFUSED: &[&str] = &["alt", "else", "loop", "par", "par_over", "and", "break", "option"];

fn read(reading: &mut Reading<'_>) {
    let mut reader = Reader { text: reading.text, sketches: Sketches::default(), boxes: Vec::new() };
    match reader.lines() {
        Ok(()) => reader.sketches.finish(reading),
        Err(found) => {
            reading.report(found);
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    sketches: Sketches,
    /// Of each open block whether it is one around participants.
    boxes: Vec<bool>,
}

impl<'a> Reader<'a> {
    fn lines(&mut self) -> Result<(), Diagnostic> {
        let whole = self.text;
        let (mut begun, mut front, mut block) = (false, None, None);
        for (number, line) in whole.lines().enumerate() {
            let line = line.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            if front.is_some() {
                if line == "---" {
                    front = None;
                } else if let Some(title) = line.strip_prefix("title:") {
                    self.sketches.title(title.trim().trim_matches('"'));
                }
                continue;
            }
            if block.is_some() {
                block = block.filter(|_| !line.ends_with('}'));
                continue;
            }
            if line.is_empty() || line.starts_with("%%") {
                continue;
            }
            if number == 0 && line == "---" {
                front = Some(line);
                continue;
            }
            if !begun {
                if line.trim_end_matches(';') != "sequenceDiagram" {
                    return Err(found(whole, line, "`sequenceDiagram`"));
                }
                begun = true;
                continue;
            }
            if line.to_ascii_lowercase().starts_with("accdescr") && line.ends_with('{') {
                block = Some(line);
                continue;
            }
            for statement in statements(line) {
                self.statement(statement)?;
            }
        }
        if let Some(begin) = front.or(block) {
            let message = "found the end of the file, expected what closes this";
            return Err(Diagnostic::error("import-syntax", message).at(place(whole, begin), "begins here"));
        }
        if !begun {
            let end = &whole[whole.len()..];
            return Err(Diagnostic::error(
                "import-syntax",
                "found the end of the file, expected `sequenceDiagram`",
            )
            .at(place(whole, end), "expected `sequenceDiagram`"));
        }
        self.sketches.closed()
    }

    fn statement(&mut self, line: &'a str) -> Result<(), Diagnostic> {
        let whole = self.text;
        let first = line.split([' ', '\t', ':']).next().unwrap_or("");
        let rest = line[first.len()..].trim();
        let span = place(whole, first);
        let low = first.to_ascii_lowercase();
        // A participant may be called like a word of the language.
        let head = line.split(':').next().unwrap_or(line);
        let known = IGNORED.contains(&low.as_str())
            || matches!(low.as_str(), "note" | "title" | "box" | "rect" | "end");
        let messages = ARROWS.iter().any(|arrow| head.contains(arrow));
        if messages && (!known || ARROWS.iter().any(|arrow| rest.starts_with(arrow))) {
            return self.message(line);
        }
        match low.as_str() {
            "title" => {
                self.sketches.title(rest.trim_start_matches(':'));
                Ok(())
            }
            "note" => match rest.split_once(':') {
                Some((_, text)) => self.sketches.note(text),
                None => Err(found(whole, rest, "`:` and the text of the note")),
            },
            "rect" | "box" => {
                self.boxes.push(low == "box");
                if low == "rect" { self.sketches.open(span, rest, true).map(|_| ()) } else { Ok(()) }
            }
            "opt" | "critical" => {
                self.boxes.push(false);
                match self.sketches.open(span, rest, false)? {
                    true => Ok(()),
                    false => Err(refused(whole, first)),
                }
            }
            "end" if self.boxes.pop() == Some(true) => Ok(()),
            "end" => self.sketches.close(span),
            word if IGNORED.contains(&word) => Ok(()),
            word if REFUSED.contains(&word) => Err(refused(whole, first)),
            _ => Err(found(whole, line, "a message such as `A->>B: request`")),
        }
    }

    fn message(&mut self, line: &'a str) -> Result<(), Diagnostic> {
        let whole = self.text;
        let at = (0..line.len())
            .filter(|at| line.is_char_boundary(*at))
            .find_map(|at| Some((at, *ARROWS.iter().find(|arrow| line[at..].starts_with(**arrow))?)));
        let Some((at, arrow)) = at else { return Err(found(whole, line, "an arrow such as `->>`")) };
        let (from, rest) = (line[..at].trim(), &line[at + arrow.len()..]);
        if arrow.starts_with("<<") {
            let why = "draw a message for each direction";
            return Err(refuse(place(whole, &line[at..at + arrow.len()]), "this arrow goes both ways", why));
        }
        let Some((to, label)) = rest.split_once(':') else {
            return Err(found(whole, rest.trim(), "a participant, `:` and what is sent"));
        };
        let to = to.trim().trim_start_matches(['+', '-', '(', ')']).trim();
        for (name, what) in [(from, "the participant that sends"), (to, "the participant that receives")] {
            if name.is_empty() {
                return Err(found(whole, &line[at..], what));
            }
        }
        let (name, said) = only(label.trim());
        let crossed = arrow.ends_with('x').then_some(Direction::Send);
        let ident = |text: &'a str| Ident { name: plain(text), span: place(whole, text) };
        let label = ident(name);
        if label.name.is_empty() {
            let why = "write what is sent, as the log calls it: `A->>B: request`";
            return Err(refuse(place(whole, line), "this message has no name", why));
        }
        self.sketches.message(Arrow { from: ident(from), to: ident(to), label, only: said.or(crossed) });
        Ok(())
    }
}

/// The statements of a line: `;` ends one, unless it ends a character by its number.
fn statements(line: &str) -> Vec<&str> {
    let (mut found, mut begin) = (Vec::new(), 0);
    for (at, _) in line.match_indices(';') {
        if entity(&line[begin..at]).is_none() {
            found.push(line[begin..at].trim());
            begin = at + 1;
        }
    }
    found.push(line[begin..].trim());
    found.retain(|statement| !statement.is_empty() && !statement.starts_with("%%"));
    found
}

/// The name or number behind a last `#`.
fn entity(text: &str) -> Option<&str> {
    let name = &text[text.rfind('#')? + 1..];
    (!name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric())).then_some(name)
}

/// A label without line breaks, with its characters that were written by number.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(end) = rest.find(';') {
        match entity(&rest[..end]) {
            Some(name) => {
                out.push_str(&rest[..end - name.len() - 1]);
                let number = name.parse().ok().and_then(char::from_u32);
                let known =
                    [("quot", '"'), ("amp", '&'), ("lt", '<'), ("gt", '>'), ("semi", ';'), ("colon", ':')];
                match number.or_else(|| known.iter().find(|(own, _)| *own == name).map(|(_, c)| *c)) {
                    Some(c) => out.push(c),
                    None => out.push_str(&rest[end - name.len() - 1..=end]),
                }
            }
            None => out.push_str(&rest[..=end]),
        }
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    for line_break in ["<br/>", "<br />", "<br>"] {
        out = out.replace(line_break, " ");
    }
    tidy(&out)
}

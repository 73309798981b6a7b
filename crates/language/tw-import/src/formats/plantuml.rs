//! Sequence diagrams of PlantUML: `@startuml`, `A -> B : request`, `group prechart … end`, `@enduml`.
//!
//! How a line looks (colours, dots, dashes, open and filled heads) says nothing about what happens, and neither do notes, dividers,
//! activations and titles. Arrows from and to the border, and those with a cross, have one event.

use super::diagram::{Arrow, OUTSIDE, Sketches, clock, found, only, place, refused, tidy};
use crate::cursor::refuse;
use crate::{Format, Reading};
use tw_diag::{Diagnostic, Span};
use tw_ir::chart::Direction;
use tw_spec::ast::Ident;

mod arrow;

pub(crate) const FORMAT: Format = Format {
    name: "plantuml",
    title: "PlantUML",
    about: "sequence diagrams: `A -> B : request`, with `group prechart … end`; they become charts",
    extensions: &["puml", "plantuml", "pu", "iuml", "wsd"],
    clock,
    read,
};

/// Lines that begin with one of these say nothing about messages.
const IGNORED: &[&str] = &[
    "autonumber",
    "autoactivate",
    "activate",
    "deactivate",
    "destroy",
    "create",
    "participant",
    "actor",
    "boundary",
    "control",
    "entity",
    "database",
    "collections",
    "queue",
    "hide",
    "show",
    "header",
    "footer",
    "caption",
    "scale",
    "skinparam",
    "mainframe",
    "left",
    "ignore",
    "!theme",
    "!pragma",
    "box",
];

/// Texts over several lines, and what ends them.
const LONG: &[(&str, &str)] = &[
    ("note", "end note"),
    ("hnote", "endhnote"),
    ("rnote", "endrnote"),
    ("legend", "end legend"),
    ("title", "end title"),
    ("header", "end header"),
    ("footer", "end footer"),
    ("<style>", "</style>"),
];

/// Blocks that have no equal.
const REFUSED: &[&str] = &["alt", "else", "loop", "par", "break", "critical", "ref", "also"];

fn read(reading: &mut Reading<'_>) {
    let text = reading.text;
    let mut reader = Reader { text, sketches: Sketches::default(), calls: Vec::new(), last: None };
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
    /// Who was activated, and who had called.
    calls: Vec<(String, Option<String>)>,
    /// The last message: who sent it, and to whom.
    last: Option<(String, String)>,
}

impl<'a> Reader<'a> {
    fn lines(&mut self) -> Result<(), Diagnostic> {
        let whole = self.text;
        let begins = whole.lines().any(|line| line.trim_start().starts_with("@startuml"));
        let mut open: Option<&str> = None;
        let mut until: Option<(&str, &str)> = None;
        let mut braces: Option<&str> = None;
        for line in whole.lines() {
            let line = line.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            if let Some((_, end)) = until {
                let low = line.to_ascii_lowercase();
                // `endnote` is written, too.
                if low == end
                    || low.replace(' ', "") == end.replace(' ', "")
                    || end == "'/" && low.ends_with(end)
                {
                    until = None;
                }
                continue;
            }
            if braces.is_some() {
                braces = braces.filter(|_| line != "}");
                continue;
            }
            if line.is_empty() || line.starts_with('\'') {
                continue;
            }
            if line.starts_with("/'") {
                until = (!line.ends_with("'/") || line.len() < 4).then_some((line, "'/"));
                continue;
            }
            if let Some(name) = line.strip_prefix("@startuml") {
                if let Some(before) = open {
                    return Err(self.unclosed(before, "`@enduml`"));
                }
                open = Some(line);
                self.sketches.begin(name, place(whole, line));
                continue;
            }
            if line.starts_with("@enduml") {
                self.sketches.closed()?;
                if open.take().is_none() {
                    return Err(found(whole, line, "`@startuml` before it"));
                }
                (self.calls, self.last) = (Vec::new(), None);
                continue;
            }
            if line.starts_with("@start") {
                let why = "sequence diagrams stand between `@startuml` and `@enduml`";
                return Err(refuse(place(whole, line), "this is no sequence diagram", why));
            }
            // What stands outside is not drawn.
            if begins && open.is_none() {
                continue;
            }
            if line.ends_with('{') && (line.starts_with("skinparam") || line.starts_with('!')) {
                braces = Some(line);
                continue;
            }
            if let Some(end) = self.long(line)? {
                until = Some((line, end));
                continue;
            }
            self.line(line)?;
        }
        if let Some((begin, end)) = until {
            return Err(self.unclosed(begin, &format!("`{end}`")));
        }
        if let Some(begin) = braces {
            return Err(self.unclosed(begin, "`}`"));
        }
        self.sketches.closed()?;
        match open {
            Some(begin) => Err(self.unclosed(begin, "`@enduml`")),
            None => Ok(()),
        }
    }

    fn unclosed(&self, begin: &str, expected: &str) -> Diagnostic {
        let message = format!("found the end of the file, expected {expected}");
        Diagnostic::error("import-syntax", message)
            .at(place(self.text, begin), "begins here, is never closed")
    }

    /// What ends the text that begins here; a text of one line ends at once.
    fn long(&mut self, line: &'a str) -> Result<Option<&'static str>, Diagnostic> {
        let first = line.split([' ', '\t']).next().unwrap_or("").to_ascii_lowercase();
        let Some((word, end)) = LONG.iter().find(|(word, _)| *word == first) else { return Ok(None) };
        let rest = line[first.len()..].trim();
        let text = match *word {
            "title" | "header" | "footer" | "legend" => (!rest.is_empty()).then_some(rest),
            "<style>" => None,
            _ => rest
                .split_once(':')
                .map(|(_, text)| text.trim())
                .or_else(|| rest.starts_with('"').then_some("")),
        };
        if *word == "title" {
            self.sketches.title(rest);
        }
        Ok(text.is_none().then_some(*end))
    }

    fn line(&mut self, line: &'a str) -> Result<(), Diagnostic> {
        let whole = self.text;
        if line.starts_with('&') {
            return Err(refused(whole, &line[..1]));
        }
        if let Some(drawn) = arrow::read(whole, line)? {
            return self.arrow(line, drawn);
        }
        let first = line.split([' ', '\t']).next().unwrap_or("");
        let rest = line[first.len()..].trim();
        let span = place(whole, first);
        let low = first.to_ascii_lowercase();
        match low.as_str() {
            // A line that says that something lies between, or how wide it is.
            _ if line.starts_with("==") || line.starts_with("...") || line.starts_with("||") => Ok(()),
            "note" | "hnote" | "rnote" | "title" | "legend" | "<style>" => Ok(()),
            "activate" | "create" | "deactivate" | "destroy" => {
                self.active(&low, rest);
                Ok(())
            }
            "return" => self.returned(line, rest),
            "newpage" => {
                self.sketches.closed()?;
                self.sketches.begin("", span);
                self.sketches.title(rest);
                Ok(())
            }
            "group" => self.sketches.open(span, rest, true).map(|_| ()),
            "opt" => match self.sketches.open(span, rest, false)? {
                true => Ok(()),
                false => Err(refused(whole, first)),
            },
            // A box around participants holds no messages.
            "end" if rest.eq_ignore_ascii_case("box") => Ok(()),
            "endbox" => Ok(()),
            "end" => self.sketches.close(span),
            word if IGNORED.contains(&word) => Ok(()),
            word if REFUSED.contains(&word) => Err(refused(whole, first)),
            word if word.starts_with('!') => {
                Err(refuse(span, format!("`{first}` is for the preprocessor"), "write what it stands for"))
            }
            _ => Err(found(whole, line, "a message such as `A -> B : request`")),
        }
    }

    fn arrow(&mut self, line: &'a str, drawn: arrow::Drawn<'a>) -> Result<(), Diagnostic> {
        let whole = self.text;
        let label = match drawn.label {
            Some(label) if !label.trim().is_empty() => label.trim(),
            _ => {
                let why = "write what is sent, as the log calls it: `A -> B : request`";
                return Err(refuse(place(whole, line), "this message has no name", why));
            }
        };
        let (name, said) = only(label);
        let end = |end: Option<&'a str>| match end {
            Some(name) => Ident { name: tidy(name.trim_matches('"')), span: place(whole, name) },
            None => Ident { name: OUTSIDE.to_owned(), span: place(whole, line) },
        };
        let ident = Ident { name: plain(name), span: place(whole, name) };
        if ident.name.is_empty() {
            return Err(found(whole, label, "the name of a message"));
        }
        let (from, to) = (end(drawn.from), end(drawn.to));
        self.last = Some((from.name.clone(), to.name.clone()));
        for sign in drawn.suffix {
            match sign {
                arrow::Sign::Activate => self.calls.push((to.name.clone(), Some(from.name.clone()))),
                arrow::Sign::Deactivate => {
                    self.calls.pop();
                }
            }
        }
        let only = said.or(match (drawn.from, drawn.to) {
            (None, None) => {
                let why = "one end is a participant";
                return Err(refuse(place(whole, line), "this message has no participant", why));
            }
            (None, _) => Some(Direction::Recv),
            (_, None) => Some(Direction::Send),
            _ => drawn.only,
        });
        self.sketches.message(Arrow { from, to, label: ident, only });
        Ok(())
    }

    fn active(&mut self, word: &str, rest: &str) {
        let name = rest.split(['#', ' ']).next().unwrap_or("").trim_matches('"');
        match word {
            "activate" => {
                let caller = self.last.as_ref().filter(|(_, to)| to == name).map(|(from, _)| from.clone());
                self.calls.push((name.to_owned(), caller));
            }
            "deactivate" | "destroy" => {
                if let Some(at) = self.calls.iter().rposition(|(own, _)| own == name) {
                    self.calls.truncate(at);
                }
            }
            _ => {}
        }
    }

    /// `return reply`: from who was activated last to who had called.
    fn returned(&mut self, line: &'a str, label: &'a str) -> Result<(), Diagnostic> {
        let span: Span = place(self.text, line);
        let Some((from, Some(to))) = self.calls.pop() else {
            let why = "write the message: `B --> A : reply`";
            return Err(refuse(span, "it is not known from where and to whom this returns", why));
        };
        let (name, only) = only(label);
        let name = plain(name);
        if name.is_empty() {
            return Err(refuse(span, "this message has no name", "write what is sent, as the log calls it"));
        }
        let ident = |name: String| Ident { name, span };
        self.sketches.message(Arrow { from: ident(from), to: ident(to), label: ident(name), only });
        Ok(())
    }
}

/// A label without line breaks and without what sets its letters.
fn plain(label: &str) -> String {
    let mut out = String::new();
    let mut rest = label;
    while let Some(open) = rest.find(['<', '\\']) {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        if let Some(behind) = rest.strip_prefix("\\n") {
            out.push(' ');
            rest = behind;
            continue;
        }
        let inside = rest[1..].split('>').next().unwrap_or("");
        let word = inside.trim_start_matches('/').split([':', ' ', '#']).next().unwrap_or("");
        let sets =
            ["b", "i", "u", "s", "w", "color", "size", "font", "back", "img", "br", "br/", "sub", "sup"];
        let tag = rest.starts_with('<') && rest[1..].contains('>') && sets.contains(&word);
        let skip = if tag { inside.len() + 2 } else { 1 };
        out.push_str(if tag { "" } else { &rest[..1] });
        rest = &rest[skip..];
    }
    out.push_str(rest);
    tidy(&out)
}

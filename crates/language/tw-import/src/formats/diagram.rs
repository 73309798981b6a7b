//! Sequence diagrams, however they are written: messages and blocks become charts.
//!
//! A block labelled `prechart` (or `pre`) holds the prechart, one labelled `main` the main chart, one labelled `coregion` messages in any
//! order. Where one of the first two is missing, what stands before the main chart is the prechart, and what stands behind the
//! prechart is the main chart. Behind the label `necessary`, `sufficient` or `iff`, `iterate` and the chart's name may stand. Where
//! neither is there the first message is the prechart, and that is said.

use crate::cursor::refuse;
use crate::{Options, Reading};
use rustc_hash::{FxHashMap, FxHashSet};
use tw_diag::{Diagnostic, Span};
use tw_ir::chart::{Direction, MOST_EVENTS};
use tw_spec::ast::Ident;
use tw_spec::ast::chart::{Body, Chart, Item, ItemKind, Kind, Message};

/// The lifeline of what comes from outside the diagram and goes there.
pub(super) const OUTSIDE: &str = "env";

/// What a trace has to have.
pub(super) fn clock(_: &Options) -> String {
    "A message is an event `send(message)` and an event `recv(message)`, or a row with `dir` and `msg`."
        .to_owned()
}

/// The place of a part of a text that was cut out of it.
pub(super) fn place(whole: &str, part: &str) -> Span {
    let start = (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize).min(whole.len());
    Span { source: 0, start: start as u32, end: (start + part.len()).min(whole.len()) as u32 }
}

/// The error "found this, expected that".
pub(super) fn found(whole: &str, part: &str, expected: &str) -> Diagnostic {
    let shown: String = part.chars().take(40).collect();
    let found = if shown.is_empty() { "the end of the line".to_owned() } else { format!("`{shown}`") };
    Diagnostic::error("import-syntax", format!("found {found}, expected {expected}"))
        .at(place(whole, part), format!("expected {expected}"))
}

/// Constructs that have no equal in a chart.
pub(super) fn refused(whole: &str, word: &str) -> Diagnostic {
    let why = match word.to_ascii_lowercase().as_str() {
        "alt" | "else" | "opt" | "break" | "critical" | "option" => {
            "a chart has one way through: draw a chart for each alternative"
        }
        "loop" => {
            "a chart is repeated as a whole: label its prechart `prechart iterate`, and take the loop away"
        }
        "par" | "par_over" | "and" | "&" => {
            "messages in any order stand in a block labelled `coregion`; what else is parallel, in charts of its own"
        }
        "ref" => "put the messages of the diagram that is referred to here",
        _ => "leave it out",
    };
    refuse(place(whole, word), format!("`{word}` has no equal in a chart"), why)
}

/// What a name or a label is without line breaks and spaces around it.
pub(super) fn tidy(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A message as drawn.
#[derive(Clone)]
pub(super) struct Arrow {
    pub from: Ident,
    pub to: Ident,
    pub label: Ident,
    /// Whether one of its events is missing.
    pub only: Option<Direction>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Pre,
    Main,
    Coregion,
    /// Says nothing about the order of messages.
    Plain,
}

/// Where a message stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    Pre,
    Main,
    Loose,
}

struct Row {
    arrow: Arrow,
    place: Where,
    coregion: Option<usize>,
}

#[derive(Default)]
struct Sketch {
    name: Option<Ident>,
    title: Option<String>,
    kind: Option<Kind>,
    iterate: Option<Span>,
    rows: Vec<Row>,
    /// Where it begins.
    begin: Option<Span>,
    /// Whether its prechart, and its main chart, had a block.
    pre: bool,
    main: bool,
}

struct Block {
    word: Span,
    role: Role,
    /// Whether its role is to be told by a note.
    open: bool,
}

/// Charts on the way.
#[derive(Default)]
pub(super) struct Sketches {
    done: Vec<Sketch>,
    now: Sketch,
    blocks: Vec<Block>,
    regions: usize,
}

impl Sketches {
    /// The name of what begins here: of a diagram, or of a page of it.
    pub fn begin(&mut self, name: &str, span: Span) {
        self.next();
        self.now.begin = Some(span);
        let name = tidy(name);
        self.now.name = (!name.is_empty()).then_some(Ident { name, span });
    }

    /// The sentence of the diagram.
    pub fn title(&mut self, text: &str) {
        let text = tidy(text);
        if !text.is_empty() {
            self.now.title.get_or_insert(text);
        }
    }

    fn next(&mut self) {
        let now = std::mem::take(&mut self.now);
        if !now.rows.is_empty() {
            self.done.push(now);
        } else if let Some(title) = now.title {
            // A title above the first message.
            self.now.title = Some(title);
        }
    }

    pub fn message(&mut self, arrow: Arrow) {
        let part = self.blocks.iter().rev().find_map(|block| match block.role {
            Role::Pre => Some(Where::Pre),
            Role::Main => Some(Where::Main),
            _ => None,
        });
        let coregion = self.blocks.iter().any(|block| block.role == Role::Coregion).then_some(self.regions);
        self.now.begin.get_or_insert(arrow.label.span);
        for block in &mut self.blocks {
            block.open = false;
        }
        self.now.rows.push(Row { arrow, place: part.unwrap_or(Where::Loose), coregion });
    }

    /// A block begins. What its label says is taken; whether the label says something.
    pub fn open(&mut self, word: Span, label: &str, named_by_note: bool) -> Result<bool, Diagnostic> {
        let role = self.role(word, label)?;
        self.blocks.push(Block { word, role, open: named_by_note && role == Role::Plain });
        Ok(role != Role::Plain)
    }

    /// A note: the first one in a block without label tells its role.
    pub fn note(&mut self, text: &str) -> Result<(), Diagnostic> {
        let Some(block) = self.blocks.last().filter(|block| block.open) else { return Ok(()) };
        let word = block.word;
        let role = self.role(word, text)?;
        if let Some(block) = self.blocks.last_mut() {
            (block.role, block.open) = (role, false);
        }
        Ok(())
    }

    /// A block ends; an error if none is open.
    pub fn close(&mut self, word: Span) -> Result<(), Diagnostic> {
        match self.blocks.pop() {
            Some(_) => Ok(()),
            None => {
                let found = Diagnostic::error("import-syntax", "found `end`, expected a message");
                Err(found.at(word, "nothing is open here"))
            }
        }
    }

    /// An error if a block is still open.
    pub fn closed(&self) -> Result<(), Diagnostic> {
        match self.blocks.last() {
            Some(block) => {
                let found = Diagnostic::error("import-syntax", "this block is never closed");
                Err(found.at(block.word, "expected `end`"))
            }
            None => Ok(()),
        }
    }

    fn role(&mut self, word: Span, label: &str) -> Result<Role, Diagnostic> {
        let label = tidy(&label.replace(['[', ']'], " "));
        let mut words = label.split(' ');
        let role = match words.next().unwrap_or("").to_ascii_lowercase().as_str() {
            "pre" | "prechart" | "pre-chart" => Role::Pre,
            "main" | "mainchart" | "main-chart" => Role::Main,
            "coregion" | "co-region" => Role::Coregion,
            _ => return Ok(Role::Plain),
        };
        let inside = self.blocks.iter().any(|block| matches!(block.role, Role::Pre | Role::Main));
        if role == Role::Coregion {
            self.regions += 1;
            return Ok(role);
        }
        if inside {
            let why = "close the one before it begins: a chart has a prechart, then a main chart";
            return Err(refuse(word, "a part of a chart stands inside another", why));
        }
        if role == Role::Pre && (self.now.pre || self.now.main) || role == Role::Main && self.now.main {
            // The next chart of the same diagram.
            self.next();
        }
        self.now.begin.get_or_insert(word);
        match role {
            Role::Pre => self.now.pre = true,
            _ => self.now.main = true,
        }
        let mut name: Vec<&str> = Vec::new();
        for own in words {
            match (Kind::ALL.iter().find(|(word, _)| *word == own.to_ascii_lowercase()), own) {
                (Some((_, kind)), _) => self.now.kind = Some(*kind),
                (None, "iterate" | "iterated") => self.now.iterate = Some(word),
                (None, "chart") if name.is_empty() => {}
                (None, own) => name.push(own),
            }
        }
        if !name.is_empty() {
            self.now.name = Some(Ident { name: name.join(" "), span: word });
        }
        Ok(role)
    }

    /// Adds the charts to what is being made.
    pub fn finish(mut self, reading: &mut Reading<'_>) {
        self.next();
        let mut names: FxHashSet<String> = FxHashSet::default();
        for sketch in self.done {
            let line = |span: Span| 1 + reading.text[..span.start as usize].matches('\n').count();
            let line = sketch.begin.map_or(1, line);
            let own = sketch.name.as_ref().map_or(reading.stem.clone(), |name| name.name.clone());
            let numbered = (2..).map(|number| format!("{own}_{number}"));
            let name = std::iter::once(own.clone()).chain(numbered).find(|name| !names.contains(name));
            let name = name.unwrap_or_default();
            names.insert(name.clone());
            match sketch.chart(name) {
                Ok((chart, remark)) => {
                    if let Some(remark) = remark {
                        reading.report(remark);
                    }
                    reading.builder.chart(chart, line);
                }
                Err(found) => {
                    if !reading.report(found) {
                        return;
                    }
                }
            }
        }
    }
}

impl Sketch {
    /// The chart, with what was guessed.
    fn chart(mut self, name: String) -> Result<(Chart, Option<Diagnostic>), Diagnostic> {
        let mut remark = None;
        let first = self.rows.iter().position(|row| row.place == Where::Main);
        let has = |place: Where, rows: &[Row]| rows.iter().any(|row| row.place == place);
        match (has(Where::Pre, &self.rows), first) {
            (true, None) => self.loose(Where::Main),
            (false, Some(_)) => self.loose(Where::Pre),
            (true, Some(_)) => {}
            (false, None) => {
                let span = self.rows.first().map_or(Span::default(), |row| row.arrow.label.span);
                if self.rows.len() < 2 {
                    let why = "draw what has to follow it, too: a chart has a prechart and a main chart";
                    return Err(refuse(span, "one message is no chart", why));
                }
                let found = Diagnostic::warning("import-guessed", "no block says what the prechart is");
                let found = found.at(span, "the first message is taken for it");
                remark = Some(found.help("put what begins the chart into a block labelled `prechart`"));
                let region = self.rows[0].coregion;
                let mut whole = true;
                for (at, row) in self.rows.iter_mut().enumerate() {
                    whole &= at == 0 || region.is_some() && row.coregion == region;
                    row.place = if whole { Where::Pre } else { Where::Main };
                }
            }
        }
        let main = self.rows.iter().position(|row| row.place == Where::Main).unwrap_or(self.rows.len());
        if let Some(row) = self.rows[main..].iter().find(|row| row.place == Where::Pre) {
            let why = "the prechart stands above the main chart; messages between belong to one of them";
            let what = format!("`{}` stands below the main chart", row.arrow.label.name);
            return Err(refuse(row.arrow.label.span, what, why));
        }
        if let Some(row) = self.rows.iter().find(|row| row.place == Where::Loose) {
            let why = "put it into the block of the prechart or into that of the main chart";
            let what = format!("`{}` stands outside both", row.arrow.label.name);
            return Err(refuse(row.arrow.label.span, what, why));
        }
        self.events()?;
        let span = self.begin.unwrap_or_default();
        let (pre, main) = self.rows.split_at(main);
        for (rows, what) in [(pre, "prechart"), (main, "main chart")] {
            if rows.is_empty() {
                let why = "a chart has a prechart and a main chart, each with messages";
                return Err(refuse(span, format!("the {what} has no message"), why));
            }
        }
        let chart = Chart {
            name: Ident { name, span },
            title: self.title,
            kind: self.kind.unwrap_or(Kind::Necessary),
            iterate: self.iterate,
            pre: body(pre),
            main: body(main),
            main_first: false,
            trailing_comments: Vec::new(),
        };
        Ok((chart, remark))
    }

    /// What stands in no block belongs to the part that has none.
    fn loose(&mut self, place: Where) {
        let given = if place == Where::Main { Where::Pre } else { Where::Main };
        let first = self.rows.iter().position(|row| row.place == given).unwrap_or(0);
        let last = self.rows.iter().rposition(|row| row.place == given).unwrap_or(0);
        for (at, row) in self.rows.iter_mut().enumerate() {
            let beside = if place == Where::Main { at > last } else { at < first };
            if row.place == Where::Loose && beside {
                row.place = place;
            }
        }
    }

    /// Each event occurs once, and no part has too many.
    fn events(&self) -> Result<(), Diagnostic> {
        let mut seen: FxHashMap<(&str, Direction), Span> = FxHashMap::default();
        let mut counts = [0usize; 2];
        for row in &self.rows {
            let label = &row.arrow.label;
            for (_, direction) in Direction::ALL {
                if row.arrow.only.is_some_and(|only| only != direction) {
                    continue;
                }
                if let Some(before) = seen.insert((&label.name, direction), label.span) {
                    let word = if direction == Direction::Send { "sent" } else { "received" };
                    let what = format!("`{}` is {word} twice", label.name);
                    let found = Diagnostic::error("import-duplicate", what).at(label.span, "again here");
                    return Err(found.at(before, "first here").help(
                        "an event is in a chart once: call the messages as the log does, and tell them apart",
                    ));
                }
                let count = &mut counts[usize::from(row.place == Where::Main)];
                *count += 1;
                if *count > MOST_EVENTS {
                    let why = format!("a prechart and a main chart have at most {MOST_EVENTS} events each");
                    return Err(refuse(label.span, "the chart is too large", &why));
                }
            }
        }
        Ok(())
    }
}

fn body(rows: &[Row]) -> Body {
    let mut body = Body::default();
    let mut last = None;
    for row in rows {
        let Arrow { from, to, label, only } = row.arrow.clone();
        let span = label.span;
        let kind = ItemKind::Message(Message { from, to, name: label, only });
        let item = |kind| Item { kind, span, comments: Vec::new(), trailing: None };
        match (row.coregion, body.items.last_mut()) {
            (Some(_), Some(Item { kind: ItemKind::Coregion(inside), .. })) if row.coregion == last => {
                inside.push(item(kind));
            }
            (Some(_), _) => body.items.push(item(ItemKind::Coregion(vec![item(kind)]))),
            (None, _) => body.items.push(item(kind)),
        }
        last = row.coregion;
    }
    body
}

/// `[send only]` and `[recv only]` behind a label: what is left of it, and which.
pub(super) fn only(label: &str) -> (&str, Option<Direction>) {
    for (word, direction) in Direction::ALL {
        if let Some(rest) = label.trim_end().strip_suffix(&format!("[{word} only]")) {
            return (rest.trim_end(), Some(direction));
        }
    }
    (label, None)
}

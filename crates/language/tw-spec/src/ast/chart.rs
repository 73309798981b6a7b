//! Sequence charts as written: `chart NAME necessary { pre { … } main { … } }`, and `after C.main : D.main, D.pre;`.

use super::{Comment, Ident};
use tw_diag::Span;
use tw_ir::chart::{Condition, Direction};

/// A `chart` block: a universal chart, "if the prechart then the main chart", or "the main chart only if the prechart".
#[derive(Clone, Debug)]
pub struct Chart {
    /// Its name.
    pub name: Ident,
    /// The sentence, if given.
    pub title: Option<String>,
    /// What the prechart is to the main chart.
    pub kind: Kind,
    /// Where `iterate` is written, if it is.
    pub iterate: Option<Span>,
    /// The prechart.
    pub pre: Body,
    /// The main chart.
    pub main: Body,
    /// Whether the main chart was written first.
    pub main_first: bool,
    /// Comments before the `}`.
    pub trailing_comments: Vec<Comment>,
}

/// What the prechart is to the main chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Each prechart is followed by the main chart.
    Necessary,
    /// Each main chart is preceded by the prechart.
    Sufficient,
    /// Both.
    Iff,
}

impl Kind {
    /// Every one with its word.
    pub const ALL: [(&'static str, Kind); 3] =
        [("necessary", Kind::Necessary), ("sufficient", Kind::Sufficient), ("iff", Kind::Iff)];

    /// The word for it.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("necessary", |(word, _)| word)
    }

    /// What is asked: each is a property of its own.
    pub fn conditions(self) -> &'static [Condition] {
        match self {
            Kind::Necessary => &[Condition::Necessary],
            Kind::Sufficient => &[Condition::Sufficient],
            Kind::Iff => &[Condition::Necessary, Condition::Sufficient],
        }
    }
}

/// A basic chart: messages between lifelines, from top to bottom.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// What stands in it, in the order written.
    pub items: Vec<Item>,
    /// From its word to its `}`.
    pub span: Span,
    /// Comments before the word.
    pub comments: Vec<Comment>,
    /// Comments before the `}`.
    pub trailing_comments: Vec<Comment>,
}

/// One line of a basic chart.
#[derive(Clone, Debug)]
pub struct Item {
    /// What it says.
    pub kind: ItemKind,
    /// Its place.
    pub span: Span,
    /// Comments before it and inside it.
    pub comments: Vec<Comment>,
    /// Comment on the line of its end.
    pub trailing: Option<Comment>,
}

/// What a line of a basic chart says.
#[derive(Clone, Debug)]
pub enum ItemKind {
    /// `A -> B : request`
    Message(Message),
    /// `coregion { … }`: the events of its messages on one lifeline may happen in any order.
    Coregion(Vec<Item>),
    /// Could not be read; already reported.
    Error,
}

/// A message from a lifeline to another, or to itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The lifeline that sends.
    pub from: Ident,
    /// The lifeline that receives.
    pub to: Ident,
    /// What is sent: what the log calls it.
    pub name: Ident,
    /// `[send only]`, `[recv only]`: the other event is no part of the chart.
    pub only: Option<Direction>,
}

impl Message {
    /// Its events, each with its lifeline: the sending first.
    pub fn events(&self) -> impl Iterator<Item = (Direction, &Ident)> {
        let both = [(Direction::Send, &self.from), (Direction::Recv, &self.to)];
        both.into_iter().filter(|(direction, _)| self.only.is_none_or(|only| only == *direction))
    }
}

impl Body {
    /// Its messages from top to bottom, each with the number of its coregion, if it stands in one.
    pub fn messages(&self) -> Vec<(&Message, Option<usize>)> {
        let mut found = Vec::new();
        for (number, item) in self.items.iter().enumerate() {
            match &item.kind {
                ItemKind::Message(message) => found.push((message, None)),
                ItemKind::Coregion(items) => {
                    found.extend(items.iter().filter_map(|item| match &item.kind {
                        ItemKind::Message(message) => Some((message, Some(number))),
                        _ => None,
                    }));
                }
                ItemKind::Error => {}
            }
        }
        found
    }
}

impl Chart {
    /// Its basic charts with their words, the prechart first.
    pub fn bodies(&self) -> [(Part, &Body); 2] {
        [(Part::Pre, &self.pre), (Part::Main, &self.main)]
    }

    /// The basic chart of that name.
    pub fn body(&self, part: Part) -> &Body {
        match part {
            Part::Pre => &self.pre,
            Part::Main => &self.main,
        }
    }

    /// The names of its lifelines, in the order of their first message.
    pub fn lifelines(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for (message, _) in self.pre.messages().into_iter().chain(self.main.messages()) {
            for name in [message.from.name.as_str(), message.to.name.as_str()] {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }
}

/// Which basic chart of a universal chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The prechart.
    Pre,
    /// The main chart.
    Main,
}

impl Part {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Part::Pre => "pre",
            Part::Main => "main",
        }
    }
}

/// `preHOV.main`: a basic chart by name.
#[derive(Clone, Debug, PartialEq)]
pub struct PartName {
    /// The chart.
    pub chart: Ident,
    /// Which of its two.
    pub part: Part,
    /// The place of the whole.
    pub span: Span,
}

/// `after preHOV.main : ExdEoA.main, ExdEoA.pre;`: each of the later ones only after the first.
#[derive(Clone, Debug)]
pub struct After {
    /// What has to be before.
    pub first: PartName,
    /// What may only come then.
    pub then: Vec<PartName>,
}

//! Findings about a user's text: where, what, and how to repair it.
//!
//! A [`Diagnostic`] carries a stable code, a message, labelled [`Span`]s and a hint; [`Sources`] owns the
//! texts that spans point into. [`render`] writes what a person reads, [`to_json`] the same for programs;
//! [`codes`] lists every code. What a message says about a [`Setting`] is spelled by who shows it.

// Named for their features alone: see the manifest.
use indexmap as _;
use serde_core as _;

pub mod codes;
mod render;
mod setting;

pub use render::{render, to_json};
pub use setting::{Setting, plain, spelled};

/// A text that spans point into.
#[derive(Clone, Debug)]
pub struct Source {
    /// File name, or `<formula>` for `-e`.
    pub name: String,
    /// The text.
    pub text: String,
    /// Where lines begin, found when a place is first asked for.
    lines: std::sync::OnceLock<Vec<usize>>,
}

impl Source {
    /// The line of an offset, from 1: one search, however long the text is and however many places are told.
    pub(crate) fn line(&self, offset: usize) -> usize {
        let lines = self.lines.get_or_init(|| self.text.match_indices('\n').map(|(at, _)| at).collect());
        lines.partition_point(|&end| end < offset) + 1
    }
}

/// All texts of one run. Index with [`Span::source`].
#[derive(Clone, Debug, Default)]
pub struct Sources {
    list: Vec<Source>,
}

impl Sources {
    /// Adds a text and returns its index.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> u32 {
        self.list.push(Source { name: name.into(), text: text.into(), lines: Default::default() });
        (self.list.len() - 1) as u32
    }

    /// The text with that index.
    pub fn get(&self, source: u32) -> &Source {
        &self.list[source as usize]
    }

    /// The words a span covers, white space folded.
    pub fn snippet(&self, span: Span) -> String {
        let text = &self.get(span.source).text;
        let words = text.get(span.start as usize..span.end as usize).unwrap_or("");
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// A stretch of bytes of one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// Index in [`Sources`].
    pub source: u32,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// From `self`'s start to `other`'s end.
    pub fn to(self, other: Span) -> Span {
        Span { end: other.end.max(self.end), start: self.start.min(other.start), ..self }
    }
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The run cannot go on.
    Error,
    /// It can, but look.
    Warning,
    /// Nothing is wrong; this is how the input was understood.
    Note,
}

impl Severity {
    /// Its name in outputs.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

/// One finding: stable code, message, labelled places, a hint on how to repair it.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// Stable, e.g. `unknown-name`; a row of [`codes::CODES`].
    pub code: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// One sentence.
    pub message: String,
    /// Places, the first one is the main one.
    pub labels: Vec<(Span, String)>,
    /// What to write instead.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error without places yet.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, severity: Severity::Error, message: message.into(), labels: Vec::new(), help: None }
    }

    /// A warning without places yet.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message) }
    }

    /// How something was understood.
    pub fn note(code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Note, ..Self::error(code, message) }
    }

    /// Adds a labelled place.
    #[must_use]
    pub fn at(mut self, span: Span, label: impl Into<String>) -> Self {
        self.labels.push((span, label.into()));
        self
    }

    /// Adds a hint.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// A result that exists even when there were findings: front ends always return a tree.
#[derive(Clone, Debug)]
pub struct Checked<T> {
    /// The result, as good as it could be made.
    pub value: T,
    /// Findings, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl<T> Checked<T> {
    /// Whether any finding is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }
}

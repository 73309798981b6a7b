//! Specifications of other monitors, read and written as specifications of Tracewise.
//!
//! Each [`Format`] is one file in `formats` and one row in [`FORMATS`]. A format is read exactly or refused: where a
//! construct means something that the language cannot say, or where the tool that owns the format computes something
//! else than the format's description says, the import ends with the place and the reason.
//!
//! ```
//! use tw_import::{Options, format_named, import};
//! let text = "out = always[0:10](req >= 3 implies eventually[0:5](gnt >= 3))";
//! let made = import("req.stl", text, format_named("rtamt").unwrap(), &Options::default());
//! assert!(made.value.ends_with("property out : G[0,10] (req >= 3 -> F[0,5] (gnt >= 3));\n"));
//! ```
//!
//! The text goes through `cursor` (tokens) and `climb` (operators by precedence, without recursion) to `build`, which
//! makes a tree of the specification language; `tw_spec` prints it.

mod build;
mod climb;
mod cursor;
mod decimal;
mod formats;

use build::Builder;
use tw_core::TimeUnit;
use tw_diag::{Checked, Diagnostic, Severity};

/// Findings after which the rest of a text is not read any more.
const MAX_ERRORS: usize = 20;

/// A format that can be read.
pub struct Format {
    /// Its name on the command line.
    pub name: &'static str,
    /// The name of the tool and its language.
    pub title: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// File name extensions that tell it from others, without the point.
    pub extensions: &'static [&'static str],
    /// What has to be true of a trace and of settings for the result to mean the same.
    clock: fn(&Options) -> String,
    read: fn(&mut Reading<'_>),
}

impl Format {
    /// Whether it is drawn rather than written: sequence diagrams, which become charts.
    pub fn is_diagram(&self) -> bool {
        formats::DIAGRAMS.contains(&self.name)
    }
}

/// Every format.
pub static FORMATS: &[Format] = &[
    formats::rtamt::FORMAT,
    formats::breach::FORMAT,
    formats::reelay::FORMAT,
    formats::c2po::FORMAT,
    formats::mltl::FORMAT,
    formats::monpoly::FORMAT,
    formats::dejavu::FORMAT,
    formats::rvm::FORMAT,
    formats::lola::FORMAT,
    formats::plantuml::FORMAT,
    formats::mermaid::FORMAT,
];

/// The format called `name`.
pub fn format_named(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// The format that a file's name tells. Several tools write `.stl`; definitions with `:=` are Breach's.
pub fn guess(name: &str, text: &str) -> Option<&'static Format> {
    let extension = name.rsplit_once('.')?.1;
    if extension == "stl" {
        return text.contains(":=").then(|| format_named("breach")).flatten();
    }
    FORMATS.iter().find(|format| format.extensions.contains(&extension))
}

/// What the source does not say itself.
#[derive(Clone, Debug)]
pub struct Options {
    /// Nanoseconds between samples (RTAMT).
    pub period: i64,
    /// The unit of bounds without unit (RTAMT).
    pub unit: TimeUnit,
    /// What declares the predicates (MonPoly).
    pub signature: Option<Signature>,
    /// How the head of the result names what has to be set to read it: [`tw_diag::Setting`]s as its readers write them.
    pub spell: fn(&str) -> String,
}

/// A file beside the specification.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Its name.
    pub name: String,
    /// Its content.
    pub text: String,
}

impl Default for Options {
    fn default() -> Self {
        Self { period: 1_000_000_000, unit: TimeUnit::Seconds, signature: None, spell: tw_diag::plain }
    }
}

/// A text that is being read, what was made of it, and findings.
struct Reading<'a> {
    text: &'a str,
    /// Name of the file without folders and extension.
    stem: String,
    options: Options,
    builder: Builder,
    findings: Vec<Diagnostic>,
    /// Lines for the head of the result, about how the result is to be read.
    notes: Vec<String>,
}

impl Reading<'_> {
    /// Takes a finding down; whether to go on.
    fn report(&mut self, found: Diagnostic) -> bool {
        self.findings.push(found);
        self.findings.len() < MAX_ERRORS
    }

    /// Adds a line to the head of the result, once.
    fn note(&mut self, line: &str) {
        if !self.notes.iter().any(|other| other == line) {
            self.notes.push(line.to_owned());
        }
    }
}

/// Reads `text`, the content of the file called `name`; the result is the text of a specification, empty if something
/// could not be read. Findings point into the text, as the first of the sources, or into the signature, as the second.
pub fn import(name: &str, text: &str, format: &Format, options: &Options) -> Checked<String> {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem).trim_matches(['<', '>']);
    let stem = if stem.is_empty() { "imported" } else { stem }.to_owned();
    let mut reading = Reading {
        text,
        stem,
        options: options.clone(),
        builder: Builder::default(),
        findings: Vec::new(),
        notes: Vec::new(),
    };
    (format.read)(&mut reading);
    if reading.findings.is_empty() && reading.builder.is_empty() {
        let message = format!("`{file}` has no {}", if format.is_diagram() { "message" } else { "formula" });
        reading.findings.push(Diagnostic::error("import-syntax", message));
    }
    let mut value = String::new();
    if !reading.findings.iter().any(|found| found.severity == Severity::Error) {
        let notes = [(format.clock)(options)].into_iter().chain(reading.notes);
        let mut head = vec![format!("Imported from {file} ({}).", format.title)];
        head.extend(notes.map(|note| (options.spell)(&note)));
        value = tw_spec::print(&reading.builder.finish(file, &head));
    }
    Checked { value, diagnostics: reading.findings }
}

//! First-order past LTL as DejaVu writes it: `prop p : Forall f . close(f) -> Exists m . @ [open(f,m),close(f))`.
//!
//! DejaVu judges every event, so a property is `G` of its formula. `Forall` and `Exists` range over all values, as here;
//! `forall` and `exists` over the values that the variable has had so far, which is what the patterns of events in its scope
//! have matched. Where nothing but such a value can decide, that is the same; elsewhere it is said ([`seen`]).

mod atoms;
mod document;
mod operators;
mod seen;

use crate::build::Builder;
use crate::cursor::{Cursor, Lexis, letter, letter_or_digit};
use crate::{Format, Options, Reading};
use document::Document;
use rustc_hash::FxHashMap;
use seen::{Facts, Pattern};
use tw_diag::{Diagnostic, Span};

pub(crate) const FORMAT: Format = Format {
    name: "dejavu",
    title: "DejaVu",
    about: "first-order past LTL as DejaVu writes it: `prop p : Forall f . close(f) -> P open(f)`",
    extensions: &["qtl"],
    clock,
    read,
};

const LEXIS: Lexis = Lexis {
    symbols: &[
        "<->", "->", "[<=", "[>", "<=", ">=", ":=", "<", ">", "=", "!", "@", "&", "|", "[", "]", "(", ")",
        ",", ".", ":",
    ],
    comments: &[("/*", Some("*/")), ("//", None)],
    begins: letter,
    goes_on: letter_or_digit,
    quotes: true,
    lines: false,
    signed: true,
};

/// Words that are no names.
const RESERVED: [&str; 15] = [
    "prop", "where", "pred", "preds", "event", "events", "H", "P", "S", "Forall", "Exists", "forall",
    "exists", "true", "false",
];

fn clock(_: &Options) -> String {
    "Every event is judged, hence `G`; a log with times is read with ⟨timed⟩.".to_owned()
}

fn read(reading: &mut Reading<'_>) {
    let document = Cursor::new(reading.text, &LEXIS).and_then(|mut cursor| {
        let document = Document::read(&mut cursor)?;
        Ok((document, cursor))
    });
    let (document, mut cursor) = match document {
        Ok(read) => read,
        Err(found) => {
            reading.report(found);
            return;
        }
    };
    for event in &document.events {
        let parameters = event.parameters.iter().map(|(name, _)| (name.clone(), None)).collect();
        reading.builder.event(&event.name.0, parameters, event.name.1);
    }
    let mut dejavu = DejaVu {
        builder: &mut reading.builder,
        arities: FxHashMap::default(),
        declared: !document.events.is_empty(),
        macros: FxHashMap::default(),
        variables: Vec::new(),
        count: 0,
        facts: FxHashMap::default(),
        patterns: Vec::new(),
    };
    for event in &document.events {
        dejavu.arities.insert(event.name.0.clone(), event.parameters.len());
    }
    for definition in &document.definitions {
        if let Err(found) = dejavu.definition(definition, &mut cursor) {
            reading.findings.push(found);
            if reading.findings.len() >= crate::MAX_ERRORS {
                return;
            }
        }
    }
}

/// A variable that is bound around here.
struct Variable {
    name: String,
    /// How it is written here.
    word: String,
    /// Different from that of all others.
    number: u32,
}

/// A macro that was read.
struct Macro {
    word: String,
    /// The numbers of its parameters.
    parameters: Vec<u32>,
    facts: Facts,
    patterns: Vec<Pattern>,
}

struct DejaVu<'b> {
    builder: &'b mut Builder,
    /// How many arguments an event has, wherever it occurs.
    arities: FxHashMap<String, usize>,
    /// Whether events are declared: then there are no others.
    declared: bool,
    macros: FxHashMap<String, Macro>,
    variables: Vec<Variable>,
    count: u32,
    /// What is known of the formulas made so far, by the number of their expression.
    facts: FxHashMap<u32, Facts>,
    /// Patterns of events in what is being read.
    patterns: Vec<Pattern>,
}

impl DejaVu<'_> {
    /// Binds a variable; DejaVu does not let it hide another.
    fn bind(&mut self, name: &str, span: Span) -> Result<(), Diagnostic> {
        if self.variables.iter().any(|variable| variable.name == name) {
            let found = Diagnostic::error("import-duplicate", format!("`{name}` hides another variable"));
            return Err(found.at(span, "bound again").help("give one of them another name"));
        }
        let mut word = name.to_owned();
        while !tw_spec::is_plain_name(&word) || self.variables.iter().any(|variable| variable.word == word) {
            word.push('_');
        }
        self.count += 1;
        self.variables.push(Variable { name: name.to_owned(), word, number: self.count });
        Ok(())
    }

    fn find(&self, name: &str, span: Span) -> Result<&Variable, Diagnostic> {
        self.variables.iter().rev().find(|variable| variable.name == name).ok_or_else(|| {
            let message = format!("found `{name}`, which no quantifier binds");
            Diagnostic::error("import-syntax", message).at(span, "expected a variable")
        })
    }
}

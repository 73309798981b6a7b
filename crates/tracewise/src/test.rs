//! `test`: specifications with small traces and what is expected of them, in one file.
//!
//! A test file is prose with blocks between lines of backquotes, as in Markdown. A block of `tw` is a specification, one
//! named after a format is a trace, and the blocks behind a trace say what is to come out. docs/testing.md has the
//! whole form.

mod answers;
mod parse;

use crate::diag::{Diagnostic, Sources, Span};
use crate::{Error, Session};
use std::path::Path;

pub(crate) use parse::parse;

/// The blocks that say what is expected.
pub const EXPECTATIONS: [&str; 6] = ["verdicts", "eval", "values", "robustness", "warnings", "error"];

/// A file of tests.
#[derive(Clone, Debug)]
pub struct TestFile {
    /// Its path, as the user gave it.
    pub path: String,
    /// Its text.
    pub text: String,
    /// One per trace.
    pub(crate) cases: Vec<Case>,
}

/// A trace, the specification it is checked against, and what is expected.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub heading: String,
    /// The trace's own name, if it has one.
    pub name: Option<String>,
    pub spec: Block,
    pub trace: Block,
    pub expectations: Vec<Block>,
}

/// A block of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    /// The words behind the backquotes.
    pub info: Vec<String>,
    /// Its lines.
    pub body: Vec<String>,
    /// The number of the first of them, from 0.
    pub first: usize,
    /// Where the opening line is.
    pub at: (usize, usize),
}

/// What came out of a test file.
#[derive(Clone, Debug)]
pub struct TestReport {
    /// Its path.
    pub path: String,
    /// One per expectation, in the order written.
    pub results: Vec<TestResult>,
    /// The file with what came out in place of what was expected.
    pub rewritten: String,
}

/// What became of one expectation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestResult {
    /// The heading it stands under, and the trace's name.
    pub case: String,
    /// The kind of block: `verdicts`, `values`.
    pub kind: String,
    /// The property or query; empty for warnings and errors.
    pub name: String,
    /// The line, from 1.
    pub line: u64,
    /// As written; nothing where the block is still to be filled.
    pub expected: Option<String>,
    /// What came out.
    pub found: String,
}

impl TestResult {
    /// Whether what came out is what was expected.
    pub fn passed(&self) -> bool {
        self.expected.as_ref().is_some_and(|expected| answers::same(&self.kind, expected, &self.found))
    }
}

impl TestFile {
    /// Reads a file of tests.
    pub fn from_file(path: &str) -> Result<Self, Error> {
        let bytes = tw_core::read_file(path, tw_core::LONGEST_TEXT)
            .map_err(|error| Error::io(format!("cannot read the tests `{path}`"), error))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Error::refused(format!("the tests `{path}` are not UTF-8 text")))?;
        Self::from_text(path, &text)
    }

    /// The same of a text; files that it names stand beside `path`.
    pub fn from_text(path: &str, text: &str) -> Result<Self, Error> {
        let cases = parse(text).map_err(|(at, message, help)| located(path, text, at, &message, &help))?;
        Ok(Self { path: path.into(), text: text.into(), cases })
    }

    /// How many traces it has.
    pub fn traces(&self) -> usize {
        self.cases.len()
    }

    /// A file that it names.
    pub(crate) fn beside(&self, file: &str) -> String {
        let folder = Path::new(&self.path).parent();
        folder.map_or(file.to_string(), |folder| folder.join(file).to_string_lossy().into_owned())
    }

    pub(crate) fn error(&self, at: (usize, usize), message: &str, help: &str) -> Error {
        located(&self.path, &self.text, at, message, help)
    }
}

/// An error at a place of the file.
fn located(path: &str, text: &str, at: (usize, usize), message: &str, help: &str) -> Error {
    let mut sources = Sources::default();
    let source = sources.add(path, text);
    let span = Span { source, start: at.0 as u32, end: at.1 as u32 };
    let found = Diagnostic::error("bad-test", message).at(span, "here").help(help);
    Error::Specification { diagnostics: vec![found], sources: Box::new(sources) }
}

/// Runs all tests of a file. A test whose trace or specification cannot be read fails, unless that is what it expects;
/// the others run.
pub(crate) fn test(session: &Session, file: &TestFile) -> Result<TestReport, Error> {
    let mut results = Vec::new();
    let mut lines: Vec<String> = file.text.lines().map(str::to_string).collect();
    // Blocks are rewritten from the last to the first, so that line numbers stay what they are.
    let mut rewritten: Vec<(std::ops::Range<usize>, Vec<String>)> = Vec::new();
    for case in &file.cases {
        let mut answers = answers::Answers::new(session, file, case)?;
        for block in &case.expectations {
            let found = answers.block(block)?;
            rewritten.push((block.first..block.first + block.body.len(), answers::rewrite(block, &found)));
            results.extend(found);
        }
    }
    for (range, new) in rewritten.into_iter().rev() {
        lines.splice(range, new);
    }
    let mut text = lines.join("\n");
    if file.text.ends_with('\n') || !file.text.contains('\n') {
        text.push('\n');
    }
    Ok(TestReport { path: file.path.clone(), results, rewritten: text })
}

#[cfg(test)]
mod tests;

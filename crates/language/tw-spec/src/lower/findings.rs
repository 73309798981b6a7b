//! Collects findings, each once: a macro expanded ten times reports its mistake one time.

use crate::parser::first_few;
use rustc_hash::FxHashSet;
use tw_diag::{Diagnostic, Span};

/// Findings so far.
#[derive(Default)]
pub(super) struct Findings {
    list: Vec<Diagnostic>,
    seen: FxHashSet<(&'static str, Option<Span>, String)>,
}

impl Findings {
    /// Adds a finding, unless the same one was made at the same place.
    pub fn add(&mut self, diagnostic: Diagnostic) {
        let place = diagnostic.labels.first().map(|(span, _)| *span);
        if self.seen.insert((diagnostic.code, place, diagnostic.message.clone())) {
            self.list.push(diagnostic);
        }
    }

    /// The first findings in the order of the text.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|d| d.labels.first().map(|(span, _)| (span.source, span.start)));
        first_few(self.list)
    }
}

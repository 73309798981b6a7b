//! Parametric monitors and charts of the source.

use super::{Builder, comment};
use tw_diag::Span;
use tw_spec::ast::chart::Chart;
use tw_spec::ast::monitor::Monitor;
use tw_spec::ast::{Comment, Declaration, DeclarationKind};

/// A block and where it comes from.
pub(super) struct Made {
    kind: DeclarationKind,
    span: Span,
    line: usize,
    /// What stands in front of it, beside the line.
    remarks: Vec<String>,
}

impl Builder {
    /// Adds a monitor, with lines about it.
    pub fn monitor(&mut self, monitor: Monitor, line: usize, remarks: Vec<String>) {
        let span = monitor.name.span;
        self.blocks.push(Made { kind: DeclarationKind::Monitor(monitor), span, line, remarks });
    }

    /// Adds a chart.
    pub fn chart(&mut self, chart: Chart, line: usize) {
        let span = chart.name.span;
        self.blocks.push(Made { kind: DeclarationKind::Chart(chart), span, line, remarks: Vec::new() });
    }
}

impl Made {
    pub fn declaration(self, file: &str, head: &[String]) -> Declaration {
        let mut comments: Vec<Comment> = head.iter().map(|line| comment(line)).collect();
        comments.push(Comment { blank_before: true, ..comment(&format!("{file}:{}", self.line)) });
        comments.extend(self.remarks.iter().map(|line| comment(line)));
        Declaration { kind: self.kind, span: self.span, comments, trailing: None, blank_before: false }
    }
}

/// A line before a line of a block.
pub(crate) fn remark(text: &str) -> Comment {
    comment(text)
}

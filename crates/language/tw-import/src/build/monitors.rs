//! Parametric monitors of the source.

use super::{Builder, comment};
use tw_spec::ast::monitor::Monitor;
use tw_spec::ast::{Comment, Declaration, DeclarationKind};

/// A monitor and where it comes from.
pub(super) struct Made {
    monitor: Monitor,
    line: usize,
    /// What stands in front of it, beside the line.
    remarks: Vec<String>,
}

impl Builder {
    /// Adds a monitor, with lines about it.
    pub fn monitor(&mut self, monitor: Monitor, line: usize, remarks: Vec<String>) {
        self.monitors.push(Made { monitor, line, remarks });
    }
}

impl Made {
    pub fn declaration(self, file: &str, head: &[String]) -> Declaration {
        let mut comments: Vec<Comment> = head.iter().map(|line| comment(line)).collect();
        comments.push(Comment { blank_before: true, ..comment(&format!("{file}:{}", self.line)) });
        comments.extend(self.remarks.iter().map(|line| comment(line)));
        let span = self.monitor.name.span;
        let kind = DeclarationKind::Monitor(self.monitor);
        Declaration { kind, span, comments, trailing: None, blank_before: false }
    }
}

/// A line before a line of a monitor.
pub(crate) fn remark(text: &str) -> Comment {
    comment(text)
}

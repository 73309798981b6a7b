//! `trace` blocks, one setting per line.

use super::monitor::MARGIN;
use super::{end_line, print_comments, print_path};
use crate::ast::settings::{SettingValue, TraceBlock};
use tw_ir::quote;

/// Appends the block, without the end of its last line.
pub(super) fn print(block: &TraceBlock, out: &mut String) {
    if block.lines.is_empty() && block.trailing_comments.is_empty() {
        return out.push_str("trace {}");
    }
    out.push_str("trace {\n");
    for (index, line) in block.lines.iter().enumerate() {
        print_comments(&line.comments, MARGIN, out);
        if line.blank_before && (index > 0 || !line.comments.is_empty()) {
            out.push('\n');
        }
        let value = match &line.value {
            SettingValue::Path { path, quoted } => print_path(path, *quoted),
            SettingValue::Words(words) => words.clone(),
            SettingValue::Text(text) => quote(text),
        };
        out.push_str(&format!("{MARGIN}{}: {value};", line.name.name));
        end_line(line.trailing.as_ref(), out);
    }
    print_comments(&block.trailing_comments, MARGIN, out);
    out.push('}');
}

//! Findings as the client shows them.

use crate::document::{Document, Encoding};
use crate::sample::Samples;
use serde_json::{Value, json};
use tracewise::diag::{Diagnostic, Severity, plain};
use tracewise::language::ast::DeclarationKind;

/// A sample that is not there, or cannot be read: hovers and completions would say nothing of it, and nobody would know why.
fn no_sample(document: &Document, samples: &mut Samples) -> Option<Diagnostic> {
    let look = document.look();
    let file = look.settings.sample.as_ref().filter(|_| document.path().is_some())?;
    let (message, help) = match std::path::Path::new(file).exists() {
        true => {
            let why = samples.trouble(&look.settings)?;
            (format!("the sample cannot be read: {why}"), format!("the file is `{file}`"))
        }
        false => (
            "there is no such sample".to_owned(),
            format!("the file would be `{file}`: its place is told from where the specification is"),
        ),
    };
    let line = look.tree.declarations.iter().find_map(|declaration| match &declaration.kind {
        DeclarationKind::Trace(block) => block.lines.iter().rfind(|line| line.name.name == "sample"),
        _ => None,
    })?;
    Some(Diagnostic::warning("no-sample", message).at(line.span, "").help(help))
}

/// The message that tells what is wrong with a document.
pub fn publish(document: &Document, samples: &mut Samples, encoding: Encoding) -> Value {
    let missing = no_sample(document, samples);
    let found = document.look().diagnostics.iter().chain(&missing);
    let list: Vec<Value> = found
        .map(|finding| {
            let span = finding.labels.first().map(|(span, _)| *span).unwrap_or_default();
            let (start, mut end) = (span.start as usize, span.end as usize);
            // What is missing has no width; the client underlines the character before it.
            let mut from = start;
            if start == end {
                from = document.text.get(..start).unwrap_or("").char_indices().next_back().map_or(
                    start,
                    |(at, c)| match c {
                        '\n' => start,
                        _ => at,
                    },
                );
                end = end.max(from);
            }
            let label = finding.labels.first().map_or("", |(_, label)| label);
            let mut message = plain(&finding.message);
            for part in [label, finding.help.as_deref().unwrap_or_default()] {
                if !part.is_empty() {
                    message.push('\n');
                    message.push_str(&plain(part));
                }
            }
            let related: Vec<Value> = finding
                .labels
                .iter()
                .skip(1)
                .map(|(span, label)| {
                    let location = json!({"uri": document.uri, "range": document.range(*span, encoding)});
                    json!({"location": location, "message": plain(label)})
                })
                .collect();
            json!({
                "range": document.between(from, end, encoding),
                "severity": match finding.severity {
                    Severity::Error => 1,
                    Severity::Warning => 2,
                    Severity::Note => 3,
                },
                "code": finding.code,
                "source": "tracewise",
                "message": message,
                "relatedInformation": related,
            })
        })
        .collect();
    json!({
        "jsonrpc": "2.0",
        "method": "textDocument/publishDiagnostics",
        "params": {"uri": document.uri, "version": document.version, "diagnostics": list},
    })
}

/// The same for a document that is open no more: nothing.
pub fn clear(uri: &str) -> Value {
    json!({
        "jsonrpc": "2.0",
        "method": "textDocument/publishDiagnostics",
        "params": {"uri": uri, "diagnostics": []},
    })
}

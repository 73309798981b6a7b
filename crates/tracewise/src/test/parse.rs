//! The blocks of a test file.

use super::{Block, Case, EXPECTATIONS};
use crate::trace::{format_named, formats};

/// A place in the text, what is wrong there, and what to write.
pub(crate) type Trouble = ((usize, usize), String, String);

/// The cases of a file: a trace begins one, with the specification that stands before it.
pub(crate) fn parse(text: &str) -> Result<Vec<Case>, Trouble> {
    let mut cases: Vec<Case> = Vec::new();
    let mut spec: Option<Block> = None;
    let mut heading = String::new();
    for part in parts(text)? {
        let block = match part {
            Part::Heading(text) => {
                heading = text;
                continue;
            }
            Part::Block(block) => block,
        };
        let kind = block.info[0].as_str();
        if kind == "tw" {
            spec = Some(block);
        } else if EXPECTATIONS.contains(&kind) {
            match cases.last_mut() {
                Some(case) => case.expectations.push(block),
                None => return Err(trouble(&block, "nothing to expect this of", "a trace stands before it")),
            }
        } else if kind == "trace" || format_named(kind).is_some() {
            let Some(spec) = spec.clone() else {
                return Err(trouble(
                    &block,
                    "no specification stands before this trace",
                    "begin with a block of `tw`",
                ));
            };
            let name = block.info[1..].iter().find(|word| !word.contains('=')).cloned();
            if kind == "trace" && name.is_none() {
                return Err(trouble(&block, "which trace?", "name the file: `trace requests.jsonl`"));
            }
            cases.push(Case { heading: heading.clone(), name, spec, trace: block, expectations: Vec::new() });
        } else {
            let formats: Vec<&str> = formats().iter().map(|format| format.name()).collect();
            let help = format!(
                "blocks are tw, trace, {}, or a format: {}",
                EXPECTATIONS.join(", "),
                formats.join(", ")
            );
            return Err(trouble(&block, &format!("unknown block `{kind}`"), &help));
        }
    }
    match cases.iter().find(|case| case.expectations.is_empty()) {
        Some(case) => {
            let help =
                "add a block of `verdicts` or `values` behind it; an empty one can be filled by writing";
            Err(trouble(&case.trace, "nothing is expected of this trace", help))
        }
        None if cases.is_empty() => {
            let help = "a test is a block of `tw`, a block with a trace, and a block of `verdicts`";
            Err(((0, 0), "there are no tests in this file".into(), help.into()))
        }
        None => Ok(cases),
    }
}

fn trouble(block: &Block, message: &str, help: &str) -> Trouble {
    (block.at, message.into(), help.into())
}

enum Part {
    Heading(String),
    Block(Block),
}

/// Headings and blocks; other lines are for people.
fn parts(text: &str) -> Result<Vec<Part>, Trouble> {
    let mut parts = Vec::new();
    let mut start = 0;
    // The block that is open, and how many backquotes close it.
    let mut open: Option<(Block, usize)> = None;
    for (number, line) in text.split('\n').enumerate() {
        let at = (start, start + line.trim_end().len());
        start += line.len() + 1;
        let quotes = line.len() - line.trim_start_matches('`').len();
        let line = line.strip_suffix('\r').unwrap_or(line);
        match &mut open {
            Some((block, fence)) if quotes >= *fence && line.trim_end().len() == quotes => {
                parts.push(Part::Block(std::mem::take(block)));
                open = None;
            }
            Some((block, _)) => block.body.push(line.to_string()),
            None if quotes >= 3 => {
                let info: Vec<String> = line[quotes..].split_whitespace().map(str::to_string).collect();
                if info.is_empty() {
                    let help =
                        "say what the block is: ```` ```tw ````, ```` ```jsonl ````, ```` ```verdicts ````";
                    return Err((at, "a block without a kind".into(), help.into()));
                }
                open = Some((Block { info, body: Vec::new(), first: number + 1, at }, quotes));
            }
            None => {
                if let Some(heading) = line.strip_prefix('#') {
                    parts.push(Part::Heading(heading.trim_start_matches('#').trim().to_string()));
                }
            }
        }
    }
    match open {
        Some((block, _)) => {
            Err(trouble(&block, "this block is not closed", "close it with a line of backquotes"))
        }
        None => Ok(parts),
    }
}

//! `split`: the slices of a log as files, with a manifest that says what each is about; and the verdicts from such files.

use super::keeping::{Belongs, Keeping};
use super::plan::properties;
use super::{Slicing, Way, decide, refuse};
use crate::plan::{Who, restrict};
use crate::run::open::Opened;
use crate::run::{Asked, Run};
use crate::trace::format_named;
use crate::{Error, Session, Specification};
use serde_json::{Value as Json, json};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use tw_log_slices::{Bucket, Division, Shard, cut, needed};
use tw_monitor::Answers;
use tw_trace::{Event, Outline, Row, RowSink};

/// The name of the manifest among the files.
pub const MANIFEST: &str = "manifest.json";
/// What a manifest begins with.
pub(super) const KIND: &str = "slices";

/// What was written.
#[derive(Clone, Debug)]
pub struct SplitReport {
    /// The manifest.
    pub manifest: String,
    /// The slices: each file with the number of its positions and events.
    pub files: Vec<(String, u64, u64)>,
    /// Positions and events of the log.
    pub positions: u64,
    /// Events of the log.
    pub events: u64,
    /// What each property is sliced on, in words.
    pub ways: Vec<(String, String)>,
}

/// One property's part of the plan.
struct Part<'s> {
    alone: Specification,
    name: &'s str,
    way: Way,
    /// Its slices: what each may report, and the positions it keeps.
    shards: Vec<(Shard, Vec<u32>)>,
}

pub(crate) fn split(
    session: &Session,
    spec: &Specification,
    files: &[String],
    slicing: &Slicing,
    directory: &Path,
) -> Result<SplitReport, Error> {
    let spec = &*properties(spec)?;
    if files.iter().any(|file| file == "-") {
        return Err(Error::refused("a log is read twice to be split: give a file, not standard input"));
    }
    if !spec.program.templates.is_empty() {
        return Err(Error::refused(
            "events that are templates of texts are no events of the log, which could be split",
        ));
    }
    let run = Run::new(session, spec, files, Who::Any(Answers::Verdicts), Asked::default())?;
    refuse(&run.options, slicing)?;
    let parts = plan(&run, slicing)?;
    let count = parts.iter().map(|part| part.shards.len()).max().unwrap_or(0);
    let failed = |error| Error::io(format!("cannot write slices to `{}`", directory.display()), error);
    std::fs::create_dir_all(directory).map_err(failed)?;
    let mut opened = Opened::new(session, files)?;
    let extension = extension(opened.format.name());
    let names: Vec<String> = (0..count).map(|slice| format!("slice-{:04}.{extension}", slice + 1)).collect();
    let written = write(&mut opened, &parts, directory, &names)?;
    let manifest = manifest(&run, &parts, &names, opened.format.name());
    let path = directory.join(MANIFEST);
    std::fs::write(&path, format!("{manifest:#}\n")).map_err(failed)?;
    let files = names.iter().zip(&written.files);
    let files = files.map(|(name, own)| (directory.join(name).display().to_string(), own.0, own.1));
    let way = |part: &Part<'_>| (part.name.to_string(), words(part));
    Ok(SplitReport {
        manifest: path.display().to_string(),
        files: files.collect(),
        positions: written.positions,
        events: written.events,
        ways: parts.iter().map(way).collect(),
    })
}

/// What a property is sliced on.
fn words(part: &Part<'_>) -> String {
    let names = &part.alone.program.dag.variables;
    let on: Vec<&str> = part.way.divisions.iter().map(|own| names[own.variable as usize].as_str()).collect();
    let time = if part.way.ranges.len() > 1 {
        format!("{} stretches of time", part.way.ranges.len())
    } else {
        String::new()
    };
    match (on.is_empty(), time.is_empty()) {
        (true, true) => "whole".into(),
        (true, false) => time,
        (false, true) => format!("on {}", on.join(", ")),
        (false, false) => format!("on {}, in {time}", on.join(", ")),
    }
}

/// A file's extension, from which its format is told.
fn extension(format: &str) -> &'static str {
    match format {
        "csv" => "csv",
        "events" => "events",
        "monpoly" => "log",
        "props" => "props",
        _ => "jsonl",
    }
}

fn plan<'s>(run: &Run<'s>, slicing: &Slicing) -> Result<Vec<Part<'s>>, Error> {
    let mut parts = Vec::new();
    for root in &run.spec.program.roots {
        let alone = run.spec.with_roots(vec![root.clone()]);
        let trace = restrict(&run.loaded.trace, &run.spec.program, &alone.program);
        let way = decide(&alone, Some(&trace), &run.options, slicing)
            .map_err(|reason| Error::refused(format!("`{}` is not sliced: {reason}", root.name)))?;
        let body = alone.program.invariant(root.node).map_or(root.node, |(_, body)| body);
        let mut shards = Vec::new();
        for &own in &way.ranges {
            let divided = way.ranges.len() > 1;
            let range = if divided { needed(&alone.program, body, &trace, &run.options, own) } else { own };
            for piece in cut(&alone.program, &trace, range, &way.divisions, way.filter) {
                let positions = divided.then_some(own);
                shards.push((Shard { positions, ..piece.shard }, piece.order));
            }
        }
        parts.push(Part { alone, name: &root.name, way, shards });
    }
    Ok(parts)
}

struct Written {
    files: Vec<(u64, u64)>,
    positions: u64,
    events: u64,
}

/// Writes rows to the slices that keep their positions, with the events that they keep.
fn write(
    opened: &mut Opened,
    parts: &[Part<'_>],
    directory: &Path,
    names: &[String],
) -> Result<Written, Error> {
    let failed = |error| Error::io(format!("cannot write slices to `{}`", directory.display()), error);
    let (mut columns, mut has_time, mut has_event): (Vec<Arc<str>>, bool, bool) = (Vec::new(), false, false);
    let mut known = std::collections::HashSet::new();
    opened.rows(&mut |row: &Row| {
        for (name, _) in &row.variables {
            if known.insert(name.clone()) {
                columns.push(name.clone());
            }
        }
        has_time |= row.time.is_some();
        has_event |= !row.events.is_empty();
        Ok(true)
    })?;
    let format = format_named(match extension(opened.format.name()) {
        "log" => "monpoly",
        other => other,
    });
    let format = format.unwrap_or(opened.format);
    let mut sinks: Vec<Box<dyn RowSink>> = Vec::new();
    let mut lists: Vec<BufWriter<std::fs::File>> = Vec::new();
    for name in names {
        let file = std::fs::File::create(directory.join(name)).map_err(failed)?;
        let list = std::fs::File::create(directory.join(format!("{name}.positions"))).map_err(failed)?;
        let outline = Outline { columns: &columns, has_time, has_event, texts: &[], guard: false };
        sinks.push(format.writer(Box::new(BufWriter::new(file)), outline)?);
        lists.push(BufWriter::new(list));
    }
    let keeping: Vec<Keeping<'_>> = parts
        .iter()
        .map(|part| Keeping::new(&part.alone.program, part.shards.iter().map(|(shard, _)| shard)))
        .collect();
    // Of each property and slice, how many of its positions have passed.
    let mut passed: Vec<Vec<usize>> = parts.iter().map(|part| vec![0; part.shards.len()]).collect();
    let (mut at, mut events, mut counts) = (0u64, 0u64, vec![(0u64, 0u64); names.len()]);
    let mut trouble = None;
    opened.rows(&mut |row: &Row| {
        events += row.events.len() as u64;
        // One event alone is the position itself; what a slice has too much is dropped by what it may report.
        let belong: Vec<Vec<Belongs>> = match row.events.len() {
            0 | 1 => Vec::new(),
            _ => keeping.iter().map(|own| own.belong(row)).collect(),
        };
        for slice in 0..names.len() {
            let mut keepers: Vec<(&Shard, Option<&Vec<Belongs>>)> = Vec::new();
            for (index, (part, passed)) in parts.iter().zip(&mut passed).enumerate() {
                let Some((shard, order)) = part.shards.get(slice) else { continue };
                if order.get(passed[slice]).is_some_and(|next| u64::from(*next) == at) {
                    passed[slice] += 1;
                    keepers.push((shard, belong.get(index)));
                }
            }
            if keepers.is_empty() {
                continue;
            }
            counts[slice].0 += 1;
            let result = if belong.is_empty() {
                counts[slice].1 += row.events.len() as u64;
                sinks[slice].write(row)
            } else {
                let kept = |at: usize| {
                    let mut own =
                        keepers.iter().filter_map(|(shard, belong)| Some((shard, belong.as_ref()?)));
                    own.any(|(shard, belong)| belong[at].to(&shard.buckets))
                };
                let own = row.events.iter().enumerate().filter(|(at, _)| kept(*at));
                let events: Vec<Event> = own.map(|(_, event)| event.clone()).collect();
                counts[slice].1 += events.len() as u64;
                // Not `..row.clone()`: that would copy all events first.
                sinks[slice].write(&Row {
                    line: row.line,
                    time: row.time,
                    variables: row.variables.clone(),
                    events,
                    typed: row.typed,
                    distinct: row.distinct,
                    repeated: row.repeated.clone(),
                    unfit: row.unfit.clone(),
                })
            };
            result?;
            if let Err(error) = writeln!(lists[slice], "{at}") {
                trouble = Some(error);
                return Ok(false);
            }
        }
        at += 1;
        Ok(true)
    })?;
    for (sink, list) in sinks.iter_mut().zip(&mut lists) {
        sink.finish()?;
        list.flush().map_err(failed)?;
    }
    match trouble {
        Some(error) => Err(failed(error)),
        None => Ok(Written { files: counts, positions: at, events }),
    }
}

fn manifest(run: &Run<'_>, parts: &[Part<'_>], names: &[String], format: &str) -> Json {
    let restriction = |part: &Part<'_>, shard: &Shard| {
        let variables = &part.alone.program.dag.variables;
        let one = |own: &Bucket| {
            let Division { variable, salt, of } = own.division;
            json!({"variable": variables[variable as usize], "salt": salt, "of": of, "is": own.is})
        };
        let buckets: Vec<Json> = shard.buckets.iter().map(one).collect();
        let positions = shard.positions.map(|(a, b)| [a, b]);
        json!({"property": part.name, "buckets": buckets, "positions": positions, "as_one": part.way.collapse})
    };
    let slices: Vec<Json> = names
        .iter()
        .enumerate()
        .map(|(slice, name)| {
            let own = parts.iter().filter_map(|part| Some((part, part.shards.get(slice)?)));
            let restrictions: Vec<Json> = own.map(|(part, (shard, _))| restriction(part, shard)).collect();
            json!({"file": name, "positions": format!("{name}.positions"), "restrictions": restrictions})
        })
        .collect();
    let timed = run.loaded.summary.timed;
    json!({
        "tracewise": KIND, "version": 1, "trace": run.loaded.name(), "format": format,
        "timed": timed, "positions": run.loaded.summary.positions, "slices": slices,
    })
}

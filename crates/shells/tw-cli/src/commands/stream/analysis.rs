//! What is known of streams, and answers about them, for people and as JSON.

use crate::context::{Context, Outcome};
use crate::exit::Exit;
use crate::style::Ink;
use crate::words;
use std::io::{self, Write};
use tracewise::findings::json;
use tracewise::ir::StreamType;
use tracewise::stream::{Rows, Shown, StreamAnalysis, StreamAnswer, StreamMemory, walk_text};

pub(super) fn write(analysis: &StreamAnalysis, as_json: bool, context: &mut Context) -> Outcome {
    if !context.quiet {
        match as_json {
            true => writeln!(context.out, "{}", json::stream_analysis(analysis))?,
            false => write_text(analysis, context)?,
        }
    }
    Ok(exit(analysis.well_defined))
}

pub(super) fn write_answer(answer: &StreamAnswer, as_json: bool, context: &mut Context) -> Outcome {
    if !context.quiet {
        match as_json {
            true => writeln!(context.out, "{}", json::stream_answer(answer))?,
            false => {
                let word = match answer.answer {
                    Some(true) => context.style.paint(Ink::Good, "yes"),
                    Some(false) => context.style.paint(Ink::Bad, "no"),
                    None => context
                        .style
                        .paint(Ink::Faint, "gave up: more states than the budget allows (--states)"),
                };
                writeln!(context.out, "{word}")?;
                answer.witness.iter().try_for_each(|witness| write_witness(witness, context))?;
            }
        }
    }
    Ok(exit(answer.answer))
}

fn exit(answer: Option<bool>) -> Exit {
    match answer {
        Some(true) => Exit::Holds,
        Some(false) => Exit::Violated,
        None => Exit::Undecided,
    }
}

fn write_text(analysis: &StreamAnalysis, context: &mut Context) -> io::Result<()> {
    let style = context.style;
    let formed = match analysis.well_formed {
        true => style.paint(Ink::Good, "well-formed"),
        false => {
            let verb = if analysis.cycle.len() == 1 { "depends on itself" } else { "depend on each other" };
            let cycle = words::printable(&analysis.cycle.join("`, `"));
            let through = walk_text(&analysis.walk)
                .map_or(String::new(), |text| format!(", through {}", words::printable(&text)));
            style.paint(Ink::Bad, format!("not well-formed: `{cycle}` {verb} at the same position{through}"))
        }
    };
    writeln!(context.out, "{formed}")?;
    let defined = match (analysis.well_defined, analysis.under_defined, analysis.over_defined) {
        (Some(true), ..) => style.paint(Ink::Good, "well-defined: every input has exactly one model"),
        (_, Some(true), Some(true)) => {
            style.paint(Ink::Bad, "under-defined and over-defined: some input has two models, some has none")
        }
        (_, Some(true), _) => style.paint(Ink::Bad, "under-defined: some input has two models"),
        (_, _, Some(true)) => style.paint(Ink::Bad, "over-defined: some input has no model"),
        _ => style.paint(Ink::Faint, "gave up: more states than the budget allows (--states)"),
    };
    writeln!(context.out, "{defined}")?;
    match (analysis.alternation, analysis.passes) {
        (Some(alternation), 1) => writeln!(context.out, "alternation depth {alternation}: 1 pass")?,
        (Some(alternation), passes) => {
            writeln!(context.out, "alternation depth {alternation}: {passes} passes")?;
        }
        (None, _) => writeln!(context.out, "{}", words::printable(&analysis.reason))?,
    }
    match (analysis.online, analysis.look_ahead) {
        (Some(true), Some(0)) => writeln!(context.out, "live: each value is known at its position")?,
        (Some(true), Some(ahead)) => {
            writeln!(
                context.out,
                "live: values are known {} later",
                words::counted(ahead as u64, "position")
            )?;
        }
        _ => writeln!(context.out, "not live: values depend on all that follows")?,
    }
    match analysis.state_bytes {
        Some(bytes) => writeln!(context.out, "state: {}", words::counted(bytes as u64, "byte"))?,
        None if analysis.well_formed && analysis.online == Some(true) => {
            let timed = |row: &&StreamMemory| row.bytes.is_none();
            let each: usize =
                analysis.memory.iter().filter(timed).filter_map(|row| row.bytes_per_event).sum();
            let rest: usize = analysis.memory.iter().filter_map(|row| row.bytes).sum();
            writeln!(
                context.out,
                "state: {}, and up to {} for every event within the windows of time: no bound but their number",
                words::counted(rest as u64, "byte"),
                words::counted(each as u64, "byte")
            )?;
        }
        None if analysis.well_formed => writeln!(context.out, "state: the whole trace is kept")?,
        None => {}
    }
    if analysis.well_formed {
        write_memory(&analysis.memory, context)?;
    }
    analysis.witnesses.iter().try_for_each(|witness| write_witness(witness, context))
}

/// A row per stream, and per column that is read at other positions.
fn write_memory(memory: &[StreamMemory], context: &mut Context) -> io::Result<()> {
    let number = |number: Option<usize>| number.map_or("all".to_string(), |number| number.to_string());
    let mut rows = vec![["", "type", "look-back", "look-ahead", "bytes"].map(String::from)];
    for row in memory {
        let bytes = match (row.bytes, row.bytes_per_event) {
            (None, Some(each)) if row.look_ahead.is_some() => format!("{each} per event inside"),
            (bytes, _) => number(bytes),
        };
        let bytes = match &row.by {
            Some(by) => format!("{bytes} per {}", words::printable(by)),
            None => bytes,
        };
        rows.push([
            words::clip(&words::printable(&row.name), 40),
            row.ty
                .map_or(if row.bytes_per_event.is_some() { "window" } else { "column" }, StreamType::name)
                .to_owned(),
            match row.bytes_per_event {
                Some(_) if row.bytes.is_none() => "its length".to_owned(),
                _ => row.look_back.to_string(),
            },
            number(row.look_ahead),
            bytes,
        ]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..4).map(width).collect();
    for (at, [name, ty, back, ahead, bytes]) in rows.iter().enumerate() {
        let line = format!(
            "  {name:w0$}  {ty:w1$}  {back:>w2$}  {ahead:>w3$}  {bytes}",
            w0 = widths[0],
            w1 = widths[1],
            w2 = widths[2],
            w3 = widths[3],
        );
        let line = if at == 0 { context.style.paint(Ink::Faint, line) } else { line };
        writeln!(context.out, "{line}")?;
    }
    Ok(())
}

/// A small table: a row per stream, a column per position.
fn write_witness(witness: &Shown, context: &mut Context) -> io::Result<()> {
    writeln!(context.out, "\n{}:", witness.kind)?;
    write_rows("input", &witness.input, context)?;
    for (number, model) in witness.models.iter().enumerate() {
        let title =
            if witness.models.len() == 1 { "model".to_string() } else { format!("model {}", number + 1) };
        write_rows(&title, model, context)?;
    }
    Ok(())
}

fn write_rows(title: &str, rows: &Rows, context: &mut Context) -> io::Result<()> {
    let Some(first) = rows.first() else { return Ok(()) };
    let width = first.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    writeln!(context.out, "  {title}")?;
    for (stream, (name, _)) in first.iter().enumerate() {
        let values: Vec<&str> = rows.iter().map(|row| if row[stream].1 { "1" } else { "0" }).collect();
        writeln!(context.out, "    {:width$}  {}", words::printable(name), values.join(" "))?;
    }
    Ok(())
}

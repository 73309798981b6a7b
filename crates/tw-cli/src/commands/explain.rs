//! `tracewise explain`: what a specification consists of, which engine runs it, and why.

use super::{OutputArgs, Runnable};
use crate::context::{Context, Outcome, usage};
use crate::exit::Exit;
use crate::json::{Object, array};
use crate::options::{EvaluateArgs, FILES, formulas, specification};
use crate::style::{Ink, Style};
use crate::words;
use clap::Args;
use std::io::{self, Write};
use tracewise::{RootReport, Session, SpecReport};

/// Fragment, chosen engine and why, and size of each property
#[derive(Args, Debug)]
#[command(
    override_usage = "tracewise explain [OPTIONS] SPEC.tw\n       tracewise explain [OPTIONS] -e FORMULA"
)]
pub struct Explain {
    /// The specification (`-` is standard input)
    #[arg(value_name = "SPEC", value_hint = FILES, required_unless_present = "formulas", conflicts_with = "formulas")]
    spec: Option<String>,

    /// A formula to explain; may be given several times
    #[arg(short = 'e', long = "formula", value_name = "FORMULA", allow_hyphen_values = true)]
    formulas: Vec<String>,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    evaluate: EvaluateArgs,
}

impl Runnable for Explain {
    fn run(self, context: &mut Context) -> Outcome {
        let (name, spec) = match &self.spec {
            Some(path) => (path.as_str(), specification(path)?),
            None if self.formulas.is_empty() => return Err(usage("no specification given")),
            None => ("<formula>", formulas(&self.formulas)?),
        };
        context.warnings(&spec.warnings, &spec.sources);
        let report = self.evaluate.apply(Session::new()).explain_spec(&spec)?;
        if !context.quiet {
            if self.output.json() {
                write_json(name, &report, &mut context.out)?;
            } else {
                write_text(&report, context.style, &mut context.out)?;
            }
        }
        Ok(Exit::Holds)
    }
}

fn write_text(report: &SpecReport, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let row = |out: &mut dyn Write, key: &str, value: &str| {
        for (index, line) in words::wrap(value, style.width.map(|w| w.saturating_sub(12))).iter().enumerate()
        {
            let key = if index == 0 { key } else { "" };
            writeln!(out, "  {} {line}", style.paint(Ink::Frame, format!("{key:<9}")))?;
        }
        Ok::<_, io::Error>(())
    };
    for root in &report.roots {
        let name = words::clip(&words::printable(&root.name), 160);
        let title = root.title.as_deref().unwrap_or(if root.query { "(query)" } else { "" });
        writeln!(out, "{}", format!("{}  {title}", style.paint(Ink::Strong, name)).trim_end())?;
        if root.formula != root.name {
            row(out, "formula", &root.formula)?;
        }
        let depth = match root.fragment.temporal_depth {
            0 => String::new(),
            depth => format!(", temporal operators nested {depth} deep"),
        };
        row(out, "fragment", &format!("{}{depth}", root.fragment.name()))?;
        row(out, "size", &words::counted(root.nodes as u64, "node"))?;
        // The reason stands once, below, unless this property has its own.
        match root.choice.engine {
            Some(name) if root.choice.engine == report.choice.engine => row(out, "engine", name)?,
            _ => row(out, "engine", &engine(root.choice.engine, &root.choice.reason))?,
        }
        writeln!(out)?;
    }
    if !report.patterns.is_empty() {
        writeln!(out, "{}", style.paint(Ink::Strong, "patterns"))?;
        for (call, meaning) in &report.patterns {
            writeln!(out, "  {}  {meaning}", style.paint(Ink::Frame, call))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{}", style.paint(Ink::Strong, "whole specification"))?;
    let (nodes, atoms) = (report.nodes as u64, report.atoms as u64);
    let sizes = [(report.roots.len() as u64, "root"), (nodes, "node"), (atoms, "atom")];
    row(out, "size", &sizes.map(|(number, noun)| words::counted(number, noun)).join(", "))?;
    row(out, "reads", &if report.reads.is_empty() { "nothing".into() } else { report.reads.join(", ") })?;
    row(out, "engine", &engine(report.choice.engine, &report.choice.reason))
}

fn engine(name: Option<&str>, reason: &str) -> String {
    match name {
        Some(name) => format!("{name}: {reason}"),
        None => format!("none: {reason}"),
    }
}

fn write_json(name: &str, report: &SpecReport, out: &mut dyn Write) -> io::Result<()> {
    for root in &report.roots {
        writeln!(out, "{}", root_json(root))?;
    }
    let pattern = |(call, meaning): &(String, String)| {
        Object::new().field("call", call.as_str()).field("meaning", meaning.as_str()).end()
    };
    let whole = Object::new()
        .field("specification", name)
        .field("roots", report.roots.len())
        .field("nodes", report.nodes)
        .field("atoms", report.atoms)
        .field("reads", report.reads.clone())
        .field("engine", report.choice.engine)
        .field("reason", report.choice.reason.as_str())
        .raw("patterns", &array(report.patterns.iter().map(pattern)));
    writeln!(out, "{}", whole.end())
}

fn root_json(root: &RootReport) -> String {
    Object::new()
        .field(if root.query { "query" } else { "property" }, root.name.as_str())
        .maybe("title", root.title.as_deref())
        .field("formula", root.formula.as_str())
        .field("fragment", root.fragment.name())
        .field("future", root.fragment.future)
        .field("past", root.fragment.past)
        .field("metric", root.fragment.metric)
        .field("first_order", root.fragment.first_order)
        .field("experiments", root.fragment.experiments)
        .field("temporal_depth", root.fragment.temporal_depth)
        .field("nodes", root.nodes)
        .field("engine", root.choice.engine)
        .field("reason", root.choice.reason.as_str())
        .end()
}

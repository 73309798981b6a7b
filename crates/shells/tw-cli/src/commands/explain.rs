//! `tracewise explain`: what a specification consists of, which engine runs it, and why.

use super::Runnable;
use crate::clock_error::ClockErrorArgs;
use crate::context::{Context, Outcome, usage};
use crate::exit::Exit;
use crate::flags::flagged;
use crate::options::{EvaluateArgs, FILES, clocks, either, named, specification};
use crate::style::{Ink, Style};
use crate::words;
use clap::Args;
use clap::builder::TypedValueParser;
use std::io::{self, Write};
use tracewise::explain::{AutomatonKind, ExplainOptions, Graph, SlicesReport, SpecReport};
use tracewise::findings::json::{self, Object};
use tracewise::imprecise::{ClockLabels, Label, Obstacle};
use tracewise::{Clock, Evaluating, Session, TimeUnit};

/// Fragment, chosen engine and why, and size of each property
#[derive(Args, Debug)]
#[command(
    override_usage = "tracewise explain [OPTIONS] SPEC.tw\n       tracewise explain [OPTIONS] -e FORMULA"
)]
pub struct Explain {
    /// The specification (`-` is standard input)
    #[arg(value_name = "SPEC", value_hint = FILES, required_unless_present = "formulas", conflicts_with = "formulas")]
    spec: Option<String>,

    /// A formula or query to explain; may be given several times
    #[arg(short = 'e', long = "formula", value_name = "FORMULA", allow_hyphen_values = true)]
    formulas: Vec<String>,

    /// The automaton of each property instead: `alternating`, or `dfa` (three-valued with `--semantics ltl3`)
    #[arg(long, value_name = "KIND", value_parser = automata())]
    automaton: Option<AutomatonKind>,

    /// Rewriting rules and goals for Maude instead
    #[arg(long, conflicts_with = "automaton")]
    maude: bool,

    /// Text for people, or one JSON object per line; for automata also `dot` and `svg`
    #[arg(long, value_name = "FORM", default_value = "text", value_parser = ["text", "json", "dot", "svg"])]
    output: String,

    /// What intervals measure: timestamps, positions, or continuous time
    #[arg(long, value_name = "CLOCK", default_value = "stamps", value_parser = clocks())]
    clock: Clock,

    #[command(flatten)]
    clock_error: ClockErrorArgs,

    #[command(flatten)]
    evaluate: EvaluateArgs,
}

impl Runnable for Explain {
    fn run(self, context: &mut Context) -> Outcome {
        let (name, spec) = match &self.spec {
            Some(path) => (path.as_str(), specification(path)?),
            None if self.formulas.is_empty() => return Err(usage("no specification given")),
            None => ("<formula>", either(&self.formulas)?),
        };
        context.warnings(&spec.warnings, &spec.sources);
        let error = self.clock_error.error(TimeUnit::Seconds)?;
        let clock = match (&error, self.clock) {
            (Some(_), Clock::Index) => {
                return Err(usage("a clock error is about timestamps, but --clock index counts positions"));
            }
            (Some(_), _) => Clock::Dense,
            (None, clock) => clock,
        };
        let session = Session::new().evaluating(Evaluating { clock, ..self.evaluate.evaluating() });
        if self.maude {
            let text = flagged(&session.maude(&spec)?);
            if !context.quiet {
                context.out.write_all(text.as_bytes())?;
            }
            return Ok(Exit::Holds);
        }
        if let Some(kind) = self.automaton {
            return self.draw(&session.automata(&spec, kind)?, context);
        }
        if let "dot" | "svg" = self.output.as_str() {
            return Err(usage(format!(
                "`--output {}` is for automata: add `--automaton alternating`",
                self.output
            )));
        }
        let mut report = session.explain_spec(&spec, ExplainOptions { clock_error: error.is_some() })?;
        in_reasons(&mut report);
        if !context.quiet {
            if self.output == "json" {
                json::explain(name, &report, &mut context.out)?;
            } else {
                write_text(&report, context.style, &mut context.out)?;
            }
        }
        Ok(Exit::Holds)
    }
}

/// Flags for settings in the reasons why something runs or does not.
fn in_reasons(report: &mut SpecReport) {
    let spell = |text: &mut String| *text = flagged(text);
    spell(&mut report.choice.reason);
    for root in &mut report.roots {
        spell(&mut root.choice.reason);
        root.not_live.iter_mut().for_each(spell);
        root.live.iter_mut().filter_map(|live| live.engine.as_mut().err()).for_each(spell);
    }
}

impl Explain {
    /// Automata, one after the other; an SVG file holds one.
    fn draw(&self, automata: &[(String, Graph)], context: &mut Context) -> Outcome {
        if self.output == "svg" && automata.len() != 1 {
            return Err(usage("`--output svg` draws one property: name it with `-e`, or use `--output dot`"));
        }
        if context.quiet {
            return Ok(Exit::Holds);
        }
        for (name, graph) in automata {
            let text = match self.output.as_str() {
                "svg" => graph.to_svg().map_err(|large| usage(large.to_string()))?,
                "json" => {
                    let object = Object::new().field("property", name.as_str());
                    object.field("automaton", graph.to_json()).end() + "\n"
                }
                _ => graph.to_dot(),
            };
            context.out.write_all(text.as_bytes())?;
        }
        Ok(Exit::Holds)
    }
}

fn automata() -> impl TypedValueParser<Value = AutomatonKind> {
    named(&AutomatonKind::ALL)
}

/// Sets of names: `{m, c}, {i}`.
fn sets(sets: &[Vec<String>]) -> String {
    let set = |set: &Vec<String>| format!("{{{}}}", set.join(", "));
    sets.iter().map(set).collect::<Vec<_>>().join(", ")
}

fn write_text(report: &SpecReport, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let row = |out: &mut dyn Write, key: &str, value: &str| {
        let value = words::printable(value);
        for (index, line) in words::wrap(&value, style.width.map(|w| w.saturating_sub(12))).iter().enumerate()
        {
            let key = if index == 0 { key } else { "" };
            writeln!(out, "  {} {line}", style.paint(Ink::Frame, format!("{key:<9}")))?;
        }
        Ok::<_, io::Error>(())
    };
    for root in &report.roots {
        let name = words::clip(&words::printable(&root.name), 160);
        let untitled = match (&root.required, root.query) {
            (Some(_), _) => "(requirement)",
            (None, true) => "(query)",
            (None, false) => "",
        };
        let title = root.title.as_deref().unwrap_or(untitled);
        let title = words::printable(title);
        writeln!(out, "{}", format!("{}  {title}", style.paint(Ink::Strong, name)).trim_end())?;
        if root.formula != root.name {
            row(out, "formula", &root.formula)?;
        }
        if let Some(required) = &root.required {
            row(out, "required", required)?;
        }
        let depth = match root.fragment.temporal_depth {
            0 => String::new(),
            depth => format!(", temporal operators nested {depth} deep"),
        };
        row(out, "fragment", &format!("{}{depth}", root.fragment.name()))?;
        row(out, "size", &words::counted(root.nodes as u64, "node"))?;
        if let Some(nodes) = root.automata.alternating {
            let mut text = format!("alternating: {}", words::counted(nodes as u64, "node"));
            if let Some(deterministic) = &root.automata.deterministic {
                text.push_str(&format!("; deterministic: {deterministic}"));
            }
            row(out, "automata", &text)?;
        }
        if root.query {
            let live = root.not_live.as_ref().map_or("yes".into(), |why| format!("no: {why}"));
            row(out, "live", &live)?;
        }
        if let Some(labels) = &root.labels {
            row(out, "judged", &judged(labels))?;
            row(out, "if true", &label(&labels.holds, "holds"))?;
            row(out, "if false", &label(&labels.fails, "fails"))?;
        }
        if let Some(live) = &root.live {
            match &live.engine {
                Ok(engine) if Some(*engine) == root.choice.engine => {}
                Ok(engine) => row(out, "live", &format!("watched by {engine}"))?,
                Err(why) => row(out, "live", &format!("cannot be watched: {why}"))?,
            }
            if let Some(delay) = &live.delay {
                row(out, "delay", &delay.to_string())?;
            }
            if let Some(memory) = live.memory() {
                row(out, "memory", &format!("{memory}, while it is watched"))?;
            }
        }
        if let Some(extent) = &root.extent {
            row(out, "robust", extent)?;
        }
        if let Some(data) = &root.data {
            for (variable, by) in &data.binds {
                let by = by
                    .as_deref()
                    .map_or("nothing: infinitely many values may violate".into(), |by| format!("`{by}`"));
                row(out, "binds", &format!("{variable} by {by}"))?;
            }
            row(out, "reach", &data.reach)?;
            for holds in &data.holds {
                row(out, "holds", holds)?;
            }
            let refusals = match data.unbound.as_slice() {
                [] => "none: every variable is bound by an event or a column".to_string(),
                some => format!("possible: nothing binds {} in its scope", some.join(", ")),
            };
            row(out, "refusals", &refusals)?;
        }
        // The reason stands once, below, unless this property has its own.
        match root.choice.engine {
            Some(name) if root.choice.engine == report.choice.engine => row(out, "engine", name)?,
            _ => row(out, "engine", &engine(root.choice.engine, &root.choice.reason))?,
        }
        if let Some(slices) = &root.slices {
            row(out, "slices", &slices_words(slices))?;
        }
        writeln!(out)?;
    }
    for monitor in &report.monitors {
        let title = words::printable(monitor.title.as_deref().unwrap_or("(monitor)"));
        writeln!(out, "{}  {title}", style.paint(Ink::Strong, words::printable(&monitor.name)))?;
        row(out, "automaton", &words::counted(monitor.states as u64, "state"))?;
        let none = || "no event, so that nothing is ever reported".to_owned();
        row(
            out,
            "creation",
            &if monitor.creation.is_empty() { none() } else { monitor.creation.join(", ") },
        )?;
        for (event, before) in &monitor.enable {
            let before = if before.is_empty() { "no way to a report has it".into() } else { sets(before) };
            row(out, "enable", &format!("{event}: {before}"))?;
        }
        for (bound, keys) in &monitor.trees {
            row(out, "bindings", &format!("{} found by {}", sets(std::slice::from_ref(bound)), sets(keys)))?;
        }
        row(out, "memory", &format!("{} bytes a binding, values and indexes aside", monitor.bytes))?;
        if let Some(parameter) = &monitor.shard {
            row(out, "threads", &format!("divided by {parameter}"))?;
        }
        row(out, "engine", "parametric")?;
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

/// What the labels are about.
fn judged(labels: &ClockLabels) -> String {
    match labels.always {
        true => format!("`{}` at every instant", labels.formula),
        false => format!("`{}` when time begins", labels.formula),
    }
}

fn label(label: &Result<Label, Obstacle>, verb: &str) -> String {
    match label {
        Ok(Label::All) => format!("it {verb} on every possible execution"),
        Ok(Label::Some) => format!("it {verb} on some possible execution"),
        Err(blocked) => format!("no guarantee, because of {}", blocked.sentence()),
    }
}

fn engine(name: Option<&str>, reason: &str) -> String {
    match name {
        Some(name) => format!("{name}: {reason}"),
        None => format!("none: {reason}"),
    }
}

/// How a log is sliced for a property, in a line.
fn slices_words(slices: &SlicesReport) -> String {
    if let Some(why) = &slices.refused {
        return format!("none: {why}");
    }
    let mut parts = Vec::new();
    match (&slices.variable, slices.duplicated.as_slice()) {
        (Some(variable), []) => parts.push(format!("on {variable}, nothing duplicated")),
        (Some(variable), events) => {
            parts.push(format!("on {variable}, every slice has all of `{}`", events.join("`, `")))
        }
        (None, _) => parts.push("on no variable".into()),
    }
    parts.push(match &slices.unbounded {
        Some(far) => format!("not in time (`{far}`)"),
        None => "in time".into(),
    });
    if slices.filtered {
        parts.push("without empty positions".into());
    }
    if slices.collapsible {
        parts.push("equal timestamps as one".into());
    }
    if let Some(why) = &slices.unsplit {
        parts.push(format!("not by `split` ({why})"));
    }
    parts.join("; ")
}

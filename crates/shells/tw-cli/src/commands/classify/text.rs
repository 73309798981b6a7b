//! Classes for people: how many traces, why, and the tree.

use crate::report::{Outlet, Reporter};
use crate::style::{Ink, Style};
use crate::words;
use std::io;
use tracewise::Verdict;
use tracewise::classify::{ClassReport, Truth, draw};
use tracewise::findings::{Detail, Report};

/// Lines of a tree.
const LINES: usize = 16;
/// Traces of a class that are named.
const NAMED: usize = 3;

/// Writes the classes of a run.
pub struct Text {
    style: Style,
}

impl Text {
    /// For a stream of that style.
    pub fn new(style: Style) -> Self {
        Self { style }
    }

    fn class(&self, class: &ClassReport, indent: &str, tree: bool, out: &mut dyn Outlet) -> io::Result<()> {
        let (mark, ink) = match class.verdict {
            Verdict::Satisfied => ("✓", Ink::Good),
            Verdict::Violated => ("✗", Ink::Bad),
            Verdict::Unknown => ("?", Ink::Open),
        };
        let news = if class.known { ", known" } else { "" };
        writeln!(
            out,
            "{indent}{} {}  {}, {}{news}",
            self.style.paint(ink, mark),
            self.style.paint(Ink::Strong, words::counted(class.traces, "trace")),
            class.verdict.as_str(),
            self.style.paint(Ink::Faint, &class.class),
        )?;
        if !tree {
            let line = words::clip(&words::printable(&class.hologram), self.style.width.unwrap_or(120));
            return writeln!(
                out,
                "{indent}  {}",
                self.style.paint(Ink::Faint, format!("{line}  by {}", class.rules))
            );
        }
        let width = self.style.width.map(|width| width.saturating_sub(indent.len() + 2));
        for line in words::wrap(&words::printable(&class.why), width) {
            writeln!(out, "{indent}  {line}")?;
        }
        for line in draw::lines(&class.tree, LINES) {
            writeln!(out, "{indent}    {}", self.style.paint(Ink::Frame, words::printable(&line)))?;
        }
        // Without weights it is a number of nodes, which the tree shows.
        let failing = class.tree.nodes.iter().filter(|node| node.truth == Truth::False).count();
        if class.severity != failing as f64 {
            writeln!(out, "{indent}  severity {}", class.severity)?;
        }
        let more = class.traces.saturating_sub(NAMED as u64);
        let names: Vec<String> =
            class.examples.iter().take(NAMED).map(|name| words::printable(name).to_string()).collect();
        let more = if more > 0 { format!(" and {} more", words::count(more)) } else { String::new() };
        writeln!(
            out,
            "{indent}  {}",
            self.style.paint(Ink::Faint, format!("in {}{more}", names.join(", ")))
        )?;
        if let Some(shrunk) = &class.shrunk {
            writeln!(
                out,
                "{indent}  smallest part of the first: {}",
                words::counted(shrunk.len() as u64, "position")
            )?;
            for (position, line) in shrunk.iter().take(LINES) {
                let text =
                    line.as_ref().map_or(String::new(), |line| words::printable(&line.text).to_string());
                writeln!(out, "{indent}    {position:>6} {} {text}", self.style.paint(Ink::Frame, "│"))?;
            }
            if shrunk.len() > LINES {
                writeln!(out, "{indent}    …")?;
            }
        }
        Ok(())
    }

    /// The classes of one property: those of the last rules and, below each, what fell together in it.
    fn within(
        &self,
        all: &[&ClassReport],
        level: usize,
        of: Option<&str>,
        depth: usize,
        out: &mut dyn Outlet,
    ) -> io::Result<()> {
        for class in all.iter().filter(|class| class.level == level) {
            if of.is_some_and(|of| class.within.as_deref() != Some(of)) {
                continue;
            }
            // Where nothing falls apart, the finer class says all.
            let inside = all.iter().filter(|own| {
                level > 0 && own.level == level - 1 && own.within.as_deref() == Some(&*class.class)
            });
            let splits = inside.count() > 1;
            if level == 0 || splits {
                self.class(class, &"  ".repeat(depth), level == 0, out)?;
            }
            if level > 0 {
                let depth = depth + usize::from(splits);
                self.within(all, level - 1, Some(&class.class), depth, out)?;
            }
        }
        Ok(())
    }
}

impl Reporter for Text {
    fn report(&mut self, report: &Report, out: &mut dyn Outlet) -> io::Result<()> {
        let classes = report.items.iter().filter_map(|item| match &item.detail {
            Detail::Class(class, _) => Some(&**class),
            _ => None,
        });
        let classes: Vec<&ClassReport> = classes.collect();
        for own in classes.chunk_by(|a, b| a.property == b.property) {
            let title = own[0].title.as_ref().map_or(String::new(), |title| format!("  {title}"));
            writeln!(out, "{}{title}", self.style.paint(Ink::Strong, words::printable(&own[0].property)))?;
            let level = own.iter().map(|class| class.level).max().unwrap_or(0);
            if level > 0 {
                let rules: Vec<String> = (0..=level)
                    .rev()
                    .filter_map(|level| own.iter().find(|class| class.level == level))
                    .map(|class| class.rules.to_string())
                    .collect();
                writeln!(
                    out,
                    "{}",
                    self.style.paint(Ink::Faint, format!("rules, outer to inner: {}", rules.join(" · ")))
                )?;
            }
            self.within(own, level, None, 0, out)?;
            writeln!(out)?;
        }
        let statistics = &report.statistics;
        let count = |name: &str, noun| words::counted(statistics.count(name).unwrap_or(0), noun);
        let summary = format!(
            "{} of {} in {} ({}), {}",
            match statistics.count("classes") {
                Some(1) => "1 class".to_string(),
                other => format!("{} classes", words::count(other.unwrap_or(0))),
            },
            count("traces", "trace"),
            words::printable(&report.subject),
            words::counted(statistics.positions.unwrap_or(0), "position"),
            words::duration(statistics.elapsed)
        );
        writeln!(out, "{}", self.style.paint(Ink::Faint, summary))?;
        out.flush()
    }
}

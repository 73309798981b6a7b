//! Sequence charts as pictures: the charts of a specification, the arrows between them, and what a trace says about them.

mod colour;
mod order;

pub use colour::colour;
pub use order::dot;

use crate::{Error, Specification};
use tw_core::suggest;
use tw_plot::{After, Happening, Hexagon, Line, PartOf, Sequence, Sequences};
use tw_spec::ast::DeclarationKind;
use tw_spec::ast::chart::{Body, Chart, Kind, Part, PartName};

/// The charts of a specification to be drawn: all of them, or the one of a name.
pub fn sequences(spec: &Specification, only: Option<&str>) -> Result<Sequences, Error> {
    let charts = charts(spec, only)?;
    let mut drawn = Sequences { title: title(&charts), ..Sequences::default() };
    drawn.charts = charts.iter().map(|chart| sequence(chart)).collect();
    for declaration in &spec.tree.declarations {
        let DeclarationKind::After(after) = &declaration.kind else { continue };
        let part = |own: &PartName| {
            let chart = charts.iter().position(|chart| chart.name.name == own.chart.name)?;
            Some(PartOf { chart, main: own.part == Part::Main })
        };
        let then: Vec<PartOf> = after.then.iter().filter_map(part).collect();
        if let (Some(first), false) = (part(&after.first), then.is_empty()) {
            drawn.after.push(After { first, broken: vec![false; then.len()], then });
        }
    }
    Ok(drawn)
}

/// The charts that are meant.
fn charts<'s>(spec: &'s Specification, only: Option<&str>) -> Result<Vec<&'s Chart>, Error> {
    let all: Vec<&Chart> = spec.written_charts().collect();
    if all.is_empty() {
        return Err(Error::refused("the specification has no charts"));
    }
    let Some(name) = only else { return Ok(all) };
    let names = || all.iter().map(|chart| chart.name.name.as_str());
    match all.iter().find(|chart| chart.name.name == name) {
        Some(&chart) => Ok(vec![chart]),
        None => {
            let instead = match suggest(name, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => {
                    format!(
                        "charts are {}",
                        names().map(|own| format!("`{own}`")).collect::<Vec<_>>().join(", ")
                    )
                }
            };
            Err(Error::refused(format!("there is no chart `{name}`; {instead}")))
        }
    }
}

fn title(charts: &[&Chart]) -> String {
    let names: Vec<&str> = charts.iter().map(|chart| chart.name.name.as_str()).collect();
    names.join(", ")
}

fn sequence(chart: &Chart) -> Sequence {
    let lifelines = chart.lifelines();
    Sequence {
        name: chart.name.name.clone(),
        title: chart.title.clone(),
        hexagon: match chart.kind {
            Kind::Necessary => Hexagon::Necessary,
            Kind::Sufficient => Hexagon::Sufficient,
            Kind::Iff => Hexagon::Iff,
        },
        iterate: chart.iterate.is_some(),
        pre: lines(&chart.pre, &lifelines),
        main: lines(&chart.main, &lifelines),
        lifelines: lifelines.into_iter().map(str::to_owned).collect(),
        verdict: None,
    }
}

fn lines(body: &Body, lifelines: &[&str]) -> Vec<Line> {
    let place = |name: &str| lifelines.iter().position(|own| *own == name).unwrap_or(0);
    let line = |(message, coregion): (&tw_spec::ast::chart::Message, Option<usize>)| {
        let mut events = [None, None];
        for (direction, _) in message.events() {
            events[direction as usize] = Some(Happening::default());
        }
        Line {
            from: place(&message.from.name),
            to: place(&message.to.name),
            label: message.name.name.clone(),
            events,
            coregion,
        }
    };
    body.messages().into_iter().map(line).collect()
}

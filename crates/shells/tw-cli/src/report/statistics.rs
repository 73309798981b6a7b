//! The statistics of `check --stat`.

use crate::style::{Ink, Style};
use crate::words;
use tracewise::check::{Elapsed, Part, StatisticReport, Wait};
use tracewise::findings::Item;
use tracewise::trace::duration;

/// Lines to print below the verdict.
pub fn text(item: &Item, statistic: &StatisticReport, style: Style) -> Vec<String> {
    match statistic {
        StatisticReport::Rejecting { value: None, .. } | StatisticReport::Coverage { parts: None, .. } => {
            vec!["there is no accepting run".into()]
        }
        StatisticReport::Rejecting { value: Some(value), traversal, per_slice } => {
            let how = if *per_slice { ", equal nodes of a slice counted once" } else { "" };
            vec![format!(
                "fewest visits to rejecting nodes on an accepting run: {} ({traversal}{how})",
                words::count(*value)
            )]
        }
        StatisticReport::Coverage { parts: Some((covered, rest)), .. } => {
            coverage(item, covered, rest, style)
        }
        StatisticReport::Waiting(waits) if waits.is_empty() => {
            vec!["the formula has no eventuality to wait for".into()]
        }
        StatisticReport::Waiting(waits) => waits.iter().map(waiting).collect(),
        StatisticReport::Vacuity(None) => vec!["vacuity: the property does not hold".into()],
        StatisticReport::Vacuity(Some(parts)) if parts.is_empty() => {
            vec!["not vacuous: every part of the formula mattered".into()]
        }
        StatisticReport::Vacuity(Some(parts)) => parts
            .iter()
            .map(|(part, constant)| {
                format!(
                    "{} `{}` did not matter: the property holds with {constant} in its place",
                    style.paint(Ink::Open, "vacuous:"),
                    part.formula
                )
            })
            .collect(),
    }
}

/// The formula with what no run had to exercise underlined, and a list.
fn coverage(item: &Item, covered: &[Part], rest: &[Part], style: Style) -> Vec<String> {
    let all = covered.len() + rest.len();
    let mut lines = vec![format!(
        "coverage: {} of {} are on every accepting run",
        words::count(covered.len() as u64),
        words::counted(all as u64, "part")
    )];
    let formula = &item.formula;
    if !formula.contains('\n') && rest.iter().any(|part| part.place.is_some()) {
        // A part that was exercised inside one that was not (or the other way round) shows its own state.
        let mut marks: Vec<char> = formula.chars().map(|_| ' ').collect();
        let column = |byte: usize| formula.get(..byte).map_or(0, |before| before.chars().count());
        let mut spans: Vec<((usize, usize), bool)> = Vec::new();
        spans.extend(covered.iter().filter_map(|part| Some((part.place?, true))));
        spans.extend(rest.iter().filter_map(|part| Some((part.place?, false))));
        spans.sort_by_key(|((start, end), covered)| (std::cmp::Reverse(end - start), *covered));
        for ((start, end), covered) in spans {
            for mark in marks.iter_mut().take(column(end)).skip(column(start)) {
                *mark = if covered { ' ' } else { '~' };
            }
        }
        let marks: String = marks.into_iter().collect();
        lines.push(format!("  {formula}"));
        lines.push(format!("  {}", style.paint(Ink::Open, marks.trim_end())));
    }
    let list = |parts: &[Part]| parts.iter().map(|part| format!("`{}`", part.formula)).collect::<Vec<_>>();
    if !covered.is_empty() {
        lines.push(format!("exercised: {}", list(covered).join(", ")));
    }
    if !rest.is_empty() {
        lines.push(format!("{} {}", style.paint(Ink::Open, "never exercised:"), list(rest).join(", ")));
    }
    lines
}

fn waiting(wait: &Wait) -> String {
    let open = wait.asked - wait.met;
    let mut line =
        format!("`{}`: asked for {}", wait.part.formula, words::counted(wait.asked as u64, "time"));
    if let (Some((low, high)), Some(mean)) = (wait.range, wait.mean) {
        line.push_str(&format!(
            ", met {}; waited {low} to {high} positions, {mean:.2} on average",
            words::count(wait.met as u64)
        ));
    }
    if let Some(Elapsed { shortest, longest, mean, .. }) = wait.elapsed {
        let [shortest, longest, mean] = [shortest, longest, mean].map(duration);
        line.push_str(&format!(" ({shortest} to {longest}, {mean} on average)"));
    }
    if open > 0 {
        line.push_str(&format!("; {} not met before the trace ended", words::count(open as u64)));
    }
    if let Some(position) = wait.longest_from {
        line.push_str(&format!("; longest from position {position}"));
    }
    line
}

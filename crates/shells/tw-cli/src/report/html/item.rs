//! The card of one item: verdict, reason, places, values.

use super::super::escape::{attribute, content};
use super::super::{guarantee, statistics};
use super::values;
use crate::style::Style;
use crate::words;
use std::fmt::Write as _;
use tracewise::check::{LogLine, Step};
use tracewise::findings::{About, Detail, Item, Report, ViolationRange};
use tracewise::{Value, Verdict};

/// Levels of an explanation that fold; browsers stop nesting elements somewhere beyond.
const FOLDS: usize = 60;
/// Levels that are open at first.
const OPEN: usize = 6;
/// Ranges shown with the lines around them.
const SHOWN: usize = 50;

/// The card of an item. What is wrong is open.
pub fn card(report: &Report, item: &Item) -> String {
    let (class, sign) = match item.verdict {
        Some(Verdict::Violated) => ("bad", "✗"),
        Some(Verdict::Satisfied) => ("good", "✓"),
        Some(Verdict::Unknown) => ("open", "?"),
        None => ("plain", "="),
    };
    let body = body(report, item);
    let open = if item.verdict == Some(Verdict::Satisfied) { "" } else { " open" };
    let mut notes: Vec<String> = item.title.iter().map(|title| words::printable(title)).collect();
    if item.violation_count > 0 {
        notes.push(words::counted(item.violation_count as u64, "violation"));
    }
    notes.extend(words::undecided(item));
    let name = content(&words::clip(&words::printable(&item.name), 300));
    let note = content(&notes.join(" · "));
    format!(
        "<details class=\"item {class}\"{open}><summary><span class=\"sign\">{sign}</span>\
         <span class=\"name\">{name}</span><span class=\"note\">{note}</span></summary><div>{body}</div></details>\n"
    )
}

fn body(report: &Report, item: &Item) -> String {
    let mut body = String::new();
    if let Detail::Value(result) = &item.detail {
        body.push_str(&values::query(result));
    }
    if let Detail::Total(traces, Some((value, _))) = &item.detail {
        let value = content(&words::value(value));
        let over = words::counted(*traces as u64, "trace");
        let _ = write!(body, "<p class=\"value\">{value}</p><p class=\"soft\">over {over}</p>");
    }
    if let Detail::Robustness(found) = &item.detail {
        let _ = write!(body, "<p class=\"value\">{}</p>", content(&words::number(found.value)));
    }
    if !item.formula.is_empty() && item.formula != item.name {
        let _ = write!(body, "<p class=\"formula\"><code>{}</code></p>", content(&item.formula));
    }
    if let Some((file, line)) = item.source.as_ref().filter(|(file, _)| !file.starts_with('<')) {
        let _ = write!(body, "<p class=\"soft\">{}:{line}</p>", content(file));
    }
    // A value stands above already, with all of its parts.
    if !matches!(item.detail, Detail::Value(_) | Detail::Total(..)) {
        // Its robustness stands above, too.
        let above = usize::from(matches!(item.detail, Detail::Robustness(_)));
        for remark in item.remarks.iter().skip(above) {
            let _ = write!(body, "<p>{}</p>", content(&words::printable(remark)));
        }
    }
    if let Some(text) = item.guarantee.as_ref().and_then(guarantee::instants) {
        let _ = write!(body, "<p>{}</p>", content(&text));
    }
    if let Some(owed) = &item.pending {
        let text = format!("`{}` was owed since position {}", words::printable(&owed.owed), owed.since);
        let _ = write!(body, "<p>{}</p>", content(&text));
    }
    if let Some(root) = words::core(item) {
        let _ = write!(body, "<h3>Why</h3>{}", tree(root));
    }
    if !item.drawing.is_empty() {
        let _ = write!(body, "<pre>{}</pre>", content(&item.drawing.join("\n")));
    }
    if let Some(found) = &item.statistic {
        for line in statistics::text(item, found, Style::default()) {
            let _ = write!(body, "<p class=\"mono\">{}</p>", content(&line));
        }
    }
    body.push_str(&places(report, item));
    body
}

/// Where it fails, with the lines around each place, and what else it rests on.
fn places(report: &Report, item: &Item) -> String {
    let mut text = String::new();
    let ranges = item.ranges();
    if item.about == About::Property && !ranges.is_empty() {
        text.push_str("<h3>Where</h3>");
    }
    let focus = words::focus(item);
    for range in ranges.iter().take(SHOWN) {
        let _ = write!(text, "<p class=\"place\">{}</p>", content(&place(report, range)));
        if let Some(said) = &range.first.text {
            let _ = write!(text, "<p>{}</p>", content(&words::printable(said)));
        }
        if let Some(line) = &range.first.line {
            let own = std::slice::from_ref(line);
            let around = if range.first.around.is_empty() { own } else { range.first.around.as_slice() };
            text.push_str(&log(around, range, &focus));
        }
    }
    let told: usize = ranges.iter().take(SHOWN).map(|range| range.count).sum();
    let more = item.violation_count.saturating_sub(told) as u64;
    if more > 0 && told > 0 {
        let _ = write!(text, "<p class=\"soft\">… and {}</p>", words::counted(more, "more violation"));
    }
    for place in &item.places {
        let said = format!("{}:{} · {}", place.line.file, place.line.line, words::printable(&place.text));
        let _ = write!(text, "<p class=\"place\">{}</p>", content(&said));
        let _ = write!(text, "<div class=\"log\">{}</div>", log_line(&place.line, "", &[]));
    }
    if let Detail::Robustness(found) = &item.detail
        && let Some(line) = found.weakest.as_ref().and_then(|link| link.line.as_ref())
    {
        let values = &found.weakest.as_ref().map_or(Vec::new(), |link| link.values.clone());
        let _ = write!(text, "<p class=\"place\">{}:{}</p>", content(&line.file), line.line);
        let _ = write!(text, "<div class=\"log\">{}</div>", log_line(line, "", values));
    }
    text
}

/// File, line, position, time and values of a range.
fn place(report: &Report, range: &ViolationRange) -> String {
    let file = match &range.first.line {
        Some(_) => words::lines(range),
        None => report.subject.clone(),
    };
    let place = words::range(range, " · ");
    words::printable(&if place.is_empty() { file } else { format!("{file} · {place}") })
}

/// Lines of a log, those that fail marked.
fn log(lines: &[LogLine], range: &ViolationRange, focus: &[(String, Value)]) -> String {
    let mut text = String::from("<div class=\"log\">");
    let Some(own) = &range.first.line else { return String::new() };
    let last = match &range.last {
        Some((.., Some((file, line)))) if *file == own.file => *line,
        _ => own.line,
    };
    for line in lines {
        let hit = line.file == own.file && (own.line..=last).contains(&line.line);
        let focus = if hit { focus } else { &[] };
        text.push_str(&log_line(line, if hit { "hit" } else { "" }, focus));
    }
    text.push_str("</div>\n");
    text
}

fn log_line(line: &LogLine, class: &str, focus: &[(String, Value)]) -> String {
    // A record of several lines keeps them.
    let shown = line.text.trim_end_matches(['\r', '\n']);
    let mut marked = String::new();
    let mut at = 0;
    let mut fields: Vec<_> =
        focus.iter().filter_map(|(name, value)| words::field(shown, name, value)).collect();
    fields.sort_by_key(|field| field.start);
    for field in fields {
        if field.start >= at {
            let (before, own) = (&shown[at..field.start], &shown[field.clone()]);
            let _ = write!(marked, "{}<mark>{}</mark>", content(before), content(own));
            at = field.end;
        }
    }
    marked.push_str(&content(&shown[at..]));
    format!(
        "<div class=\"{class}\"><span class=\"n\">{}</span><span class=\"t\">{marked}</span></div>",
        line.line
    )
}

/// An explanation as a list that folds.
fn tree(root: &Step) -> String {
    let mut text = String::from("<ul class=\"tree\">");
    // What closes each level that is open.
    let mut closing: Vec<&str> = Vec::new();
    for (levels, step) in words::steps(root) {
        while closing.len() > levels.len() {
            text.push_str(closing.pop().unwrap_or_default());
        }
        let (class, sign) = if step.holds { ("yes", "✓") } else { ("no", "✗") };
        let said = content(&words::printable(&words::step(step)));
        let said = format!("<span class=\"{class}\">{sign}</span> {said}");
        let folds = !step.because.is_empty() && levels.len() < FOLDS;
        if folds {
            let open = if levels.len() < OPEN { " open" } else { "" };
            let _ = write!(text, "<li><details{open}><summary>{said}</summary><ul>");
            closing.push("</ul></details></li>");
        } else {
            let _ = write!(text, "<li><div class=\"leaf\">{said}</div>");
            if let Some(line) = step.line.as_ref().filter(|_| step.because.is_empty()) {
                let shown = words::around(&words::printable(&line.text), 160, &step.values);
                let _ = write!(text, "<div class=\"quote mono\">{} │ {}</div>", line.line, content(&shown));
            }
            text.push_str("</li>");
            // Deeper levels stand beside this one.
            closing.push("");
        }
    }
    while let Some(close) = closing.pop() {
        text.push_str(close);
    }
    text.push_str("</ul>");
    text
}

/// Where in the log each item fails, one strip below the other.
pub fn timeline(report: &Report) -> String {
    let rows: Vec<_> = report.items.iter().filter_map(|item| Some((item, item.timeline.as_ref()?))).collect();
    if rows.is_empty() || report.statistics.positions.is_none_or(|positions| positions < 2) {
        return String::new();
    }
    let positions = report.statistics.positions.unwrap_or(0);
    let mut text = String::from("<div class=\"timeline\"><h3>Violations over the log</h3>");
    for (item, found) in rows {
        let parts = found.parts.len();
        let most = found.parts.iter().copied().max().unwrap_or(1).max(1) as f64;
        let name = content(&words::clip(&words::printable(&item.name), 80));
        let hint = attribute(&words::printable(&item.name));
        let _ = write!(text, "<div class=\"strip\"><span class=\"name\" title=\"{hint}\">{name}</span>");
        let _ = write!(text, "<svg viewBox=\"0 0 {parts} 10\" preserveAspectRatio=\"none\" role=\"img\">");
        for (part, count) in found.parts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let edge = |part: usize| (part as u128 * u128::from(positions)).div_ceil(parts as u128);
            let (from, to) = (edge(part), edge(part + 1).max(1) - 1);
            // One violation among many is still seen.
            let height = 3.0 + 7.0 * (1.0 + *count as f64).ln() / (1.0 + most).ln();
            let wide = if parts < 60 { 0.9 } else { 1.0 };
            let violations = words::counted(*count, "violation");
            let _ = write!(
                text,
                "<rect x=\"{part}\" y=\"{:.1}\" width=\"{wide}\" height=\"{height:.1}\">\
                 <title>positions {from} to {to}: {violations}</title></rect>",
                10.0 - height
            );
        }
        text.push_str("</svg></div>");
        if found.cut {
            text.push_str("<p class=\"soft\">later violations are not drawn</p>");
        }
    }
    text.push_str("<div class=\"strip\"><span></span><div class=\"ticks\">");
    for (index, (position, time)) in report.ticks.iter().enumerate() {
        let between = if index == 0 || index + 1 == report.ticks.len() { "" } else { " class=\"between\"" };
        let time = time.map_or(String::new(), |time| format!("<br>{}", content(&time.format())));
        let _ = write!(text, "<span{between}>{}{time}</span>", words::count(*position as u64));
    }
    text.push_str("</div></div></div>\n");
    text
}

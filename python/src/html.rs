//! Reports as HTML, for notebooks: small, without scripts, explanations as trees that fold.

use tracewise::Verdict;
use tracewise::check::Step;
use tracewise::findings::{Item, Report, words};

const STYLE: &str = "<style>.tracewise{font:13px/1.5 system-ui,sans-serif;max-width:70em}.tracewise summary{cursor:pointer}\
.tracewise ul{list-style:none;margin:0;padding-left:1.4em}.tracewise .good{color:#1a7f37}.tracewise .bad{color:#cf222e}\
.tracewise .open{color:#9a6700}.tracewise .faint{opacity:.65}.tracewise code,.tracewise pre{font:12px/1.5 ui-monospace,monospace}\
.tracewise table{border-collapse:collapse}.tracewise td,.tracewise th{padding:2px 8px;text-align:left;\
border-bottom:1px solid #8884}</style>";

/// Violations that are listed of a property.
const LISTED: usize = 10;

/// A text as HTML.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in words::printable(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// A text of several lines as HTML.
pub fn text(of: &str) -> String {
    of.lines().map(escape).collect::<Vec<_>>().join("\n")
}

/// A part of a page.
pub fn page(inside: &str) -> String {
    format!("{STYLE}<div class=\"tracewise\">{inside}</div>")
}

/// A table: names, its first rows, how many there are.
pub fn table(names: &[String], rows: &[Vec<String>], all: usize) -> String {
    let cells = |tag: &str, cells: &[String]| {
        let cells = cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(&words::clip(cell, 200))));
        format!("<tr>{}</tr>", cells.collect::<String>())
    };
    let body: String = rows.iter().map(|row| cells("td", row)).collect();
    let more = if all > rows.len() {
        format!("<div class=\"faint\">… and {} more</div>", all - rows.len())
    } else {
        String::new()
    };
    page(&format!("<table><thead>{}</thead><tbody>{body}</tbody></table>{more}", cells("th", names)))
}

/// An explanation as a tree. The steps are walked with a list: they may be nested deeply.
fn tree(root: &Step) -> String {
    let mut out = String::from("<ul>");
    let mut depth = 0;
    for (levels, step) in words::steps(root) {
        while depth > levels.len() {
            out.push_str("</ul></details></li>");
            depth -= 1;
        }
        let (class, mark) = if step.holds { ("good", "✓") } else { ("bad", "✗") };
        let line = format!("<span class=\"{class}\">{mark}</span> {}", escape(&words::step(step)));
        if step.because.is_empty() {
            let quoted = step.line.as_ref().map_or(String::new(), |log| {
                format!(
                    "<br><code class=\"faint\">{} │ {}</code>",
                    log.line,
                    escape(&words::clip(&log.text, 300))
                )
            });
            out.push_str(&format!("<li>{line}{quoted}</li>"));
        } else {
            out.push_str(&format!("<li><details open><summary>{line}</summary><ul>"));
            depth += 1;
        }
    }
    while depth > 0 {
        out.push_str("</ul></details></li>");
        depth -= 1;
    }
    out + "</ul>"
}

/// A property: its verdict, its violations, why.
pub fn item(own: &Item) -> String {
    let (class, mark) = match own.verdict {
        Some(Verdict::Satisfied) => ("good", "✓"),
        Some(Verdict::Violated) => ("bad", "✗"),
        _ => ("open", "?"),
    };
    let title = own.title.as_ref().map_or(String::new(), |title| format!(" {}", escape(title)));
    let count = match own.violation_count {
        0 => String::new(),
        some => format!(" <span class=\"faint\">{}</span>", words::counted(some as u64, "violation")),
    };
    let head = format!("<span class=\"{class}\">{mark}</span> <b>{}</b>{title}{count}", escape(&own.name));
    let mut inside = String::new();
    for violation in own.violations.iter().take(LISTED) {
        let said = violation.text.as_ref().map_or(String::new(), |text| format!(": {}", escape(text)));
        inside.push_str(&format!("<li>{}{said}</li>", escape(&words::place(violation, " · "))));
    }
    if own.violation_count > LISTED {
        inside.push_str(&format!("<li class=\"faint\">… and {} more</li>", own.violation_count - LISTED));
    }
    if !inside.is_empty() {
        inside = format!("<ul>{inside}</ul>");
    }
    if let Some(explanation) = words::core(own) {
        inside.push_str(&tree(explanation));
    }
    let open = if own.verdict == Some(Verdict::Violated) { " open" } else { "" };
    match inside.is_empty() {
        true => format!("<div>{head}</div>"),
        false => format!("<details{open}><summary>{head}</summary>{inside}</details>"),
    }
}

/// An explanation: what is explained, and why.
pub fn explanation(head: &str, step: Option<&Step>) -> String {
    page(&format!("<div>{}</div>{}", escape(head), step.map_or(String::new(), tree)))
}

/// A property alone.
pub fn property(own: &Item) -> String {
    page(&item(own))
}

/// Reports, one per trace.
pub fn reports<'r>(reports: impl Iterator<Item = &'r Report>) -> String {
    let one = |report: &Report| {
        let items: String = report.items.iter().map(item).collect();
        format!("{items}<div class=\"faint\">{}</div>", escape(&summary(report)))
    };
    page(&reports.map(one).collect::<String>())
}

/// What was examined, and how.
pub fn summary(report: &Report) -> String {
    let statistics = &report.statistics;
    let by = statistics.by.as_ref().map_or(String::new(), |(column, values)| {
        format!(" for {} of {column}", words::counted(*values as u64, "value"))
    });
    let positions = words::counted(statistics.positions.unwrap_or(0), "position");
    format!("{} ({positions}){by}; engine {}", report.subject, statistics.engine.unwrap_or_default())
}

/// Pictures, shown one below the other.
pub fn pictures(of: &[String], below: &str) -> String {
    page(&format!("{}{below}", of.concat()))
}

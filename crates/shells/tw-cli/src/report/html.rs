//! `--output html`: one page that needs nothing but itself, to be attached to a ticket or kept with a CI run.
//!
//! It has no script: what folds is `<details>`. Whatever comes from a log or a specification is text, never markup
//! ([`escape`](super::escape)), and the page forbids scripts besides.

mod item;
mod values;

use super::escape::content;
use super::{Outlet, Reporter, place_of};
use crate::flags::flagged;
use crate::words;
use std::fmt::Write as _;
use std::io;
use tracewise::diag;
use tracewise::findings::{Report, Warning};
use tracewise::{Error, Verdict};

/// Items of one trace or model that are shown whole.
const ITEMS: usize = 500;

/// Gathers the sections of the page, whose head counts what is in them.
#[derive(Default)]
pub struct Html {
    command: &'static str,
    sections: Vec<Section>,
}

/// What is told about one trace or model.
#[derive(Default)]
struct Section {
    subject: String,
    tally: Tally,
    about: String,
    body: String,
}

/// How many there are of each.
#[derive(Clone, Copy, Default)]
struct Tally {
    violated: u64,
    open: u64,
    satisfied: u64,
    values: u64,
    errors: u64,
    warnings: u64,
}

impl Tally {
    fn add(self, other: Tally) -> Tally {
        Tally {
            violated: self.violated + other.violated,
            open: self.open + other.open,
            satisfied: self.satisfied + other.satisfied,
            values: self.values + other.values,
            errors: self.errors + other.errors,
            warnings: self.warnings + other.warnings,
        }
    }

    /// What there is, each with its class.
    fn parts(self) -> Vec<(&'static str, String)> {
        let values = words::counted(self.values, "value");
        let (errors, warnings) =
            (words::counted(self.errors, "error"), words::counted(self.warnings, "warning"));
        let all = [
            (self.errors, "bad", errors),
            (self.violated, "bad", format!("{} violated", words::count(self.violated))),
            (self.open, "open", format!("{} undecided", words::count(self.open))),
            (self.satisfied, "good", format!("{} satisfied", words::count(self.satisfied))),
            (self.values, "", values),
            (self.warnings, "open", warnings),
        ];
        all.into_iter().filter(|(count, ..)| *count > 0).map(|(_, class, text)| (class, text)).collect()
    }
}

impl Reporter for Html {
    fn report(&mut self, report: &Report, _: &mut dyn Outlet) -> io::Result<()> {
        self.command = report.command;
        let mut section = Section { subject: report.subject.clone(), ..Section::default() };
        section.about = about(report);
        for warning in &report.warnings {
            section.warning(warning);
        }
        section.body.push_str(&item::timeline(report));
        for picture in &report.pictures {
            section.body.push_str(&image(picture));
        }
        for (index, told) in report.told().enumerate() {
            section.tally = section.tally.add(match told.verdict {
                Some(Verdict::Violated) => Tally { violated: 1, ..Tally::default() },
                Some(Verdict::Unknown) => Tally { open: 1, ..Tally::default() },
                Some(Verdict::Satisfied) => Tally { satisfied: 1, ..Tally::default() },
                None => Tally { values: 1, ..Tally::default() },
            });
            for warning in &told.warnings {
                section.warning(warning);
            }
            if index < ITEMS {
                section.body.push_str(&item::card(report, told));
            }
        }
        let more = (report.told().count() as u64).saturating_sub(ITEMS as u64);
        if more > 0 {
            let _ =
                write!(section.body, "<p class=\"soft\">… and {} more, not shown</p>", words::count(more));
        }
        self.sections.push(section);
        Ok(())
    }

    fn error(&mut self, trace: Option<&str>, error: &Error, _: &mut dyn Outlet) -> io::Result<()> {
        let subject = trace.map(str::to_string).or_else(|| place_of(error).0);
        let text = flagged(&error.render(false));
        self.sections.push(Section {
            subject: subject.unwrap_or_else(|| "tracewise".into()),
            tally: Tally { errors: 1, ..Tally::default() },
            about: String::new(),
            body: format!("<div class=\"error\"><pre>{}</pre></div>", content(text.trim_end())),
        });
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Outlet) -> io::Result<()> {
        let tally = self.sections.iter().fold(Tally::default(), |sum, section| sum.add(section.tally));
        let title = match self.sections.as_slice() {
            [one] => one.subject.clone(),
            several => words::counted(several.len() as u64, "trace"),
        };
        let title = format!("tracewise {}: {title}", self.command).replace("tracewise : ", "tracewise: ");
        writeln!(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
        writeln!(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
        let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
        writeln!(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">")?;
        writeln!(out, "<title>{}</title>\n<style>", content(&title))?;
        out.write_all(include_bytes!("html/page.css"))?;
        writeln!(out, "</style>\n</head>\n<body>\n<main>\n<h1>{}</h1>", content(&title))?;
        writeln!(out, "{}", list(tally))?;
        if self.sections.len() > 1 {
            self.contents(out)?;
        }
        for (index, section) in self.sections.iter().enumerate() {
            writeln!(out, "<section id=\"s{index}\">")?;
            if self.sections.len() > 1 {
                writeln!(out, "<h2>{}</h2>", content(&section.subject))?;
            }
            if !section.about.is_empty() {
                writeln!(out, "<p class=\"soft\">{}</p>", content(&section.about))?;
            }
            writeln!(out, "{}\n</section>", section.body)?;
        }
        let version = env!("CARGO_PKG_VERSION");
        writeln!(out, "<footer>Written by tracewise {version}.</footer>\n</main>\n</body>\n</html>")
    }
}

impl Html {
    /// A table of the sections.
    fn contents(&self, out: &mut dyn Outlet) -> io::Result<()> {
        writeln!(out, "<div class=\"wide\"><table>\n<tr><th>trace</th><th>found</th></tr>")?;
        for (index, section) in self.sections.iter().enumerate() {
            let found: Vec<String> = section.tally.parts().into_iter().map(|(_, text)| text).collect();
            let subject = content(&section.subject);
            writeln!(
                out,
                "<tr><td><a href=\"#s{index}\">{subject}</a></td><td>{}</td></tr>",
                found.join(", ")
            )?;
        }
        writeln!(out, "</table></div>")
    }
}

impl Section {
    fn warning(&mut self, warning: &Warning) {
        self.tally.warnings += 1;
        let shown = diag::render(std::slice::from_ref(&warning.diagnostic), &warning.sources, false);
        let shown = content(flagged(&shown).trim_end());
        let _ = write!(self.body, "<div class=\"warning\"><pre>{shown}</pre></div>");
    }
}

fn list(tally: Tally) -> String {
    let parts = tally.parts();
    let each = parts.iter().map(|(class, text)| format!("<li class=\"{class}\"><b>{text}</b></li>"));
    format!("<ul class=\"tally\">{}</ul>", each.collect::<String>())
}

/// How it was examined, in a line.
fn about(report: &Report) -> String {
    let statistics = &report.statistics;
    let mut parts = Vec::new();
    parts.extend(statistics.positions.map(|positions| words::counted(positions, "position")));
    if let [(_, Some(first)), .., (_, Some(last))] = report.ticks.as_slice() {
        parts.push(format!("time {} to {}", first.format(), last.format()));
    }
    if let Some((column, values)) = &statistics.by {
        parts.push(format!("by {column} ({})", words::counted(*values as u64, "value")));
    }
    parts.extend(statistics.counts.iter().map(|(name, count)| format!("{} {name}", words::count(*count))));
    parts.extend(statistics.engine.map(|engine| format!("engine {engine}")));
    parts.extend(statistics.semantics.map(|semantics| format!("{semantics} semantics")));
    parts.push(words::duration(statistics.elapsed));
    if report.skipped > 0 {
        parts.push(format!("{} left out", words::counted(report.skipped, "bad line")));
    }
    parts.join(" · ")
}

/// A picture as an image of its own: its names and styles are not those of the page.
fn image(svg: &str) -> String {
    let mut text = String::with_capacity(svg.len() * 3 / 2);
    for byte in svg.bytes() {
        match byte {
            b'a'..=b'z'
            | b'A'..=b'Z'
            | b'0'..=b'9'
            | b' '
            | b'-'
            | b'.'
            | b'_'
            | b'/'
            | b':'
            | b';'
            | b'='
            | b',' => {
                text.push(char::from(byte));
            }
            _ => {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    format!("<div class=\"picture\"><img alt=\"plot\" src=\"data:image/svg+xml,{text}\"></div>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::text::tests::sample;

    fn page(report: &Report) -> String {
        let mut html = Html::default();
        let mut out = Vec::new();
        html.report(report, &mut out).unwrap();
        html.error(Some("gone.csv"), &Error::refused("no <file>"), &mut out).unwrap();
        assert!(out.is_empty());
        html.finish(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn nothing_in_a_log_is_markup() {
        let evil = "<script>alert(\"1\")</script><img src=x onerror='y'>";
        let mut report = sample();
        report.subject = evil.into();
        let item = &mut report.items[0];
        (item.name, item.title, item.formula) = (evil.into(), Some(evil.into()), evil.into());
        item.remarks = vec![evil.into()];
        item.source = Some((evil.into(), 3));
        for violation in &mut item.violations {
            violation.text = Some(evil.into());
            violation.bindings = vec![(evil.into(), tracewise::Value::text(evil))];
            let line = violation.line.as_mut().unwrap();
            (line.file, line.text) = (evil.into(), evil.into());
            violation.around = vec![line.clone()];
        }
        let page = page(&report);
        assert!(!page.contains("<script") && !page.contains("<img"), "{page}");
        assert!(page.matches("&lt;script&gt;").count() > 8, "{page}");
    }

    #[test]
    fn a_page_counts_what_is_on_it() {
        let page = page(&sample());
        for text in ["1 error", "1 violated", "1 undecided", "1 satisfied", "no &lt;file&gt;", "web.jsonl:7"]
        {
            assert!(page.contains(text), "{text}: {page}");
        }
        assert_eq!(page.matches("<details").count(), page.matches("</details>").count());
        assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("<script"));
    }

    #[test]
    fn pictures_are_images_of_their_own() {
        let shown = image("<svg id=\"a\">ä & \"</svg>");
        assert_eq!(shown.matches('"').count(), 6, "{shown}");
        assert!(shown.contains("%3Csvg id=%22a%22%3E%C3%A4 %26 %22%3C/svg%3E"), "{shown}");
    }
}

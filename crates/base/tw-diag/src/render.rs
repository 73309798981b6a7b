//! Findings as text for people and as JSON for programs.

use crate::{Diagnostic, Severity, Source, Sources, Span};
use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};
use std::fmt::Write;

/// Columns of source text shown at most; longer lines are cut to a window around the place.
const WINDOW: usize = 100;
/// Columns kept to the left of the place in a cut line.
const LEAD: usize = 30;
/// Characters of a message shown at most.
const MESSAGE: usize = 1200;
/// A tab is shown as this many columns.
const TAB: usize = 4;

/// Writes findings the way compilers do: message, place, the line with underlines, a hint.
pub fn render(diagnostics: &[Diagnostic], sources: &Sources, color: bool) -> String {
    let mut renderer = Renderer { sources, color, out: String::new() };
    for (i, diagnostic) in diagnostics.iter().enumerate() {
        if i > 0 {
            renderer.out.push('\n');
        }
        renderer.diagnostic(diagnostic);
    }
    renderer.out
}

/// The same for programs. Lines and columns count from 1, columns in characters.
pub fn to_json(d: &Diagnostic, sources: &Sources) -> Value {
    let places: Vec<(Place<'_>, &str)> = d
        .labels
        .iter()
        .filter_map(|(span, text)| Some((Place::of(*span, sources)?, text.as_str())))
        .collect();
    let labels: Vec<Value> = places
        .iter()
        .map(|(place, text)| {
            json!({
                "file": place.source.name,
                "line": place.line,
                "column": place.column,
                "end_line": place.end_line,
                "end_column": place.end_column,
                "text": text,
            })
        })
        .collect();
    let main = places.first().map(|(place, _)| place);
    json!({
        "file": main.map(|place| place.source.name.as_str()),
        "line": main.map(|place| place.line),
        "column": main.map(|place| place.column),
        "code": d.code,
        "severity": d.severity.name(),
        "message": d.message,
        "labels": labels,
        "help": d.help,
    })
}

/// A span resolved in its text.
struct Place<'a> {
    source: &'a Source,
    index: u32,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    /// The first line, without its end.
    text: &'a str,
    /// Bytes of `text` that are underlined; empty for a place between characters.
    from: usize,
    to: usize,
}

impl<'a> Place<'a> {
    /// `None` if there is no such source. Offsets beyond the text, or inside a character, are moved back.
    fn of(span: Span, sources: &'a Sources) -> Option<Self> {
        let source = sources.list.get(span.source as usize)?;
        let text = source.text.as_str();
        let mut start = floor(text, span.start as usize);
        let mut end = floor(text, span.end as usize).max(start);
        if start == text.len() && text.ends_with('\n') {
            // The end of the file is better shown behind its last words than on an empty line.
            start = text.trim_end().len();
            end = start;
        }
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let shown = text[line_start..line_end].trim_end_matches('\r');
        let (line, end_line) = (source.line(start), source.line(end));
        let end_line_start = text[..end].rfind('\n').map_or(0, |at| at + 1);
        let from = (start - line_start).min(shown.len());
        let to = if end > line_end { shown.trim_end().len() } else { end - line_start };
        Some(Place {
            source,
            index: span.source,
            line,
            column: text[line_start..start].chars().count() + 1,
            end_line,
            end_column: text[end_line_start..end].chars().count() + 1,
            text: shown,
            from,
            to: to.min(shown.len()).max(from),
        })
    }
}

/// The greatest character boundary that is not beyond `offset`.
fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// Columns that a character takes in a terminal.
fn width(c: char) -> usize {
    match u32::from(c) {
        0x9 => TAB,
        0x300..=0x36f | 0x200b | 0x20d0..=0x20ff | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0x303e
        | 0x3041..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1f64f
        | 0x1f680..=0x1f6ff
        | 0x1f900..=0x1f9ff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// A character as it is shown: nothing that moves the cursor or turns the direction of writing.
fn shown(c: char) -> char {
    match c {
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

/// The part of a line that is shown, and the columns of byte offsets in it.
struct Window {
    text: String,
    /// Column of the first shown character in the whole line.
    skipped: usize,
    cut_left: bool,
    end: usize,
}

impl Window {
    fn of(line: &str, from: usize) -> Self {
        let total: usize = line.chars().map(width).sum();
        let place: usize = line[..from].chars().map(width).sum();
        let skipped = if total <= WINDOW { 0 } else { place.saturating_sub(LEAD).min(total - WINDOW) };
        let end = if total <= WINDOW { total } else { skipped + WINDOW };
        let mut window = Window { text: String::new(), skipped, cut_left: skipped > 0, end };
        if window.cut_left {
            window.text.push('…');
        }
        let mut column = 0;
        let mut first = true;
        for c in line.chars() {
            let next = column + width(c);
            if column >= skipped && next <= end {
                if first {
                    // A wide character may have been cut in half; its columns are filled.
                    window.text.extend(std::iter::repeat_n(' ', column - skipped));
                    first = false;
                }
                match c {
                    '\t' => window.text.extend([' '; TAB]),
                    c => window.text.push(shown(c)),
                }
            }
            column = next;
        }
        if end < total {
            window.text.push('…');
        }
        window
    }

    /// The column in the shown text.
    fn column(&self, line: &str, byte: usize) -> usize {
        let column: usize = line[..byte].chars().map(width).sum();
        column.clamp(self.skipped, self.end) - self.skipped + usize::from(self.cut_left)
    }
}

struct Renderer<'a> {
    sources: &'a Sources,
    color: bool,
    out: String,
}

impl Renderer<'_> {
    fn paint(&self, style: Style, text: &str) -> String {
        if self.color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    fn diagnostic(&mut self, d: &Diagnostic) {
        let bold = Style::new().bold();
        let main = match d.severity {
            Severity::Error => AnsiColor::Red.on_default().bold(),
            Severity::Warning => AnsiColor::Yellow.on_default().bold(),
            Severity::Note => AnsiColor::Cyan.on_default().bold(),
        };
        let frame = AnsiColor::Blue.on_default().bold();
        let head = self.paint(main, &format!("{}[{}]", d.severity.name(), d.code));
        let message = self.paint(bold, &format!(": {}", clean(&d.message, "")));
        let _ = writeln!(self.out, "{head}{message}");

        let mut places: Vec<(usize, Place<'_>, &str)> = d
            .labels
            .iter()
            .enumerate()
            .filter_map(|(i, (span, text))| Some((i, Place::of(*span, self.sources)?, text.as_str())))
            .collect();
        let Some((main_index, main_place)) = places.first().map(|(_, p, _)| (p.index, (p.line, p.column)))
        else {
            return self.help(d, 0, frame);
        };
        let digits = places.iter().map(|(_, place, _)| place.line).max().unwrap_or(1).to_string().len();
        // The main text first, then others; inside a text by line; on a line by column.
        places.sort_by_key(|(_, p, _)| (p.index != main_index, p.index, p.line, p.from));
        let mut previous: Option<(u32, usize)> = None;
        let bar = self.paint(frame, &format!("{:digits$} |", ""));
        let mut i = 0;
        while i < places.len() {
            let (index, line) = (places[i].1.index, places[i].1.line);
            let end =
                i + places[i..].iter().take_while(|(_, p, _)| (p.index, p.line) == (index, line)).count();
            let group = &places[i..end];
            match previous {
                Some((before, at)) if before == index => {
                    if line > at + 1 {
                        let gap = self.paint(frame, "...");
                        let _ = writeln!(self.out, "{gap}");
                    }
                }
                _ => {
                    let (line, column) =
                        if index == main_index { main_place } else { (line, group[0].1.column) };
                    let arrow = if previous.is_none() { "-->" } else { ":::" };
                    let arrow = self.paint(frame, &format!("{:digits$}{arrow}", ""));
                    let name = clean(&group[0].1.source.name, "");
                    let _ = writeln!(self.out, "{arrow} {name}:{line}:{column}\n{bar}");
                }
            }
            self.line(group, digits, &bar, main, frame);
            previous = Some((index, line));
            i = end;
        }
        self.help(d, digits, frame);
    }

    /// One line of source text with the underlines of its labels, the main one with `^`.
    fn line(
        &mut self,
        group: &[(usize, Place<'_>, &str)],
        digits: usize,
        bar: &str,
        main: Style,
        frame: Style,
    ) {
        let Some((_, first, _)) = group.iter().min_by_key(|(order, ..)| *order) else { return };
        let window = Window::of(first.text, first.from);
        let number = self.paint(frame, &format!("{:>digits$} |", first.line));
        let _ = writeln!(self.out, "{}", format!("{number} {}", window.text).trim_end());
        for (order, place, text) in group {
            let from = window.column(place.text, place.from);
            let to = window.column(place.text, place.to);
            let (mark, style) = if *order == 0 { ("^", main) } else { ("-", frame) };
            let label = clean(text, "");
            let underline = format!("{} {label}", mark.repeat((to - from).max(1)));
            let underline = self.paint(style, underline.trim_end());
            let _ = writeln!(self.out, "{bar} {:from$}{underline}", "");
        }
    }

    fn help(&mut self, d: &Diagnostic, digits: usize, frame: Style) {
        let Some(help) = &d.help else { return };
        if !d.labels.is_empty() {
            let bar = self.paint(frame, &format!("{:digits$} |", ""));
            let _ = writeln!(self.out, "{bar}");
        }
        let equals = self.paint(frame, &format!("{:digits$} =", ""));
        let word = self.paint(Style::new().bold(), "help:");
        let indent = " ".repeat(digits + 9);
        let _ = writeln!(self.out, "{equals} {word} {}", clean(help, &indent));
    }
}

/// A message without control characters; its later lines are indented. A long one is cut in its middle: beginning
/// and end say what is wrong, the middle is a name or a value of the user's.
fn clean(text: &str, indent: &str) -> String {
    let mut out = String::with_capacity(text.len().min(2 * MESSAGE));
    let (head, tail) = match text.char_indices().nth(MESSAGE) {
        None => (text, ""),
        Some(_) => {
            let head = text.char_indices().nth(MESSAGE * 3 / 4).map_or(text.len(), |(at, _)| at);
            let tail = text.char_indices().rev().nth(MESSAGE / 4).map_or(text.len(), |(at, _)| at);
            (&text[..head], &text[tail..])
        }
    };
    let gap = if tail.is_empty() { "" } else { " … " };
    for (i, line) in format!("{head}{gap}{tail}").lines().enumerate() {
        if i > 0 {
            out.push('\n');
            out.push_str(indent);
        }
        out.extend(line.chars().map(|c| if c == '\t' { ' ' } else { shown(c) }));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(text: &str) -> Sources {
        let mut sources = Sources::default();
        sources.add("spec.tw", text);
        sources
    }

    fn span(start: usize, end: usize) -> Span {
        Span { source: 0, start: start as u32, end: end as u32 }
    }

    /// The span of the first occurrence of `part`.
    fn of(text: &str, part: &str) -> Span {
        let start = text.find(part).unwrap();
        span(start, start + part.len())
    }

    fn plain(d: Diagnostic, text: &str) -> String {
        render(&[d], &sources(text), false)
    }

    #[test]
    fn a_finding_shows_place_line_underline_and_help() {
        let text = "var a: int;\nproperty p : a < b < c;\n";
        let d = Diagnostic::error("chained-comparison", "comparisons cannot be chained")
            .at(of(text, "a < b < c"), "three terms")
            .help("write `a < b & b < c`");
        assert_eq!(
            plain(d, text),
            "error[chained-comparison]: comparisons cannot be chained\n \
             --> spec.tw:2:14\n  \
             |\n\
             2 | property p : a < b < c;\n  \
             |              ^^^^^^^^^ three terms\n  \
             |\n  \
             = help: write `a < b & b < c`\n"
        );
    }

    #[test]
    fn labels_on_other_lines_and_in_other_files_are_shown() {
        let mut sources = sources("a (\nb\nc\n;");
        sources.add("other.tw", "x y");
        let d = Diagnostic::warning("w", "m")
            .at(span(2, 3), "opened")
            .at(Span { source: 1, start: 2, end: 3 }, "there")
            .at(span(7, 7), "here");
        assert_eq!(
            render(&[d], &sources, false),
            "warning[w]: m\n --> spec.tw:1:3\n  |\n1 | a (\n  |   ^ opened\n...\n3 | c\n  |  - here\n ::: other.tw:1:3\n  |\n1 | x y\n  |   - there\n"
        );
    }

    #[test]
    fn tabs_and_wide_characters_keep_underlines_in_place() {
        let text = "\té日本x";
        let out = plain(Diagnostic::error("c", "m").at(of(text, "x"), "l"), text);
        assert!(out.contains("--> spec.tw:1:5\n"), "{out}");
        assert!(out.contains("1 |     é日本x\n  |          ^ l\n"), "{out}");
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let text = format!("{}needle{}", "a".repeat(5_000), "b".repeat(5_000));
        let out = plain(Diagnostic::error("c", "m").at(of(&text, "needle"), ""), &text);
        let lines: Vec<&str> = out.lines().collect();
        assert!(
            lines[3].chars().count() < 120 && lines[3].contains("needle") && lines[3].contains('…'),
            "{out}"
        );
        assert_eq!(lines[3].chars().position(|c| c == 'n'), lines[4].chars().position(|c| c == '^'), "{out}");
        // A span as long as the line is underlined to the end of the window.
        let out = plain(Diagnostic::error("c", "m").at(span(0, text.len()), ""), &text);
        assert!(out.lines().all(|line| line.chars().count() < 120), "{out}");
    }

    #[test]
    fn long_messages_are_cut_in_the_middle() {
        let message = format!("unknown `{}`: declare it", "é".repeat(1 << 20));
        let out = plain(Diagnostic::error("c", &message).help(message), "");
        assert!(out.len() < 6 * MESSAGE && out.matches("`: declare it").count() == 2, "{out}");
        let short = "x".repeat(MESSAGE);
        assert_eq!(plain(Diagnostic::error("c", &short), ""), format!("error[c]: {short}\n"));
    }

    #[test]
    fn a_span_over_lines_underlines_the_first() {
        let text = "ab cd\nef";
        let out = plain(Diagnostic::error("c", "m").at(span(3, 8), "l"), text);
        assert!(out.contains("1 | ab cd\n  |    ^^ l\n"), "{out}");
    }

    #[test]
    fn ends_of_texts_and_odd_offsets_do_not_matter() {
        for text in ["", "\n", "a\r\n", "é", "\u{1b}[31m", "日\t\u{202e}"] {
            for start in 0..6 {
                for end in 0..6 {
                    let d = Diagnostic::error("c", "m\u{7}").at(span(start, end), "l");
                    to_json(&d, &sources(text));
                    let out = plain(d, text);
                    assert!(out.chars().all(|c| c == '\n' || !c.is_control()), "{out:?}");
                }
            }
        }
        let d = Diagnostic::error("c", "m").at(Span { source: 7, start: 0, end: 1 }, "l");
        assert_eq!(plain(d, ""), "error[c]: m\n");
    }

    #[test]
    fn the_end_of_a_file_is_shown_behind_its_last_words() {
        let out = plain(Diagnostic::error("c", "m").at(span(6, 6), "here"), "a b\n\n\n");
        assert!(out.contains("1 | a b\n  |    ^ here\n"), "{out}");
    }

    #[test]
    fn colour_adds_escapes_only() {
        let text = "a b";
        let d = Diagnostic::error("c", "m").at(span(2, 3), "l").help("h");
        let colored = render(std::slice::from_ref(&d), &sources(text), true);
        let mut stripped = String::new();
        let mut rest = colored.as_str();
        while let Some(at) = rest.find('\u{1b}') {
            stripped.push_str(&rest[..at]);
            rest = &rest[at + rest[at..].find('m').unwrap() + 1..];
        }
        stripped.push_str(rest);
        assert_ne!(colored, stripped);
        assert_eq!(stripped, plain(d, text));
    }

    #[test]
    fn json_counts_from_one_in_characters() {
        let text = "é\nüb c";
        let d = Diagnostic::error("c", "m").at(of(text, "c"), "l").help("h");
        assert_eq!(
            to_json(&d, &sources(text)),
            json!({"file": "spec.tw", "line": 2, "column": 4, "code": "c", "severity": "error", "message": "m",
                "labels": [{"file": "spec.tw", "line": 2, "column": 4, "end_line": 2, "end_column": 5, "text": "l"}],
                "help": "h"})
        );
        assert_eq!(to_json(&Diagnostic::warning("c", "m"), &sources(text))["file"], Value::Null);
    }
}

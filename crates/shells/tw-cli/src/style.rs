//! Colours and width: what a terminal can show, and what the user asked for.

use anstyle::{AnsiColor, Effects};
use std::ffi::OsStr;

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// How to write to one stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether to colour.
    pub color: bool,
    /// Columns of the terminal; none on a pipe, where nothing is cut or wrapped.
    pub width: Option<usize>,
}

/// What a piece of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Holds.
    Good,
    /// Violated.
    Bad,
    /// Undecided.
    Open,
    /// A name.
    Strong,
    /// A place, a gutter.
    Frame,
    /// Beside the point.
    Faint,
}

impl Style {
    /// The style of a stream that is (or is not) a terminal, `columns` wide.
    pub fn of_stream(choice: ColorChoice, terminal: bool, columns: Option<usize>) -> Self {
        let variable = |name: &str| std::env::var_os(name);
        Self { color: wants_color(choice, terminal, variable), width: columns.filter(|_| terminal) }
    }

    /// `text` in an ink.
    pub fn paint(&self, ink: Ink, text: impl AsRef<str>) -> String {
        let text = text.as_ref();
        if !self.color || text.is_empty() {
            return text.to_string();
        }
        let style = match ink {
            Ink::Good => AnsiColor::Green.on_default() | Effects::BOLD,
            Ink::Bad => AnsiColor::Red.on_default() | Effects::BOLD,
            Ink::Open => AnsiColor::Yellow.on_default() | Effects::BOLD,
            Ink::Strong => anstyle::Style::new() | Effects::BOLD,
            Ink::Frame => AnsiColor::Blue.on_default() | Effects::BOLD,
            Ink::Faint => anstyle::Style::new() | Effects::DIMMED,
        };
        format!("{style}{text}{style:#}")
    }
}

/// `NO_COLOR` (any text) forbids, then `CLICOLOR_FORCE` (not `0`) commands, then `CLICOLOR=0` and `TERM=dumb` forbid,
/// then the terminal decides.
fn wants_color<V: AsRef<OsStr>>(
    choice: ColorChoice,
    terminal: bool,
    variable: impl Fn(&str) -> Option<V>,
) -> bool {
    let is = |name: &str, test: fn(&OsStr) -> bool| variable(name).is_some_and(|value| test(value.as_ref()));
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if is("NO_COLOR", |v| !v.is_empty()) => false,
        ColorChoice::Auto if is("CLICOLOR_FORCE", |v| !v.is_empty() && v != "0") => true,
        ColorChoice::Auto => terminal && !is("CLICOLOR", |v| v == "0") && !is("TERM", |v| v == "dumb"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_decides_on_colour() {
        use ColorChoice::*;
        type Case<'a> = (ColorChoice, bool, &'a [(&'a str, &'a str)], bool);
        let cases: &[Case<'_>] = &[
            (Auto, true, &[], true),
            (Auto, false, &[], false),
            (Auto, true, &[("NO_COLOR", "1")], false),
            (Auto, true, &[("NO_COLOR", "")], true),
            (Auto, false, &[("CLICOLOR_FORCE", "1")], true),
            (Auto, false, &[("CLICOLOR_FORCE", "0")], false),
            (Auto, false, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
            (Auto, true, &[("CLICOLOR", "0")], false),
            (Auto, true, &[("TERM", "dumb")], false),
            (Always, false, &[("NO_COLOR", "1")], true),
            (Never, true, &[("CLICOLOR_FORCE", "1")], false),
        ];
        for (choice, terminal, environment, expected) in cases {
            let variable = |name: &str| environment.iter().find(|(n, _)| *n == name).map(|(_, v)| *v);
            assert_eq!(
                wants_color(*choice, *terminal, variable),
                *expected,
                "{choice:?} {terminal} {environment:?}"
            );
        }
    }

    #[test]
    fn plain_style_leaves_text_alone() {
        assert_eq!(Style::default().paint(Ink::Bad, "x"), "x");
        let painted = Style { color: true, width: None }.paint(Ink::Bad, "x");
        assert!(painted.starts_with('\u{1b}') && painted.contains('x') && painted.ends_with('m'));
    }
}

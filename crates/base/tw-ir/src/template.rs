//! Templates of texts: `Failed password for {user} from {ip} port {port:int} ssh2`. They say which lines of a log are which
//! event, and what its arguments are.

use crate::{Path, What};
use std::ops::Range;
use tw_diag::Span;

/// Placeholders that one template may have.
pub const MOST_PLACEHOLDERS: usize = 64;

/// What a placeholder takes from the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Take {
    /// `{x}`: a run without white space, as short as the literal behind it allows, a text.
    Run,
    /// `{x:int}`: a whole number of 64 bits with all its digits.
    Int,
    /// `{x:real}`: a number with all its digits.
    Real,
    /// `{x:words}`: at least one character, white space too, as short as the literal behind it allows.
    Words,
    /// `{x:rest}`: everything to the end.
    Rest,
}

impl Take {
    /// Every kind that is written behind a colon, with its name.
    pub const NAMED: [(&'static str, Take); 4] =
        [("int", Take::Int), ("real", Take::Real), ("words", Take::Words), ("rest", Take::Rest)];

    /// Its name; a run has none.
    pub fn name(self) -> Option<&'static str> {
        Self::NAMED.iter().find(|(_, take)| *take == self).map(|(name, _)| *name)
    }
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text that stands there as it is.
    Literal(String),
    /// A placeholder.
    Placeholder {
        /// Its name; `None` for `{_}`, which is not kept.
        name: Option<String>,
        /// What it takes.
        take: Take,
        /// Its place in the template's text.
        at: Range<usize>,
    },
}

/// A template: literals and placeholders, no two placeholders side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    /// From left to right.
    pub pieces: Vec<Piece>,
}

/// Why a text is no template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    /// Where in the text.
    pub at: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl Template {
    /// Reads a template.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut template = Template::default();
        let (mut literal, mut at) = (String::new(), 0);
        while at < text.len() {
            let rest = &text[at..];
            match rest.find(['{', '}']) {
                None => {
                    literal.push_str(rest);
                    break;
                }
                Some(skip) if skip > 0 => {
                    literal.push_str(&rest[..skip]);
                    at += skip;
                }
                Some(_) if rest.starts_with("{{") || rest.starts_with("}}") => {
                    literal.push_str(&rest[..1]);
                    at += 2;
                }
                Some(_) if rest.starts_with('}') => {
                    return Err(error(
                        at..at + 1,
                        "this `}` closes nothing",
                        "a brace in the text is written `}}`",
                    ));
                }
                Some(_) => {
                    let Some(end) = rest.find('}') else {
                        let help = "close the placeholder with `}`; a brace in the text is written `{{`";
                        return Err(error(at..text.len(), "this placeholder does not end", help));
                    };
                    let place = at..at + end + 1;
                    if !literal.is_empty() {
                        template.pieces.push(Piece::Literal(std::mem::take(&mut literal)));
                    }
                    template.placeholder(&rest[1..end], place)?;
                    at += end + 1;
                }
            }
        }
        if !literal.is_empty() {
            template.rest_is_last(text.len() - 1..text.len())?;
            template.pieces.push(Piece::Literal(literal));
        }
        if template.pieces.is_empty() {
            return Err(error(
                0..0,
                "this template is empty",
                "write the text of the lines that are this event",
            ));
        }
        Ok(template)
    }

    fn placeholder(&mut self, inner: &str, at: Range<usize>) -> Result<(), TemplateError> {
        let (name, take) = match inner.split_once(':') {
            None => (inner, Take::Run),
            Some((name, kind)) => match Take::NAMED.iter().find(|(known, _)| *known == kind.trim()) {
                Some((_, take)) => (name, *take),
                None => {
                    let near = tw_core::suggest(kind.trim(), Take::NAMED.iter().map(|(known, _)| *known));
                    let help = match near {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => "kinds are `int`, `real`, `words` and `rest`; without one it is a run without white space".into(),
                    };
                    return Err(TemplateError {
                        message: format!("`{}` is no kind of placeholder", kind.trim()),
                        ..error(at, "", &help)
                    });
                }
            },
        };
        let name = name.trim();
        let word = |name: &str| {
            name.chars().all(|c| c.is_alphanumeric() || c == '_')
                && name.chars().next().is_some_and(|first| !first.is_numeric())
        };
        if !word(name) {
            let help = "write `{user}`, `{port:int}`, or `{_}` for what is not kept; a brace in the text is written `{{`";
            return Err(error(at, "a placeholder has a name: a word that begins with a letter", help));
        }
        self.rest_is_last(at.clone())?;
        if let Some(Piece::Placeholder { .. }) = self.pieces.last() {
            let help = "put text between the two, or make one of them";
            return Err(error(at, "two placeholders stand side by side: where one ends is open", help));
        }
        let name = (name != "_").then(|| name.to_owned());
        if name.is_some() && self.placeholders().any(|(_, other, _)| other == name.as_deref()) {
            let message = format!("the placeholder `{}` occurs twice", name.unwrap_or_default());
            return Err(TemplateError {
                message,
                ..error(at, "", "give each a name of its own, or write `{_}`")
            });
        }
        if self.placeholders().count() >= MOST_PLACEHOLDERS {
            let message = format!("this template has more than {MOST_PLACEHOLDERS} placeholders");
            return Err(TemplateError { message, ..error(at, "", "end it with `{_:rest}`") });
        }
        self.pieces.push(Piece::Placeholder { name, take, at });
        Ok(())
    }

    fn rest_is_last(&self, at: Range<usize>) -> Result<(), TemplateError> {
        match self.pieces.last() {
            Some(Piece::Placeholder { take: Take::Rest, .. }) => Err(error(
                at,
                "nothing can follow a placeholder of the kind `rest`",
                "it takes everything to the end; `words` takes what stands before the text that follows",
            )),
            _ => Ok(()),
        }
    }

    /// The placeholders: the number of the piece, the name, what is taken.
    pub fn placeholders(&self) -> impl Iterator<Item = (usize, Option<&str>, Take)> {
        self.pieces.iter().enumerate().filter_map(|(number, piece)| match piece {
            Piece::Placeholder { name, take, .. } => Some((number, name.as_deref(), *take)),
            Piece::Literal(_) => None,
        })
    }

    /// The number of the piece that is the placeholder of that name.
    pub fn named(&self, name: &str) -> Option<(usize, Take)> {
        self.placeholders().find(|(_, own, _)| *own == Some(name)).map(|(number, _, take)| (number, take))
    }
}

/// As it is written.
impl std::fmt::Display for Template {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) => f.write_str(&text.replace('{', "{{").replace('}', "}}"))?,
                Piece::Placeholder { name, take, .. } => {
                    write!(f, "{{{}", name.as_deref().unwrap_or("_"))?;
                    if let Some(kind) = take.name() {
                        write!(f, ":{kind}")?;
                    }
                    f.write_str("}")?;
                }
            }
        }
        Ok(())
    }
}

fn error(at: Range<usize>, message: &str, help: &str) -> TemplateError {
    TemplateError { at, message: message.into(), help: help.into() }
}

/// An event that is a template of a text: it happens where the text contains the template.
#[derive(Clone, Debug, PartialEq)]
pub struct TextEvent {
    /// Event name.
    pub name: String,
    /// What the text is: the line, or a column.
    pub source: Path,
    /// Of which every parameter of the event is a placeholder.
    pub template: Template,
    /// Where it is written.
    pub span: Span,
}

impl TextEvent {
    /// Whether a slot is filled from it: it asks for the event, or for a placeholder as a column.
    pub fn serves(&self, what: &What) -> bool {
        match what {
            What::Event { name, .. } | What::Tuples { name, .. } => *name == self.name,
            What::Proposition(path) | What::Variable(path, _) => {
                path.as_name().is_some_and(|name| self.template.named(name).is_some())
            }
            What::Timing(_) | What::Stream { .. } | What::Shift(_) | What::Window(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written_again() {
        for text in [
            "Failed password for {user} from {ip} port {port:int} ssh2",
            "{{{x:words}}} of {_:rest}",
            "{a:real}",
            "é",
        ] {
            assert_eq!(Template::parse(text).unwrap().to_string(), text);
        }
        let template = Template::parse("a {x} b {_} c {n:int}").unwrap();
        assert_eq!(template.named("x"), Some((1, Take::Run)));
        assert_eq!(template.named("n"), Some((5, Take::Int)));
        assert_eq!(template.named("_"), None);
    }

    #[test]
    fn what_is_no_template_is_said_where_it_stands() {
        let cases = [
            ("", 0..0, "empty"),
            ("a } b", 2..3, "closes nothing"),
            ("a {x b", 2..6, "does not end"),
            ("a {x:integer}", 2..13, "no kind"),
            ("a {} b", 2..4, "has a name"),
            ("a {1x} b", 2..6, "has a name"),
            ("{x}{y}", 3..6, "side by side"),
            ("{x} {x}", 4..7, "twice"),
            ("{x:rest} ", 8..9, "nothing can follow"),
            ("{x:rest}{y}", 8..11, "nothing can follow"),
        ];
        for (text, at, message) in cases {
            let error = Template::parse(text).unwrap_err();
            assert!(error.at == at && error.message.contains(message), "{text}: {error:?}");
        }
        let many: String = (0..65).map(|n| format!("{{x{n}}} ")).collect();
        assert!(Template::parse(&many).unwrap_err().message.contains("64"));
    }
}

//! Libraries of monitors that ship with Tracewise: rules of interfaces that many programs use.

use crate::{Error, Specification};
use tw_diag::Diagnostic;
use tw_ir::What;
use tw_spec::ast::DeclarationKind;

/// A file of a library.
#[derive(Clone, Copy, Debug)]
pub struct Chapter {
    /// What its monitors are about: `descriptors`.
    pub name: &'static str,
    /// Their text.
    pub text: &'static str,
}

/// Monitors for the users of an interface.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    /// How it is asked for.
    pub name: &'static str,
    /// What it is about, in a sentence.
    pub about: &'static str,
    /// Its files.
    pub chapters: &'static [Chapter],
}

macro_rules! chapters {
    ($library:literal : $($name:literal),+) => {
        &[$(Chapter { name: $name, text: include_str!(concat!("../library/", $library, "/", $name, ".tw")) }),+]
    };
}

/// Every library.
pub static LIBRARIES: &[Library] = &[
    Library {
        name: "posix",
        about: "calls of libc: descriptors, streams, directories, sockets, memory, threads, processes, paths",
        chapters: chapters!(
            "posix": "descriptors", "streams", "directories", "sockets", "memory", "threads", "processes", "paths"
        ),
    },
    Library {
        name: "collections",
        about: "collections, iterators, readers and writers, as object-oriented programs log them",
        chapters: chapters!("collections": "iterators", "io", "locks"),
    },
];

/// A monitor or property of a library, for lists of what there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// What it asks, in a sentence.
    pub title: String,
    /// The file that it stands in.
    pub chapter: &'static str,
    /// `error`, `warning` or `suggestion`.
    pub severity: &'static str,
    /// The comment before it.
    pub prose: String,
    /// Its text.
    pub text: String,
}

/// The library of this name.
pub fn find(name: &str) -> Result<&'static Library, Error> {
    LIBRARIES.iter().find(|library| library.name == name).ok_or_else(|| {
        let known: Vec<&str> = LIBRARIES.iter().map(|library| library.name).collect();
        let hint = match tw_core::suggest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", known.join(", ")),
        };
        Error::refused(format!("there is no library `{name}`; {hint}"))
    })
}

/// What of a library a trace has no use for is no news, unless that is all of it: then its verdicts say nothing. Takes such
/// warnings out of `warnings`, those of a check of `spec` on `trace`.
pub fn relevant(spec: &Specification, trace: &str, warnings: &mut Vec<Diagnostic>) {
    let asked = spec
        .program
        .slots
        .iter()
        .filter(|slot| !slot.declared && matches!(slot.what, What::Event { .. } | What::Tuples { .. }));
    let (asked, before) = (asked.count(), warnings.len());
    warnings.retain(|warning| warning.code != "never-occurs");
    if asked > 0 && before - warnings.len() >= asked {
        let message = format!("{trace}: no event occurs that these rules are about; they say nothing of it");
        let help = "`tracewise inspect` tells the events of a trace, and which columns could be one's";
        warnings.push(Diagnostic::warning("never-occurs", message).help(help));
    }
}

impl Library {
    /// Its files as one specification.
    pub fn specification(&self) -> Result<Specification, Error> {
        Specification::from_text(&format!("{}.tw", self.name), &self.text())
    }

    /// Its files as one text. Each declares the names that it reads, so that it can be used alone; together they are
    /// declared once, and blank lines keep the places of the rest.
    fn text(&self) -> String {
        let mut declared: Vec<&str> = Vec::new();
        let mut text = String::new();
        for line in self.chapters.iter().flat_map(|chapter| chapter.text.lines()) {
            let again = line.starts_with("var ") && declared.contains(&line);
            if !again {
                declared.push(line);
                text.push_str(line);
            }
            text.push('\n');
        }
        text
    }

    /// What it holds, in the order of its files.
    pub fn rules(&self) -> Result<Vec<Rule>, Error> {
        let (mut rules, spec, text) = (Vec::new(), self.specification()?, self.text());
        let mut first = 0;
        let starts: Vec<(usize, &str)> = self
            .chapters
            .iter()
            .map(|chapter| {
                let start = (first, chapter.name);
                first += chapter.text.lines().count();
                start
            })
            .collect();
        for declaration in &spec.tree.declarations {
            let (name, title) = match &declaration.kind {
                DeclarationKind::Monitor(monitor) => (&monitor.name.name, monitor.title.as_ref()),
                DeclarationKind::Property { name, title, .. } => (&name.name, title.as_ref()),
                _ => continue,
            };
            let monitor = spec.program.monitors.iter().find(|monitor| monitor.name == *name);
            let span = declaration.span;
            let line = text[..span.start as usize].matches('\n').count();
            let own = starts.iter().rev().find(|(first, _)| *first <= line);
            rules.push(Rule {
                name: name.clone(),
                title: title.cloned().unwrap_or_default(),
                chapter: own.map_or("", |(_, chapter)| chapter),
                severity: monitor.map_or("error", |monitor| monitor.severity.name()),
                prose: prose(&text[..span.start as usize]),
                text: text[span.start as usize..span.end as usize].to_string(),
            });
        }
        Ok(rules)
    }
}

/// The comment that ends a text, without its slashes.
fn prose(before: &str) -> String {
    let lines: Vec<&str> =
        before.trim_end().lines().rev().map_while(|line| line.strip_prefix("//")).collect();
    lines.into_iter().rev().map(str::trim).collect::<Vec<_>>().join(" ")
}

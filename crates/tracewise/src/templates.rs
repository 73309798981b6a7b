//! `templates`: the templates of a text log, found by looking at it.

use crate::run::open::Opened;
use crate::{Error, Session};
use std::ops::ControlFlow;
use tw_core::{Batch, Column, Value};
use tw_diag::Diagnostic;
use tw_ir::{Expect, Path, Slot, Template, What};
use tw_templates::{Limits, Miner};
use tw_trace::{Projection, Summary, TraceError, TraceErrorKind};

/// What is to be found.
#[derive(Clone, Debug)]
pub struct TemplatesOptions {
    /// Where the text is: `text`, the line, or a column.
    pub column: String,
    /// Whether the template of each position is told.
    pub each: bool,
}

impl Default for TemplatesOptions {
    fn default() -> Self {
        Self { column: "text".into(), each: false }
    }
}

/// A template of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundTemplate {
    /// A name for its event, which no other has.
    pub event: String,
    /// The template.
    pub text: String,
    /// How many positions have it.
    pub lines: u64,
    /// The text of one of them, without what stands in front of all of them.
    pub example: String,
    /// Where the text is.
    column: String,
}

impl FoundTemplate {
    /// The event as a specification declares it; none for lines without any text.
    pub fn declaration(&self) -> Option<String> {
        let template = Template::parse(&self.text).ok()?;
        let named = template.placeholders().filter_map(|(_, name, take)| Some((name?, take)));
        let parameters: Vec<String> = named
            .map(|(name, take)| match take {
                tw_ir::Take::Int => format!("{name}: int"),
                tw_ir::Take::Real => format!("{name}: real"),
                _ => name.to_owned(),
            })
            .collect();
        let parameters = match parameters.is_empty() {
            true => String::new(),
            false => format!("({})", parameters.join(", ")),
        };
        let name = |name: &str| match tw_spec::is_plain_name(name) {
            true => name.to_owned(),
            false => format!("`{}`", name.replace('`', "``")),
        };
        let text = tw_ir::quote(&template.to_string());
        Some(format!("event {}{parameters} = {} {text};", name(&self.event), name(&self.column)))
    }
}

/// The templates of a log.
#[derive(Clone, Debug)]
pub struct TemplatesReport {
    /// The log as the user named it.
    pub trace: String,
    /// Most frequent first.
    pub templates: Vec<FoundTemplate>,
    /// Of each position, the number of its template: empty unless asked for.
    pub each: Vec<u32>,
    /// How many positions there are.
    pub positions: u64,
    /// How often lines that were too different had to be put together, so that memory stays bounded.
    pub compactions: usize,
    /// What was understood of the log, and what is not sure.
    pub warnings: Vec<Diagnostic>,
}

pub(crate) fn templates(
    session: &Session,
    files: &[String],
    options: &TemplatesOptions,
) -> Result<TemplatesReport, Error> {
    let mut opened = Opened::new(session, files)?;
    let mut miner = Miner::new(Limits { each: options.each, ..Limits::default() });
    let summary = texts(session, &mut opened, &options.column, &mut |text| {
        miner.push(text.as_bytes());
        true
    })?;
    let found = miner.finish();
    let mut warnings = opened.notes();
    if found.compactions > 0 {
        let message = format!(
            "{}: more than {} kinds of lines; those that differ most were put together, so templates may be coarse",
            opened.name,
            Limits::default().signatures
        );
        warnings.push(Diagnostic::warning("templates-compacted", message));
    }
    let template = |own: tw_templates::Template| FoundTemplate {
        event: own.name,
        text: own.text,
        lines: own.lines,
        example: own.example,
        column: options.column.clone(),
    };
    Ok(TemplatesReport {
        trace: opened.name,
        templates: found.templates.into_iter().map(template).collect(),
        each: found.each,
        positions: summary.positions,
        compactions: found.compactions,
        warnings,
    })
}

/// The texts of a column in the order of lines, whatever their times, while `each` wants more.
pub(crate) fn texts(
    session: &Session,
    opened: &mut Opened,
    column: &str,
    each: &mut dyn FnMut(&str) -> bool,
) -> Result<Summary, Error> {
    opened.read.any_order = true;
    opened.read.sort = None;
    let what = What::Variable(Path::parse(column), Expect::Line);
    let slots = [Slot { what, declared: false, span: Default::default() }];
    let projection = Projection::new(&slots, None, false);
    let mut fold = |column: Column| {
        let mut more = true;
        each_text(&column, &mut |text| more = more && each(text));
        Ok(if more { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    };
    let map = |mut batch: Batch| {
        let none = || TraceError::new(TraceErrorKind::Usage, "no text was read");
        batch.slots.pop().ok_or_else(none)
    };
    Ok(opened.scan(session, &projection, &map, &mut fold)?)
}

/// The texts of a column in the order of positions; of nothing, the empty text.
fn each_text(column: &Column, each: &mut dyn FnMut(&str)) {
    match column {
        Column::Words(words) => (0..words.len()).for_each(|at| each(words.get(at))),
        Column::Text { ids, dictionary, valid } => {
            for (at, &id) in ids.iter().enumerate() {
                each(if valid.get(at) { &dictionary.entries[id as usize] } else { "" });
            }
        }
        other => (0..other.len()).for_each(|at| match other.value(at) {
            Value::Str(text) => each(&text),
            _ => each(""),
        }),
    }
}

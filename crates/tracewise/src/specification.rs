//! A specification: text, tree and program.

use crate::Error;
use crate::error::Setting;
use std::borrow::Cow;
use std::io::{self, ErrorKind};
use std::string::FromUtf8Error;
use tw_core::{LONGEST_TEXT, TimeUnit, read_file};
use tw_diag::{Checked, Diagnostic, Severity, Sources, Span};
use tw_ir::{NodeId, Program, Root, RootKind};
use tw_spec::ast::settings::TraceSettings;
use tw_spec::ast::{DeclarationKind, Expr, ExprId, ExprKind, Tree};

/// A parsed, checked and lowered specification.
#[derive(Clone, Debug)]
pub struct Specification {
    /// The text.
    pub sources: Sources,
    /// As written.
    pub tree: Tree,
    /// As engines see it.
    pub program: Program,
    /// How its traces are read, where its `trace` block says so.
    pub settings: TraceSettings,
    /// Findings that are not errors.
    pub warnings: Vec<Diagnostic>,
}

/// Where a file stops being UTF-8, and what may be the reason.
fn not_utf8(path: &str, error: &FromUtf8Error) -> Error {
    let bytes = error.as_bytes();
    if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") {
        return Error::refused(format!(
            "{path}:1:1: found UTF-16 (by its byte order mark), expected UTF-8; convert the file first, for example \
             with `iconv -f UTF-16 -t UTF-8`"
        ));
    }
    let (good, rest) = bytes.split_at(error.utf8_error().valid_up_to());
    let good = String::from_utf8_lossy(good);
    let line = good.matches('\n').count() + 1;
    let column = good.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
    let byte = rest.first().copied().unwrap_or_default();
    Error::refused(format!(
        "{path}:{line}:{column}: found the byte 0x{byte:02X}, expected a specification in UTF-8 text"
    ))
}

impl Specification {
    /// Reads a `.tw` file, or an `.elsc` file of charts.
    pub fn from_file(path: &str) -> Result<Self, Error> {
        let text = Self::text_of(path)?;
        if path.ends_with(".elsc") {
            return Self::build(path, &text, tw_spec::parse_charts);
        }
        Self::from_text(path, &text)
    }

    /// What the `trace` block of a `.tw` file says, whatever else stands there.
    pub fn settings_of(path: &str) -> Result<TraceSettings, Error> {
        let mut sources = Sources::default();
        let text = Self::text_of(path)?;
        let parse = if path.ends_with(".elsc") { tw_spec::parse_charts } else { tw_spec::parse };
        let mut parsed = parse(&text, sources.add(path, &*text));
        parsed.diagnostics.extend(crate::language::settings::unknown_formats(&parsed.value));
        if parsed.has_errors() {
            return Err(Error::Specification { diagnostics: parsed.diagnostics, sources: Box::new(sources) });
        }
        Ok(Self::beside(path, parsed.value.settings()))
    }

    /// Files that the settings name stand beside the specification.
    pub(crate) fn beside(path: &str, mut settings: TraceSettings) -> TraceSettings {
        let folder = std::path::Path::new(path).parent();
        if let (Some(sample), Some(folder)) = (&mut settings.sample, folder) {
            *sample = folder.join(&*sample).to_string_lossy().into_owned();
        }
        settings
    }

    /// The text of a `.tw` file.
    pub(crate) fn text_of(path: &str) -> Result<String, Error> {
        let bytes = read_file(path, LONGEST_TEXT);
        let bytes = bytes.map_err(|error| {
            let why = match error.kind() {
                ErrorKind::NotFound => "there is no such file",
                ErrorKind::IsADirectory => "this is a directory, expected a `.tw` file",
                ErrorKind::PermissionDenied => "reading this file is not permitted",
                _ => return Error::io(format!("cannot read the specification `{path}`"), error),
            };
            let error = io::Error::new(error.kind(), why);
            Error::io(format!("cannot read the specification `{path}`"), error)
        })?;
        String::from_utf8(bytes).map_err(|error| not_utf8(path, &error))
    }

    /// The same where lengths of time in terms (`200ms`) are numbers of this unit.
    pub(crate) fn counted_in(&self, unit: TimeUnit) -> Cow<'_, Self> {
        // That is how they are lowered.
        if unit == TimeUnit::Seconds || self.program.dag.lengths.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut counted = self.clone();
        counted.program.dag.count_in(unit);
        Cow::Owned(counted)
    }

    /// A specification given as text; `name` stands in messages.
    pub fn from_text(name: &str, text: &str) -> Result<Self, Error> {
        Self::build(name, text, tw_spec::parse)
    }

    /// One formula (`-e`): a property whose name is the formula's text.
    pub fn from_formula(text: &str) -> Result<Self, Error> {
        Self::build("<formula>", text, tw_spec::parse_formula)
    }

    /// One formula of branching time, about the paths of a model.
    pub(crate) fn from_branching(text: &str) -> Result<Self, Error> {
        Self::build("<formula>", text, tw_spec::parse_branching)
    }

    /// One formula, of branching time or not, that stands in a file: `line` and `column` (from 1) are where.
    pub(crate) fn from_line(
        file: &str,
        (line, column): (usize, usize),
        text: &str,
        branching: bool,
    ) -> Result<Self, Error> {
        // Blank up to the formula, so that places in it are places in the file.
        let blank = "\n".repeat(line.saturating_sub(1)) + &" ".repeat(column.saturating_sub(1));
        let parse = if branching { tw_spec::parse_branching } else { tw_spec::parse_formula };
        Self::build(file, &(blank + text), parse)
    }

    /// One query (`-e`).
    pub fn from_query(text: &str) -> Result<Self, Error> {
        Self::build("<query>", text, tw_spec::parse_query)
    }

    /// Formulas and queries, each a text of its own and named by it. They are read as one specification, so that one pass
    /// over a trace answers all.
    pub fn from_texts(formulas: &[String], queries: &[String]) -> Result<Self, Error> {
        match (formulas, queries) {
            ([formula], []) => return Self::from_formula(formula),
            ([], [query]) => return Self::from_query(query),
            _ => {}
        }
        let all = formulas.iter().map(|text| (text, Self::from_formula(text)));
        let all = all.chain(queries.iter().map(|text| (text, Self::from_query(text))));
        let (mut sources, mut tree, mut names) = (Sources::default(), Tree::default(), Vec::new());
        for (text, read) in all {
            // Read alone first: what is wrong with one is told of it alone.
            read?;
            let query = names.len() >= formulas.len();
            let source = sources.add(if query { "<query>" } else { "<formula>" }, text.as_str());
            let parse = if query { tw_spec::parse_query } else { tw_spec::parse_formula };
            let mut own = parse(text, source).value;
            for declaration in &mut own.declarations {
                if let DeclarationKind::Property { name, .. } | DeclarationKind::Query { name, .. } =
                    &mut declaration.kind
                {
                    // The same text may be given twice.
                    names.push(std::mem::replace(&mut name.name, format!("formula{}", names.len() + 1)));
                }
            }
            tree.append(own);
        }
        let lowered = tw_spec::lower(&tree, &tw_spec::LowerOptions::default());
        if lowered.has_errors() {
            let diagnostics = lowered.diagnostics;
            return Err(Error::Specification { diagnostics, sources: Box::new(sources) });
        }
        let (warnings, mut program) = (lowered.diagnostics, lowered.value);
        for (root, name) in program.roots.iter_mut().zip(names) {
            root.name = name;
        }
        let settings = tree.settings();
        Ok(Self { sources, tree, program, settings, warnings })
    }

    /// Patterns of events, as the events of a monitor that is run by none but `slice`.
    pub(crate) fn from_patterns(text: &str) -> Result<Self, Error> {
        Self::lowered("<patterns>", text, tw_spec::parse_patterns)
    }

    fn build(name: &str, text: &str, parse: impl Fn(&str, u32) -> Checked<Tree>) -> Result<Self, Error> {
        Self::lowered(name, text, parse)
    }

    fn lowered(name: &str, text: &str, parse: impl Fn(&str, u32) -> Checked<Tree>) -> Result<Self, Error> {
        let mut sources = Sources::default();
        // Spans are 32-bit.
        if text.len() > u32::MAX as usize / 2 {
            return Err(Error::refused(format!("the specification `{name}` is larger than 2 GB")));
        }
        let source = sources.add(name, text);
        let (tree, program, diagnostics) = crate::language::understood(parse(text, source));
        if diagnostics.iter().any(|found| found.severity == Severity::Error) {
            return Err(Error::Specification { diagnostics, sources: Box::new(sources) });
        }
        Ok(Self::of_parts(name, sources, tree, program, diagnostics))
    }

    /// What was read of the file `name` without errors.
    pub(crate) fn of_parts(
        name: &str,
        sources: Sources,
        tree: Tree,
        program: Program,
        warnings: Vec<Diagnostic>,
    ) -> Self {
        let settings = Self::beside(name, tree.settings());
        Self { sources, tree, program, settings, warnings }
    }

    /// The same with a property more, the last: `G !φ`, which is violated where `formula` holds. It may look back, not ahead.
    pub fn ending(&self, formula: &str) -> Result<Self, Error> {
        let mut sources = self.sources.clone();
        let source = sources.add("<until>", formula);
        let mut parsed = tw_spec::parse_formula(formula, source);
        if parsed.has_errors() {
            return Err(Error::Specification { diagnostics: parsed.diagnostics, sources: Box::new(sources) });
        }
        let exprs = &mut parsed.value.exprs;
        if let Some(DeclarationKind::Property { body, .. }) =
            parsed.value.declarations.first_mut().map(|declaration| &mut declaration.kind)
        {
            let span = exprs[body.index()].span;
            let op = tw_spec::ast::Prefix::Temporal(tw_ir::Temporal::Globally);
            let not = ExprId(exprs.len() as u32);
            exprs.push(Expr { kind: ExprKind::Not(None, *body), span });
            exprs.push(Expr { kind: ExprKind::Prefix { op, interval: None, map: None, body: not }, span });
            *body = ExprId(not.0 + 1);
        }
        let mut tree = self.tree.clone();
        tree.append(parsed.value);
        let lowered = tw_spec::lower(&tree, &tw_spec::LowerOptions::default());
        if lowered.has_errors() {
            return Err(Error::Specification {
                diagnostics: lowered.diagnostics,
                sources: Box::new(sources),
            });
        }
        let mut program = lowered.value;
        // Of the roots of the text, those that are asked for.
        let until = program.roots.pop();
        let mut asked = self.program.roots.iter().peekable();
        program.roots.retain_mut(|root| {
            let own = asked.next_if(|own| own.span == root.span);
            own.inspect(|own| root.name.clone_from(&own.name)).is_some()
        });
        program.roots.extend(until);
        program.drop_unused();
        let made = Self { sources, tree, program, settings: self.settings.clone(), warnings: Vec::new() };
        let Some(root) = made.program.roots.last() else { return Ok(made) };
        let nodes = made.program.reachable(&[root.node]);
        let ahead = nodes.iter().find(|&&id| id != root.node && made.program.dag.node(id).is_future());
        match ahead {
            None => Ok(made),
            Some(&id) => Err(Error::refused_instead(
                format!("{} is decided where it holds, but `{}` looks ahead", Setting::Until, made.words(id)),
                "use past operators in it",
            )),
        }
    }

    /// The node that a formula over its names is, where it is a part of the program.
    pub(crate) fn node_of(&self, formula: &str) -> Result<NodeId, Error> {
        let mut sources = self.sources.clone();
        let parsed = tw_spec::parse_formula(formula, sources.add("<part>", formula));
        let mut tree = self.tree.clone();
        let mut diagnostics = parsed.diagnostics.clone();
        if !parsed.has_errors() {
            tree.append(parsed.value);
            let lowered = tw_spec::lower(&tree, &tw_spec::LowerOptions::default());
            if !lowered.has_errors() {
                // What comes last changes nothing before it.
                return Ok(lowered.value.roots.last().map_or(NodeId(u32::MAX), |root| root.node));
            }
            diagnostics = lowered.diagnostics;
        }
        Err(Error::Specification { diagnostics, sources: Box::new(sources) })
    }

    /// The same text with other roots: what is to be asked of it.
    pub(crate) fn with_roots(&self, roots: Vec<Root>) -> Specification {
        let mut other = self.clone();
        other.program.roots = roots;
        other
    }

    /// Its properties, queries and monitors of these names alone; itself, if no names are given.
    pub fn only(&self, names: &[String]) -> Result<Cow<'_, Specification>, Error> {
        let program = &self.program;
        let known = || {
            let monitors = program.monitors.iter().map(|monitor| monitor.name.as_str());
            let required = program.requirements.iter().map(|requirement| requirement.root.name.as_str());
            program.roots.iter().map(|root| root.name.as_str()).chain(required).chain(monitors)
        };
        let Some(first) = known().next().filter(|_| !names.is_empty()) else {
            return Ok(Cow::Borrowed(self));
        };
        if let Some(unknown) = names.iter().find(|name| !known().any(|known| known == *name)) {
            let hint = match tw_core::suggest(unknown, known()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the first is `{first}`"),
            };
            return Err(Error::refused(format!(
                "`{}`: the specification has no property, query or monitor of that name; {hint}",
                Setting::Only.to(unknown)
            )));
        }
        let roots = self.program.roots.iter().filter(|root| names.contains(&root.name)).cloned().collect();
        let mut only = self.with_roots(roots);
        only.program.monitors.retain(|monitor| names.contains(&monitor.name));
        only.program.requirements.retain(|requirement| names.contains(&requirement.root.name));
        only.program.drop_unused();
        Ok(Cow::Owned(only))
    }

    /// Its roots of one kind alone; itself, if it has no others.
    pub(crate) fn of_kind(&self, kind: RootKind) -> Cow<'_, Specification> {
        if self.program.roots.iter().all(|root| root.kind == kind) {
            return Cow::Borrowed(self);
        }
        let roots = self.program.roots.iter().filter(|root| root.kind == kind).cloned().collect();
        Cow::Owned(self.with_roots(roots))
    }

    /// Whether there is nothing to check but requirements.
    pub(crate) fn has_requirements_alone(&self) -> bool {
        let program = &self.program;
        !program.requirements.is_empty()
            && program.monitors.is_empty()
            && program.roots.iter().all(|root| root.kind != RootKind::Property)
    }

    /// Its properties. Queries have values, not verdicts: those alone are refused, unless there are monitors.
    pub(crate) fn properties(&self) -> Result<Cow<'_, Specification>, Error> {
        let properties = self.of_kind(RootKind::Property);
        match self.program.roots.first() {
            Some(query) if properties.program.roots.is_empty() && self.program.monitors.is_empty() => {
                Err(Error::unsupported(
                    self,
                    Diagnostic::error(
                        "query-in-check",
                        format!("`{}` is a query: it has a value, not a verdict", query.name),
                    )
                    .at(query.span, "this query")
                    .help("`tracewise query` computes it; a property is written `property name : …;`"),
                ))
            }
            None if self.program.monitors.is_empty() && !self.program.streams.is_empty() => {
                Err(Error::refused_instead(
                    "the specification has streams, and no property to check",
                    "add one, such as `property bounded : G (total < 100);`; `tracewise stream run` writes the streams",
                ))
            }
            _ => Ok(properties),
        }
    }

    /// Properties that may not say what was meant, as their text alone shows: about one position, or `G a -> b`.
    pub fn doubts(&self) -> Vec<Diagnostic> {
        crate::run::vacuous::as_written(self)
    }

    /// Where a node was written.
    pub fn span(&self, node: NodeId) -> Option<Span> {
        self.program.spans.get(node.index()).copied().flatten()
    }

    /// A node in the user's own words, or in canonical form if it was never written (from a pattern).
    pub fn words(&self, node: NodeId) -> String {
        let written = self.span(node).map(|span| self.sources.snippet(span)).filter(|text| !text.is_empty());
        written.unwrap_or_else(|| tw_ir::display(&self.program, node))
    }

    /// The same where free variables have values: those are written in their places.
    pub(crate) fn words_with(&self, node: NodeId, bindings: &tw_monitor::Bindings) -> String {
        let dag = &self.program.dag;
        let bound = |variable: u32| bindings.pairs().iter().any(|(own, _)| *own == variable);
        let names = |&id: &NodeId| match dag.node(id) {
            tw_ir::Node::Variable(variable) => bound(variable),
            tw_ir::Node::Pattern(index) => dag.patterns[index as usize].variables().any(bound),
            _ => false,
        };
        match !bindings.is_empty() && self.program.reachable(&[node]).iter().any(names) {
            true => tw_ir::display_with(&self.program, node, bindings.pairs()),
            false => self.words(node),
        }
    }

    /// The name of a quantified variable.
    pub(crate) fn variable(&self, number: u32) -> String {
        self.program.dag.variables.get(number as usize).cloned().unwrap_or_default()
    }

    /// Pattern-library calls used, each once, with their meaning.
    pub(crate) fn patterns_used(&self) -> Vec<(String, String)> {
        let mut used: Vec<(String, String)> = Vec::new();
        for expr in &self.tree.exprs {
            if let ExprKind::Call { name, .. } = &expr.kind
                && let Some(pattern) = tw_spec::PATTERNS.iter().find(|pattern| pattern.name == name.name)
                && !used.iter().any(|(used, _)| *used == name.name)
            {
                let head = format!("{}({})", pattern.name, pattern.parameters.join(", "));
                used.push((head, format!("{} = {}", pattern.meaning, pattern.formula)));
            }
        }
        used
    }
}

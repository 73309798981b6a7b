//! Events that are templates of texts: `event failed(user, port: int) = text "Failed password for {user} port {port}";`.

use super::Parser;
use super::declaration::Unreadable;
use crate::ast::{Column, EventTemplate, Ident, Type};
use crate::lexer::Tok;
use tw_diag::{Diagnostic, Span};
use tw_ir::{Piece, Take, Template};

const HELP: &str =
    "write `event failed(user) = text \"Failed password for {user}\";`: the text is the line, or a column";

impl Parser<'_> {
    /// Reads `= text "…"`; the current token is `=`. Without parameters, the event has those that its placeholders name.
    pub(super) fn template(
        &mut self,
        event: &Ident,
        parameters: &mut Vec<(Ident, Option<Type>)>,
    ) -> Result<EventTemplate, Unreadable> {
        self.advance();
        if !self.is_name(0) && !self.is_reserved(self.at) {
            return Err(self.expected("bad-template", "the text that the template is found in", HELP));
        }
        let quoted = self.kind() == Tok::Quoted;
        let (path, source_span) = self.path();
        if self.kind() != Tok::Text {
            return Err(self.expected("bad-template", "the template, a text in quotes", HELP));
        }
        let span = self.span();
        let raw = self.slice(span).to_owned();
        let text = self.text();
        let source = Column { path, quoted, span: source_span };
        let mut own = EventTemplate { source, template: Template::default(), span };
        // Places in the text are places in the file, as long as nothing is escaped.
        let place = |at: std::ops::Range<usize>| match raw.contains('\\') {
            true => span,
            false => {
                Span { start: span.start + 1 + at.start as u32, end: span.start + 1 + at.end as u32, ..span }
            }
        };
        let template = match Template::parse(&text) {
            Ok(template) => template,
            Err(error) => {
                let found = Diagnostic::error("bad-template", error.message).at(place(error.at), "");
                self.report(found.help(error.help));
                return Ok(own);
            }
        };
        own.template = template;
        if raw.contains('\\') {
            // The text is longer than what it says.
            own.template.pieces.iter_mut().for_each(|piece| {
                if let Piece::Placeholder { at, .. } = piece {
                    *at = 0..0;
                }
            });
        }
        if parameters.is_empty() {
            for (number, name, _) in own.template.placeholders() {
                if let Some(name) = name {
                    parameters.push((Ident { name: name.to_owned(), span: own.place(number) }, None));
                }
            }
        }
        self.agree(event, parameters, &mut own);
        Ok(own)
    }

    /// Every placeholder is a parameter and every parameter a placeholder, of one type.
    fn agree(&mut self, event: &Ident, parameters: &[(Ident, Option<Type>)], own: &mut EventTemplate) {
        let names: Vec<&str> = parameters.iter().map(|(name, _)| name.name.as_str()).collect();
        let mut found = Vec::new();
        for (number, name, _) in own.template.placeholders() {
            let Some(name) = name.filter(|name| !names.contains(name)) else { continue };
            let help = match tw_core::suggest(name, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("add `{name}` to the parameters, or write `{{_}}` for what is not kept"),
            };
            let message = format!("the placeholder `{name}` is no parameter of `{}`", event.name);
            found
                .push(Diagnostic::error("unknown-placeholder", message).at(own.place(number), "").help(help));
        }
        for (parameter, ty) in parameters {
            let Some((number, take)) = own.template.named(&parameter.name) else {
                let message =
                    format!("the parameter `{}` of `{}` is no placeholder", parameter.name, event.name);
                let error =
                    Diagnostic::error("missing-placeholder", message).at(parameter.span, "gets no value");
                found.push(error.at(own.span, "from this template").help(format!(
                    "write `{{{}}}` where its value stands, or leave the parameter out",
                    parameter.name
                )));
                continue;
            };
            let taken = match (ty, take) {
                (None, take) => take,
                (Some(Type::Int), Take::Run | Take::Int) => Take::Int,
                (Some(Type::Real), Take::Run | Take::Real) => Take::Real,
                (Some(Type::Text), Take::Run | Take::Words | Take::Rest) => take,
                (Some(ty), _) => {
                    let ty = Type::ALL.iter().find(|(_, other)| other == ty).map_or("", |(name, _)| name);
                    let message = format!(
                        "`{}` is declared `{ty}`, but its placeholder takes {}",
                        parameter.name,
                        match take {
                            Take::Int => "a whole number",
                            Take::Real => "a number",
                            Take::Run | Take::Words | Take::Rest => "a text",
                        }
                    );
                    let error = Diagnostic::error("contradictory-types", message);
                    found.push(
                        error
                            .at(parameter.span, "declared here")
                            .at(own.place(number), "taken here")
                            .help("types of placeholders are `int`, `real` and, for all others, `string`"),
                    );
                    take
                }
            };
            if let Some(Piece::Placeholder { take, .. }) = own.template.pieces.get_mut(number) {
                *take = taken;
            }
        }
        found.into_iter().for_each(|error| self.report(error));
    }
}

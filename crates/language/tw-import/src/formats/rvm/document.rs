//! What a file says: monitors, their events, logics and handlers.

use super::tokens::{Kind, Token, Tokens};
use super::words::one_line;
use tw_diag::{Diagnostic, Span};

/// A name and its place.
#[derive(Clone, Debug, Default)]
pub(super) struct Word {
    pub name: String,
    pub span: Span,
}

pub(super) struct Spec {
    /// The comment before it.
    pub doc: Option<Span>,
    pub modifiers: Vec<Word>,
    pub name: Word,
    pub parameters: Vec<Word>,
    pub events: Vec<Event>,
    pub logics: Vec<Logic>,
    /// The first of its own fields and methods.
    pub program: Option<Span>,
}

pub(super) struct Event {
    pub name: Word,
    pub creation: bool,
    pub parameters: Vec<Word>,
    /// Where it fires, in one line.
    pub place: String,
    /// `condition(…)`, `if (…)`.
    pub conditions: Vec<Span>,
    pub body: Option<Span>,
}

#[derive(Default)]
pub(super) struct Logic {
    pub name: Word,
    pub body: Span,
    pub handlers: Vec<Handler>,
}

pub(super) struct Handler {
    pub category: Word,
    pub body: Span,
}

/// Words before `event`.
const BEFORE_EVENT: [&str; 4] = ["creation", "static", "blocking", "end"];
/// Logics there are; words that are followed by `:` are no others.
const LOGICS: [&str; 11] = ["ere", "fsm", "ltl", "ptltl", "cfg", "srs", "po", "ptcaret", "dl", "tfsm", "pda"];
const ADVICE: [&str; 5] = ["before", "after", "around", "returning", "throwing"];

pub(super) fn read(tokens: &Tokens<'_>) -> Result<Vec<Spec>, Diagnostic> {
    let mut reader = Reader { tokens, at: 0, doc: None };
    let mut specs = Vec::new();
    loop {
        while reader.accept(';').is_some() {}
        match reader.kind() {
            Kind::End => break,
            Kind::Word if matches!(reader.here(), "package" | "import") => {
                while !matches!(reader.kind(), Kind::End | Kind::Char(';')) {
                    reader.advance();
                }
                reader.doc = None;
            }
            Kind::Word => specs.push(reader.spec()?),
            _ => return Err(reader.found("the name of a monitor")),
        }
    }
    if specs.is_empty() {
        return Err(reader.found("a monitor: `Name(Type x) { event e(Type x) {} ere : e }`"));
    }
    Ok(specs)
}

struct Reader<'t, 'a> {
    tokens: &'t Tokens<'a>,
    at: usize,
    /// The last `/** … */` that was passed.
    doc: Option<Span>,
}

impl<'a> Reader<'_, 'a> {
    fn token(&mut self) -> Token {
        while self.tokens.all[self.at].kind == Kind::Doc {
            self.doc = Some(self.tokens.all[self.at].span);
            self.at += 1;
        }
        self.tokens.all[self.at]
    }

    fn kind(&mut self) -> Kind {
        self.token().kind
    }

    fn here(&mut self) -> &'a str {
        let span = self.token().span;
        self.tokens.slice(span)
    }

    /// The token so many further on, comments left out.
    fn peek(&mut self, ahead: usize) -> (Kind, &'a str) {
        self.token();
        let rest = self.tokens.all[self.at..].iter().filter(|token| token.kind != Kind::Doc);
        match rest.clone().nth(ahead) {
            Some(token) => (token.kind, self.tokens.slice(token.span)),
            None => (Kind::End, ""),
        }
    }

    fn advance(&mut self) -> Span {
        let token = self.token();
        if token.kind != Kind::End {
            self.at += 1;
        }
        token.span
    }

    fn accept(&mut self, c: char) -> Option<Span> {
        (self.kind() == Kind::Char(c)).then(|| self.advance())
    }

    fn found(&mut self, expected: &str) -> Diagnostic {
        let found = match self.kind() {
            Kind::End => "the end of the file".to_owned(),
            _ => format!("`{}`", one_line(self.here(), 40)),
        };
        let message = format!("found {found}, expected {expected}");
        Diagnostic::error("import-syntax", message).at(self.token().span, format!("expected {expected}"))
    }

    fn word(&mut self, expected: &str) -> Result<Word, Diagnostic> {
        if self.kind() != Kind::Word {
            return Err(self.found(expected));
        }
        let span = self.advance();
        Ok(Word { name: self.tokens.slice(span).to_owned(), span })
    }

    /// What is between this opening bracket and its own closing one, brackets of other kinds inside counted alike.
    fn brackets(&mut self) -> Result<Span, Diagnostic> {
        let open = self.advance();
        let mut waiting = vec![open];
        loop {
            match self.kind() {
                Kind::End => {
                    let open = waiting.last().copied().unwrap_or(open);
                    let message = format!("this `{}` is never closed", self.tokens.slice(open));
                    return Err(Diagnostic::error("import-syntax", message).at(open, "opened here"));
                }
                Kind::Char('(' | '[' | '{') => waiting.push(self.token().span),
                Kind::Char(close @ (')' | ']' | '}')) => {
                    let from = waiting.pop().unwrap_or(open);
                    let expected = match self.tokens.slice(from) {
                        "(" => ')',
                        "[" => ']',
                        _ => '}',
                    };
                    if close != expected {
                        return Err(self.found(&format!("`{expected}`")));
                    }
                    if waiting.is_empty() {
                        let close = self.advance();
                        return Ok(Span { start: open.end, end: close.start, ..open });
                    }
                }
                _ => {}
            }
            self.advance();
        }
    }

    fn spec(&mut self) -> Result<Spec, Diagnostic> {
        self.token();
        let doc = self.doc.take();
        let mut modifiers: Vec<Word> = Vec::new();
        let name = loop {
            let mut word = self.word("the name of a monitor")?;
            // `full-binding` is one word.
            while self.kind() == Kind::Char('-') {
                self.advance();
                let more = self.word("the rest of the word")?;
                word = Word { name: format!("{}-{}", word.name, more.name), span: word.span.to(more.span) };
            }
            if self.kind() != Kind::Word {
                break word;
            }
            modifiers.push(word);
        };
        let parameters = match self.kind() {
            Kind::Char('(') => self.parameters()?,
            _ => Vec::new(),
        };
        let mut spec =
            Spec { doc, modifiers, name, parameters, events: Vec::new(), logics: Vec::new(), program: None };
        for (number, Word { name, span }) in spec.parameters.iter().enumerate() {
            if spec.parameters[..number].iter().any(|other| other.name == *name) {
                let found = Diagnostic::error("import-duplicate", format!("`{name}` is declared twice"));
                return Err(found.at(*span, "declared again").help("give one of them another name"));
            }
        }
        let Some(open) = self.accept('{') else { return Err(self.found("`(` or `{`")) };
        loop {
            match self.kind() {
                Kind::Char('}') => {
                    self.advance();
                    self.doc = None;
                    return Ok(spec);
                }
                Kind::Char(';') => {
                    self.advance();
                }
                Kind::End => {
                    let message = format!("the monitor `{}` is never closed", spec.name.name);
                    return Err(Diagnostic::error("import-syntax", message).at(open, "opened here"));
                }
                Kind::Char('@') => self.handler(&mut spec)?,
                Kind::Word if self.is_event() => {
                    let event = self.event()?;
                    spec.events.push(event);
                }
                Kind::Word if self.is_logic() => {
                    let name = self.word("a logic")?;
                    self.advance();
                    let start = self.token().span;
                    let body = Span { end: start.start, ..start };
                    let mut logic = Logic { name, body, handlers: Vec::new() };
                    loop {
                        match self.kind() {
                            Kind::End | Kind::Char('@' | '}' | '{') => break,
                            Kind::Word if self.is_event() || self.is_logic() => break,
                            _ => logic.body.end = self.advance().end,
                        }
                    }
                    spec.logics.push(logic);
                }
                Kind::Word if self.peek(1).0 == Kind::Char(':') && self.peek(2).0 != Kind::Char(':') => {
                    return Err(self.found("an event, `ere :`, `fsm :`, `ltl :` or a handler"));
                }
                _ => self.declaration(&mut spec)?,
            }
        }
    }

    fn is_event(&mut self) -> bool {
        let mut ahead = 0;
        while matches!(self.peek(ahead), (Kind::Word, word) if BEFORE_EVENT.contains(&word)) {
            ahead += 1;
        }
        self.peek(ahead) == (Kind::Word, "event") && self.peek(ahead + 1).0 == Kind::Word
    }

    fn is_logic(&mut self) -> bool {
        let known = matches!(self.peek(0), (Kind::Word, word) if LOGICS.contains(&word));
        known && self.peek(1).0 == Kind::Char(':')
    }

    /// A field or a method: to its `;`, or to the end of its block.
    fn declaration(&mut self, spec: &mut Spec) -> Result<(), Diagnostic> {
        let start = self.token().span;
        spec.program.get_or_insert(start);
        loop {
            match self.kind() {
                Kind::End | Kind::Char('}') => return Ok(()),
                Kind::Char(';') => {
                    self.advance();
                    return Ok(());
                }
                Kind::Char('{') => {
                    self.brackets()?;
                    // `= { … };` goes on, a method does not.
                    if !matches!(self.kind(), Kind::Char(';' | ',')) {
                        return Ok(());
                    }
                }
                Kind::Char('(' | '[') => {
                    self.brackets()?;
                }
                _ => {
                    self.advance();
                }
            }
        }
    }

    /// `(Map<K, V> m, int... n)`: of each the last word.
    fn parameters(&mut self) -> Result<Vec<Word>, Diagnostic> {
        let inside = self.brackets()?;
        let mut names: Vec<Word> = Vec::new();
        let (mut depth, mut last, mut count) = (0u32, None, 0);
        let end = Token { kind: Kind::Char(','), span: Span { start: inside.end, ..inside } };
        for token in self.tokens.within(inside).iter().chain([&end]) {
            match token.kind {
                Kind::Char('<' | '(' | '[') => depth += 1,
                Kind::Char('>' | ')' | ']') => depth = depth.saturating_sub(1),
                Kind::Char(',') if depth == 0 => {
                    if let Some(span) = last.take() {
                        let name = self.tokens.slice(span);
                        if !(name == "void" && count == 1) {
                            names.push(Word { name: name.to_owned(), span });
                        }
                    } else if token.span.start != inside.end || !names.is_empty() {
                        let found = Diagnostic::error("import-syntax", "found `,`, expected a parameter");
                        return Err(found.at(token.span, "expected a type and a name"));
                    }
                    count = 0;
                }
                Kind::Word if depth == 0 => {
                    last = Some(token.span);
                    count += 1;
                }
                _ => {}
            }
        }
        Ok(names)
    }

    fn event(&mut self) -> Result<Event, Diagnostic> {
        let mut creation = false;
        while self.here() != "event" {
            creation |= self.here() == "creation";
            self.advance();
        }
        self.advance();
        let name = self.word("the event's name")?;
        let mut event = Event {
            name,
            creation,
            parameters: Vec::new(),
            place: String::new(),
            conditions: Vec::new(),
            body: None,
        };
        let mut advice = "";
        loop {
            match self.kind() {
                Kind::Char('(') => {
                    let more = self.parameters()?;
                    event.parameters.extend(more);
                }
                Kind::Char('{') => {
                    event.body = Some(self.brackets()?);
                    break;
                }
                Kind::Char(';') => break,
                Kind::Char(':') => {
                    self.advance();
                    let start = self.token().span;
                    let mut place = Span { end: start.start, ..start };
                    while !matches!(self.kind(), Kind::Char('{' | ';' | '}') | Kind::End) {
                        let condition =
                            matches!(self.here(), "condition" | "if") && self.peek(1).0 == Kind::Char('(');
                        if condition {
                            self.advance();
                        }
                        if self.kind() == Kind::Char('(') {
                            let inside = self.brackets()?;
                            place.end = inside.end + 1;
                            if condition {
                                event.conditions.push(inside);
                            } else {
                                self.conditions(inside, &mut event.conditions);
                            }
                        } else {
                            place.end = self.advance().end;
                        }
                    }
                    event.place = one_line(&format!("{advice} {}", self.tokens.slice(place)), 200);
                }
                Kind::Word if ADVICE.contains(&self.here()) => {
                    if advice.is_empty() {
                        advice = self.here();
                    }
                    self.advance();
                }
                // The type that `around` returns.
                Kind::Word if !self.is_event() && !self.is_logic() => {
                    self.advance();
                }
                Kind::Char('<' | '>' | '[' | ']' | '.' | '*') => {
                    self.advance();
                }
                _ => return Err(self.found("`(`, `:` or `{`")),
            }
        }
        Ok(event)
    }

    /// Conditions inside of parentheses.
    fn conditions(&self, place: Span, found: &mut Vec<Span>) {
        let tokens = self.tokens.within(place);
        for (number, token) in tokens.iter().enumerate() {
            let word =
                token.kind == Kind::Word && matches!(self.tokens.slice(token.span), "condition" | "if");
            let Some(open) = tokens.get(number + 1).filter(|next| word && next.kind == Kind::Char('('))
            else {
                continue;
            };
            let mut depth = 0u32;
            for close in &tokens[number + 1..] {
                match close.kind {
                    Kind::Char('(') => depth += 1,
                    Kind::Char(')') => depth -= 1,
                    _ => {}
                }
                if depth == 0 {
                    found.push(Span { start: open.span.end, end: close.span.start, ..open.span });
                    break;
                }
            }
        }
    }

    fn handler(&mut self, spec: &mut Spec) -> Result<(), Diagnostic> {
        let at = self.advance();
        let category = self.word("a category, such as `match`")?;
        if self.kind() != Kind::Char('{') {
            return Err(self.found("`{`"));
        }
        let body = self.brackets()?;
        let Some(logic) = spec.logics.last_mut() else {
            let found = Diagnostic::error(
                "import-syntax",
                format!("found `@{}`, expected a logic before it", category.name),
            );
            return Err(found.at(at.to(category.span), "expected `ere :`, `fsm :` or `ltl :`"));
        };
        logic.handlers.push(Handler { category, body });
        Ok(())
    }
}

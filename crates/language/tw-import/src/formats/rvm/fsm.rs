//! State machines: `start [ open -> opened ] opened [ default opened, close -> start ] alias match = opened`.

use super::document::Word;
use super::ere::known;
use crate::cursor::{Cursor, Lexis, Tok, letter, letter_or_digit};
use rustc_hash::{FxHashMap, FxHashSet};
use tw_diag::{Diagnostic, Span};
use tw_spec::ast::Ident;
use tw_spec::ast::monitor::State;

const LEXIS: Lexis = Lexis {
    symbols: &["->", "[", "]", ",", "="],
    comments: &[("/*", Some("*/")), ("//", None)],
    begins: letter,
    goes_on: letter_or_digit,
    quotes: false,
    lines: false,
    signed: false,
};

pub(super) struct Machine {
    pub states: Vec<State>,
    /// Names for several states.
    aliases: Vec<(Word, Vec<Word>)>,
}

fn ident(cursor: &mut Cursor<'_>, expected: &str) -> Result<Ident, Diagnostic> {
    let (name, span) = cursor.word(expected)?;
    Ok(Ident { name: name.to_owned(), span })
}

pub(super) fn read(text: &str, body: Span, events: &[&str]) -> Result<Machine, Diagnostic> {
    let mut cursor = Cursor::within(text, body, &LEXIS)?;
    let mut machine = Machine { states: Vec::new(), aliases: Vec::new() };
    let mut names: FxHashMap<String, Span> = FxHashMap::default();
    while cursor.kind() != Tok::End {
        if cursor.is_word("alias") && cursor.peek(1) == Tok::Word {
            cursor.advance();
            let (name, span) = cursor.word("a name")?;
            let alias = Word { name: name.to_owned(), span };
            cursor.expect("=")?;
            let mut of = Vec::new();
            loop {
                let (name, span) = cursor.word("a state")?;
                of.push(Word { name: name.to_owned(), span });
                if cursor.accept(",").is_none() {
                    break;
                }
            }
            machine.aliases.push((alias, of));
            continue;
        }
        let name = ident(&mut cursor, "a state or `alias`")?;
        if names.insert(name.name.clone(), name.span).is_some() {
            let found =
                Diagnostic::error("import-duplicate", format!("the state `{}` is there twice", name.name));
            return Err(found.at(name.span, "again here").help("write all of its moves together"));
        }
        let moves = moves(&mut cursor, events)?;
        machine.states.push(State { name, moves });
        cursor.accept(",");
    }
    if machine.states.is_empty() {
        return Err(cursor.found("a state with its moves: `start [ open -> opened ]`"));
    }
    let targets = machine.states.iter().flat_map(|state| state.moves.iter().map(|(_, target)| target));
    let targets = targets.map(|target| (target.name.as_str(), target.span));
    let aliased =
        machine.aliases.iter().flat_map(|(_, of)| of.iter().map(|word| (word.name.as_str(), word.span)));
    for (name, span) in targets.chain(aliased) {
        if !names.contains_key(name) {
            let message = format!("found `{name}`, which is no state of the machine");
            let found = Diagnostic::error("import-syntax", message).at(span, "expected a state");
            return Err(found.help(format!("write it with its moves: `{name} [ … ]`")));
        }
    }
    Ok(machine)
}

/// What is between `[` and `]`; `default` stands for every event that is not named.
fn moves(cursor: &mut Cursor<'_>, events: &[&str]) -> Result<Vec<(Ident, Ident)>, Diagnostic> {
    cursor.expect("[")?;
    let mut moves: Vec<(Ident, Ident)> = Vec::new();
    let mut seen: FxHashSet<String> = FxHashSet::default();
    let mut others: Option<Ident> = None;
    while cursor.accept("]").is_none() {
        let event = ident(cursor, "an event, `default` or `]`")?;
        if event.name == "default" && !(cursor.is("->") && events.contains(&"default")) {
            cursor.accept("->");
            others = Some(ident(cursor, "a state")?);
        } else {
            known(&event.name, event.span, events)?;
            cursor.expect("->")?;
            let target = ident(cursor, "a state")?;
            if !seen.insert(event.name.clone()) {
                let message = format!("`{}` has two moves from one state", event.name);
                return Err(Diagnostic::error("import-duplicate", message).at(event.span, "again here"));
            }
            moves.push((event, target));
        }
        cursor.accept(",");
    }
    if let Some(target) = others {
        for event in events.iter().filter(|event| !seen.contains(**event)) {
            moves.push((Ident { name: (*event).to_owned(), span: target.span }, target.clone()));
        }
    }
    Ok(moves)
}

impl Machine {
    /// The states that a handler is for, or `fail`. States are called without regard to upper and lower case there.
    pub fn categories(&self, category: &Word) -> Result<Vec<Word>, Diagnostic> {
        let Word { name, span } = category;
        if let Some((_, of)) = self.aliases.iter().find(|(alias, _)| alias.name.eq_ignore_ascii_case(name)) {
            return Ok(of.clone());
        }
        let exact = self.states.iter().find(|state| state.name.name == *name);
        let state =
            exact.or_else(|| self.states.iter().find(|state| state.name.name.eq_ignore_ascii_case(name)));
        if let Some(state) = state {
            return Ok(vec![Word { name: state.name.name.clone(), span: *span }]);
        }
        if name == "fail" {
            return Ok(vec![category.clone()]);
        }
        let message = format!("found `@{name}`, expected `@fail`, a state or an alias");
        Err(Diagnostic::error("import-syntax", message).at(*span, "no state is called so"))
    }
}

//! Signatures: `publish(r: int) archive(int, string)`.

use crate::cursor::{Cursor, Lexis, Tok, letter, letter_or_digit, refuse};
use rustc_hash::FxHashMap;
use tw_diag::{Diagnostic, Span};
use tw_spec::ast::Type;

const LEXIS: Lexis = Lexis {
    symbols: &["(", ")", "{", "}", ",", ";", ":"],
    comments: &[("(*", Some("*)")), ("#", None)],
    begins: letter,
    goes_on: letter_or_digit,
    quotes: false,
    lines: false,
    signed: false,
};

/// A predicate as declared.
#[derive(Clone)]
pub(super) struct Predicate {
    pub name: String,
    pub parameters: Vec<(String, Option<Type>)>,
    pub span: Span,
}

/// The predicates of a signature, in its order.
#[derive(Default)]
pub(super) struct Signature {
    pub predicates: Vec<Predicate>,
    by_name: FxHashMap<String, usize>,
}

impl Signature {
    /// Reads a signature, which is the second of the sources.
    pub fn read(text: &str) -> Result<Signature, Diagnostic> {
        let mut cursor = Cursor::of(1, text, &LEXIS)?;
        let mut signature = Signature::default();
        while cursor.kind() != Tok::End {
            if cursor.is_word("event") && cursor.peek(1) == Tok::Word {
                let why = "only predicates; declare what the log holds as a predicate";
                return Err(refuse(cursor.span(), "declarations of JSON events are not imported", why));
            }
            let (name, span) = cursor.word("the name of a predicate")?;
            if cursor.is("{") {
                let why = "declare a predicate with an argument for each field";
                return Err(refuse(span, format!("`{name}` is a record"), why));
            }
            cursor.expect("(")?;
            let mut parameters = Vec::new();
            while cursor.accept(")").is_none() {
                if !parameters.is_empty() {
                    cursor.expect(",").map_err(|_| cursor.found("`,` or `)`"))?;
                }
                parameters.push(parameter(&mut cursor, &parameters)?);
            }
            cursor.accept(";");
            signature.add(Predicate { name: name.to_owned(), parameters, span })?;
        }
        Ok(signature)
    }

    fn add(&mut self, predicate: Predicate) -> Result<(), Diagnostic> {
        let at = self.predicates.len();
        if self.by_name.insert(predicate.name.clone(), at).is_some() {
            let found =
                Diagnostic::error("import-duplicate", format!("`{}` is declared twice", predicate.name));
            return Err(found.at(predicate.span, "declared again"));
        }
        self.predicates.push(predicate);
        Ok(())
    }

    pub fn get(&self, name: &str) -> Option<&Predicate> {
        self.by_name.get(name).map(|at| &self.predicates[*at])
    }
}

/// `r: int` or `int`. One without name is called as the log's readers call it: by its place.
fn parameter(
    cursor: &mut Cursor<'_>,
    before: &[(String, Option<Type>)],
) -> Result<(String, Option<Type>), Diagnostic> {
    let (first, mut span) = cursor.word("a type, or a name and a type")?;
    let mut given = None;
    let mut word = first;
    if cursor.accept(":").is_some() {
        given = Some(first);
        (word, span) = cursor.word("a type")?;
    }
    let ty = match word {
        "int" => Type::Int,
        "float" => Type::Real,
        "string" => Type::Text,
        "bool" => Type::Bool,
        _ => {
            let why = "the types are int, float, string and bool";
            return Err(refuse(span, format!("the type `{word}` has no counterpart"), why));
        }
    };
    // MonPoly does not mind two arguments of one name.
    let numbered = format!("arg{}", before.len() + 1);
    let name = given.filter(|name| before.iter().all(|(other, _)| other != name));
    Ok((name.map_or(numbered, str::to_owned), Some(ty)))
}

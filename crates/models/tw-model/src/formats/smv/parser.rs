//! Text to [`Module`]: sections and declarations. Expressions are in [`expression`].

mod expression;

use super::formula;
use super::lexer::{Lexer, Tok, Token};
use super::syntax::{Assign, Constraint, Declared, Error, Module, Spec, Symbol, Type, When};
use super::table::Scanner;
use super::words::is_reserved;

/// Reads the text of a file.
pub(super) fn parse(text: &str) -> Result<Module<'_>, Error> {
    if u32::try_from(text.len()).is_err() {
        return Err(Error::new(0, "found a file of more than 4 GB, expected a smaller one"));
    }
    let mut lexer = Lexer::new(text);
    let token = lexer.next()?;
    let mut parser = Parser { lexer, token, module: Module::default() };
    parser.file()?;
    parser.module.changed = parser.lexer.changed;
    Ok(parser.module)
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    token: Token,
    module: Module<'t>,
}

/// Words that begin a section.
const SECTIONS: &str =
    "VAR, FROZENVAR, DEFINE, CONSTANTS, ASSIGN, INIT, TRANS, INVAR, FAIRNESS, SPEC or LTLSPEC";

impl<'t> Parser<'t> {
    fn text(&self, token: Token) -> &'t str {
        &self.lexer.text[token.start as usize..token.end as usize]
    }

    fn word(&self) -> &'t str {
        if self.token.kind == Tok::Name { self.text(self.token) } else { "" }
    }

    fn advance(&mut self) -> Result<Token, Error> {
        let token = self.token;
        self.token = self.lexer.next()?;
        Ok(token)
    }

    fn at_sign(&self, sign: &str) -> bool {
        matches!(self.token.kind, Tok::Sign(found) if found == sign)
    }

    /// Takes a sign if it stands here.
    fn eat(&mut self, sign: &str) -> Result<bool, Error> {
        let found = self.at_sign(sign);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect(&mut self, sign: &str) -> Result<Token, Error> {
        if self.at_sign(sign) { self.advance() } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    /// What stands here is not what should.
    fn unexpected(&self, expected: &str) -> Error {
        let found = match self.token.kind {
            Tok::End => "the end of the file".to_owned(),
            _ => {
                let text = self.text(self.token);
                let shown: String = text.chars().take(40).collect();
                format!("`{shown}{}`", if shown.len() < text.len() { "…" } else { "" })
            }
        };
        Error::new(self.token.start, format!("found {found}, expected {expected}"))
    }

    fn refuse<T>(&self, token: Token, what: &str) -> Result<T, Error> {
        let word = self.text(token);
        Err(Error::new(token.start, format!("found `{word}`: {what}")))
    }

    fn file(&mut self) -> Result<(), Error> {
        if self.word() != "MODULE" {
            return Err(self.unexpected("`MODULE main`"));
        }
        self.advance()?;
        if self.word() != "main" {
            return Err(self.unexpected("`main`, the one module that can be read"));
        }
        self.advance()?;
        while self.token.kind != Tok::End {
            self.section()?;
        }
        Ok(())
    }

    fn section(&mut self) -> Result<(), Error> {
        let keyword = self.token;
        let unless = "the parts of a model that can be read are ".to_owned() + SECTIONS;
        match self.word() {
            "VAR" | "FROZENVAR" => {
                let frozen = self.word() == "FROZENVAR";
                self.advance()?;
                self.declarations(frozen)
            }
            "DEFINE" => {
                self.advance()?;
                self.definitions()
            }
            "CONSTANTS" => {
                self.advance()?;
                loop {
                    let (name, _) = self.new_name("a symbol")?;
                    self.module.constants.push(name);
                    if !self.eat(",")? {
                        return self.expect(";").map(drop);
                    }
                }
            }
            "ASSIGN" => {
                self.advance()?;
                self.assignments()
            }
            "INIT" => {
                let constraint = self.constraint(false)?;
                self.module.init.push(constraint);
                self.eat(";").map(drop)
            }
            "TRANS" => {
                let constraint = self.constraint(true)?;
                self.module.trans.push(constraint);
                self.eat(";").map(drop)
            }
            "INVAR" => {
                self.advance()?;
                let formula = self.expression()?;
                self.module.invar.push(formula);
                self.eat(";").map(drop)
            }
            "FAIRNESS" | "JUSTICE" => {
                self.advance()?;
                let spec = self.specification(false, false)?;
                self.module.fairness.push(spec);
                Ok(())
            }
            "SPEC" | "CTLSPEC" | "LTLSPEC" | "INVARSPEC" => {
                let (linear, always) = (self.word() == "LTLSPEC", self.word() == "INVARSPEC");
                self.advance()?;
                if self.word() == "NAME" {
                    self.advance()?;
                    self.new_name("the name of a specification")?;
                    self.expect(":=")?;
                }
                let spec = self.specification(linear, always)?;
                self.module.specs.push(spec);
                Ok(())
            }
            "MODULE" => self.refuse(keyword, "a second module; one module, `main`, can be read"),
            "IVAR" => self.refuse(keyword, "input variables; declare them in VAR"),
            "COMPASSION" => self.refuse(keyword, "strong fairness; FAIRNESS can be read"),
            "COMPUTE" | "PSLSPEC" | "ISA" | "PRED" | "MIRROR" | "MDEFINE" | "FUN" => {
                self.refuse(keyword, &unless)
            }
            _ => Err(self.unexpected(&format!("a section: {SECTIONS}"))),
        }
    }

    /// A name that can be given to something.
    fn new_name(&mut self, what: &str) -> Result<(u32, u32), Error> {
        if self.token.kind != Tok::Name || is_reserved(self.word()) {
            return Err(self.unexpected(what));
        }
        let token = self.advance()?;
        Ok((self.module.name(self.text(token)), token.start))
    }

    /// Whether a declaration follows, rather than a section.
    fn declares(&self) -> bool {
        self.token.kind == Tok::Name && !expression::is_section(self.word())
    }

    fn declarations(&mut self, frozen: bool) -> Result<(), Error> {
        while self.declares() {
            let (name, at) = self.new_name("a variable")?;
            if self.at_sign(".") || self.at_sign("[") {
                return Err(self.unexpected("`:`; names of one part can be read"));
            }
            self.expect(":")?;
            let kind = self.type_of()?;
            self.expect(";")?;
            self.module.variables.push(Declared { name, kind, frozen, at });
        }
        Ok(())
    }

    fn type_of(&mut self) -> Result<Type, Error> {
        let expected = "a type: `boolean`, `{a, b}` or `1 .. 3`";
        if self.word() == "boolean" {
            self.advance()?;
            return Ok(Type::Boolean);
        }
        if self.eat("{")? {
            let mut symbols = Vec::new();
            loop {
                symbols.push(self.symbol()?);
                if !self.eat(",")? {
                    break;
                }
            }
            self.expect("}")?;
            // Numbers go from the last to the first, so that what was written is read back with the same numbers.
            symbols.reverse();
            return Ok(Type::Values(symbols));
        }
        if self.token.kind != Tok::Number && !self.at_sign("-") {
            return Err(match self.word() {
                word @ ("word" | "unsigned" | "signed" | "array" | "process" | "real" | "integer") => {
                    self.unexpected(&format!("{expected}; `{word}` types cannot be read"))
                }
                _ => self.unexpected(expected),
            });
        }
        let (low, at) = (self.number()?, self.token.start);
        self.expect("..")?;
        let high = self.number()?;
        if low > high {
            return Err(Error::new(
                at,
                format!("found the empty range {low} .. {high}, expected a value in it"),
            ));
        }
        Ok(Type::Range(low, high))
    }

    fn symbol(&mut self) -> Result<Symbol, Error> {
        if self.token.kind == Tok::Number || self.at_sign("-") {
            return Ok(Symbol::Int(self.number()?));
        }
        Ok(Symbol::Name(self.new_name("a symbol or a whole number")?.0))
    }

    fn number(&mut self) -> Result<i64, Error> {
        let negative = self.eat("-")?;
        if self.token.kind != Tok::Number {
            return Err(self.unexpected("a whole number"));
        }
        let token = self.token;
        let digits = self.text(token);
        let number = if negative { format!("-{digits}").parse() } else { digits.parse() };
        let number = number.map_err(|_| self.unexpected("a whole number of 64 bits"))?;
        self.advance()?;
        Ok(number)
    }

    fn definitions(&mut self) -> Result<(), Error> {
        while self.declares() {
            let (name, at) = self.new_name("a name")?;
            self.expect(":=")?;
            let value = self.expression()?;
            self.expect(";")?;
            self.module.defines.push((name, value, at));
        }
        Ok(())
    }

    fn assignments(&mut self) -> Result<(), Error> {
        while self.declares() {
            let when = match self.word() {
                "init" => When::Init,
                "next" => When::Next,
                _ => When::Always,
            };
            let at = self.token.start;
            let name = if when == When::Always {
                self.new_name("a variable")?.0
            } else {
                self.advance()?;
                self.expect("(")?;
                let name = self.new_name("a variable")?.0;
                self.expect(")")?;
                name
            };
            self.expect(":=")?;
            let value = self.expression()?;
            self.expect(";")?;
            self.module.assigns.push(Assign { when, name, value, at });
        }
        Ok(())
    }

    /// The body of `INIT` or `TRANS`: rows, if that is what it is, or any expression.
    fn constraint(&mut self, next: bool) -> Result<Constraint, Error> {
        let body = self.token.end as usize;
        if let Some((rows, end)) = Scanner::new(self.lexer.text, body, &self.module).rows(next) {
            self.lexer.at = end;
            self.token = self.lexer.next()?;
            return Ok(Constraint::Rows(rows));
        }
        self.advance()?;
        Ok(Constraint::Formula(self.expression()?))
    }

    /// A formula for the checker. Its words are translated, token by token.
    fn specification(&mut self, linear: bool, always: bool) -> Result<Spec, Error> {
        let at = self.token.start;
        let mut tokens = Vec::new();
        while self.token.kind != Tok::End && !self.at_sign(";") && !expression::is_section(self.word()) {
            tokens.push(self.advance()?);
        }
        let text = formula::from_smv(self.lexer.text, &tokens, self.token, &self.lexer.changed)?;
        self.eat(";")?;
        Ok(Spec { linear, text: if always { format!("AG ({text})") } else { text }, at })
    }
}

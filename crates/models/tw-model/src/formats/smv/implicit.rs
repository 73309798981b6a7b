//! A program whose states are found when they are asked for.

use super::encode::{self, MOST_ROWS, Refused};
use super::explore::{Limits, Stop, explore, formulas};
use super::program::Program;
use super::syntax::Error;
use super::{compile, free, parser};
use crate::formats::{ModelError, syntax_error, utf8};
use crate::{Model, Symbolic};
use std::sync::Arc;

/// A program: its states can be listed, one after another, or told as sets.
#[derive(Clone, Debug)]
pub struct Implicit(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    file: String,
    text: String,
    program: Program,
    limits: Limits,
}

/// Why a program is not told as sets.
#[derive(Debug)]
pub enum Unsuited {
    /// Its states may be listed nevertheless: what stands in the way.
    Sets(String),
    /// It has no model.
    Model(ModelError),
}

impl Implicit {
    /// Reads a program; also the variables that were left out.
    pub(super) fn read(
        file: &str,
        text: &[u8],
        limits: &Limits,
        mentioned: &dyn Fn(&str) -> bool,
    ) -> Result<(Self, Vec<String>), ModelError> {
        let text = utf8(file, text)?;
        let located = |error: Error| syntax_error(file, text, error.at as usize, error.message);
        let mut module = parser::parse(text).map_err(located)?;
        let left_out = free::leave_out(&mut module, mentioned);
        let program = compile::compile(text, module).map_err(located)?;
        let inner = Inner { file: file.to_owned(), text: text.to_owned(), program, limits: *limits };
        Ok((Self(Arc::new(inner)), left_out))
    }

    /// The name of its file.
    pub fn file(&self) -> &str {
        &self.0.file
    }

    /// What holds again and again on every path that counts, as written.
    pub fn fairness(&self) -> impl Iterator<Item = &str> {
        self.0.program.fairness.iter().map(|fair| fair.text.as_str())
    }

    /// All states, one after another.
    pub fn listed(&self) -> Result<Model, ModelError> {
        explore(&self.0.program, &self.0.limits).map_err(|stop| self.error(stop))
    }

    /// Few states listed, or the program alone where they are many.
    pub(super) fn model(&self) -> Result<Model, ModelError> {
        let tables = [&self.0.program.init, &self.0.program.trans].into_iter().flat_map(|part| &part.tables);
        let rows = tables.flat_map(|table| &table.shapes).map(|shape| shape.order.len()).max();
        // What was listed in the text is listed again.
        if rows.is_some_and(|rows| rows > MOST_ROWS) {
            return self.listed();
        }
        match explore(&self.0.program, &self.0.limits.few()) {
            Err(Stop::TooMuch(_)) => Ok(Model { implicit: Some(self.clone()), ..formulas(&self.0.program) }),
            result => result.map_err(|stop| self.error(stop)),
        }
    }

    /// All states as sets.
    pub fn symbolic(&self) -> Result<Symbolic, Unsuited> {
        encode::encode(&self.0.program).map_err(|refused| match refused {
            Refused::Named(what) => Unsuited::Sets(what),
            Refused::Empty => Unsuited::Model(ModelError::Unfit("no state satisfies INIT".to_owned())),
        })
    }

    fn error(&self, stop: Stop) -> ModelError {
        match stop {
            Stop::At(error) => syntax_error(&self.0.file, &self.0.text, error.at as usize, error.message),
            Stop::TooMuch(message) | Stop::Unfit(message) => ModelError::Unfit(message),
        }
    }
}

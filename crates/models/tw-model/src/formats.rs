//! Model files: one row in [`FORMATS`] each.

mod aut;
mod dot;
mod json;
mod names;
mod prism;
mod promela;
pub mod smv;
mod svg;
#[cfg(test)]
mod testing;
mod text;

use crate::Model;
use std::fmt;
use std::io::{self, Write};
use text::{Digits, syntax_error, utf8};

/// Reads a file: its name, for messages, and its bytes.
pub type ReadModel = fn(&str, &[u8]) -> Result<Model, ModelError>;

/// A format of model files.
pub struct ModelFormat {
    /// Its name: `smv`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Extensions of its files, the usual one first.
    pub extensions: &'static [&'static str],
    /// Reads a file (name and text); `None` if the format is for other programs alone.
    pub read: Option<ReadModel>,
    /// Writes a model.
    pub write: fn(&Model, &mut dyn Write) -> Result<(), ModelError>,
}

/// All formats.
pub static FORMATS: &[ModelFormat] = &[
    ModelFormat {
        name: "smv",
        about: "NuSMV: one disjunct a transition; files of one module with finite types are read",
        extensions: &["smv"],
        read: Some(smv::read),
        write: smv::write,
    },
    ModelFormat {
        name: "json",
        about: "everything that is known, one state and one transition a line",
        extensions: &["json"],
        read: Some(json::read),
        write: json::write,
    },
    ModelFormat {
        name: "promela",
        about: "Promela, for Spin",
        extensions: &["pml", "promela"],
        read: None,
        write: promela::write,
    },
    ModelFormat {
        name: "prism",
        about: "PRISM: a Markov chain, counts as probabilities",
        extensions: &["prism", "pm"],
        read: None,
        write: prism::write,
    },
    ModelFormat {
        name: "aut",
        about: "Aldebaran: a labelled transition system",
        extensions: &["aut"],
        read: None,
        write: aut::write,
    },
    ModelFormat {
        name: "dot",
        about: "a graph for Graphviz",
        extensions: &["dot", "gv"],
        read: None,
        write: dot::write,
    },
    ModelFormat { name: "svg", about: "a picture", extensions: &["svg"], read: None, write: svg::write },
];

/// The format of a file, by its extension.
pub fn of_file(path: &str) -> Option<&'static ModelFormat> {
    let extension = path.rsplit('.').next().filter(|extension| extension.len() < path.len())?;
    FORMATS.iter().find(|format| format.extensions.iter().any(|known| known.eq_ignore_ascii_case(extension)))
}

/// Why a model cannot be read or written.
#[derive(Debug)]
pub enum ModelError {
    /// The text of a file is wrong: where, what was found, what was expected.
    Syntax {
        /// File.
        file: String,
        /// Line, from 1.
        line: u64,
        /// Column in characters, from 1.
        column: u64,
        /// Found and expected.
        message: String,
    },
    /// The model does not fit: too large, or nothing that this format can say.
    Unfit(String),
    /// Writing failed.
    Io(io::Error),
}

impl From<io::Error> for ModelError {
    fn from(error: io::Error) -> Self {
        ModelError::Io(error)
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelError::Syntax { file, line, column, message } => {
                write!(f, "{file}:{line}:{column}: {message}")
            }
            ModelError::Unfit(message) => f.write_str(message),
            ModelError::Io(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for ModelError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_extension_leads_to_one_format() {
        let mut met = std::collections::BTreeSet::new();
        for format in FORMATS {
            assert!(met.insert(format.name.to_owned() + " by name"));
            for extension in format.extensions {
                assert!(met.insert((*extension).to_owned()), "{extension}");
                let path = format!("a.b/m.{}", extension.to_uppercase());
                assert_eq!(of_file(&path).map(|found| found.name), Some(format.name));
            }
        }
        assert!(of_file("smv").is_none() && of_file("m.txt").is_none());
    }
}

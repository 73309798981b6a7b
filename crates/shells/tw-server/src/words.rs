//! Texts for people and clients.

use tracewise::Error;
use tracewise::error::plain;

/// An error in a sentence.
pub fn error(error: &Error) -> String {
    plain(&error.to_string())
}

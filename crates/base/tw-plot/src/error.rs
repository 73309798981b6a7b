//! Why a picture was not made.

use std::path::PathBuf;

/// Why a picture was not made.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The name of the file says neither SVG nor PNG.
    Extension(PathBuf),
    /// The file could not be written.
    Write(PathBuf, std::io::Error),
    /// The text is no SVG.
    Svg(String),
    /// The picture has too many pixels: its width and height.
    TooLarge(f32, f32),
    /// The pixels could not be encoded as PNG.
    Png(String),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Extension(path) => {
                let path = path.display();
                write!(f, "cannot tell the kind of picture from `{path}`: its name must end in .svg or .png")
            }
            Error::Write(path, error) => write!(f, "cannot write `{}`: {error}", path.display()),
            Error::Svg(reason) => write!(f, "not an SVG picture: {reason}"),
            Error::TooLarge(width, height) => {
                write!(f, "a picture of {width} by {height} is too large for PNG; SVG has no limit")
            }
            Error::Png(reason) => write!(f, "cannot encode the picture as PNG: {reason}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Write(_, error) => Some(error),
            _ => None,
        }
    }
}

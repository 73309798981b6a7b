//! Model files: read and written by their extension.

use crate::Error;
use crate::error::Setting;
use std::io::{BufWriter, Write};
use tw_core::{NewFile, read_all, read_file};
use tw_model::formats::{of_file, smv};
use tw_model::{FORMATS, Model, ModelError, ModelFormat};

/// Reads a model; files may be compressed (`.gz`, `.zst`).
pub fn read_model(path: &str) -> Result<Model, Error> {
    read_model_about(path, None).map(|(model, _)| model)
}

/// Reads a model that is to be asked these formulas and those in the file, and no others: variables of SMV that nothing
/// depends on are left out where they are many, and told by name.
pub fn read_model_for(path: &str, formulas: &[String]) -> Result<(Model, Vec<String>), Error> {
    read_model_about(path, Some(formulas))
}

fn read_model_about(path: &str, formulas: Option<&[String]>) -> Result<(Model, Vec<String>), Error> {
    let plain = plain_name(path);
    let readable = || {
        let known = extensions(|format| format.read.is_some());
        format!("models are read from {} files", known.join(" and "))
    };
    let Some(format) = of_file(plain) else {
        return Err(Error::refused(if path == "-" {
            format!("a model cannot be read from standard input; {}", readable())
        } else if tw_trace::detect(path, &crate::trace::formats()).is_some() {
            let keep = Setting::Keep.to("time");
            format!(
                "`{path}` is a trace; make a model of it first: `tracewise merge {keep} {path} -o model.json`"
            )
        } else {
            format!("cannot tell the format of the model `{path}` by its name; {}", readable())
        }));
    };
    let Some(read) = format.read else {
        return Err(Error::refused(format!(
            "`{path}`: {} files are written for other programs, and cannot be read back; {}",
            format.name,
            readable()
        )));
    };
    let bytes = if plain.len() < path.len() { unpacked(path) } else { read_file(path, LARGEST) };
    let bytes = bytes.map_err(|error| Error::io(format!("cannot read `{path}`"), error))?;
    match formulas {
        // Of the formats, the one whose states are not listed but found.
        Some(formulas) if format.name == "smv" => {
            let mentioned = |name: &str| formulas.iter().any(|formula| formula.contains(name));
            smv::read_mentioning(path, &bytes, &smv::Limits::default(), &mentioned)
        }
        _ => read(path, &bytes).map(|model| (model, Vec::new())),
    }
    .map_err(|error| model_error(path, error))
}

/// Most bytes of a model.
const LARGEST: u64 = 4 << 30;

/// A file's name without the suffix that says how it is compressed.
fn plain_name(path: &str) -> &str {
    path.strip_suffix(".gz").or_else(|| path.strip_suffix(".zst")).unwrap_or(path)
}

/// What a compressed file holds.
fn unpacked(path: &str) -> std::io::Result<Vec<u8>> {
    let input = tw_trace::Input::open(&[path.to_string()]).map_err(std::io::Error::other)?;
    read_all(input.reader(0).map_err(std::io::Error::other)?, LARGEST)
}

/// Extensions of formats, with their points.
fn extensions(which: impl Fn(&ModelFormat) -> bool) -> Vec<String> {
    let formats = FORMATS.iter().filter(|format| which(format));
    formats.flat_map(|format| format.extensions.iter().map(|extension| format!(".{extension}"))).collect()
}

/// Writes a model; `-` is standard output, as JSON.
pub fn write_model(model: &Model, path: &str) -> Result<(), Error> {
    let format = format_of(if path == "-" { "model.json" } else { path })?;
    let write = |out: &mut dyn Write| (format.write)(model, out);
    let written = || -> Result<(), ModelError> {
        if path == "-" {
            let mut out = BufWriter::new(std::io::stdout().lock());
            write(&mut out)?;
            return Ok(out.flush()?);
        }
        // All of it or nothing: half a model is never left behind.
        let new = NewFile::create(path.as_ref())?;
        let mut out = BufWriter::with_capacity(1 << 20, new.writer()?);
        write(&mut out)?;
        out.flush()?;
        Ok(new.commit()?)
    };
    written().map_err(|error| model_error(path, error))
}

/// The format that a file is written in.
fn format_of(path: &str) -> Result<&'static ModelFormat, Error> {
    of_file(path).ok_or_else(|| {
        Error::refused(if of_file(plain_name(path)).is_some() {
            format!("cannot write `{path}`: models are not compressed; write `{}`", plain_name(path))
        } else {
            let known = extensions(|_| true).join(", ");
            format!("cannot tell the format of the model `{path}` by its name (known: {known})")
        })
    })
}

pub(super) fn model_error(path: &str, error: ModelError) -> Error {
    match error {
        ModelError::Io(error) => Error::io(format!("cannot write `{path}`"), error),
        ModelError::Unfit(message) => Error::refused(format!("`{path}`: {message}")),
        syntax => Error::Model(Box::new(syntax)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIGHT: &str = "MODULE main VAR p: boolean; INIT p TRANS next(p) = p";

    fn message(result: Result<impl Sized, Error>) -> String {
        match result {
            Err(Error::Refused(refusal)) => refusal.to_string(),
            Err(Error::Io { what, error }) => format!("{what}: {error}"),
            Err(other) => format!("{other:?}"),
            Ok(_) => "no error".into(),
        }
    }

    /// A file of that name in a directory of its own, while something is done with it.
    fn with_file<T>(name: &str, bytes: &[u8], then: impl FnOnce(&str) -> T) -> T {
        let directory = std::env::temp_dir().join(format!("models-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join(name);
        std::fs::write(&path, bytes).unwrap();
        let done = then(path.to_str().unwrap());
        std::fs::remove_dir_all(&directory).unwrap();
        done
    }

    #[test]
    fn compressed_models_are_read() {
        // One stored block: a header, the length and its complement, the bytes, their sum and number.
        let text = LIGHT.as_bytes();
        let length = (text.len() as u16).to_le_bytes();
        let sum = text.iter().fold(!0u32, |sum, &byte| {
            (0..8).fold(sum ^ u32::from(byte), |sum, _| (sum >> 1) ^ (0xEDB8_8320 & (sum & 1).wrapping_neg()))
        });
        let mut packed = vec![0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255, 1];
        packed.extend(length);
        packed.extend(length.map(|byte| !byte));
        packed.extend(text);
        packed.extend((!sum).to_le_bytes());
        packed.extend((text.len() as u32).to_le_bytes());
        with_file("m.smv.gz", &packed, |path| assert_eq!(read_model(path).unwrap().states(), 1));
        with_file("cut.smv.gz", &packed[..packed.len() - 20], |path| {
            let found = message(read_model(path));
            assert!(found.starts_with(&format!("cannot read `{path}`: ")), "{found}");
        });
        let found = message(write_model(&Model::default(), "m.json.gz"));
        assert_eq!(found, "cannot write `m.json.gz`: models are not compressed; write `m.json`");
    }

    #[test]
    fn what_is_no_model_is_told() {
        assert_eq!(
            message(read_model("-")),
            "a model cannot be read from standard input; models are read from .smv and .json files"
        );
        assert!(message(read_model("runs.csv.gz")).contains("is a trace"));
        assert!(message(read_model("m.dot.gz")).contains("models are read from .smv and .json files"));
        assert!(
            message(read_model("m.what")).ends_with("by its name; models are read from .smv and .json files")
        );
        assert!(message(write_model(&Model::default(), "m.csv")).contains("known: .smv, .json"));
    }

    #[test]
    fn the_file_is_named_once() {
        let empty = format!("{LIGHT} INIT !p");
        with_file("empty.smv", empty.as_bytes(), |path| {
            assert_eq!(message(read_model(path)), format!("`{path}`: no state satisfies INIT"));
        });
    }
}

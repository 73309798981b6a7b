//! Model files: read and written by their extension.

use crate::Error;
use std::io::{BufWriter, Write};
use tw_model::formats::of_file;
use tw_model::{FORMATS, Model, ModelError, ModelFormat};

/// Reads a model.
pub fn read_model(path: &str) -> Result<Model, Error> {
    let format = format_of(path)?;
    let Some(read) = format.read else {
        let readable: Vec<&str> =
            FORMATS.iter().filter(|format| format.read.is_some()).map(|f| f.name).collect();
        return Err(Error::Usage(format!(
            "`{path}`: {} files are written for other programs, and cannot be read back; models are read from {}",
            format.name,
            readable.join(" and ")
        )));
    };
    let bytes =
        std::fs::read(path).map_err(|error| Error::Usage(format!("cannot read `{path}`: {error}")))?;
    read(path, &bytes).map_err(|error| model_error(path, error))
}

/// Writes a model; `-` is standard output, as JSON.
pub fn write_model(model: &Model, path: &str) -> Result<(), Error> {
    let format = format_of(if path == "-" { "model.json" } else { path })?;
    let write = |out: &mut dyn Write| (format.write)(model, out);
    let result = if path == "-" {
        write(&mut BufWriter::new(std::io::stdout().lock()))
    } else {
        write_file(path, &write)
    };
    result.map_err(|error| model_error(path, error))
}

/// To a file beside the one asked for, which takes its place when all is written: half a model is never left behind.
fn write_file(
    path: &str,
    write: &dyn Fn(&mut dyn Write) -> Result<(), ModelError>,
) -> Result<(), ModelError> {
    let special = std::fs::metadata(path).is_ok_and(|data| !data.is_file());
    let partial = if special { path.to_string() } else { format!("{path}.part") };
    let mut out = BufWriter::with_capacity(1 << 20, std::fs::File::create(&partial)?);
    let written = write(&mut out).and_then(|()| out.flush().map_err(ModelError::from));
    if special {
        return written;
    }
    match written {
        Ok(()) => Ok(std::fs::rename(&partial, path)?),
        Err(error) => {
            let _ = std::fs::remove_file(&partial);
            Err(error)
        }
    }
}

fn format_of(path: &str) -> Result<&'static ModelFormat, Error> {
    if let Some(format) = of_file(path) {
        return Ok(format);
    }
    if tw_trace::detect(path, &crate::formats()).is_some() {
        return Err(Error::Usage(format!(
            "`{path}` is a trace; make a model of it first: `tracewise merge --keep time {path} -o model.json`"
        )));
    }
    let known: Vec<String> = FORMATS
        .iter()
        .flat_map(|format| format.extensions.iter().map(|extension| format!(".{extension}")))
        .collect();
    Err(Error::Usage(format!(
        "cannot tell the format of the model `{path}` by its name (known: {})",
        known.join(", ")
    )))
}

fn model_error(path: &str, error: ModelError) -> Error {
    match error {
        ModelError::Io(error) => Error::Usage(format!("cannot write `{path}`: {error}")),
        ModelError::Unfit(message) => Error::Usage(format!("`{path}`: {message}")),
        syntax => Error::Model(Box::new(syntax)),
    }
}

//! Writing compressed files, by their name.

use std::io::{self, Write};

/// A writer for `name`: compressed if it ends in `.gz` or `.zst`, plain otherwise. Dropping it writes what remains.
pub fn compress<'a>(name: &str, file: impl Write + 'a) -> io::Result<Box<dyn Write + 'a>> {
    Ok(if name.ends_with(".gz") {
        Box::new(flate2::write::GzEncoder::new(file, flate2::Compression::default()))
    } else if name.ends_with(".zst") {
        Box::new(zstd::Encoder::new(file, 0)?.auto_finish())
    } else {
        Box::new(file)
    })
}

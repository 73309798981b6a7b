//! From the body of a request to lines: unpacked within a budget, each with its end.

use crate::limits::Held;
use std::borrow::Cow;
use std::io::Read;
use tracewise::{Reading, Session};

/// Bytes that are unpacked at once, at first and at most.
const SMALL: usize = 64 << 10;
const LARGE: usize = 8 << 20;

/// How a body is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    Plain,
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
}

/// What a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Lines of JSON, as the log has them.
    JsonLines,
    /// A CSV file with a header.
    Csv,
}

impl Form {
    /// What a `Content-Type` says; lines of JSON, where it says nothing of the kind.
    pub fn named(kind: Option<&str>) -> Self {
        let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
        match kind.eq_ignore_ascii_case("text/csv") || kind.eq_ignore_ascii_case("application/csv") {
            true => Form::Csv,
            false => Form::JsonLines,
        }
    }

    /// The lines of a body; and how many lines of it were left out because they cannot be read, where `skip` allows that.
    pub fn lines(self, bytes: Cow<'_, [u8]>, skip: bool) -> Result<(Cow<'_, [u8]>, u64), tracewise::Error> {
        match self {
            Form::JsonLines => Ok((ended(bytes), 0)),
            Form::Csv if bytes.is_empty() => Ok((bytes, 0)),
            Form::Csv => {
                let reading = Reading {
                    format: Some("csv".into()),
                    threads: 1,
                    skip_bad_lines: skip,
                    ..Reading::default()
                };
                let lines = Session::new().reading(reading).json_lines(bytes.into_owned())?;
                Ok((Cow::Owned(lines.bytes), lines.left_out))
            }
        }
    }
}

/// Why a body has no lines.
#[derive(Debug, PartialEq, Eq)]
pub enum Unusable {
    /// It is larger than is taken, unpacked.
    TooLarge(usize),
    /// It is not packed as it says.
    Damaged(String),
    /// There is no memory for it now.
    Busy,
}

impl Packing {
    /// What a `Content-Encoding` says.
    pub fn named(name: Option<&str>) -> Option<Self> {
        match name.map(|name| name.trim().to_ascii_lowercase()).as_deref() {
            None | Some("" | "identity") => Some(Packing::Plain),
            Some("gzip" | "x-gzip") => Some(Packing::Gzip),
            Some("zstd") => Some(Packing::Zstd),
            Some(_) => None,
        }
    }

    /// Unpacks a body, at most `limit` bytes of it, within a budget.
    pub fn unpack<'b>(
        self,
        body: &'b [u8],
        limit: usize,
        held: &mut Held,
    ) -> Result<Cow<'b, [u8]>, Unusable> {
        let damaged = |error: std::io::Error| Unusable::Damaged(error.to_string());
        match self {
            Packing::Plain if body.len() > limit => Err(Unusable::TooLarge(limit)),
            Packing::Plain => Ok(Cow::Borrowed(body)),
            Packing::Gzip => bounded(flate2::read::MultiGzDecoder::new(body), limit, held),
            Packing::Zstd => bounded(zstd::stream::read::Decoder::new(body).map_err(damaged)?, limit, held),
        }
    }
}

fn bounded(mut reader: impl Read, limit: usize, held: &mut Held) -> Result<Cow<'static, [u8]>, Unusable> {
    let mut bytes = Vec::new();
    loop {
        let before = bytes.len();
        // By pieces that grow with what is there: what is small costs little, what is large few rounds.
        let piece = (before / 2).clamp(SMALL, LARGE).min(limit + 1 - before);
        if before > 0 && !held.grow(piece) {
            return Err(Unusable::Busy);
        }
        // Exactly: what is reserved is held.
        bytes.reserve_exact(piece);
        let read = reader.by_ref().take(piece as u64).read_to_end(&mut bytes);
        match read {
            Err(error) => return Err(Unusable::Damaged(error.to_string())),
            Ok(_) if bytes.len() > limit => return Err(Unusable::TooLarge(limit)),
            Ok(read) if read < piece => return Ok(Cow::Owned(bytes)),
            Ok(_) => {}
        }
    }
}

/// The same with an end to the last line: the next request is another line.
fn ended(bytes: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    match bytes.last() {
        None | Some(b'\n') => bytes,
        Some(_) => {
            let mut bytes = bytes.into_owned();
            bytes.push(b'\n');
            Cow::Owned(bytes)
        }
    }
}

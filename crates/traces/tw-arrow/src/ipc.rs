//! The format `arrow`: Arrow IPC files and streams.
//!
//! A file is a stream between two marks with an index behind it, so both are read the same way, message by message.

use crate::parts;
use crate::rows::{Batches, Layout, Source};
use crate::{guarded, write};
use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::error::ArrowError;
use arrow::ipc::reader::StreamDecoder;
use arrow::ipc::writer::FileWriter;
use arrow::ipc::{MessageHeader, root_as_message};
use std::io::{BufRead, Read, Write};
use tw_trace::{
    Bytes, FormatCard, Outline, PartFormat, Parts, Projection, ReadOptions, Reading, States, TraceError,
    TraceErrorKind, TraceFormat, Writing,
};

/// Arrow IPC files and streams.
pub struct Arrow;

/// What a damaged file was expected to be.
const KIND: &str = "an Arrow file or stream";
/// Stands at both ends of a file.
const MARK: &[u8] = b"ARROW1";
/// Begins a message; with length 0 it ends the stream.
const CONTINUATION: [u8; 4] = [0xff; 4];

impl TraceFormat for Arrow {
    fn card(&self) -> FormatCard {
        FormatCard {
            name: "arrow",
            extensions: &["arrow"],
            about: "Arrow IPC files and streams, one row per position",
            open_vocabulary: false,
        }
    }

    fn rows<'a>(&self, input: Bytes<'a>, options: &ReadOptions) -> Reading<'a> {
        let (stream, layout) = open(input, options)?;
        Ok(Box::new(Source::new(stream, layout)))
    }

    fn parted(&self) -> Option<&dyn PartFormat> {
        Some(self)
    }

    fn writer<'a>(&self, out: Box<dyn Write + 'a>, outline: Outline<'_>) -> Writing<'a> {
        Ok(Box::new(write::Sink::new(out, outline, "arrow", encode)))
    }

    fn states(&self) -> Option<States> {
        Some(States::Rows)
    }
}

impl PartFormat for Arrow {
    fn parts<'a>(
        &self,
        input: Box<dyn BufRead + Send + 'a>,
        projection: &Projection,
        options: &ReadOptions,
    ) -> Result<Parts<'a>, TraceError> {
        let (stream, layout) = open(input, options)?;
        Ok(parts::parts(stream, layout, projection, options))
    }
}

/// Reads up to the schema.
fn open<'a>(
    input: Box<dyn BufRead + Send + 'a>,
    options: &ReadOptions,
) -> Result<(Stream<'a>, Layout), TraceError> {
    let mut messages = Messages { input, file: false, ended: false };
    messages.open()?;
    let mut decoder = StreamDecoder::new();
    let mut pending = messages.next()?;
    // The decoder takes the schema in when it sees that something follows it.
    let schema = loop {
        if let Some(schema) = decoder.schema() {
            break schema;
        }
        if pending.is_empty() {
            pending = messages.next()?;
            if pending.is_empty() {
                return Err(damaged("it has no schema"));
            }
            // Only now is the schema behind the decoder, but not what was just read.
            let mut first = pending.slice_with_length(0, 1);
            if guarded(KIND, || decoder.decode(&mut first))?.is_some() {
                return Err(damaged("it begins with data"));
            }
            pending.advance(1);
        } else if guarded(KIND, || decoder.decode(&mut pending))?.is_some() {
            return Err(damaged("it begins with data"));
        }
    };
    let layout = Layout::new(&schema, options)?;
    Ok((Stream { messages, decoder, pending }, layout))
}

fn damaged(reason: &str) -> TraceError {
    TraceError::new(TraceErrorKind::Syntax, format!("found a damaged file ({reason}), expected {KIND}"))
}

fn unreadable(error: std::io::Error) -> TraceError {
    TraceError::new(TraceErrorKind::Io, error.to_string())
}

/// Messages of a stream, whole: lengths that a file claims are believed only as far as it has bytes.
struct Messages<'a> {
    input: Box<dyn BufRead + Send + 'a>,
    file: bool,
    ended: bool,
}

impl Messages<'_> {
    /// Passes over the mark of a file.
    fn open(&mut self) -> Result<(), TraceError> {
        let start = self.take(8)?;
        if start.starts_with(MARK) {
            self.file = true;
            return self.pass_zeros();
        }
        if start.get(..4) != Some(&CONTINUATION[..]) {
            return Err(damaged("it does not begin like one"));
        }
        let rest = std::mem::replace(&mut self.input, Box::new(std::io::empty()));
        // A `Chain` of boxes of one lifetime; what was taken is put back in front.
        self.input = Box::new(std::io::Cursor::new(start).chain(rest));
        Ok(())
    }

    /// Passes over the padding behind the mark: to eight bytes by the standard, to more by some writers.
    fn pass_zeros(&mut self) -> Result<(), TraceError> {
        loop {
            let bytes = self.input.fill_buf().map_err(unreadable)?;
            let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
            let done = bytes.is_empty() || zeros < bytes.len();
            self.input.consume(zeros);
            if done {
                return Ok(());
            }
        }
    }

    /// The next `count` bytes, or fewer at the end.
    fn take(&mut self, count: u64) -> Result<Vec<u8>, TraceError> {
        let mut bytes = Vec::new();
        let read = (&mut self.input).take(count).read_to_end(&mut bytes);
        read.map_err(unreadable)?;
        Ok(bytes)
    }

    /// The next message; the end of the stream is one too, and nothing follows it.
    fn next(&mut self) -> Result<Buffer, TraceError> {
        if self.ended {
            return Ok(Buffer::from(&[]));
        }
        let mut bytes = self.take(8)?;
        if bytes.len() < 8 && (self.file || !bytes.is_empty()) {
            return Err(damaged("it ends early"));
        }
        let length = match bytes.get(4..8) {
            Some(length) if bytes[..4] == CONTINUATION => {
                u32::from_le_bytes([length[0], length[1], length[2], length[3]])
            }
            // A stream may simply end.
            None => 0,
            Some(_) => return Err(damaged("a message does not begin like one")),
        };
        if length == 0 {
            self.ended = true;
            return self.end();
        }
        let header = self.take(length.into())?;
        if header.len() < length as usize {
            return Err(damaged("it ends early"));
        }
        let message = guarded(KIND, || root_as_message(&header))?;
        if !matches!(
            message.header_type(),
            MessageHeader::Schema | MessageHeader::RecordBatch | MessageHeader::DictionaryBatch
        ) {
            return Err(damaged("a message is of an unknown kind"));
        }
        let body =
            u64::try_from(message.bodyLength()).map_err(|_| damaged("a message has a negative length"))?;
        bytes.extend_from_slice(&header);
        let content = self.take(body)?;
        if (content.len() as u64) < body {
            return Err(damaged("it ends early"));
        }
        bytes.extend_from_slice(&content);
        Ok(Buffer::from_vec(bytes))
    }

    /// The end of the stream. A file has its index and mark behind it, else it was cut short.
    fn end(&mut self) -> Result<Buffer, TraceError> {
        if self.file {
            let mut last: Vec<u8> = Vec::new();
            loop {
                let part = self.take(1 << 16)?;
                if part.is_empty() {
                    break;
                }
                last.extend_from_slice(&part);
                last.drain(..last.len().saturating_sub(MARK.len()));
            }
            if last != MARK {
                return Err(damaged("it ends early"));
            }
        }
        Ok(Buffer::from(&[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]))
    }
}

/// Batches of a stream.
struct Stream<'a> {
    messages: Messages<'a>,
    decoder: StreamDecoder,
    pending: Buffer,
}

impl Batches for Stream<'_> {
    fn next(&mut self) -> Result<Option<RecordBatch>, TraceError> {
        loop {
            if self.pending.is_empty() {
                self.pending = self.messages.next()?;
                if self.pending.is_empty() {
                    guarded(KIND, || self.decoder.finish())?;
                    return Ok(None);
                }
            }
            let batch = guarded(KIND, || self.decoder.decode(&mut self.pending))?;
            if batch.is_some() {
                return Ok(batch);
            }
        }
    }
}

/// Writes batches as a file.
fn encode(
    out: &mut dyn Write,
    schema: write::SchemaRef,
    batches: write::Built<'_>,
) -> Result<(), TraceError> {
    let failed = |error: ArrowError| write::failed("arrow", &error);
    let mut writer = FileWriter::try_new(out, &schema).map_err(failed)?;
    for batch in batches {
        writer.write(&batch?).map_err(failed)?;
    }
    writer.finish().map_err(failed)
}

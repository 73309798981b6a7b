//! The format `parquet`.

use crate::parts;
use crate::rows::{Batches, Iterated, Layout, Source};
use crate::{guarded, write};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use std::io::{BufRead, Write};
use tw_trace::{
    Bytes, FormatCard, Outline, PartFormat, Parts, Projection, ReadOptions, Reading, States, TraceError,
    TraceErrorKind, TraceFormat, Writing,
};

/// Parquet files.
pub struct Parquet;

/// What a damaged file was expected to be.
const KIND: &str = "a Parquet file";
/// Rows decoded at a time.
const ROWS: usize = 8192;

impl TraceFormat for Parquet {
    fn card(&self) -> FormatCard {
        FormatCard {
            name: "parquet",
            extensions: &["parquet"],
            about: "Parquet files, one row per position (read into memory)",
            open_vocabulary: false,
        }
    }

    fn rows<'a>(&self, input: Bytes<'a>, options: &ReadOptions) -> Reading<'a> {
        let (batches, layout) = open(input, options, &|_| ROWS)?;
        Ok(Box::new(Source::new(batches, layout)))
    }

    fn parted(&self) -> Option<&dyn PartFormat> {
        Some(self)
    }

    fn writer<'a>(&self, out: Box<dyn Write + 'a>, outline: Outline<'_>) -> Writing<'a> {
        Ok(Box::new(write::Sink::new(out, outline, "parquet", encode)))
    }

    fn states(&self) -> Option<States> {
        Some(States::Rows)
    }
}

impl PartFormat for Parquet {
    fn parts<'a>(
        &self,
        input: Box<dyn BufRead + Send + 'a>,
        projection: &Projection,
        options: &ReadOptions,
    ) -> Result<Parts<'a>, TraceError> {
        let (batches, layout) = open(input, options, &|columns| parts::rows(columns, options))?;
        Ok(parts::parts(batches, layout, projection, options))
    }
}

/// Opens a file whose batches are to have as many rows as `rows` says of its number of columns.
fn open<'a>(
    mut input: Box<dyn BufRead + Send + 'a>,
    options: &ReadOptions,
    rows: &dyn Fn(usize) -> usize,
) -> Result<(impl Batches + use<>, Layout), TraceError> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes).map_err(|error| TraceError::new(TraceErrorKind::Io, error.to_string()))?;
    let bytes = bytes::Bytes::from(bytes);
    let builder = guarded(KIND, || ParquetRecordBatchReaderBuilder::try_new(bytes))?;
    let layout = Layout::new(builder.schema(), options)?;
    let rows = rows(builder.parquet_schema().num_columns());
    let iterator = guarded(KIND, || builder.with_batch_size(rows).build())?;
    Ok((Iterated { iterator, kind: KIND }, layout))
}

/// Writes batches as a file.
fn encode(
    out: &mut dyn Write,
    schema: write::SchemaRef,
    batches: write::Built<'_>,
) -> Result<(), TraceError> {
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let failed = |error: ParquetError| write::failed("parquet", &error);
    // The writer asks for an output that can change threads, which ours cannot.
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, schema, Some(properties)).map_err(failed)?;
    for batch in batches {
        writer.write(&batch?).map_err(failed)?;
        // Offsets are counted apart, so what is written out need not be kept.
        let done = std::mem::take(&mut **writer.inner_mut());
        out.write_all(&done).map_err(|error| write::failed("parquet", &error))?;
    }
    writer.close().map_err(failed)?;
    out.write_all(&bytes).map_err(|error| write::failed("parquet", &error))
}

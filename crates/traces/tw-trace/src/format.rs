//! What a trace format is, and the registry of them.

use crate::{
    Calendar, Form, Likeness, Months, PartFormat, Projection, ReadOptions, RowSink, RowSource, TraceError,
    TraceWarning, Vocabulary, Written, formats,
};
use std::io::{BufRead, Write};
use std::ops::Range;
use std::sync::Arc;
use tw_core::{Batch, Time, TimeUnit};

/// What a format is called, and what is said of it.
#[derive(Clone, Copy, Debug)]
pub struct FormatCard {
    /// Name for `--format`.
    pub name: &'static str,
    /// File extensions that mean this format, without the dot.
    pub extensions: &'static [&'static str],
    /// One line for help and docs.
    pub about: &'static str,
    /// Whether a name that never occurs may still be an event (an open vocabulary) whatever the trace's columns.
    pub open_vocabulary: bool,
}

/// Bytes of a trace.
pub type Bytes<'a> = Box<dyn BufRead + Send + 'a>;
/// Rows, ready to be read.
pub type Reading<'a> = Result<Box<dyn RowSource + Send + 'a>, TraceError>;
/// Rows, ready to be written.
pub type Writing<'a> = Result<Box<dyn RowSink + 'a>, TraceError>;

/// What the rows to be written hold: formats with a header need to know first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outline<'c> {
    /// The variables that occur in the trace, in order of appearance.
    pub columns: &'c [Arc<str>],
    /// Whether any row has a timestamp.
    pub has_time: bool,
    /// Whether any row has an event.
    pub has_event: bool,
    /// Those of the variables (`arg1`, `arg2`, … for arguments without names) whose untyped cells are texts: not all of
    /// them look like numbers, or like truth values.
    pub texts: &'c [Arc<str>],
    /// Whether texts that spreadsheets read as formulas are guarded, in formats that spreadsheets open.
    pub guard: bool,
}

/// A trace encoding: one unit struct in `formats/<name>.rs`, one row in [`FORMATS`].
///
/// The first three methods define it, and it is read stored and live. The others make it fast, or say of a live stream
/// what cannot be told from its rows.
pub trait TraceFormat: Sync {
    /// Its names and what is said of it.
    fn card(&self) -> FormatCard;

    /// Reads rows: the definition of the format. Errors carry absolute lines.
    fn rows<'a>(&self, input: Bytes<'a>, options: &ReadOptions) -> Reading<'a>;

    /// Writes rows.
    fn writer<'a>(&self, out: Box<dyn Write + 'a>, outline: Outline<'_>) -> Writing<'a>;

    /// How much the first lines of a trace look like this format, where its name does not say: whole lines, without a
    /// byte order mark, not all of them blank.
    fn look(&self, head: &[u8]) -> Likeness {
        let _ = head;
        Likeness::No
    }

    /// How lines write their timestamps, in a format where that is found by looking at them; by `form`, if it is given.
    fn written(&self, head: &[u8], form: Option<&'static Form>) -> Option<Written> {
        let _ = (head, form);
        None
    }

    /// The unit of timestamps that are numbers, where that is part of the format.
    fn numbers(&self) -> Option<TimeUnit> {
        None
    }

    /// Whether its rows have the right years where timestamps are written without them.
    fn resolves_years(&self) -> bool {
        false
    }

    /// Prepares to read blocks, if the format has a fast path for this projection. `head` is the beginning of the
    /// input: at least its first 64 KiB or all of it (a header longer than that: return `None` or an error).
    fn blocks(&self, head: &[u8], projection: &Projection, options: &ReadOptions) -> FastPath {
        let _ = (head, projection, options);
        Ok(None)
    }

    /// Whether its blocks mind the texts that stand for nothing, and timestamps of a given form, as far as they have years;
    /// blocks of other formats are left to rows then.
    fn blocks_adapt(&self) -> bool {
        false
    }

    /// The fast path of a format whose files have columns instead of lines: a line is then the number of a row, and its
    /// text the row as JSON.
    fn parted(&self) -> Option<&dyn PartFormat> {
        None
    }

    /// Whether the first lines of a live stream are enough to say how the rest is read: there may be more of a header, or
    /// no record yet that would tell whether records have timestamps. Only asked while more can be waited for.
    fn can_begin(&self, head: &[u8], options: &ReadOptions) -> bool {
        let _ = (head, options);
        true
    }

    /// Whether the first line says how the others are read.
    fn has_header(&self) -> bool {
        false
    }

    /// Whether the end of a line tells that the record on it has ended, if no quotes are open. A live stream of a format
    /// where only the next record tells is read row by row.
    fn lines_end_records(&self) -> bool {
        true
    }

    /// Whether the line on which a position begins shows what it holds; otherwise the position is shown as JSON.
    fn lines_tell(&self) -> bool {
        true
    }

    /// How states, values of variables without an event, are written; not at all in a format of events.
    fn states(&self) -> Option<States> {
        None
    }

    /// Whether each line is an object of its own with its names in quotes. A line of a live stream is then a watermark
    /// by a key alone, also before the first position; elsewhere it is one by its event.
    fn lines_are_objects(&self) -> bool {
        false
    }
}

impl dyn TraceFormat + '_ {
    /// Name for `--format`.
    pub fn name(&self) -> &'static str {
        self.card().name
    }
}

/// How a format holds a state. Who has many to write lays out lines once, where there are lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum States {
    /// A line of cells, below a header with the names of all variables.
    Cells,
    /// A line with an object.
    Objects,
    /// A line with the names of what is true; other values have no place in it.
    Names,
    /// As its writer does.
    Rows,
}

/// A format's fast path, if it has one.
pub type FastPath = Result<Option<BlockStart>, TraceError>;

/// A format's fast path, ready.
pub struct BlockStart {
    /// Bytes of header to skip.
    pub skip: usize,
    /// Lines in it.
    pub skip_lines: u64,
    /// The reader.
    pub reader: Box<dyn BlockReader>,
}

/// Bytes of whole records. Every block starts at the start of a line; every block but the last ends with `\n`.
pub struct Block<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// Whether nothing follows.
    pub last: bool,
    /// The byte that follows, where it is known: a record may end only where the next begins.
    pub next: Option<u8>,
}

/// What a block held.
#[derive(Debug, Default)]
pub struct BlockBatch {
    /// One column per slot of the projection (and the key's), and timestamps if wanted.
    pub batch: Batch,
    /// First and last timestamp, if the trace has them: `scan` checks order across blocks.
    pub time_range: Option<(Time, Time)>,
    /// Lines in the block.
    pub lines: u64,
    /// Whether a line holds several positions: then lines do not tell positions, even where there are as many.
    pub shared_lines: bool,
    /// The months of its timestamps, if they are written without years.
    pub months: Option<Months>,
    /// A record that was still open (a quoted newline) at the block's end starts at this byte: `scan` gives the reader
    /// those bytes again, joined with the next block. The batch holds the records before it; `lines` counts up to it.
    pub open_from: Option<usize>,
}

/// Reads blocks, on several threads at once.
pub trait BlockReader: Send + Sync {
    /// Reads one block. Lines in errors are relative to the block (1 = its first line).
    fn read(&self, block: Block<'_>) -> Result<BlockBatch, TraceError>;

    /// As [`BlockReader::read`], noting names in `seen` instead of in the reader: blocks are cut at newlines without
    /// knowing whether one is inside quotes, and what was read from a block that turns out to be cut wrongly must
    /// leave no trace. A reader whose records cannot hold newlines has nothing to add.
    fn read_noting(&self, block: Block<'_>, seen: &mut Vocabulary) -> Result<BlockBatch, TraceError> {
        let _ = seen;
        self.read(block)
    }

    /// Adds what [`BlockReader::read_noting`] noted in a block that was cut rightly.
    fn absorb(&self, seen: &Vocabulary);

    /// What was seen so far of the names asked for, for another reader of the same stream to [`BlockReader::absorb`].
    fn seen(&self) -> Vocabulary;

    /// Bytes and line (from 0, within the block) of the `index`-th position of a block read before.
    fn locate(&self, block: &[u8], index: usize) -> Option<(Range<usize>, u64)>;

    /// Whether every line may begin a record. If not, blocks are cut where [`BlockReader::begins_record`].
    fn lines_are_records(&self) -> bool {
        true
    }

    /// Whether this line, without its end, begins a record and does not continue the one before.
    fn begins_record(&self, line: &[u8]) -> bool {
        let _ = line;
        true
    }

    /// Timestamps without years go on from here.
    fn turn(&self, calendar: Calendar) {
        let _ = calendar;
    }

    /// After the last block: names that never occurred are errors or warnings.
    fn finish(&self) -> Result<Vec<TraceWarning>, TraceError>;
}

/// Every format. Order is that of help.
pub static FORMATS: &[&dyn TraceFormat] = &[
    &formats::csv::Csv,
    &formats::jsonl::Jsonl,
    &formats::json::Json,
    &formats::props::Props,
    &formats::events::Events,
    &formats::monpoly::Monpoly,
    &formats::lines::PlainLines,
    &formats::combined::Combined,
    &formats::syslog::Syslog,
    &formats::logfmt::Logfmt,
    &formats::strace::Strace,
    &formats::otlp_json::OtlpJson,
    &formats::csrv_csv::CsrvCsv,
    &formats::csrv_xml::CsrvXml,
    &formats::csrv_block::CsrvBlock,
];

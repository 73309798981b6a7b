//! Lines that no block reader gets to see: a first line from which nothing can be learned, and lines too long to be kept.

use super::{Live, Mode, Receiver, TAIL};
use crate::Row;
use crate::input::byte_order_mark;

/// A line that is too long, of which the end has not come. It counts as read when it has: who resumes before that
/// starts with it again.
#[derive(Debug, Default)]
pub(super) struct Overlong {
    bytes: u64,
    /// The last of them.
    tail: Vec<u8>,
}

impl Overlong {
    fn take(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.tail.extend_from_slice(&bytes[bytes.len().saturating_sub(TAIL)..]);
        self.tail.drain(..self.tail.len().saturating_sub(TAIL));
    }
}

impl Live {
    /// The open line has become too long: if the receiver agrees, it is left out up to its end.
    pub(super) fn give_up_line<R: Receiver>(&mut self, receiver: &mut R) -> Result<(), R::Error> {
        let error = self.too_long();
        // Without its header nothing of a table can be read.
        if matches!(self.mode, Mode::Rows(..))
            || matches!(self.mode, Mode::Start) && !self.format.lines_are_objects()
        {
            return Err(error.into());
        }
        receiver.bad_line(error)?;
        let mut overlong = Overlong::default();
        overlong.take(&std::mem::take(&mut self.rest));
        self.open = 0;
        self.overlong = Some(overlong);
        Ok(())
    }

    /// Passes what still belongs to a line that is too long; how much of `bytes` that is.
    pub(super) fn pass_overlong(&mut self, bytes: &[u8]) -> usize {
        let Some(overlong) = &mut self.overlong else { return 0 };
        let newline = memchr::memchr(b'\n', bytes);
        let end = newline.map_or(bytes.len(), |at| at + 1);
        overlong.take(&bytes[..end]);
        if newline.is_some() {
            let Overlong { bytes: count, tail } = self.overlong.take().unwrap_or_default();
            self.skip(&tail, 1);
            self.progress.bytes += count - tail.len() as u64;
        }
        end
    }

    /// Before anything is known of the stream: leaves out bad lines at its start, if the receiver agrees. Says how many
    /// bytes those were.
    pub(super) fn bad_start<R: Receiver>(
        &mut self,
        lines: &[u8],
        receiver: &mut R,
    ) -> Result<usize, R::Error> {
        let (mut at, mut left_out) = (0, 0);
        while at < lines.len() {
            let end = memchr::memchr(b'\n', &lines[at..]).map_or(lines.len(), |found| at + found + 1);
            let first = self.progress.bytes == 0 && at == 0;
            let mark = if first { byte_order_mark(lines).unwrap_or(0) } else { 0 };
            let mut row = Row::default();
            let rows = self.format.rows(Box::new(&lines[at + mark..end]), &self.options);
            match rows.and_then(|mut rows| rows.next(&mut row)) {
                Ok(true) => break,
                // A blank line says nothing either way.
                Ok(false) => {}
                Err(mut error) if error.is_about_a_line() => {
                    let lines_before = memchr::memchr_iter(b'\n', &lines[left_out..at]).count() as u64;
                    error.line = Some(self.progress.lines + lines_before + 1);
                    receiver.bad_line(error.in_file(&self.name))?;
                    self.skip(&lines[left_out..end], lines_before + 1);
                    left_out = end;
                }
                Err(error) => return Err(error.in_file(&self.name).into()),
            }
            at = end;
        }
        Ok(left_out)
    }
}

//! The trace's columns become streams.

use crate::stream::Stream;
use tw_core::{Bits, Column};
use tw_monitor::Term;

/// Consecutive positions of the trace, somewhere in columns.
#[derive(Clone, Copy)]
pub(crate) struct Window<'a> {
    pub(crate) atoms: &'a [Bits],
    pub(crate) terms: &'a [Term],
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// Appends truth values.
pub(crate) fn feed_bits(bits: &Bits, window: &Window<'_>, stream: &mut Stream) {
    let words = bits.words();
    let mut from = window.from;
    while from < window.to {
        let (index, offset) = (from / 64, from % 64);
        let count = (window.to - from).min(64);
        let mut word = words[index] >> offset;
        if offset + count > 64 {
            word |= words[index + 1] << (64 - offset);
        }
        stream.push_bits(word, count);
        from += count;
    }
}

/// Appends the values of a term, with their errors.
pub(crate) fn feed_term(term: &Term, window: &Window<'_>, stream: &mut Stream) {
    let (from, to, before) = (window.from, window.to, stream.end);
    let errors =
        term.errors.partition_point(|(at, _)| *at < from)..term.errors.partition_point(|(at, _)| *at < to);
    // The bits of the column that a span of the stream stands for.
    let valid = |bits: &Bits, word: usize, lo: usize, hi: usize| {
        let start = word * 64 + lo - before + from;
        let (index, offset, words) = (start / 64, start % 64, bits.words());
        let low = words[index] >> offset;
        let high = if offset + (hi - lo) > 64 { words[index + 1] << (64 - offset) } else { 0 };
        (low | high) << lo
    };
    match &term.column {
        Column::Int { values, valid: bits } if errors.is_empty() => {
            stream.push_ints(&values[from..to], |word, lo, hi| valid(bits, word, lo, hi));
        }
        Column::Real { values, valid: bits } if errors.is_empty() => {
            stream.push_reals(&values[from..to], |word, lo, hi| valid(bits, word, lo, hi));
        }
        column => {
            let mut errors = term.errors[errors].iter().peekable();
            for at in from..to {
                match errors.next_if(|(error, _)| *error == at) {
                    Some((_, message)) => stream.push(Err(message.as_str().into())),
                    None => stream.push(Ok(column.value(at))),
                }
            }
        }
    }
}

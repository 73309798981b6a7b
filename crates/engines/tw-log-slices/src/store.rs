//! Pieces and answers as bytes: for slices that wait on disk, and for processes that evaluate them.

use crate::{Bucket, Division, Piece, Shard};
use tw_core::codec::{
    Corrupt, put, put_option, put_signed, put_text, put_value, put_word, take, take_byte, take_len,
    take_option, take_signed, take_text, take_value, take_word,
};
use tw_core::{Bits, Column, Relation};
use tw_monitor::{Answer, Bindings, Segments, Term, Trace};

fn corrupt<T>(what: &str) -> Result<T, Corrupt> {
    Err(Corrupt(format!("the slice is damaged: {what}")))
}

fn put_bits(bits: &Bits, out: &mut Vec<u8>) {
    put(bits.len() as u64, out);
    bits.words().iter().for_each(|word| put_word(*word, out));
}

fn take_bits(from: &mut &[u8]) -> Result<Bits, Corrupt> {
    let len = take(from)? as usize;
    let count = len.div_ceil(64);
    if count > from.len() / 8 {
        return corrupt("truth values end too early");
    }
    let words = (0..count).map(|_| take_word(from)).collect::<Result<Vec<u64>, _>>()?;
    Ok(Bits::from_words(words, len))
}

/// Whole numbers, as differences.
fn put_numbers(numbers: impl ExactSizeIterator<Item = i64>, out: &mut Vec<u8>) {
    put(numbers.len() as u64, out);
    let mut last = 0i64;
    for number in numbers {
        put_signed(number.wrapping_sub(last), out);
        last = number;
    }
}

fn take_numbers(from: &mut &[u8]) -> Result<Vec<i64>, Corrupt> {
    let len = take_len(from)?;
    let mut last = 0i64;
    let next = |_| {
        last = last.wrapping_add(take_signed(from)?);
        Ok(last)
    };
    (0..len).map(next).collect()
}

fn take_u32s(from: &mut &[u8]) -> Result<Vec<u32>, Corrupt> {
    let numbers = take_numbers(from)?.into_iter().map(u32::try_from);
    numbers.collect::<Result<_, _>>().or_else(|_| corrupt("a number is out of range"))
}

fn put_column(column: &Column, out: &mut Vec<u8>) {
    match column {
        Column::Int { values, valid } if valid.count_ones() == values.len() => {
            put(1, out);
            put_numbers(values.iter().copied(), out);
        }
        Column::Text { ids, dictionary, valid } if valid.count_ones() == ids.len() => {
            // Of the texts, those that occur.
            let mut numbers = vec![u32::MAX; dictionary.entries.len()];
            let mut used = Vec::new();
            let own = ids.iter().map(|&id| {
                let number = &mut numbers[id as usize];
                if *number == u32::MAX {
                    *number = used.len() as u32;
                    used.push(id);
                }
                i64::from(*number)
            });
            let own: Vec<i64> = own.collect();
            put(2, out);
            put(used.len() as u64, out);
            used.iter().for_each(|&id| put_text(&dictionary.entries[id as usize], out));
            put_numbers(own.into_iter(), out);
        }
        other => {
            put(0, out);
            put(other.len() as u64, out);
            (0..other.len()).for_each(|at| put_value(&other.value(at), out));
        }
    }
}

fn take_column(from: &mut &[u8]) -> Result<Column, Corrupt> {
    match take(from)? {
        0 => {
            let len = take_len(from)?;
            Ok(Column::of_values((0..len).map(|_| take_value(from)).collect::<Result<_, _>>()?))
        }
        1 => {
            let values = take_numbers(from)?;
            let valid = Bits::repeat(true, values.len());
            Ok(Column::Int { values, valid })
        }
        2 => {
            let len = take_len(from)?;
            let entries = (0..len).map(|_| take_text(from)).collect::<Result<Vec<_>, _>>()?;
            let ids = take_u32s(from)?;
            if ids.iter().any(|&id| id as usize >= entries.len()) {
                return corrupt("a text is missing");
            }
            let valid = Bits::repeat(true, ids.len());
            Ok(Column::Text { ids, dictionary: tw_core::Dictionary { entries }, valid })
        }
        _ => corrupt("an unknown kind of column"),
    }
}

fn put_relation(relation: &Relation, out: &mut Vec<u8>) {
    put_numbers(relation.starts().iter().map(|&start| i64::from(start)), out);
    put(relation.columns().len() as u64, out);
    relation.columns().iter().for_each(|column| put_column(column, out));
}

fn take_relation(from: &mut &[u8]) -> Result<Relation, Corrupt> {
    let starts = take_u32s(from)?;
    let columns = (0..take_len(from)?).map(|_| take_column(from)).collect::<Result<Vec<_>, _>>()?;
    let ordered = starts.windows(2).all(|pair| pair[0] <= pair[1]);
    let all = starts.last().map(|&last| last as usize);
    if !ordered || all.is_none() || columns.iter().any(|column| Some(column.len()) != all) {
        return corrupt("tuples do not fit their positions");
    }
    Ok(Relation::new(starts, columns))
}

impl Shard {
    fn save(&self, out: &mut Vec<u8>) {
        put(self.buckets.len() as u64, out);
        for Bucket { division: Division { variable, salt, of }, is } in &self.buckets {
            [*variable, *salt, *of, *is].iter().for_each(|number| put(u64::from(*number), out));
        }
        put(self.positions.map_or(0, |_| 1), out);
        let (from, to) = self.positions.unwrap_or_default();
        put(from as u64, out);
        put(to as u64, out);
    }

    fn load(from: &mut &[u8]) -> Result<Shard, Corrupt> {
        let mut buckets = Vec::new();
        for _ in 0..take_len(from)? {
            let mut four = [0u32; 4];
            for number in &mut four {
                *number = u32::try_from(take(from)?).or_else(|_| corrupt("a bucket is out of range"))?;
            }
            let [variable, salt, of, is] = four;
            buckets.push(Bucket { division: Division { variable, salt, of }, is });
        }
        let some = take(from)? == 1;
        let (first, last) = (take(from)? as usize, take(from)? as usize);
        Ok(Shard { buckets, positions: some.then_some((first, last)) })
    }
}

impl Piece {
    /// Appends it to bytes.
    pub fn save(&self, out: &mut Vec<u8>) {
        self.shard.save(out);
        put_numbers(self.order.iter().map(|&at| i64::from(at)), out);
        let trace = &self.trace;
        put(trace.len as u64, out);
        put(trace.atoms.len() as u64, out);
        trace.atoms.iter().for_each(|atom| put_bits(atom, out));
        put(u64::from(trace.times.is_some()), out);
        put_numbers(trace.times.iter().flatten().copied().collect::<Vec<i64>>().into_iter(), out);
        put(trace.terms.len() as u64, out);
        for term in &trace.terms {
            put_column(&term.column, out);
            put(term.errors.len() as u64, out);
            for (at, message) in &term.errors {
                put(*at as u64, out);
                put_text(message, out);
            }
        }
        put(trace.relations.len() as u64, out);
        trace.relations.iter().for_each(|relation| put_relation(relation, out));
        put(u64::from(trace.segments.is_some()), out);
        put_numbers(trace.starts().iter().map(|&start| start as i64).collect::<Vec<_>>().into_iter(), out);
        put_option(trace.until, out);
    }

    /// Reads back what [`Piece::save`] wrote.
    pub fn load(from: &mut &[u8]) -> Result<Piece, Corrupt> {
        let shard = Shard::load(from)?;
        let order = take_u32s(from)?;
        let len = take(from)? as usize;
        let atoms = (0..take_len(from)?).map(|_| take_bits(from)).collect::<Result<Vec<_>, _>>()?;
        let timed = take(from)? == 1;
        let times = take_numbers(from)?;
        let mut terms = Vec::new();
        for _ in 0..take_len(from)? {
            let column = take_column(from)?;
            let mut errors = Vec::new();
            for _ in 0..take_len(from)? {
                errors.push((take(from)? as usize, take_text(from)?.to_string()));
            }
            terms.push(Term { column, errors });
        }
        let relations = (0..take_len(from)?).map(|_| take_relation(from)).collect::<Result<Vec<_>, _>>()?;
        let divided = take(from)? == 1;
        let starts: Vec<usize> = take_numbers(from)?.into_iter().map(|start| start as usize).collect();
        let until = take_option(from)?;
        let whole = order.len() == len
            && atoms.iter().all(|atom| atom.len() == len)
            && (!timed || times.len() == len)
            && terms.iter().all(|term| term.column.len() == len)
            && relations.iter().all(|relation| relation.len() == len)
            && starts.iter().all(|start| *start <= len);
        if !whole {
            return corrupt("its columns are not of one length");
        }
        let (times, segments) = (timed.then_some(times), divided.then_some(Segments { starts }));
        let trace = Trace { len, atoms, times, terms, relations, segments, until, ..Trace::default() };
        Ok(Piece { shard, order, trace })
    }
}

/// Appends an answer to bytes.
pub fn save_answer(answer: &Answer, out: &mut Vec<u8>) {
    put_bits(&answer.holds, out);
    put(u64::from(answer.open.is_some()), out);
    put_bits(answer.open.as_ref().unwrap_or(&Bits::new()), out);
    put_numbers(answer.violations.iter().map(|&at| at as i64), out);
    put(answer.bindings.len() as u64, out);
    answer.bindings.iter().for_each(|bindings| bindings.save(out));
    put(answer.violation_count as u64, out);
}

/// Reads back what [`save_answer`] wrote.
pub fn load_answer(from: &mut &[u8]) -> Result<Answer, Corrupt> {
    let holds = take_bits(from)?;
    let some = take_byte(from)? == 1;
    let open = take_bits(from)?;
    let violations = take_numbers(from)?.into_iter().map(|at| at as usize).collect();
    let bindings = (0..take_len(from)?).map(|_| Bindings::load(from)).collect::<Result<Vec<_>, _>>()?;
    let violation_count = take(from)? as usize;
    Ok(Answer { holds, open: some.then_some(open), violations, bindings, violation_count })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tw_core::Value;
    use tw_testkit::first_order::case;

    #[test]
    fn pieces_and_answers_come_back() {
        for seed in 0..300 {
            let case = case(seed);
            let Ok(trace) = case.trace() else { continue };
            let analysis = crate::Analysis::new(&case.program, case.program.roots[0].node, &case.options());
            let variable = analysis.and_then(|own| own.variables.first().map(|own| own.variable));
            let divisions: Vec<_> =
                variable.map(|variable| Division { variable, salt: 1, of: 2 }).into_iter().collect();
            for piece in crate::cut(&case.program, &trace, (0, trace.len), &divisions, seed % 2 == 0) {
                let mut saved = Vec::new();
                piece.save(&mut saved);
                let loaded = Piece::load(&mut saved.as_slice()).unwrap();
                assert_eq!((&loaded.shard, &loaded.order), (&piece.shard, &piece.order));
                let plain =
                    |trace: &Trace| (trace.len, trace.atoms.clone(), trace.times.clone(), trace.until);
                assert_eq!(plain(&loaded.trace), plain(&piece.trace));
                for (own, other) in piece.trace.relations.iter().zip(&loaded.trace.relations) {
                    let values = |relation: &Relation| -> Vec<Vec<Value>> {
                        let all = relation.starts().last().map_or(0, |&count| count as usize);
                        (0..all).map(|number| relation.tuple(number)).collect()
                    };
                    assert_eq!((own.starts(), values(own)), (other.starts(), values(other)));
                }
            }
        }
        let bindings = vec![Bindings::new(vec![(1, Value::text("bob"))])];
        let holds = Bits::repeat(false, 1);
        let answer = Answer { holds, open: None, violations: vec![7], bindings, violation_count: 3 };
        let mut saved = Vec::new();
        save_answer(&answer, &mut saved);
        assert_eq!(load_answer(&mut saved.as_slice()).unwrap(), answer);
        for len in 0..saved.len() {
            assert!(load_answer(&mut &saved[..len]).is_err(), "{len}");
        }
    }
}

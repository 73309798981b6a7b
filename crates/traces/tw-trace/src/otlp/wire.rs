//! The encoding below the protocol: a message is fields, each with its number and one of four forms. Nothing is copied.
//!
//! It is read by hand because there is little of it, and a library would make an owned tree of every request first: memory that a
//! hostile request multiplies, and half of the time that a span costs.

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Held<'a> {
    /// A number of varying length.
    Number(u64),
    /// Eight bytes.
    Eight(u64),
    /// A text, bytes or a message.
    Bytes(&'a [u8]),
    /// Four bytes, which nothing that is told consists of.
    Four,
}

/// Why it cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken(pub(super) &'static str);

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "found {}, expected a message in protobuf", self.0)
    }
}

impl<'a> Held<'a> {
    /// The bytes of a message, or of bytes.
    pub(super) fn bytes(self) -> Result<&'a [u8], Broken> {
        match self {
            Held::Bytes(bytes) => Ok(bytes),
            _ => Err(Broken("a number in the place of a message")),
        }
    }

    /// A text.
    pub(super) fn text(self) -> Result<&'a str, Broken> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Broken("a text that is not UTF-8"))
    }

    /// Eight bytes.
    pub(super) fn eight(self) -> Result<u64, Broken> {
        match self {
            Held::Eight(number) => Ok(number),
            _ => Err(Broken("something else in the place of eight bytes")),
        }
    }

    /// A number.
    pub(super) fn number(self) -> Result<u64, Broken> {
        match self {
            Held::Number(number) => Ok(number),
            _ => Err(Broken("something else in the place of a number")),
        }
    }
}

/// A message that is read field by field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message<'a>(pub &'a [u8]);

impl<'a> Message<'a> {
    /// The next field and what it holds.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<(u64, Held<'a>)>, Broken> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let key = self.varint()?;
        let held = match key & 7 {
            0 => Held::Number(self.varint()?),
            1 => {
                let mut eight = [0; 8];
                eight.copy_from_slice(self.take(8)?);
                Held::Eight(u64::from_le_bytes(eight))
            }
            2 => {
                let length = self.varint()?;
                let length = usize::try_from(length).map_err(|_| Broken("a length beyond all memory"))?;
                Held::Bytes(self.take(length)?)
            }
            5 => {
                self.take(4)?;
                Held::Four
            }
            _ => return Err(Broken("a field of a form that there is not")),
        };
        match key >> 3 {
            0 => Err(Broken("a field with the number 0")),
            number => Ok(Some((number, held))),
        }
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Broken> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Broken("a field that is cut short"))?;
        self.0 = rest;
        Ok(taken)
    }

    #[inline]
    fn varint(&mut self) -> Result<u64, Broken> {
        if let Some((&first @ 0..0x80, rest)) = self.0.split_first() {
            self.0 = rest;
            return Ok(u64::from(first));
        }
        let mut number = 0;
        for (index, byte) in self.0.iter().enumerate().take(10) {
            number |= u64::from(byte & 0x7f) << (7 * index);
            if *byte < 0x80 {
                if index == 9 && *byte > 1 {
                    break;
                }
                self.0 = &self.0[index + 1..];
                return Ok(number);
            }
        }
        Err(Broken("a number that does not end"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(bytes: &[u8]) -> Result<Vec<(u64, Held<'_>)>, Broken> {
        let mut message = Message(bytes);
        let mut all = Vec::new();
        while let Some(field) = message.next()? {
            all.push(field);
        }
        Ok(all)
    }

    #[test]
    fn every_form_is_read() {
        let bytes = b"\x08\x96\x01\x12\x03abc\x19\x01\0\0\0\0\0\0\x80\x25\x01\x02\x03\x04\xf8\x7f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
        let expected = [
            (1, Held::Number(150)),
            (2, Held::Bytes(b"abc")),
            (3, Held::Eight(1 | 0x80 << 56)),
            (4, Held::Four),
            (2047, Held::Number(u64::MAX)),
        ];
        assert_eq!(fields(bytes).unwrap(), expected);
    }

    #[test]
    fn what_is_none_is_refused() {
        for bytes in [
            &b"\x08"[..],
            b"\x08\xff",
            b"\x12\x05abc",
            b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            b"\x19abc",
            b"\x0b",
            b"\x0e\0",
            b"\x00\x01",
            b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
            b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        ] {
            assert!(fields(bytes).is_err(), "{bytes:?}");
        }
    }
}

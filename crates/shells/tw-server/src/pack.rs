//! Files that are replaced as a whole and know whether they are whole: a magic line, the checksum of the rest, the rest.

use std::io;
use std::path::Path;

/// Numbers and byte strings, one after the other.
#[derive(Debug, Default)]
pub struct Packer(Vec<u8>);

impl Packer {
    /// A number.
    pub fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// Bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// A text that may not be there.
    pub fn maybe(&mut self, text: Option<&str>) {
        self.number(u64::from(text.is_some()));
        self.bytes(text.unwrap_or_default().as_bytes());
    }

    /// Replaces a file.
    pub fn write(&self, path: &Path, magic: &str) -> io::Result<()> {
        tracewise::files::write_file(path, &self.whole(magic))
    }

    /// What such a file has.
    pub fn whole(&self, magic: &str) -> Vec<u8> {
        let hash = blake3::hash(&self.0);
        [magic.as_bytes(), b"\n", hash.as_bytes(), &self.0].concat()
    }
}

/// Reads what a [`Packer`] wrote.
#[derive(Debug)]
pub struct Unpacker<'b>(&'b [u8]);

/// What cannot be read.
fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the file is damaged")
}

impl<'b> Unpacker<'b> {
    /// The content of a file.
    pub fn new(file: &'b [u8], magic: &str) -> io::Result<Self> {
        let rest = file.strip_prefix(magic.as_bytes()).and_then(|rest| rest.strip_prefix(b"\n"));
        let (hash, body) = rest.and_then(|rest| rest.split_at_checked(32)).ok_or_else(damaged)?;
        if blake3::hash(body).as_bytes() == hash { Ok(Self(body)) } else { Err(damaged()) }
    }

    /// A number.
    pub fn number(&mut self) -> io::Result<u64> {
        let (number, rest) = self.0.split_first_chunk().ok_or_else(damaged)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*number))
    }

    /// Bytes.
    pub fn bytes(&mut self) -> io::Result<&'b [u8]> {
        let length = usize::try_from(self.number()?).map_err(|_| damaged())?;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or_else(damaged)?;
        self.0 = rest;
        Ok(bytes)
    }

    /// A text.
    pub fn text(&mut self) -> io::Result<&'b str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| damaged())
    }

    /// A text that may not be there.
    pub fn maybe(&mut self) -> io::Result<Option<String>> {
        let there = self.number()? == 1;
        let text = self.text()?;
        Ok(there.then(|| text.to_string()))
    }
}

/// The bytes of a file, `None` if it is not there.
pub fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

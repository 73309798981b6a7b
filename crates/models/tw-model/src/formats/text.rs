//! Text of files, both ways.

use super::ModelError;

/// The text of a file, which is UTF-8.
pub(super) fn utf8<'t>(file: &str, bytes: &'t [u8]) -> Result<&'t str, ModelError> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let valid = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
        let found = bytes[error.valid_up_to()];
        syntax_error(file, valid, valid.len(), format!("found the byte 0x{found:02x}, expected UTF-8 text"))
    })
}

/// An error at a byte of a text.
pub(super) fn syntax_error(file: &str, text: &str, at: usize, message: String) -> ModelError {
    let before = text.get(..at).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |line| line + 1);
    ModelError::Syntax {
        file: file.to_owned(),
        line: before.bytes().filter(|&byte| byte == b'\n').count() as u64 + 1,
        column: before[start..].chars().count() as u64 + 1,
        message,
    }
}

/// Appends numbers; formatting machinery would be most of the time that writing a model takes.
pub(super) trait Digits {
    /// Appends a number in decimal digits.
    fn number(&mut self, number: i64);
}

impl Digits for Vec<u8> {
    fn number(&mut self, number: i64) {
        let mut digits = [0u8; 20];
        let mut at = digits.len();
        let mut rest = number.unsigned_abs();
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if number < 0 {
            self.push(b'-');
        }
        self.extend_from_slice(&digits[at..]);
    }
}

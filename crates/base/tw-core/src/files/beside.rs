//! Files with names for the time being, beside those that they are to replace: `.NAME.` and 16 hexadecimal digits.
//!
//! Whoever writes one holds a lock on it. One whose lock can be had was left by a writer that was killed; it goes when the
//! same file is written again. Only who has the lock removes one, and a writer looks whether its own is still there once it
//! has the lock, so that none goes that is being written.

use super::folder;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Digits at the end of a name.
const DIGITS: usize = 16;

/// Bytes of a file's name that are kept: folders take names of 255 bytes.
const LONGEST: usize = 255 - DIGITS - 2;

/// A new file in the same folder, at first for nobody else to read if it replaces one.
pub(super) fn create(target: &Path, replaces: bool) -> io::Result<(File, PathBuf)> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if replaces {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    loop {
        // The seeds of hash tables come from the system's source of random numbers.
        let mut name = prefix(target)?;
        name.push(format!("{:0DIGITS$x}", RandomState::new().build_hasher().finish()));
        let beside = folder(target).join(name);
        match options.open(&beside) {
            Ok(file) => {
                // Where files cannot be locked, none is taken for one that was left.
                let lost = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
                if !lost && std::fs::symlink_metadata(&beside).is_ok() {
                    return Ok((file, beside));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

fn prefix(target: &Path) -> io::Result<OsString> {
    let whole = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let mut name = OsString::from(".");
    match whole.to_str() {
        // Two files whose long names begin alike share what is left of them: only unlocked files ever go.
        Some(text) if text.len() > LONGEST => {
            let kept = text.char_indices().map(|(at, _)| at).take_while(|at| *at <= LONGEST).last();
            name.push(&text[..kept.unwrap_or(0)]);
        }
        _ => name.push(whole),
    }
    name.push(".");
    Ok(name)
}

/// Names in a folder that look as those made here, by what they are for.
type Left = BTreeMap<OsString, Vec<PathBuf>>;

/// Removes what writers that were killed left beside a file. Best effort: what stays is in nobody's way.
pub(super) fn remove_left(target: &Path) {
    /// What was there when the first file of a folder was written: folders may be large, and files written often.
    static FOUND: Mutex<BTreeMap<PathBuf, Left>> = Mutex::new(BTreeMap::new());
    let Ok(prefix) = prefix(target) else { return };
    let folder = folder(target);
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    let left = found.entry(folder.to_path_buf()).or_insert_with(|| find(folder));
    let own = left.remove(&prefix).unwrap_or_default();
    drop(found);
    for path in own {
        let plain = std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
        if let Some(file) = plain.then(|| File::open(&path).ok()).flatten()
            && file.try_lock().is_ok()
        {
            let _ = std::fs::remove_file(&path);
        }
    }
}

fn find(folder: &Path) -> Left {
    let mut left = Left::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if let Some(prefix) = prefix_of(&entry.file_name()) {
            left.entry(prefix).or_default().push(entry.path());
        }
    }
    left
}

/// What comes before the digits of a name that was made here.
fn prefix_of(name: &OsStr) -> Option<OsString> {
    let name = name.to_str()?;
    let (prefix, digits) = name.split_at_checked(name.len().checked_sub(DIGITS)?)?;
    let hexadecimal = digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    let made = hexadecimal && prefix.starts_with('.') && prefix.ends_with('.') && prefix.len() > 2;
    made.then(|| prefix.into())
}

//! What can be seen of a program before it runs: a preloaded library reaches dynamically linked programs of this machine's
//! kind, without special rights.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Why the calls of a program cannot be recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unrecordable {
    /// Everything it calls is inside it.
    Static,
    /// It runs with other rights than its caller's; the dynamic linker loads nothing into it.
    Privileged,
    /// It is of another kind of machine.
    Foreign,
}

impl std::fmt::Display for Unrecordable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Unrecordable::Static => {
                "is statically linked: it calls no libc outside itself that could be recorded"
            }
            Unrecordable::Privileged => "is a set-user-id or set-group-id program: nothing is loaded into it",
            Unrecordable::Foreign => "is a program for another kind of machine than this one",
        })
    }
}

/// The file that `execvp` would find.
pub fn find(program: &str) -> Option<PathBuf> {
    let runs = |path: &Path| {
        fs::metadata(path).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|path| runs(path));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| runs(path))
}

/// Whether it can be recorded; of a script, its interpreter. What cannot be read is left to the attempt.
pub fn judge(path: &Path) -> Result<(), (PathBuf, Unrecordable)> {
    let mut path = path.to_path_buf();
    for _ in 0..5 {
        let Ok(data) = fs::metadata(&path) else { return Ok(()) };
        let mut head = Vec::new();
        if File::open(&path).and_then(|file| file.take(4096).read_to_end(&mut head)).is_err() {
            return Ok(());
        }
        if let Some(interpreter) = interpreter(&head) {
            path = interpreter;
            continue;
        }
        let changes = |bit: u32, own: u32, ours: u32| data.mode() & bit != 0 && own != ours;
        // SAFETY: these two always succeed and touch no memory.
        let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
        if changes(0o4000, data.uid(), user) || changes(0o2000, data.gid(), group) {
            return Err((path, Unrecordable::Privileged));
        }
        return match elf(&head) {
            Some(why) => Err((path, why)),
            None => Ok(()),
        };
    }
    Ok(())
}

/// What the first line of a script names; of `#!/usr/bin/env python3`, the program that `env` finds.
fn interpreter(head: &[u8]) -> Option<PathBuf> {
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split_whitespace();
    let first = words.next()?;
    match words.find(|word| !word.starts_with('-') && !word.contains('=')) {
        Some(program) if first.ends_with("/env") => find(program),
        _ => Some(PathBuf::from(first)),
    }
}

/// Why an ELF file cannot be recorded. What is none is for `exec` to refuse.
fn elf(head: &[u8]) -> Option<Unrecordable> {
    const INTERPRETER: u32 = 3;
    if !head.starts_with(b"\x7fELF") {
        return None;
    }
    let number = |at: usize, size: usize| {
        head.get(at..at + size)
            .map(|bytes| bytes.iter().rev().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte)))
    };
    let machine: u64 = if cfg!(target_arch = "x86_64") {
        62
    } else if cfg!(target_arch = "aarch64") {
        183
    } else {
        0
    };
    // 64 bits, least significant byte first, this machine.
    if head.get(4) != Some(&2) || head.get(5) != Some(&1) || (machine != 0 && number(18, 2)? != machine) {
        return Some(Unrecordable::Foreign);
    }
    let (table, size, count) = (number(32, 8)? as usize, number(54, 2)? as usize, number(56, 2)? as usize);
    let mut kinds = (0..count).map_while(|index| number(table.checked_add(index * size)?, 4));
    (!kinds.any(|kind| kind == u64::from(INTERPRETER))).then_some(Unrecordable::Static)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_name_their_interpreter() {
        assert_eq!(interpreter(b"#!/bin/sh\nexit 0\n"), Some("/bin/sh".into()));
        assert_eq!(interpreter(b"#! /usr/bin/env -S sh -e\n"), find("sh"));
        assert_eq!(interpreter(b"\x7fELF"), None);
    }

    #[test]
    fn this_test_can_be_recorded() {
        let own = std::env::current_exe().unwrap();
        assert_eq!(judge(&own), Ok(()));
        let mut head = fs::read(&own).unwrap();
        head.truncate(4096);
        assert_eq!(elf(&head), None);
        // Without its interpreter it would be static, with another machine's number foreign.
        let mut other = head.clone();
        other[18] = 8;
        assert_eq!(elf(&other), Some(Unrecordable::Foreign));
        let mut other = head.clone();
        let table = u64::from_le_bytes(head[32..40].try_into().unwrap()) as usize;
        let size = usize::from(u16::from_le_bytes([head[54], head[55]]));
        for index in 0..usize::from(u16::from_le_bytes([head[56], head[57]])) {
            let at = table + index * size;
            if other[at] == 3 {
                other[at] = 4;
            }
        }
        assert_eq!(elf(&other), Some(Unrecordable::Static));
    }
}

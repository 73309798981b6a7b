//! One watch per checkpoint: two would overwrite what the other keeps.

use crate::Error;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// A checkpoint that is this watch's own, until it ends, however it ends: the system gives the lock up for who is killed.
pub(super) struct Lock {
    /// Held open; the lock goes with it.
    _file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes the lock beside the checkpoint, or says who has it. What is there and is no file needs none.
    pub fn take(checkpoint: &Path) -> Result<Option<Self>, Error> {
        if std::fs::metadata(checkpoint).is_ok_and(|found| !found.is_file()) {
            return Ok(None);
        }
        let mut path = checkpoint.as_os_str().to_owned();
        path.push(".lock");
        let path = PathBuf::from(path);
        let failed = |error| Error::io(format!("cannot lock the checkpoint {}", checkpoint.display()), error);
        loop {
            let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            let mut file = options.map_err(failed)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::refused(format!(
                        "the checkpoint {} is in use by {}",
                        checkpoint.display(),
                        holder(&mut file)
                    )));
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
            // Its last holder may have removed it meanwhile; a link is none of ours.
            match is_at(&file, &path).map_err(failed)? {
                Place::Here => {}
                Place::Gone => continue,
                Place::Elsewhere => return Err(failed(io::Error::other("its lock is a symbolic link"))),
            }
            let noted = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
            noted.map_err(failed)?;
            return Ok(Some(Self { _file: file, path }));
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // While it is still held: who waits for nothing finds it gone, and makes its own.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Who holds a lock, as it has noted there.
fn holder(file: &mut File) -> String {
    let mut text = String::new();
    match file.take(20).read_to_string(&mut text).map(|_| text.trim().parse::<u32>()) {
        Ok(Ok(process)) => format!("process {process}"),
        _ => "another process".into(),
    }
}

enum Place {
    Here,
    Gone,
    Elsewhere,
}

/// Whether an open file is what is at a path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<Place> {
    use std::os::unix::fs::MetadataExt;
    let (own, there) = (file.metadata()?, std::fs::symlink_metadata(path));
    Ok(match there {
        Ok(there) if there.is_symlink() => Place::Elsewhere,
        Ok(there) if (there.dev(), there.ino()) == (own.dev(), own.ino()) => Place::Here,
        _ => Place::Gone,
    })
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> io::Result<Place> {
    Ok(Place::Here)
}

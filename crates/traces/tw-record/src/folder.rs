//! Where the preloaded library and the shared memory are files: in a folder of this recording's own, which nobody else may
//! enter, removed when it is over. A recorder that was killed leaves its own; as a lock that ends with its process says so, the next one
//! removes it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The library, as it was built.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/librecord.so"));

/// Folders younger than this may be in the making.
const YOUNG: Duration = Duration::from_secs(60);
const MEMORY: &str = "/dev/shm";

/// The files of a recording.
pub(crate) struct Folder {
    folders: Vec<PathBuf>,
    /// One in each folder, locked.
    locked: Vec<File>,
    pub(crate) library: PathBuf,
    pub(crate) ring: PathBuf,
}

impl Folder {
    /// Makes them: the library where programs may be run from, the memory where files are in memory if there is such a place.
    pub(crate) fn new() -> io::Result<(Self, File)> {
        places().iter().for_each(|place| sweep(place));
        sweep(Path::new(MEMORY));
        let mut made =
            Self { folders: Vec::new(), locked: Vec::new(), library: PathBuf::new(), ring: PathBuf::new() };
        let mut failed = None;
        for place in places() {
            match made.own(&place).and_then(|folder| library(&folder)) {
                Ok((library, file)) => {
                    made.library = library;
                    made.locked.push(file);
                    break;
                }
                Err(error) => failed = Some(error),
            }
        }
        if made.library.as_os_str().is_empty() {
            return Err(failed.unwrap_or_else(|| io::Error::other("no place for temporary files")));
        }
        let memory = made.own(Path::new(MEMORY)).or_else(|_| {
            made.library
                .parent()
                .map(Path::to_path_buf)
                .ok_or_else(|| io::Error::other("no place for temporary files"))
        })?;
        made.ring = memory.join("ring");
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&made.ring)?;
        file.lock()?;
        made.locked.push(file.try_clone()?);
        Ok((made, file))
    }

    fn own(&mut self, place: &Path) -> io::Result<PathBuf> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        for _ in 0..100 {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let folder = place.join(format!("tracewise-{}-{number}", std::process::id()));
            // Made, never taken over: a folder of this name that is there already is somebody's.
            match DirBuilder::new().mode(0o700).create(&folder) {
                Ok(()) => {
                    self.folders.push(folder.clone());
                    return Ok(folder);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other(format!("no free name in {}", place.display())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        for folder in &self.folders {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// Where temporary files may be, the most private first. A path with a blank or a colon cannot be preloaded.
fn places() -> Vec<PathBuf> {
    // SAFETY: always succeeds and touches no memory.
    let user = unsafe { libc::geteuid() };
    let private = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|data| data.is_dir() && data.uid() == user && data.mode() & 0o077 == 0)
    };
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(private);
    let all = runtime.into_iter().chain([std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()]);
    all.filter(|path| path.is_absolute() && !path.to_string_lossy().contains([' ', ':'])).collect()
}

/// Writes the library, and tries whether code may be mapped from there.
fn library(folder: &Path) -> io::Result<(PathBuf, File)> {
    let path = folder.join("librecord.so");
    let mut file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o700).open(&path)?;
    file.lock()?;
    file.write_all(LIBRARY)?;
    // SAFETY: a private mapping of a file of this length, unmapped at once; the result is checked.
    let mapped = unsafe {
        let prot = libc::PROT_READ | libc::PROT_EXEC;
        libc::mmap(std::ptr::null_mut(), LIBRARY.len(), prot, libc::MAP_PRIVATE, file.as_raw_fd(), 0)
    };
    if mapped == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: what was mapped above.
    unsafe { libc::munmap(mapped, LIBRARY.len()) };
    Ok((path, file))
}

/// Removes what recorders left that were killed: our own folders in which nothing is locked.
fn sweep(place: &Path) {
    // SAFETY: always succeeds and touches no memory.
    let user = unsafe { libc::geteuid() };
    let Ok(entries) = fs::read_dir(place) else { return };
    for folder in entries.flatten() {
        let named = folder.file_name().to_str().is_some_and(|name| {
            let numbers = name.strip_prefix("tracewise-").and_then(|rest| rest.split_once('-'));
            numbers.is_some_and(|(pid, number)| pid.parse::<u32>().is_ok() && number.parse::<u32>().is_ok())
        });
        // Of the folder itself, not of what a link of this name points to.
        let Ok(data) = folder.metadata() else { continue };
        let old = data.modified().is_ok_and(|at| at.elapsed().is_ok_and(|age| age >= YOUNG));
        if !named || !data.is_dir() || data.uid() != user || !old {
            continue;
        }
        let ours = ["ring", "librecord.so"].map(|name| folder.path().join(name));
        let left = |path: &PathBuf| match File::open(path) {
            Ok(file) => file.try_lock().is_ok(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if ours.iter().all(left) {
            ours.iter().for_each(|path| drop(fs::remove_file(path)));
            // What else there may be is not ours to remove.
            let _ = fs::remove_dir(folder.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_killed_recorders_left_is_removed() {
        let place = std::env::temp_dir().join(format!("tracewise-sweep-{}", std::process::id()));
        let make = |name: &str, old: bool| {
            let folder = place.join(name);
            fs::create_dir_all(&folder).unwrap();
            let file = File::create(folder.join("ring")).unwrap();
            if old {
                let before = std::time::SystemTime::now() - 2 * YOUNG;
                File::open(&folder).unwrap().set_modified(before).unwrap();
            }
            (folder, file)
        };
        let (left, _) = make("tracewise-1-0", true);
        let (used, lock) = make("tracewise-1-1", true);
        lock.lock().unwrap();
        let (young, _) = make("tracewise-1-2", false);
        let (other, _) = make("tracewise-mine", true);
        let (full, _) = make("tracewise-1-3", true);
        fs::write(full.join("letter"), "dear").unwrap();
        File::open(&full).unwrap().set_modified(std::time::SystemTime::now() - 2 * YOUNG).unwrap();
        sweep(&place);
        assert_eq!([&left, &used, &young, &other].map(|folder| folder.exists()), [false, true, true, true]);
        assert!(full.join("letter").exists());
        fs::remove_dir_all(&place).unwrap();
    }
}

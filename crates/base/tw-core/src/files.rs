//! The one way in which files are written: whole, or not at all; and in which they are read whole: up to a limit.

mod beside;

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Links that lead to each other are followed so often.
const LINKS: usize = 40;

/// A file that is being written beside the one it is to replace, and takes its place with [`NewFile::commit`]; if that
/// does not come to pass, nothing has happened to the old one.
///
/// The new one has a name that nobody can guess, in the same folder, and is never one that was there. What a writer that
/// was killed left behind goes when the same file is written again. The new one gets the
/// permissions and, where that is allowed, the owner of the old one. A symbolic link stays, what it leads to is replaced.
/// Devices, pipes and what the process has open already (`/dev/stdout`, `/dev/fd/63`) are written to as they are.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    /// The name for the time being, and the one to come.
    names: Option<(PathBuf, PathBuf)>,
}

impl NewFile {
    /// Begins to write what is to be at `path`.
    pub fn create(path: &Path) -> io::Result<Self> {
        let target = match follow(path)? {
            Place::Path(target) => target,
            Place::Open(file) => return Ok(Self { file, names: None }),
        };
        let old = match std::fs::metadata(&target) {
            Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(found) if !found.is_file() => {
                return Ok(Self { file: OpenOptions::new().write(true).open(&target)?, names: None });
            }
            Ok(found) => Some(found),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        beside::remove_left(&target);
        let (file, beside) = beside::create(&target, old.is_some())?;
        let new = Self { file, names: Some((beside, target)) };
        if let Some(old) = old {
            keep(&new.file, &old)?;
        }
        Ok(new)
    }

    /// Another handle of the file, for writers that want one of their own.
    pub fn writer(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// What was written is there, for good: it survives a loss of power.
    pub fn commit(mut self) -> io::Result<()> {
        self.file.flush()?;
        let Some((beside, target)) = self.names.take() else { return Ok(()) };
        let done = self.file.sync_all().and_then(|()| std::fs::rename(&beside, &target));
        if let Err(error) = done {
            self.names = Some((beside, target));
            return Err(error);
        }
        #[cfg(unix)]
        File::open(folder(&target))?.sync_all()?;
        Ok(())
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some((beside, _)) = &self.names {
            // Best effort: whoever did not commit has an error of its own to report.
            let _ = std::fs::remove_file(beside);
        }
    }
}

/// Writes a file whole.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut new = NewFile::create(path)?;
    new.write_all(bytes)?;
    new.commit()
}

/// Most bytes of a text that people write: a specification, a program, something to be imported.
pub const LONGEST_TEXT: u64 = 64 << 20;

/// All that there is to read, an error if that is more than the limit: what never ends must not fill the memory.
pub fn read_all(from: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let limit = limit >> 20;
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it is larger than {limit} MiB, the limit"),
        ));
    }
    Ok(bytes)
}

/// A file, as [`read_all`].
pub fn read_file(path: impl AsRef<Path>, limit: u64) -> io::Result<Vec<u8>> {
    read_all(File::open(path)?, limit)
}

/// A file, or standard input if the path is `-`.
pub fn read_input(path: &str, limit: u64) -> io::Result<Vec<u8>> {
    if path == "-" { read_all(io::stdin().lock(), limit) } else { read_file(path, limit) }
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Where writing to a path ends.
enum Place {
    /// A name in a folder.
    Path(PathBuf),
    /// A file that is open already. Its name, if it has one, is not ours to give to another file: whoever else writes to
    /// it would go on with one that nobody sees.
    Open(File),
}

/// What symbolic links lead to, be it there or not.
fn follow(path: &Path) -> io::Result<Place> {
    let mut path = path.to_path_buf();
    for _ in 0..LINKS {
        if let Some(file) = open_already(&path) {
            return Ok(Place::Open(file?));
        }
        match std::fs::read_link(&path) {
            Ok(to) => path = folder(&path).join(to),
            Err(_) => return Ok(Place::Path(path)),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// The file behind `/proc/PID/fd/N`, which looks like a link and is none.
#[cfg(target_os = "linux")]
fn open_already(path: &Path) -> Option<io::Result<File>> {
    use std::os::fd::AsFd;
    let within = std::fs::canonicalize(folder(path)).ok()?;
    if !(within.starts_with("/proc") && within.ends_with("fd")) {
        return None;
    }
    // A second opening would write from the start; ours goes on where the process is.
    let own = std::fs::canonicalize("/proc/self").is_ok_and(|own| within.starts_with(own));
    let copy = match path.file_name()?.to_str()? {
        "1" if own => io::stdout().as_fd().try_clone_to_owned(),
        "2" if own => io::stderr().as_fd().try_clone_to_owned(),
        _ => return Some(OpenOptions::new().append(true).open(path)),
    };
    Some(copy.map(File::from))
}

#[cfg(not(target_os = "linux"))]
fn open_already(_: &Path) -> Option<io::Result<File>> {
    None
}

/// Gives a file the permissions of another and, where that is allowed, its owner.
fn keep(file: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let new = file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            let _ = fchown(file, Some(old.uid()), Some(old.gid()));
        }
    }
    file.set_permissions(old.permissions())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn place(test: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("tw-core-files-{}-{test}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn replaces_whole_and_keeps_permissions() {
        let folder = place("mode");
        let path = folder.join("spec.tw");
        write_file(&path, b"old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        write_file(&path, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(names(&folder), ["spec.tw"]);
    }

    #[test]
    fn what_is_not_committed_leaves_the_old_one() {
        let folder = place("dropped");
        let path = folder.join("spec.tw");
        write_file(&path, b"old").unwrap();
        let mut new = NewFile::create(&path).unwrap();
        new.write_all(b"half").unwrap();
        assert_eq!(names(&folder).len(), 2);
        drop(new);
        assert_eq!((std::fs::read(&path).unwrap(), names(&folder).len()), (b"old".to_vec(), 1));
    }

    #[test]
    fn what_a_killed_writer_left_goes_with_the_next_write() {
        let folder = place("left");
        let path = folder.join("spec.tw");
        let plant = |name: &str| {
            std::fs::write(folder.join(name), b"half").unwrap();
            File::open(folder.join(name)).unwrap()
        };
        plant(".spec.tw.0123456789abcdef");
        plant(".spec.tw.ffffffffffffffff");
        // One that is being written, what is another file's, and what only looks alike.
        let busy = plant(".spec.tw.00000000000000aa");
        busy.lock().unwrap();
        let others = [
            ".other.tw.0123456789abcdef",
            ".spec.tw.0123456789abcdeg",
            ".spec.tw.tmp",
            "spec.tw.0123456789abcdef",
        ];
        others.into_iter().for_each(|name| drop(plant(name)));
        symlink("spec.tw", folder.join(".spec.tw.00000000000000bb")).unwrap();
        std::fs::create_dir(folder.join(".spec.tw.00000000000000cc")).unwrap();
        write_file(&path, b"new").unwrap();
        let mut expected = vec![
            ".spec.tw.00000000000000aa",
            ".spec.tw.00000000000000bb",
            ".spec.tw.00000000000000cc",
            "spec.tw",
        ];
        expected.extend(others);
        expected.sort_unstable();
        assert_eq!(names(&folder), expected);
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }

    /// Writers of one file, some killed half way: each whole file is one of theirs, and nothing that is being written goes.
    #[test]
    fn writers_do_not_take_each_others_files() {
        let folder = place("many");
        let path = &folder.join("state");
        let held = NewFile::create(path).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4u8 {
                scope.spawn(move || (0..50).for_each(|_| write_file(path, &[thread; 1000]).unwrap()));
            }
        });
        let written = std::fs::read(path).unwrap();
        assert!(written.len() == 1000 && written.iter().all(|byte| *byte == written[0]));
        held.commit().unwrap();
        assert_eq!((names(&folder), std::fs::read(path).unwrap().len()), (vec!["state".to_string()], 0));
    }

    #[test]
    fn links_stay_and_planted_ones_are_not_followed() {
        let folder = place("links");
        let (real, link, dangling) = (folder.join("real"), folder.join("link"), folder.join("dangling"));
        std::fs::write(&real, b"old").unwrap();
        symlink("real", &link).unwrap();
        write_file(&link, b"new").unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&real).unwrap(), b"new");
        symlink("made", &dangling).unwrap();
        write_file(&dangling, b"made").unwrap();
        assert_eq!(std::fs::read(folder.join("made")).unwrap(), b"made");
        // Guessable names of temporary files, planted: nobody writes through them.
        let victim = folder.join("victim");
        std::fs::write(&victim, b"precious").unwrap();
        for suffix in ["new", "partial", "part", "tmp"] {
            symlink("victim", folder.join(format!("real.{suffix}"))).unwrap();
        }
        write_file(&real, b"again").unwrap();
        assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
        let round = folder.join("round");
        symlink("round", &round).unwrap();
        assert!(write_file(&round, b"").is_err());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_is_open_is_written_to_and_keeps_its_name() {
        use std::os::fd::AsRawFd;
        use std::os::unix::fs::MetadataExt;
        let folder = place("open");
        let path = folder.join("log");
        let mut open = OpenOptions::new().append(true).create(true).open(&path).unwrap();
        let number = std::fs::metadata(&path).unwrap().ino();
        open.write_all(b"before ").unwrap();
        let link = folder.join("link");
        symlink(format!("/dev/fd/{}", open.as_raw_fd()), &link).unwrap();
        write_file(&link, b"ours ").unwrap();
        write_file(Path::new(&format!("/proc/self/fd/{}", open.as_raw_fd())), b"again ").unwrap();
        open.write_all(b"after").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"before ours again after");
        assert_eq!(std::fs::metadata(&path).unwrap().ino(), number);
        let (mut reader, writer) = io::pipe().unwrap();
        write_file(Path::new(&format!("/dev/fd/{}", writer.as_raw_fd())), b"through").unwrap();
        drop(writer);
        let mut read = String::new();
        reader.read_to_string(&mut read).unwrap();
        assert_eq!(read, "through");
    }

    #[test]
    fn names_as_long_as_a_folder_takes() {
        let folder = place("long");
        let path = folder.join("ä".repeat(127));
        write_file(&path, b"old").unwrap();
        write_file(&path, b"new").unwrap();
        assert_eq!((std::fs::read(&path).unwrap(), names(&folder).len()), (b"new".to_vec(), 1));
    }

    #[test]
    fn what_never_ends_is_not_read() {
        let error = read_file("/dev/zero", 1 << 20).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (io::ErrorKind::FileTooLarge, "it is larger than 1 MiB, the limit")
        );
        assert_eq!(read_all(&b"abc"[..], 3).unwrap(), b"abc");
        assert!(read_all(&b"abcd"[..], 3).is_err());
    }

    #[test]
    fn devices_are_written_to_and_folders_refused() {
        write_file(Path::new("/dev/null"), b"gone").unwrap();
        assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
        let full = write_file(Path::new("/dev/full"), b"never");
        assert_eq!(full.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(write_file(&place("folder"), b"").unwrap_err().kind(), io::ErrorKind::IsADirectory);
    }
}

use super::*;
use std::io::Write;

/// A directory of its own that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("tw-trace-input-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn read(input: &Input) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    for file in 0..input.files() {
        let mut reader = input.reader(file).map_err(|error| error.message)?;
        reader.read_to_end(&mut bytes).map_err(|error| describe(&error).message)?;
    }
    Ok(bytes)
}

fn text() -> Vec<u8> {
    (0..40_000u32).flat_map(|i| format!("{}\n", i.wrapping_mul(2_654_435_761)).into_bytes()).collect()
}

#[test]
fn every_encoding_gives_the_same_bytes_and_can_be_reread() {
    let folder = Folder::new("encodings");
    let text = text();
    let with_mark = [UTF8_BOM, text.as_slice()].concat();
    let mut two_members = gzip(&text[..1000]);
    two_members.extend(gzip(&text[1000..]));
    let zstd = zstd::encode_all(text.as_slice(), 1).unwrap();
    // Zeros fill up the last block of some archives, and a frame of zstd may say nothing.
    let padded = [&gzip(&text)[..], &[0; 700]].concat();
    let frames = [
        &zstd::encode_all(&text[..1000], 1).unwrap()[..],
        b"\x53\x2A\x4D\x18\x03\0\0\0abc",
        &zstd::encode_all(&text[1000..], 1).unwrap(),
    ]
    .concat();
    let files = [
        folder.file("padded.csv.gz", &padded),
        folder.file("frames.csv.zst", &frames),
        folder.file("plain.csv", &text),
        folder.file("mark.csv", &with_mark),
        folder.file("members.csv.gz", &two_members),
        folder.file("by-magic.csv", &zstd),
        folder.file("named.csv.zst", &zstd),
    ];
    for path in &files {
        let input = Input::open(std::slice::from_ref(path)).unwrap();
        assert_eq!(read(&input).unwrap(), text, "{path}");
        assert_eq!(read(&input).unwrap(), text, "{path} a second time");
        let (_, mark) = input.source(0).unwrap().reader().unwrap();
        let part = input.source(0).unwrap().reread(mark as u64 + 70_001, 99).unwrap().unwrap();
        assert_eq!(part, text[70_001..70_100], "{path}");
    }
    for bytes in [text.clone(), two_members, zstd, with_mark] {
        let input = Input::from_reader("<stdin>", Box::new(Cursor::new(bytes))).unwrap();
        assert_eq!(read(&input).unwrap(), text);
        assert_eq!(read(&input).unwrap(), text, "a short stream is kept whole");
    }
}

#[test]
fn a_long_stream_keeps_its_beginning() {
    let text = text();
    let stream = Stream {
        raw: Some(Box::new(Cursor::new(text.clone()))),
        spool: Vec::new(),
        limit: 1000,
        position: 0,
        ended: false,
    };
    let read_count = Arc::default();
    let kind = Kind::Stream(Mutex::new(stream));
    let source = Source { name: "s".to_string(), kind, read: Arc::clone(&read_count) };
    let input = Input { sources: vec![source], read: read_count };
    assert_eq!(read(&input).unwrap(), text);
    assert!(read(&input).unwrap_err().contains("cannot be read a second time"));
    assert_eq!(input.source(0).unwrap().reread(10, 20).unwrap().unwrap(), text[10..30]);
    assert_eq!(input.source(0).unwrap().reread(990, 20).unwrap(), None);
}

#[test]
fn what_cannot_be_read_is_said_clearly() {
    let folder = Folder::new("faults");
    let packed = gzip(&text());
    let zstd = zstd::encode_all(text().as_slice(), 1).unwrap();
    let mut damaged = packed.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 50].fill(0xA5);
    let cases = [
        (folder.0.join("absent.csv").to_str().unwrap().to_string(), "there is no such file"),
        (folder.0.to_str().unwrap().to_string(), "this is a directory"),
        (
            folder.file("cut.gz", &packed[..packed.len() / 2]),
            "the gzip data ends too early: the file is truncated",
        ),
        (folder.file("damaged.gz", &damaged), "the gzip data is damaged"),
        (
            folder.file("cut.zst", &zstd[..zstd.len() / 2]),
            "the zstd data ends too early: the file is truncated",
        ),
        (
            folder.file("after.gz", &[&packed[..], b"and more"].concat()),
            "8 bytes follow the end of the gzip data",
        ),
        (folder.file("after.zst", &[&zstd[..], b"and"].concat()), "3 bytes follow the end of the zstd data"),
        (folder.file("not.gz", b"a,b\n"), "found no gzip data"),
        (folder.file("wide.csv", b"\xFF\xFEa\0\n\0"), "found UTF-16"),
    ];
    for (path, expected) in cases {
        let message = match Input::open(std::slice::from_ref(&path)) {
            Ok(input) => read(&input).unwrap_err(),
            Err(error) => {
                assert_eq!(error.file, path);
                error.message
            }
        };
        assert!(message.contains(expected), "{path}: {message}");
    }
}

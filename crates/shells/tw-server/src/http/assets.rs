//! The page: its files are part of the program, so that the server needs nothing beside it and building it no Node. They are made
//! of `page/src` by `page/build.mjs`; a test holds them to their sources.

use super::answer::{Answer, nowhere, of_kind};
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use std::io::Write;
use std::sync::OnceLock;

/// A file of the page.
struct Asset {
    name: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
    packed: OnceLock<Vec<u8>>,
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

static ASSETS: [Asset; 4] = [
    asset("index.html", "text/html; charset=utf-8", include_bytes!("../../page/dist/index.html")),
    asset("main.js", SCRIPT, include_bytes!("../../page/dist/main.js")),
    asset("editor.js", SCRIPT, include_bytes!("../../page/dist/editor.js")),
    asset("style.css", "text/css; charset=utf-8", include_bytes!("../../page/dist/style.css")),
];

const fn asset(name: &'static str, kind: &'static str, bytes: &'static [u8]) -> Asset {
    Asset { name, kind, bytes, packed: OnceLock::new() }
}

impl Asset {
    /// The file, packed where the client takes that.
    fn answer(&'static self, headers: &HeaderMap) -> Answer {
        let tag = HeaderValue::from_str(&format!("\"{}\"", &blake3::hash(self.bytes).to_hex()[..16]));
        let known = headers.get(header::IF_NONE_MATCH);
        if let (Ok(tag), Some(known)) = (&tag, known)
            && tag == known
        {
            return of_kind(StatusCode::NOT_MODIFIED, self.kind, "");
        }
        let accepts = |value: &HeaderValue| value.to_str().is_ok_and(|value| value.contains("gzip"));
        let packs = headers.get(header::ACCEPT_ENCODING).is_some_and(accepts);
        let mut answer = match packs {
            true => {
                of_kind(StatusCode::OK, self.kind, self.packed.get_or_init(|| pack(self.bytes)).as_slice())
            }
            false => of_kind(StatusCode::OK, self.kind, self.bytes),
        };
        let out = answer.headers_mut();
        if packs {
            out.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        out.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        // Asked for again each time, so that a new server has its own page at once.
        out.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        tag.into_iter().for_each(|tag| drop(out.insert(header::ETAG, tag)));
        answer
    }
}

fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    // Writing to memory does not fail.
    let _ = packer.write_all(bytes);
    packer.finish().unwrap_or_default()
}

/// `GET /`.
pub async fn index(headers: HeaderMap) -> Answer {
    ASSETS[0].answer(&headers)
}

/// `GET /page/NAME`.
pub async fn file(Path(name): Path<String>, headers: HeaderMap) -> Answer {
    match ASSETS.iter().find(|asset| asset.name == name) {
        Some(asset) => asset.answer(&headers),
        None => nowhere().await,
    }
}

#[cfg(test)]
mod tests {
    use super::{ASSETS, pack};
    use std::path::{Path, PathBuf};

    fn files(folder: &Path, into: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("the page's sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { files(&path, into) } else { into.push(path) }
        }
    }

    /// What `page/build.mjs` writes to `dist/sources`.
    fn fingerprint(page: &Path) -> String {
        let mut all = Vec::new();
        files(&page.join("src"), &mut all);
        all.extend(
            ["build.mjs", "package.json", "package-lock.json", "tsconfig.json"].map(|name| page.join(name)),
        );
        let named = |path: PathBuf| {
            let name = path.strip_prefix(page).expect("within").to_string_lossy().replace('\\', "/");
            (name, path)
        };
        let mut all: Vec<(String, PathBuf)> = all.into_iter().map(named).collect();
        all.sort();
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for (name, path) in all {
            let bytes = std::fs::read(path).expect("a source");
            for byte in name.bytes().chain([0]).chain(bytes) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
        format!("{hash:016x}")
    }

    #[test]
    fn the_page_is_built_from_its_sources() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
        let built = std::fs::read_to_string(page.join("dist/sources")).expect("dist/sources");
        let why =
            "the sources of the page changed: run `npm ci --ignore-scripts && npm run build` in its folder";
        assert_eq!(built.trim(), fingerprint(&page), "{why}");
    }

    #[test]
    fn the_page_is_small_and_names_no_other_place() {
        let packed = |name: &str| {
            let asset = ASSETS.iter().find(|asset| asset.name == name).expect("a file of the page");
            pack(asset.bytes).len()
        };
        let (main, style) = (packed("main.js"), packed("style.css"));
        assert!(main + style <= 60 << 10, "{main} + {style} bytes");
        let index = std::str::from_utf8(ASSETS[0].bytes).expect("text");
        assert!(!index.contains("http") && !index.contains("style=") && !index.contains("onload"));
        let lock = include_str!("../../page/package-lock.json");
        assert!(!lock.contains("\"resolved\""), "the lock file names a registry");
    }
}

//! The file of tokens: names, rights and hashes.
//!
//! ```toml
//! [[token]]
//! name = "collector"
//! rights = ["write:web-*", "read"]
//! hash = "…"
//! ```

use super::{Holder, Right, hash};
use blake3::Hash;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use toml::{Table, Value};

/// Bytes of a file of tokens.
const LONGEST: u64 = 4 << 20;

/// What stands first in a new file.
const HEAD: &str = "# Who may use the server. Made by `tracewise serve --new-token`; the tokens themselves are not in here.\n";

/// The holders of a file, by name.
pub fn read(path: &Path) -> Result<BTreeMap<Arc<str>, Holder>, String> {
    let failed = |why: String| format!("{}: {why}", path.display());
    let length = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?.len();
    if length > LONGEST {
        return Err(failed(format!("it is longer than {LONGEST} bytes")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    parse(&text).map_err(failed)
}

fn parse(text: &str) -> Result<BTreeMap<Arc<str>, Holder>, String> {
    let table: Table = text.parse().map_err(|error: toml::de::Error| error.message().to_string())?;
    if let Some(other) = table.keys().find(|key| *key != "token") {
        return Err(format!("found `{other}`, expected [[token]]"));
    }
    let mut holders = BTreeMap::new();
    let none = Vec::new();
    let entries = match table.get("token") {
        None => &none,
        Some(Value::Array(entries)) => entries,
        Some(_) => return Err("write [[token]], with two brackets".into()),
    };
    for (number, entry) in (1..).zip(entries) {
        let holder = holder(entry).map_err(|why| format!("token {number}: {why}"))?;
        let name = holder.name.clone();
        if holders.insert(name.clone(), holder).is_some() {
            return Err(format!("there are two tokens of the name `{name}`"));
        }
    }
    Ok(holders)
}

fn holder(entry: &Value) -> Result<Holder, String> {
    let entry = entry.as_table().ok_or("expected name, rights and hash")?;
    if let Some(other) = entry.keys().find(|key| !matches!(key.as_str(), "name" | "rights" | "hash")) {
        return Err(format!("found the setting `{other}`, expected name, rights or hash"));
    }
    let text = |name: &str| {
        entry.get(name).and_then(Value::as_str).ok_or(format!("{name}: expected a text in quotes"))
    };
    let rights = entry.get("rights").and_then(Value::as_array).ok_or("rights: expected a list of texts")?;
    let right = |value: &Value| Right::parse(value.as_str().ok_or("rights: expected texts in quotes")?);
    Ok(Holder {
        name: text("name")?.into(),
        // What stands there is not repeated: it may be a token that somebody took for its hash.
        hash: Hash::from_hex(text("hash")?).map_err(|_| "hash: expected 64 hexadecimal digits")?,
        rights: rights.iter().map(right).collect::<Result<_, String>>()?,
        over: AtomicBool::new(false),
    })
}

/// Makes a token, adds its hash to a file and returns it: it is not written anywhere.
pub fn new_token(path: &Path, name: &str, rights: &[String]) -> Result<String, String> {
    crate::names::check("token", name)?;
    let rights: Vec<&str> = rights.iter().flat_map(|rights| rights.split(',')).map(str::trim).collect();
    if rights.is_empty() {
        return Err("a token without rights is good for nothing: give `--rights`".into());
    }
    for right in &rights {
        Right::parse(right)?;
    }
    let before = match path.exists() {
        true => {
            if read(path)?.contains_key(name) {
                return Err(format!("{}: there is a token of the name `{name}` already", path.display()));
            }
            std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?
        }
        false => HEAD.to_string(),
    };
    let mut bits = [0; 32];
    ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut bits)
        .map_err(|_| "the system has no random numbers")?;
    let token = format!("tw_{}", Hash::from_bytes(bits).to_hex());
    let list: Vec<String> = rights.iter().map(|right| format!("\"{right}\"")).collect();
    let gap = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    let entry = format!(
        "{gap}\n[[token]]\nname = \"{name}\"\nrights = [{}]\nhash = \"{}\"\n",
        list.join(", "),
        hash(&token).to_hex()
    );
    write(path, &(before + &entry)).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(token)
}

/// Replaces the file; others need not read it.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}", std::process::id()));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(&temporary)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&temporary, path)
}

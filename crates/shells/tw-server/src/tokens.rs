//! Tokens: who may do what, from a file that holds hashes of them and is read again when it changes.
//!
//! A token is 256 random bits, so a fast hash keeps it as safe as a slow one would keep a password. Rights are roles on streams:
//! `write:web-*` lets events in, `read` shows what was found on all streams, `administer:web` puts specifications that are about
//! nothing but `web`. Who has none of a right gets no hint whether there is such a stream.

mod file;
mod wrong;

pub use file::new_token;
pub use wrong::Wrong;

use crate::names;
use blake3::Hash;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

/// What somebody may do with a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Send events.
    Write,
    /// See events and what was found in them.
    Read,
    /// Change specifications and silences.
    Administer,
}

impl Role {
    /// All of them, and their names.
    const ALL: [(Role, &'static str); 3] =
        [(Role::Write, "write"), (Role::Read, "read"), (Role::Administer, "administer")];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(role, _)| *role == self).map_or("", |(_, name)| name)
    }
}

/// A role on the streams of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Right {
    role: Role,
    streams: String,
}

impl Right {
    /// `ROLE` or `ROLE:STREAMS`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (role, streams) = text.split_once(':').unwrap_or((text, "*"));
        let known = Role::ALL.iter().find(|(_, name)| *name == role.trim());
        let streams = streams.trim();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '*');
        let good = !streams.is_empty() && streams.chars().all(plain) && streams.matches('*').count() < 2;
        match known {
            Some((role, _)) if good => Ok(Self { role: *role, streams: streams.to_string() }),
            _ => Err(format!(
                "found the right `{text}`, expected `write`, `read` or `administer`, and after a colon the streams, with one `*` \
                 for any part of a name"
            )),
        }
    }
}

/// Who holds a token.
#[derive(Debug)]
pub struct Holder {
    /// The name that the token was made under.
    pub name: Arc<str>,
    hash: Hash,
    rights: Vec<Right>,
    /// The token was taken out of the file, or its rights were changed.
    over: AtomicBool,
}

/// What a request may do.
#[derive(Clone, Debug)]
pub enum Rights {
    /// Everything: no tokens are asked for.
    All,
    /// What a token allows.
    Of(Arc<Holder>),
}

impl Rights {
    /// Whether a stream is in a role's reach.
    pub fn may(&self, role: Role, stream: &str) -> bool {
        self.any(role, |right| names::matches(&right.streams, stream))
    }

    /// Whether the role is given for some stream at least.
    pub fn some(&self, role: Role) -> bool {
        self.any(role, |_| true)
    }

    /// Whether the role is given for all streams that patterns name; without patterns, for every stream.
    pub fn covers(&self, role: Role, patterns: Option<&[String]>) -> bool {
        match patterns {
            None => self.any(role, |right| right.streams == "*"),
            Some(patterns) => {
                patterns.iter().all(|pattern| self.any(role, |right| names::matches(&right.streams, pattern)))
            }
        }
    }

    fn any(&self, role: Role, which: impl Fn(&Right) -> bool) -> bool {
        match self {
            Rights::All => true,
            Rights::Of(holder) => {
                !self.over() && holder.rights.iter().any(|right| right.role == role && which(right))
            }
        }
    }

    /// Whether the token is no longer one; what goes on for long asks now and then.
    pub fn over(&self) -> bool {
        matches!(self, Rights::Of(holder) if holder.over.load(Ordering::Relaxed))
    }

    /// The token's name, if there is one.
    pub fn name(&self) -> Option<&Arc<str>> {
        match self {
            Rights::All => None,
            Rights::Of(holder) => Some(&holder.name),
        }
    }
}

/// All tokens that are good now.
#[derive(Debug)]
pub struct Tokens {
    path: PathBuf,
    known: RwLock<Known>,
}

#[derive(Debug)]
struct Known {
    /// When the file was written, and how long it is.
    stamp: Option<(SystemTime, u64)>,
    holders: Vec<Arc<Holder>>,
}

/// What is kept of a token.
pub fn hash(token: &str) -> Hash {
    blake3::Hash::from_bytes(blake3::derive_key("tracewise server token 1", token.as_bytes()))
}

fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.modified().ok()?, meta.len()))
}

impl Tokens {
    /// Reads a file of tokens.
    pub fn open(path: &Path) -> Result<Self, String> {
        let stamp = stamp(path);
        let holders = file::read(path)?.into_values().map(Arc::new).collect();
        Ok(Self { path: path.to_path_buf(), known: RwLock::new(Known { stamp, holders }) })
    }

    /// Who holds a token. All hashes are compared, each in constant time.
    pub fn holder(&self, token: &str) -> Option<Arc<Holder>> {
        let presented = hash(token);
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut found = None;
        for holder in &known.holders {
            // The comparison of two hashes takes the same time wherever they differ.
            if holder.hash == presented {
                found = Some(holder.clone());
            }
        }
        found
    }

    /// Reads the file again if it changed; how many tokens there are then. What cannot be read changes nothing.
    pub fn reload(&self) -> Option<Result<usize, String>> {
        let now = stamp(&self.path);
        let before = self.known.read().unwrap_or_else(PoisonError::into_inner).stamp;
        if now == before {
            return None;
        }
        let read = file::read(&self.path);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        // Said once, until it is written again.
        known.stamp = now;
        let mut new: BTreeMap<Arc<str>, Holder> = match read {
            Ok(new) => new,
            Err(why) => return Some(Err(why)),
        };
        let mut holders = Vec::new();
        for old in known.holders.drain(..) {
            match new.get(&old.name) {
                Some(same) if same.hash == old.hash && same.rights == old.rights => {
                    new.remove(&old.name);
                    holders.push(old);
                }
                _ => old.over.store(true, Ordering::Relaxed),
            }
        }
        holders.extend(new.into_values().map(Arc::new));
        known.holders = holders;
        Some(Ok(known.holders.len()))
    }
}

#[cfg(test)]
mod tests;

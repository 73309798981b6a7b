//! Known classes in an SQLite database, so that a later run says which ones are new.
//!
//! The database is in write-ahead mode and every run is one transaction: a process that is killed leaves what was there.
//! A file that is no such database, or a damaged one, is refused and left as it is.

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior, params};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Marks databases as ours (`PRAGMA application_id`).
const APPLICATION: i32 = 0x5457_636c;
/// The layout (`PRAGMA user_version`).
const VERSION: i32 = 1;
/// How long to wait for another run that writes.
const PATIENCE: Duration = Duration::from_secs(10);

const LAYOUT: &str = "
    CREATE TABLE classes (
        property TEXT NOT NULL, rules TEXT NOT NULL, class TEXT NOT NULL, verdict TEXT NOT NULL,
        hologram TEXT NOT NULL, why TEXT NOT NULL, example TEXT NOT NULL, severity REAL NOT NULL,
        traces INTEGER NOT NULL, runs INTEGER NOT NULL, first_seen INTEGER NOT NULL, last_seen INTEGER NOT NULL,
        PRIMARY KEY (property, rules, class)
    ) WITHOUT ROWID;";

/// A class as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The property.
    pub property: String,
    /// The rules.
    pub rules: String,
    /// The class, 32 hexadecimal digits.
    pub class: String,
    /// The verdict of its traces.
    pub verdict: String,
    /// The pruned hologram.
    pub hologram: String,
    /// The sentence about its first trace.
    pub why: String,
    /// Its first trace.
    pub example: String,
    /// The weighted sum of what fails.
    pub severity: f64,
    /// Traces in this run; of what is read, in all runs.
    pub traces: u64,
}

/// Why a store cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError(pub String);

impl std::fmt::Display for StoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Known classes.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: String,
}

impl Store {
    /// Opens a store, and makes it if there is no such file.
    pub fn open(path: &str) -> Result<Self, StoreError> {
        let folder = Path::new(path).parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return Err(StoreError(format!(
                "cannot open the store `{path}`: there is no folder `{}`",
                folder.display()
            )));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let told = |error: rusqlite::Error| told(path, &error);
        let connection = Connection::open_with_flags(path, flags).map_err(told)?;
        connection.busy_timeout(PATIENCE).map_err(told)?;
        let number =
            |pragma: &str| connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get::<_, i32>(0));
        // In one transaction: another run may be making it right now.
        connection.execute_batch("BEGIN").map_err(told)?;
        let (application, version) =
            (number("application_id").map_err(told)?, number("user_version").map_err(told)?);
        let tables: i64 =
            connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0)).map_err(told)?;
        connection.execute_batch("COMMIT").map_err(told)?;
        match (application, version, tables) {
            (APPLICATION, VERSION, _) => {
                let found: String =
                    connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(told)?;
                if found != "ok" {
                    return Err(damaged(path, &found));
                }
            }
            (APPLICATION, version, _) => {
                return Err(StoreError(format!(
                    "the store `{path}` has the layout {version}, expected {VERSION}; it was written by another version, and is left as it is"
                )));
            }
            (_, _, 0) => {
                connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).map_err(told)?;
                // Two first runs at once: the one that comes second finds the table.
                let make = format!(
                    "BEGIN IMMEDIATE; {} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; COMMIT;",
                    LAYOUT.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS")
                );
                connection.execute_batch(&make).map_err(told)?;
            }
            _ => {
                return Err(StoreError(format!(
                    "`{path}` is a database of another program, expected a store of failure classes or no such file; it is left as it is"
                )));
            }
        }
        Ok(Self { connection, path: path.to_string() })
    }

    /// Notes the classes of a run, all or none of them; of each whether it was known.
    pub fn note(&mut self, entries: &[Entry]) -> Result<Vec<bool>, StoreError> {
        let path = self.path.clone();
        let told = |error: rusqlite::Error| told(&path, &error);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(told)?;
        let mut known = Vec::with_capacity(entries.len());
        {
            let find = "SELECT 1 FROM classes WHERE property = ?1 AND rules = ?2 AND class = ?3";
            let mut find = transaction.prepare(find).map_err(told)?;
            let put = "INSERT INTO classes VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 1, ?10, ?10)
                ON CONFLICT DO UPDATE SET traces = traces + excluded.traces, runs = runs + 1,
                    severity = excluded.severity, last_seen = excluded.last_seen";
            let mut put = transaction.prepare(put).map_err(told)?;
            for own in entries {
                let key = params![own.property, own.rules, own.class];
                known.push(find.query_row(key, |_| Ok(())).optional().map_err(told)?.is_some());
                let traces = i64::try_from(own.traces).unwrap_or(i64::MAX);
                put.execute(params![
                    own.property,
                    own.rules,
                    own.class,
                    own.verdict,
                    own.hologram,
                    own.why,
                    own.example,
                    own.severity,
                    traces,
                    now
                ])
                .map_err(told)?;
            }
        }
        transaction.commit().map_err(told)?;
        Ok(known)
    }

    /// All classes, by property, rules and class.
    pub fn entries(&self) -> Result<Vec<Entry>, StoreError> {
        let told = |error: rusqlite::Error| told(&self.path, &error);
        let all =
            "SELECT property, rules, class, verdict, hologram, why, example, severity, traces FROM classes
            ORDER BY property, rules, class";
        let mut all = self.connection.prepare(all).map_err(told)?;
        let rows = all.query_map([], |row| {
            Ok(Entry {
                property: row.get(0)?,
                rules: row.get(1)?,
                class: row.get(2)?,
                verdict: row.get(3)?,
                hologram: row.get(4)?,
                why: row.get(5)?,
                example: row.get(6)?,
                severity: row.get(7)?,
                traces: u64::try_from(row.get::<_, i64>(8)?).unwrap_or(0),
            })
        });
        rows.map_err(told)?.collect::<Result<_, _>>().map_err(told)
    }
}

fn damaged(path: &str, what: &str) -> StoreError {
    StoreError(format!(
        "the store `{path}` is damaged ({}); it is left as it is: restore it from a copy, or name another file",
        what.lines().next().unwrap_or_default()
    ))
}

fn told(path: &str, error: &rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => StoreError(format!(
            "`{path}` is no SQLite database, expected a store of failure classes or no such file; it is left as it is"
        )),
        Some(ErrorCode::DatabaseCorrupt) => damaged(path, &error.to_string()),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError(format!(
            "the store `{path}` is in use by another run, and was not free within {} seconds",
            PATIENCE.as_secs()
        )),
        _ => StoreError(format!("cannot use the store `{path}`: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn entry(class: &str, traces: u64) -> Entry {
        Entry {
            property: "p".into(),
            rules: "fail-fast,polarity".into(),
            class: class.into(),
            verdict: "violated".into(),
            hologram: "G-".into(),
            why: "it fails".into(),
            example: "t.jsonl".into(),
            severity: 1.0,
            traces,
        }
    }

    fn place(name: &str) -> String {
        let folder = std::env::temp_dir().join(format!("tracewise-store-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder.join("classes.db").to_str().unwrap().to_string()
    }

    #[test]
    fn classes_are_known_the_second_time() {
        let path = place("known");
        let mut store = Store::open(&path).unwrap();
        assert_eq!(store.note(&[entry("a", 2), entry("b", 1)]), Ok(vec![false, false]));
        drop(store);
        let mut store = Store::open(&path).unwrap();
        assert_eq!(store.note(&[entry("a", 3), entry("c", 1)]), Ok(vec![true, false]));
        let all = store.entries().unwrap();
        assert_eq!(
            all.iter().map(|own| (own.class.as_str(), own.traces)).collect::<Vec<_>>(),
            [("a", 5), ("b", 1), ("c", 1)]
        );
        // Another property, or other rules, are other classes.
        let other = Entry { property: "q".into(), ..entry("a", 1) };
        assert_eq!(
            store.note(&[other, Entry { rules: "none".into(), ..entry("a", 1) }]),
            Ok(vec![false, false])
        );
    }

    #[test]
    fn two_runs_at_once_lose_nothing() {
        let path = place("parallel");
        let run = |path: String| {
            std::thread::spawn(move || {
                for _ in 0..20 {
                    Store::open(&path).unwrap().note(&[entry("a", 1)]).unwrap();
                }
            })
        };
        let runs = [run(path.clone()), run(path.clone()), run(path.clone())];
        runs.into_iter().for_each(|run| run.join().unwrap());
        assert_eq!(Store::open(&path).unwrap().entries().unwrap()[0].traces, 60);
    }

    #[test]
    fn what_is_no_store_is_left_as_it_is() {
        let path = place("foreign");
        fs::write(&path, "this is a text, long enough to be looked at as the head of a database file, but it is none at all\n").unwrap();
        let before = fs::read(&path).unwrap();
        assert!(Store::open(&path).unwrap_err().0.contains("no SQLite database"));
        assert_eq!(fs::read(&path).unwrap(), before);
        fs::remove_file(&path).unwrap();
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE other (x)").unwrap();
        assert!(Store::open(&path).unwrap_err().0.contains("another program"));
        assert!(Store::open("/nowhere/at/all/classes.db").unwrap_err().0.contains("no folder"));
        assert!(Store::open(&std::env::temp_dir().to_string_lossy()).is_err());
    }

    #[test]
    fn a_damaged_store_is_told_and_kept() {
        let path = place("damaged");
        let entries: Vec<Entry> = (0..2_000).map(|nth| entry(&format!("{nth:032x}"), 1)).collect();
        Store::open(&path).unwrap().note(&entries).unwrap();
        let good = fs::read(&path).unwrap();
        let (mut refused, mut read) = (0, 0);
        for nth in 0..60 {
            let mut bad = good.clone();
            let at = (nth * 7919 + 13) % bad.len();
            let end = (at + 200).min(bad.len());
            bad[at..end].iter_mut().for_each(|byte| *byte ^= 0x5a);
            fs::write(&path, &bad).unwrap();
            let _ = fs::remove_file(format!("{path}-wal"));
            let _ = fs::remove_file(format!("{path}-shm"));
            match Store::open(&path) {
                Err(StoreError(message)) => {
                    refused += 1;
                    assert!(message.contains(&path), "{message}");
                    assert!(fs::read(&path).unwrap() == bad, "{message}");
                }
                Ok(_) => read += 1,
            }
        }
        // A flipped text inside a row is no damage that a database notices.
        assert!(refused > 10, "{refused} refused, {read} read");
        fs::write(&path, &good[..good.len() / 2]).unwrap();
        assert!(Store::open(&path).is_err());
    }
}

//! Properties that could hold of a trace, and columns that could be its time or its key.

use crate::inspect::ColumnSummary;

/// Atoms that are paired.
const ATOMS: usize = 6;

/// A property that could hold.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Candidate {
    /// What kind of property it is: one of each is proposed first.
    pub kind: Kind,
    /// A name for it.
    pub name: String,
    /// The sentence in quotes after the name.
    pub title: String,
    pub formula: String,
    /// Why it was thought of.
    pub why: String,
    /// Its atoms, if one answers the other.
    pub response: Option<(String, String)>,
}

impl Candidate {
    /// That something happens at all.
    pub fn occurs(name: &str, formula: &str) -> Self {
        Self {
            kind: Kind::Occurs,
            name: format!("{name}_occurs"),
            title: format!("{name} happens at least once"),
            formula: format!("F {formula}"),
            why: "it happens somewhere in the log".into(),
            response: None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Response,
    Absence,
    Precedence,
    Known,
    Values,
    Bound,
    Occurs,
}

impl Candidate {
    /// Its declaration.
    pub fn property(&self, name: &str) -> String {
        format!("property {name} {} :\n    {};\n", tw_ir::quote(&self.title), self.formula)
            .replace(" :\n    ", " : ")
    }
}

/// What happens at a position: an event, or a column that has a value.
struct Atom {
    formula: String,
    name: String,
    times: u64,
}

/// All that is worth trying, likeliest to matter first.
pub(super) fn all(columns: &[&ColumnSummary], events: &[(String, u64)], positions: u64) -> Vec<Candidate> {
    let mut found = Vec::new();
    let atoms = atoms(columns, events);
    // As often as each other, as request and answer are, before others.
    let mut pairs: Vec<(&Atom, &Atom)> = atoms
        .iter()
        .flat_map(|a| atoms.iter().map(move |b| (a, b)))
        .filter(|(a, b)| a.formula != b.formula)
        .collect();
    pairs.sort_by_key(|(a, b)| a.times.abs_diff(b.times));
    for (a, b) in &pairs {
        found.push(Candidate {
            kind: Kind::Response,
            name: format!("{}_then_{}", a.name, b.name),
            title: format!("after {} comes {}", a.name, b.name),
            formula: format!("G ({} -> F {})", a.formula, b.formula),
            why: "every one of the first is followed by one of the second".into(),
            response: Some((a.formula.clone(), b.formula.clone())),
        });
    }
    for (a, b) in &pairs {
        found.push(Candidate {
            kind: Kind::Precedence,
            name: format!("{}_before_{}", a.name, b.name),
            title: format!("no {} without {} before it", b.name, a.name),
            formula: format!("G ({} -> O {})", b.formula, a.formula),
            why: "the first has happened whenever the second does".into(),
            response: None,
        });
    }
    let whole = |column: &&&ColumnSummary| column.present == positions;
    for column in columns.iter().filter(whole) {
        let word = word(&column.name);
        let name = plain(&column.name);
        let few = column.distinct.is_some_and(|distinct| (2..=8).contains(&distinct));
        if column.kind == "string" && few && column.examples.len() == column.distinct.unwrap_or(0) {
            let values: Vec<String> = column.examples.iter().map(|value| tw_ir::quote(value)).collect();
            found.push(Candidate {
                kind: Kind::Values,
                name: format!("{name}_known"),
                title: format!("{name} is one of the values seen"),
                formula: format!("G ({word} in {{{}}})", values.join(", ")),
                why: "a value that was never seen before is worth a look".into(),
                response: None,
            });
        }
        if matches!(column.kind.as_str(), "int" | "real")
            && !looks_like_key(column)
            && let Some((low, high)) = column.range
            && low < high
        {
            found.push(Candidate {
                kind: Kind::Bound,
                name: format!("{name}_bounded"),
                title: format!("{name} stays within what was seen"),
                formula: format!("G ({word} >= {low} & {word} <= {high})"),
                why: "from the least to the greatest value seen; put a real limit here".into(),
                response: None,
            });
        }
    }
    for atom in &atoms {
        found.push(Candidate::occurs(&atom.name, &atom.formula));
    }
    found
}

/// Events; where there are none, truths and the values of a column that has few.
fn atoms(columns: &[&ColumnSummary], events: &[(String, u64)]) -> Vec<Atom> {
    let events = events.iter().take(ATOMS);
    let mut atoms: Vec<Atom> =
        events.map(|(name, times)| Atom { formula: word(name), name: plain(name), times: *times }).collect();
    if !atoms.is_empty() {
        return atoms;
    }
    for column in columns {
        let few = column.distinct.is_some_and(|distinct| (2..=ATOMS).contains(&distinct));
        let (word, name) = (word(&column.name), plain(&column.name));
        match column.kind.as_str() {
            "bool" | "0/1" => atoms.push(Atom { formula: word, name, times: column.present }),
            "string" if few && column.examples.iter().all(|value| value.len() <= 40) => {
                atoms.extend(column.examples.iter().map(|value| Atom {
                    formula: format!("{word} == {}", tw_ir::quote(value)),
                    name: format!("{name}_{}", plain(value)),
                    times: column.present,
                }));
            }
            _ => {}
        }
    }
    atoms.truncate(ATOMS);
    atoms
}

/// Whether a column's name and values are those of a time.
pub(super) fn looks_like_time(column: &ColumnSummary) -> bool {
    let name = column.name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let named = ["timestamp", "time", "datetime", "date", "ts", "at", "created"];
    let fits = named.iter().any(|word| name.trim_matches(['@', '_']) == *word || name.ends_with(word));
    let kind = matches!(column.kind.as_str(), "int" | "real" | "string");
    let written = column.kind != "string"
        || column.examples.iter().all(|value| value.contains(|c: char| c.is_ascii_digit()));
    fits && kind && written && column.present > 0
}

/// Whether a column's name is that of something events belong to.
pub(super) fn looks_like_key(column: &ColumnSummary) -> bool {
    let last = column.name.rsplit('.').next().unwrap_or_default();
    let name = last.to_ascii_lowercase();
    let parts: Vec<&str> = name.split(['_', '-', ' ']).collect();
    let words = ["id", "uid", "uuid", "user", "session", "request", "order", "job", "thread", "pod"];
    let fits = parts.iter().any(|part| words.contains(part)) || last.ends_with("Id") || last.ends_with("ID");
    fits && matches!(column.kind.as_str(), "int" | "string")
}

/// The name as formulas write it: what is no plain identifier stands in backquotes.
pub(super) fn word(name: &str) -> String {
    crate::inspect::word(name)
}

/// A name made of letters, digits and underscores.
pub(super) fn plain(name: &str) -> String {
    let mut text: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    text.truncate(40);
    let text = text.trim_matches('_').to_string();
    match text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.len() > 1 {
        true => text,
        false => format!("v_{text}"),
    }
}

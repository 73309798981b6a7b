//! Names for other languages: legal, readable, and different for different things.

use rustc_hash::FxHashMap;

/// Names in use. A name that is taken gets a number.
pub(super) struct Names {
    reserved: fn(&str) -> bool,
    /// Name, and the number that its next namesake tries first.
    taken: FxHashMap<String, u32>,
}

impl Names {
    /// No names yet; some words belong to the language.
    pub fn new(reserved: fn(&str) -> bool) -> Self {
        Self { reserved, taken: FxHashMap::default() }
    }

    /// Takes a name as it is: whether it is legal and was free.
    pub fn take(&mut self, name: &str) -> bool {
        let free = is_identifier(name) && !(self.reserved)(name) && !self.taken.contains_key(name);
        if free {
            self.taken.insert(name.to_owned(), 2);
        }
        free
    }

    /// A name like the wanted one.
    pub fn fresh(&mut self, wanted: &str) -> String {
        let mut base = identifier(wanted);
        if (self.reserved)(&base) {
            base.push('_');
        }
        if self.take(&base) {
            return base;
        }
        let mut number = self.taken.get(&base).copied().unwrap_or(2);
        loop {
            let name = format!("{base}_{number}");
            number += 1;
            if self.take(&name) {
                self.taken.insert(base, number);
                return name;
            }
        }
    }
}

/// Whether this is a letter or `_` with letters, digits and `_` after it, all of them ASCII.
pub(super) fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Text as an identifier: `_` for every other character.
pub(super) fn identifier(text: &str) -> String {
    let mut name = String::with_capacity(text.len() + 1);
    if text.is_empty() {
        name.push_str("empty_");
    } else if text.starts_with(|c: char| c.is_ascii_digit()) {
        name.push('_');
    }
    name.extend(text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }));
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_legal_and_differ() {
        let mut names = Names::new(|word| word == "case");
        assert!(names.take("a_b") && !names.take("a_b") && !names.take("case") && !names.take("a b"));
        let wanted = ["a b", "a-b", "case", "case_", "", "1", "é", "a b", "_1"];
        let given: Vec<String> = wanted.iter().map(|wanted| names.fresh(wanted)).collect();
        assert_eq!(given, ["a_b_2", "a_b_3", "case_", "case__2", "empty_", "_1", "_", "a_b_4", "_1_2"]);
    }

    #[test]
    fn many_namesakes_are_numbered_in_linear_time() {
        let mut names = Names::new(|_| false);
        let last = (0..100_000).map(|_| names.fresh("s s")).last();
        assert_eq!(last.as_deref(), Some("s_s_100000"));
    }
}

//! Which parts of a hologram are left out.

use std::fmt;

/// Deletion rules. All of them leave the root's label as it is, so that a class never mixes verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rules {
    /// Of a temporal operator that is decided, the children after the position that decides it.
    pub fail_fast: bool,
    /// Children whose value does not contribute to their parent's.
    pub polarity: bool,
    /// The values of quantified variables where they range.
    pub quantifiers: bool,
    /// The values of quantified variables in comparisons.
    pub equalities: bool,
    /// What is deeper than so many levels; the root is the first.
    pub truncate: Option<u32>,
}

impl Default for Rules {
    /// `fail-fast,polarity`.
    fn default() -> Self {
        Rules { fail_fast: true, polarity: true, ..Rules::NONE }
    }
}

/// What a name of a rule does to a set of rules.
type Adds = fn(&mut Rules);

/// The rules that are words.
const NAMED: [(&str, Adds); 5] = [
    ("fail-fast", |rules| rules.fail_fast = true),
    ("polarity", |rules| rules.polarity = true),
    ("values", |rules| (rules.quantifiers, rules.equalities) = (true, true)),
    ("values=quantifiers", |rules| rules.quantifiers = true),
    ("values=equalities", |rules| rules.equalities = true),
];

impl Rules {
    /// Nothing is left out.
    pub const NONE: Rules =
        Rules { fail_fast: false, polarity: false, quantifiers: false, equalities: false, truncate: None };

    /// `fail-fast,polarity,values,truncate=3`, or `none`.
    pub fn parse(text: &str) -> Result<Rules, String> {
        Self::chain(text).map(|chain| chain.last().copied().unwrap_or(Rules::NONE))
    }

    /// The sets of rules that arise when the rules of a text are added one by one: each classes what the one before it
    /// tells apart, or does so no more. The first leaves nothing out.
    pub fn chain(text: &str) -> Result<Vec<Rules>, String> {
        let mut chain = vec![Rules::NONE];
        let mut rules = Rules::NONE;
        for word in text.split(',').map(str::trim) {
            if word == "none" && text.trim() == "none" {
                break;
            }
            if let Some((_, add)) = NAMED.iter().find(|(name, _)| *name == word) {
                add(&mut rules);
            } else if let Some(depth) = word.strip_prefix("truncate=") {
                match depth.parse::<u32>() {
                    Ok(depth @ 1..) => {
                        rules.truncate = Some(rules.truncate.map_or(depth, |own| own.min(depth)))
                    }
                    _ => {
                        return Err(format!(
                            "`{word}`: found `{depth}`, expected a number of levels, at least 1 (the root alone)"
                        ));
                    }
                }
            } else {
                let names = "fail-fast, polarity, values, truncate=N, or none alone";
                let near = tw_core::suggest(word, NAMED.iter().map(|(name, _)| *name));
                let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                return Err(format!("found `{word}`, expected a rule ({names}){near}"));
            }
            if chain.last() != Some(&rules) {
                chain.push(rules);
            }
        }
        Ok(chain)
    }
}

impl fmt::Display for Rules {
    /// As they are written; `none` if there are none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words: Vec<String> = Vec::new();
        let named = [(self.fail_fast, "fail-fast"), (self.polarity, "polarity")];
        words.extend(named.iter().filter(|(on, _)| *on).map(|(_, name)| name.to_string()));
        match (self.quantifiers, self.equalities) {
            (true, true) => words.push("values".into()),
            (true, false) => words.push("values=quantifiers".into()),
            (false, true) => words.push("values=equalities".into()),
            (false, false) => {}
        }
        words.extend(self.truncate.map(|depth| format!("truncate={depth}")));
        f.write_str(if words.is_empty() { "none".into() } else { words.join(",") }.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_they_are_written() {
        for text in
            ["none", "fail-fast", "polarity", "fail-fast,polarity,values,truncate=3", "values=equalities"]
        {
            assert_eq!(Rules::parse(text).map(|rules| rules.to_string()), Ok(text.to_string()));
        }
        assert_eq!(Rules::parse("fail-fast, polarity"), Ok(Rules::default()));
        assert_eq!(Rules::chain("fail-fast,polarity,truncate=1").map(|chain| chain.len()), Ok(4));
        for (text, said) in [
            ("fail", "found `fail`"),
            ("polarty", "did you mean `polarity`"),
            ("truncate=0", "at least 1"),
            ("truncate=x", "found `x`"),
            ("", "found ``"),
            ("none,polarity", "none alone"),
        ] {
            let error = Rules::parse(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}

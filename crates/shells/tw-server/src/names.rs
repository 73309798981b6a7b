//! Names of streams and specifications: they are names of files, too, so nothing in them leads anywhere else.

/// Longest name.
const LONGEST: usize = 100;

/// Whether a name may be given: letters, digits, `-`, `_` and `.`, not first a `.`.
pub fn check(what: &str, name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > LONGEST || name.starts_with('.') || !name.chars().all(plain) {
        let shown: String = name.chars().take(LONGEST).collect();
        return Err(format!(
            "found {shown:?}, expected the name of a {what}: at most {LONGEST} letters, digits, `-`, `_` or `.`, not \
             first a `.`"
        ));
    }
    Ok(())
}

/// A name that may be given, made of one that may not.
pub fn made_of(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let made: String = name.chars().take(LONGEST / 2).map(|c| if plain(c) { c } else { '_' }).collect();
    match made.starts_with('.') || made.is_empty() {
        true => format!("_{made}"),
        false => made,
    }
}

/// Whether a name is meant by one in which `*` is any part of it. A pattern with one `*` that is taken as a name is covered by it.
pub fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(start) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let end = parts.pop().unwrap_or_default();
    // What stands between is taken as early as it can be.
    for part in parts {
        let Some(at) = name.find(part) else { return false };
        name = &name[at + part.len()..];
    }
    name.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::{check, matches};

    #[test]
    fn no_name_leads_elsewhere() {
        for good in ["web", "Web-2.log", "a_b", "0"] {
            assert!(check("stream", good).is_ok(), "{good}");
        }
        let long = "a".repeat(101);
        for bad in ["", ".", "..", ".hidden", "a/b", "../x", "a\\b", "a b", "ä", "a\0", "a%2fb", &long] {
            assert!(check("stream", bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_star_is_any_part_of_a_name() {
        for (pattern, name, expected) in [
            ("web", "web", true),
            ("web", "web-1", false),
            ("web-*", "web-", true),
            ("*", "web", true),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "abc", true),
            ("a*b*c", "ac", false),
            ("a*b*c", "a1c2b", false),
            ("a*a", "a", false),
            ("*b*b", "bab", true),
            ("*b*b", "b", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}

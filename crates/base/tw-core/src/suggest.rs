//! "Did you mean": the nearest of the names that exist.

/// The candidate nearest to `name`, if it is near enough to be a slip of the pen.
pub fn suggest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted: Vec<char> = name.to_lowercase().chars().collect();
    let (letters, limit) = (letters(name), (name.chars().count() / 3).max(1));
    let mut rows = Rows::default();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        // Of several that are equally near, the first.
        let within = best.map_or(limit + 1, |(distance, _)| distance);
        if within == 0 {
            break;
        }
        let far = letters.zip(self::letters(candidate)).is_some_and(|(a, b)| apart(a, b) >= within);
        if far || candidate == name {
            continue;
        }
        rows.other.clear();
        rows.other.extend(candidate.chars().flat_map(char::to_lowercase));
        let distance = rows.distance(&wanted, limit);
        if distance < within {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Which letters a name has and how many characters, if it is plain: most candidates are told apart by that alone.
fn letters(name: &str) -> Option<(u64, usize)> {
    let seen = |set: u64, byte: u8| set | 1 << (byte.to_ascii_lowercase() & 63);
    name.is_ascii().then(|| (name.bytes().fold(0, seen), name.len()))
}

/// Edits that are needed at least: one brings in one letter at most and takes one away, swapping none.
fn apart((a, long): (u64, usize), (b, short): (u64, usize)) -> usize {
    let missing = (a & !b).count_ones().max((b & !a).count_ones());
    long.abs_diff(short).max(missing as usize)
}

/// What is used again from candidate to candidate.
#[derive(Default)]
struct Rows {
    other: Vec<char>,
    before: Vec<usize>,
    previous: Vec<usize>,
    row: Vec<usize>,
}

impl Rows {
    /// Edit distance to `other`, where swapping two neighbours is one edit; `limit + 1` when larger.
    fn distance(&mut self, a: &[char], limit: usize) -> usize {
        let Self { other: b, before, previous, row } = self;
        if a.len().abs_diff(b.len()) > limit {
            return limit + 1;
        }
        previous.clear();
        previous.extend(0..=b.len());
        before.clear();
        before.resize(b.len() + 1, 0);
        row.clear();
        row.resize(b.len() + 1, 0);
        for i in 1..=a.len() {
            row[0] = i;
            for j in 1..=b.len() {
                let other = usize::from(a[i - 1] != b[j - 1]);
                row[j] = (previous[j - 1] + other).min(previous[j] + 1).min(row[j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    row[j] = row[j].min(before[j - 2] + 1);
                }
            }
            if row.iter().all(|&edits| edits > limit) && previous.iter().all(|&edits| edits > limit) {
                return limit + 1;
            }
            std::mem::swap(before, previous);
            std::mem::swap(previous, row);
        }
        previous[b.len()].min(limit + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        assert_eq!(suggest("qeue", ["level", "queue"]), Some("queue"));
        assert_eq!(suggest("Login", ["logout", "login"]), Some("login"));
        assert_eq!(suggest("temperature", ["pressure"]), None);
        assert_eq!(suggest("a", ["b"]), Some("b"));
        assert_eq!(suggest("ÄRGER", ["arger", "ärger"]), Some("ärger"));
        assert_eq!(suggest("ab", ["ab", "ba", "Ab"]), Some("Ab"));
    }

    /// The definition: the whole table, for every candidate.
    fn by_definition<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
        let limit = (name.chars().count() / 3).max(1);
        let distance = |b: &str| {
            let a: Vec<char> = name.to_lowercase().chars().collect();
            let b: Vec<char> = b.to_lowercase().chars().collect();
            let mut edits = vec![vec![0; b.len() + 1]; a.len() + 1];
            for i in 0..=a.len() {
                for j in 0..=b.len() {
                    edits[i][j] = match (i, j) {
                        (0, _) => j,
                        (_, 0) => i,
                        _ => {
                            let other = usize::from(a[i - 1] != b[j - 1]);
                            let own: usize = (edits[i - 1][j - 1] + other)
                                .min(edits[i - 1][j] + 1)
                                .min(edits[i][j - 1] + 1);
                            let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                            if swapped { own.min(edits[i - 2][j - 2] + 1) } else { own }
                        }
                    };
                }
            }
            edits[a.len()][b.len()]
        };
        let near = candidates.iter().filter(|own| **own != name).map(|own| (distance(own), *own));
        near.filter(|(edits, _)| *edits <= limit).min_by_key(|(edits, _)| *edits).map(|(_, own)| own)
    }

    #[test]
    fn what_is_told_apart_quickly_is_far() {
        let mut state = 1u64;
        let mut dice = |sides: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % sides
        };
        let mut word = || -> String {
            let length = 1 + dice(9);
            (0..length).map(|_| ['a', 'b', 'B', 'c', '_', '1', 'q', 'ä'][dice(8) as usize]).collect()
        };
        for _ in 0..3000 {
            let (name, others): (String, Vec<String>) = (word(), (0..6).map(|_| word()).collect());
            let others: Vec<&str> = others.iter().map(String::as_str).collect();
            assert_eq!(
                suggest(&name, others.iter().copied()),
                by_definition(&name, &others),
                "{name} {others:?}"
            );
        }
    }
}

//! Text in pictures and terminals: how wide it is, cut to fit, escaped.

/// Columns that a text takes in a fixed-width font. Characters of East Asian scripts and pictographs take two.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(column).sum()
}

pub(crate) fn column(c: char) -> usize {
    match c as u32 {
        0x300..=0x36f | 0x200b..=0x200f => 0,
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f => 2,
        0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// The text in at most `most` columns; what does not fit ends in `…`. Line breaks and other control characters become
/// spaces.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let c = if c.is_control() { ' ' } else { c };
        used += column(c);
        if used > most {
            // Room for the ellipsis.
            while !out.is_empty() && columns(&out) + 1 > most {
                out.pop();
            }
            if most > 0 {
                out.push('…');
            }
            return out;
        }
        out.push(c);
    }
    out
}

/// Bytes that all names begin with and that can be left out: up to the last `/` they share, or another separator.
pub(crate) fn shared(names: &[String]) -> usize {
    let Some((first, rest)) = names.split_first().filter(|(_, rest)| !rest.is_empty()) else { return 0 };
    let same = |name: &String| first.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
    let common = rest.iter().map(same).min().unwrap_or(0);
    // A separator is one byte, so that what follows it begins with a whole character.
    let last =
        |separators: &[u8]| first.as_bytes()[..common].iter().rposition(|byte| separators.contains(byte));
    last(b"/").or_else(|| last(b" -_.:")).map_or(0, |index| index + 1)
}

/// A name without the first bytes, which others share.
pub(crate) fn without(name: &str, shared: usize) -> String {
    if shared < 4 { name.to_owned() } else { format!("…{}", &name[shared..]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_text_fits_and_says_so() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdef", 5), "abcd…");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("ab", 1), "…");
        assert_eq!(cut("ab", 0), "");
        assert_eq!(cut("a\nb", 5), "a b");
    }

    #[test]
    fn what_all_names_share_is_left_out() {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let files = names(&["runs/daily/run-01.csv", "runs/daily/run-02.csv"]);
        assert_eq!(without(&files[1], shared(&files)), "…run-02.csv");
        assert_eq!(shared(&names(&["größe a", "größe b"])), "größe ".len());
        assert_eq!(shared(&names(&["é", "è"])), 0, "the same first byte of two characters");
        assert_eq!(shared(&names(&["alone/x"])), 0);
        assert_eq!(shared(&[]), 0);
    }
}

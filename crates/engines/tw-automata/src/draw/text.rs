//! Text in pictures: wrapped to a width, escaped for where it stands.

/// Columns that a text takes in a fixed-width font. Characters of East Asian scripts and pictographs take two.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

fn columns(c: char) -> usize {
    match c as u32 {
        0x300..=0x36f | 0x200b..=0x200f => 0,
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f => 2,
        0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// The text in lines of at most `most` columns, broken at spaces where there are some, and in at most `lines` lines:
/// what does not fit ends in `…`.
pub(super) fn wrap(text: &str, most: usize, lines: usize) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split(' ').filter(|word| !word.is_empty()) {
            if !line.is_empty() && width(&line) + 1 + width(word) > most {
                out.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            for c in word.chars() {
                if width(&line) + columns(c) > most {
                    out.push(std::mem::take(&mut line));
                }
                line.push(c);
            }
            if out.len() > lines {
                break;
            }
        }
        if !line.is_empty() {
            out.push(line);
        }
    }
    if out.len() > lines {
        out.truncate(lines);
        if let Some(last) = out.last_mut() {
            while width(last) >= most {
                last.pop();
            }
            last.push('…');
        }
    }
    out
}

/// For a quoted string of DOT; lines are broken where the text breaks them.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

//! Small pieces of wording. Those that findings need too stand in the library.

use std::time::Duration;

pub use tracewise::findings::words::*;

/// `1.2 ms`, `3.45 s`, `2 min 3 s`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 1e-3 {
        format!("{} µs", time.as_micros())
    } else if seconds < 1.0 {
        format!("{:.1} ms", seconds * 1e3)
    } else if seconds < 60.0 {
        format!("{seconds:.2} s")
    } else {
        format!("{} min {} s", time.as_secs() / 60, time.as_secs() % 60)
    }
}

/// The text in lines of at most `width` characters, broken between words where that is possible.
pub fn wrap(text: &str, width: Option<usize>) -> Vec<String> {
    let Some(width) = width.map(|width| width.max(20)) else { return vec![text.to_string()] };
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            lines.push(String::new());
            used = 0;
        }
        if let Some(line) = lines.last_mut() {
            if used > 0 {
                line.push(' ');
                used += 1;
            }
            line.push_str(word);
            used += length;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let cases = [(12e-6, "12 µs"), (0.0012, "1.2 ms"), (3.456, "3.46 s"), (123.0, "2 min 3 s")];
        for (seconds, text) in cases {
            assert_eq!(duration(Duration::from_secs_f64(seconds)), text);
        }
    }

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrap("a b", None), ["a b"]);
        let lines = wrap("one two three four five six seven", Some(20));
        assert_eq!(lines, ["one two three four", "five six seven"]);
    }
}

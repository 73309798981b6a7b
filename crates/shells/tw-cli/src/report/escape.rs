//! Names and lines of logs as parts of other forms, which they must not break.

/// The text with every control character but line ends and tabs replaced: XML 1.0 has no way to write most of them, not
/// even escaped, and no page shows them.
fn plain(text: &str) -> impl Iterator<Item = char> {
    text.chars().map(|c| match c {
        '\t' | '\n' | '\r' => c,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        // Nor do pages turn their text for one.
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c => c,
    })
}

/// The text with some characters written otherwise.
fn escape(text: &str, otherwise: impl Fn(char) -> Option<&'static str>) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in plain(text) {
        match otherwise(c) {
            Some(written) => escaped.push_str(written),
            None => escaped.push(c),
        }
    }
    escaped
}

fn xml(c: char) -> Option<&'static str> {
    Some(match c {
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        '\r' => "&#13;",
        _ => return None,
    })
}

/// Text between the tags of XML.
pub fn content(text: &str) -> String {
    escape(text, xml)
}

/// A value of XML between double quotes, where white space would be folded.
pub fn attribute(text: &str) -> String {
    escape(text, |c| match c {
        '"' => Some("&quot;"),
        '\n' => Some("&#10;"),
        '\t' => Some("&#9;"),
        c => xml(c),
    })
}

fn workflow(c: char) -> Option<&'static str> {
    Some(match c {
        '%' => "%25",
        '\r' => "%0D",
        '\n' => "%0A",
        _ => return None,
    })
}

/// The message of a workflow command.
pub fn data(text: &str) -> String {
    escape(text, workflow)
}

/// A parameter of a workflow command.
pub fn parameter(text: &str) -> String {
    escape(text, |c| match c {
        ':' => Some("%3A"),
        ',' => Some("%2C"),
        c => workflow(c),
    })
}

/// A path as a relative or `file:` reference.
pub fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte))
            }
            b'\\' if cfg!(windows) => uri.push('/'),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xml_texts() {
        assert_eq!(content("a<b> & \u{1b}[0m\n"), "a&lt;b&gt; &amp; \u{fffd}[0m\n");
        assert_eq!(attribute("\"a\"\n\tb\r"), "&quot;a&quot;&#10;&#9;b&#13;");
    }

    #[test]
    fn workflow_commands() {
        assert_eq!(parameter("a:b,c%\n"), "a%3Ab%2Cc%25%0A");
        assert_eq!(data("a:b,c\r\u{7}"), "a:b,c%0D\u{fffd}");
    }

    #[test]
    fn uris() {
        assert_eq!(uri("logs/a b:1.csv"), "logs/a%20b%3A1.csv");
        assert_eq!(uri("/var/log/x"), "file:///var/log/x");
        assert_eq!(uri("<stdin>\n"), "%3Cstdin%3E%0A");
    }
}

//! Texts for people and clients.

use serde_json::Value;
use tracewise::Error;
use tracewise::error::plain;

/// An error in a sentence.
pub fn error(error: &Error) -> String {
    plain(&error.to_string())
}

/// What is wrong with a specification, a line for each error: `FILE:LINE:COLUMN: MESSAGE`, the place where there is one.
pub fn lines(error: &Error, name: &str) -> Vec<String> {
    let found = error.to_json();
    let wrong = found.iter().filter(|one| one["severity"] == "error");
    let line = |one: &Value| {
        let text = |key: &str| one[key].as_str().map(plain);
        let (message, help) = (text("message").unwrap_or_default(), text("help"));
        let place = match (one["file"].as_str(), &one["line"], &one["column"]) {
            (Some(file), Value::Number(line), Value::Number(column)) => format!("{file}:{line}:{column}"),
            (Some(file), ..) => file.to_string(),
            (None, ..) => name.to_string(),
        };
        let said = format!("{place}: {message}{}", help.map_or(String::new(), |help| format!("; {help}")));
        // A message may quote what stands on several lines.
        said.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    wrong.map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::lines;
    use crate::specs::Spec;

    #[test]
    fn what_is_wrong_is_told_in_lines_with_places() {
        let wrong = Spec::read("web", "property good : G a;\nproperty p : G (a & );\nquery q : maxx[b];\n");
        let told = lines(&wrong.expect_err("it is wrong"), "web");
        assert!(told.len() > 1 && told[0].starts_with("web.tw:2:19: "), "{told:?}");
        assert!(told.iter().all(|line| line.starts_with("web.tw:") && !line.contains('\n')), "{told:?}");
        let other = tracewise::Error::refused("it has too many parts");
        assert_eq!(lines(&other, "web"), ["web: it has too many parts"]);
    }
}

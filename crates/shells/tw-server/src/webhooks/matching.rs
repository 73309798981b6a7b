//! What a violation is known by, and texts that say which are meant: `stream=web-*`, `property!=noise`.

use crate::names::matches;
use crate::verdicts::Told;
use serde_json::Value;

/// Names and values: `stream`, `spec`, `property`, `category`, `severity`, and `bindings.NAME`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels(Vec<(String, String)>);

impl Labels {
    /// Those of a violation.
    pub fn of(told: &Told) -> Self {
        let found: Value = serde_json::from_str(&told.json).unwrap_or_default();
        let mut all = vec![
            ("stream".to_string(), told.stream.to_string()),
            ("property".to_string(), told.property.to_string()),
        ];
        for name in ["spec", "category", "severity"] {
            all.extend(found[name].as_str().map(|value| (name.to_string(), value.to_string())));
        }
        for (name, value) in found["bindings"].as_object().into_iter().flatten() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
            all.push((format!("bindings.{name}"), text));
        }
        Self(all)
    }

    /// The value of a name; nothing, if it has none.
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }
}

/// What a label has to be, or must not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matcher {
    name: String,
    not: bool,
    pattern: String,
}

/// Bytes of a matcher.
const LONGEST: usize = 1000;

impl Matcher {
    /// `NAME=PATTERN` or `NAME!=PATTERN`, with one `*` for any part.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            let shown: String = text.chars().take(100).collect();
            Err(format!("found `{shown}`, expected `NAME=PATTERN` or `NAME!=PATTERN`"))
        };
        let Some((name, pattern)) = text.split_once('=') else { return wrong() };
        let (name, not) = name.strip_suffix('!').map_or((name, false), |name| (name, true));
        let name = name.trim();
        let known = matches!(name, "stream" | "spec" | "property" | "category" | "severity");
        if text.len() > LONGEST || !(known || name.len() > 9 && name.starts_with("bindings.")) {
            return wrong();
        }
        Ok(Self { name: name.to_string(), not, pattern: pattern.trim().to_string() })
    }

    /// Whether labels are as it says.
    pub fn takes(&self, labels: &Labels) -> bool {
        matches(&self.pattern, labels.get(&self.name)) != self.not
    }

    /// The streams that it is about, if it names some.
    pub fn streams(&self) -> Option<&str> {
        (self.name == "stream" && !self.not).then_some(&*self.pattern)
    }

    /// As it is written.
    pub fn text(&self) -> String {
        format!("{}{}={}", self.name, if self.not { "!" } else { "" }, self.pattern)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::{Labels, Matcher};
    use crate::verdicts::Told;

    /// A violation of that number.
    pub fn told(number: u64, stream: &str, property: &str) -> Told {
        let json = format!(
            "{{\"id\":\"{number:032x}\",\"stream\":\"{stream}\",\"spec\":\"s\",\"property\":\"{property}\",\"bindings\":{{\"user\":\"u{number}\"}}}}"
        );
        let (stream, property) = (stream.into(), property.into());
        Told { number: Some(number), kind: "violation", stream, property, json }
    }

    #[test]
    fn labels_are_matched() {
        let labels = Labels::of(&told(7, "web-1", "answered"));
        for (text, expected) in [
            ("stream=web-*", true),
            ("stream=web", false),
            ("property!=answered", false),
            ("property!=other", true),
            ("bindings.user=u7", true),
            ("severity!=error", true),
            ("spec = s", true),
        ] {
            assert_eq!(Matcher::parse(text).expect(text).takes(&labels), expected, "{text}");
        }
        for bad in ["", "stream", "colour=red", "bindings.=x", "!=x"] {
            assert!(Matcher::parse(bad).is_err(), "{bad}");
        }
    }
}

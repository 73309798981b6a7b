//! JSON lines, written field by field: the order of fields is part of the contract, decimals stay exact, and nested
//! values and explanations are walked with a list, not by recursion.

use crate::Value;
use crate::check::{LogLine, Step};
use crate::trace::{Stamp, TimeStyle};

/// An object under construction.
#[derive(Clone, Debug)]
pub struct Object {
    text: String,
}

impl Default for Object {
    fn default() -> Self {
        Self::new()
    }
}

impl Object {
    /// `{`
    pub fn new() -> Self {
        Self { text: "{".into() }
    }

    /// Whether it has no field yet.
    pub(super) fn is_empty(&self) -> bool {
        self.text.len() == 1
    }

    /// What has been written so far, without an end.
    pub(super) fn open(self) -> String {
        self.text
    }

    /// A field.
    pub fn field(self, key: &str, value: impl Into<serde_json::Value>) -> Self {
        match value.into() {
            serde_json::Value::String(text) => {
                let mut object = self.raw(key, "");
                push_string(&mut object.text, &text);
                object
            }
            value => self.raw(key, &value.to_string()),
        }
    }

    /// A field whose value is JSON text already.
    pub fn raw(mut self, key: &str, value: &str) -> Self {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        push_string(&mut self.text, key);
        self.text.push(':');
        self.text.push_str(value);
        self
    }

    /// A field that is an array of JSON texts, of which there may be very many.
    pub fn list(mut self, key: &str, items: impl IntoIterator<Item = String>) -> Self {
        self = self.raw(key, "[");
        for (index, item) in items.into_iter().enumerate() {
            self.text.push_str(if index > 0 { "," } else { "" });
            self.text.push_str(&item);
        }
        self.text.push(']');
        self
    }

    /// A field that is left out when there is nothing to say.
    pub fn maybe(self, key: &str, value: Option<impl Into<serde_json::Value>>) -> Self {
        match value {
            Some(value) => self.field(key, value),
            None => self,
        }
    }

    /// `}`
    pub fn end(mut self) -> String {
        self.text.push('}');
        self.text
    }
}

/// An array of JSON texts.
pub fn array(items: impl IntoIterator<Item = String>) -> String {
    let mut text = String::from("[");
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(&item);
    }
    text.push(']');
    text
}

/// A timestamp: an exact number when the trace counts, text when it writes dates, null when there is none.
pub fn time(stamp: Option<Stamp>) -> String {
    match stamp {
        None => "null".into(),
        Some(stamp) => match stamp.style {
            TimeStyle::Number(_) => stamp.format(),
            TimeStyle::Text => serde_json::Value::from(stamp.format()).to_string(),
        },
    }
}

/// Name–value pairs as an object.
pub fn bindings(pairs: &[(String, Value)]) -> String {
    pairs.iter().fold(Object::new(), |object, (name, value)| object.raw(name, &self::value(value))).end()
}

/// A line of the trace.
pub fn line(line: &LogLine) -> String {
    Object::new().field("file", line.file.as_str()).field("line", line.line).field("text", &*line.text).end()
}

/// A line of the trace whose text was just told.
pub fn same_line(line: &LogLine) -> String {
    Object::new().field("file", line.file.as_str()).field("line", line.line).end()
}

/// A value.
pub fn value(value: &Value) -> String {
    enum Part<'a> {
        Value(&'a Value),
        Key(&'a str),
        Text(&'static str),
    }
    let mut text = String::new();
    let mut stack = vec![Part::Value(value)];
    while let Some(part) = stack.pop() {
        match part {
            Part::Text(piece) => text.push_str(piece),
            Part::Key(key) => push_string(&mut text, key),
            Part::Value(Value::Null) => text.push_str("null"),
            Part::Value(Value::Bool(b)) => text.push_str(if *b { "true" } else { "false" }),
            Part::Value(Value::Int(i)) => text.push_str(&i.to_string()),
            // Finite by construction; a computed NaN has no other spelling in JSON.
            Part::Value(Value::Real(r)) => text.push_str(&serde_json::Value::from(*r).to_string()),
            Part::Value(Value::Str(s)) => push_string(&mut text, s),
            Part::Value(Value::List(items)) => {
                text.push('[');
                stack.push(Part::Text("]"));
                for (index, item) in items.iter().enumerate().rev() {
                    stack.push(Part::Value(item));
                    if index > 0 {
                        stack.push(Part::Text(","));
                    }
                }
            }
            Part::Value(Value::Object(fields)) => {
                text.push('{');
                stack.push(Part::Text("}"));
                for (index, (key, item)) in fields.iter().enumerate().rev() {
                    stack.extend([Part::Value(item), Part::Text(":"), Part::Key(key)]);
                    if index > 0 {
                        stack.push(Part::Text(","));
                    }
                }
            }
        }
    }
    text
}

/// An explanation, as a tree of steps.
pub fn step(root: &Step) -> String {
    enum Part<'a> {
        Step(&'a Step),
        Text(&'static str),
    }
    let mut text = String::new();
    let mut stack = vec![Part::Step(root)];
    while let Some(part) = stack.pop() {
        let step = match part {
            Part::Text(piece) => {
                text.push_str(piece);
                continue;
            }
            Part::Step(step) => step,
        };
        let head = Object::new()
            .field("formula", step.formula.as_str())
            .field("holds", step.holds)
            .field("from", step.from)
            .field("to", step.to)
            .raw("time", &time(step.time))
            .field("reason", step.reason.as_str())
            .raw("values", &bindings(&step.values))
            .raw("line", &step.line.as_ref().map_or("null".into(), line))
            .field("pending_since", step.pending_since)
            .raw("because", "[");
        text.push_str(&head.text);
        stack.push(Part::Text("]}"));
        for (index, child) in step.because.iter().enumerate().rev() {
            stack.push(Part::Step(child));
            if index > 0 {
                stack.push(Part::Text(","));
            }
        }
    }
    text
}

fn push_string(text: &mut String, string: &str) {
    let plain = |byte: &u8| !matches!(byte, 0..0x20 | b'"' | b'\\');
    if string.as_bytes().iter().all(plain) {
        text.extend(["\"", string, "\""]);
        return;
    }
    text.push_str(&serde_json::Value::from(string).to_string());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TimeUnit;

    #[test]
    fn texts_are_those_of_the_library() {
        for character in (0..=0x2ff).chain([0x2028, 0xfeff, 0x1_f600]).filter_map(char::from_u32) {
            let string = format!("a{character}b");
            let mut text = String::new();
            push_string(&mut text, &string);
            assert_eq!(text, serde_json::Value::from(string).to_string());
        }
    }

    #[test]
    fn values_are_json() {
        let object = Value::Object(vec![("a\"b".into(), Value::List(vec![Value::Int(1), Value::Real(2.0)]))]);
        let all = Value::List(vec![Value::Null, Value::Bool(true), Value::text("x\n"), object]);
        assert_eq!(value(&all), r#"[null,true,"x\n",{"a\"b":[1,2.0]}]"#);
        assert_eq!(value(&Value::List(vec![])), "[]");
    }

    #[test]
    fn deep_values_do_not_recurse() {
        let mut deep = Value::Int(1);
        for _ in 0..10_000 {
            deep = Value::List(vec![deep]);
        }
        let text = value(&deep);
        assert_eq!(text.len(), 20_001);
    }

    #[test]
    fn times_are_exact() {
        let number = |time| Some(Stamp { time, style: TimeStyle::Number(TimeUnit::Seconds) });
        assert_eq!(time(number(1_700_000_000_123_456_789)), "1700000000.123456789");
        assert_eq!(time(number(-3_000_000_000)), "-3");
        assert_eq!(time(Some(Stamp { time: 0, style: TimeStyle::Text })), "\"1970-01-01T00:00:00Z\"");
        assert_eq!(time(None), "null");
    }

    #[test]
    fn explanations_are_json() {
        let leaf = Step {
            formula: "ack".into(),
            holds: false,
            from: 1,
            to: 2,
            time: None,
            reason: "said \"no\"".into(),
            values: vec![("ack".into(), Value::Bool(false))],
            line: Some(LogLine { file: "t".into(), line: 3, text: "0".into() }),
            pending_since: Some(1),
            because: vec![],
        };
        let root = Step { formula: "F ack".into(), because: vec![leaf.clone(), leaf.clone()], ..leaf };
        let parsed: serde_json::Value = serde_json::from_str(&step(&root)).unwrap();
        assert_eq!(parsed["because"][1]["values"]["ack"], false);
        assert_eq!(parsed["because"].as_array().unwrap().len(), 2);
        assert_eq!(parsed["pending_since"], 1);
    }
}

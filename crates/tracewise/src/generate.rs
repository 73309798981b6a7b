//! Code for programs that fire events themselves: one function per event of a specification, in Rust or in C.
//!
//! A program then cannot misspell an event or forget an argument: its compiler says so. In Rust from a build script, which needs this
//! crate among its build dependencies:
//!
//! ```no_run
//! # fn main() -> Result<(), tracewise::Error> {
//! let spec = tracewise::Specification::from_file("rules.tw")?;
//! let code = tracewise::generate::rust(&spec)?;
//! std::fs::write(format!("{}/rules.rs", std::env::var("OUT_DIR").unwrap()), code).unwrap();
//! # Ok(())
//! # }
//! ```
//!
//! and `include!(concat!(env!("OUT_DIR"), "/rules.rs"));` where it is used; or once, by `tracewise generate rust rules.tw`.

use crate::{Error, Specification};
use std::fmt::Write;
use tw_ir::monitor::Source;
use tw_ir::{ArgumentKey, What};

/// An event, and its arguments by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fired {
    /// Its name in the trace.
    pub event: String,
    /// Its arguments, in the order in which the specification names them.
    pub arguments: Vec<String>,
    /// The monitors that are about it.
    pub monitors: Vec<String>,
}

/// The events that the monitors of a specification are about, in the order of the text.
pub fn events(spec: &Specification) -> Result<Vec<Fired>, Error> {
    let mut all: Vec<Fired> = Vec::new();
    for monitor in &spec.program.monitors {
        let sources = monitor
            .events
            .iter()
            .map(|event| &event.source)
            .chain(monitor.ends.iter().map(|end| &end.source));
        for source in sources {
            let names = names(spec, source)?;
            let at = all.iter().position(|fired| fired.event == source.name).unwrap_or_else(|| {
                all.push(Fired { event: source.name.clone(), arguments: Vec::new(), monitors: Vec::new() });
                all.len() - 1
            });
            for name in names {
                if !all[at].arguments.contains(&name) {
                    all[at].arguments.push(name);
                }
            }
            if !all[at].monitors.contains(&monitor.name) {
                all[at].monitors.push(monitor.name.clone());
            }
        }
    }
    if all.is_empty() {
        return Err(Error::refused_instead(
            "the specification has no monitor whose events could be functions",
            "properties take positions: `RowMonitor::push` or `event` in docs/library.md",
        ));
    }
    Ok(all)
}

/// What an event's arguments are called: those that are parameters, and those that have to have a value.
fn names(spec: &Specification, source: &Source) -> Result<Vec<String>, Error> {
    let constants = match spec.program.slots.get(source.slot as usize).map(|slot| &slot.what) {
        Some(What::Tuples { constants, .. }) => constants.as_slice(),
        Some(What::Event { arguments, .. }) => arguments.as_slice(),
        _ => &[],
    };
    let keys = source.keys.iter().chain(constants.iter().map(|(key, _)| key));
    keys.map(|key| match key {
        ArgumentKey::Name(name) | ArgumentKey::Declared { name, .. } => Ok(name.clone()),
        ArgumentKey::Index(index) => Err(Error::refused_instead(
            format!("argument {} of `{}` has no name", index + 1, source.name),
            format!("write `{}(name: …)`: a function's arguments have names", source.name),
        )),
    })
    .collect()
}

/// The columns that conditions read beside arguments.
fn columns(spec: &Specification, events: &[Fired]) -> Vec<String> {
    let given = |name: &String| events.iter().any(|fired| fired.arguments.contains(name));
    let slots = spec.program.slots.iter().filter_map(|slot| match &slot.what {
        What::Variable(path, _) | What::Proposition(path) => Some(path.to_string()),
        _ => None,
    });
    slots.filter(|name| !given(name)).collect()
}

/// `getC` as `get_c`; a word that means something where it stands gets a `_`, and what begins with a digit begins with one.
fn snake(name: &str, reserved: &str) -> String {
    let mut made = String::new();
    for c in name.chars() {
        match c {
            'A'..='Z' => {
                if !made.is_empty() && !made.ends_with('_') {
                    made.push('_');
                }
                made.push(c.to_ascii_lowercase());
            }
            'a'..='z' | '0'..='9' => made.push(c),
            _ => made.push('_'),
        }
    }
    if made.starts_with(|c: char| c.is_ascii_digit()) {
        made.insert(0, '_');
    }
    // A lone `_` is no name.
    if made.chars().all(|c| c == '_') {
        made.push_str("_x");
    }
    if reserved.split(' ').any(|own| own == made) {
        made.push('_');
    }
    made
}

/// Its words, and what is there beside the functions of events and their parameters.
const RUST: &str = "abstract as async await become box break const continue crate do dyn else enum extern false final fn for gen \
    if impl in let loop macro match mod move mut override priv pub ref return self static struct super trait true try type typeof \
    unsafe unsized use virtual where while yield new monitor finish more";

/// The same, with what functions hold inside and what tracewise.h declares.
const C: &str = "auto bool break case char const continue default do double else enum extern false float for goto if inline int \
    long nullptr register restrict return short signed sizeof static struct switch true typedef typeof union unsigned void \
    volatile while new text monitor told data more count arguments tracewise tracewise_argument tracewise_event \
    tracewise_monitor tracewise_told";

/// A text inside a comment of Rust or C, which it neither ends nor leaves.
fn comment(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    plain.replace("*/", "* /").replace("/*", "/ *")
}

/// The text of the specification's first source.
fn text(spec: &Specification) -> (&str, &str) {
    let source = spec.sources.get(0);
    (&source.name, &source.text)
}

/// A text between quotes that Rust and C read alike.
fn quoted(text: &str) -> String {
    let mut to = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => to.push_str("\\\""),
            '\\' => to.push_str("\\\\"),
            '\n' => to.push_str("\\n"),
            '\t' => to.push_str("\\t"),
            '\r' => to.push_str("\\r"),
            // Trigraphs of C.
            '?' => to.push_str("\\?"),
            c => to.push(c),
        }
    }
    to.push('"');
    to
}

/// Names for functions, or for the parameters of one: distinct, though two may differ in what a name drops.
fn distinct<'n>(names: impl IntoIterator<Item = &'n String>, reserved: &str) -> Vec<String> {
    let mut made: Vec<String> = Vec::new();
    for name in names {
        let mut own = snake(name, reserved);
        while made.contains(&own) {
            own.push('_');
        }
        made.push(own);
    }
    made
}

fn functions(events: &[Fired], reserved: &str) -> Vec<String> {
    distinct(events.iter().map(|fired| &fired.event), reserved)
}

/// A module in Rust: `Monitors`, with a method per event. It needs the crate `tracewise`.
pub fn rust(spec: &Specification) -> Result<String, Error> {
    let events = events(spec)?;
    let more = columns(spec, &events);
    let (name, source) = text(spec);
    let mut out =
        format!("// Made by `tracewise generate rust` from {}; changes belong there.\n\n", comment(name));
    out.push_str(HEAD);
    let literal = quoted(source).replace("\\?", "?");
    let _ = write!(
        out,
        "    /// The monitors at work.\n    pub fn new() -> Result<Self, tracewise::Error> {{\n        \
         let spec = tracewise::Specification::from_text({}, {literal})?;\n        \
         Ok(Self {{ inner: tracewise::embed::RowMonitor::new(&spec)? }})\n    }}\n",
        quoted(name).replace("\\?", "?")
    );
    for (fired, function) in events.iter().zip(functions(&events, RUST)) {
        let arguments = distinct(&fired.arguments, RUST);
        let parameters: String = arguments.iter().map(|name| format!(", {name}: impl Argument")).collect();
        let list: Vec<String> = fired
            .arguments
            .iter()
            .zip(&arguments)
            .map(|(name, variable)| format!("({}, {variable}.value())", quoted(name)))
            .collect();
        let _ = write!(
            out,
            "\n    /// `{}({})`, which {} {} about. Returns what is reported because of it.\n    #[inline]\n    \
             pub fn {function}(&mut self{parameters}",
            comment(&fired.event),
            comment(&fired.arguments.join(", ")),
            comment(&fired.monitors.join(", ")),
            if fired.monitors.len() == 1 { "is" } else { "are" },
        );
        if more.is_empty() {
            let _ = write!(
                out,
                ") -> Result<&[tracewise::embed::Report], tracewise::Error> {{\n        \
                 self.inner.event({}, &[{}])?;\n        Ok(self.inner.reports())\n    }}\n",
                quoted(&fired.event),
                list.join(", ")
            );
        } else {
            let _ = write!(
                out,
                ", more: &[(&str, tracewise::Value)]) -> Result<&[tracewise::embed::Report], tracewise::Error> {{\n        \
                 // Conditions read {}.\n        let mut all = vec![{}];\n        all.extend_from_slice(more);\n        \
                 self.inner.event({}, &all)?;\n        Ok(self.inner.reports())\n    }}\n",
                comment(&more.join(", ")),
                list.join(", "),
                quoted(&fired.event),
            );
        }
    }
    out.push_str(TAIL);
    Ok(out)
}

const HEAD: &str = "/// What an argument may be.
pub trait Argument {
    /// As the monitors take it.
    fn value(self) -> tracewise::Value;
}
impl Argument for i64 {
    fn value(self) -> tracewise::Value {
        tracewise::Value::Int(self)
    }
}
impl Argument for bool {
    fn value(self) -> tracewise::Value {
        tracewise::Value::Bool(self)
    }
}
impl Argument for &str {
    fn value(self) -> tracewise::Value {
        tracewise::Value::text(self)
    }
}
/// A thing, known by where it is. Its life has to end with an event that the specification names by `end`.
impl<T> Argument for *const T {
    fn value(self) -> tracewise::Value {
        tracewise::Value::Int(self as usize as i64)
    }
}

/// The monitors, and a function per event.
pub struct Monitors {
    inner: tracewise::embed::RowMonitor,
}

#[allow(dead_code, non_snake_case)] // a program need not have every event, and events are called as they are
impl Monitors {
";

const TAIL: &str = "
    /// What is reported if nothing more happens.
    pub fn finish(&self) -> Vec<tracewise::embed::Report> {
        self.inner.last_reports()
    }

    /// What runs them, for saving, restoring and properties beside.
    pub fn monitor(&mut self) -> &mut tracewise::embed::RowMonitor {
        &mut self.inner
    }
}
";

/// A header in C: the specification's text and a function per event. It needs `tracewise.h` and the library behind it.
pub fn c(spec: &Specification) -> Result<String, Error> {
    let events = events(spec)?;
    let more = columns(spec, &events);
    let (name, source) = text(spec);
    let stem = std::path::Path::new(name)
        .file_stem()
        .map_or("rules".into(), |stem| stem.to_string_lossy().into_owned());
    let prefix = snake(&stem, C);
    let guard = format!("{}_MONITORS_H", prefix.to_uppercase());
    let lines: Vec<String> =
        source.split_inclusive('\n').map(|line| format!("    {}", quoted(line))).collect();
    let mut out = format!(
        "/* Made by `tracewise generate c` from {}; changes belong there. */\n#ifndef {guard}\n#define {guard}\n\n#include \"tracewise.h\"\n\n\
         static const char {prefix}_text[] =\n{};\n\n/* The monitors at work; ask tracewise_error whether they are. */\n\
         static inline tracewise_monitor *{prefix}_new(void) {{\n    return tracewise_new({prefix}_text);\n}}\n",
        comment(name),
        lines.join("\n")
    );
    for (fired, function) in events.iter().zip(functions(&events, C)) {
        let arguments = distinct(&fired.arguments, C);
        let parameters: String = arguments.iter().map(|name| format!(", const void *{name}")).collect();
        let list: Vec<String> = fired
            .arguments
            .iter()
            .zip(&arguments)
            .map(|(name, variable)| {
                format!("        {{{}, TRACEWISE_POINTER, {{.pointer = {variable}}}}},\n", quoted(name))
            })
            .collect();
        let _ = write!(
            out,
            "\n/* {}({}): {}. Things are known by their addresses. */\nstatic inline int {prefix}_{function}(tracewise_monitor *monitor{parameters}, \
             tracewise_told told, void *data) {{\n",
            comment(&fired.event),
            comment(&fired.arguments.join(", ")),
            comment(&fired.monitors.join(", ")),
        );
        let event = quoted(&fired.event);
        let _ = match list.as_slice() {
            [] => writeln!(out, "    return tracewise_event(monitor, {event}, NULL, 0, told, data);\n}}"),
            list => writeln!(
                out,
                "    const tracewise_argument arguments[] = {{\n{}    }};\n    return tracewise_event(monitor, {event}, arguments, {}, told, data);\n}}",
                list.concat(),
                list.len()
            ),
        };
    }
    if !more.is_empty() {
        return Err(Error::refused_instead(
            format!(
                "conditions of the specification read {}, which no function in C passes",
                more.join(", ")
            ),
            "make them arguments of the events, or call tracewise_event",
        ));
    }
    out.push_str("\n#endif\n");
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_language() {
        let made = ["getC", "1st", "new", "arguments", "a-b", "a_b", "text_", "%", ""];
        let made: Vec<String> = distinct(&made.map(String::from), C);
        assert_eq!(made, ["get_c", "_1st", "new_", "arguments_", "a_b", "a_b_", "text_", "__x", "_x"]);
    }

    #[test]
    fn a_function_per_event() {
        let text = "monitor Used(m, c) { creation event getC(m, c); event useIt(c) = next(it: c, kind: \"a\"); ere : getC useIt; }";
        let spec = Specification::from_text("rules.tw", text).unwrap();
        let found = events(&spec).unwrap();
        let shown: Vec<String> =
            found.iter().map(|one| format!("{}({})", one.event, one.arguments.join(", "))).collect();
        assert_eq!(shown, ["getC(m, c)", "next(it, kind)"]);
        let code = rust(&spec).unwrap();
        assert!(code.contains("pub fn get_c(&mut self, m: impl Argument, c: impl Argument)"), "{code}");
        assert!(
            c(&spec)
                .unwrap()
                .contains("rules_next(tracewise_monitor *monitor, const void *it, const void *kind")
        );
        let nothing = Specification::from_text("rules.tw", "property p : G !e;").unwrap();
        assert!(rust(&nothing).is_err());
    }
}

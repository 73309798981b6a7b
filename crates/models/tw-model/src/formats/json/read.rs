//! Reads models from JSON, and believes nothing.

mod edges;
mod states;
mod variables;

use super::super::{syntax_error, utf8};
use super::pull::{Pull, Wrong};
use crate::{Merged, Model, ModelError, Place, Record, Seen, Written};

/// Reads a file: its name, for messages, and its text.
pub fn read(file: &str, text: &[u8]) -> Result<Model, ModelError> {
    let text = utf8(file, text)?;
    let mut reader = Reader { pull: Pull::new(text), model: Model::default(), states: 0 };
    reader.file().map_err(|(at, message)| syntax_error(file, text, at, message))?;
    Ok(reader.model)
}

struct Reader<'t> {
    pull: Pull<'t>,
    model: Model,
    states: usize,
}

/// Keys of the whole, in the order in which they may come.
const ORDER: [&str; 9] =
    ["model", "version", "merged", "variables", "specifications", "fairness", "traces", "states", "edges"];

impl Reader<'_> {
    fn file(&mut self) -> Result<(), Wrong> {
        self.pull.sign(b'{')?;
        let (mut first, mut done) = (true, 0);
        while self.pull.more(&mut first, b'}')? {
            let at = self.pull.at;
            let key = self.pull.key()?;
            let Some(place) = ORDER.iter().position(|known| *known == key) else {
                return Err((at, format!("found the key `{key}`, expected one of {}", ORDER.join(", "))));
            };
            // What is left out may be left out; what comes needs what was before.
            let needed = ORDER[done..].iter().zip(done..).find(|(key, at)| {
                *at < place && matches!(**key, "model" | "version" | "variables" | "states")
            });
            if let Some((needed, _)) = needed {
                return Err((at, format!("found `{key}`, expected `{needed}` before it")));
            }
            if place < done {
                let before = ORDER[done - 1];
                return Err((at, format!("found `{key}` after `{before}`, expected it once and before")));
            }
            done = place + 1;
            match ORDER[place] {
                "model" => {
                    if self.pull.string()? != "tracewise" {
                        return Err((at, "found another kind of model, expected \"tracewise\"".to_owned()));
                    }
                }
                "version" => drop(self.pull.count(1, "version 1")?),
                "merged" => self.merged()?,
                "variables" => self.variables()?,
                "specifications" => self.specifications()?,
                "fairness" => {
                    let texts = self.strings()?;
                    self.model.fairness = texts;
                }
                "traces" => {
                    let traces = self.strings()?;
                    if traces.len() > Place::MAX_TRACES {
                        return Err((
                            at,
                            format!("found {} traces, expected at most {}", traces.len(), Place::MAX_TRACES),
                        ));
                    }
                    self.model.record = Some(Record { traces, ..Record::default() });
                }
                "states" => self.states()?,
                _ => self.edges()?,
            }
        }
        if done < ORDER.len() {
            let missing = ORDER[done..]
                .iter()
                .find(|key| matches!(**key, "model" | "version" | "variables" | "states" | "edges"));
            return Err((
                self.pull.at - 1,
                format!("found `}}`, expected `{}` before it", missing.unwrap_or(&"edges")),
            ));
        }
        self.pull.end()
    }

    fn strings(&mut self) -> Result<Vec<String>, Wrong> {
        self.pull.sign(b'[')?;
        let (mut texts, mut first) = (Vec::new(), true);
        while self.pull.more(&mut first, b']')? {
            texts.push(self.pull.string()?.into_owned());
        }
        Ok(texts)
    }

    fn merged(&mut self) -> Result<(), Wrong> {
        self.pull.sign(b'{')?;
        let mut merged = Merged::default();
        let mut first = true;
        while self.pull.more(&mut first, b'}')? {
            let at = self.pull.at;
            match &*self.pull.key()? {
                "keep" => merged.keep = self.pull.string()?.into_owned(),
                "ends" => merged.ends = self.pull.string()?.into_owned(),
                "options" => {
                    self.pull.sign(b'[')?;
                    let mut first = true;
                    while self.pull.more(&mut first, b']')? {
                        let at = self.pull.at;
                        let pair = self.strings()?;
                        let Ok([name, option]) = <[String; 2]>::try_from(pair) else {
                            return Err((
                                at,
                                "found an option that is no pair, expected `[name, value]`".to_owned(),
                            ));
                        };
                        merged.options.push((name, option));
                    }
                }
                key => return Err((at, format!("found the key `{key}`, expected keep, ends or options"))),
            }
        }
        self.model.merged = Some(merged);
        Ok(())
    }

    fn specifications(&mut self) -> Result<(), Wrong> {
        self.pull.sign(b'[')?;
        let mut first = true;
        while self.pull.more(&mut first, b']')? {
            let start = self.pull.at;
            self.pull.sign(b'{')?;
            let (mut linear, mut text, mut line, mut first) = (None, None, 0, true);
            while self.pull.more(&mut first, b'}')? {
                let at = self.pull.at;
                match &*self.pull.key()? {
                    "logic" => {
                        linear = Some(match &*self.pull.string()? {
                            "ltl" => true,
                            "ctl" => false,
                            other => {
                                return Err((at, format!("found the logic `{other}`, expected ltl or ctl")));
                            }
                        });
                    }
                    "text" => text = Some(self.pull.string()?.into_owned()),
                    "line" => line = self.pull.count(u64::MAX, "a line number")?,
                    key => return Err((at, format!("found the key `{key}`, expected logic, text or line"))),
                }
            }
            let (Some(linear), Some(text)) = (linear, text) else {
                return Err((start, "found a specification without logic or text, expected both".to_owned()));
            };
            self.model.specifications.push(Written { linear, text, line });
        }
        Ok(())
    }
}

/// Reads what was seen, field by field.
#[derive(Default)]
struct SeenFields {
    count: Option<u64>,
    traces: Option<u64>,
    first: Option<Place>,
    last: Option<Place>,
}

impl SeenFields {
    /// Takes a field, if it is one of these.
    fn take(
        &mut self,
        key: &str,
        at: usize,
        pull: &mut Pull<'_>,
        record: Option<&Record>,
    ) -> Result<bool, Wrong> {
        let twice = match key {
            "count" => self.count.is_some(),
            "traces" => self.traces.is_some(),
            "first" => self.first.is_some(),
            "last" => self.last.is_some(),
            _ => return Ok(false),
        };
        if twice {
            return Err((at, format!("found the key `{key}` again, expected it once")));
        }
        let Some(record) = record else {
            return Err((
                at,
                format!("found `{key}` in a model without `traces`, expected traces before states"),
            ));
        };
        match key {
            "count" => self.count = Some(pull.count(u64::MAX, "how often it was seen")?),
            "traces" => self.traces = Some(pull.count(u64::from(u32::MAX), "a number of traces")?),
            "first" => self.first = Some(place(pull, record)?),
            _ => self.last = Some(place(pull, record)?),
        }
        Ok(true)
    }

    fn finish(self, at: usize) -> Result<Seen, Wrong> {
        let Self { count, traces, first, last } = self;
        match (count, traces, first, last) {
            (None, None, None, None) => Ok(Seen::default()),
            (Some(count), Some(traces), Some(first), Some(last)) => {
                if traces > count || traces == 0 {
                    return Err((
                        at,
                        format!("found {count} times in {traces} traces, expected no more traces than times"),
                    ));
                }
                if first > last {
                    return Err((at, "found `first` after `last`, expected it before".to_owned()));
                }
                Ok(Seen { count, first, last, traces: traces as u32 })
            }
            _ => Err((at, "found some of count, traces, first and last, expected all or none".to_owned())),
        }
    }
}

fn place(pull: &mut Pull<'_>, record: &Record) -> Result<Place, Wrong> {
    pull.sign(b'{')?;
    let (mut trace, mut line, mut first) = (None, None, true);
    let start = pull.at;
    while pull.more(&mut first, b'}')? {
        let at = pull.at;
        match &*pull.key()? {
            "trace" => {
                let at = pull.at;
                let number = pull.count(u64::from(u32::MAX), "the number of a trace")?;
                if number >= record.traces.len() as u64 {
                    return Err((
                        at,
                        format!("found trace {number}, expected one of {}, from 0", record.traces.len()),
                    ));
                }
                trace = Some(number as u32);
            }
            "line" => line = Some(pull.count(Place::MAX_LINE, "a line number")?),
            key => return Err((at, format!("found the key `{key}`, expected trace or line"))),
        }
    }
    match (trace, line) {
        (Some(trace), Some(line)) => Ok(Place::new(trace, line)),
        _ => Err((start, "found a place without trace or line, expected both".to_owned())),
    }
}

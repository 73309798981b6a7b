//! What the words of the language mean, in words: what editors show beside an operator, and propose while one types.

use std::sync::OnceLock;
use tw_ir::{Form, Temporal};

/// Where a word can stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Before an operand.
    Prefix,
    /// Between two operands.
    Infix,
    /// In place of an operand.
    Operand,
    /// Before the brackets that hold what is collected.
    Aggregate,
    /// Where a declaration begins.
    Declaration,
    /// Where a line of a monitor begins.
    MonitorLine,
    /// As the type of a declaration.
    Type,
    /// Where a line of a `trace` block begins.
    Setting,
    /// Inside another construct, behind what it belongs to.
    Inside,
}

/// A word and what it means.
#[derive(Clone, Debug)]
pub struct Meaning {
    /// The word, letter or sign.
    pub word: &'static str,
    /// Other ways to write the same.
    pub others: Vec<&'static str>,
    /// Where it stands.
    pub place: Place,
    /// How it is written.
    pub form: String,
    /// What it means, in a sentence.
    pub meaning: String,
    /// What an editor writes for it; `$1` and the like are where the cursor goes.
    pub snippet: String,
}

/// A connective or keyword: word, other spellings, where, form, meaning.
type Row = (&'static str, &'static [&'static str], Place, &'static str, &'static str);

const WORDS: &[Row] = &[
    ("!", &["not"], Place::Prefix, "!φ", "φ does not hold"),
    ("&", &["&&", "/\\", "and"], Place::Infix, "φ & ψ", "both hold"),
    ("|", &["||", "\\/", "or"], Place::Infix, "φ | ψ", "at least one of the two holds"),
    ("^", &["++", "xor"], Place::Infix, "φ ^ ψ", "exactly one of the two holds"),
    ("->", &["=>", "implies"], Place::Infix, "φ -> ψ", "if φ holds here, ψ holds here"),
    ("<->", &["iff"], Place::Infix, "φ <-> ψ", "both hold, or neither"),
    ("==", &["="], Place::Infix, "a == b", "equal values; false where one of them is null"),
    ("!=", &[], Place::Infix, "a != b", "different values; false where one of them is null"),
    ("<", &[], Place::Infix, "a < b", "less than; false where one of them is null"),
    ("<=", &[], Place::Infix, "a <= b", "at most; false where one of them is null"),
    (">", &[], Place::Infix, "a > b", "more than; false where one of them is null"),
    (">=", &[], Place::Infix, "a >= b", "at least; false where one of them is null"),
    ("in", &[], Place::Infix, "x in {1..5, 7}", "the value is one of the set"),
    ("matches", &[], Place::Infix, "x matches \"re\"", "the regular expression is found in the text"),
    ("+", &[], Place::Infix, "a + b", "the sum; null where one of them is"),
    ("-", &[], Place::Infix, "a - b", "the difference; null where one of them is"),
    ("*", &[], Place::Infix, "a * b", "the product; null where one of them is"),
    ("/", &[], Place::Infix, "a / b", "the quotient, a real number; null by zero"),
    ("%", &[], Place::Infix, "a % b", "the remainder"),
    ("??", &[], Place::Infix, "ψ ?? c", "the value of ψ, or c where it has none"),
    (":", &[], Place::Infix, "φ : e", "the value e where the formula φ holds, and none elsewhere"),
    (
        "forall",
        &[],
        Place::Prefix,
        "forall x, y. φ",
        "φ holds for all values of x and y; it reaches as far right as it can",
    ),
    (
        "exists",
        &[],
        Place::Prefix,
        "exists x. φ",
        "φ holds for some value of x; it reaches as far right as it can",
    ),
    ("true", &[], Place::Operand, "true", "holds everywhere"),
    ("false", &[], Place::Operand, "false", "holds nowhere"),
    ("null", &[], Place::Operand, "null", "no value"),
    ("first", &[], Place::Operand, "first", "holds at the first position of the trace"),
    ("last", &[], Place::Operand, "last", "holds at the last position of the trace"),
    ("if", &[], Place::Operand, "if c then a else b", "a where c holds, b elsewhere"),
    ("then", &[], Place::Inside, "if c then a else b", "a where c holds, b elsewhere"),
    ("else", &[], Place::Inside, "if c then a else b", "a where c holds, b elsewhere"),
    (
        "while",
        &[],
        Place::Inside,
        "count[ψ while φ]",
        "collects over the stretch from here on during which φ holds",
    ),
    (
        "over",
        &[],
        Place::Inside,
        "count[p over 10s]",
        "collects over the positions up to this one that are at most so long ago",
    ),
    ("by", &[], Place::Inside, "query q : max[x] by user;", "asks once per value of the column"),
    ("every", &[], Place::Inside, "query q : max[x] every 1m;", "asks once per window of this length"),
    ("time", &[], Place::Operand, "time", "the timestamp of the position, a number"),
    (
        "elapsed",
        &[],
        Place::Operand,
        "elapsed",
        "the time since the position before this one; null at the first",
    ),
    ("has", &[], Place::Operand, "has(x)", "holds where x has a value"),
    ("abs", &[], Place::Operand, "abs(a)", "the absolute value"),
    (
        "count",
        &[],
        Place::Aggregate,
        "count[p]",
        "how often p holds over the rest of the trace; with `over L`, up to here",
    ),
    ("sum", &[], Place::Aggregate, "sum[x]", "the sum of the values"),
    ("min", &[], Place::Aggregate, "min[x]", "the least value; `min(a, b)` is the lesser of two terms"),
    ("max", &[], Place::Aggregate, "max[x]", "the greatest value; `max(a, b)` is the greater of two terms"),
    ("avg", &[], Place::Aggregate, "avg[x]", "the mean of the values"),
    ("first", &[], Place::Aggregate, "first[x]", "the first value"),
    ("last", &[], Place::Aggregate, "last[x]", "the last value"),
    ("var", &[], Place::Aggregate, "var[x]", "the variance of the population"),
    ("stddev", &[], Place::Aggregate, "stddev[x]", "the standard deviation of the population"),
    ("median", &[], Place::Aggregate, "median[x]", "the value in the middle, or the mean of the middle two"),
    ("mode", &[], Place::Aggregate, "mode[x]", "the most frequent value"),
    ("distinct", &[], Place::Aggregate, "distinct[x]", "how many different values there are"),
    ("corr", &[], Place::Aggregate, "corr[a, b]", "the correlation of two experiments"),
    (
        "quantile",
        &[],
        Place::Aggregate,
        "quantile(0.95)[x]",
        "the value below which this share of the values lies",
    ),
    (
        "histogram",
        &[],
        Place::Aggregate,
        "histogram(10)[x]",
        "how many values fall into each of so many bins of equal width",
    ),
    ("bool", &[], Place::Type, "bool", "true or false"),
    ("int", &[], Place::Type, "int", "a whole number of 64 bits"),
    ("real", &[], Place::Type, "real", "a number of 64 bits with a fraction"),
    ("string", &[], Place::Type, "string", "a text"),
];

/// Declarations, lines of monitors and settings: word, where, form, meaning, snippet.
const LINES: &[(&str, Place, &str, &str, &str)] = &[
    (
        "property",
        Place::Declaration,
        "property NAME \"text\" : φ;",
        "a formula that has to hold at the first position of every trace",
        "property ${1:name} \"${2:what it asks}\" : ${3:G (request -> F reply)};",
    ),
    (
        "query",
        Place::Declaration,
        "query NAME : ψ;",
        "a value that is computed of every trace",
        "query ${1:name} : ${2:count[p]};",
    ),
    (
        "require",
        Place::Declaration,
        "require NAME \"text\" : ψ < NUMBER;",
        "a bound on the value of a query, checked like a property",
        "require ${1:name} \"${2:what it asks}\" : ${3:quantile(0.99)[ms]} < ${4:500};",
    ),
    (
        "let",
        Place::Declaration,
        "let NAME(parameters) = φ;",
        "a macro: its body stands wherever its name is written",
        "let ${1:name} = ${2:queue > 10};",
    ),
    (
        "event",
        Place::Declaration,
        "event NAME(parameters);",
        "an event of the trace and its arguments, perhaps a template of a text",
        "event ${1:name}(${2:user: string});",
    ),
    (
        "var",
        Place::Declaration,
        "var NAME: TYPE;",
        "the type of a column, checked against the trace",
        "var ${1:name}: ${2|bool,int,real,string|};",
    ),
    (
        "stream",
        Place::Declaration,
        "stream NAME: TYPE = e;",
        "a column that an equation defines",
        "stream ${1:name}: ${2|bool,int,real,string|} = ${3:x[-1|0] + 1};",
    ),
    (
        "observe",
        Place::Declaration,
        "observe NAME, …;",
        "the streams whose values are written; all, where nothing is said",
        "observe ${1:name};",
    ),
    (
        "trigger",
        Place::Declaration,
        "trigger NAME \"text\" : φ;",
        "every position where φ holds is reported",
        "trigger ${1:name} \"${2:what happened}\" : ${3:x > 10};",
    ),
    (
        "monitor",
        Place::Declaration,
        "monitor NAME(parameters) \"text\" error { … }",
        "a small automaton or formula per combination of values that events name",
        "monitor ${1:Name}(${2:x}) \"${3:what went wrong}\" error {\n  creation event ${4:open}(${2:x});\n  event ${5:close}(${2:x});\n  ltl : ${4:open} -> F ${5:close};\n}",
    ),
    (
        "chart",
        Place::Declaration,
        "chart NAME necessary { pre { … } main { … } }",
        "a sequence chart: messages between lifelines, and what has to follow them",
        "chart ${1:Name} ${2|necessary,sufficient,iff|} {\n  pre { ${3:A} -> ${4:B} : ${5:request}; }\n  main { ${4:B} -> ${3:A} : ${6:reply}; }\n}",
    ),
    (
        "after",
        Place::Declaration,
        "after A.main : B.main;",
        "charts that may only come after another",
        "after ${1:First}.main : ${2:Second}.main;",
    ),
    (
        "trace",
        Place::Declaration,
        "trace { time: NAME; sample: \"FILE\"; }",
        "how traces are read: settings for the commands",
        "trace {\n  sample: \"${1:trace.jsonl}\";\n}",
    ),
    (
        "creation",
        Place::MonitorLine,
        "creation event NAME(parameters);",
        "an event with which the trace of a binding begins",
        "creation event ${1:open}(${2:x});",
    ),
    (
        "event",
        Place::MonitorLine,
        "event NAME(parameters) = source(…) when φ;",
        "an event that the monitor looks at",
        "event ${1:use}(${2:x});",
    ),
    (
        "end",
        Place::MonitorLine,
        "end NAME(parameters);",
        "an event after which a value is dead",
        "end ${1:free}(${2:x});",
    ),
    (
        "where",
        Place::MonitorLine,
        "where φ;",
        "what the values of the parameters have to fulfil",
        "where ${1:x != y};",
    ),
    (
        "ere",
        Place::MonitorLine,
        "ere : open use* close;",
        "a regular expression over the events",
        "ere : ${1:open use* close};",
    ),
    (
        "fsm",
        Place::MonitorLine,
        "fsm : s0 [ open -> s1 ] s1 [ close -> s0 ];",
        "an automaton over the events",
        "fsm : ${1:closed} [ ${2:open} -> ${3:opened} ] ${3:opened} [ ${4:close} -> ${1:closed} ];",
    ),
    ("ltl", Place::MonitorLine, "ltl : φ;", "a formula over the events", "ltl : ${1:open -> F close};"),
    (
        "on",
        Place::MonitorLine,
        "on match \"text\";",
        "what is reported, and in which words",
        "on ${1:match} \"${2:text}\";",
    ),
    ("time", Place::Setting, "time: NAME;", "the column of timestamps", "time: ${1:time};"),
    ("event", Place::Setting, "event: NAME;", "the column of event names", "event: ${1:event};"),
    ("by", Place::Setting, "by: PATH;", "the column whose values divide the trace", "by: ${1:user};"),
    ("format", Place::Setting, "format: NAME;", "the format of the trace", "format: ${1:jsonl};"),
    (
        "time-unit",
        Place::Setting,
        "time-unit: ms;",
        "the unit of timestamps that are numbers",
        "time-unit: ${1|ns,us,ms,s,m,h,d|};",
    ),
    (
        "sample",
        Place::Setting,
        "sample: \"FILE\";",
        "a trace as an example, relative to this file: commands and editors look at it",
        "sample: \"${1:trace.jsonl}\";",
    ),
    (
        "stream",
        Place::Setting,
        "stream: \"NAMES\";",
        "the streams of a server that this is about: names, `web-*` for all that begin so; without it, every stream",
        "stream: \"${1:web}\";",
    ),
];

/// Every word of the language with its meaning.
pub fn meanings() -> &'static [Meaning] {
    static ALL: OnceLock<Vec<Meaning>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all: Vec<Meaning> = Temporal::all().map(temporal).collect();
        all.extend(WORDS.iter().map(|(word, others, place, form, meaning)| Meaning {
            word,
            others: others.to_vec(),
            place: *place,
            form: (*form).to_owned(),
            meaning: (*meaning).to_owned(),
            snippet: match place {
                Place::Aggregate => form.replace('[', "[${1:").replace(']', "}]"),
                _ if *word == "if" => "if ${1:c} then ${2:a} else ${3:b}".to_owned(),
                _ if *word == "has" || *word == "abs" => format!("{word}(${{1:x}})"),
                _ if *word == "forall" || *word == "exists" => format!("{word} ${{1:x}}. "),
                _ => (*word).to_owned(),
            },
        }));
        all.extend(LINES.iter().map(|(word, place, form, meaning, snippet)| Meaning {
            word,
            others: Vec::new(),
            place: *place,
            form: (*form).to_owned(),
            meaning: (*meaning).to_owned(),
            snippet: (*snippet).to_owned(),
        }));
        all
    })
}

/// The meaning of what is written so, where an operand is awaited or not.
pub fn meaning(text: &str, places: &[Place]) -> Option<&'static Meaning> {
    let written = |meaning: &&Meaning| meaning.word == text || meaning.others.contains(&text);
    let of = |place: &Place| meanings().iter().filter(written).find(|meaning| meaning.place == *place);
    places.iter().find_map(of)
}

/// An operator by its properties.
fn temporal(operator: Temporal) -> Meaning {
    let row = operator.row();
    let (here, edge) = if row.past { ("up to here", "the beginning") } else { ("from here on", "the end") };
    let (after, next) = if row.past { ("after", "previous") } else { ("before", "next") };
    let (form, meaning) = match (row.form, row.prefix, row.weak) {
        (Form::Step, _, false) => ("φ", format!("there is a {next} position, and φ holds there")),
        (Form::Step, _, true) => ("φ", format!("if there is a {next} position, φ holds there")),
        (Form::Until, true, _) => ("φ", format!("φ holds at some position {here}, this one included")),
        (Form::Release, true, _) => ("φ", format!("φ holds at every position {here}, this one included")),
        (Form::Until, false, weak) => {
            let open =
                if weak { format!(", or φ holds at all of them up to {edge}") } else { String::new() };
            ("", format!("ψ holds at some position {here}, and φ at every one {after} it{open}"))
        }
        (Form::Release, false, weak) => {
            let open = match weak {
                true => format!("; where φ never does, up to {edge}"),
                false => "; and φ does hold at one".to_owned(),
            };
            ("", format!("ψ holds at every position {here}, up to and with the first at which φ holds{open}"))
        }
    };
    let letter = row.letter;
    let mut others: Vec<&'static str> = Some(row.word).filter(|word| !word.is_empty()).into_iter().collect();
    match operator {
        Temporal::Globally => others.push("[]"),
        Temporal::Finally => others.push("<>"),
        _ => {}
    }
    Meaning {
        word: letter,
        others,
        place: if row.prefix { Place::Prefix } else { Place::Infix },
        form: if row.prefix { format!("{letter} {form}") } else { format!("φ {letter} ψ") },
        meaning: format!(
            "{}: {meaning}. With an interval, `{letter}[0,5s]`, only positions at such a distance in time count.",
            row.name
        ),
        snippet: letter.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tw_spec::{WordKind, words};

    #[test]
    fn every_word_of_the_language_has_a_meaning() {
        let places = [Place::Prefix, Place::Infix, Place::Operand, Place::Aggregate, Place::Inside];
        for operator in Temporal::all() {
            let row = operator.row();
            for word in [row.letter, row.word].into_iter().filter(|word| !word.is_empty()) {
                assert!(meaning(word, &places).is_some(), "{word}");
            }
        }
        for (name, _) in tw_ir::Aggregate::PLAIN {
            assert!(meaning(name, &[Place::Aggregate]).is_some(), "{name}");
        }
        for name in tw_spec::ast::settings::TraceSettings::NAMES {
            assert!(meaning(name, &[Place::Setting]).is_some(), "{name}");
        }
        for (name, _) in tw_spec::ast::Type::ALL {
            assert!(meaning(name, &[Place::Type]).is_some(), "{name}");
        }
    }

    #[test]
    fn forms_are_of_the_language() {
        for meaning in meanings() {
            let form = meaning.form.replace(['φ', 'ψ'], "p");
            for word in words(&form, false) {
                let written = &form[word.span.start as usize..word.span.end as usize];
                assert!(word.kind != WordKind::Unknown || written == "…", "{form}: {written}");
            }
        }
        // What may stand where an operand is awaited is one with what is filled in.
        for meaning in meanings().iter().filter(|m| matches!(m.place, Place::Prefix | Place::Infix)) {
            let text = match meaning.place {
                Place::Prefix if matches!(meaning.word, "forall" | "exists") => continue,
                Place::Prefix => format!("{} p", meaning.word),
                _ if matches!(meaning.word, "in" | "matches" | "??" | ":") => continue,
                _ if "+-*/%".contains(meaning.word) => format!("(p {} q) > 1", meaning.word),
                _ => format!("p {} q", meaning.word),
            };
            for other in std::iter::once(&meaning.word).chain(&meaning.others) {
                let text = text.replacen(meaning.word, other, 1);
                assert!(!tw_spec::parse_formula(&text, 0).has_errors(), "{text}");
            }
        }
    }
}

//! The matcher against the definition, and the columns of templates on every way of reading.

use super::matcher::Matcher;
use crate::{
    Arrival, Input, Live, Projection, ReadOptions, Receiver, Row, SlotBuilder, TraceError, Vocabulary,
};
use std::ops::ControlFlow;
use tw_core::{Batch, Value};
use tw_ir::{ArgumentKey, Expect, Path, Piece, Slot, Take, Template, TextEvent, What};
use tw_testkit::Rng;

/// What each placeholder takes (by characters, as the definition says it), or `None` where the text lacks the template.
fn naive(template: &Template, text: &str) -> Option<Vec<String>> {
    let text: Vec<char> = text.chars().collect();
    let pieces = &template.pieces;
    let begins_run = |at: usize| !text[at].is_whitespace() && (at == 0 || text[at - 1].is_whitespace());
    (0..=text.len()).find_map(|start| {
        let fits = match &pieces[0] {
            Piece::Literal(_) => true,
            Piece::Placeholder { take: Take::Run, .. } => start < text.len() && begins_run(start),
            Piece::Placeholder { take: Take::Words | Take::Rest, .. } => start == 0,
            Piece::Placeholder { take, .. } => number_begins(&text, start, *take),
        };
        let mut taken = Vec::new();
        (fits && rest(pieces, &text, start, &mut taken)).then_some(taken)
    })
}

fn number_begins(text: &[char], at: usize, take: Take) -> bool {
    let is = |at: Option<usize>, chars: &str| {
        at.is_some_and(|at| text.get(at).is_some_and(|&c| chars.contains(c)))
    };
    let digits = "0123456789";
    let before = |by: usize| at.checked_sub(by);
    if is(Some(at), "+-") {
        return is(Some(at + 1), digits)
            || take == Take::Real && is(Some(at + 1), ".") && is(Some(at + 2), digits);
    }
    if is(before(1), "+-") || is(before(1), digits) {
        return false;
    }
    match take {
        Take::Int => is(Some(at), digits),
        _ if is(before(1), ".") && is(before(2), digits) => false,
        _ => is(Some(at), digits) || is(Some(at), ".") && is(Some(at + 1), digits),
    }
}

/// Every end of a placeholder is tried, the nearest first.
fn rest(pieces: &[Piece], text: &[char], at: usize, taken: &mut Vec<String>) -> bool {
    let Some((piece, later)) = pieces.split_first() else { return true };
    match piece {
        Piece::Literal(literal) => {
            let literal: Vec<char> = literal.chars().collect();
            text[at..].starts_with(&literal) && rest(later, text, at + literal.len(), taken)
        }
        Piece::Placeholder { take, .. } => {
            let last = later.is_empty();
            let ends: Vec<usize> = match take {
                Take::Rest => vec![text.len()],
                Take::Int | Take::Real => {
                    let whole: String = text[at..].iter().collect();
                    let pattern = if *take == Take::Int {
                        r"^[+-]?[0-9]+"
                    } else {
                        r"^[+-]?([0-9]+(\.[0-9]+)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
                    };
                    let found = regex::Regex::new(pattern).unwrap().find(&whole).map(|own| own.as_str());
                    let fits = |own: &&str| match take {
                        Take::Int => own.parse::<i64>().is_ok(),
                        _ => own.parse::<f64>().is_ok_and(f64::is_finite),
                    };
                    found.filter(fits).map(|own| at + own.len()).into_iter().collect()
                }
                Take::Words if last => vec![text.len()],
                Take::Words => (at + 1..=text.len()).collect(),
                Take::Run => {
                    let run = text[at..].iter().take_while(|c| !c.is_whitespace()).count();
                    if last { vec![at + run] } else { (at + 1..=at + run).collect() }
                }
            };
            ends.into_iter().any(|end| {
                let empty = end == at && *take != Take::Rest;
                taken.push(text[at..end].iter().collect());
                let found = !empty && rest(later, text, end, taken);
                if !found {
                    taken.pop();
                }
                found
            })
        }
    }
}

/// By the matcher: of each template and text, what the placeholders take.
fn matched(templates: &[Template], texts: &[String]) -> Vec<Vec<Option<Vec<String>>>> {
    let matcher = Matcher::new(templates.iter());
    let mut ends = Vec::new();
    let whole = texts.iter().fold(String::new(), |mut whole, text| {
        whole.push_str(text);
        ends.push(whole.len() as u32);
        whole
    });
    let hits = matcher.run(whole.as_bytes(), &ends);
    templates
        .iter()
        .zip(&hits)
        .map(|(template, hits)| {
            let mut found = vec![None; texts.len()];
            for (hit, &line) in hits.lines.iter().enumerate() {
                let text = &texts[line as usize];
                let pieces =
                    template.placeholders().map(|(piece, ..)| text[hits.span(hit, piece)].to_owned());
                assert!(found[line as usize].replace(pieces.collect()).is_none(), "twice on one line");
            }
            assert!(hits.lines.is_sorted());
            found
        })
        .collect()
}

fn random_template(rng: &mut Rng) -> Template {
    const LITERALS: [&str; 22] = [
        " ", "a", "ab", "aba", "b ", " a", "é", "=", ": ", "-", ".", "1", "ab ab", "aab", "\u{a0}", "e",
        "x=", "/", "aa", "b", " ab ", "日本",
    ];
    const TAKES: [Take; 8] =
        [Take::Run, Take::Run, Take::Run, Take::Int, Take::Real, Take::Words, Take::Words, Take::Rest];
    let mut pieces = Vec::new();
    let mut literal = rng.below(2) == 0;
    for number in 0..1 + rng.below(7) {
        if literal {
            let text: String = (0..1 + rng.below(2)).map(|_| LITERALS[rng.below(LITERALS.len())]).collect();
            pieces.push(Piece::Literal(text));
        } else {
            let take = TAKES[rng.below(TAKES.len())];
            let name = (rng.below(5) > 0).then(|| format!("x{number}"));
            pieces.push(Piece::Placeholder { name, take, at: 0..0 });
            if take == Take::Rest {
                break;
            }
        }
        literal = !literal;
    }
    Template { pieces }
}

fn random_text(rng: &mut Rng, template: &Template) -> String {
    const PARTS: [&str; 24] = [
        " ",
        "a",
        "b",
        "ab",
        "é",
        "=",
        ":",
        "-",
        ".",
        "1",
        "27",
        "-3",
        "1.5",
        "e",
        "\u{a0}",
        "\u{3000}",
        "x",
        "/",
        "aab",
        "9999999999999999999",
        "1e999",
        "日",
        "aba ",
        "\n",
    ];
    let noise = |rng: &mut Rng, most: usize| -> String {
        (0..rng.below(most + 1)).map(|_| PARTS[rng.below(PARTS.len())]).collect()
    };
    let mut text = noise(rng, 4);
    // Half of them are made from the template, so that many match.
    if rng.below(2) == 0 {
        for piece in &template.pieces {
            match piece {
                Piece::Literal(literal) => text.push_str(literal),
                Piece::Placeholder { take: Take::Int, .. } => text.push_str(["7", "-12", "+3"][rng.below(3)]),
                Piece::Placeholder { take: Take::Real, .. } => {
                    text.push_str(["7", "-1.2", ".5e3"][rng.below(3)])
                }
                Piece::Placeholder { .. } => text.push_str(&noise(rng, 3)),
            }
        }
    }
    text + &noise(rng, 3)
}

#[test]
fn all_templates_together_are_each_as_defined() {
    let cases = tw_testkit::cases(60_000) as usize;
    let mut rng = Rng::new(18);
    let (mut compared, mut found) = (0, 0);
    while compared < cases {
        let templates: Vec<Template> = (0..1 + rng.below(6)).map(|_| random_template(&mut rng)).collect();
        let texts: Vec<String> = (0..1 + rng.below(8))
            .map(|_| {
                let like = &templates[rng.below(templates.len())];
                random_text(&mut rng, like)
            })
            .collect();
        let all = matched(&templates, &texts);
        for (template, found_here) in templates.iter().zip(&all) {
            for (text, own) in texts.iter().zip(found_here) {
                // An empty text is null.
                let expected = if text.is_empty() { None } else { naive(template, text) };
                assert_eq!(*own, expected, "{template:?}\n{text:?}");
                compared += 1;
                found += usize::from(own.is_some());
            }
        }
    }
    assert!(found * 10 > compared, "{found} of {compared} match");
}

#[test]
fn long_texts_cost_little() {
    // Exponential for a matcher that tries every end of every placeholder.
    let text: String = "a-".repeat(20_000) + " b";
    let template = Template::parse("{a}-{b}-{c}-{d}-{e:words}-{f:words} c").unwrap();
    assert_eq!(matched(&[template], std::slice::from_ref(&text)), [[None]]);
    let template = Template::parse("a{a:words}a{b:words}a{c:words} c").unwrap();
    assert_eq!(matched(&[template], &[text]), [[None]]);
}

#[test]
fn a_hundred_templates_are_found_in_several_passes() {
    let templates: Vec<Template> = (0..150)
        .map(|n| Template::parse(&format!("event {n:03} of {{user}} at {{at:int}}")).unwrap())
        .collect();
    let texts: Vec<String> = (0..300).map(|n| format!("x event {:03} of u{n} at {n}", n % 150)).collect();
    let all = matched(&templates, &texts);
    for (number, found) in all.iter().enumerate() {
        for (line, own) in found.iter().enumerate() {
            let expected = (line % 150 == number).then(|| vec![format!("u{line}"), line.to_string()]);
            assert_eq!(*own, expected);
        }
    }
}

/// Slots of every kind, of templates in two texts, with a column of the trace between them.
fn projection() -> Projection {
    let event = |name: &str, source: &str, text: &str| TextEvent {
        name: name.into(),
        source: Path::field(source),
        template: Template::parse(text).unwrap(),
        span: Default::default(),
    };
    let argument = |index: usize, name: &str| ArgumentKey::Declared { index, name: name.into(), of: 2 };
    let tuples = |name: &str, constants: Vec<(ArgumentKey, Value)>, arguments: Vec<ArgumentKey>| {
        What::Tuples { name: name.into(), constants, arity: None, arguments }
    };
    let happens = |name: &str, arguments| What::Event { name: name.into(), arguments, arity: None };
    let slots = [
        happens("a", vec![]),
        What::Variable(Path::field("n"), Expect::Number),
        happens("a", vec![(argument(1, "y"), Value::Int(2))]),
        tuples("a", vec![], vec![argument(1, "y"), argument(0, "x")]),
        tuples("b", vec![(argument(0, "x"), Value::text("u1"))], vec![argument(1, "z")]),
        What::Variable(Path::field("x"), Expect::Text),
        What::Variable(Path::field("y"), Expect::Int),
        happens("c", vec![]),
    ];
    let slot = |what: &What| Slot { what: what.clone(), declared: true, span: Default::default() };
    let slots: Vec<Slot> = slots.iter().map(slot).collect();
    let mut projection = Projection::new(&slots, Some("x"), true);
    projection.templates = [
        event("a", "text", "user {x} took {y:int}"),
        event("b", "other", "{x} in {z:real} s"),
        event("c", "text", "nobody"),
        event("d", "text", "took {x} and"),
    ]
    .into();
    projection
}

/// Positions as values, one row each.
fn shown(batch: &Batch) -> Vec<String> {
    let row = |at: usize| {
        let values = batch.slots.iter().map(|column| column.value(at).to_string());
        values.collect::<Vec<_>>().join(" | ")
    };
    (0..batch.len).map(row).collect()
}

#[derive(Default)]
struct Collect(Vec<String>);

impl Receiver for Collect {
    type Mapped = Batch;
    type Error = TraceError;

    fn map(&mut self, batch: Batch) -> Result<Batch, (usize, TraceError)> {
        Ok(batch)
    }

    fn take(&mut self, batch: Batch, _: &Arrival<'_>) -> Result<(), TraceError> {
        self.0.extend(shown(&batch));
        Ok(())
    }
}

#[test]
fn every_way_of_reading_fills_the_slots_alike() {
    let mut rng = Rng::new(5);
    let mut texts = (String::from("time,n,text,other\n"), String::new());
    for time in 0..400 {
        let text = match rng.below(5) {
            0 => format!("user u{} took {} and more", rng.below(3), rng.below(4)),
            1 => format!("user u{} took {}", rng.below(3), rng.below(4)),
            2 => "he took it and went".to_owned(),
            3 => "nothing of it".to_owned(),
            _ => String::new(),
        };
        let other = match rng.below(3) {
            0 => format!("done u{} in {}.5 s", rng.below(3), rng.below(4)),
            1 => format!("u{} in 0 s", rng.below(3)),
            _ => "ü in x s".to_owned(),
        };
        texts.0 += &format!("{time},{},{text},{other}\n", rng.below(9));
        let text = if text.is_empty() { "null".to_owned() } else { format!("\"{text}\"") };
        texts.1 +=
            &format!("{{\"time\": {time}, \"n\": {}, \"text\": {text}, \"other\": \"{other}\"}}\n", time % 9);
    }
    let projection = projection();
    for (name, text) in [("csv", &texts.0), ("jsonl", &texts.1)] {
        let format = *crate::FORMATS.iter().find(|format| format.card().name == name).unwrap();
        let input = || Input::from_bytes("t", text.as_bytes());
        let mut expected = Vec::new();
        let mut vocabulary = Vocabulary::new(projection.slots.len());
        crate::read_rows(&input(), format, &ReadOptions::default(), &mut |row: &Row| {
            let mut builder = SlotBuilder::new(&projection);
            builder.push(row, &mut vocabulary)?;
            expected.extend(shown(&builder.finish(true)));
            Ok(true)
        })
        .unwrap();
        assert!(expected.iter().any(|row| row.starts_with("true | ")), "{expected:?}");
        for block in [64, 1000, 1 << 20] {
            let options = ReadOptions { block, threads: 2, ..ReadOptions::default() };
            let mut found = Vec::new();
            let summary = crate::scan(&input(), format, &projection, &options, &Ok, &mut |batch: Batch| {
                found.extend(shown(&batch));
                Ok(ControlFlow::Continue(()))
            })
            .unwrap();
            assert_eq!(found, expected, "{name}, blocks of {block}");
            let warnings: Vec<String> = summary.warnings.iter().map(|own| own.message.clone()).collect();
            assert_eq!(warnings.len(), 2, "{warnings:?}");
            assert!(warnings[0].contains("the template of `c`"), "{warnings:?}");
            assert!(warnings[1].contains("`x` different values"), "{warnings:?}");
        }
        for size in [7, 300, 1 << 20] {
            let new = || Live::new("t", format, &projection, &ReadOptions::default());
            let (mut live, mut collect, mut at) = (new(), Collect::default(), 0);
            while at < text.len() {
                let end = text.len().min(at + size);
                live.push(&text.as_bytes()[at..end], false, &mut collect).unwrap();
                at = end;
            }
            live.push(b"", true, &mut collect).unwrap();
            assert_eq!(collect.0, expected, "{name}, live by {size}");
            assert_eq!(live.judge().unwrap().len(), 2);
            // What matched before a checkpoint is known after it.
            let (mut saved, mut next) = (Vec::new(), new());
            live.save(&mut saved);
            next.restore(&mut saved.as_slice()).unwrap();
            let told = next.judge().unwrap();
            assert!(told.iter().all(|own| !own.message.contains("`a`")), "{told:?}");
        }
    }
}

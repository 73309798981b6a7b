//! The matcher against the definition, and the columns of templates on every way of reading.

use super::matcher::Matcher;
use tw_ir::{Piece, Take, Template};
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
    assert_eq!(matched(&[template], &[text.clone()]), [[None]]);
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

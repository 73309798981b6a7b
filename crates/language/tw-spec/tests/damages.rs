//! A specification that is being written is wrong most of the time, in one place. Specifications of this repository are
//! damaged in one place, at random: all that stands elsewhere is understood as before, and few words are made of it.

use std::path::{Path, PathBuf};
use tw_spec::ast::{Declaration, DeclarationKind, Tree};
use tw_spec::{Word, WordKind, parse, parse_charts, print, words};
use tw_testkit::Rng;
use tw_testkit::conformance::cases;

/// Errors that one damage may give: a bracket too many makes a path of a call, and all its commas stray. Most give one.
const MOST: usize = 4;

fn specifications(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if path.is_dir() && !name.starts_with('.') && !matches!(&*name, "target" | "node_modules" | "data") {
            specifications(&path, found);
        } else if name.ends_with(".tw") || name.ends_with(".elsc") {
            found.push(path);
        }
    }
}

fn read(path: &Path, text: &str) -> tw_diag::Checked<Tree> {
    if path.extension().is_some_and(|end| end == "elsc") { parse_charts(text, 0) } else { parse(text, 0) }
}

/// A declaration as it is printed alone.
fn shown(tree: &Tree, declaration: &Declaration) -> String {
    let mut own = declaration.clone();
    own.comments.clear();
    own.trailing = None;
    print(&Tree { exprs: tree.exprs.clone(), declarations: vec![own], trailing_comments: Vec::new() })
}

/// A damage: the bytes that go, and what comes in their place.
struct Damage {
    at: std::ops::Range<usize>,
    new: String,
    what: &'static str,
}

fn damage(dice: &mut Rng, text: &str, words: &[Word], tree: &Tree) -> Option<Damage> {
    let slice = |word: &Word| &text[word.span.start as usize..word.span.end as usize];
    let of =
        |wanted: &dyn Fn(&Word) -> bool| -> Vec<&Word> { words.iter().filter(|own| wanted(own)).collect() };
    let live = |own: &Word| own.kind != WordKind::Comment;
    let one = |dice: &mut Rng, list: Vec<&Word>, what| {
        let word = list.get(dice.below(list.len().max(1)))?;
        Some(Damage { at: word.span.start as usize..word.span.end as usize, new: String::new(), what })
    };
    match dice.below(8) {
        0 => one(dice, of(&|own| matches!(slice(own), ")" | "]" | "}")), "a bracket is not closed"),
        1 => one(dice, of(&|own| matches!(slice(own), "(" | "[")), "a bracket is not opened"),
        2 => one(dice, of(&|own| slice(own) == ";"), "a semicolon is missing"),
        3 => one(dice, of(&live), "a word is missing"),
        4 => {
            let mut half = one(dice, of(&|own| live(own) && own.kind != WordKind::Text), "half a word")?;
            let whole = &text[half.at.clone()];
            let keep = dice.below(whole.chars().count().max(1));
            half.at.start += whole.char_indices().nth(keep).map_or(0, |(at, _)| at);
            Some(half)
        }
        5 => {
            let mut quote = one(dice, of(&|own| own.kind == WordKind::Text), "a quote is missing")?;
            match dice.below(2) {
                0 => quote.at.end = quote.at.start + 1,
                _ => quote.at.start = quote.at.end - 1,
            }
            Some(quote)
        }
        6 => {
            let mut stray = one(dice, of(&live), "a sign too many")?;
            stray.at.end = stray.at.start;
            stray.new = format!("{} ", dice.pick(&["(", ")", "[", "]", ",", ":", "&", "->", "!", ".", "|"]));
            Some(stray)
        }
        _ => {
            // What is being written, before the rest.
            let begun = dice.pick(&[
                "prop",
                "property",
                "property new",
                "property new \"of which",
                "property new : ",
                "property new : G (a -> ",
                "let",
                "let new",
                "let new(x",
                "let new(x) = ",
                "let new = (a & ",
                "var new",
                "var new: in",
                "query new : count[",
                "stream new: bool = if a then ",
                "monitor New(x",
                "monitor New(x) \"what\" error",
                "trigger new : ",
                "require new : count[a] <",
            ]);
            let next = tree.declarations.get(dice.below(tree.declarations.len()))?;
            // `event e(x)` may be what is still missing.
            if matches!(next.kind, DeclarationKind::Event { .. }) {
                return None;
            }
            let at = next.span.start as usize;
            Some(Damage { at: at..at, new: format!("{begun}\n"), what: "a declaration is being written" })
        }
    }
}

#[test]
fn one_damage_is_one_place() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let mut files = Vec::new();
    specifications(&root, &mut files);
    files.sort();
    let texts: Vec<(PathBuf, String)> = files
        .into_iter()
        .map(|path| (std::fs::read_to_string(&path).expect("a specification"), path))
        .map(|(text, path)| (path, text))
        .filter(|(path, text)| !read(path, text).has_errors())
        .collect();
    assert!(texts.len() > 30, "{}", texts.len());
    let (mut dice, mut tried, mut errors) = (Rng::new(11), 0, 0);
    for _ in 0..cases(2_000) {
        let (path, text) = &texts[dice.below(texts.len())];
        let whole = read(path, text).value;
        let charts = path.extension().is_some_and(|end| end == "elsc");
        let Some(own) = damage(&mut dice, text, &words(text, charts), &whole) else { continue };
        let mut damaged = text.clone();
        damaged.replace_range(own.at.clone(), &own.new);
        let found = read(path, &damaged);
        let place = text[..own.at.start].lines().count();
        let told = || {
            format!("{}:{place}: {}, {:?} for {:?}", path.display(), own.what, own.new, &text[own.at.clone()])
        };
        let mut left: Vec<String> =
            found.value.declarations.iter().map(|own| shown(&found.value, own)).collect();
        for (index, declaration) in whole.declarations.iter().enumerate() {
            let (start, end) = (declaration.span.start as usize, declaration.span.end as usize);
            // The `;` stands behind the declaration.
            let inside = start <= own.at.start
                && own.at.start <= end + 1
                && own.what != "a declaration is being written";
            // Without its brace, a block goes on with events that might be its own.
            let goes_on = &text[own.at.clone()] == "}"
                && index > 0
                && whole.declarations[..index].iter().any(|own_one| {
                    (own_one.span.start as usize) <= own.at.start && own.at.start <= own_one.span.end as usize
                })
                && matches!(declaration.kind, DeclarationKind::Event { .. });
            if inside || goes_on {
                continue;
            }
            let wanted = shown(&whole, declaration);
            let place = left.iter().position(|own| *own == wanted);
            let place = place.unwrap_or_else(|| {
                panic!("{}\nloses\n{wanted}\n{left:#?}\n{:#?}", told(), found.diagnostics)
            });
            left.remove(place);
        }
        let count = found.diagnostics.iter().filter(|own| own.severity == tw_diag::Severity::Error).count();
        assert!(count <= MOST, "{}\n{:#?}", told(), found.diagnostics);
        errors += count;
        tried += 1;
    }
    assert!(tried > 100, "{tried}");
    assert!(4 * errors < 5 * tried, "{errors} errors of {tried} damages");
}

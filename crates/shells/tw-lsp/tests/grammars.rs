//! The grammars of editors name the language's words and no others: they are made from its tables. `UPDATE_DOCS=1 cargo test -p
//! tw-lsp --test grammars` writes them.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;
use tracewise::ir::is_keyword;
use tracewise::language::meanings::{Meaning, Place, meanings};
use tracewise::language::{WordKind, is_plain_name, words};

fn editors() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../editors")
}

/// The spellings of what stands in these places, for which `wanted` holds.
fn spelled(places: &[Place], wanted: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let spellings =
        |meaning: &'static Meaning| std::iter::once(meaning.word).chain(meaning.others.iter().copied());
    let all = meanings().iter().filter(|meaning| places.contains(&meaning.place)).flat_map(spellings);
    all.filter(|word| wanted(word)).collect::<BTreeSet<_>>().into_iter().collect()
}

fn alphabetic(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Words of the grammars, by what they are.
struct Words {
    operators: Vec<&'static str>,
    signs: Vec<&'static str>,
    constants: Vec<&'static str>,
    control: Vec<&'static str>,
    aggregates: Vec<&'static str>,
    types: Vec<&'static str>,
    declarations: Vec<&'static str>,
    lines: Vec<&'static str>,
    settings: Vec<&'static str>,
}

fn all() -> Words {
    let quantifier = |word: &str| matches!(word, "forall" | "exists");
    let constant = |word: &str| matches!(word, "true" | "false" | "null" | "first" | "last");
    let operand = [Place::Operand, Place::Inside, Place::Prefix, Place::Infix];
    let operators = [Place::Prefix, Place::Infix];
    // `{…}` and `:` are signs of other things, too.
    let mut signs = spelled(&operators, |word| !alphabetic(word) && word != ":");
    signs.sort_by_key(|sign| std::cmp::Reverse(sign.len()));
    let mut control = spelled(&operand, |word| is_keyword(word) && !constant(word));
    let reserved = spelled(&operators, |word| alphabetic(word) && !quantifier(word));
    control.retain(|word| !reserved.contains(word));
    control.push("event");
    Words {
        operators: reserved,
        signs,
        constants: spelled(&[Place::Operand], constant),
        control,
        aggregates: spelled(&[Place::Aggregate], |_| true),
        types: spelled(&[Place::Type], |_| true),
        declarations: spelled(&[Place::Declaration], |_| true),
        lines: spelled(&[Place::MonitorLine], |_| true),
        settings: spelled(&[Place::Setting], |_| true),
    }
}

fn escaped(word: &str) -> String {
    word.chars()
        .map(|c| if c.is_alphanumeric() || c == '_' { c.to_string() } else { format!("\\{c}") })
        .collect()
}

fn any(words: &[&str]) -> String {
    format!("(?:{})", words.iter().map(|word| escaped(word)).collect::<Vec<_>>().join("|"))
}

/// The grammar for VS Code and what else reads TextMate's.
fn textmate(own: &Words) -> Value {
    let word = |words: &[&str]| format!("(?<![\\w.`]){}(?![\\w`])", any(words));
    json!({
        "name": "Tracewise",
        "scopeName": "source.tracewise",
        "fileTypes": ["tw", "elsc"],
        "patterns": [
            {"include": "#comments"}, {"include": "#texts"}, {"include": "#declarations"}, {"include": "#numbers"},
            {"include": "#words"}, {"include": "#signs"}
        ],
        "repository": {
            "comments": {"patterns": [
                {"name": "comment.line.double-slash.tracewise", "match": "//.*$"},
                {"name": "comment.block.tracewise", "begin": "/\\*", "end": "\\*/"}
            ]},
            "texts": {"patterns": [
                {"name": "string.quoted.double.tracewise", "begin": "\"", "end": "\"|$",
                 "patterns": [
                    {"name": "constant.character.escape.tracewise", "match": "\\\\(?:u\\{[0-9A-Fa-f]*\\}|.)"},
                    {"name": "variable.parameter.placeholder.tracewise", "match": "\\{\\w*(?::\\w+)?\\}"}
                 ]},
                {"name": "variable.other.quoted.tracewise", "match": "`(?:[^`\\n]|``)*`"}
            ]},
            "declarations": {"patterns": [
                {"match": format!("(?<![\\w.`])({})\\s+(\\w+)(?=\\s*[\"(:={{,;]|\\s+\\w+\\s*[\\w{{\"])", any(&own.declarations)),
                 "captures": {"1": {"name": "keyword.other.declaration.tracewise"}, "2": {"name": "entity.name.tracewise"}}},
                {"match": "(?<![\\w.`])(trace)\\s*(?=\\{)", "captures": {"1": {"name": "keyword.other.declaration.tracewise"}}},
                {"match": format!("^\\s*({})(?=\\s*[:\\w])", any(&own.lines)), "captures": {"1": {"name": "keyword.other.line.tracewise"}}},
                {"match": format!("^\\s*({})(?=\\s*:)", any(&own.settings)), "captures": {"1": {"name": "keyword.other.setting.tracewise"}}},
                {"match": format!("(?<=:)\\s*({})(?!\\w)", any(&own.types)), "captures": {"1": {"name": "storage.type.tracewise"}}}
            ]},
            "numbers": {"patterns": [
                {"name": "constant.numeric.tracewise", "match": "(?<![\\w.])\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?\\s?(?:ns|us|ms|s|m|h|d)?(?!\\w)"}
            ]},
            "words": {"patterns": [
                {"name": "support.function.aggregate.tracewise", "match": format!("(?<![\\w.`]){}(?=\\s*[\\[(])", any(&own.aggregates))},
                {"name": "constant.language.tracewise", "match": word(&own.constants)},
                {"name": "keyword.control.tracewise", "match": word(&own.control)},
                {"name": "keyword.operator.word.tracewise", "match": word(&own.operators)}
            ]},
            "signs": {"patterns": [
                {"name": "keyword.operator.tracewise", "match": any(&own.signs)}
            ]}
        }
    })
}

/// What editors write for a word.
fn snippets() -> Value {
    let mut all = serde_json::Map::new();
    for meaning in meanings().iter().filter(|own| own.place == Place::Declaration) {
        all.insert(
            meaning.word.to_owned(),
            json!({
                "prefix": meaning.word,
                "body": meaning.snippet.lines().collect::<Vec<_>>(),
                "description": meaning.meaning,
            }),
        );
    }
    Value::Object(all)
}

/// The words for the other grammar.
fn listed(own: &Words) -> Value {
    json!({
        "prefix": spelled(&[Place::Prefix], |word| !matches!(word, "forall" | "exists")),
        "aggregates": own.aggregates,
        "constants": own.constants,
        "types": own.types,
        "reserved": own.operators.iter().chain(&own.control).chain(&own.constants).collect::<BTreeSet<_>>(),
    })
}

#[test]
fn grammars_are_made_of_the_languages_words() {
    let own = all();
    for (name, value) in [
        ("vscode/syntaxes/tracewise.tmLanguage.json", textmate(&own)),
        ("vscode/snippets/tracewise.json", snippets()),
        ("tree-sitter-tracewise/words.json", listed(&own)),
    ] {
        let file = editors().join(name);
        let text = format!("{value:#}\n");
        if std::env::var_os("UPDATE_DOCS").is_some_and(|value| value != "0") {
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("the folder");
            std::fs::write(&file, &text).expect("the grammar is written");
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap_or_default(), text, "{name} is outdated");
    }
}

/// The words that the grammars take for reserved are the reserved ones, and what a word or sign may be is what the lexer says.
#[test]
fn reserved_words_are_the_languages() {
    let own = all();
    let reserved: BTreeSet<&str> =
        own.operators.iter().chain(&own.control).chain(&own.constants).copied().collect();
    // All words that the language's tables and documentation hold.
    let known = meanings().iter().flat_map(|own| std::iter::once(own.word).chain(own.others.iter().copied()));
    let known: BTreeSet<&str> = known.filter(|word| alphabetic(word)).collect();
    let wanted: BTreeSet<&str> = known.iter().copied().filter(|word| is_keyword(word)).collect();
    assert_eq!(reserved, wanted);
    assert!(reserved.len() > 45, "{}", reserved.len());
    for word in &reserved {
        assert!(!is_plain_name(word), "{word}");
    }
    for sign in &own.signs {
        let found = words(sign, false);
        assert_eq!(found.len(), 1, "{sign}");
        assert_eq!(found[0].kind, WordKind::Operator, "{sign}");
    }
}

/// Snippets are specifications once their placeholders are filled in as proposed.
#[test]
fn snippets_are_specifications() {
    for meaning in meanings().iter().filter(|own| own.place == Place::Declaration) {
        let mut text = meaning.snippet.clone();
        // The innermost first; a choice is its first word.
        while let Some(start) = text.rfind("${") {
            let end = start + text[start..].find('}').expect("an end");
            let inside = text[start + 2..end].trim_start_matches(|c: char| c.is_ascii_digit());
            let filled = match inside.strip_prefix('|') {
                Some(choice) => choice.split([',', '|']).next().unwrap_or_default().to_owned(),
                None => inside.trim_start_matches(':').to_owned(),
            };
            text.replace_range(start..=end, &filled);
        }
        let read = tracewise::language::parse(&text, 0);
        assert!(!read.has_errors(), "{text}: {:?}", read.diagnostics);
    }
}

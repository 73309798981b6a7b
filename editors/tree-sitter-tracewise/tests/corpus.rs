//! The grammar reads every specification of the repository, and colours them.

use std::path::{Path, PathBuf};
use tree_sitter::{Language, Parser, Query, QueryCursor, StreamingIterator};
use tree_sitter_tracewise::{HIGHLIGHTS_QUERY, LANGUAGE};

fn specifications(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // What is built or fetched, and specifications of tests that are wrong on purpose.
        if name.starts_with('.') || matches!(&*name, "target" | "node_modules" | "crooked.tw") || path.ends_with("bench/data") {
            continue;
        }
        if path.is_dir() {
            specifications(&path, found);
        } else if path.extension().is_some_and(|end| end == "tw" || end == "elsc") {
            found.push(path);
        }
    }
}

fn language() -> Language {
    LANGUAGE.into()
}

/// Line and text of the first place that is not understood.
fn error(text: &str) -> Option<(usize, String)> {
    let mut parser = Parser::new();
    parser.set_language(&language()).expect("the versions fit");
    let tree = parser.parse(text, None).expect("no time limit");
    let mut nodes = vec![tree.root_node()];
    while let Some(node) = nodes.pop() {
        if node.is_error() || node.is_missing() {
            return Some((node.start_position().row + 1, node.utf8_text(text.as_bytes()).unwrap_or("").to_owned()));
        }
        nodes.extend(node.children(&mut tree.walk()));
    }
    None
}

#[test]
fn every_specification_is_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    specifications(&root, &mut files);
    assert!(files.len() > 40, "{files:?}");
    let wrong: Vec<_> = files
        .iter()
        .filter_map(|file| Some((file, error(&std::fs::read_to_string(file).expect("text"))?)))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(error("property p : G (a -> ;").is_some());
}

#[test]
fn operators_bind_as_in_the_language() {
    for (text, shape) in [
        ("a -> b -> c", "(binary (path) (binary (path) (path)))"),
        ("a & b | c", "(binary (binary (path) (path)) (path))"),
        ("G a U b", "(binary (unary (path)) (path))"),
        ("G x > 3", "(unary (binary (path) (number)))"),
        ("F[0,5] p", "(unary (interval (number) (number)) (path))"),
        ("max[count[retry while busy]]", "(index (path) (index (path) (path) (path)))"),
        ("forall x in items[*].id. x > 3", "(quantifier (identifier) (path (identifier) (identifier)) (binary (path) (number)))"),
        ("exists x in items.\n x > 3", "(quantifier (identifier) (path) (binary (path) (number)))"),
        ("forall x in a[*]. exists y in `b c`.d. x.z == y", "(quantifier (identifier) (path) \
          (quantifier (identifier) (path (quoted) (identifier)) (binary (path (identifier) (identifier)) (path))))"),
        ("forall u. login(u) -> q", "(quantifier (identifier) (binary (call (arguments (path))) (path)))"),
    ] {
        let whole = format!("property p : {text};");
        assert_eq!(error(&whole), None, "{text}");
        let mut parser = Parser::new();
        parser.set_language(&language()).expect("the versions fit");
        let tree = parser.parse(&whole, None).expect("no time limit");
        let body = tree.root_node().child(0).and_then(|own| own.child_by_field_name("body")).expect("a body");
        let plain = body.to_sexp();
        // Names of fields, and the identifiers inside of paths, say nothing about shape.
        let mut short = plain.replace("(path (identifier))", "(path)");
        for field in ["operator: ", "function: ", "label: "] {
            short = short.replace(field, "");
        }
        let operators = short.replace("(identifier) (arguments", "(arguments");
        assert_eq!(operators, shape, "{text}");
    }
}

#[test]
fn files_of_charts_are_read() {
    let text = "# A note.\nchart C iff { # another\n pre { a.b -> b-1 : m.x/y } main { b->a:n [recv only] \"t u\" -> c : d } }\nafter C.main : C.pre\nafter C.pre : C.main;\n";
    assert_eq!(error(text), None);
}

#[test]
fn colours_are_found() {
    let text = "// note\nproperty p \"x\" : G (queue > 10);\n";
    let mut parser = Parser::new();
    parser.set_language(&language()).expect("the versions fit");
    let tree = parser.parse(text, None).expect("no time limit");
    let query = Query::new(&language(), HIGHLIGHTS_QUERY).expect("a query of this grammar");
    let mut cursor = QueryCursor::new();
    let mut found = cursor.captures(&query, tree.root_node(), text.as_bytes());
    let mut all = Vec::new();
    while let Some((hit, index)) = found.next() {
        let capture = hit.captures[*index];
        let name = query.capture_names()[capture.index as usize];
        all.push((name, capture.node.utf8_text(text.as_bytes()).expect("text")));
    }
    for wanted in [("comment", "// note"), ("keyword", "property"), ("function", "p"), ("operator", "G"), ("number", "10")] {
        assert!(all.contains(&wanted), "{wanted:?}: {all:?}");
    }
}

/// The parser was generated from the words that the language has now.
#[test]
fn the_generated_parser_knows_the_words() {
    let words: serde_json::Value = serde_json::from_str(include_str!("../words.json")).expect("JSON");
    let grammar = include_str!("../src/grammar.json");
    for list in ["prefix", "constants", "types"] {
        for word in words[list].as_array().expect("a list") {
            assert!(grammar.contains(&word.to_string()), "{word}: run `tree-sitter generate`");
        }
    }
}

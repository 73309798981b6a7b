//! Pictures are well formed whatever the names, everything stands inside them, and boxes do not overlap.

use super::layers::{Item, Layers};
use super::layout::{Room, layout};
use super::text::{width, wrap};
use super::*;
use crate::alternating::{Alternating, Options};
use quick_xml::Reader;
use quick_xml::events::Event;
use std::io::Write;
use std::process::{Command, Stdio};

fn of_formula(text: &str) -> Graph {
    let program = tw_testkit::texts::formula(text);
    let mut automaton = Alternating::new(Options::default());
    let root = automaton.formula(&program, program.roots[0].node, false).expect(text);
    super::alternating(&program, &automaton, root, text)
}

fn vertex(name: &str, label: &str, kind: Kind) -> Vertex {
    Vertex { name: name.into(), label: label.into(), kind }
}

fn edge(from: usize, to: usize, label: &str) -> Edge {
    Edge { from, to, label: label.into(), ..Edge::default() }
}

/// A graph with every kind of vertex, cycles, loops, parallel edges and edges over many layers.
fn tangle(vertices: usize) -> Graph {
    let kinds = [Kind::Accepting, Kind::Rejecting, Kind::True, Kind::False, Kind::And, Kind::Or, Kind::State];
    let mut rng = tw_testkit::Rng::new(7);
    let mut random = move |below: usize| rng.below(below);
    let label = |at: usize| "x & ".repeat(at % 13) + "y";
    Graph {
        title: "tangle".into(),
        vertices: (0..vertices).map(|at| vertex(&format!("v{at}"), &label(at), kinds[at % 7])).collect(),
        edges: (0..2 * vertices)
            .map(|at| Edge {
                from: random(vertices),
                to: random(vertices),
                label: if at % 3 == 0 { String::new() } else { label(at) },
                past: at % 5 == 0,
                weight: [Weight::Plain, Weight::Rare, Weight::Common(at as u8 % 5)][at % 3],
            })
            .collect(),
        initial: vec![0, vertices / 2],
        ..Graph::default()
    }
}

fn hostile() -> Graph {
    let names = ["\"q\"", "<b>&amp;", "a\\", "späte Größe 検査 🚦", "]]>", "--", "a\nb\tc\u{1}", "%s'"];
    let vertices = names.iter().map(|name| vertex(name, name, Kind::Accepting)).collect();
    let edges = (0..names.len()).map(|at| edge(at, (at + 1) % names.len(), names[at])).collect();
    Graph { title: names.concat(), vertices, edges, initial: vec![0], ..Graph::default() }
}

fn examples() -> Vec<Graph> {
    let formulas = [
        "G (!a -> !b U c)",
        "G (p -> O r)",
        "G (a -> X (b R (c | X d))) & F (a ^ b S c)",
        "true",
        "X true",
        "first | H (x > 3 -> Y name == \"a<b\")",
    ];
    let mut graphs: Vec<Graph> = formulas.into_iter().map(of_formula).collect();
    graphs.extend([Graph::default(), tangle(1), tangle(12), tangle(60), hostile()]);
    graphs
}

/// The text of all elements, if the whole is well formed.
fn parse_xml(text: &str) -> Vec<String> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = true;
    let (mut depth, mut found) = (0i32, Vec::new());
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{error} in\n{text}")) {
            Event::Start(tag) => {
                depth += 1;
                for attribute in tag.attributes() {
                    attribute.expect("an attribute with a quoted value, given once");
                }
                found.push(String::new());
            }
            Event::Empty(tag) => tag.attributes().for_each(|attribute| drop(attribute.expect("well formed"))),
            Event::End(_) => {
                depth -= 1;
                found.push(String::new());
            }
            Event::Text(text) => {
                if let Some(last) = found.last_mut() {
                    last.push_str(&text.into_inner());
                }
            }
            Event::GeneralRef(reference) => {
                let plain = match &*reference.into_inner() {
                    "amp" => "&",
                    "lt" => "<",
                    "gt" => ">",
                    "quot" => "\"",
                    "#39" => "'",
                    other => panic!("&{other};"),
                };
                if let Some(last) = found.last_mut() {
                    last.push_str(plain);
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0, "{text}");
    found
}

#[test]
fn svg_is_well_formed_and_says_everything() {
    for graph in examples() {
        let svg = graph.to_svg().expect("small");
        let texts = parse_xml(&svg);
        for vertex in graph.vertices.iter().filter(|vertex| !vertex.kind.is_junction()) {
            if vertex.kind == Kind::State {
                assert!(wrap(&vertex.label, 30, 7).iter().all(|line| texts.contains(line)), "{vertex:?}");
                continue;
            }
            let name: String =
                vertex.name.chars().map(|c| if matches!(c, '\n' | '\t') { ' ' } else { c }).collect();
            let name = name.replace('\u{1}', "\u{fffd}");
            assert!(texts.contains(&name), "{name:?} of {}", graph.title);
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert_eq!(svg.matches("stroke-dasharray").count(), 1);
        let past = graph.edges.iter().filter(|e| e.past && e.from != e.to).count();
        assert!(svg.matches(" past\"").count() >= past);
    }
}

#[test]
fn dot_is_accepted_by_graphviz() {
    for graph in examples() {
        let dot = graph.to_dot();
        assert!(dot.matches(" -> ").count() >= graph.edges.len(), "{dot}");
        // Only where Graphviz is installed.
        let mut dot_command = Command::new("dot");
        dot_command.arg("-Tcanon").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let Ok(mut child) = dot_command.spawn() else { return };
        child.stdin.take().expect("piped").write_all(dot.as_bytes()).expect("dot reads");
        let output = child.wait_with_output().expect("dot ends");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && !said.contains("syntax"), "{said}\n{dot}");
    }
}

#[test]
fn json_names_what_it_connects() {
    for graph in examples() {
        let json = graph.to_json();
        let names: Vec<&str> = json["vertices"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|v| {
                assert!(v["label"].is_string() && v["kind"].is_string());
                v["name"].as_str().expect("a name")
            })
            .collect();
        for edge in json["edges"].as_array().expect("a list") {
            for end in ["from", "to"] {
                assert!(names.contains(&edge[end].as_str().expect("a name")), "{edge}");
            }
            assert!(edge["label"].is_string() && edge["past"].is_boolean());
        }
        for initial in json["initial"].as_array().expect("a list") {
            assert!(names.contains(&initial.as_str().expect("a name")));
        }
    }
}

#[test]
fn the_automaton_of_the_running_example() {
    let graph = of_formula("G (!a -> !b U c)");
    let labels: Vec<(&str, &str, Kind)> =
        graph.vertices.iter().map(|v| (v.name.as_str(), v.label.as_str(), v.kind)).collect();
    assert_eq!(
        labels,
        [
            ("n0", "⟨a, acc⟩", Kind::Accepting),
            ("n1", "⟨!b, acc⟩", Kind::Accepting),
            ("n2", "⟨c, acc⟩", Kind::Accepting),
            ("n3", "!b U c\n⟨true, rej⟩", Kind::Rejecting),
            ("n4", "G (!a -> !b U c)\n⟨true, acc⟩", Kind::Accepting),
            ("and0", "and", Kind::And),
            ("or1", "or", Kind::Or),
            ("and2", "and", Kind::And),
            ("or3", "or", Kind::Or),
        ]
    );
    let edges: Vec<(&str, &str, &str)> =
        graph.edges.iter().map(|e| (labels[e.from].0, labels[e.to].0, e.label.as_str())).collect();
    for expected in [
        ("n4", "and0", "next"),
        ("n3", "or1", "next"),
        ("and0", "n4", ""),
        ("and0", "or3", ""),
        // The chain a | (c | …) is one junction.
        ("or3", "n0", ""),
        ("or3", "n2", ""),
        ("or3", "and2", ""),
        ("or1", "n2", ""),
        ("or1", "and2", ""),
        ("and2", "n1", ""),
        ("and2", "n3", ""),
    ] {
        assert!(edges.contains(&expected), "{expected:?} in {edges:?}");
    }
    assert_eq!((edges.len(), &graph.initial[..]), (11, &[5][..]));
    let past = of_formula("G (p -> O r)");
    let dashed: Vec<&Edge> = past.edges.iter().filter(|edge| edge.past).collect();
    assert_eq!(dashed.len(), 1);
    assert_eq!(past.vertices[dashed[0].from].label, "O r\n⟨true, rej⟩");
}

#[test]
fn boxes_do_not_overlap_and_edges_go_down() {
    for graph in examples() {
        let layers = Layers::new(&graph, 1 << 20);
        let room = |item| match item {
            Item::Vertex(vertex) => Room { left: 20.0 + vertex as f64, right: 30.0, height: 25.0 },
            Item::Label(_) => Room { left: 4.0, right: 60.0, height: 12.0 },
            Item::Passing(_) => Room { left: 2.0, right: 2.0, height: 0.0 },
        };
        let layout = layout(layers, room);
        for layer in &layout.layered.layers {
            for pair in layer.windows(2) {
                let (a, b) = (pair[0], pair[1]);
                let right = layout.points[a].x + layout.rooms[a].right;
                assert!(right < layout.points[b].x - layout.rooms[b].left, "{}", graph.title);
            }
            for &place in layer {
                let (point, room) = (layout.points[place], layout.rooms[place]);
                assert!(point.x - room.left > -0.01 && point.x + room.right < layout.width + 0.01);
                assert!(point.y > -0.01 && point.y < layout.height + 0.01);
            }
        }
        for route in &layout.layered.routes {
            for pair in route.places.windows(2) {
                assert!(layout.points[pair[0]].y < layout.points[pair[1]].y);
            }
        }
    }
}

#[test]
fn sizes_are_bounded() {
    let chain = |vertices: usize, back: bool| Graph {
        title: "chain".into(),
        vertices: (0..vertices).map(|at| vertex(&format!("v{at}"), "", Kind::Accepting)).collect(),
        edges: (1..vertices)
            .flat_map(|at| [edge(at - 1, at, "a"), edge(at, 0, "b")].into_iter().take(1 + usize::from(back)))
            .collect(),
        initial: vec![0],
        ..Graph::default()
    };
    assert!(chain(2_000, false).to_svg().is_ok());
    let refused = chain(2_001, false).to_svg().expect_err("too many vertices").to_string();
    assert!(refused.contains("2001 vertices") && refused.contains("2000"), "{refused}");
    // Most edges back to the start are too long to be led round everything.
    let svg = chain(2_000, true).to_svg().expect("within limits");
    assert_eq!(svg.matches("class=\"edge\"").count(), 3_998 + 1);
    let mut dense = chain(2, true);
    dense.edges = vec![edge(0, 1, "a"); 20_001];
    let refused = dense.to_svg().expect_err("too many edges").to_string();
    assert!(refused.contains("20001 edges"), "{refused}");
    assert!(chain(2_001, true).to_dot().contains("\"v2000\" -> \"v0\""));
}

#[test]
fn labels_are_wrapped() {
    for (text, most, lines, expected) in [
        ("", 5, 3, vec![]),
        ("a b c", 5, 3, vec!["a b c"]),
        ("aaa bbb ccc", 7, 3, vec!["aaa bbb", "ccc"]),
        ("abcdefgh", 3, 3, vec!["abc", "def", "gh"]),
        ("one two three four", 5, 2, vec!["one", "two…"]),
        ("abcdef", 3, 1, vec!["ab…"]),
        ("up\ndown", 9, 3, vec!["up", "down"]),
        ("検査検査", 4, 3, vec!["検査", "検査"]),
    ] {
        assert_eq!(wrap(text, most, lines), expected, "{text:?}");
    }
    assert_eq!(width("e\u{301}検"), 3);
}

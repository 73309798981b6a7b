use super::*;
use quick_xml::Reader;
use quick_xml::events::Event;

fn both() -> [Option<Happening>; 2] {
    [Some(Happening::default()), Some(Happening::default())]
}

fn line(from: usize, to: usize, label: &str) -> Line {
    Line { from, to, label: label.into(), events: both(), coregion: None }
}

fn chart(name: &str, lifelines: &[&str], pre: Vec<Line>, main: Vec<Line>) -> Sequence {
    let lifelines = lifelines.iter().map(|&name| name.to_owned()).collect();
    Sequence { name: name.into(), lifelines, pre, main, ..Sequence::default() }
}

fn picture(charts: Vec<Sequence>, after: Vec<After>) -> String {
    let svg = svg_sequences(&Sequences { title: "charts".into(), charts, after });
    well_formed(&svg);
    if let Some(folder) = std::env::var_os("TRACEWISE_PICTURES") {
        let name = std::thread::current().name().unwrap_or("picture").replace("::", "-");
        let file = std::path::Path::new(&folder).join(name);
        std::fs::write(file.with_extension("svg"), &svg).unwrap();
        std::fs::write(file.with_extension("png"), crate::png(&svg).unwrap()).unwrap();
    }
    svg
}

/// Every number in it is finite, every element is closed, and nothing but these elements is there.
fn well_formed(svg: &str) {
    let mut reader = Reader::from_str(svg);
    reader.config_mut().check_end_names = true;
    loop {
        match reader.read_event().unwrap() {
            Event::Eof => break,
            Event::Start(tag) | Event::Empty(tag) => {
                let name = tag.name().as_ref().to_owned();
                let known =
                    ["svg", "title", "style", "defs", "pattern", "path", "rect", "g", "text", "circle"];
                assert!(known.contains(&name.as_str()), "{name}");
            }
            _ => {}
        }
    }
    assert!(!svg.contains("NaN") && !svg.contains("\"inf") && !svg.contains(" inf "), "{svg}");
}

/// The places of texts of a class, or of all.
fn texts(svg: &str) -> Vec<(f64, f64, String)> {
    let number = |element: &str, name: &str| -> f64 {
        let from = element.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
        element[from..].split('"').next().unwrap().parse().unwrap()
    };
    let elements = svg.split("<text").skip(1);
    elements
        .map(|element| {
            let shown = element.split("</text>").next().unwrap();
            let shown = shown.rsplit('>').next().unwrap().to_owned();
            (number(element, "x"), number(element, "y"), shown)
        })
        .collect()
}

fn hand_over() -> (Vec<Sequence>, Vec<After>) {
    let found = Line { events: [None, Some(Happening::default())], ..line(0, 1, "HOVcond") };
    let first = chart("preHOV", &["env", "HOV", "ACC"], vec![found], vec![line(1, 2, "preAnn")]);
    let first = Sequence { hexagon: Hexagon::Iff, ..first };
    let main = vec![line(1, 0, "RRI"), line(0, 1, "Ackn")];
    let second = chart("ExdEoA", &["HOV", "ACC"], vec![line(0, 1, "RRIReq")], main);
    let second = Sequence { iterate: true, title: Some("extends the authority".into()), ..second };
    let part = |chart, main| PartOf { chart, main };
    let then = vec![part(1, true), part(1, false)];
    let after = After { first: part(0, true), then, broken: vec![true, false] };
    (vec![first, second], vec![after])
}

#[test]
fn the_hand_over_has_its_hexagons_heads_and_arrows() {
    let (charts, after) = hand_over();
    let svg = picture(charts, after);
    assert_eq!(svg.matches("class=\"hexagon iff\"").count(), 2, "two lines for both conditions");
    assert_eq!(svg.matches("class=\"hexagon necessary\"").count(), 1);
    assert_eq!(svg.matches("class=\"main\"").count(), 2);
    assert_eq!(svg.matches("class=\"head\"").count(), 4, "`env` has no event of its own");
    // One line down, one out, two in, with two points.
    assert_eq!(svg.matches("class=\"after\"").count(), 3);
    assert_eq!(svg.matches("<path class=\"after-point\"").count(), 1);
    assert_eq!(svg.matches("class=\"after broke\"").count(), 1, "one came too early");
    for word in ["preHOV", "HOVcond", "env", "preAnn", "necessary, iterated", "+", "after"] {
        assert!(texts(&svg).iter().any(|(_, _, shown)| shown == word), "{word}");
    }
    // From top to bottom as written.
    let height = |word: &str| texts(&svg).iter().find(|(_, _, shown)| shown == word).unwrap().1;
    assert!(height("HOVcond") < height("preAnn") && height("RRI") < height("Ackn"));
}

#[test]
fn three_hexagons() {
    let one = |hexagon, name: &str| Sequence {
        hexagon,
        ..chart(name, &["A", "B"], vec![line(0, 1, "ask")], vec![line(1, 0, "answer")])
    };
    let svg = picture(
        vec![
            one(Hexagon::Necessary, "if"),
            one(Hexagon::Sufficient, "only if"),
            one(Hexagon::Iff, "if and only if"),
        ],
        Vec::new(),
    );
    for (class, count) in [("necessary", 1), ("sufficient", 1), ("iff", 2)] {
        assert_eq!(svg.matches(&format!("class=\"hexagon {class}\"")).count(), count, "{class}");
    }
    assert_eq!(svg.matches("fill=\"url(#hatched)\"").count(), 1);
}

#[test]
fn twelve_lifelines_stand_apart() {
    let names: Vec<String> = (0..12).map(|at| format!("node-{at:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let main = (0..11).map(|at| line(at, at + 1, &format!("forward the request {at}"))).collect();
    let svg = picture(vec![chart("ring", &names, vec![line(0, 11, "begin")], main)], Vec::new());
    let mut places: Vec<f64> =
        texts(&svg).iter().filter(|(_, _, shown)| shown.starts_with("node-")).map(|own| own.0).collect();
    assert_eq!(places.len(), 12);
    places.sort_by(f64::total_cmp);
    // A label of 21 characters lies between two.
    assert!(places.windows(2).all(|pair| pair[1] - pair[0] > 21.0 * 7.0), "{places:?}");
}

#[test]
fn long_names_are_broken_and_cut() {
    let long = "the accepting radio block centre of the northern line, second track, with its back-up";
    let message = "request for route information with a very long explanation of what it is good for indeed";
    let svg = picture(
        vec![chart(
            &"n".repeat(300),
            &[long, &"x".repeat(400), "B"],
            vec![line(0, 1, message)],
            vec![line(1, 2, &"y".repeat(5_000))],
        )],
        Vec::new(),
    );
    let texts = texts(&svg);
    assert!(texts.iter().all(|(_, _, shown)| shown.chars().count() <= 110), "{texts:?}");
    assert!(texts.iter().any(|(_, _, shown)| shown.ends_with('…')));
    let width: f64 = svg.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    assert!(width < 1_600.0, "{width}");
    assert!(svg.contains(&format!("<title>{message}</title>")), "the whole name on pointing at it");
}

#[test]
fn twenty_messages_coregions_and_messages_to_itself() {
    let mut main: Vec<Line> =
        (0..20).map(|at| line(at % 3, (at + 1) % 3, &format!("message {at}"))).collect();
    for own in &mut main[4..8] {
        own.coregion = Some(1);
    }
    for own in &mut main[8..10] {
        own.coregion = Some(2);
    }
    main[12].to = main[12].from;
    main[14].events[1] = None;
    main.push(Line { events: [None, Some(Happening::default())], ..main[14].clone() });
    let svg = picture(
        vec![chart("many", &["client", "server", "store"], vec![line(0, 2, "begin")], main)],
        Vec::new(),
    );
    let height = |word: &str| texts(&svg).iter().find(|(_, _, shown)| shown == word).unwrap().1;
    let heights: Vec<f64> = (0..20).map(|at| height(&format!("message {at}"))).collect();
    assert!(heights.windows(2).all(|pair| pair[1] - pair[0] > 18.0), "{heights:?}");
    // Three lifelines with two events or more in the first coregion, one in the second.
    assert_eq!(svg.matches("class=\"region dashes\"").count(), 4);
    // The message that is received later is one arrow.
    assert_eq!(texts(&svg).iter().filter(|(_, _, shown)| shown == "message 14").count(), 1);
}

#[test]
fn the_cut_is_coloured() {
    let state = |state, note: &str| Some(Happening { state, note: note.into() });
    let mut pre = line(0, 1, "RRIReq");
    pre.events = [state(State::Happened, "line 3"), state(State::Happened, "line 4")];
    let mut answer = line(1, 0, "RRI");
    answer.events = [state(State::Happened, "line 6"), state(State::Missing, "")];
    let mut thanks = line(0, 1, "Ackn");
    thanks.events = [state(State::Broke, "line 7"), state(State::Missing, "")];
    let one = Sequence {
        verdict: Some(Verdict { text: "violated at line 7".into(), holds: Some(false) }),
        ..chart("ExdEoA", &["HOV", "ACC"], vec![pre], vec![answer, thanks])
    };
    let svg = picture(vec![one], Vec::new());
    assert_eq!(svg.matches("class=\"cut\"").count(), 1, "the prechart is whole");
    assert_eq!(svg.matches("<path class=\"broke\"").count(), 1);
    assert_eq!(svg.matches("<circle class=\"missing-point\"").count(), 2);
    assert!(texts(&svg).iter().any(|(_, _, shown)| shown == "line 7"));
    // Nothing of the main chart: the cut lies above it. A long reason is broken into lines.
    let event = |state| Some(Happening { state, note: String::new() });
    let all = |state| Line { events: [event(state), event(state)], ..line(0, 1, "m") };
    let text =
        "a chart is complete and another has to follow directly, but something else is found ".repeat(3);
    let one = Sequence {
        verdict: Some(Verdict { text, holds: Some(false) }),
        ..chart("c", &["A", "B"], vec![all(State::Happened)], vec![all(State::Missing)])
    };
    let svg = picture(vec![one], Vec::new());
    assert_eq!(svg.matches("class=\"cut\"").count(), 1);
    assert_eq!(svg.matches("<text class=\"bad\"").count(), 4);
}

#[test]
fn names_cannot_leave_their_text() {
    let bad = "</text><script>alert(1)</script>\"'&\n\u{0}\u{7}";
    let svg =
        picture(vec![chart(bad, &[bad, "B"], vec![line(0, 1, bad)], vec![line(1, 0, bad)])], Vec::new());
    assert!(!svg.contains("<script") && !svg.contains('\u{0}') && !svg.contains('\u{7}'), "{svg}");
}

#[test]
fn odd_charts_are_drawn_all_the_same() {
    picture(Vec::new(), Vec::new());
    picture(vec![Sequence::default()], Vec::new());
    let none = Line { events: [None, None], ..line(0, 9, "nowhere") };
    let beyond = After {
        first: PartOf { chart: 3, main: true },
        then: vec![PartOf { chart: 0, main: false }],
        broken: vec![],
    };
    picture(vec![chart("odd", &["A"], vec![line(7, 8, "x"), none], vec![line(0, 5, "y")])], vec![beyond]);
}

#[test]
fn lines_between_charts_do_not_share_a_lane() {
    let one = |name: &str| chart(name, &["A", "B"], vec![line(0, 1, "p")], vec![line(1, 0, "m")]);
    let part = |chart, main| PartOf { chart, main };
    let after =
        |first, then| After { first: part(first, true), then: vec![part(then, false)], broken: Vec::new() };
    let sequences = Sequences {
        title: String::new(),
        charts: vec![one("a"), one("b"), one("c"), one("d")],
        after: vec![after(0, 3), after(0, 1), after(2, 3), after(3, 0)],
    };
    let lanes: Vec<usize> = connect::buses(&sequences).iter().map(|bus| bus.lane).collect();
    // The short ones share the inner lane, the long ones have their own.
    assert_eq!((lanes[1], lanes[2]), (0, 0));
    assert!(lanes[0] != lanes[3] && lanes[0] > 0 && lanes[3] > 0, "{lanes:?}");
    picture(sequences.charts, sequences.after);
}

//! Whatever a chart holds, its picture is well-formed, its texts are inside and do not overlap.

use resvg::usvg::roxmltree::{Document, Node};
use tw_plot::{Axis, Body, Chart, Scale, Series};
use tw_testkit::{Rng, cases};

const WORDS: [&str; 12] = [
    "a",
    "speed",
    "<b>&\"'",
    "größe",
    "日本語",
    "a\nb\tc",
    "\u{0}\u{1}\u{fffe}",
    "]]>",
    "G[0,5] (p -> F q)",
    "",
    "runs/2024/a very long path to some trace.csv",
    "runs/2024/a very long path to some other trace.csv",
];

fn words(rng: &mut Rng) -> String {
    (0..1 + rng.below(3)).map(|_| rng.pick(&WORDS)).collect::<Vec<_>>().join(" ")
}

fn number(rng: &mut Rng) -> f64 {
    let digits = rng.below(2_001) as f64 - 1_000.0;
    match rng.below(12) {
        0 => rng.pick(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 5e-324, 0.0, -0.0]),
        1 => f64::from_bits(rng.bits()),
        2 => digits * 1e9,
        3 => digits * 1e-7,
        4 => 1e15 + digits,
        _ => digits,
    }
}

/// A number of a chart whose numbers are of one kind, as most are.
fn tame(rng: &mut Rng, wild: bool, factor: f64) -> f64 {
    if wild { number(rng) } else { (rng.below(2_001) as f64 - 500.0) * factor }
}

fn scale(rng: &mut Rng) -> Scale {
    match rng.below(7) {
        0 => Scale::Log,
        1 => Scale::Time { origin: rng.pick(&[0, 1_709_164_200_000_000_000, i64::MAX, i64::MIN]) },
        2 => Scale::Duration,
        3 => Scale::Category((0..rng.below(12)).map(|_| words(rng)).collect()),
        _ => Scale::Linear,
    }
}

fn chart(rng: &mut Rng) -> Chart {
    let wild = rng.one_in(3);
    let factor = rng.pick(&[1.0, 1.0, 0.37, 1e-9, 1e6, 1e12, 6e13]);
    let value = |rng: &mut Rng| (!rng.one_in(6)).then(|| tame(rng, wild, factor));
    let body = match rng.below(3) {
        0 => {
            let mut low = tame(rng, false, factor);
            let width = rng.pick(&[0.0, 1.0, 0.1, 7.0]) * factor;
            let bins = (0..rng.below(30)).map(|_| {
                let bin = (low, low + width, rng.pick(&[0, 1, 17, 12_345, u64::MAX]));
                low += width;
                bin
            });
            Body::Histogram { bins: bins.collect() }
        }
        1 => {
            let step = rng.one_in(2);
            let many = rng.pick(&[1, 2, 5, 60]);
            let series = (0..rng.below(many + 1)).map(|_| {
                let mut points: Vec<_> =
                    (0..rng.below(80)).map(|_| (tame(rng, wild, factor), value(rng))).collect();
                if rng.one_in(2) {
                    points.sort_by(|a, b| a.0.total_cmp(&b.0));
                }
                Series { name: words(rng), points, step }
            });
            Body::Series { series: series.collect() }
        }
        _ => {
            let most = rng.pick(&[1, 4, 12, 100]);
            let groups: Vec<String> = (0..rng.below(most + 1)).map(|_| words(rng)).collect();
            let count = rng.below(6);
            let series = (0..count).map(|_| {
                let values = (0..rng.below(groups.len() + 2)).map(|_| value(rng)).collect();
                (words(rng), values)
            });
            Body::Bars { series: series.collect(), groups }
        }
    };
    let subtitle = rng.one_in(2).then(|| words(rng));
    let x = Axis { label: words(rng), scale: scale(rng) };
    Chart { title: words(rng), subtitle, x, y: Axis { label: words(rng), scale: scale(rng) }, body }
}

/// The places that a text takes: left, top, right, bottom.
type Place = (f64, f64, f64, f64);

fn text_of(node: Node) -> String {
    node.children().filter(|child| child.is_text()).filter_map(|child| child.text()).collect()
}

/// Columns as a fixed-width font has them.
fn columns(text: &str) -> f64 {
    text.chars().map(|c| if ('\u{2e80}'..'\u{ff60}').contains(&c) { 2.0 } else { 1.0 }).sum()
}

fn place(node: Node) -> Place {
    let class = node.attribute("class").unwrap_or("");
    let size = [("title", 14.0), ("none", 14.0), ("label", 12.0)];
    let size = size.iter().find(|(name, _)| class.contains(name)).map_or(11.0, |(_, size)| *size);
    let number = |name| node.attribute(name).and_then(|value| value.parse::<f64>().ok()).expect("a number");
    let width = columns(text_of(node).trim()) * size * 0.602;
    let left = number("x")
        - match node.attribute("text-anchor") {
            Some("middle") => width / 2.0,
            Some("end") => width,
            _ => 0.0,
        };
    // Digits and capitals, without descenders.
    (left, number("y") - size * 0.73, left + width, number("y"))
}

fn check(svg: &str, seed: u64) {
    // One reader checks the nesting and the escapes, the other the characters as well.
    let mut reader = quick_xml::Reader::from_str(svg);
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("seed {seed}: {error}\n{svg}")) {
            quick_xml::events::Event::Eof => break,
            quick_xml::events::Event::Start(tag) | quick_xml::events::Event::Empty(tag) => {
                for attribute in tag.attributes() {
                    let attribute = attribute.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
                    let value = &attribute.value;
                    assert!(!value.contains("NaN") && !value.contains("inf"), "seed {seed}: {value}");
                }
            }
            _ => {}
        }
    }
    let document = Document::parse(svg).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{svg}"));
    let root = document.root_element();
    let size: Vec<f64> =
        root.attribute("viewBox").unwrap().split(' ').map(|part| part.parse().unwrap()).collect();
    let texts = document.descendants().filter(|node| node.tag_name().name() == "text");
    let level: Vec<_> =
        texts.filter(|node| node.attribute("transform").is_none()).map(|node| (place(node), node)).collect();
    for (index, (a, node)) in level.iter().enumerate() {
        let shown = text_of(*node);
        assert!(
            a.0 >= 0.0 && a.2 <= size[2] && a.1 >= 0.0 && a.3 <= size[3],
            "seed {seed}: {shown:?} at {a:?} is cut off"
        );
        for (b, other) in &level[..index] {
            let apart = a.2 <= b.0 + 0.3 || b.2 <= a.0 + 0.3 || a.3 <= b.1 + 0.3 || b.3 <= a.1 + 0.3;
            assert!(apart, "seed {seed}: {shown:?} at {a:?} and {:?} at {b:?} overlap", text_of(*other));
        }
    }
    // Turned labels end at their place and begin lower left.
    let turned = document.descendants().filter(|node| node.tag_name().name() == "text");
    for node in turned.filter(|node| node.attribute("transform").is_some()) {
        let transform = node.attribute("transform").unwrap();
        let numbers =
            transform.strip_prefix("translate(").and_then(|rest| rest.strip_suffix(") rotate(-35)")).unwrap();
        let (x, y) = numbers.split_once(' ').unwrap();
        let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
        let length = columns(&text_of(node)) * 11.0 * 0.602;
        let (left, bottom) = (x - length * 0.819 - 5.0, y + length * 0.574 + 5.0);
        assert!(left >= -3.0 && bottom <= size[3], "seed {seed}: {:?} at {left} {bottom}", text_of(node));
    }
    // Marks stay in the picture.
    for node in document.descendants().filter(|node| node.tag_name().name() == "rect") {
        let number = |name| node.attribute(name).map_or(0.0, |value| value.parse::<f64>().unwrap());
        assert!(number("x") >= 0.0 && number("x") + number("width") <= size[2] + 0.1, "seed {seed}");
        assert!(number("y") >= 0.0 && number("y") + number("height") <= size[3] + 0.1, "seed {seed}");
    }
}

#[test]
fn random_charts_are_well_formed_and_legible() {
    for seed in 0..cases(600).min(2_000) {
        let mut rng = Rng::new(seed);
        let chart = chart(&mut rng);
        let (width, height) =
            rng.pick(&[(960, 540), (960, 540), (600, 400), (1_600, 500), (320, 240), (50, 50)]);
        let svg = tw_plot::svg(&chart, width, height);
        check(&svg, seed);
        assert_eq!(svg, tw_plot::svg(&chart, width, height), "seed {seed}: not the same twice");
    }
}

#[test]
fn random_charts_have_pixels() {
    for seed in 0..cases(40).min(200) {
        let mut rng = Rng::new(seed);
        let png = tw_plot::png(&tw_plot::svg(&chart(&mut rng), 320, 240)).unwrap();
        let pixmap = resvg::tiny_skia::Pixmap::decode_png(&png).unwrap();
        assert_eq!((pixmap.width(), pixmap.height()), (640, 480), "seed {seed}");
        let marked = pixmap.pixels().iter().filter(|pixel| pixel.green() < 200).count();
        assert!(marked > 300, "seed {seed}: {marked} pixels");
    }
}

#[test]
fn the_extension_of_the_file_decides() {
    let directory = std::env::temp_dir().join(format!("tw-plot-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let chart = chart(&mut Rng::new(1));
    tw_plot::write(&chart, &directory.join("a.svg")).unwrap();
    tw_plot::write(&chart, &directory.join("a.PNG")).unwrap();
    assert!(std::fs::read(directory.join("a.svg")).unwrap().starts_with(b"<svg"));
    assert!(std::fs::read(directory.join("a.PNG")).unwrap().starts_with(b"\x89PNG"));
    for name in ["a.jpg", "a", ".svg"] {
        let error = tw_plot::write(&chart, &directory.join(name)).unwrap_err().to_string();
        assert!(error.contains(".svg") && error.contains(".png"), "{error}");
        assert!(!directory.join(name).exists());
    }
    let error = tw_plot::write(&chart, &directory.join("none/a.svg")).unwrap_err().to_string();
    assert!(error.contains("cannot write"), "{error}");
    std::fs::remove_dir_all(&directory).unwrap();
}

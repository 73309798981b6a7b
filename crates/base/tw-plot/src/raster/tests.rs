use super::outline::outlined;
use super::png;
use super::style::{Anchor, Style, sheets};
use crate::{Axis, Body, Chart, Error, Scale, Series, svg};
use resvg::tiny_skia::Pixmap;
use resvg::usvg::roxmltree::Document;

fn chart() -> Chart {
    let points = (0..50).map(|i| (f64::from(i), Some(f64::from(i * i % 17)))).collect();
    Chart {
        title: "Title".into(),
        subtitle: None,
        x: Axis { label: "x".into(), scale: Scale::Linear },
        y: Axis { label: "y".into(), scale: Scale::Linear },
        body: Body::Series { series: vec![Series { name: String::new(), points, step: false }] },
    }
}

/// Pixels that are darker than the ground in a rectangle given in units of the picture.
fn marked(pixmap: &Pixmap, x: (u32, u32), y: (u32, u32)) -> usize {
    let places = (2 * y.0..2 * y.1).flat_map(|y| (2 * x.0..2 * x.1).map(move |x| (x, y)));
    places.filter(|&(x, y)| pixmap.pixel(x, y).is_some_and(|pixel| pixel.green() < 160)).count()
}

fn pixels(svg: &str) -> Pixmap {
    Pixmap::decode_png(&png(svg).unwrap()).unwrap()
}

#[test]
fn charts_have_two_pixels_for_one_and_show_text_and_lines() {
    let pixmap = pixels(&svg(&chart(), 400, 300));
    assert_eq!((pixmap.width(), pixmap.height()), (800, 600));
    assert!(marked(&pixmap, (16, 60), (16, 34)) > 200, "the title");
    assert!(marked(&pixmap, (60, 380), (80, 240)) > 1_000, "the line");
    assert_eq!(marked(&pixmap, (200, 400), (0, 34)), 0, "nothing beside the title");
    assert_eq!(marked(&pixmap, (0, 400), (290, 300)), 0, "nothing below the label");
}

fn picture(text: &str) -> String {
    let open = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"200\" height=\"40\">";
    format!(
        "{open}<style>text {{ font: 20px serif }} .big {{ font-size: 30px; font-weight: bold }}</style>{text}</svg>"
    )
}

#[test]
fn text_is_placed_by_its_anchor_and_size() {
    for (anchor, from, to) in [("start", 100, 136), ("middle", 82, 118), ("end", 64, 100)] {
        let pixmap =
            pixels(&picture(&format!("<text x=\"100\" y=\"30\" text-anchor=\"{anchor}\">MMM</text>")));
        assert!(marked(&pixmap, (from, to + 1), (14, 31)) > 300, "{anchor}");
        assert_eq!(marked(&pixmap, (0, from), (0, 40)), 0, "{anchor}");
        assert_eq!(marked(&pixmap, (to + 1, 200), (0, 40)), 0, "{anchor}");
    }
    let small = pixels(&picture("<text x=\"10\" y=\"30\">M</text>"));
    let big = pixels(&picture("<text class=\"big\" x=\"10\" y=\"30\">M</text>"));
    let all = |pixmap: &Pixmap| marked(pixmap, (0, 200), (0, 40));
    assert!(all(&big) > 2 * all(&small), "{} {}", all(&big), all(&small));
    // Tooltips are not drawn, unknown characters are boxes, and entities are characters.
    let hinted = pixels(&picture("<text x=\"10\" y=\"30\"><title>MMMMM</title>M</text>"));
    assert_eq!(hinted, small);
    assert!(all(&pixels(&picture("<text x=\"10\" y=\"30\">日</text>"))) > 20);
    assert!(!outlined(&picture("<text>&lt;&amp;</text>")).unwrap().contains("<text"));
}

#[test]
fn style_sheets_attributes_and_parents_set_text() {
    let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"><style>text { fill: red } .a { fill: blue }
        @media (prefers-color-scheme: dark) { .a { fill: white } }</style>
        <g text-anchor=\"end\" font-size=\"9\"><text class=\"a\" fill=\"green\" style=\"font-weight: bold\"/></g></svg>";
    let document = Document::parse(svg).unwrap();
    let text = document
        .descendants()
        .find(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "text")))
        .unwrap();
    let style = Style::of(text, &sheets(&document));
    assert_eq!((style.size, style.bold, style.anchor), (9.0, true, Anchor::End));
    assert_eq!(style.paint["fill"], "blue");
}

#[test]
fn what_is_no_picture_is_refused() {
    assert!(matches!(png("hello"), Err(Error::Svg(_))));
    assert!(matches!(png("<html/>"), Err(Error::Svg(_))));
    let huge = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100000\" height=\"100000\"/>";
    assert!(matches!(png(huge), Err(Error::TooLarge(..))));
}

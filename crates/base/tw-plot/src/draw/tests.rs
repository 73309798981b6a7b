use super::series::lines;
use super::svg;
use crate::{Axis, Body, Chart, Scale, Series};

fn chart(x: Scale, y: Scale, body: Body) -> Chart {
    let axis = |label: &str, scale| Axis { label: label.into(), scale };
    Chart { title: "Title".into(), subtitle: None, x: axis("across", x), y: axis("up", y), body }
}

fn line(points: &[(f64, Option<f64>)]) -> Body {
    Body::Series { series: vec![Series { name: String::new(), points: points.to_vec(), step: false }] }
}

/// The value of an attribute of every element of a name, in order.
fn attributes(svg: &str, element: &str, name: &str) -> Vec<f64> {
    let document = resvg::usvg::roxmltree::Document::parse(svg).unwrap();
    let nodes = document.descendants().filter(|node| node.tag_name().name() == element);
    nodes.filter_map(|node| node.attribute(name)?.parse().ok()).collect()
}

#[test]
fn lines_have_gaps_and_lone_values_are_dots() {
    let points =
        [(0.0, Some(1.0)), (1.0, Some(2.0)), (2.0, None), (3.0, Some(3.0)), (4.0, None), (5.0, Some(4.0))];
    let (path, single) = lines(&points, false);
    assert_eq!(path, "M0.0 1.0L1.0 2.0");
    assert_eq!(single, [(3.0, 3.0), (5.0, 4.0)]);
}

#[test]
fn steps_hold_until_the_next_place() {
    let points =
        [(0.0, Some(1.0)), (1.0, Some(2.0)), (2.0, Some(2.0)), (3.0, None), (4.0, Some(3.0)), (5.0, None)];
    let (path, single) = lines(&points, true);
    assert_eq!(path, "M0.0 1.0H1.0V2.0H2.0H3.0M4.0 3.0H5.0");
    assert_eq!(single, []);
    assert_eq!(lines(&[(0.0, Some(1.0))], true), (String::new(), vec![(0.0, 1.0)]));
}

#[test]
fn points_are_drawn_from_left_to_right_whatever_their_order() {
    let sorted = line(&[(0.0, Some(1.0)), (1.0, Some(5.0)), (2.0, Some(2.0))]);
    let mixed = line(&[(2.0, Some(2.0)), (0.0, Some(1.0)), (1.0, Some(5.0))]);
    let path = |body| {
        let picture = svg(&chart(Scale::Linear, Scale::Linear, body), 600, 400);
        picture.lines().find(|line| line.contains("class=\"line\"")).unwrap().to_owned()
    };
    assert_eq!(path(sorted), path(mixed));
}

#[test]
fn heights_of_bins_are_proportional_to_counts() {
    let body = Body::Histogram { bins: vec![(0.0, 1.0, 10), (1.0, 2.0, 0), (2.0, 4.0, 40)] };
    let picture = svg(&chart(Scale::Linear, Scale::Linear, body), 900, 500);
    // The first rectangle is the ground.
    let heights = attributes(&picture, "rect", "height");
    let widths = attributes(&picture, "rect", "width");
    assert_eq!(heights.len(), 3);
    assert!((heights[2] / heights[1] - 4.0).abs() < 0.01, "{heights:?}");
    assert!((widths[2] / widths[1] - 2.0).abs() < 0.01, "{widths:?}");
    assert!(picture.contains("<title>2 to 4: 40 (80 %)</title>"), "{picture}");
}

#[test]
fn more_bins_than_pixels_are_one_shape() {
    let bins: Vec<_> =
        (0..5_000).map(|i| (f64::from(i), f64::from(i + 1), u64::from(i % 7 == 0) * 9 + 1)).collect();
    let picture = svg(&chart(Scale::Linear, Scale::Linear, Body::Histogram { bins }), 900, 500);
    assert_eq!(attributes(&picture, "rect", "height").len(), 1);
    assert!(picture.len() < 40_000, "{}", picture.len());
}

#[test]
fn bars_run_from_zero_and_missing_ones_are_marked() {
    let values = vec![Some(2.0), Some(-1.0), None];
    let groups = vec!["a".into(), "b".into(), "c".into()];
    let body = Body::Bars { groups, series: vec![("s".into(), values)] };
    let picture = svg(&chart(Scale::Linear, Scale::Linear, body), 900, 500);
    let (tops, heights) = (attributes(&picture, "rect", "y"), attributes(&picture, "rect", "height"));
    // The legend has one as well.
    let (tops, heights) = (&tops[tops.len() - 2..], &heights[heights.len() - 2..]);
    assert!(
        (tops[0] + heights[0] - tops[1]).abs() < 0.11,
        "one ends where the other begins: {tops:?} {heights:?}"
    );
    assert!((heights[0] / heights[1] - 2.0).abs() < 0.01, "{heights:?}");
    assert!(picture.contains("<title>c, s: no value</title>⊥"), "{picture}");
}

#[test]
fn without_values_the_picture_says_so_and_has_no_made_up_numbers() {
    let bodies = [
        line(&[(0.0, None), (1.0, Some(f64::NAN)), (2.0, Some(f64::INFINITY))]),
        line(&[]),
        Body::Series { series: vec![] },
        Body::Histogram { bins: vec![] },
        Body::Bars { groups: vec![], series: vec![] },
        Body::Bars { groups: vec!["a".into()], series: vec![("s".into(), vec![None])] },
    ];
    for body in bodies {
        let picture = svg(&chart(Scale::Linear, Scale::Linear, body.clone()), 600, 400);
        assert!(picture.contains(">no value</text>"), "{body:?}");
        assert!(!picture.contains("0.5</text>") && !picture.contains("NaN"), "{body:?}");
    }
    let picture = svg(&chart(Scale::Linear, Scale::Linear, line(&[(0.0, Some(0.0))])), 600, 400);
    assert!(!picture.contains("no value"));
}

#[test]
fn what_a_logarithm_lacks_is_told() {
    let body = line(&[(1.0, Some(10.0)), (2.0, Some(0.0)), (3.0, Some(-4.0)), (4.0, Some(100.0))]);
    let picture = svg(&chart(Scale::Linear, Scale::Log, body), 600, 400);
    assert!(picture.contains("2 values not above 0 are not on the logarithmic vertical axis"), "{picture}");
    assert_eq!(attributes(&picture, "circle", "cx").len(), 2);
}

#[test]
fn cut_names_are_told_in_full() {
    let name = "a name that goes on and on and on and on until nobody listens";
    let series = |name: &str| Series { name: name.into(), points: vec![(0.0, Some(1.0))], step: false };
    let body = Body::Series { series: vec![series(name), series("b")] };
    let picture = svg(&chart(Scale::Linear, Scale::Linear, body), 600, 400);
    assert!(
        picture.contains(&format!("<title>{name}</title>a name that goes on and on and …</text>")),
        "{picture}"
    );
}

#[test]
fn times_have_their_date_once_and_name_their_zone() {
    let points: Vec<_> = (0..20).map(|i| (f64::from(i) * 60e9, Some(1.0))).collect();
    let picture = svg(
        &chart(Scale::Time { origin: 1_709_164_800_000_000_000 }, Scale::Linear, line(&points)),
        900,
        400,
    );
    assert_eq!(picture.matches(">2024-02-29</text>").count(), 1, "{picture}");
    assert!(picture.contains(">00:10</text>"), "{picture}");
    assert!(picture.contains(">across (UTC)</text>"), "{picture}");
}

#[test]
fn long_series_are_thinned_and_keep_their_peak() {
    let mut points: Vec<_> = (0..200_000).map(|i| (f64::from(i), Some(0.0))).collect();
    points[123_456].1 = Some(1.0);
    let picture = svg(&chart(Scale::Linear, Scale::Linear, line(&points)), 900, 500);
    assert!(picture.len() < 100_000, "{}", picture.len());
    let path = picture.lines().find(|line| line.contains("class=\"line\"")).unwrap();
    let tops: Vec<f64> =
        path.split('L').skip(1).filter_map(|point| point.split([' ', '"']).nth(1)?.parse().ok()).collect();
    let (low, high) =
        tops.iter().fold((f64::MAX, f64::MIN), |(low, high), &top| (low.min(top), high.max(top)));
    assert!(high - low > 300.0, "{low} {high}");
}

#[test]
fn pictures_have_the_size_asked_for() {
    for (width, height) in [(900, 500), (1, 1), (100, 3_000), (0, 0)] {
        let picture = svg(&chart(Scale::Linear, Scale::Linear, line(&[(0.0, Some(1.0))])), width, height);
        let size = format!("width=\"{}\" height=\"{}\"", width.max(1), height.max(1));
        assert!(picture.lines().next().unwrap().contains(&size), "{picture}");
    }
}

//! Writes one chart of each kind, as SVG and as PNG, into a directory: `cargo run --example gallery -- charts`.

use std::path::Path;
use tw_plot::{Axis, Body, Chart, Scale, Series, Thinner};

fn axis(label: &str, scale: Scale) -> Axis {
    Axis { label: label.into(), scale }
}

fn chart(title: &str, subtitle: &str, x: Axis, y: Axis, body: Body) -> Chart {
    let subtitle = (!subtitle.is_empty()).then(|| subtitle.to_owned());
    Chart { title: title.into(), subtitle, x, y, body }
}

fn line(name: &str, step: bool, points: impl IntoIterator<Item = (f64, Option<f64>)>) -> Series {
    Series { name: name.into(), points: points.into_iter().collect(), step }
}

/// Pseudo-random numbers in `[0, 1)`, the same every time.
fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn histograms() -> Vec<(&'static str, Chart)> {
    let bell = |k: usize| -> Vec<(f64, f64, u64)> {
        let count = |i: usize| {
            let x = (i as f64 + 0.5) / k as f64 * 8.0 - 3.0;
            (40_000.0 / k as f64 * (-x * x / 2.0).exp()) as u64
        };
        (0..k).map(|i| (i as f64 * 250.0 / k as f64, (i + 1) as f64 * 250.0 / k as f64, count(i))).collect()
    };
    let histogram = |title: &str, x: Axis, y: Axis, bins| chart(title, "", x, y, Body::Histogram { bins });
    let decades = (0..8).map(|i| (10f64.powi(i), 10f64.powi(i + 1), 3_u64.pow(i as u32))).collect();
    let latency = || axis("latency in ms", Scale::Linear);
    let count = || axis("requests", Scale::Linear);
    vec![
        ("histogram", histogram("Latency of requests", latency(), count(), bell(12))),
        ("histogram-fine", histogram("Latency of requests", latency(), count(), bell(300))),
        (
            "histogram-log",
            histogram("Sizes", axis("bytes", Scale::Log), axis("messages", Scale::Log), decades),
        ),
        ("histogram-one", histogram("All equal", latency(), count(), vec![(7.5, 7.5, 42)])),
        (
            "histogram-few",
            histogram("Few", axis("d", Scale::Duration), count(), vec![(0.0, 4e9, 1), (4e9, 8e9, 3)]),
        ),
    ]
}

fn lines() -> Vec<(&'static str, Chart)> {
    let series = |title: &str, subtitle: &str, x: Axis, y: Axis, series| {
        chart(title, subtitle, x, y, Body::Series { series })
    };
    let position = || axis("position", Scale::Linear);
    let wave = |shift: f64| move |i: u32| (f64::from(i), Some((f64::from(i) / 40.0 + shift).sin() * 3.0));
    let gappy = (0..400).map(|i| (f64::from(i), (i % 100 < 70).then(|| f64::from(i % 100) / 10.0 - 4.0)));
    let mut long = Thinner::new(1_000);
    let mut random = noise(1);
    let mut level = 1_000.0;
    long.extend((0..2_000_000).map(|i| {
        level += random() - 0.5 - (level - 1_000.0) * 1e-5;
        (f64::from(i), Some(if i == 1_234_567 { level + 600.0 } else { level }))
    }));
    let day = 1_709_164_200_000_000_000;
    let hourly = (0..200).map(|i| (f64::from(i) * 600e9, Some(f64::from((i * 37) % 23))));
    let short = (0..12).map(|i| (f64::from(i), (i != 4 && i != 5 && i != 7).then(|| f64::from((i * 7) % 5))));
    let growth = |rate: f64| (1..60).map(move |i| (f64::from(i), Some(rate.powi(i))));
    let many = (0..50).map(|k| {
        let points = (0..300).map(move |i| (f64::from(i), Some(f64::from(k) + (f64::from(i) / 20.0).cos())));
        line(&format!("sensor {k} on bus {}", k % 7), false, points)
    });
    let verdict = Scale::Category(vec!["violated".into(), "unknown".into(), "satisfied".into()]);
    let verdicts = (0..30).map(|i| (f64::from(i) * 1e6, Some(f64::from(i * i % 3))));
    let signal = axis("robustness", Scale::Linear);
    vec![
        (
            "series",
            series(
                "Robustness of `G[0,5] speed < 50`",
                "2 traces, 400 positions",
                position(),
                signal.clone(),
                vec![line("trace a", false, (0..400).map(wave(0.0))), line("trace b", false, gappy)],
            ),
        ),
        (
            "series-step",
            series(
                "Waiting",
                "",
                position(),
                axis("queue", Scale::Linear),
                vec![line("queue", true, short.clone())],
            ),
        ),
        (
            "series-points",
            series("Waiting", "", position(), axis("queue", Scale::Linear), vec![line("jobs", false, short)]),
        ),
        (
            "series-long",
            series(
                "Two million positions",
                "one of them far off",
                position(),
                axis("load", Scale::Linear),
                vec![line("load", false, long.finish())],
            ),
        ),
        (
            "series-time",
            series(
                "Errors",
                "",
                axis("time", Scale::Time { origin: day }),
                axis("errors", Scale::Linear),
                vec![line("errors in ten minutes", true, hourly)],
            ),
        ),
        (
            "series-log",
            series(
                "Growth",
                "",
                axis("n", Scale::Log),
                axis("states", Scale::Log),
                vec![
                    line("×2", false, growth(2.0)),
                    line("×1.5", false, growth(1.5)),
                    line(
                        "×1.1, with a start that a logarithm does not have",
                        false,
                        std::iter::once((0.0, Some(1.0))).chain(growth(1.1)),
                    ),
                ],
            ),
        ),
        (
            "series-many",
            series("Fifty sensors", "", position(), axis("value", Scale::Linear), many.collect()),
        ),
        (
            "series-verdict",
            series(
                "Verdicts",
                "",
                axis("since start", Scale::Duration),
                axis("", verdict),
                vec![line("p", true, verdicts)],
            ),
        ),
        (
            "series-one",
            series(
                "A single point",
                "",
                position(),
                signal.clone(),
                vec![line("", false, [(3.0, Some(7.0))])],
            ),
        ),
        (
            "series-none",
            series(
                "Nothing",
                "the query has no value",
                position(),
                signal,
                vec![line("q", false, (0..9).map(|i| (f64::from(i), None)))],
            ),
        ),
        (
            "series-huge",
            series(
                "Huge",
                "",
                position(),
                axis("value", Scale::Linear),
                vec![line("a", false, [(-1e308, Some(f64::MIN)), (0.0, Some(1.0)), (1e308, Some(f64::MAX))])],
            ),
        ),
        (
            "series-narrow",
            series(
                "Narrow",
                "",
                axis("id", Scale::Linear),
                axis("clock", Scale::Linear),
                vec![line(
                    "a",
                    false,
                    (0..30).map(|i| (1e6 + f64::from(i), Some(1.7e12 + f64::from(i * i)))),
                )],
            ),
        ),
    ]
}

fn bars() -> Vec<(&'static str, Chart)> {
    let groups = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let bars = |title: &str, y: Axis, groups, series| {
        chart(title, "", axis("trace", Scale::Linear), y, Body::Bars { groups, series })
    };
    let some = |values: &[f64]| values.iter().map(|&value| Some(value)).collect::<Vec<_>>();
    let long: Vec<String> =
        (0..24).map(|i| format!("tests/traces/run-{i:03}/some very long name.csv")).collect();
    let mut random = noise(7);
    let values =
        |count: usize, random: &mut dyn FnMut() -> f64| (0..count).map(|_| Some(random() * 1e6)).collect();
    vec![
        (
            "bars",
            bars(
                "Mean latency",
                axis("ms", Scale::Linear),
                groups(&["monday", "tuesday", "wednesday"]),
                vec![
                    ("reads".into(), some(&[12.5, 14.0, 9.75])),
                    ("writes".into(), vec![Some(31.25), None, Some(28.0)]),
                    ("deletes & <others>".into(), some(&[3.0, 2.0, 4.5])),
                ],
            ),
        ),
        (
            "bars-negative",
            bars(
                "Change",
                axis("%", Scale::Linear),
                groups(&["a", "b", "c", "d"]),
                vec![(String::new(), some(&[12.0, -7.5, 0.0, 3.25]))],
            ),
        ),
        (
            "bars-long",
            bars(
                "Events by file",
                axis("events", Scale::Linear),
                long,
                vec![("events".into(), values(24, &mut random))],
            ),
        ),
        (
            "bars-log",
            bars(
                "Throughput",
                axis("events per second", Scale::Log),
                groups(&["this", "that", "other"]),
                vec![
                    ("LTL".into(), some(&[2.1e8, 4.0e6, 9.1e5])),
                    ("MTL".into(), some(&[9.7e7, 1.5e6, 0.0])),
                ],
            ),
        ),
        (
            "bars-many",
            bars(
                "Many series",
                axis("value", Scale::Linear),
                (0..6).map(|i| format!("key {i}")).collect(),
                (0..20).map(|i| (format!("property {i}"), values(6, &mut random))).collect(),
            ),
        ),
        ("bars-none", bars("Nothing to compare", axis("value", Scale::Linear), Vec::new(), Vec::new())),
    ]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Some(directory) = std::env::args_os().nth(1) else { return Err("usage: gallery DIRECTORY".into()) };
    let directory = Path::new(&directory);
    std::fs::create_dir_all(directory)?;
    for (name, chart) in histograms().into_iter().chain(lines()).chain(bars()) {
        for extension in ["svg", "png"] {
            tw_plot::write(&chart, &directory.join(format!("{name}.{extension}")))?;
        }
    }
    let wave: Vec<_> = (0..200).map(|i| (i % 50 < 45).then(|| (f64::from(i) / 9.0).sin())).collect();
    println!("{}", tw_plot::sparkline(&wave, 60));
    let rows: Vec<_> = (0..8)
        .map(|i| (format!("[{}, {})", i * 10, i * 10 + 10), Some(f64::from(i * (9 - i)) * 97.0)))
        .collect();
    tw_plot::bars(&rows, 60).iter().for_each(|row| println!("{row}"));
    let rows = [("up", Some(3.5)), ("down", Some(-2.0)), ("level", Some(0.0)), ("unknown", None)];
    let rows: Vec<_> = rows.map(|(name, value)| (name.to_owned(), value)).into();
    tw_plot::bars(&rows, 40).iter().for_each(|row| println!("{row}"));
    Ok(())
}

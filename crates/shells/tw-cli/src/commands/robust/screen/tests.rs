use super::*;

fn screen(color: bool) -> Screen {
    Screen::new(color, false)
}

fn told(position: usize, value: RobustValue) -> RobustTold<'static> {
    RobustTold { index: 0, property: "p", position, time: None, value, minimum: None, newest: position }
}

/// A ramp that falls below its bound at the end.
fn ramp(screen: &mut Screen) {
    screen.signals(&["x".into()]);
    for position in 0..40 {
        let x = position as f64 / 4.0;
        screen.sample(position, &[x], Duration::ZERO);
        screen.told(&told(position, RobustValue::Settled(8.0 - x)));
    }
}

#[test]
fn a_picture_character_by_character() {
    let mut screen = screen(false);
    ramp(&mut screen);
    assert_eq!(
        screen.picture(40, 12),
        [
            "x 9.75",
            "     9.75 │               ⣀⡠⠤⠒⠉",
            "          │          ⣀⡠⠔⠒⠉",
            "          │     ⣀⠤⠔⠊⠉",
            "        0 │⣀⠤⠒⠊⠉",
            "robustness -1.75 · least -1.75",
            "        8 │⠉⠒⠤⣀",
            "          │    ⠉⠒⠤⣀",
            "          │        ⠉⠒⠤⣀",
            "          │            ⠉⠒⠤⣀",
            "    -1.75 │⠁ ⠁ ⠁ ⠁ ⠁ ⠁ ⠁ ⠁ ⠉⠒⠥⣀⠁ ⠁ ⠁ ⠁ ⠁",
            "  position 0                          39",
        ]
    );
}

#[test]
fn what_fails_is_red() {
    let mut screen = screen(true);
    ramp(&mut screen);
    let picture = screen.picture(40, 12);
    assert_eq!(picture[0], "\u{1b}[36mx 9.75\u{1b}[0m");
    assert!(picture[6].contains("\u{1b}[32m"), "{picture:?}");
    assert!(picture[10].contains("\u{1b}[31m"), "{picture:?}");
}

#[test]
fn bounds_of_the_newest_are_two_lines_until_it_is_settled() {
    let mut screen = screen(false);
    screen.sample(0, &[], Duration::ZERO);
    screen.told(&told(0, RobustValue::Bounds(-2.0, 2.0)));
    assert_eq!(
        (screen.strips[0].robustness.range(0).low, screen.strips[0].robustness.range(1).high),
        (-2.0, 2.0)
    );
    screen.told(&told(0, RobustValue::Settled(1.0)));
    assert_eq!(
        (screen.strips[0].robustness.range(0).low, screen.strips[0].robustness.range(1).is_empty()),
        (1.0, true)
    );
    assert!(screen.picture(40, 12)[0].starts_with("robustness 1 · least 1"));
}

#[test]
fn a_fast_stream_is_drawn_whole_and_a_slow_one_scrolls() {
    let mut history = History::new(1, 20);
    for position in 0..1000 {
        history.reach(position, Duration::from_millis(1));
        history.add(position, 0, position as f64);
    }
    assert_eq!((history.span(), history.range(0)), ((0, 999), Range { low: 0.0, high: 999.0 }));
    let mut history = History::new(1, 20);
    for position in 0..1000 {
        history.reach(position, Duration::from_secs(position as u64));
        history.add(position, 0, position as f64);
    }
    assert_eq!((history.span(), history.range(0)), ((980, 999), Range { low: 980.0, high: 999.0 }));
}

#[test]
fn pictures_fit_whatever_comes() {
    let mut screen = screen(false);
    let name = "a signal whose name is longer than any terminal is wide, with all its units and places";
    screen.signals(&[name.into(), "y".into(), "z".into(), "left out".into()]);
    for (position, value) in [f64::NAN, f64::MAX, f64::MIN, 0.0, 1e-300].into_iter().enumerate() {
        screen.sample(position, &[value, f64::NAN, 1.0, 2.0], Duration::ZERO);
        screen.told(&told(position, RobustValue::Settled(value)));
        screen.told(&told(position, RobustValue::Predicted(f64::NEG_INFINITY)));
    }
    for (columns, rows) in [(40, 12), (80, 22), (200, 40)] {
        let picture = screen.picture(columns, rows);
        assert_eq!(picture.len(), rows);
        assert!(picture.iter().all(|line| line.chars().count() <= columns), "{picture:?}");
    }
}

#[test]
fn each_property_has_a_strip_of_its_own() {
    let mut screen = screen(false);
    screen.signals(&["x".into()]);
    for position in 0..20 {
        screen.sample(position, &[position as f64], Duration::ZERO);
        for (index, property) in ["calm", "high", "third", "fourth", "fifth"].into_iter().enumerate() {
            let value = RobustValue::Settled(position as f64 - 3.0 * index as f64);
            screen.told(&RobustTold { index, property, ..told(position, value) });
        }
    }
    let picture = screen.picture(60, 22);
    assert!(picture.len() <= 22, "{picture:#?}");
    let headings: Vec<&String> = picture.iter().filter(|line| line.contains("robustness")).collect();
    assert_eq!(
        headings,
        [
            "calm: robustness 19 · least 0",
            "high: robustness 16 · least -3",
            "third: robustness 13 · least -6",
            "fourth: robustness 10 · least -9 · 1 more not drawn"
        ]
    );
}

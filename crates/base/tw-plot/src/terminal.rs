//! Charts in a terminal.

use crate::number::number;
use crate::text::{columns, cut};

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// The values as one line of at most `width` blocks of eight heights. Missing values are spaces; with more values than
/// blocks, each block shows the greatest of its share. Equal values are a line in the middle.
///
/// ```
/// let values = [Some(1.0), Some(2.0), None, Some(8.0)];
/// assert_eq!(tw_plot::sparkline(&values, 40), "▁▂ █");
/// ```
pub fn sparkline(values: &[Option<f64>], width: usize) -> String {
    let cells = width.min(values.len());
    let share = |cell: usize| {
        // 128 bits: positions times cells may not fit 64.
        let bound = |cell: usize| (values.len() as u128 * cell as u128 / cells as u128) as usize;
        let finite =
            values[bound(cell)..bound(cell + 1)].iter().flatten().copied().filter(|value| value.is_finite());
        finite.reduce(f64::max)
    };
    let shown: Vec<Option<f64>> = (0..cells).map(share).collect();
    let (low, high) = extent(shown.iter().flatten().copied());
    let level = |value: f64| {
        // Halves, as the difference may overflow.
        let part = (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
        if high > low { LEVELS[(part * 7.0).round().clamp(0.0, 7.0) as usize] } else { LEVELS[3] }
    };
    shown.into_iter().map(|value| value.map_or(' ', level)).collect()
}

/// The same with the least and the greatest of its values behind it: a line of blocks alone does not say of what.
///
/// ```
/// let values = [Some(1.0), Some(2.0), None, Some(8.0)];
/// assert_eq!(tw_plot::sparkline_between(&values, 40), "▁▂ █  1 to 8");
/// ```
pub fn sparkline_between(values: &[Option<f64>], width: usize) -> String {
    let line = sparkline(values, width);
    let (low, high) = extent(values.iter().flatten().copied().filter(|value| value.is_finite()));
    match low <= high && !line.is_empty() {
        true if low == high => format!("{line}  {}", number(low)),
        true => format!("{line}  {} to {}", number(low), number(high)),
        false => line,
    }
}

fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

/// Rows of a name, a number and a bar, in at most `width` columns (and at least 24). Bars are exact to an eighth of a
/// column; those of negative numbers run left from the same zero, to half a column. Missing numbers are `⊥`.
///
/// ```
/// let rows = [("open".into(), Some(1_200.0)), ("closed".into(), Some(300.0)), ("lost".into(), None)];
/// let shown = tw_plot::bars(&rows, 32);
/// assert_eq!(shown, ["open    1,200 ██████████████████", "closed    300 ████▌", "lost        ⊥"]);
/// ```
pub fn bars(rows: &[(String, Option<f64>)], width: usize) -> Vec<String> {
    let width = width.max(24);
    let values: Vec<_> = rows.iter().map(|row| row.1.filter(|value| value.is_finite())).collect();
    let numbers: Vec<_> = values.iter().map(|value| value.map_or("⊥".into(), number)).collect();
    let names: Vec<_> = rows.iter().map(|row| cut(&row.0, width / 3)).collect();
    let widest = |texts: &[String]| texts.iter().map(|text| columns(text)).max().unwrap_or(0);
    let (name_width, number_width) = (widest(&names), widest(&numbers));
    let room = width.saturating_sub(name_width + number_width + 3).max(1);
    let (low, high) = extent(values.iter().flatten().copied());
    let (low, high) = (low.min(0.0), high.max(0.0));
    // Columns left of zero.
    let span = high / 2.0 - low / 2.0;
    let part = |value: f64| if span > 0.0 { value.abs() / 2.0 / span * room as f64 } else { 0.0 };
    let left = if low < 0.0 { part(low).ceil().min(room as f64) as usize } else { 0 };
    let scale =
        if low < 0.0 { (left as f64 / part(low)).min((room - left) as f64 / part(high)) } else { 1.0 };
    let scale = if scale.is_finite() { scale } else { 1.0 };
    let line = |((name, number), value): ((&String, &String), &Option<f64>)| {
        let pad = |text: &str, to: usize| " ".repeat(to - columns(text));
        let mut line = format!("{name}{}  {}{number} ", pad(name, name_width), pad(number, number_width));
        if let Some(value) = *value {
            let long = part(value) * scale;
            line.push_str(&if value < 0.0 {
                leftward(long, left)
            } else {
                " ".repeat(left) + &rightward(long)
            });
        }
        line.truncate(line.trim_end().len());
        line
    };
    names.iter().zip(&numbers).zip(&values).map(line).collect()
}

fn rightward(long: f64) -> String {
    let eighths = (long * 8.0).round() as usize;
    // What is not zero is seen.
    let eighths = if long > 0.0 { eighths.max(1) } else { 0 };
    let mut bar = "█".repeat(eighths / 8);
    bar.extend((eighths % 8 > 0).then(|| EIGHTHS[eighths % 8]));
    bar
}

fn leftward(long: f64, room: usize) -> String {
    let halves = ((long * 2.0).round() as usize).clamp(1, 2 * room.max(1));
    let used = halves.div_ceil(2);
    let mut bar = " ".repeat(room.saturating_sub(used));
    bar.extend((!halves.is_multiple_of(2)).then_some('▐'));
    bar + &"█".repeat(halves / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparklines_resample_by_the_greatest() {
        let mut values = vec![Some(0.0); 1_000];
        values[501] = Some(7.0);
        values[899..1_000].fill(None);
        assert_eq!(sparkline(&values, 10), "▁▁▁▁▁█▁▁▁ ");
        assert_eq!(sparkline(&[Some(3.0); 5], 80), "▄▄▄▄▄");
        assert_eq!(sparkline(&[None; 3], 80), "   ");
        assert_eq!(sparkline(&[], 80), "");
        assert_eq!(sparkline(&[Some(1.0)], 0), "");
        assert_eq!(
            sparkline(&[Some(f64::MIN), Some(f64::MAX), Some(f64::NAN), Some(f64::INFINITY)], 9),
            "▁█  "
        );
    }

    #[test]
    fn bars_are_aligned() {
        let rows = [
            ("a", Some(4.0)),
            ("日本", Some(1.0)),
            ("a name that is much too long", Some(0.01)),
            ("z", None),
        ];
        let rows = rows.map(|(name, value)| (name.to_owned(), value));
        let shown = bars(&rows, 30);
        assert_eq!(
            shown,
            [
                "a              4 █████████████",
                "日本           1 ███▎",
                "a name th…  0.01 ▏",
                "z              ⊥"
            ]
        );
        assert!(shown.iter().all(|row| columns(row) <= 30));
    }

    #[test]
    fn negative_bars_share_the_zero() {
        let rows = [-2.0, 0.0, 2.0, -1.0, -1e-9].map(|value| (String::from("v"), Some(value)));
        let shown = bars(&rows, 27);
        assert_eq!(
            shown,
            [
                "v     -2 █████████",
                "v      0",
                "v      2          █████████",
                "v     -1     ▐████",
                "v  -1e-9         ▐"
            ]
        );
        let huge = [f64::MIN, f64::MAX].map(|value| (String::from("v"), Some(value)));
        assert!(bars(&huge, 40).iter().all(|row| columns(row) <= 40));
        assert_eq!(bars(&[("x".into(), Some(-3.0))], 26), ["x  -3 ████████████████████"]);
        assert!(bars(&[], 26).is_empty());
    }
}

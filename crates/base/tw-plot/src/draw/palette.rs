//! Colours that people with any colour vision tell apart (after Okabe and Ito; yellow is left out, it vanishes on white).

/// The colours, in the order of series.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#737b88"];
/// Series beyond the colours repeat them with other dashes.
const DASHES: [&str; 8] = ["", "7 3", "2 2.5", "9 3 2 3", "14 4", "4 6", "9 3 2 3 2 3", "1 5"];

/// The last series that has a colour of its own.
pub(super) fn last() -> usize {
    COLOURS.len() - 1
}

/// The colour of a series.
pub(super) fn colour(index: usize) -> &'static str {
    COLOURS[index % COLOURS.len()]
}

/// Attributes of the line of a series.
pub(super) fn line(index: usize) -> String {
    let dashes = DASHES[index / COLOURS.len() % DASHES.len()];
    let dashes = if dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dashes}\"") };
    format!("stroke=\"{}\"{dashes}", colour(index))
}

/// Attributes of the areas of a series: beyond the colours ever paler, with a border.
pub(super) fn area(index: usize) -> String {
    let round = index / COLOURS.len() % DASHES.len();
    if round == 0 {
        return format!("fill=\"{}\"", colour(index));
    }
    let opacity = [0.5, 0.25, 0.1][(round - 1) % 3];
    format!("fill=\"{}\" fill-opacity=\"{opacity}\" {}", colour(index), line(index))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifty_series_differ() {
        let mut lines: Vec<String> = (0..50).map(line).collect();
        lines.sort();
        lines.dedup();
        assert_eq!(lines.len(), 50);
        let mut areas: Vec<String> = (0..50).map(area).collect();
        areas.sort();
        areas.dedup();
        assert_eq!(areas.len(), 50);
    }
}

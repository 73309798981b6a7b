//! Long formulas on several lines.

use super::expression::Printed;

/// Lines longer than this are broken, if the formula has a place for it.
const WIDTH: usize = 100;
/// Longer ones were not written by hand; breaking them would only take time.
const LIMIT: usize = 4_000;

/// Appends the body of a declaration, or of a line of a block, that begins with `head`, `margin` columns from the left.
pub(super) fn append(out: &mut String, head: &str, body: &Printed, margin: usize) {
    let width = |text: &str| text.chars().count();
    if body.text.len() > LIMIT || margin + width(head) + 1 + width(&body.text) < WIDTH {
        out.push(' ');
        out.push_str(&body.text);
        return;
    }
    // Segments of the one-line form, last on top; each is printed whole if it fits, else broken before its
    // loosest, outermost operators.
    let mut segments = vec![(0, body.text.len(), margin + 4)];
    while let Some((start, end, indent)) = segments.pop() {
        let text = body.text[start..end].trim_end();
        let inside: Vec<_> = body.breaks.iter().filter(|b| start < b.offset && b.offset < end).collect();
        let loosest = inside.iter().map(|b| (b.nesting, b.power)).min();
        match loosest {
            Some((nesting, power)) if indent + width(text) >= WIDTH => {
                let mut cuts: Vec<usize> = inside
                    .iter()
                    .filter(|b| (b.nesting, b.power) == (nesting, power))
                    .map(|b| b.offset)
                    .collect();
                cuts.push(end);
                let mut parts = Vec::new();
                let mut from = start;
                for (i, cut) in cuts.into_iter().enumerate() {
                    parts.push((from, cut, if i == 0 { indent } else { margin + 4 + 4 * nesting as usize }));
                    from = cut;
                }
                segments.extend(parts.into_iter().rev());
            }
            _ => {
                out.push('\n');
                out.extend(std::iter::repeat_n(' ', indent));
                out.push_str(text);
            }
        }
    }
}

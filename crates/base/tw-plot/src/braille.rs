//! Lines in a terminal: eight dots to a character.

/// The bit of each dot of a character, by column and row.
const DOTS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

/// A place for dots, two across and four down in every character. A character has the colour of the line drawn last.
///
/// ```
/// let mut place = tw_plot::Braille::new(3, 1);
/// place.stroke((0, 0), (5, 3), 0);
/// let rows = place.rows();
/// assert_eq!(rows[0].iter().map(|(dot, _)| *dot).collect::<String>(), "⠑⠢⢄");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Braille {
    columns: usize,
    cells: Vec<(u8, u8)>,
}

impl Braille {
    /// An empty place of so many characters.
    pub fn new(columns: usize, rows: usize) -> Self {
        let (columns, rows) = (columns.clamp(1, 10_000), rows.clamp(1, 10_000));
        Braille { columns, cells: vec![(0, 0); columns * rows] }
    }

    /// Dots across and down.
    pub fn size(&self) -> (usize, usize) {
        (self.columns * 2, self.cells.len() / self.columns * 4)
    }

    /// A dot, counted from the top left; beyond the border there is none.
    pub fn dot(&mut self, x: usize, y: usize, colour: u8) {
        let (wide, high) = self.size();
        if x < wide && y < high {
            let cell = &mut self.cells[y / 4 * self.columns + x / 2];
            *cell = (cell.0 | DOTS[x % 2][y % 4], colour);
        }
    }

    /// A straight stroke between two dots.
    pub fn stroke(&mut self, from: (usize, usize), to: (usize, usize), colour: u8) {
        let steps = from.0.abs_diff(to.0).max(from.1.abs_diff(to.1));
        let between = |a: usize, b: usize, step: usize| {
            let (a, b) = (a as f64, b as f64);
            (a + (b - a) * step as f64 / steps.max(1) as f64).round() as usize
        };
        for step in 0..=steps {
            self.dot(between(from.0, to.0, step), between(from.1, to.1, step), colour);
        }
    }

    /// The characters of each row and their colours; a character without dots is a blank.
    pub fn rows(&self) -> Vec<Vec<(char, u8)>> {
        let shown = |&(dots, colour): &(u8, u8)| match dots {
            0 => (' ', 0),
            dots => (char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' '), colour),
        };
        self.cells.chunks(self.columns).map(|row| row.iter().map(shown).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(place: &Braille) -> Vec<String> {
        place.rows().iter().map(|row| row.iter().map(|(dot, _)| *dot).collect()).collect()
    }

    #[test]
    fn every_dot_has_its_place() {
        let mut place = Braille::new(1, 1);
        let shown: Vec<String> = (0..2)
            .flat_map(|x| (0..4).map(move |y| (x, y)))
            .map(|(x, y)| {
                place.dot(x, y, 0);
                text(&place).concat()
            })
            .collect();
        assert_eq!(shown, ["⠁", "⠃", "⠇", "⡇", "⡏", "⡟", "⡿", "⣿"]);
    }

    #[test]
    fn strokes_go_any_way_and_stay_inside() {
        let mut place = Braille::new(4, 2);
        assert_eq!(place.size(), (8, 8));
        place.stroke((0, 7), (7, 0), 1);
        assert_eq!(text(&place), ["  ⡠⠊", "⡠⠊  "]);
        place.stroke((0, 0), (0, 7), 2);
        place.stroke((7, 7), (20, 7), 3);
        assert_eq!(text(&place), ["⡇ ⡠⠊", "⡧⠊ ⢀"]);
        let colours: Vec<u8> = place.rows().concat().into_iter().map(|(_, colour)| colour).collect();
        assert_eq!(colours, [2, 0, 1, 1, 2, 1, 0, 3]);
    }
}

//! A picture of a stream in the terminal: signals above, below them a strip with the robustness of each property, the newest at the
//! right.
//!
//! A column of dots stands for a number of samples that doubles whenever a screenful passes too fast to be read; of each
//! column the least and the greatest value are kept, so memory is that of the screen.

pub(in crate::commands) mod history;

use crate::style::{Ink, Style};
use crate::words;
use history::{History, Range};
use std::io::{self, Write};
use std::time::Duration;
use tracewise::plot::Braille;
use tracewise::robust::{RobustTold, RobustValue};

/// Characters at the left for numbers.
const GUTTER: usize = 11;
/// Signals drawn; more lines are not told apart.
const SIGNALS: usize = 3;
/// Colours of a terminal: of signals, of robustness that holds and that does not, of zero.
const COLOURS: [u8; SIGNALS] = [36, 33, 35];
const GOOD: u8 = 32;
const BAD: u8 = 31;
const ZERO: u8 = 90;
/// Smallest and largest picture, in characters.
const LEAST: (usize, usize) = (40, 12);
const MOST: (usize, usize) = (200, 40);

/// Strips of properties that are drawn; more would be too low to be read.
const STRIPS: usize = 4;

/// What is told of a property.
struct Strip {
    name: String,
    robustness: History,
    /// The newest value, and the least settled one.
    value: Option<RobustValue>,
    least: f64,
}

/// Draws a stream.
pub struct Screen {
    color: bool,
    /// Drawn on standard error, because the output goes elsewhere.
    on_errors: bool,
    names: Vec<String>,
    signals: History,
    /// Of the properties that something was told of, in their order; there is at least one.
    strips: Vec<Strip>,
    /// Properties beyond those that are drawn.
    more: usize,
    /// The newest values of signals.
    now: Vec<f64>,
    /// Rows of the last picture, to be drawn over.
    rows: usize,
    dirty: bool,
    drawn: Option<Duration>,
}

impl Screen {
    /// How often it is drawn at most.
    pub const EVERY: Duration = Duration::from_millis(100);

    /// An empty one.
    pub fn new(color: bool, on_errors: bool) -> Self {
        let columns = size().0 - GUTTER;
        Screen {
            color,
            on_errors,
            names: Vec::new(),
            signals: History::new(SIGNALS, 2 * columns),
            strips: vec![Strip::new(columns)],
            more: 0,
            now: Vec::new(),
            rows: 0,
            dirty: false,
            drawn: None,
        }
    }

    /// Whether lines of output do not disturb it.
    pub fn beside_output(&self) -> bool {
        self.on_errors
    }

    /// The signals to come.
    pub fn signals(&mut self, names: &[String]) {
        self.names = names.iter().take(SIGNALS).cloned().collect();
    }

    /// A sample, so long after the start.
    pub fn sample(&mut self, position: usize, signals: &[f64], elapsed: Duration) {
        self.now = signals.iter().take(SIGNALS).copied().collect();
        self.signals.reach(position, elapsed);
        self.strips.iter_mut().for_each(|strip| strip.robustness.follow(&self.signals));
        for (index, &value) in self.now.iter().enumerate() {
            self.signals.add(position, index, value);
        }
        self.dirty = true;
    }

    /// A value of a property.
    pub fn told(&mut self, told: &RobustTold<'_>) {
        if told.index >= STRIPS {
            self.more = self.more.max(told.index + 1 - STRIPS);
            return;
        }
        while self.strips.len() <= told.index {
            let mut strip = Strip::new(size().0 - GUTTER);
            strip.robustness.follow(&self.signals);
            self.strips.push(strip);
        }
        let strip = &mut self.strips[told.index];
        if strip.name.is_empty() {
            told.property.clone_into(&mut strip.name);
        }
        match told.value {
            RobustValue::Settled(value) => {
                strip.least = strip.least.min(value);
                // What was bounded or predicted before is known now.
                strip.robustness.replace(told.position, value);
            }
            RobustValue::Predicted(value) => strip.robustness.add(told.position, 0, value),
            RobustValue::Bounds(lower, upper) if told.position == told.newest => {
                strip.robustness.add(told.position, 0, lower);
                strip.robustness.add(told.position, 1, upper);
            }
            RobustValue::Bounds(..) => return,
        }
        strip.value = Some(told.value);
        self.dirty = true;
    }

    /// Draws, if something has changed and the last picture is not too young.
    pub fn draw_soon(&mut self, elapsed: Duration) -> io::Result<()> {
        match self.drawn {
            Some(drawn) if elapsed.saturating_sub(drawn) < Self::EVERY => Ok(()),
            _ => self.draw(elapsed),
        }
    }

    /// Something else was written in the terminal: the next picture stands below it.
    pub fn interrupted(&mut self) {
        self.rows = 0;
    }

    /// Draws, if something has changed.
    pub fn draw(&mut self, elapsed: Duration) -> io::Result<()> {
        if !self.dirty {
            return Ok(());
        }
        self.drawn = Some(elapsed);
        self.dirty = false;
        let (columns, rows) = size();
        let lines = self.picture(columns, rows);
        match self.on_errors {
            true => redraw(&lines, &mut self.rows, &mut io::stderr().lock()),
            false => redraw(&lines, &mut self.rows, &mut io::stdout().lock()),
        }
    }

    /// The picture, in lines of at most so many characters.
    fn picture(&self, columns: usize, rows: usize) -> Vec<String> {
        let style = Style { color: self.color, width: Some(columns) };
        let wide = columns.saturating_sub(GUTTER).max(1);
        let strips = self.strips.len();
        // A heading each, and a line below.
        let plots = rows.saturating_sub(2 + strips).max(1 + strips);
        let above = if self.names.is_empty() { 0 } else { plots / (1 + strips) };
        let below = if self.names.is_empty() { plots + 1 } else { plots - above };
        let mut lines = Vec::with_capacity(rows);
        if above > 0 {
            lines.push(self.legend(columns));
            let mut place = Braille::new(wide, above);
            let ranges: Vec<Range> = (0..self.names.len()).map(|index| self.signals.range(index)).collect();
            for (index, range) in ranges.iter().enumerate().rev() {
                self.signals.draw(&mut place, index, *range, |_| COLOURS[index]);
            }
            // Several signals have several scales, which the legend tells.
            let range = if let [one] = ranges.as_slice() { Some(*one) } else { None };
            self.framed(&mut lines, &place, range);
        }
        for (index, strip) in self.strips.iter().enumerate() {
            // What cannot be divided goes to the first.
            let high = below / strips + if index == 0 { below % strips } else { 0 };
            let ink = if strip.least < 0.0 { Ink::Bad } else { Ink::Good };
            let name =
                if strips > 1 { format!("{}: ", words::printable(&strip.name)) } else { String::new() };
            let more = match self.more {
                more if more > 0 && index + 1 == strips => format!(" · {more} more not drawn"),
                _ => String::new(),
            };
            let heading = words::clip(&format!("{name}robustness {}{more}", strip.now()), columns);
            lines.push(style.paint(ink, heading));
            let mut place = Braille::new(wide, high);
            let range = strip.robustness.range(0).joined(strip.robustness.range(1)).with(0.0);
            let (across, high) = place.size();
            let zero = range.row(0.0, high);
            (0..across).step_by(4).for_each(|x| place.dot(x, zero, ZERO));
            let colour = |value: f64| if value < 0.0 { BAD } else { GOOD };
            strip.robustness.draw(&mut place, 1, range, colour);
            strip.robustness.draw(&mut place, 0, range, colour);
            self.framed(&mut lines, &place, Some(range));
        }
        let (from, to) = self.signals.span();
        let ends = (from.to_string(), to.to_string());
        let gap = wide.saturating_sub(ends.0.len() + ends.1.len()).max(1);
        let below = format!("{:>GUTTER$}{}{}{}", "position ", ends.0, " ".repeat(gap), ends.1);
        lines.push(style.paint(Ink::Faint, words::clip(&below, columns)));
        lines
    }

    /// The signals, their newest value and what they range over.
    fn legend(&self, columns: usize) -> String {
        let each = columns / self.names.len().max(1);
        let mut line = String::new();
        for (index, name) in self.names.iter().enumerate() {
            let value = self.now.get(index).copied().filter(|value| value.is_finite());
            let value = value.map_or("no value".into(), crate::words::number);
            let range = self.signals.range(index);
            let range = match self.names.len() > 1 && !range.is_empty() {
                true => {
                    format!(" [{}, {}]", crate::words::number(range.low), crate::words::number(range.high))
                }
                false => String::new(),
            };
            let shown =
                words::clip(&format!("{} {value}{range}", words::printable(name)), each.saturating_sub(2));
            let pad = " ".repeat(each.saturating_sub(shown.chars().count()));
            let last = index + 1 == self.names.len();
            line.push_str(&painted(&shown, COLOURS[index], self.color));
            line.push_str(if last { "" } else { &pad });
        }
        line
    }

    /// A place for dots with the ends of its range at the left.
    fn framed(&self, lines: &mut Vec<String>, place: &Braille, range: Option<Range>) {
        let rows = place.rows();
        let last = rows.len() - 1;
        let zero = range.filter(|range| range.low < 0.0 && range.high > 0.0);
        let zero = zero.map(|range| range.row(0.0, place.size().1) / 4);
        for (index, row) in rows.iter().enumerate() {
            let label = match (range.filter(|range| !range.is_empty()), index) {
                (Some(range), 0) => crate::words::number(range.high),
                (Some(range), index) if index == last => crate::words::number(range.low),
                (Some(_), index) if Some(index) == zero => "0".into(),
                _ => String::new(),
            };
            let label = words::clip(&label, GUTTER - 2);
            let mut line = format!("{label:>width$} │", width = GUTTER - 2);
            let end = row.iter().rposition(|(dots, _)| *dots != ' ').map_or(0, |last| last + 1);
            let mut at = 0;
            while at < end {
                let colour = row[at].1;
                let stretch = row[at..end].iter().take_while(|(_, other)| *other == colour);
                let text: String = stretch.map(|(dots, _)| *dots).collect();
                at += text.chars().count();
                line.push_str(&painted(&text, colour, self.color));
            }
            lines.push(line);
        }
    }
}

impl Strip {
    fn new(columns: usize) -> Self {
        let robustness = History::new(2, 2 * columns);
        Strip { name: String::new(), robustness, value: None, least: f64::INFINITY }
    }

    /// Its newest value, and the least.
    fn now(&self) -> String {
        let value = match self.value {
            None => "nothing is settled yet".to_string(),
            Some(RobustValue::Settled(value)) => crate::words::number(value),
            Some(RobustValue::Predicted(value)) => format!("{}, predicted", crate::words::number(value)),
            Some(RobustValue::Bounds(lower, upper)) => {
                format!("between {} and {}", crate::words::number(lower), crate::words::number(upper))
            }
        };
        match self.least {
            f64::INFINITY => value,
            least => format!("{value} · least {}", crate::words::number(least)),
        }
    }
}

fn painted(text: &str, colour: u8, color: bool) -> String {
    match color && colour != 0 {
        true => format!("\u{1b}[{colour}m{text}\u{1b}[0m"),
        false => text.to_string(),
    }
}

/// Draws lines over those of the last picture, which were so many.
pub(in crate::commands) fn redraw(lines: &[String], rows: &mut usize, out: &mut dyn Write) -> io::Result<()> {
    let mut picture = String::new();
    if *rows > 0 {
        picture.push_str(&format!("\u{1b}[{rows}A\r"));
    }
    for line in lines {
        // What is left of the last picture is cleared.
        picture.push_str(&format!("{line}\u{1b}[K\n"));
    }
    // And what was below it.
    picture.push_str("\u{1b}[J");
    *rows = lines.len();
    out.write_all(picture.as_bytes())?;
    out.flush()
}

/// Characters across and down that a picture may take.
pub(in crate::commands) fn size() -> (usize, usize) {
    let (columns, rows) = match terminal_size::terminal_size() {
        Some((columns, rows)) => (usize::from(columns.0), usize::from(rows.0)),
        None => (80, 24),
    };
    // The last row is the cursor's.
    let rows = rows.saturating_sub(1).min(22);
    (columns.clamp(LEAST.0, MOST.0), rows.clamp(LEAST.1, MOST.1))
}

#[cfg(test)]
mod tests;

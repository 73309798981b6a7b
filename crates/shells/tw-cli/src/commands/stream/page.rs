//! A page of streams in the terminal: of each number a line of blocks, its range and its value; what else is there as it is
//! now; alarms below.
//!
//! A block stands for a number of positions that doubles whenever a screenful passes too fast to be read: memory is that of
//! the screen.

use super::cell;
use crate::commands::robust::screen::history::History;
use crate::commands::robust::screen::{redraw, size};
use crate::style::{Ink, Style};
use crate::words;
use std::io::{self, Write};
use std::time::Duration;
use tracewise::Value;
use tracewise::ir::StreamType;
use tracewise::plot::sparkline;
use tracewise::stream::{StreamAlarm, StreamRow};

/// Names are cut to this many characters, values to the next.
const NAME: usize = 24;
const VALUE: usize = 16;
/// Characters for the ends of a range.
const RANGE: usize = 24;

/// The page.
pub(super) struct Page {
    style: Style,
    streams: Vec<(String, StreamType)>,
    alarms: Vec<StreamAlarm>,
    /// Of each alarm how often it was raised, and where last.
    raised: Vec<(u64, usize)>,
    history: History,
    now: Vec<Value>,
    position: Option<usize>,
    /// Lines of the last page, to be drawn over.
    rows: usize,
    dirty: bool,
    drawn: Option<Duration>,
}

impl Page {
    /// How often it is drawn at most.
    pub const EVERY: Duration = Duration::from_millis(100);

    /// An empty one.
    pub fn new(style: Style) -> Self {
        Page {
            style,
            streams: Vec::new(),
            alarms: Vec::new(),
            raised: Vec::new(),
            history: History::new(0, 1),
            now: Vec::new(),
            position: None,
            rows: 0,
            dirty: false,
            drawn: None,
        }
    }

    /// The streams and alarms to come.
    pub fn begin(&mut self, streams: &[(String, StreamType)], alarms: &[StreamAlarm]) {
        (self.streams, self.alarms) = (streams.to_vec(), alarms.to_vec());
        self.raised = vec![(0, 0); alarms.len()];
        self.history = History::new(streams.len(), 200);
    }

    /// A position, so long after the start.
    pub fn row(&mut self, row: StreamRow<'_>, elapsed: Duration) {
        self.history.reach(row.position, elapsed);
        for (index, value) in row.values.iter().enumerate() {
            match value {
                Value::Int(number) => self.history.add(row.position, index, *number as f64),
                Value::Real(number) => self.history.add(row.position, index, *number),
                _ => {}
            }
        }
        for &alarm in row.alarms {
            self.raised[alarm] = (self.raised[alarm].0 + 1, row.position);
        }
        self.now.clear();
        self.now.extend_from_slice(row.values);
        (self.position, self.dirty) = (Some(row.position), true);
    }

    /// Something else was written in the terminal: the next page stands below it.
    pub fn interrupted(&mut self) {
        self.rows = 0;
    }

    /// Draws, if something has changed and the last page is not too young.
    pub fn draw_soon(&mut self, elapsed: Duration, out: &mut dyn Write) -> io::Result<()> {
        match self.drawn {
            Some(drawn) if elapsed.saturating_sub(drawn) < Self::EVERY => Ok(()),
            _ => self.draw(elapsed, out),
        }
    }

    /// Draws, if something has changed.
    pub fn draw(&mut self, elapsed: Duration, out: &mut dyn Write) -> io::Result<()> {
        if !self.dirty {
            return Ok(());
        }
        (self.drawn, self.dirty) = (Some(elapsed), false);
        let (columns, rows) = size();
        let lines = self.lines(columns, rows);
        redraw(&lines, &mut self.rows, out)
    }

    /// The page, in lines of at most so many characters.
    pub fn lines(&self, columns: usize, rows: usize) -> Vec<String> {
        let Some(position) = self.position else { return Vec::new() };
        let width = |name: &String| words::printable(name).chars().count();
        let names = self.streams.iter().map(|(name, _)| width(name)).max().unwrap_or(0).min(NAME);
        // Name, blocks, value, range, and two blanks between them.
        let blocks = columns.saturating_sub(names + VALUE + RANGE + 6);
        let mut lines =
            vec![self.style.paint(Ink::Faint, words::clip(&format!("position {position}"), columns))];
        // Alarms are never crowded out.
        let alarms = self.raised.iter().filter(|(count, _)| *count > 0).count().min(rows / 2);
        let room = rows.saturating_sub(1 + alarms);
        let shown = if self.streams.len() > room { room.saturating_sub(1) } else { self.streams.len() };
        for (index, (name, ty)) in self.streams.iter().enumerate().take(shown) {
            let name = words::clip(&words::printable(name), names);
            let value = match self.now.get(index) {
                None | Some(Value::Null) => "no value".to_owned(),
                Some(value) => words::clip(&words::printable(&cell(value)), VALUE),
            };
            let line = match ty {
                StreamType::Int | StreamType::Real => {
                    let range = self.history.range(index);
                    let range = match range.is_empty() {
                        true => String::new(),
                        false => format!("[{}, {}]", words::number(range.low), words::number(range.high)),
                    };
                    let spark = sparkline(&self.history.greatest(index), blocks);
                    format!("{name:names$}  {spark:blocks$}  {value:>VALUE$}  {range}")
                }
                _ => format!("{name:names$}  {:blocks$}  {value:>VALUE$}", ""),
            };
            lines.push(words::clip(line.trim_end(), columns));
        }
        if shown < self.streams.len() {
            let more = format!("… {} more", self.streams.len() - shown);
            lines.push(self.style.paint(Ink::Faint, words::clip(&more, columns)));
        }
        let raised = self.alarms.iter().zip(&self.raised).filter(|(_, (count, _))| *count > 0);
        for (alarm, (count, last)) in raised.take(alarms) {
            let title = alarm.title.as_ref().map_or(String::new(), |title| format!(" {title}:"));
            let times = words::counted(*count, "time");
            let line = format!("✗ {}{title} {times}, last at position {last}", alarm.name);
            lines.push(self.style.paint(Ink::Bad, words::clip(&words::printable(&line), columns)));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> Page {
        let mut page = Page::new(Style { color: false, width: Some(80) });
        let streams = [("level", StreamType::Real), ("n", StreamType::Int), ("on", StreamType::Bool)];
        let alarm = StreamAlarm { name: "high".into(), title: Some("the tank is full".into()) };
        let quiet = StreamAlarm { name: "never".into(), title: None };
        page.begin(&streams.map(|(name, ty)| (name.to_owned(), ty)), &[alarm, quiet]);
        page
    }

    fn fill(page: &mut Page, count: usize) {
        for position in 0..count {
            let level = position as f64 / 2.0;
            let values = [Value::Real(level), Value::Null, Value::Bool(position % 2 == 1)];
            let alarms: &[usize] = if level > 2.5 { &[0] } else { &[] };
            page.row(StreamRow { position, values: &values, alarms }, Duration::ZERO);
        }
    }

    #[test]
    fn a_page_character_by_character() {
        let mut page = page();
        assert!(page.lines(80, 22).is_empty());
        fill(&mut page, 8);
        assert_eq!(
            page.lines(80, 22),
            [
                "position 7",
                "level  ▁▂▃▄▅▆▇█                                    3.5  [0, 3.5]",
                "n                                             no value",
                "on                                                true",
                "✗ high the tank is full: 2 times, last at position 7",
            ]
        );
    }

    #[test]
    fn pages_fit_and_alarms_stay() {
        let mut page = page();
        fill(&mut page, 5000);
        for (columns, rows) in [(40, 12), (80, 4), (200, 40)] {
            let lines = page.lines(columns, rows);
            assert!(lines.len() <= rows, "{lines:?}");
            assert!(lines.iter().all(|line| line.chars().count() <= columns), "{lines:?}");
            assert!(lines.last().is_some_and(|line| line.starts_with("✗ high")), "{lines:?}");
        }
        assert!(page.lines(80, 4).iter().any(|line| line == "… 2 more"), "{:?}", page.lines(80, 4));
    }

    /// The second page is drawn over the first, and only if something is new.
    #[test]
    fn a_page_is_drawn_over_the_last() {
        let mut page = page();
        fill(&mut page, 1);
        let mut out = Vec::new();
        page.draw(Duration::ZERO, &mut out).unwrap();
        let first = String::from_utf8(std::mem::take(&mut out)).unwrap();
        assert!(first.starts_with("position 0\u{1b}[K\n"), "{first:?}");
        page.draw(Duration::ZERO, &mut out).unwrap();
        assert!(out.is_empty());
        fill(&mut page, 2);
        page.draw_soon(Duration::from_millis(50), &mut out).unwrap();
        assert!(out.is_empty(), "too soon");
        page.draw_soon(Duration::from_millis(150), &mut out).unwrap();
        let second = String::from_utf8(out).unwrap();
        assert!(second.starts_with("\u{1b}[4A\rposition 1\u{1b}[K\n"), "{second:?}");
    }
}

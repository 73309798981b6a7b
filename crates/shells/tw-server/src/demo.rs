//! An example: a specification, and a generator of events that now and then violate it.

use crate::server::Shared;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The example specification.
const SPEC: &str = include_str!("demo.tw");
/// The stream of the example's events.
const STREAM: &str = "demo";
/// Between two requests.
const PAUSE: Duration = Duration::from_millis(200);

/// Puts the example specification into a folder, unless one of its name is there.
pub fn write_spec(folder: &Path) -> std::io::Result<()> {
    let path = folder.join("demo.tw");
    if path.exists() {
        return Ok(());
    }
    std::fs::create_dir_all(folder)?;
    tracewise::files::write_file(&path, SPEC.as_bytes())
}

/// Numbers that look as if they were thrown: the example is the same each time.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// Sends requests and their answers, some of them late or wrong, until the server ends.
pub fn generate(shared: &Shared) {
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let mut open: Vec<(u64, u64)> = Vec::new();
    for number in 0.. {
        if shared.ending.load(Ordering::SeqCst) {
            return;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        let user = dice.throw(5);
        let path = ["/", "/login", "/cart", "/pay"][dice.throw(4) as usize];
        let mut lines = format!(
            "{{\"time\": {now:.3}, \"event\": \"request\", \"id\": \"r{number}\", \"user\": \"u{user}\", \"path\": \"{path}\"}}\n"
        );
        // One in thirty is never answered, one in forty answered with an error, one in fifty to nobody.
        if dice.throw(30) > 0 {
            open.push((number + dice.throw(4), number));
        }
        open.retain(|&(due, id)| {
            if due > number {
                return true;
            }
            let status = if dice.throw(40) == 0 { 503 } else { 200 };
            let id = if dice.throw(50) == 0 { format!("x{id}") } else { format!("r{id}") };
            let ms = 5 + dice.throw(300);
            lines.push_str(&format!(
                "{{\"time\": {now:.3}, \"event\": \"response\", \"id\": \"{id}\", \"status\": {status}, \"ms\": {ms}}}\n"
            ));
            false
        });
        let sent = shared.stream(STREAM).map(|stream| stream.take(lines.as_bytes(), false, None));
        if !matches!(sent, Ok(Ok(_))) {
            shared.say("the events of the example are not taken".into());
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

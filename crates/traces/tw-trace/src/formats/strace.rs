//! `strace`: what `strace -f -ttt` writes. A position is a line, its event the system call.
//!
//! ```text
//! 1234  1700000000.123456 openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 3
//! 1234  1700000000.123789 read(3,  <unfinished ...>
//! 1234  1700000000.124001 <... read resumed>"root", 4) = 4
//! 1234  1700000000.130000 +++ exited with 0 +++
//! ```
//!
//! Variables are `pid` and `thread` (which are the same here), `arg0`, `arg1`, …, `result` and `errno`; arguments of frequent
//! calls also have the names that recorded programs give them: `fd`, `path`, `flags`, … (`NAMED`). A call that is interrupted
//! is two events, `read` and `read_resumed`; a signal is an event of its name, the end of a process `exited` or `killed`.

use super::line::Lines;
use super::text::{self, LineFormat, Source, With, push};
use crate::{
    Arguments, Bytes, Event, FastPath, FormatCard, Likeness, Outline, Projection, ReadOptions, Reading, Row,
    Stamp, TimeStyle, TraceError, TraceFormat, Writing, quote,
};
use std::io::Write;
use tw_core::{TimeUnit, Value};

/// The format.
pub struct Strace;

impl TraceFormat for Strace {
    fn card(&self) -> FormatCard {
        FormatCard {
            name: "strace",
            extensions: &["strace"],
            about: "system calls (`strace -f -ttt`): events with pid, arg0, arg1, …, result, errno",
            open_vocabulary: true,
        }
    }

    fn rows<'a>(&self, input: Bytes<'a>, options: &ReadOptions) -> Reading<'a> {
        Ok(Box::new(Source::new(Lines::new(input, options), &Strace, options)))
    }

    fn blocks(&self, _head: &[u8], projection: &Projection, options: &ReadOptions) -> FastPath {
        text::Reader::start(&Strace, projection, options)
    }

    fn numbers(&self) -> Option<TimeUnit> {
        Some(TimeUnit::Seconds)
    }

    fn resolves_years(&self) -> bool {
        true
    }

    fn writer<'a>(&self, out: Box<dyn Write + 'a>, _outline: Outline<'_>) -> Writing<'a> {
        text::writer(out, "strace")
    }

    fn look(&self, head: &[u8]) -> Likeness {
        let (mut lines, mut good) = (0, 0);
        for line in crate::look::lines(head).filter_map(|line| std::str::from_utf8(line).ok()) {
            lines += 1;
            let call = Call::parse(line).ok();
            good += usize::from(call.is_some_and(|call| call.time.is_some() || call.result.is_some()));
        }
        if lines > 0 && good * 10 >= lines * 8 { Likeness::Sure } else { Likeness::No }
    }
}

/// Arguments with names, in the order of `arg0`, `arg1`, …; `-` has none.
const NAMED: &[(&str, &str)] = &[
    ("open", "path flags mode"),
    ("openat", "folder path flags mode"),
    ("creat", "path mode"),
    ("close", "fd"),
    ("read", "fd buffer size"),
    ("write", "fd buffer size"),
    ("lseek", "fd offset whence"),
    ("dup", "fd"),
    ("dup2", "fd fd2"),
    ("dup3", "fd fd2 flags"),
    ("fcntl", "fd command value"),
    ("fsync", "fd"),
    ("fdatasync", "fd"),
    ("ftruncate", "fd size"),
    ("flock", "fd"),
    ("epoll_create1", "flags"),
    ("epoll_ctl", "fd - fd2"),
    ("eventfd2", "count flags"),
    ("memfd_create", "path"),
    ("mmap", "- size"),
    ("munmap", "block size"),
    ("unlink", "path"),
    ("rename", "path path2"),
    ("mkdir", "path mode"),
    ("rmdir", "path"),
    ("access", "path"),
    ("chmod", "path mode"),
    ("socket", "family kind"),
    ("bind", "fd address"),
    ("listen", "fd count"),
    ("accept", "fd"),
    ("accept4", "fd - - flags"),
    ("connect", "fd address"),
    ("sendto", "fd buffer size"),
    ("recvfrom", "fd buffer size"),
    ("sendmsg", "fd"),
    ("recvmsg", "fd"),
    ("shutdown", "fd"),
    ("setsockopt", "fd"),
    ("execve", "path"),
    ("wait4", "child"),
    ("kill", "child"),
];

/// Calls whose result recorded programs have under a name: what `munmap` gives up is what `mmap` got.
const RESULTS: &[(&str, &str)] = &[("mmap", "block")];

/// Calls that write a pair of descriptors, and which argument tells it.
const PAIRS: &[(&str, usize)] = &[("pipe", 0), ("pipe2", 0), ("socketpair", 3)];

/// The pieces of a line.
#[derive(Default)]
struct Call<'l> {
    pid: &'l str,
    time: Option<&'l str>,
    name: String,
    arguments: Vec<&'l str>,
    result: Option<&'l str>,
    errno: &'l str,
}

impl<'l> Call<'l> {
    /// `Err` is where the line differs, and what was expected there.
    fn parse(line: &'l str) -> Result<Self, (&'l str, &'static str)> {
        let mut call = Call::default();
        let mut rest = line.trim_start();
        if let Some(after) = rest.strip_prefix("[pid ") {
            let (pid, after) = after.split_once(']').ok_or((rest, "`[pid N]`"))?;
            (call.pid, rest) = (pid.trim(), after.trim_start());
        } else if let Some((pid, after)) = rest.split_once(' ')
            && !pid.is_empty()
            && pid.bytes().all(|byte| byte.is_ascii_digit())
        {
            (call.pid, rest) = (pid, after.trim_start());
        }
        if let Some((time, after)) = rest.split_once(' ')
            && time.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
            && time.contains('.')
        {
            (call.time, rest) = (Some(time), after.trim_start());
        }
        if let Some(inner) = rest.strip_prefix("+++ ").and_then(|rest| rest.strip_suffix(" +++")) {
            let mut words = inner.split_whitespace();
            call.name = words.next().unwrap_or_default().to_string();
            // `exited with 0`; `killed by SIGSEGV (core dumped)`.
            call.arguments = words.nth(1).into_iter().collect();
            return Ok(call);
        }
        if let Some(inner) = rest.strip_prefix("--- ").and_then(|rest| rest.strip_suffix(" ---")) {
            let (name, detail) = inner.split_once(' ').unwrap_or((inner, ""));
            call.name = name.to_string();
            call.arguments = [detail].into_iter().filter(|detail| !detail.is_empty()).collect();
            return Ok(call);
        }
        let is_name = |name: &str| {
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'?')
                && name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit())
        };
        let expected = "a system call, as in `read(3, \"\", 10) = 0`";
        let arguments = if let Some(after) = rest.strip_prefix("<... ") {
            let (name, after) = after.split_once(" resumed>").ok_or((rest, "`<... NAME resumed>`"))?;
            call.name = format!("{name}_resumed");
            after
        } else {
            let (name, after) =
                rest.split_once('(').filter(|(name, _)| is_name(name)).ok_or((rest, expected))?;
            call.name = name.to_string();
            after
        };
        if let Some(before) = arguments.trim_end().strip_suffix("<unfinished ...>") {
            call.arguments = split(before.trim_end().trim_end_matches(','));
            return Ok(call);
        }
        let at = arguments.rfind(" = ").ok_or((rest, "the result, as in `= 0`"))?;
        let inner = arguments[..at].trim_end();
        let inner = inner.strip_suffix(')').ok_or((rest, "`)` before the result"))?;
        call.arguments = split(inner.trim_start().trim_start_matches(','));
        let mut result = arguments[at + 3..].split_whitespace();
        call.result = result.next().filter(|result| *result != "?");
        call.errno = result.next().filter(|word| word.starts_with('E')).unwrap_or_default();
        Ok(call)
    }
}

/// Arguments, at the commas that are in no quotes or brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut from, mut depth, mut quoted) = (Vec::new(), 0, 0usize, false);
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quoted => at += 1,
            b'"' => quoted = !quoted,
            b'(' | b'[' | b'{' if !quoted => depth += 1,
            b')' | b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            b',' if !quoted && depth == 0 => {
                parts.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    let last = text.get(from..).unwrap_or_default().trim();
    if !last.is_empty() {
        parts.push(last);
    }
    parts
}

impl LineFormat for Strace {
    fn fields(&self, line: &str, row: &mut Row, with: &mut With) -> Result<(), TraceError> {
        let call = Call::parse(line).map_err(|(found, expected)| {
            let shown = if found.is_empty() { "the end of the line".to_string() } else { quote(found) };
            TraceError::syntax(row.line, With::place(line, found), shown, expected)
        })?;
        if call.arguments.len() > with.options.max_columns {
            return Err(super::line::too_many(with.options.max_columns, "arguments", row.line));
        }
        if let Some(time) = call.time {
            let time = TimeUnit::Seconds.parse_number(time).map_err(|reason| {
                TraceError::syntax(
                    row.line,
                    With::place(line, time),
                    format!("{}, which is {reason}", quote(time)),
                    "seconds since 1970",
                )
            })?;
            row.time = Some(Stamp { time, style: TimeStyle::Number(with.options.unit) });
        }
        push(row, with, "pid", call.pid);
        // With `-f` it is the number of the thread.
        push(row, with, "thread", call.pid);
        for (index, argument) in call.arguments.iter().enumerate() {
            let inner = argument.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            let name = with.names.get(&format!("arg{index}"));
            let value = inner.unwrap_or(argument);
            let value = if value.is_empty() { Value::Null } else { Value::text(value) };
            row.variables.push((name, value));
        }
        let named = NAMED.iter().find(|(name, _)| *name == call.name);
        let names = named.into_iter().flat_map(|(_, names)| names.split(' '));
        for (argument, name) in call.arguments.iter().zip(names).filter(|(_, name)| *name != "-") {
            let inner = argument.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            push(row, with, name, inner.unwrap_or(argument));
        }
        if let Some((_, at)) = PAIRS.iter().find(|(name, _)| *name == call.name)
            && let Some(pair) = call.arguments.get(*at)
            && let Some((fd, fd2)) = pair.trim_matches(['[', ']']).split_once(", ")
        {
            push(row, with, "fd", fd);
            push(row, with, "fd2", fd2);
        }
        if let Some((_, name)) =
            RESULTS.iter().find(|(name, _)| call.name.strip_suffix("_resumed").unwrap_or(&call.name) == *name)
            && call.errno.is_empty()
        {
            push(row, with, name, call.result.unwrap_or_default());
        }
        push(row, with, "result", call.result.unwrap_or_default());
        push(row, with, "errno", call.errno);
        row.events.push(Event { name: with.names.get(&call.name), arguments: Arguments::OfRow });
        Ok(())
    }

    fn continues(&self) -> bool {
        false
    }

    fn names(&self) -> &'static [&'static str] {
        &[]
    }

    fn has_events(&self) -> bool {
        true
    }
}

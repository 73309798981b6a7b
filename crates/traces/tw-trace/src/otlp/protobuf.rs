//! Requests in protobuf. Each span and each record is read when its turn comes, and forgotten: what is held at once is one.

use super::any::DEPTH;
use super::wire::{Held, Message};
use super::{Any, Attributes, Export, Kind, Moment, Record, Span, Status, no_time};
use tw_core::Time;

pub use super::wire::Broken;

/// Why a span or a record cannot be read: the request is broken, or it alone is refused.
enum Fault {
    Broken(Broken),
    Refused(String),
}

impl From<Broken> for Fault {
    fn from(broken: Broken) -> Self {
        Fault::Broken(broken)
    }
}

impl From<String> for Fault {
    fn from(why: String) -> Self {
        Fault::Refused(why)
    }
}

/// Reads a request of traces (`ExportTraceServiceRequest`). A span of more than `longest` bytes is refused.
pub fn traces(bytes: &[u8], longest: usize, to: &mut dyn Export<String>) -> Result<(), Broken> {
    each(bytes, &mut |service, bytes| {
        let span = part("span", bytes, longest, span)?;
        to.span(service, span);
        Ok(())
    })
}

/// Reads a request of logs (`ExportLogsServiceRequest`). A record of more than `longest` bytes is refused.
pub fn logs(bytes: &[u8], longest: usize, to: &mut dyn Export<String>) -> Result<(), Broken> {
    each(bytes, &mut |service, bytes| {
        let record = part("record", bytes, longest, record)?;
        to.record(service, record);
        Ok(())
    })
}

/// What is done with a span or a record of a service.
type Take<'t, 'a> = dyn FnMut(&Any<'a>, &'a [u8]) -> Result<(), Broken> + 't;

/// Each span or record of a request: both kinds of requests are built alike, with the same numbers.
fn each<'a>(bytes: &'a [u8], take: &mut Take<'_, 'a>) -> Result<(), Broken> {
    let mut request = Message(bytes);
    while let Some((number, held)) = request.next()? {
        if number != 1 {
            continue;
        }
        let of_resource = Message(held.bytes()?);
        let mut service = Any::Null;
        let mut fields = of_resource;
        while let Some((number, held)) = fields.next()? {
            if number == 1 {
                service = service_of(held.bytes()?)?;
            }
        }
        let mut fields = of_resource;
        while let Some((number, held)) = fields.next()? {
            if number != 2 {
                continue;
            }
            let mut scope = Message(held.bytes()?);
            while let Some((number, held)) = scope.next()? {
                if number == 2 {
                    take(&service, held.bytes()?)?;
                }
            }
        }
    }
    Ok(())
}

fn part<'a, T>(
    what: &str,
    bytes: &'a [u8],
    longest: usize,
    read: fn(&'a [u8]) -> Result<T, Fault>,
) -> Result<Result<T, String>, Broken> {
    if bytes.len() > longest {
        return Ok(Err(format!("found a {what} of {} bytes, expected at most {longest}", bytes.len())));
    }
    match read(bytes) {
        Ok(read) => Ok(Ok(read)),
        Err(Fault::Refused(why)) => Ok(Err(why)),
        Err(Fault::Broken(broken)) => Err(broken),
    }
}

fn service_of(resource: &[u8]) -> Result<Any<'_>, Broken> {
    let mut resource = Message(resource);
    while let Some((number, held)) = resource.next()? {
        if number == 1 {
            let (key, held) = pair(held.bytes()?)?;
            if key == "service.name" {
                return match any(held, 0) {
                    Err(Fault::Broken(broken)) => Err(broken),
                    Err(Fault::Refused(_)) => Ok(Any::Null),
                    Ok(service) => Ok(service),
                };
            }
        }
    }
    Ok(Any::Null)
}

fn time(key: &str, held: Held<'_>) -> Result<Time, Fault> {
    let time = held.eight()?;
    Time::try_from(time).map_err(|_| no_time(key, &time.to_string()).into())
}

fn span(bytes: &[u8]) -> Result<Span<'_>, Fault> {
    let mut span = Span::default();
    let mut attributes = Attributes::default();
    let mut fields = Message(bytes);
    while let Some((number, held)) = fields.next()? {
        match number {
            1 => span.trace = Any::id(held.bytes()?),
            2 => span.id = Any::id(held.bytes()?),
            4 => span.parent = Any::id(held.bytes()?),
            5 => span.name = Any::text(held.text()?),
            6 => span.kind = Kind(u8::try_from(held.number()?).unwrap_or(0)),
            7 => span.start = time("startTimeUnixNano", held)?,
            8 => span.end = time("endTimeUnixNano", held)?,
            9 => attribute(held, &mut attributes, 0)?,
            11 => span.events.push(moment(held.bytes()?)?),
            15 => {
                let mut status = Message(held.bytes()?);
                while let Some((number, held)) = status.next()? {
                    match number {
                        2 => span.message = Any::text(held.text()?),
                        3 => span.status = Status::numbered(held.number()?),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    span.attributes = attributes.some();
    Ok(span)
}

fn moment(bytes: &[u8]) -> Result<Moment<'_>, Fault> {
    let mut moment = Moment::default();
    let mut attributes = Attributes::default();
    let mut fields = Message(bytes);
    while let Some((number, held)) = fields.next()? {
        match number {
            1 => moment.time = time("timeUnixNano", held)?,
            2 => moment.name = Any::text(held.text()?),
            3 => attribute(held, &mut attributes, 0)?,
            _ => {}
        }
    }
    moment.attributes = attributes.some();
    Ok(moment)
}

fn record(bytes: &[u8]) -> Result<Record<'_>, Fault> {
    let mut record = Record::default();
    let mut attributes = Attributes::default();
    let mut fields = Message(bytes);
    while let Some((number, held)) = fields.next()? {
        match number {
            1 => record.time = time("timeUnixNano", held)?,
            11 => record.observed = time("observedTimeUnixNano", held)?,
            2 => record.severity_number = severity(held.number()?),
            3 => record.severity = Any::text(held.text()?),
            5 => record.body = any(held.bytes()?, 0)?,
            6 => attribute(held, &mut attributes, 0)?,
            9 => record.trace = Any::id(held.bytes()?),
            10 => record.span = Any::id(held.bytes()?),
            12 => record.name = Any::text(held.text()?),
            _ => {}
        }
    }
    record.attributes = attributes.some();
    Ok(record)
}

/// 0 says nothing.
fn severity(number: u64) -> Any<'static> {
    i64::try_from(number).ok().filter(|number| *number > 0).map_or(Any::Null, Any::Int)
}

/// Key and value, which is still to be read.
fn pair(bytes: &[u8]) -> Result<(&str, &[u8]), Broken> {
    let (mut key, mut value) = ("", &[][..]);
    let mut fields = Message(bytes);
    while let Some((number, held)) = fields.next()? {
        match number {
            1 => key = held.text()?,
            2 => value = held.bytes()?,
            _ => {}
        }
    }
    Ok((key, value))
}

fn attribute<'a>(held: Held<'a>, attributes: &mut Attributes<'a>, depth: usize) -> Result<(), Fault> {
    let (key, value) = pair(held.bytes()?)?;
    let value = any(value, depth)?;
    Ok(attributes.put(key, value, depth)?)
}

fn any(bytes: &[u8], depth: usize) -> Result<Any<'_>, Fault> {
    if depth >= DEPTH {
        return Err(format!("found values nested deeper than {DEPTH} levels").into());
    }
    let mut value = Any::Null;
    let mut fields = Message(bytes);
    while let Some((number, held)) = fields.next()? {
        value = match number {
            1 => Any::Text(held.text()?),
            2 => Any::Bool(held.number()? != 0),
            3 => Any::Int(held.number()? as i64),
            4 => Any::Real(f64::from_bits(held.eight()?)),
            5 => {
                let mut items = Vec::new();
                let mut list = Message(held.bytes()?);
                while let Some((number, held)) = list.next()? {
                    if number == 1 {
                        items.push(any(held.bytes()?, depth + 1)?);
                    }
                }
                Any::List(items)
            }
            6 => {
                let mut inner = Attributes::default();
                let mut pairs = Message(held.bytes()?);
                while let Some((number, held)) = pairs.next()? {
                    if number == 1 {
                        attribute(held, &mut inner, depth + 1)?;
                    }
                }
                inner.fields()
            }
            7 => Any::Bytes(held.bytes()?),
            _ => continue,
        };
    }
    Ok(value)
}

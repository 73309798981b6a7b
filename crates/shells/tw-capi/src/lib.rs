//! Monitors for programs in C, and in whatever calls C: `include/tracewise.h` is the interface, this its other side.
//!
//! `cargo build --release -p tw-capi` makes `libtw_capi.so` and `libtw_capi.a`. A panic does not cross the border: it is an
//! error of the call.

use std::ffi::{CStr, CString, c_char, c_double, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tracewise::embed::{Report, RowMonitor};
use tracewise::{Specification, Value};

/// A specification at work, or why it is not.
pub struct Monitor {
    inner: Option<RowMonitor>,
    error: Option<CString>,
}

/// An argument of an event.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Argument {
    name: *const c_char,
    kind: c_int,
    value: Content,
}

#[repr(C)]
#[derive(Clone, Copy)]
union Content {
    boolean: c_int,
    integer: i64,
    real: c_double,
    text: *const c_char,
    pointer: *const c_void,
}

/// Is told a violation.
pub type Told = Option<unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char, *const c_char)>;

fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}

/// The text that C gave.
///
/// # Safety
/// `text` is null or ends with a zero byte.
unsafe fn text<'t>(text: *const c_char, what: &str) -> Result<&'t str, String> {
    if text.is_null() {
        return Err(format!("{what} is null"));
    }
    // SAFETY: not null, and the caller vouches for its end.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| format!("{what} is not UTF-8"))
}

/// See `tracewise.h`.
///
/// # Safety
/// `specification` is null or a text that ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tracewise_new(specification: *const c_char) -> *mut Monitor {
    // SAFETY: as for this function.
    let text = unsafe { text(specification, "the specification") };
    let made = catch_unwind(|| -> Result<RowMonitor, String> {
        let spec = Specification::from_text("specification", text?).map_err(|error| error.render(false))?;
        RowMonitor::new(&spec).map_err(|error| error.render(false))
    });
    let made = made.unwrap_or_else(|_| Err("a defect of tracewise".into()));
    Box::into_raw(Box::new(match made {
        Ok(inner) => Monitor { inner: Some(inner), error: None },
        Err(error) => Monitor { inner: None, error: Some(c_text(&error)) },
    }))
}

/// See `tracewise.h`.
///
/// # Safety
/// `monitor` is one that [`tracewise_new`] gave and that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tracewise_error(monitor: *const Monitor) -> *const c_char {
    // SAFETY: as for this function.
    let error = unsafe { monitor.as_ref() }.and_then(|monitor| monitor.error.as_ref());
    error.map_or(std::ptr::null(), |error| error.as_ptr())
}

/// The value that C gave.
///
/// # Safety
/// The member of the union that `kind` names was written; a text is null or ends with a zero byte.
unsafe fn value(argument: &Argument) -> Result<Value, String> {
    // SAFETY: the caller vouches for the member.
    unsafe {
        Ok(match argument.kind {
            0 => Value::Null,
            1 => Value::Bool(argument.value.boolean != 0),
            2 => Value::Int(argument.value.integer),
            3 if argument.value.real.is_finite() => Value::Real(argument.value.real),
            3 => return Err("a real number is not finite".into()),
            4 => Value::text(text(argument.value.text, "a text")?),
            5 => Value::Int(argument.value.pointer as usize as i64),
            kind => return Err(format!("there is no kind {kind} of values")),
        })
    }
}

/// See `tracewise.h`.
///
/// # Safety
/// `monitor` as for [`tracewise_error`]; `event` is a text; `arguments` are `count` arguments; `told` may be called with `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tracewise_event(
    monitor: *mut Monitor,
    event: *const c_char,
    arguments: *const Argument,
    count: usize,
    told: Told,
    data: *mut c_void,
) -> c_int {
    // SAFETY: as for this function.
    let Some(monitor) = (unsafe { monitor.as_mut() }) else { return -1 };
    // SAFETY: as for this function; no arguments may be null.
    let given = if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(arguments, count) } };
    monitor.guarded(told, data, |inner, found| {
        // SAFETY: as for this function.
        let name = unsafe { text(event, "the event") }?;
        let mut arguments = Vec::with_capacity(given.len());
        for one in given {
            // SAFETY: as for this function.
            arguments.push(unsafe { (text(one.name, "an argument's name")?, value(one)?) });
        }
        let settled = inner.event(name, &arguments).map_err(|error| error.render(false))?.to_vec();
        for settled in settled.iter().filter(|settled| !settled.holds()) {
            let name = inner.specification().program.roots[settled.root].name.clone();
            found.push((name, "error", inner.describe(settled)));
        }
        found.extend(inner.reports().iter().map(sentence));
        Ok(())
    })
}

fn sentence(report: &Report) -> (String, &'static str, String) {
    (report.name.clone(), report.severity.name(), report.to_string())
}

/// See `tracewise.h`.
///
/// # Safety
/// `monitor` as for [`tracewise_error`]; `told` may be called with `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tracewise_finish(monitor: *mut Monitor, told: Told, data: *mut c_void) -> c_int {
    // SAFETY: as for this function.
    let Some(monitor) = (unsafe { monitor.as_mut() }) else { return -1 };
    monitor.guarded(told, data, |inner, found| {
        let open: Vec<bool> = inner.verdicts().iter().map(Option::is_none).collect();
        let ends = inner.finish().unwrap_or_default();
        let roots = &inner.specification().program.roots;
        for ((root, holds), open) in roots.iter().zip(ends).zip(open) {
            if open && !holds {
                found.push((
                    root.name.clone(),
                    "error",
                    format!("{} is violated where the trace ends", root.name),
                ));
            }
        }
        found.extend(inner.last_reports().iter().map(sentence));
        Ok(())
    })
}

/// See `tracewise.h`.
///
/// # Safety
/// `monitor` is null, or as for [`tracewise_error`]; it is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tracewise_free(monitor: *mut Monitor) {
    if !monitor.is_null() {
        // SAFETY: it came from `Box::into_raw`, and the caller gives it up.
        drop(unsafe { Box::from_raw(monitor) });
    }
}

type Sentences = Vec<(String, &'static str, String)>;

impl Monitor {
    /// Works on the monitor and tells what was found; an error or a panic is kept for [`tracewise_error`].
    fn guarded(
        &mut self,
        told: Told,
        data: *mut c_void,
        work: impl FnOnce(&mut RowMonitor, &mut Sentences) -> Result<(), String>,
    ) -> c_int {
        let Some(inner) = &mut self.inner else { return -1 };
        self.error = None;
        let mut found = Sentences::new();
        let done = catch_unwind(AssertUnwindSafe(|| work(inner, &mut found)));
        match done.unwrap_or_else(|_| Err("a defect of tracewise".into())) {
            Err(error) => {
                self.error = Some(c_text(&error));
                -1
            }
            Ok(()) => {
                for (name, severity, sentence) in &found {
                    let [name, severity, sentence] = [name.as_str(), severity, sentence].map(c_text);
                    if let Some(told) = told {
                        // SAFETY: the caller vouches for the function, and the texts live until it returns.
                        unsafe { told(data, name.as_ptr(), severity.as_ptr(), sentence.as_ptr()) };
                    }
                }
                found.len() as c_int
            }
        }
    }
}

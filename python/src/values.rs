//! Values of traces as Python's, and back.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use tracewise::Value;
use tracewise::trace::{Stamp, TimeStyle};

/// A value.
pub fn value<'py>(py: Python<'py>, of: &Value) -> PyResult<Bound<'py, PyAny>> {
    match of {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(truth) => truth.into_bound_py_any(py),
        Value::Int(number) => number.into_bound_py_any(py),
        Value::Real(number) => number.into_bound_py_any(py),
        Value::Str(text) => (**text).into_bound_py_any(py),
        Value::List(_) | Value::Object(_) => json(py, &tracewise::findings::json::value(of)),
    }
}

/// A timestamp: a number where the trace counts, text where it writes dates.
pub fn time<'py>(py: Python<'py>, stamp: Option<Stamp>) -> PyResult<Bound<'py, PyAny>> {
    match stamp {
        None => Ok(py.None().into_bound(py)),
        Some(Stamp { time, style: TimeStyle::Number(unit) }) => value(py, &unit.value(time.into())),
        Some(stamp) => stamp.format().into_bound_py_any(py),
    }
}

/// Names and values.
pub fn bindings<'py>(py: Python<'py>, pairs: &[(String, Value)]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, own) in pairs {
        dict.set_item(name, value(py, own)?)?;
    }
    Ok(dict)
}

/// What a JSON text says.
pub fn json<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (text,))
}

/// JSON objects, one per text, as dictionaries.
pub fn dictionaries<'py>(py: Python<'py>, texts: &[String]) -> PyResult<Bound<'py, PyAny>> {
    json(py, &format!("[{}]", texts.join(",")))
}

/// An array of numpy, from bytes of that type.
pub fn array<'py>(py: Python<'py>, bytes: &[u8], kind: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("numpy")?.call_method1("frombuffer", (PyBytes::new(py, bytes), kind))
}

/// Reals as an array of numpy.
pub fn reals<'py>(py: Python<'py>, values: &[f64]) -> PyResult<Bound<'py, PyAny>> {
    array(py, &bytes_of(values.iter().map(|value| value.to_ne_bytes())), "f8")
}

/// Numbers of one width laid end to end.
pub fn bytes_of<const WIDTH: usize>(numbers: impl ExactSizeIterator<Item = [u8; WIDTH]>) -> Vec<u8> {
    let mut bytes = vec![0; numbers.len() * WIDTH];
    bytes.chunks_exact_mut(WIDTH).zip(numbers).for_each(|(place, number)| place.copy_from_slice(&number));
    bytes
}

/// Deepest nesting of what is handed over.
const DEEPEST: usize = 200;

/// Writes a Python object as JSON. Dates become ISO 8601 text, scalars of numpy what they hold.
fn write_nested(object: &Bound<'_, PyAny>, out: &mut Vec<u8>, depth: usize) -> PyResult<()> {
    if depth > DEEPEST {
        return Err(crate::error::refused(format!("a value is nested more than {DEEPEST} deep")));
    }
    if object.is_none() {
        out.extend(b"null");
    } else if let Ok(text) = object.cast::<PyString>() {
        write_text(text.to_str()?, out);
    } else if object.is_instance_of::<PyBool>() {
        out.extend(if object.is_truthy()? { &b"true"[..] } else { b"false" });
    } else if object.is_instance_of::<PyInt>() {
        out.extend(object.str()?.to_str()?.as_bytes());
    } else if let Ok(number) = object.cast::<PyFloat>() {
        let number = number.value();
        match number.is_finite() {
            true => out.extend(format!("{number:?}").as_bytes()),
            // No trace may hold it, and the reader says where it is.
            false => out.extend(number.to_string().as_bytes()),
        }
    } else if let Ok(dict) = object.cast::<PyDict>() {
        write_object(dict, out, depth)?;
    } else if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        out.push(b'[');
        for (index, item) in object.try_iter()?.enumerate() {
            if index > 0 {
                out.push(b',');
            }
            write_nested(&item?, out, depth + 1)?;
        }
        out.push(b']');
    } else if let Ok(text) = object.call_method0("isoformat") {
        write_text(text.extract::<String>()?.as_str(), out);
    } else if let Ok(item) = object.call_method0("item") {
        write_nested(&item, out, depth + 1)?;
    } else if let Ok(number) = object.call_method0("__float__") {
        write_nested(&number, out, depth + 1)?;
    } else {
        let kind = object.get_type().name()?.to_string();
        return Err(PyTypeError::new_err(format!(
            "found a value of type {kind}, expected a number, text, bool, None, list or dict"
        )));
    }
    Ok(())
}

/// Writes a row as a JSON object. A time that is a float is rounded to so many digits.
pub fn write_row(dict: &Bound<'_, PyDict>, (time, digits): (&str, usize), out: &mut Vec<u8>) -> PyResult<()> {
    if let Some(own) = dict.get_item(time)?
        && let Ok(own) = own.cast::<PyFloat>()
    {
        let on_grid = crate::arrow_data::rounded(own.value(), digits);
        if on_grid != own.value() {
            let dict = dict.copy()?;
            dict.set_item(time, on_grid)?;
            return write_object(&dict, out, 0);
        }
    }
    write_object(dict, out, 0)
}

/// Writes a dictionary as a JSON object.
fn write_object(dict: &Bound<'_, PyDict>, out: &mut Vec<u8>, depth: usize) -> PyResult<()> {
    out.push(b'{');
    for (index, (key, value)) in dict.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        match key.cast::<PyString>() {
            Ok(key) => write_text(key.to_str()?, out),
            Err(_) => write_text(&key.str()?.to_string(), out),
        }
        out.push(b':');
        write_nested(&value, out, depth + 1)?;
    }
    out.push(b'}');
    Ok(())
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in text.bytes() {
        match byte {
            b'"' => out.extend(b"\\\""),
            b'\\' => out.extend(b"\\\\"),
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            b'\t' => out.extend(b"\\t"),
            control if control < 0x20 => out.extend(format!("\\u{control:04x}").as_bytes()),
            other => out.push(other),
        }
    }
    out.push(b'"');
}

/// A Python object as a value.
pub fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    if object.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::text(text.to_str()?));
    }
    if object.is_instance_of::<PyBool>() {
        return Ok(Value::Bool(object.is_truthy()?));
    }
    if object.is_instance_of::<PyInt>() {
        return match object.extract::<i64>() {
            Ok(number) => Ok(Value::Int(number)),
            Err(_) => {
                Err(crate::error::refused(format!("found {}, expected a number of 64 bits", object.str()?)))
            }
        };
    }
    if let Ok(number) = object.cast::<PyFloat>() {
        let number = number.value();
        return match number.is_finite() {
            true => Ok(Value::Real(number)),
            false => Err(crate::error::refused(format!("found {number}, expected a finite number"))),
        };
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        let pairs = dict.iter().map(|(key, value)| Ok((key.str()?.to_str()?.into(), from_python(&value)?)));
        return Ok(Value::Object(pairs.collect::<PyResult<Vec<_>>>()?));
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        return Ok(Value::List(
            object.try_iter()?.map(|item| from_python(&item?)).collect::<PyResult<Vec<_>>>()?,
        ));
    }
    if let Ok(text) = object.call_method0("isoformat") {
        return Ok(Value::text(&text.extract::<String>()?));
    }
    if let Ok(item) = object.call_method0("item") {
        return from_python(&item);
    }
    match object.call_method0("__float__") {
        Ok(number) => from_python(&number),
        Err(_) => {
            let kind = object.get_type().name()?.to_string();
            Err(PyTypeError::new_err(format!(
                "found a value of type {kind}, expected a number, text, bool, None, list or dict"
            )))
        }
    }
}

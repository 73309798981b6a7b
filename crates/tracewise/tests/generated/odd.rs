// Made by `tracewise generate rust` from 9-a* /.tw odd; changes belong there.

/// What an argument may be.
pub trait Argument {
    /// As the monitors take it.
    fn value(self) -> tracewise::Value;
}
impl Argument for i64 {
    fn value(self) -> tracewise::Value {
        tracewise::Value::Int(self)
    }
}
impl Argument for bool {
    fn value(self) -> tracewise::Value {
        tracewise::Value::Bool(self)
    }
}
impl Argument for &str {
    fn value(self) -> tracewise::Value {
        tracewise::Value::text(self)
    }
}
/// A thing, known by where it is. Its life has to end with an event that the specification names by `end`.
impl<T> Argument for *const T {
    fn value(self) -> tracewise::Value {
        tracewise::Value::Int(self as usize as i64)
    }
}

/// The monitors, and a function per event.
pub struct Monitors {
    inner: tracewise::embed::RowMonitor,
}

#[allow(dead_code, non_snake_case)] // a program need not have every event, and events are called as they are
impl Monitors {
    /// The monitors at work.
    pub fn new() -> Result<Self, tracewise::Error> {
        let spec = tracewise::Specification::from_text("9-a*/.tw\nodd", "monitor Odd(`a-b`, a_b, type) {\n  event `1st`(`a-b`, a_b);\n  event `a */ b`(type);\n  event `try`(type) = macro(`self`: type);\n  event new(a_b);\n  event more(`a-b`) = `%`(more: `a-b`);\n  ere : `1st` (`a */ b` | `try` | more)* new;\n}\n")?;
        Ok(Self { inner: tracewise::embed::RowMonitor::new(&spec)? })
    }

    /// `1st(a-b, a_b)`, which Odd is about. Returns what is reported because of it.
    #[inline]
    pub fn _1st(&mut self, a_b: impl Argument, a_b_: impl Argument) -> Result<&[tracewise::embed::Report], tracewise::Error> {
        self.inner.event("1st", &[("a-b", a_b.value()), ("a_b", a_b_.value())])?;
        Ok(self.inner.reports())
    }

    /// `a * / b(type)`, which Odd is about. Returns what is reported because of it.
    #[inline]
    pub fn a____b(&mut self, type_: impl Argument) -> Result<&[tracewise::embed::Report], tracewise::Error> {
        self.inner.event("a */ b", &[("type", type_.value())])?;
        Ok(self.inner.reports())
    }

    /// `macro(self)`, which Odd is about. Returns what is reported because of it.
    #[inline]
    pub fn macro_(&mut self, self_: impl Argument) -> Result<&[tracewise::embed::Report], tracewise::Error> {
        self.inner.event("macro", &[("self", self_.value())])?;
        Ok(self.inner.reports())
    }

    /// `new(a_b)`, which Odd is about. Returns what is reported because of it.
    #[inline]
    pub fn new_(&mut self, a_b: impl Argument) -> Result<&[tracewise::embed::Report], tracewise::Error> {
        self.inner.event("new", &[("a_b", a_b.value())])?;
        Ok(self.inner.reports())
    }

    /// `%(more)`, which Odd is about. Returns what is reported because of it.
    #[inline]
    pub fn __x(&mut self, more_: impl Argument) -> Result<&[tracewise::embed::Report], tracewise::Error> {
        self.inner.event("%", &[("more", more_.value())])?;
        Ok(self.inner.reports())
    }

    /// What is reported if nothing more happens.
    pub fn finish(&self) -> Vec<tracewise::embed::Report> {
        self.inner.last_reports()
    }

    /// What runs them, for saving, restoring and properties beside.
    pub fn monitor(&mut self) -> &mut tracewise::embed::RowMonitor {
        &mut self.inner
    }
}
